"""Writes the rows of jobs as their code says: when a controller starts, or on `job reconcile`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from batchctl.domain.definitions import reconciling
from batchctl.domain.definitions.declared import DeclaredJob
from batchctl.domain.definitions.reconciling import (
    Code,
    Did,
    JobRows,
    Reconciliation,
    RefusedDeclaration,
    RowChange,
    Values,
)
from batchctl.domain.errors import NotFound, PluginError, Refused
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import AuditEntry
from batchctl.domain.text import did_you_mean, fitting, visible
from batchctl.logs import Event, EventValue, Listener
from batchctl.operations.scheduling import arming, timetable
from batchctl.operations.scheduling.schedule_findings import never_due
from batchctl.plugin_api import Job
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import job_rows
from batchctl.store.maintenance import audit_entries
from batchctl.store.scheduling import schedule_rows

ACTOR = "batchctl"
RECONCILE, OVERWRITE = "reconcile", "overwrite"
"""The actions in the audit log: the second where a person had changed by hand what the code says."""
_TIMING = frozenset(reconciling.TIMING)


class JobPlugins(Protocol):
    """What is asked of the registry."""

    @property
    def job_names(self) -> tuple[str, ...]:
        """The names of all jobs that are announced here."""

    def job(self, name: str) -> Job:
        """Return a job; raises `PluginError`."""

    def owner_of_job(self, name: str) -> str:
        """Return what announces a job."""

    def knows_owner(self, owner: str) -> bool:
        """Say whether what has announced jobs is here and could be asked."""

    def failed_modules(self) -> Mapping[str, PluginError]:
        """Return what keeps modules, by name, from being imported."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The jobs that are announced here, and what is wrong with the others."""

    jobs: Mapping[str, DeclaredJob]
    """Those that can be loaded, whether they have a batch of their own or not."""
    with_batch: frozenset[str]
    broken: Mapping[str, str]
    """What keeps each of the others from being loaded."""
    failed_modules: Mapping[str, PluginError]

    def code(self, rows: JobRows, plugins: JobPlugins, retired: Iterable[str] = ()) -> Code:
        """Return what may be said of these rows; of what is `retired` it is known that nothing is left."""
        return Code(
            jobs=[job for name, job in self.jobs.items() if name in self.with_batch],
            names={*self.jobs, *self.broken},
            broken=set(self.broken),
            owners={*retired, *(owner for owner in rows.owners if plugins.knows_owner(owner))},
        )


def offer_of(plugins: JobPlugins) -> Offer:
    """Load every job, and say what its decorators say."""
    jobs, broken, with_batch = dict[str, DeclaredJob](), dict[str, str](), set[str]()
    for name in plugins.job_names:
        try:
            job = plugins.job(name)
        except PluginError as error:
            broken[name] = error.in_full
            continue
        jobs[name] = declared_job(job, plugins.owner_of_job(name))
        if job.has_batch:
            with_batch.add(name)
    return Offer(jobs, frozenset(with_batch), broken, plugins.failed_modules())


def declared_job(job: Job, owner: str) -> DeclaredJob:
    """Return what a job's decorators say."""
    return DeclaredJob(
        name=job.name,
        owner=owner,
        category=job.category,
        description=job.description,
        entity=job.entity,
        arguments=job.arguments,
        cadences=job.cadences,
        retry=job.retry,
    )


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """A change that was made, or would be."""

    change: RowChange
    by_hand: Values
    """What a person had written over what the code said, as it was found; nothing where only the code has changed."""
    was_deleted: bool = False
    """True when the row was there before, and somebody has deleted it by hand."""

    def columns(self) -> dict[str, JsonValue]:
        """Return it for programs."""
        change = self.change
        return {
            "JobName": change.job,
            "Table": change.table,
            "Row": change.name,
            "Action": change.did.value,
            "ValuesBefore": dict(change.before),
            "ValuesAfter": dict(change.after),
            "ByHand": dict(self.by_hand),
            "Message": self.wording,
        }

    @property
    def wording(self) -> str:
        """Say what was done, in words."""
        change = self.change
        words = reconciling.wording(change.before, change.after)
        match change.did:
            case Did.ADDED if change.table == reconciling.STEPS:
                return f"step {change.after['ProcessControlSeq']} made, as the code says"
            case Did.ADDED if self.was_deleted:
                return "made again: somebody had deleted the row, and the code still says it"
            case Did.ADDED:
                return "made, as the code says"
            case Did.RETIRED:
                return "disabled: the code does not say it any more; its history stays"
            case Did.REVIVED:
                return "enabled: the code says it again"
            case _ if self.by_hand:
                hand = ", ".join(f"{name} {visible(str(value))}" for name, value in self.by_hand.items())
                return f"{words}: somebody had written {hand} by hand, and the code says when a job is due"
            case _:
                return words


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What was written, or would be, and what could not."""

    written: tuple[WrittenChange, ...] = ()
    all_refused: tuple[RefusedDeclaration, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    failed_modules: Mapping[str, str] = field(default_factory=dict)
    never: tuple[RefusedDeclaration, ...] = ()
    """What was written, or would be, and starts nothing all the same."""

    def columns(self) -> dict[str, JsonValue]:
        """Return it for programs."""
        return {
            "Written": [one.columns() for one in self.written],
            "Refused": [{"JobName": one.job, "Row": one.name, "Message": one.message} for one in self.all_refused],
            "NotLoaded": [{"JobName": name, "Message": message} for name, message in self.broken.items()],
            "NotImported": list(self.failed_modules.values()),
            "NeverDue": [{"JobName": one.job, "Row": one.name, "Message": one.message} for one in self.never],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Reconciles the tables with the code that is known here."""

    transactions: Transactions
    clock: Clock
    plugins: JobPlugins
    host: str
    listener: Listener
    default_zone: str

    def reconcile(self, *, dry_run: bool = False, retired: Iterable[str] = ()) -> Reconciled:
        """Write all that has to be written in one transaction, one at a time however many controllers start.

        What the database refuses of one job leaves out that job alone.
        """
        offer, gone = offer_of(self.plugins), tuple(retired)
        with self.transactions.read() as connection:
            found = self._decided(connection, offer, gone)
        if not dry_run:
            if found.written:
                write = partial(self._write, offer=offer, gone=gone)
                found = self.transactions.run(frozenset({Boundary.OPERATOR}), write)
            self._tell(found)
        return found

    def _decided(self, connection: Connection, offer: Offer, gone: tuple[str, ...]) -> Reconciled:
        rows = job_rows.read(connection)
        for owner in gone:
            _check_owns(owner, rows)
        decided = reconciling.reconcile(offer.code(rows, self.plugins, gone), rows)
        return self._reconciled(connection, decided, offer)

    def _write(self, connection: Connection, *, offer: Offer, gone: tuple[str, ...]) -> Reconciled:
        job_rows.lock(connection)
        found = self._decided(connection, offer, gone)
        now = self.clock.now()
        all_refused, left_out = list(found.all_refused), set[str]()
        for job, changes in _by_job(found.written).items():
            refused = self._write_job(connection, changes, now)
            if refused is not None:
                all_refused.append(refused)
                left_out.add(job)
        written = tuple(one for one in found.written if one.change.job not in left_out)
        self._arm(connection, written, now)
        return replace(found, written=written, all_refused=tuple(all_refused))

    def _write_job(
        self, connection: Connection, changes: Sequence[WrittenChange], now: datetime
    ) -> RefusedDeclaration | None:
        """Write all that is to be written of a job, or nothing of it."""
        at = changes[0].change
        try:
            with job_rows.apart(connection):
                for written in changes:
                    at = written.change
                    self._write_row(connection, written, now)
        except Refused as error:
            return RefusedDeclaration(at.job, at.name, error.in_full)
        return None

    def _write_row(self, connection: Connection, written: WrittenChange, now: datetime) -> None:
        change = written.change
        if change.row_id is None:
            job_rows.add(connection, change.table, change.name, change.after)
        else:
            job_rows.change(connection, change.table, change.row_id, change.after, now)
        action = OVERWRITE if written.by_hand else RECONCILE
        target, reason = target_of(change.table, change.name), f"{change.did}: {written.wording}"
        by = audit_entries.By(ACTOR, self.host, now)
        audit_entries.add(connection, by, action, target, reason, change.before, change.after)

    def _arm(self, connection: Connection, written: Iterable[WrittenChange], now: datetime) -> None:
        """Arm the schedules that were written, once all batches are there that they start."""
        changes = [one.change for one in written if one.change.table == reconciling.SCHEDULES]
        context = timetable.schedule_context(connection, self.default_zone, now) if changes else None
        rows = {row.name: row.schedule_id for row in schedule_rows.everything(connection)[0]} if changes else {}
        for change in changes:
            if context is not None and change.name in rows:
                anew = change.did is not Did.REWRITTEN or not _TIMING.isdisjoint(change.after)
                arming.arm(connection, rows[change.name], context, anew=anew)

    def _reconciled(self, connection: Connection, decided: Reconciliation, offer: Offer) -> Reconciled:
        written = tuple(
            WrittenChange(change, _by_hand(connection, change), _was_deleted(connection, change))
            for change in decided.changes
        )
        modules = {name: finding.message for name, finding in offer.failed_modules.items()}
        refused = {refused.name for refused in decided.all_refused}
        declared = [job for job in offer.jobs.values() if job.name in offer.with_batch - refused]
        never = tuple(self._never(connection, declared, refused))
        return Reconciled(written, decided.all_refused, offer.broken, modules, never)

    def _never(
        self, connection: Connection, jobs: Iterable[DeclaredJob], refused: Collection[str]
    ) -> Iterator[RefusedDeclaration]:
        """Yield the schedules of jobs that start nothing, though there is or will be a row of them."""
        context = timetable.schedule_context(connection, self.default_zone, self.clock.now())
        rows = {row.name: row for row in schedule_rows.everything(connection)[0]}
        for job in jobs:
            for name, cadence in job.schedule_names.items():
                row = rows.get(name)
                if name in refused or (row is not None and not row.enabled):
                    continue  # What is disabled is over, or an operator's wish.
                decided = None if row is None else row.decided_until
                why = never_due(cadence.timing, decided, context)
                if why is not None:
                    yield RefusedDeclaration(job.name, name, f"Schedule {visible(name)}: {why}")

    def _tell(self, found: Reconciled) -> None:
        for written in found.written:
            change = written.change
            self._event(
                f"job.{'overwritten' if written.by_hand else change.did}", change.job, change.name, written.wording
            )
        for refused in found.all_refused:
            self._event("job.refused", refused.job, refused.name, refused.message)
        for one in found.never:
            self._event("job.never_due", one.job, one.name, one.message)
        for name, message in found.broken.items():
            self._event("job.unknown", name, None, f"{message} Its rows stay as they are.")
        for message in found.failed_modules.values():
            self.listener(Event("job.unknown", {"Message": f"{message} The rows of its jobs stay as they are."}))

    def _event(self, name: str, job: str, row: str | None, message: str) -> None:
        fields: dict[str, EventValue] = {"JobName": job}
        if row is not None and row != job:
            fields["ScheduleName"] = row
        self.listener(Event(name, {**fields, "Message": message}))


def target_of(table: str, name: str) -> str:
    """Return how the audit log names a row of a job; its step counts as the batch."""
    return fitting(f"{'Schedule' if table == reconciling.SCHEDULES else 'ProcessBatch'}:{name}")


def _by_job(written: Iterable[WrittenChange]) -> dict[str, list[WrittenChange]]:
    found: dict[str, list[WrittenChange]] = {}
    for one in written:
        found.setdefault(one.change.job, []).append(one)
    return found


def _check_owns(owner: str, rows: JobRows) -> None:
    if owner not in rows.owners:
        known = did_you_mean(owner, rows.owners)
        raise NotFound(f"No row has Origin 'job {visible(owner)}'.{visible(known)}", next_step="batchctl job list")


def _was_deleted(connection: Connection, change: RowChange) -> bool:
    """Say whether a row that is added was written here before, and deleted since by hand, not by a command."""
    if change.did is not Did.ADDED or change.table == reconciling.STEPS:
        return False
    acts = audit_entries.of_target(connection, target_of(change.table, change.name))
    return bool(acts) and acts[-1].action != "remove" and bool(last_written(acts))


def _by_hand(connection: Connection, change: RowChange) -> Values:
    """Return the columns of a schedule that a person has changed since they were written here, as they stand."""
    if change.did is not Did.REWRITTEN or change.table != reconciling.SCHEDULES:
        return {}
    wrote = last_written(audit_entries.of_target(connection, target_of(change.table, change.name)))
    return {name: value for name, value in change.before.items() if name in wrote and wrote[name] != value}


def last_written(acts: Iterable[AuditEntry]) -> dict[str, Any]:
    """Return what was last written here to the columns of a row."""
    wrote: dict[str, Any] = {}
    for act in acts:
        if act.actor == ACTOR and act.action in {RECONCILE, OVERWRITE} and act.after:
            wrote |= json.loads(act.after)
    return wrote
