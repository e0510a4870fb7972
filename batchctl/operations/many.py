"""The same act on many instances, found by a filter: in chunks, each audited; what refuses it does not stop the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused, Refused
from batchctl.domain.intake.corrected_files import CorrectedFile
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import visible
from batchctl.operations import unknown
from batchctl.operations.decisions import Action
from batchctl.operations.intake import file_correction
from batchctl.operations.intervene import Intervention, Operator
from batchctl.operations.operators.acts import Joined
from batchctl.operations.shown_columns import Columns
from batchctl.ports import Boundary, Transactions
from batchctl.store import Connection, instances, reports
from batchctl.store.definitions import definitions
from batchctl.store.transactions import savepoint

CHUNK = 50
"""How many are acted on in one transaction."""
LISTED = 20

Act = Callable[[Operator, InstanceId], object]

USUAL = {Action.RERUN: InstanceStatus.FAILED, Action.SKIP: InstanceStatus.FAILED, Action.RESUME: InstanceStatus.PAUSED}
"""The status that is meant where none is given; the other acts need one to be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFilter:
    """Which instances are meant: of a batch or of any, in one status, that have stood so since then or later."""

    status: InstanceStatus
    batch: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The instances that were found, in order of creation, and how many are of which batch."""

    action: Action
    status: InstanceStatus
    ids: tuple[InstanceId, ...]
    of: tuple[tuple[str, int], ...]

    @property
    def wording(self) -> str:
        """Say what would be done."""
        if not self.ids:
            return f"No instance that is {self.status} fits."
        listed = ", ".join(f"{count} of batch {visible(name)}" for name, count in self.of[:LISTED])
        more = f", and of {len(self.of) - LISTED} more batches" if len(self.of) > LISTED else ""
        what = "instance that is" if len(self.ids) == 1 else "instances that are"
        return f"This will {self.action} {len(self.ids)} {what} {self.status}: {listed}{more}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyOutcome:
    """What was done, and what refused it, with the reasons."""

    selection: Selection
    done: tuple[InstanceId, ...]
    refused: tuple[tuple[InstanceId, str], ...]
    corrected: tuple[CorrectedFile, ...] = ()
    """Files that were corrected, of what is over now, and that no step has read since."""
    lost: tuple[InstanceId, ...] = ()
    """What is run again though an attempt of it was lost, which may be at work still."""

    def columns(self) -> Columns:
        """Return it for programs."""
        return {
            "Action": self.selection.action.value,
            "Status": self.selection.status.value,
            "Found": list(self.selection.ids),
            "Done": list(self.done),
            "Refused": [{"BatchControl_id": one, "Message": said} for one, said in self.refused],
            "Lost": list(self.lost),
            "CorrectedFiles": [file_correction.shown(one) for one in self.corrected],
        }


def select(transactions: Transactions, action: Action, wanted: InstanceFilter, *, most: int | None = None) -> Selection:
    """Find the instances, or the first of them; raises `NotFound` when there is no such batch."""
    with transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        batch = None if wanted.batch is None else unknown.named(connection, batches.values(), wanted.batch)
        key = None if batch is None else batch.batch_id
        found = list(reports.in_status(connection, wanted.status, batch_id=key, since=wanted.since, most=most))
    counts = Counter(batch_id for _, batch_id in found)
    names = {one: batches[one].name if one in batches else f"ProcessBatch {one}" for one in counts}
    return Selection(
        action=action,
        status=wanted.status,
        ids=tuple(one for one, _ in found),
        of=tuple((names[one], count) for one, count in counts.items()),
    )


def act_on(operator: Operator, selection: Selection, act: Act) -> ManyOutcome:
    """Act on every one that stands as it was found; a chunk that another client's locks hold up is done one by one."""
    done, refused, lost = list[InstanceId](), list[tuple[InstanceId, str]](), set[InstanceId]()
    meant = _if_still(selection.status, _noting(lost, act))
    for at in range(0, len(selection.ids), CHUNK):
        for instance_id, said in _together(operator, selection.ids[at : at + CHUNK], meant):
            if said is None:
                done.append(instance_id)
            else:
                refused.append((instance_id, said))
    corrected = tuple(_corrected(operator, done)) if selection.action in _ENDING else ()
    return ManyOutcome(
        selection=selection,
        done=tuple(done),
        refused=tuple(refused),
        corrected=corrected,
        lost=tuple(one for one in done if one in lost),
    )


_ENDING = {Action.CANCEL, Action.SKIP}
"""Acts after which an instance may be over."""


def _corrected(operator: Operator, done: Sequence[InstanceId]) -> Iterator[CorrectedFile]:
    with operator.transactions.read() as connection:
        for instance_id in done:
            instance = instances.load(connection, instance_id)
            if instance is not None and instance.status.is_final:
                found = file_correction.of_instance(connection, instance)
                yield from () if found is None else (found,)


def check_sure(selection: Selection, *, sure: bool) -> None:
    """Refuse to act on many instances that no person has looked at."""
    if selection.ids and not sure:
        raise Refused(
            selection.wording, next_step="the same with --yes, if that is meant; with --dry-run it only shows which"
        )


def _noting(lost: set[InstanceId], act: Act) -> Act:
    """Act, and note each instance that is run again though an attempt of it was lost."""

    def noting(operator: Operator, instance_id: InstanceId) -> object:
        done = act(operator, instance_id)
        if isinstance(done, Intervention) and done.at_work_still is not None:
            lost.add(instance_id)
        return done

    return noting


def _if_still(status: InstanceStatus, act: Act) -> Act:
    """Act only on instances that stand as they were found: others were not counted when the act was confirmed."""

    def checked(operator: Operator, instance_id: InstanceId) -> object:
        check_still(operator, instance_id, status)
        return act(operator, instance_id)

    return checked


def check_still(operator: Operator, instance_id: InstanceId, status: InstanceStatus) -> None:
    """Refuse an act on an instance that does not stand any more as it was found, and keep it as it stands."""
    with operator.transactions.read() as connection:
        found = instances.load_locked(connection, instance_id)
    if found is not None and found.status is not status:
        message = f"BatchControl {instance_id} is {found.status}: only what is {status} was meant."
        raise Refused(message, next_step=f"batchctl show {instance_id}")


def _together(operator: Operator, ids: Sequence[InstanceId], act: Act) -> list[tuple[InstanceId, str | None]]:
    try:
        return operator.transactions.run(frozenset({Boundary.OPERATOR}), partial(_chunk, operator, ids, act))
    except Busy as error:
        found = [(one, _alone(operator, one, act, error)) for one in ids]
        if all(said == error.in_full for _, said in found):
            raise
        return found


def _alone(operator: Operator, instance_id: InstanceId, act: Act, busy: Busy) -> str | None:
    """Act on one instance of a chunk that was locked; where this one is locked, return who holds it."""
    try:
        work = partial(_chunk, operator, [instance_id], act)
        ((_, said),) = operator.transactions.run(frozenset({Boundary.OPERATOR}), work, nowait=True)
    except (Busy, Conflict):
        return busy.in_full
    return said


def _chunk(
    operator: Operator, ids: Sequence[InstanceId], act: Act, connection: Connection
) -> list[tuple[InstanceId, str | None]]:
    joined = replace(operator, transactions=Joined(connection))
    return [(one, _tried(joined, one, act, connection)) for one in ids]


def _tried(operator: Operator, instance_id: InstanceId, act: Act, connection: Connection) -> str | None:
    """Act on one; return why it refused."""
    try:
        with savepoint(connection):
            act(operator, instance_id)
    except (Conflict, Busy, DatabaseRefused):
        raise
    except BatchctlError as error:
        return error.in_full
    return None
