"""The release guard: before a batch is let go, what would start at once, and what is to become of it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from batchctl.domain import gates
from batchctl.domain.errors import Conflict, Refused
from batchctl.domain.operators.release import MOST_UNASKED, Choice, Release, staggered, superseded
from batchctl.domain.rows import BatchDefinition, BatchInstance, InstanceId, imagined
from batchctl.domain.text import visible
from batchctl.operations import decisions, shown_columns
from batchctl.operations.operators.acts import Actor
from batchctl.operations.shown_columns import Columns
from batchctl.operations.standing import WaitingLine
from batchctl.store import Connection, instances, reports
from batchctl.store.intake import intake
from batchctl.store.maintenance import audit_entries

Change = tuple[str, BatchInstance, BatchInstance]
"""An act on an instance, as that was and as it is then."""

PAGE = 500
BATCHES_NAMED = 5
TO_CHOOSE = (
    "the same with --release all, latest or none, or with --throttle N;"
    ' in an OperatorRequest, Arguments say it: {"release": "latest"}'
)

TO_MAKE = "batchctl create, then the same once more"
TO_CHOOSE_UNMADE = f"the same with --release all; for latest, none or --throttle N: {TO_MAKE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What would start, in the order in which it would, by the names of the batches."""

    lines: Mapping[str, Sequence[BatchInstance]]
    oldest: datetime | None
    """When the row came of the first that was created."""
    new: int = 0
    """How many would start besides, as soon as somebody makes them: no controller has looked at their rows yet."""

    @property
    def ids(self) -> frozenset[InstanceId]:
        """Return the numbers of all."""
        return frozenset(one.instance_id for line in self.lines.values() for one in line)

    @property
    def count(self) -> int:
        """Return how many would start."""
        return sum(map(len, self.lines.values()))

    @property
    def total(self) -> int:
        """Return how many would start, now or as soon as they are made."""
        return self.count + self.new

    @property
    def wording(self) -> str:
        """Say what would start."""
        if not self.count:
            return f"This will start {self.unmade}." if self.new else "Nothing waits that this would start."
        of = [f"{len(line)} of batch {visible(name)}" for name, line in self.lines.items()]
        more = [f"{len(of) - BATCHES_NAMED} more batches"] if len(of) > BATCHES_NAMED else []
        what = "instance" if self.count == 1 else "instances"
        besides = f"; and {self.unmade}" if self.new else ""
        since = "" if self.oldest is None else f", the oldest from {self.oldest:%Y-%m-%d}"
        return f"This will start {self.count} {what}{since}: {', '.join(of[:BATCHES_NAMED] + more)}{besides}."

    @property
    def unmade(self) -> str:
        """Name what no controller has looked at yet."""
        return f"{self.new} of FileProcess rows that have no instance yet"

    def columns(self) -> Columns:
        """Return it for programs."""
        first = {name: line[0].instance_id for name, line in self.lines.items()}
        return {
            "Count": self.count,
            "New": self.new,
            "Oldest": shown_columns.moment(self.oldest),
            "Batches": [
                {"ProcessBatchName": name, "Count": len(line), "FirstBatchControl_id": first[name]}
                for name, line in self.lines.items()
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What there was, what was chosen, and of how many instances something else became than to start at once."""

    backlog: Backlog
    choice: Choice | None
    changed: int = 0
    dry_run: bool = False

    @property
    def wording(self) -> str | None:
        """Say what has become, or would become, of what has waited; None where there was nothing to choose."""
        if self.choice is None or not self.backlog.total:
            return None
        count, left = self.changed, self.backlog.count - self.changed
        match self.choice.release:
            case Release.LATEST:
                gone = "would be cancelled" if self.dry_run else "cancelled"
                return f"{left} of the {self.backlog.count} that waited may start; {gone} as older ones: {count}."
            case Release.NONE:
                are = "would be" if self.dry_run else "are"
                return f"{count} that waited {are} paused: batchctl resume ID --reason ... lets one go on."
            case Release.THROTTLE:
                start = "would start" if self.dry_run else "start"
                return f"{self.backlog.count} that waited {start}, at most {self.choice.per_minute} a minute."
            case Release.ALL:
                return f"{self.backlog.total} that waited may start."

    def columns(self) -> Columns:
        """Return it for programs."""
        release = None if self.choice is None else self.choice.release.value
        return {**self.backlog.columns(), "Release": release, "Changed": self.changed}


def backlog(
    connection: Connection, batches: Iterable[BatchDefinition], opened: Collection[str], now: datetime
) -> Backlog:
    """Return what would start in the `opened` ones of all batches, once these stand as they are given."""
    known = {batch.batch_id: batch for batch in batches}
    failures = WaitingLine(connection, known, now).stoppers
    let = [batch for batch in known.values() if batch.name in opened and gates.is_open(batch, now)]
    lines = dict[str, Sequence[BatchInstance]]()
    rows, new = reports.count_new(connection) if let else {}, 0
    for batch in let:
        # One that comes last of all tells whether anything that is made later would start.
        last = imagined(batch)
        waiting = chain(_in_line(connection, batch), [last])
        found = list(gates.startable(batch, waiting, now=now, places=sys.maxsize, failures=failures))
        if found and found[-1] is last:
            new += rows.get(batch.batch_id, 0)
            found.pop()
        lines |= {batch.name: found} if found else {}
    first = min((line[0] for line in lines.values()), key=lambda one: one.instance_id, default=None)
    row = None if first is None else intake.load(connection, first.intake_id)
    return Backlog(lines=lines, oldest=None if row is None else row.inserted_at, new=new)


def let_go(
    actor: Actor,
    connection: Connection,
    batches: Iterable[BatchDefinition],
    opened: Collection[str],
    choice: Choice | None,
    reason: str | None,
) -> Released:
    """Do what was chosen with all that would start in the `opened` batches; all batches are given as they will stand.

    Raises `Refused` where nothing was chosen and much would start, or more than was shown before the choice.
    """
    now = actor.clock.now()
    found = backlog(connection, batches, opened, now)
    if choice is None and found.total > MOST_UNASKED and not actor.dry_run:
        raise Refused(found.wording, next_step=TO_CHOOSE_UNMADE if found.new else TO_CHOOSE)
    if choice is not None and choice.release is not Release.ALL and found.new:
        raise Refused(f"{found.wording} Of these nothing else can become before they are made.", next_step=TO_MAKE)
    if choice is not None and choice.seen is not None and not found.ids <= choice.seen:
        message = f"Meanwhile more has come: {len(found.ids - choice.seen)} not shown before would start too."
        raise Refused(message, next_step="the same once more")
    changes = [] if choice is None else list(_changes(found, choice, now))
    if choice is not None and choice.most is not None and len(changes) > choice.most:
        message = (
            f"{len(changes)} instances would have to be changed, more than a controller does at once by a request."
        )
        raise Refused(
            message, next_step="on the command line: batchctl thaw --reason ..., or batchctl enable NAME --reason ..."
        )
    for at in range(0, 0 if actor.dry_run else len(changes), PAGE):
        _write(actor, connection, changes[at : at + PAGE], reason, now)
    return Released(backlog=found, choice=choice, changed=len(changes), dry_run=actor.dry_run)


def _in_line(connection: Connection, batch: BatchDefinition) -> Iterator[BatchInstance]:
    after = 0
    while page := instances.ask_in_line(connection, batch.batch_id, after, PAGE)():
        yield from page
        after = page[-1].instance_id


def _changes(found: Backlog, choice: Choice, now: datetime) -> Iterator[Change]:
    """Yield each instance of which something else becomes, with the act, and as it is after that."""
    everyone = [one for line in found.lines.values() for one in line]
    match choice.release:
        case Release.LATEST:
            for line in found.lines.values():
                # What has done a step already goes on from there: half of its work is done.
                over = superseded([one.instance_id for one in line if not one.last_seq])
                yield from (("cancel", one, decisions.cancel(one)) for one in line if one.instance_id in over)
        case Release.NONE:
            yield from (("pause", one, decisions.pause(one)) for one in everyone)
        case Release.THROTTLE:
            times = staggered(len(everyone), choice.per_minute or 1, now)
            for one, at in zip(everyone, times, strict=True):
                if at > now:
                    yield "throttle", one, replace(one, next_run_time=at)
        case Release.ALL:
            return


def _write(actor: Actor, connection: Connection, changes: Sequence[Change], reason: str | None, now: datetime) -> None:
    over = [after.intake_id for _, _, after in changes if after.status.is_final]
    if instances.move_all(connection, [(before, after) for _, before, after in changes], now) < len(changes):
        message = "Somebody has changed one of the instances that wait."
        raise Conflict(message)
    if over:
        intake.complete_all_done(connection, over, now)
    actor.note_all(connection, map(_noted, changes), reason)


def _noted(change: Change) -> tuple[str, str, Columns, Columns]:
    act, before, after = change
    return (
        act,
        audit_entries.instance_target(before.instance_id),
        *shown_columns.changes(shown_columns.of(before), shown_columns.of(after)),
    )
