"""What is happening, and what needs a person: the read model behind `status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from batchctl.domain.alerting.incidents import Incident
from batchctl.domain.dead_ends import DeadEnd
from batchctl.domain.errors import Refused
from batchctl.domain.locked_rows import is_of_locks
from batchctl.domain.operators.notes import Note
from batchctl.domain.operators.pools import Drain
from batchctl.domain.outcomes import HealthFinding
from batchctl.domain.rows import (
    BatchId,
    BatchInstance,
    Freeze,
    IntakeId,
    IntakeRow,
)
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import copies, files_taken_again, remedies, shown_columns
from batchctl.operations.alerting import incident_desk, overview_lists, overview_look
from batchctl.operations.alerting.overview_lists import (
    AskedInstance,
    Completed,
    FailingInstance,
    NothingCame,
    Running,
    WaitingInstance,
)
from batchctl.operations.alerting.overview_look import OverviewLook
from batchctl.operations.column_lists import UNREADABLE, UNTIL_CORRECTED, ColumnList, StatusWord
from batchctl.operations.dependencies import dependents
from batchctl.operations.dependencies.dependents import Seen
from batchctl.operations.intake import inbox
from batchctl.operations.intake.inbox import Item
from batchctl.operations.operators import noting
from batchctl.operations.presence import Presence, last_sign
from batchctl.operations.scheduling import almanac, timetable
from batchctl.operations.scheduling.almanac import RunningOut
from batchctl.operations.scheduling.timetable import COMING as COMING_UP
from batchctl.operations.scheduling.timetable import ComingUp, Timetable, coming_up, soonest
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, dead_end_rows, instances, leading, limits, pool_rows, reports
from batchctl.store.alerting import incident_rows
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import completions
from batchctl.store.intake import data_triggers, file_watches, intake
from batchctl.store.one_look import Ahead, ask_ahead, one_look
from batchctl.store.operators import confirmation_rows, note_rows
from batchctl.store.scheduling import calendars, schedule_rows
from batchctl.store.unreadable_columns import for_any_client

INCIDENTS = 5
"""How many incidents are shown."""
COMING = 5
"""How many due times to come are shown."""

_ALWAYS = (
    reports.COUNT_UNTAKEN,
    calendars.CALENDARS,
    calendars.DAYS,
    leading.LEADER,
    limits.LIMIT,
    instances.CLAIMED,
    pool_rows.CONTROLLERS,
    pool_rows.DRAINS,
    incident_rows.COUNT_STANDING,
    data_triggers.TRIGGERS,
    data_triggers.ENABLED,
    file_watches.WATCHES,
    schedule_rows.SCHEDULES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything at a glance; lists are cut, counts are whole."""

    now: datetime
    controllers: tuple[str, ...]
    """The controllers that work on the database."""
    last_sign: str | None
    """Which controller gave the last sign of life, and when, if none works."""
    copy: Refused | None
    """The message that nothing runs on the database because it is a copy; None when it is none."""
    left_out: tuple[str, ...]
    """Messages about the plugin modules that the controllers work without."""
    failures: Mapping[str, str]
    """What keeps controllers from their work, by their names."""
    instances: Mapping[InstanceStatus, int]
    intake: Mapping[IntakeStatus, int]
    untaken_count: int
    running: tuple[Running, ...]
    failing: tuple[FailingInstance, ...]
    asked: tuple[AskedInstance, ...]
    """What steps ask people, the oldest question first."""
    waiting: tuple[WaitingInstance, ...]
    not_taken_in: tuple[IntakeRow, ...]
    to_take_in: Mapping[IntakeId, str]
    """What to do about each row not taken in."""
    because: Mapping[IntakeId, str]
    """Why each of them was not."""
    untaken: tuple[IntakeRow, ...]
    stuck: tuple[Item, ...]
    """Rows of which nothing comes because no controller has the plugin that they need, or somebody keeps them locked."""
    disabled: Mapping[str, int]
    """Disabled batches with their number of open instances."""
    frozen: tuple[Freeze, ...]
    """What keeps batches from starting anything."""
    drains: tuple[Drain, ...]
    """What is drained."""
    completed: tuple[Completed, ...]
    waits: tuple[Seen, ...] = ()
    """Batches that wait for others."""
    dead_end_starts: tuple[DeadEnd, ...] = ()
    """Triggers, watches and schedules that start nothing because of some trouble."""
    coming: tuple[ComingUp, ...] = ()
    """What schedules start next."""
    is_fired: bool = True
    """Whether a controller is there that starts it."""
    ending: tuple[RunningOut, ...] = ()
    """Calendars that schedules go by and that run out."""
    unreadable: tuple[UnreadableRow, ...] = ()
    """Rows that nothing can go by."""
    incidents: tuple[Incident, ...] = ()
    """Incidents that stand: first the ones that are not acknowledged, newest first."""
    incident_count: int = 0
    acknowledged_count: int = 0
    """How many of these are acknowledged."""
    notes: tuple[Note, ...] = ()
    """What people have written about what is shown as running, failed or waiting, its batches, and the incidents."""
    full_disks: tuple[HealthFinding, ...] = ()
    """Disks of this host on which nothing may be recorded soon."""


def nothing_came_of(seen: Overview) -> tuple[NothingCame, ...]:
    """Return the rows that are not work: set aside, untaken, or without the plugin that they need."""
    because = seen.because
    return (
        *(
            NothingCame(row, StatusWord(row.status), because[row.intake_id], seen.to_take_in[row.intake_id])
            for row in seen.not_taken_in
        ),
        *(
            NothingCame(row, StatusWord("not taken"), because[row.intake_id], f"batchctl why file:{row.intake_id}")
            for row in seen.untaken
        ),
        *(NothingCame(one.row, StatusWord(one.row.status), one.because, one.clear) for one in seen.stuck),
    )


def lists_of(seen: Overview) -> tuple[tuple[ColumnList[Any], Sequence[Any]], ...]:
    """Return the lists of an overview as people read them, what needs them first."""
    asked = {one.question.instance_id for one in seen.asked}
    waiting = [one for one in seen.waiting if one.instance.instance_id not in asked]
    return (
        (incident_desk.incidents_at(seen.now), seen.incidents),
        (replace(UNREADABLE, title=f"Unreadable: {UNTIL_CORRECTED}"), seen.unreadable),
        (overview_lists.RUNNING, seen.running),
        (overview_lists.FAILING, seen.failing),
        (overview_lists.ASKED, seen.asked),
        (overview_lists.waiting_where(idle=not seen.controllers), waiting),
        (noting.NOTES, seen.notes),
        (overview_lists.DEAD_ENDS, seen.dead_end_starts),
        (almanac.RUNNING_OUT, seen.ending),
        (dependents.WAITS, seen.waits),
        (overview_lists.NOTHING_CAME, nothing_came_of(seen)),
        (overview_lists.DISABLED, tuple(seen.disabled.items())),
        (overview_lists.COMPLETED, seen.completed),
        (COMING_UP, seen.coming),
    )


def overview(
    transactions: Transactions,
    clock: Clock,
    presence: Presence,
    *,
    most: int = 20,
    timetable: Timetable | None = None,
    full_disks: tuple[HealthFinding, ...] = (),
    with_over: bool = True,
) -> Overview:
    """Look at everything once; no list is longer than `most`; `timetable` reads the schedules.

    What is over is counted only if wanted: that takes the longer the more there is.
    """
    now = clock.now()
    with one_look(), transactions.read() as connection:
        ask_ahead(connection, *_counts(with_over=with_over), *_ahead(most))
        leading.ask_unreadable(connection)
        incident_rows.ask_unreadable(connection)
        defined = definitions.read(connection)
        batches = {batch.batch_id: batch for batch in defined.batches}
        broken = {row.batch_id: row for row in defined.unreadable if row.batch_id is not None}
        counts, strange = reports.count_instances(connection, with_over=with_over)
        arrived, strange_intake = reports.count_intake(connection, with_over=with_over)
        untaken = intake.untaken(connection, 0, most)
        lacks_plugins = any(batch.missing_plugins for batch in defined.batches)
        not_taken_in = intake.with_corrections(connection, intake.not_taken_in(connection, most))
        again = files_taken_again.find(connection, not_taken_in)
        context = None if timetable is None else timetable.context(connection)
        living = presence.living(connection, now)
        may_be_stuck = lacks_plugins or any(is_of_locks(row.failure) for row in living)
        standing, acknowledged = incident_rows.count_standing(connection)
        look = OverviewLook(connection, batches, broken, living, now, most)
        running, failing, waiting, asked = look.running(), look.failing(), look.waiting(), look.asked()
        shown = [
            *(one.instance for one in running),
            *(one.instance for one in failing),
            *(one.instance for one in waiting),
        ]
        incidents = incident_desk.with_reasons(
            connection, incident_rows.most_pressing(connection, min(most, INCIDENTS))
        )
        return Overview(
            now=now,
            controllers=tuple(row.name for row in living),
            last_sign=None if living else last_sign(connection),
            copy=copies.refused_on(connection),
            left_out=tuple(dict.fromkeys(row.left_out for row in living if row.left_out is not None)),
            failures={row.name: row.failure for row in living if row.failure is not None},
            instances=_totals(counts),
            intake=arrived,
            untaken_count=reports.count_untaken(connection),
            running=running,
            failing=failing,
            asked=asked,
            waiting=waiting,
            not_taken_in=tuple(not_taken_in),
            to_take_in={
                row.intake_id: for_any_client(
                    connection, remedies.to_take_in(row, batches.values(), again.get(row.intake_id))
                )
                for row in not_taken_in
            },
            because={row.intake_id: remedies.because(row, defined) for row in not_taken_in}
            | {row.intake_id: remedies.untaken(row, defined.batches)[0] for row in untaken},
            untaken=tuple(untaken),
            stuck=tuple(inbox.stuck_rows(connection, defined, most, living)) if may_be_stuck else (),
            disabled=look.disabled(counts),
            frozen=look.frozen(),
            drains=tuple(pool_rows.standing_drains(connection)),
            completed=look.completed(),
            waits=dependents.seen(connection, batches, now, most),
            dead_end_starts=dead_end_rows.dead_end_starts(connection),
            unreadable=(
                *defined.unreadable,
                *dead_end_rows.unreadable(connection),
                *incident_rows.unreadable(connection),
                *leading.unreadable(connection),
                *strange,
                *strange_intake,
            ),
            coming=() if context is None else coming_up(connection, context, min(most, COMING)),
            is_fired=bool(presence.firing(connection, now)),
            incidents=incidents,
            notes=_notes(connection, shown, incidents, most),
            incident_count=standing,
            acknowledged_count=acknowledged,
            full_disks=full_disks,
            ending=() if context is None else tuple(almanac.ending(connection, context.today)),
        )


def _counts(*, with_over: bool) -> Iterator[Ahead]:
    yield (reports.COUNT_INSTANCES if with_over else reports.COUNT_OPEN_INSTANCES), {}
    yield (reports.COUNT_INTAKE if with_over else reports.COUNT_OPEN_INTAKE), {}


def _ahead(most: int) -> Iterator[Ahead]:
    """Yield what is asked whatever the night is like, so that it goes to the database at once."""
    yield from ((each, {}) for each in (*definitions.AHEAD, *_ALWAYS))
    yield from ((each, {"most": most}) for each in (reports.LIVE_ENTRIES, confirmation_rows.OPEN_ONES))
    yield from (
        (reports.OPEN_IN[status], {"most": most}) for status in (*overview_look.FAILING, *overview_look.WAITING)
    )
    yield reports.LAST_COMPLETED, {"most": min(most, overview_look.COMPLETED_LAST), "near": reports.NEAR}
    yield incident_rows.PRESSING, {"most": min(most, INCIDENTS)}
    yield intake.NOT_TAKEN_IN, {"most": most}
    yield from ((each, {"most": soonest(min(most, COMING))}) for each in schedule_rows.SOONEST)
    yield intake.UNTAKEN, {"after": 0, "most": most}
    yield completions.WAITING, {"after": 0, "most": most}


def _notes(
    connection: Connection, shown: Sequence[BatchInstance], incidents: Sequence[Incident], most: int
) -> tuple[Note, ...]:
    """Return the newest notes about what is shown, newest last."""
    found = note_rows.of(
        connection,
        instances={one.instance_id for one in shown},
        batches={one.batch_id for one in shown},
        incidents={one.incident_id for one in incidents},
    )
    return tuple(found[-most:])


def _totals(counts: Mapping[BatchId, Mapping[InstanceStatus, int]]) -> dict[InstanceStatus, int]:
    found = {status: sum(of_batch.get(status, 0) for of_batch in counts.values()) for status in InstanceStatus}
    return {status: count for status, count in found.items() if count}


def columns(seen: Overview) -> shown_columns.Columns:
    """Return it for programs."""
    return {
        "Now": shown_columns.moment(seen.now),
        "Controller": seen.controllers[0] if seen.controllers else None,
        "Controllers": list(seen.controllers),
        "Copy": None if seen.copy is None else seen.copy.message,
        "FullDisks": [disk.message for disk in seen.full_disks],
        "LeftOut": list(seen.left_out),
        "Troubles": dict(seen.failures),
        "BatchControl": {status.value: count for status, count in seen.instances.items()},
        "FileProcess": {status.value: count for status, count in seen.intake.items()},
        "UntakenCount": seen.untaken_count,
        "Running": overview_lists.RUNNING.as_json(seen.running),
        "Troubled": overview_lists.FAILING.as_json(seen.failing),
        "Asked": overview_lists.ASKED.as_json(seen.asked),
        "Waiting": overview_lists.waiting_where(idle=False).as_json(seen.waiting),
        "Waits": dependents.WAITS.as_json(seen.waits),
        "Ailing": overview_lists.DEAD_ENDS.as_json(seen.dead_end_starts),
        "Unreadable": UNREADABLE.as_json(seen.unreadable),
        "IncidentCount": seen.incident_count,
        "AcknowledgedCount": seen.acknowledged_count,
        "Incidents": incident_desk.incidents_at(seen.now).as_json(seen.incidents),
        "EndingCalendars": almanac.RUNNING_OUT.as_json(seen.ending),
        "DueNext": timetable.COMING.as_json(seen.coming),
        "NotTakenIn": [{**shown_columns.of(row), "Next": seen.to_take_in[row.intake_id]} for row in seen.not_taken_in],
        "Untaken": overview_lists.INTAKE.as_json(seen.untaken),
        "Stuck": [{**shown_columns.of(one.row), "Because": one.because, "Next": one.clear} for one in seen.stuck],
        "DisabledBatches": overview_lists.DISABLED.as_json(seen.disabled.items()),
        "Freezes": overview_lists.FROZEN.as_json(seen.frozen),
        "Drains": overview_lists.DRAINS.as_json(seen.drains),
        "Notes": noting.NOTES.as_json(seen.notes),
        "Completed": overview_lists.COMPLETED.as_json(seen.completed),
    }
