"""What to do first about a row that did not become work: accepting it unchanged only helps where a person decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from batchctl.domain.dead_ends import BY_A_PERSON, CORRECTED
from batchctl.domain.rows import BatchDefinition, IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import visible
from batchctl.domain.untaken import meant_by, to_register
from batchctl.operations import files_taken_again
from batchctl.store.definitions.definitions import Definitions
from batchctl.store.intake import intake
from batchctl.store.intake.file_watches import TakenFile

UNSAID = "no reason was given"
PAUSED = "somebody inserted or set it as paused"
REJECTED_BY = BY_A_PERSON
OF_A_WATCH = "watch "
"""How the Source of a row begins that a watch has inserted."""


def because(row: IntakeRow, defined: Definitions) -> str:
    """Return why a row was set aside; of one that was rejected by hand, also whether no batch takes it."""
    if row.message:
        return visible(row.message)
    if row.status is IntakeStatus.PAUSED:
        return PAUSED
    is_taken = any(one.entity == row.entity for one in defined.batches) or defined.unreadable_of(row.entity)
    if row.status is not IntakeStatus.REJECTED or is_taken:
        return UNSAID
    return f"{UNSAID}; {untaken(row, defined.batches)[0]}"


def to_take_in(row: IntakeRow, batches: Iterable[BatchDefinition], again: TakenFile | None = None) -> str:
    """Return what to do so that a paused, rejected or duplicate row is taken in, unless its file was taken `again`."""
    retry = f"batchctl inbox retry {row.intake_id} --reason ..."
    if again is not None and not (row.message or "").startswith(REJECTED_BY):
        return files_taken_again.to_close(row, f"it was {files_taken_again.wording(again)}")
    if row.status is IntakeStatus.PAUSED:
        return retry
    if row.status is not IntakeStatus.REJECTED:
        return f"batchctl accept {row.intake_id} --reason ..."
    if (row.message or "").startswith(REJECTED_BY):
        wanted = (
            f"if it is wanted after all: {retry}" if again is None else f"it was {files_taken_again.wording(again)}"
        )
        return f"nothing; {wanted}"
    reject = f"batchctl inbox reject {row.intake_id} --reason ..."
    if (row.message or "").endswith(CORRECTED):
        return f"{retry}; if it is not wanted: {reject}"
    of_it = [batch for batch in batches if batch.entity == row.entity]
    if not of_it:
        return f"{_entity(row)}, then: {retry}; if it is not wanted: {reject}"
    if _is_of_procedure(row, of_it):
        return f"make or correct what the reason names, then: {retry}; if it is not wanted: {reject}"
    takers = ", ".join(visible(batch.name) for batch in of_it)
    populator = f"Populator and PopulatorArgs of batch {takers}"
    column = _columns(row, of_it)
    if column == "FileName" and (row.source or "").startswith(OF_A_WATCH):
        # Its watch takes the file under its new name: who corrected the row would load it once more.
        rename = f"rename the file, which {visible(row.source or '')} takes then under its new name, and: {reject}"
        return f"{rename}; or correct {populator} (UPDATE ...), then: {retry}"
    return f"correct {column}, or {populator} (UPDATE ...), then: {retry}; if it is not wanted: {reject}"


def _is_of_procedure(row: IntakeRow, takers: Iterable[BatchDefinition]) -> bool:
    """Say whether a row was rejected because of a procedure that fills the instances of its batch."""
    procedures = [batch.populating_procedure for batch in takers]
    return all(procedures) or any(name is not None and name in (row.message or "") for name in procedures)


def to_ask_again(row: IntakeRow, batches: Iterable[BatchDefinition]) -> str:
    """Return what to do about a row of which no populator had an answer, however often it was asked."""
    of_it = [batch for batch in batches if batch.entity == row.entity]
    takers = ", ".join(visible(batch.name) for batch in of_it)
    accept = f"batchctl accept {row.intake_id} --reason ..."
    if _is_of_procedure(row, of_it):
        return f"make or correct what the reason names, then: {accept}"
    return f"correct {_columns(row, of_it)}, or Populator and PopulatorArgs of batch {takers}; then: {accept}"


def unanswered(row: IntakeRow) -> str:
    """Say of a row that its populators were asked in vain, and are asked no more."""
    return f"it waits for a person: {visible(row.message or 'no populator had an answer')}"


def _columns(row: IntakeRow, takers: Iterable[BatchDefinition]) -> str:
    """Name the columns of a row that its populators go by."""
    searched = {"filename": "FileName", "data": "Data", "entity": "Entity"}
    plain = "Data" if row.file_name is None and row.data is not None else "FileName"
    found = [
        searched.get((batch.populator_on or "filename").lower(), plain) if _searches(batch) else plain
        for batch in takers
    ]
    return " or ".join(dict.fromkeys(found)) or plain


def _searches(batch: BatchDefinition) -> bool:
    return batch.populator == "pattern" and bool(batch.populator_args)


def untaken(row: IntakeRow, batches: Collection[BatchDefinition]) -> tuple[str, str]:
    """Return what is wrong with a row whose entity no batch takes, and what to do about it."""
    unwanted = f"if it is not wanted: batchctl inbox reject {row.intake_id} --reason ..."
    to_do = f"{_entity(row)}; {unwanted}"
    return f"no batch takes entity '{visible(row.entity)}'.{meant_by(row.entity, batches)}", to_do


def _entity(row: IntakeRow) -> str:
    """Return what to do so that a batch takes a row."""
    correct = intake.to_correct_entity(row.intake_id)
    return f"correct Entity of the row ({correct}), or {to_register(row.entity)}"
