"""What has to be written so that the rows of jobs agree with their code: decided here, purely; written elsewhere.

The code owns which jobs there are, what they do and when they are due. All else on their rows is the operator's:
it is written when a row is made, if the code gives it, and never again.

A row's Origin names what keeps it: `job OWNER`, or `left OWNER` once it was disabled because it left the code.
Only that is enabled again when it comes back. OWNER announced the job; a program without it leaves its rows alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from batchctl.domain.definitions.declared import (
    DeclaredJob,
    arguments_misfit,
    entity_misfit,
    job_of,
    misfit,
    timing_misfits,
)
from batchctl.domain.records import columns_of, values_of
from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.text import NAME_LIMIT, visible

Value: TypeAlias = str | int | None
Values: TypeAlias = Mapping[str, Value]

JOB, LEFT = "job", "left"
"""How the Origin begins of a row that is kept up to date, and of one whose job or cadence has left the code."""
PYTHON = "python"
FIRST_SEQ = 10
BATCHES, STEPS, SCHEDULES = "ProcessBatch", "ProcessControl", "Schedule"
TIMING = columns_of(Timing)
"""The columns of `Schedule` that say when it is due."""
_IN_ANY_CASE = frozenset({"ScheduleType", "RunDays", "RunDaysOfMonth", "WeekOfMonth", "RunMonths"}) | {
    "CalendarRule",
    "GapPolicy",
    "FoldPolicy",
}


class Did(StrEnum):
    """What is done to a row, and why."""

    ADDED = "added"
    REWRITTEN = "rewritten"
    """It differed from the code."""
    RETIRED = "retired"
    """It is disabled: the code does not have it any more."""
    REVIVED = "revived"
    """The code has it again: it is enabled if that was why it was disabled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRow:
    """A row of a batch, a step or a schedule, as far as the code of jobs may determine it."""

    row_id: int
    name: str
    """The batch's name, of a step too."""
    origin: str | None = None
    enabled: bool = True
    columns: Values = field(default_factory=dict)

    @property
    def owner(self) -> str | None:
        """Return what announced the job it belongs to; None of a row that people made."""
        return owner_in(self.origin)

    @property
    def has_left(self) -> bool:
        """Say whether it was disabled because it was not in the code any more."""
        return has_left(self.origin)


@dataclass(frozen=True, slots=True)
class JobRows:
    """The rows in the tables: all batches and schedules, and the steps of batches that jobs have made."""

    batches: Sequence[KeptRow]
    steps: Sequence[KeptRow]
    schedules: Sequence[KeptRow]

    @property
    def owners(self) -> set[str]:
        """Return everything that has ever announced one of the jobs."""
        return {row.owner for row in (*self.batches, *self.schedules) if row.owner is not None}


@dataclass(frozen=True, slots=True)
class Code:
    """The code of jobs, as far as it can be known here."""

    jobs: Sequence[DeclaredJob]
    """The jobs that are to have a batch."""
    names: Collection[str]
    """Everything that is announced as a job, also without a batch of its own."""
    broken: Collection[str]
    """What of that cannot be loaded, or is announced twice: it is only known that it has not left."""
    owners: Collection[str]
    """What could be asked here: the jobs of all others are unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """A row that is to be inserted, or columns of one that are to be written."""

    did: Did
    table: str
    name: str
    """The batch's or the schedule's."""
    job: str
    row_id: int | None = None
    """None for one that is inserted."""
    before: Values = field(default_factory=dict)
    after: Values


@dataclass(frozen=True, slots=True)
class RefusedDeclaration:
    """Something in the code that cannot be written."""

    job: str
    name: str
    """The row that is in the way."""
    message: str


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """All that has to be written."""

    changes: tuple[RowChange, ...] = ()
    all_refused: tuple[RefusedDeclaration, ...] = ()


def reconcile(code: Code, rows: JobRows) -> Reconciliation:
    """Decide what is to be written; a job that cannot be written hinders no other."""
    all_refused = list(_all_refused(code, rows))
    refused = {one.job for one in all_refused}
    jobs = [job for job in code.jobs if job.name not in refused]
    decided = [*_of_jobs(jobs, rows), *_of_what_left(code, rows, _folded(refused) - _folded(job.name for job in jobs))]
    return Reconciliation(
        tuple(one for one in decided if isinstance(one, RowChange)),
        (*all_refused, *(one for one in decided if isinstance(one, RefusedDeclaration))),
    )


def owner_in(origin: str | None) -> str | None:
    """Return what announced the job that a row of this Origin belongs to; None of a row that people made."""
    word, _, owner = (origin or "").partition(" ")
    return owner if word in {JOB, LEFT} else None


def has_left(origin: str | None) -> bool:
    """Say whether a row of this Origin was disabled because its job was not in the code any more."""
    return (origin or "").startswith(f"{LEFT} ")


def differing(before: Values, after: Values) -> tuple[Values, Values]:
    """Return the columns that are to become something else, as they are and as they are to be."""
    names = [name for name, value in after.items() if _plain(name, before.get(name)) != _plain(name, value)]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}


def wording(before: Values, after: Values) -> str:
    """Describe the change of columns: `RunTimes 04:00 becomes 03:15`."""
    return ", ".join(f"{name} {_shown(before.get(name))} becomes {_shown(after[name])}" for name in after)


def _all_refused(code: Code, rows: JobRows) -> Iterator[RefusedDeclaration]:
    """Yield why nothing can be written of some jobs."""
    batches, alike = _by_name(rows.batches), dict[str, str]()
    for job in code.jobs:
        refused = _refused(job, _called(batches, job.name), alike.setdefault(job.name.casefold(), job.name))
        if refused is not None:
            yield refused


def _of_jobs(jobs: Iterable[DeclaredJob], rows: JobRows) -> Iterator[RowChange | RefusedDeclaration]:
    batches, schedules = _by_name(rows.batches), _by_name(rows.schedules)
    steps: dict[str, list[KeptRow]] = {}
    for step in rows.steps:
        steps.setdefault(step.name, []).append(step)
    for job in jobs:
        yield from _of_batch(job, batches.get(job.name))
        yield from _of_step(job, steps.get(job.name, []))
        for name, cadence in job.schedule_names.items():
            found = _called(schedules, name)
            if found is not None and found.owner is None:
                way_out, left_out = "Give the cadence a name= of its own", "This schedule alone is not written"
                yield RefusedDeclaration(job.name, name, _taken(SCHEDULES, name, way_out, left_out))
                continue
            after = {"Entity": job.entity or job.name, **values_of(cadence.timing), "Origin": _origin(job)}
            yield from _written(SCHEDULES, name, job.name, found, after)


def _refused(job: DeclaredJob, batch: KeptRow | None, alike: str) -> RefusedDeclaration | None:
    if alike != job.name:
        message = f"Job '{visible(job.name)}' is called like '{visible(alike)}' but for letter case."
        return RefusedDeclaration(job.name, job.name, f'{message} Give one of them another name, @job("...").')
    longest = max((len(name) for name in job.schedule_names), default=len(job.name))
    failure = misfit(job.name, limit=None)
    if failure is None and longest > NAME_LIMIT:
        failure = f"with its longest schedule it has {longest} characters, and a column takes {NAME_LIMIT}"
    if failure is not None:
        return RefusedDeclaration(job.name, job.name, f"A job cannot be called '{visible(job.name)}': {failure}.")
    misfits = list(_misfits(job))
    if misfits:
        message = f"What the code of job '{visible(job.name)}' says cannot be kept: {' '.join(misfits)}"
        return RefusedDeclaration(job.name, job.name, message)
    if batch is not None and batch.owner is None:
        way_out = 'Give the job another name, @job("...")'
        return RefusedDeclaration(
            job.name, batch.name, _taken(BATCHES, batch.name, way_out, "Nothing of this job is written")
        )
    if batch is not None and batch.name != job.name:
        return RefusedDeclaration(job.name, job.name, _renamed(job.name, batch.name))
    return None


def _misfits(job: DeclaredJob) -> Iterator[str]:
    """Yield, for each text of a job that does not fit its column, why not."""
    for argument, failure in (
        ("entity", entity_misfit(job.entity)),
        ("arguments", arguments_misfit(job.arguments)),
        ("what announces it", misfit(_origin(job))),
    ):
        if failure is not None:
            yield f"{argument}: {failure}."
    for name, cadence in job.schedule_names.items():
        for said in timing_misfits(cadence.timing):
            yield f"schedule '{visible(name)}', {said}"


def _renamed(job: str, batch: str) -> str:
    own = visible(batch)
    said = f"Its batch is called '{own}', and names that differ in letter case only are one name here"
    way_out = f"or rename the batch to '{visible(job)}', and write that into Data1 of its step"
    return f'{said}: call the job so, @job("{own}"), {way_out}.'


def _taken(table: str, name: str, way_out: str, left_out: str) -> str:
    kind = "batch" if table == BATCHES else "schedule"
    said = f"There is a {kind} '{visible(name)}' already that no code of a job has made, and it stays as it is."
    return f"{said} {left_out}; everything else is. {way_out}, or rename that row."


def _of_batch(job: DeclaredJob, found: KeptRow | None) -> Iterator[RowChange]:
    after: dict[str, Value] = {"Entity": job.entity, "Origin": _origin(job)}
    if found is None:
        # A failure is no reason to leave out the next time the job is due.
        after |= {"OnFailure": "continue"}
        if job.retry is not None:
            after |= {"RetryCount": job.retry.retry_count, "RetryWaitSecs": job.retry.interval_seconds}
    yield from _written(BATCHES, job.name, job.name, found, after)


def _of_step(job: DeclaredJob, found: Sequence[KeptRow]) -> Iterator[RowChange]:
    own = next((step for step in found if _calls(step, job.name)), None)
    if own is None:
        taken = [int(step.columns.get("ProcessControlSeq") or 0) for step in found]
        after: dict[str, Value] = {
            "ProcessControlSeq": max(taken) + FIRST_SEQ if taken else FIRST_SEQ,
            "ProcessName": job.name,
            "ProcessType": PYTHON,
            "Data1": job.name,
            "Data2": job.arguments,
        }
        yield RowChange(did=Did.ADDED, table=STEPS, name=job.name, job=job.name, after=after)
    elif job.arguments is not None:
        before, after_it = differing(own.columns, {"Data2": job.arguments})
        if after_it:
            yield RowChange(
                did=Did.REWRITTEN,
                table=STEPS,
                name=job.name,
                job=job.name,
                row_id=own.row_id,
                before=before,
                after=after_it,
            )


def _calls(step: KeptRow, job: str) -> bool:
    kind = str(step.columns.get("ProcessType") or "").strip().lower()
    return kind == PYTHON and step.columns.get("Data1") == job


def _written(table: str, name: str, job: str, found: KeptRow | None, after: Values) -> Iterator[RowChange]:
    """Yield the change that makes a row agree with the code."""
    if found is None:
        yield RowChange(did=Did.ADDED, table=table, name=name, job=job, after=after)
        return
    if found.has_left:
        after = {**after, "Enabled": 1}
    current = {**found.columns, "Origin": found.origin, "Enabled": int(found.enabled)}
    before, changed = differing(current, after)
    if changed:
        did = Did.REVIVED if found.has_left else Did.REWRITTEN
        yield RowChange(
            did=did, table=table, name=found.name, job=job, row_id=found.row_id, before=before, after=changed
        )


def _of_what_left(code: Code, rows: JobRows, refused: Collection[str]) -> Iterator[RowChange]:
    """Yield what disables the rows of jobs that left the code, where that can be known, and nothing `refused`."""
    said_now = _folded(name for job in code.jobs for name in job.schedule_names)
    undecided, names = _folded(code.broken) | set(refused), _folded(code.names)
    for row in rows.schedules:
        job = job_of(row.name)
        if row.name.casefold() not in said_now and job.casefold() not in undecided:
            yield from _retired(SCHEDULES, row, job, code.owners)
    for row in rows.batches:
        if row.name.casefold() not in names:
            yield from _retired(BATCHES, row, row.name, code.owners)


def _retired(table: str, row: KeptRow, job: str, owners: Collection[str]) -> Iterator[RowChange]:
    # What an operator has disabled stays the operator's: it is not to be enabled when it comes back.
    if row.owner in owners and not row.has_left and row.enabled:
        before: Values = {"Enabled": 1, "Origin": row.origin}
        after: Values = {"Enabled": 0, "Origin": f"{LEFT} {row.owner}"}
        yield RowChange(
            did=Did.RETIRED, table=table, name=row.name, job=job, row_id=row.row_id, before=before, after=after
        )


def _by_name(rows: Iterable[KeptRow]) -> dict[str, KeptRow]:
    """Return rows by their names, and in lower case by names that differ in letter case only."""
    known = list(rows)
    return {row.name.casefold(): row for row in known} | {row.name: row for row in known}


def _called(rows: Mapping[str, KeptRow], name: str) -> KeptRow | None:
    """Return the row of a name; one that is written in another letter case where there is no other."""
    return rows.get(name) or rows.get(name.casefold())


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}


def _origin(job: DeclaredJob) -> str:
    return f"{JOB} {job.owner}"


def _plain(column: str, value: Value) -> Value:
    """Return a value for comparing: people may write a word in any letter case."""
    return value.strip().lower() if isinstance(value, str) and column in _IN_ANY_CASE else value


def _shown(value: Value) -> str:
    return "nothing" if value is None else visible(str(value))
