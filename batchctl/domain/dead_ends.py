"""Dead ends, until a person corrects them: rows that cannot be read, carried out, taken, or start anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated

from batchctl.domain.alerting.incidents import IncidentSign, signature
from batchctl.domain.maintenance.retention import TO_KEEP_SMALL, SettingFinding
from batchctl.domain.rows import BatchDefinition, BatchId, IntakeRow
from batchctl.domain.status import IncidentKind, Severity
from batchctl.domain.text import shorten, typed, visible
from batchctl.domain.unreadable import UnreadableRow, correcting
from batchctl.domain.untaken import ENABLE_TASK, TASK, meant_by
from batchctl.domain.values import named_value, value

LONGEST = 500
_SO = {
    "BatchControl": "the instance does not go on",
    "FileProcess": "nothing becomes of the row",
    "BatchProcessHistory": "the attempt is ignored",
    "BatchFreeze": "it freezes until somebody thaws it",
    "Leader": "no controller leads, and nothing new becomes an instance",
    "Incident": "no more messages are sent about it",
}
"""The consequences of an unreadable row that starts nothing anyway."""
BY_A_PERSON = "rejected by "
"""How the message of a row begins that a person has rejected: people need not be told."""

CORRECTED = " (corrected since)"
"""How the message of a row ends that a person has corrected since it was rejected: it describes the old state."""


@value
class DeadEnd:
    """What should start work and cannot, since when, why, and what to type."""

    source: str
    since: Annotated[datetime, "EventTime"]
    message: str
    next_step: Annotated[str, "Next"]


@named_value
class Start:
    """Something that starts work for an entity by itself."""

    source: str
    """As `SchedulerLog` names it."""
    entity: str


def unreadable(row: UnreadableRow, now: datetime) -> IncidentSign:
    """Return the sign of an unreadable row."""
    starts = "its batch does not run" if row.batch_id is not None else "it starts nothing"
    so = _SO.get(row.table, starts)
    return IncidentSign(
        kind=IncidentKind.UNREADABLE,
        about=(row.table, row.row_id),
        subject=row.batch or row.called,
        message=f"{row.message}; until that is corrected {so}",
        since=now,
        next_step=row.mend,
        batch_id=row.batch_id,
    )


def not_installed(batch: BatchDefinition, now: datetime) -> Iterator[IncidentSign]:
    """Yield the plugins that a batch and its steps name, and no controller has."""
    for missing in batch.missing_plugins:
        yield IncidentSign(
            kind=IncidentKind.UNREADABLE,
            about=(batch.batch_id, missing.column, missing.seq or 0, missing.message),
            subject=batch.name,
            message=missing.message,
            since=now,
            next_step=missing.mend,
            batch_id=batch.batch_id,
            seq=missing.seq,
        )


def without_steps(
    batches: Iterable[BatchDefinition], registered_before: Collection[BatchId], now: datetime
) -> Iterator[IncidentSign]:
    """Yield the batches without steps, except those whose steps may be about to be inserted."""
    for batch in batches:
        if not batch.steps and batch.batch_id in registered_before:
            yield IncidentSign(
                kind=IncidentKind.NO_STEPS,
                about=(batch.batch_id,),
                subject=batch.name,
                message=f"Batch {visible(batch.name)} has no steps: its instances wait for ever",
                severity=Severity.WARNING,
                since=now,
                next_step=f"insert its steps into ProcessControl, or: batchctl disable {typed(batch.name)} --reason ...",
                batch_id=batch.batch_id,
            )


def short_of_units(batch: BatchDefinition, now: datetime) -> Iterator[IncidentSign]:
    """Yield the resources of which a batch needs more units than there are."""
    for need in batch.needs:
        if need.units > need.capacity:
            name = visible(need.name)
            yield IncidentSign(
                kind=IncidentKind.UNREADABLE,
                about=("BatchResource", batch.batch_id, need.resource_id),
                subject=batch.name,
                message=f"Batch {visible(batch.name)} needs {need.units} units of '{name}', and there are {need.capacity}:"
                " its instances wait for ever",
                since=now,
                next_step=f"correct Units of its BatchResource row, or of Resource {need.resource_id}; then: batchctl check",
                batch_id=batch.batch_id,
            )


def nothing_starts(limit: int | None, written: str | None, now: datetime) -> Iterator[IncidentSign]:
    """Yield the limit on all that is under way, where it lets nothing start."""
    if limit == 0:
        so = f" is '{shorten(visible(written or ''), LONGEST)}': nothing starts anywhere"
        mend = "delete the row MaxConcurrent of Setting, or let it say how many instances may be under way at once"
        yield _setting("MaxConcurrent", so, mend, now)


def _setting(name: str, so: str, mend: str, now: datetime) -> IncidentSign:
    """Return the sign of a setting that does not do what somebody wants of it."""
    called = f"Setting {visible(name)}"
    return IncidentSign(
        kind=IncidentKind.UNREADABLE,
        about=("Setting", name),
        subject=called,
        message=f"{called}{so}",
        severity=Severity.WARNING,
        since=now,
        next_step=mend,
    )


def rejected(rows: Iterable[IntakeRow], entities: Collection[str]) -> Iterator[IncidentSign]:
    """Yield what was rejected of each entity for the same reason: the newest row speaks for all.

    A row that somebody rejected by hand without a reason gets a hint if its entity is not among the taken `entities`.
    """
    seen = dict[tuple[str, str], tuple[IntakeRow, int]]()
    for row in rows:
        if not (row.message or "").startswith(BY_A_PERSON):
            about = row.entity, signature(row.message, (row.file_name, row.data))
            newest, many = seen.get(about, (row, 0))
            seen[about] = newest, many + 1
    for about, (row, many) in seen.items():
        others = "" if many == 1 else f" ({many} rows; this is the newest)"
        unsaid = "no reason was given" + ("" if row.entity in entities else "; no batch takes that entity")
        why = shorten(visible(row.message or unsaid), LONGEST)
        yield IncidentSign(
            kind=IncidentKind.REJECTED,
            about=about,
            subject=row.entity,
            message=f"FileProcess {row.intake_id} of entity {visible(row.entity)} was rejected{others}: {why}",
            since=row.inserted_at,
            next_step=f"batchctl inbox show {row.intake_id}",
            evidence=row.intake_id,
        )


def untaken(
    rows: Sequence[IntakeRow],
    starts: Iterable[Start],
    entities: Collection[str],
    batches: Collection[BatchDefinition],
    now: datetime,
) -> Iterator[IncidentSign]:
    """Yield the entities that no batch takes and something asks for: by rows that wait, or by what would start more.

    Some of the `entities` that are taken may be those of batches that cannot be read.
    """
    waiting = dict[str, list[IntakeRow]]()
    for row in rows:
        waiting.setdefault(row.entity, []).append(row)
    sources = dict[str, list[str]]()
    for one in starts:
        if one.entity not in entities:
            sources.setdefault(one.entity, []).append(one.source)
    for entity in dict.fromkeys((*waiting, *sources)):
        of_it = waiting.get(entity, [])
        asked = (
            [f"FileProcess {of_it[0].intake_id}" + (f" and {len(of_it) - 1} more" if len(of_it) > 1 else "")]
            if of_it
            else []
        )
        asked += [visible(source) for source in sources.get(entity, [])]
        register = ENABLE_TASK if entity == TASK else "register a batch with this Entity (batchctl batches)"
        or_else = f"; if the row is wrong: batchctl inbox show {of_it[0].intake_id}" if of_it else ""
        yield IncidentSign(
            kind=IncidentKind.UNTAKEN,
            about=(entity,),
            subject=entity,
            message=f"No batch takes entity {visible(entity)}, so nothing comes of {', '.join(asked)}."
            f"{meant_by(entity, batches)}",
            severity=Severity.WARNING,
            since=min((one.inserted_at for one in of_it), default=now),
            next_step=f"{register}{or_else}",
            evidence=of_it[-1].intake_id if of_it else 0,
        )


def misread_column(batch: BatchId, name: str, column: str, wording: str, now: datetime) -> IncidentSign:
    """Return the sign of a column that cannot be used, though its batch can be read and goes on."""
    quoted = "'" + visible(name).replace("'", "''") + "'"
    return IncidentSign(
        kind=IncidentKind.UNREADABLE,
        about=("ProcessBatch", column, batch),
        subject=name,
        message=f"ProcessBatch ({visible(name)}): {column}: {shorten(wording, LONGEST)}",
        severity=Severity.WARNING,
        since=now,
        next_step=correcting("ProcessBatch", column, f"ProcessBatchName = {quoted}"),
        batch_id=batch,
    )


def unknown_setting(name: str, wording: str, now: datetime) -> IncidentSign:
    """Return the sign of a setting that has no effect, and that somebody relies on."""
    return _setting(name, f": {wording}", "correct Name of that row of Setting, or delete it", now)


def misread_rule(finding: SettingFinding, now: datetime) -> IncidentSign:
    """Return the sign of a setting that makes no sense: because of it nothing of its kind is purged, to be safe."""
    mend = f"correct {finding.column} of that row of Setting; what it may say stands in docs/retention.md"
    return _setting(finding.name, f" cannot be used: {shorten(finding.message, LONGEST)}", mend, now)


def history_grows(wording: str, now: datetime) -> IncidentSign:
    """Return the sign of a history that fills the disk."""
    return IncidentSign(
        kind=IncidentKind.HISTORY_GROWS,
        subject="history",
        message=wording,
        severity=Severity.WARNING,
        since=now,
        next_step=TO_KEEP_SMALL,
    )


def not_starting(one: DeadEnd) -> IncidentSign:
    """Return the sign of what should start work, and cannot."""
    return IncidentSign(
        kind=IncidentKind.NOT_STARTING,
        about=(one.source,),
        subject=one.source,
        message=f"{visible(one.source)} starts nothing: {shorten(visible(one.message), LONGEST)}",
        since=one.since,
        next_step=one.next_step,
    )
