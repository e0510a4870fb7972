"""Definitions as files: compared, and applied in one transaction that refuses whatever would be lost or wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from batchctl.domain.definitions import defined
from batchctl.domain.definitions.defined import CORRECT, Defined
from batchctl.domain.definitions.defined_changes import Base, ColumnConflict, DefinitionChange, as_wanted, change_of
from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.operators.release import MOST_UNASKED
from batchctl.domain.outcomes import CORRECT_THE_ROWS, RowFinding, StepContext
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.schedule_columns import schedule_of
from batchctl.domain.scheduling.schedules import Schedule, ScheduleId
from batchctl.domain.text import did_you_mean, fitting, typed, visible
from batchctl.operations.definitions import half_way
from batchctl.operations.definitions.checking import check
from batchctl.operations.definitions.plugin_checks import AskedPlugins
from batchctl.operations.definitions.reconciler import JobPlugins
from batchctl.operations.operators.acts import Actor, Joined, checked_reason
from batchctl.operations.operators.releasing import backlog
from batchctl.operations.scheduling import arming, timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext, schedule_findings
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.ports import AskHandler, Boundary, ask_straight
from batchctl.store import Connection
from batchctl.store.definitions import applied_definitions, definition_rows, definitions
from batchctl.store.definitions.applied_definitions import Applied
from batchctl.store.definitions.definition_rows import SETTINGS, SHAPES, DefinitionRow, shape_of
from batchctl.store.scheduling import schedule_rows
from batchctl.store.scheduling.schedule_rows import UNARMED

Key = tuple[str, str]
"""A definition's kind and name."""
STRANDED_SHOWN = 10


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read, and what it is called."""

    source: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApplyOutcome:
    """What applying files would do, or did; nothing was done where there are conflicts or problems."""

    changes: tuple[DefinitionChange, ...] = ()
    findings: tuple[RowFinding, ...] = ()
    same: int = 0
    """How many definitions are as the files say already."""
    is_applied: bool = False
    overwritten: Collection[str] = ()

    @property
    def conflicts(self) -> list[tuple[DefinitionChange, ColumnConflict]]:
        """Return what would be lost of what somebody has changed since, but for what is to be overwritten."""
        return [
            (change, one)
            for change in self.changes
            if not _is_named((change.kind, change.name), self.overwritten)
            for one in change.conflicts
        ]


class _Undone(Exception):
    """All that was written is to be undone."""

    def __init__(self, outcome: ApplyOutcome) -> None:
        super().__init__()
        self.outcome = outcome


@dataclass(slots=True)
class _Wish:
    """What some files say, all together."""

    wanted: dict[Key, Defined] = field(default_factory=dict)
    exported: dict[Key, str] = field(default_factory=dict)
    owner: str | None = None
    findings: list[RowFinding] = field(default_factory=list)
    mistaken: set[str] = field(default_factory=set)
    """The names of definitions of which something is wrong already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applier:
    """Applies files."""

    actor: Actor
    plugins: AskedPlugins
    context: StepContext
    timetable: Timetable
    jobs: JobPlugins | None = None
    ask: AskHandler = ask_straight

    def apply(
        self, files: Sequence[File], *, reason: str | None = None, prune: bool = False, overwrite: Collection[str] = ()
    ) -> ApplyOutcome:
        """Make the definitions what the files say; in a dry run try it in a transaction that is undone.

        Nothing is done where anything would be lost or wrong, and all of that is said at once.
        """
        checked_reason(reason)
        wish = _wish(files)
        if prune and wish.owner is None:
            message = "The files do not say what they hold, so nothing of it can be missing in them."
            raise Refused(message, next_step=f'begin a file with: {defined.OWNS} = "a name"')

        def act(connection: Connection) -> ApplyOutcome:
            done = self._act(connection, wish, reason, prune=prune, overwrite=overwrite)
            if self.actor.dry_run or not done.is_applied:
                raise _Undone(done)
            return done

        try:
            return self.actor.transactions.run(frozenset({Boundary.OPERATOR}), act)
        except _Undone as undone:
            return undone.outcome

    def _act(
        self, connection: Connection, wish: _Wish, reason: str | None, *, prune: bool, overwrite: Collection[str]
    ) -> ApplyOutcome:
        definition_rows.lock(connection, wish.wanted)
        rows = {(row.defined.kind, row.defined.name): row for row in definition_rows.everything(connection)}
        applied = applied_definitions.everything(connection)
        findings = [*wish.findings, *_of_others(wish, rows, applied, overwrite)]
        gone = [key for key, one in applied.items() if prune and one.owner == wish.owner and key not in wish.wanted]
        _refuse_unknown(overwrite, [*wish.wanted, *gone])
        changes = dict[Key, DefinitionChange]()
        for key in [*wish.wanted, *gone]:
            row, yours = rows.get(key), wish.wanted.get(key)
            theirs = None if row is None else row.defined
            base = _base(theirs, applied.get(key), wish.exported.get(key))
            if (change := change_of(shape_of(key[0]), theirs, yours, base)) is not None:
                changes[key] = change
        ordered = sorted(changes.values(), key=lambda one: [shape.kind for shape in SHAPES].index(one.kind))
        same = sum(key not in changes for key in wish.wanted)
        if changes:
            findings += self._write(connection, wish, rows, changes, reason)
        outcome = ApplyOutcome(tuple(ordered), tuple(dict.fromkeys(findings)), same, overwritten=overwrite)
        if outcome.findings or outcome.conflicts:
            return outcome
        for key, yours in wish.wanted.items():
            said = json.dumps(defined.raw(shape_of(key[0]), yours), sort_keys=True)
            was = applied.get(key)
            now_is = Applied(0 if was is None else was.row_id, *key, wish.owner, wish.exported.get(key), said)
            applied_definitions.keep(connection, was, now_is, fitting(self.actor.user), self.actor.clock.now())
        for key in gone:
            applied_definitions.forget(connection, applied[key].row_id)
        return ApplyOutcome(outcome.changes, (), same, is_applied=True, overwritten=overwrite)

    def _write(
        self,
        connection: Connection,
        wish: _Wish,
        rows: Mapping[Key, DefinitionRow],
        changes: Mapping[Key, DefinitionChange],
        reason: str | None,
    ) -> list[RowFinding]:
        """Write all of it, and return what is wrong then that was not before."""
        schedule_context = timetable.schedule_context(connection, self.timetable.zone, self.actor.clock.now())
        timed = {one.schedule_id: one for one in schedule_rows.everything(connection)[0]}
        known, refused = self._check(connection), list[RowFinding]()
        disabled = {batch.name for batch in definitions.all_batches(connection) if not batch.enabled}
        for key in changes:
            if key[0] == "ProcessBatch" and (row := rows.get(key)) is not None:
                refused += _half_way(connection, row, wish.wanted.get(key))
        refused += self._in_words(connection, wish, self._write_rows(connection, wish, rows, changes))
        now = self.actor.clock.now()
        refused += _let_go(connection, disabled, now)
        self._arm(
            connection,
            timetable.schedule_context(connection, self.timetable.zone, now),
            schedule_context,
            timed,
            changes,
        )
        for key, change in changes.items():
            before = {one.where: one.before for one in change.columns}
            after = {one.where: one.after for one in change.columns}
            self.actor.note(connection, f"apply {change.act}", f"{key[0]}:{key[1]}", reason, before, after)
        found = [*refused, *(_in_file(one) for one in self._check(connection) if one not in known)]
        # A finding about a row that only lacks what was misspelt is of no use.
        mistaken = {visible(name) for name in wish.mistaken}
        return [one for one in found if one.row not in mistaken]

    def _write_rows(
        self,
        connection: Connection,
        wish: _Wish,
        rows: Mapping[Key, DefinitionRow],
        changes: Mapping[Key, DefinitionChange],
    ) -> list[RowFinding]:
        refused, written = list[RowFinding](), list[tuple[Key, int, Defined]]()
        now = self.actor.clock.now()
        in_order = [key for shape in SHAPES for key in changes if key[0] == shape.kind]
        for key in in_order:
            if (yours := wish.wanted.get(key)) is None:
                continue
            before = rows.get(key)
            yours = as_wanted(shape_of(key[0]), None if before is None else before.defined, yours)
            with _noting(refused, key), definition_rows.apart(connection):
                written.append((key, definition_rows.write(connection, before, yours, now), yours))
        for key, row_id, yours in written:
            with _noting(refused, key), definition_rows.apart(connection):
                definition_rows.write_below(connection, row_id, rows.get(key), yours, now)
        for key in reversed(in_order):
            if key in wish.wanted:
                continue
            with _noting(refused, key), definition_rows.apart(connection):
                if key[0] == "Schedule":
                    schedule_rows.remove(connection, ScheduleId(rows[key].row_id))
                else:
                    definition_rows.remove(connection, rows[key])
        return refused

    def _in_words(self, connection: Connection, wish: _Wish, refused: Sequence[RowFinding]) -> Iterator[RowFinding]:
        """Yield what the database refused; of a schedule's column in the words that `schedule set` uses."""
        schedule_context = timetable.schedule_context(connection, self.timetable.zone, self.actor.clock.now())
        for one in refused:
            yours = wish.wanted.get((one.table, one.row))
            said = {} if one.table != "Schedule" or yours is None else _findings_of(yours, schedule_context)
            yield replace(one, message=said.get(one.column, one.message))

    def _check(self, connection: Connection) -> tuple[RowFinding, ...]:
        # Whether folders are there is not asked: a share that hangs would keep everybody from writing.
        # Nor is who serves a pool: definitions come before the hosts that are to run them.
        return check(Joined(connection), self.plugins, self.context, None, self.timetable, self.jobs, ask=self.ask)

    def _arm(
        self,
        connection: Connection,
        schedule_context: ScheduleContext,
        context_before: ScheduleContext,
        before: Mapping[ScheduleId, Schedule],
        changes: Mapping[Key, DefinitionChange],
    ) -> None:
        """Let every schedule stand as a controller would leave it; what nothing lets start begins anew once it is let."""
        for schedule in schedule_rows.everything(connection)[0]:
            known = before.get(schedule.schedule_id)
            if known is not None and known.enabled != schedule.enabled:
                schedule_rows.change(connection, schedule.schedule_id, UNARMED, schedule_context.now)
            anew = known is not None and known.enabled and arming.begins_anew(known, schedule, context_before)
            is_touched = ("Schedule", schedule.name) in changes
            is_touched |= ("Calendar", schedule.timing.calendar_name) in changes
            if schedule.enabled and (is_touched or anew):
                arming.arm(connection, schedule.schedule_id, schedule_context, anew=anew)


def _wish(files: Sequence[File]) -> _Wish:
    """Put together what files say; twice the same definition is wrong, even if both say the same."""
    wish, owners = _Wish(), dict[str | None, str]()
    for file in files:
        content = defined.read(SHAPES, file.content, file.source)
        wish.findings += content.findings
        wish.mistaken |= content.mistaken
        wish.exported |= content.exported
        owners[content.owner] = file.source
        for one in content.found:
            key = one.kind, one.name
            if key in wish.wanted:
                message = f"It stands there twice, the second time in {visible(file.source)}."
                wish.findings.append(RowFinding(one.kind, visible(one.name), "", message, CORRECT))
            elif key == (SETTINGS, "DatabaseId"):
                message = "It tells the database from every other, and stays."
                wish.findings.append(RowFinding(one.kind, one.name, "", message, CORRECT))
            else:
                wish.wanted[key] = one
    if len(owners) > 1:
        said = {source: "nothing" if owner is None else visible(owner) for owner, source in owners.items()}
        listed = "; ".join(f"{visible(source)}: {owner}" for source, owner in said.items())
        wish.findings.append(
            RowFinding("", "", defined.OWNS, f"The files do not agree who holds them: {listed}.", CORRECT)
        )
    wish.owner = next(iter(owners), None)
    return wish


def _of_others(
    wish: _Wish, rows: Mapping[Key, DefinitionRow], applied: Mapping[Key, Applied], overwrite: Collection[str]
) -> Iterator[RowFinding]:
    """Yield what is not these files' to say: the code of a job says it, or other files hold it."""
    for key, yours in wish.wanted.items():
        row, was = rows.get(key), applied.get(key)
        if row is not None and row.owner is not None:
            message = f"It is kept up to date by the code of {visible(row.owner)}, which would write it anew."
            yield RowFinding(
                yours.kind, visible(yours.name), "Origin", message, "change the code, and leave it out of the file"
            )
        elif was is not None and was.owner not in {None, wish.owner} and not _is_named(key, overwrite):
            message = f"It is held by files that say {defined.OWNS} = '{visible(was.owner or '')}'."
            remedy = f"leave it to them, or take it over: --overwrite {typed(yours.name)}"
            yield RowFinding(yours.kind, visible(yours.name), defined.OWNS, message, remedy)


def _base(theirs: Defined | None, applied: Applied | None, exported: str | None) -> Base:
    """Return what the file was last in step with: what was applied last, unless it was exported anew since."""
    is_newer = exported is not None and (applied is None or applied.exported != exported)
    if is_newer and theirs is not None and defined.fingerprint(shape_of(theirs.kind), theirs) == exported:
        return Base(is_theirs=True)
    if applied is None:
        return Base()
    found = defined.read(SHAPES, {applied.kind: [json.loads(applied.content)]}, "").found
    return Base(found[0] if found else None)


def _half_way(connection: Connection, row: DefinitionRow, yours: Defined | None) -> Iterator[RowFinding]:
    """Yield the instances that a new numbering of the steps would leave nowhere."""
    before = [int(seq) for seq in row.defined.parts.get("ProcessControl", {})]
    after = [] if yours is None else [int(seq) for seq in yours.parts.get("ProcessControl", {})]
    found = list(half_way.stranded(connection, BatchId(row.row_id), before, after))
    for instance, seq in found[:STRANDED_SHOWN]:
        at = instance.instance_id
        comes = "would come" if seq in after else "would go"
        message = (
            f"It is {instance.status} behind step {instance.last_seq} of {visible(row.defined.name)}, and step {seq}"
            f" {comes}: what it has done would mean something else."
        )
        remedy = f"let it end first (batchctl show {at}), or give it up: batchctl cancel {at} --reason ..."
        yield RowFinding("BatchControl", str(at), "PrevProcessControlSeq", message, remedy)
    if len(found) > STRANDED_SHOWN:
        message = f"{len(found) - STRANDED_SHOWN} more instances of {visible(row.defined.name)} are half-way."
        yield RowFinding("BatchControl", "", "PrevProcessControlSeq", message, "batchctl status")


def _let_go(connection: Connection, disabled: Collection[str], now: datetime) -> Iterator[RowFinding]:
    """Yield the batches whose enabling would start what has waited: `apply` does not ask what is to become of that."""
    batches = definitions.all_batches(connection)
    for batch in batches:
        if batch.enabled and batch.name in disabled:
            found = backlog(connection, batches, [batch.name], now)
            if found.total > MOST_UNASKED:
                remedy = (
                    f"first: batchctl enable {typed(batch.name)} --release all   (or latest, none; or --throttle N)"
                )
                yield RowFinding("ProcessBatch", visible(batch.name), "Enabled", found.wording, remedy)


def _findings_of(yours: Defined, schedule_context: ScheduleContext) -> dict[str, str]:
    """Return what is wrong with a schedule, by columns; nothing where a word of it is none."""
    try:
        schedule = schedule_of({"ScheduleName": yours.name, **yours.columns})
    except ValueError:
        return {}
    return {one.column: one.message for one in schedule_findings(schedule, schedule_context)}


def _in_file(found: RowFinding) -> RowFinding:
    """Return a finding of rows with its remedy where they come from a file, which would write them again."""
    if found.remedy == CORRECT_THE_ROWS or found.remedy.startswith("batchctl schedule set "):
        return replace(found, remedy=CORRECT)
    return replace(found, remedy=found.remedy.replace("correct the row, ", f"{CORRECT}, "))


@contextmanager
def _noting(refused: list[RowFinding], key: Key) -> Iterator[None]:
    """Take down what the database refuses of one definition, and go on with the others."""
    try:
        yield
    except LookupError as error:
        table, name = error.args
        column, message = "", f"There is no {table} '{visible(str(name))}'."
    except ValueError as error:
        column, message = _column_of(key[0], str(error)), f"The database refuses it: {visible(str(error))}."
    else:
        return
    refused.append(RowFinding(key[0], visible(key[1]), column, message, CORRECT))


def _column_of(kind: str, wording: str) -> str:
    """Return the column whose constraint the database has shown: by its name, or as SQLite does by what it asks for."""
    known = {column.lower(): column for column in shape_of(kind).columns}
    named = re.search(rf"\bck_{kind}_([a-z]+)", wording, re.IGNORECASE)
    _, _, condition = wording.partition("constraint failed: ")
    words = [named[1]] if named else re.findall(r"\w+", condition)
    return next((known[word] for word in map(str.lower, words) if word in known), "")


def _is_named(key: Key, names: Collection[str]) -> bool:
    return not _ways_to_name(key).isdisjoint(names)


def _ways_to_name(key: Key) -> set[str]:
    kind, name = key
    return {name, f"{kind}:{name}"}


def _refuse_unknown(overwrite: Collection[str], concerned: Collection[Key]) -> None:
    """Refuse a name to overwrite that is no definition's here: it is misspelt, and another one was meant."""
    known = {way for key in concerned for way in _ways_to_name(key)}
    for name in overwrite:
        if name not in known:
            meant = did_you_mean(name, {name for _, name in concerned})
            message = f"The files say nothing of '{visible(name)}', which is to be overwritten.{visible(meant)}"
            raise NotFound(message, next_step="the same with --overwrite of a name that stands in them")


def outcome_columns(outcome: ApplyOutcome) -> dict[str, JsonValue]:
    """Return an outcome for JSON."""
    return {
        "Applied": outcome.is_applied,
        "Same": outcome.same,
        "Changes": [_change_columns(change) for change in outcome.changes],
        "Conflicts": [
            {
                "Kind": change.kind,
                "Name": change.name,
                "Column": one.where,
                "Base": one.base,
                "BaseKnown": one.is_base_known,
                "Theirs": one.before,
                "Yours": one.after,
            }
            for change, one in outcome.conflicts
        ],
        "Problems": [
            {"Table": one.table, "Row": one.row, "Column": one.column or None, "Message": one.message}
            for one in outcome.findings
        ],
    }


def _change_columns(change: DefinitionChange) -> dict[str, JsonValue]:
    columns: list[JsonValue] = [
        {"Column": one.where, "Before": one.before, "After": one.after} for one in change.columns
    ]
    return {"Kind": change.kind, "Name": change.name, "Act": change.act.value, "Columns": columns}
