"""Asking for work: inserting a `FileProcess` row as any program may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from batchctl.domain.errors import Refused
from batchctl.domain.rows import LONG_AGO, BatchDefinition, IntakeId, IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import NAME_LIMIT, shorten, storable, unfit, visible
from batchctl.domain.untaken import ENABLE_TASK, TASK, meant_by
from batchctl.operations import unknown
from batchctl.ports import Boundary, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What to insert."""

    entity: str
    file_name: str | None = None
    data: str | None = None
    cycle_key: str | None = None


_AFTER_ALL = IntakeId(2**31 - 1)
"""The number of a row that is not inserted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What was inserted (nothing, in a dry run), and which batches will make an instance of it."""

    intake_id: IntakeId | None
    batches: tuple[str, ...]
    hint: str | None
    next_step: str | None = None
    """What to do about what the hint says."""


def submit(
    transactions: Transactions,
    submission: Submission,
    *,
    user: str,
    host: str,
    dry_run: bool = False,
    check: Callable[[IntakeRow, Sequence[BatchDefinition]], None] | None = None,
) -> Submitted:
    """Insert an intake row; the controller finds it by itself.

    A `check` may refuse what the batches that take it could only fail of.
    """
    _check(submission)
    source = shorten(storable(f"submit by {user}@{host}"), NAME_LIMIT)
    with transactions.read() as connection:
        defined = definitions.read(connection)
    if check is not None:
        check(_imagined(submission), [batch for batch in defined.batches if batch.entity == submission.entity])
    takers = [batch for batch in defined.batches if batch.entity == submission.entity]
    hint, next_step = None, None
    if broken := defined.unreadable_of(submission.entity):
        said = unknown.of_batch_row(broken[0])
        hint, next_step = said.message, said.next_step
    elif not takers:
        meant = meant_by(submission.entity, defined.batches)
        hint = f"No batch takes entity '{visible(submission.entity)}'.{meant}"
        is_task = submission.entity == TASK
        next_step = ENABLE_TASK if is_task else "batchctl batches   (which entities are taken)"

    def insert(connection: Connection) -> IntakeId:
        return intake.add(
            connection,
            entity=submission.entity,
            file_name=submission.file_name,
            data=submission.data,
            cycle_key=submission.cycle_key,
            source=source,
        )

    intake_id = None if dry_run else transactions.run(frozenset({Boundary.INTAKE}), insert)
    with transactions.read() as connection:
        repeats = _repeats(connection, replace(_imagined(submission), intake_id=intake_id or _AFTER_ALL), takers)
    if repeats:
        listed = "; ".join(
            f"batch {visible(name)}: same Data as FileProcess {first}" for name, first in repeats.items()
        )
        hint = f"It is a duplicate, of which no instance is made: {listed}."
        resend = f"batchctl inbox resend {intake_id} --reason ..."
        next_step = f"if it is to run all the same, once a controller has looked at it: {resend}" if intake_id else None
    taken_by = tuple(batch.name for batch in takers if batch.name not in repeats)
    return Submitted(intake_id=intake_id, batches=taken_by, hint=hint, next_step=None if taken_by else next_step)


def _repeats(connection: Connection, row: IntakeRow, takers: Iterable[BatchDefinition]) -> dict[str, IntakeId]:
    """Return by batch which row of before this one repeats, as far as that is known already."""
    checking = [batch for batch in takers if batch.duplicate_check]
    found = {batch.name: intake.first_with_same_data(connection, row, batch.batch_id) for batch in checking}
    return {name: first for name, first in found.items() if first is not None}


def _imagined(submission: Submission) -> IntakeRow:
    """Return the row as it would be."""
    return IntakeRow(
        intake_id=IntakeId(0),
        entity=submission.entity,
        file_name=submission.file_name,
        status=IntakeStatus.READY,
        data=submission.data,
        cycle_key=submission.cycle_key,
        source=None,
        message=None,
        inserted_at=LONG_AGO,
    )


def _check(submission: Submission) -> None:
    given = {
        "Entity": submission.entity,
        "FileName": submission.file_name,
        "Data": submission.data,
        "CycleKey": submission.cycle_key,
    }
    for column, value in given.items():
        reason = None if value is None else unfit(value)
        if column in {"Entity", "CycleKey"} and value is not None and len(value) > NAME_LIMIT:
            reason = f"it is longer than {NAME_LIMIT} characters"
        if column == "Entity" and not value:
            reason = "it is empty"
        if reason is not None:
            raise Refused(f"{column} cannot be submitted: {reason}.", next_step="batchctl submit --help")
