"""What people start: rows that ask for work, a schedule's work now, due times of the past."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.operators.logins import Right
from batchctl.domain.operators.request_verbs import AskedAct, Verb
from batchctl.domain.rows import IntakeId
from batchctl.domain.scheduling.schedules import BackfillId
from batchctl.domain.text import visible
from batchctl.node import Node
from batchctl.operations import inspection, planning
from batchctl.operations.intake import submission
from batchctl.operations.scheduling import backfiller, schedule_keeper
from batchctl.operations.shown_columns import Columns
from batchctl.web.page import schedule_page
from batchctl.web.wishes import ActOutcome, Asks, ConsoleAct, FieldKind, FormField, Subject, Wish


def _submit(app: App, wish: Wish) -> ActOutcome:
    wanted = submission.Submission(
        entity=wish.text("entity") or "",
        file_name=wish.text("file_name"),
        data=wish.text("data"),
        cycle_key=wish.text("cycle_key"),
    )
    acting = app.acting(dry_run=wish.dry_run)
    done = submission.submit(
        acting["transactions"],
        wanted,
        user=acting["user"],
        host=acting["host"],
        dry_run=wish.dry_run,
        check=app.check_of_tasks,
    )
    row = "A FileProcess row would be inserted" if done.intake_id is None else f"FileProcess {done.intake_id} is there"
    return ActOutcome(
        lines=[f"{row}: {visible(wanted.entity)}, {visible(wanted.file_name or 'no file')}.", *_taken_by(done.batches)],
        alarming=[] if done.hint is None else [f"{done.hint} {done.next_step or ''}"],
        columns={
            "FileProcess_id": done.intake_id,
            "Batches": list(done.batches),
            "Hint": done.hint,
            "Next": done.next_step,
        },
        where=_page_of(done.intake_id),
    )


def _accept(app: App, wish: Wish) -> ActOutcome:
    at = IntakeId(wish.row_id)
    planned = planning.acceptance(app.transactions, at)
    unreadable = [f"{row.message}. {row.mend}" for row in planned.unreadable]
    if wish.dry_run:
        takers = ", ".join(planned.batches) or ("none that can be read" if planned.unreadable else "no batch")
        lines = [
            f"FileProcess {at} ({planned.row.status}) would be taken in by {visible(takers)}.",
            "The populator is asked again then, and may reject it again.",
        ]
        columns: Columns = {"FileProcess_id": at, "DryRun": True, "Batches": list(planned.batches)}
        return ActOutcome(lines=lines, alarming=unreadable, columns=columns, where=_page_of(at))
    done = Node(app).accept(at, wish.why)
    again = inspection.rejected_row(app.transactions, at) if done.rejected else None
    because = None if again is None else again.message
    return ActOutcome(
        lines=[f"FileProcess {at}: instances created: {done.created}."],
        alarming=[*unreadable, *([] if because is None else [f"It is rejected again: {because}."])],
        columns={"FileProcess_id": at, "DryRun": False, "Created": done.created, "RejectedAgain": because},
        where=_page_of(at),
    )


def _run(app: App, wish: Wish) -> ActOutcome:
    zone = app.settings.business_time_zone
    done = schedule_keeper.run_now(app.actor(dry_run=wish.dry_run), wish.key, zone=zone, reason=wish.why)
    entity = visible(done.schedule.entity)
    row = "A FileProcess row would be inserted" if done.intake_id is None else f"FileProcess {done.intake_id} is there"
    waits = None if done.open_work is None else f"{done.open_work}; the new work waits behind it."
    unreadable = None if done.unreadable is None else done.unreadable.in_full
    untaken = f"No batch takes entity '{entity}'." if not done.batches and unreadable is None else None
    return ActOutcome(
        lines=[f"{row}: {entity}, CycleKey {visible(done.cycle_key)}.", *_taken_by(done.batches)],
        alarming=[each for each in (waits, unreadable, untaken) if each is not None],
        columns={
            "FileProcess_id": done.intake_id,
            "ScheduleName": done.schedule.name,
            "CycleKey": done.cycle_key,
            "Batches": list(done.batches),
            "OpenWork": done.open_work,
        },
        where=_page_of(done.intake_id),
    )


def _backfill(app: App, wish: Wish) -> ActOutcome:
    span = backfiller.Span(
        first=backfiller.end_of(wish.text("from") or "", "from"), last=backfiller.end_of(wish.text("to") or "", "to")
    )
    done = _backfiller(app, dry_run=wish.dry_run).begin(
        wish.key,
        span,
        most_open=wish.number("most_open") or 1,
        missed=wish.flag("missed"),
        sure=wish.flag("sure"),
        reason=wish.reason,
    )
    asked = "Work would be started" if done.backfill_id is None else "Work is being started"
    more = "" if done.is_counted else "more than "
    times = ", ".join(one.local for one in done.fires)
    return ActOutcome(
        lines=[
            f"Schedule {visible(done.schedule.name)}: {visible(done.words)}.",
            f"{asked} for {more}{done.to_fire} due times, at most {done.most_open} unfinished at once.",
            *([f"Due (local): {times}."] if times else []),
        ],
        alarming=[*done.warnings],
        columns=done.columns(),
        where=schedule_page(done.schedule.name),
    )


def _cancel(app: App, wish: Wish) -> ActOutcome:
    done = _backfiller(app, dry_run=wish.dry_run).cancel(BackfillId(wish.row_id), reason=wish.why)
    would = "would be" if wish.dry_run else "is"
    said = f"ScheduleBackfill {done.backfill_id} {would} cancelled, after work was started for {done.fired} due times."
    columns: Columns = {"ScheduleBackfill_id": done.backfill_id, "DryRun": wish.dry_run, "Fired": done.fired}
    return ActOutcome(lines=[said], columns=columns, where="/schedules")


def _backfiller(app: App, *, dry_run: bool) -> backfiller.Backfiller:
    return backfiller.Backfiller(actor=app.actor(dry_run=dry_run), default_zone=app.settings.business_time_zone)


def _taken_by(batches: tuple[str, ...]) -> list[str]:
    return [f"Taken by: {', '.join(map(visible, batches))}."] if batches else []


def _page_of(intake_id: int | None) -> str:
    return "/inbox" if intake_id is None else f"/file-processes/{intake_id}"


def _asks_of_row(verb: Verb) -> Asks:
    return lambda wish: AskedAct(verb=verb, arguments={"file": wish.row_id}, reason=wish.reason)


def _asks_of_past(wish: Wish) -> AskedAct:
    return AskedAct(verb=Verb.BACKFILL, arguments={"schedule": wish.key, **wish.values}, reason=wish.reason)


VERBS = (
    ConsoleAct(
        Subject.FILE_PROCESSES,
        "submit",
        "Insert a FileProcess row: the batches that take its entity make an instance of it.",
        _submit,
        (
            FormField("entity", "Entity", is_needed=True),
            FormField("file_name", "FileName"),
            FormField("data", "Data", FieldKind.LONG),
            FormField("cycle_key", "CycleKey"),
        ),
        takes_reason=False,
        makes_row=True,
        right=Right.SUBMIT,
    ),
    ConsoleAct(
        Subject.FILE_PROCESSES,
        "accept",
        "Take in a rejected or duplicate FileProcess row on purpose.",
        _accept,
        needs_reason=True,
        asks=_asks_of_row(Verb.ACCEPT),
    ),
    ConsoleAct(
        Subject.SCHEDULES,
        "run",
        "Start the schedule's work now, outside of its due times, which stay as they are.",
        _run,
        needs_reason=True,
        asks=lambda wish: AskedAct(verb=Verb.RUN, arguments={"schedule": wish.key}, reason=wish.reason),
    ),
    ConsoleAct(
        Subject.SCHEDULES,
        "backfill",
        "Start the work of due times that are over, each once. What was decided before stays decided.",
        _backfill,
        (
            FormField("from", "From", is_needed=True, hint="2026-11-01"),
            FormField("to", "To", is_needed=True, hint="a day belongs to it whole"),
            FormField("missed", "Also those that were skipped because no controller was there", FieldKind.FLAG),
            FormField("most_open", "For how many due times work may be unfinished at once", FieldKind.NUMBER, hint="1"),
            FormField("sure", "Also for more than 100 due times", FieldKind.FLAG),
        ),
        asks=_asks_of_past,
    ),
    ConsoleAct(
        Subject.BACKFILLS,
        "cancel",
        "Let the backfill start nothing more; what it has started goes on.",
        _cancel,
        needs_reason=True,
        asks=lambda wish: AskedAct(verb=Verb.CANCEL, arguments={"backfill": wish.row_id}, reason=wish.reason),
    ),
)
