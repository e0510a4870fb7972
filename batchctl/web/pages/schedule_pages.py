"""What starts work because it is time: all schedules with the days to come, one of them, and the calendars."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from batchctl.app import App
from batchctl.domain.errors import Refused
from batchctl.domain.scheduling.schedules import ScheduleId
from batchctl.domain.text import visible
from batchctl.operations import explain
from batchctl.operations.maintenance import audit_trail
from batchctl.operations.scheduling import agenda, almanac, backfiller, foresight
from batchctl.operations.scheduling import timetable as timetable_rows
from batchctl.operations.scheduling.backfiller import Listed
from batchctl.web.page import Page, PageRequest
from batchctl.web.pages.act_links import acts_about
from batchctl.web.wishes import Subject

SHOWN = 100
"""How many due times the page of a schedule shows."""


def schedules(app: App, asked: PageRequest) -> Page:
    """Show the schedules, what they start within thirty days, the nights in which clocks change, and the calendars."""
    del asked
    timetable = app.timetable()
    found = agenda.agenda(timetable)
    nights = [row for one in foresight.rehearse(timetable, None, start=None) for row in one.rows]
    calendars = almanac.everything(app.transactions, app.clock, app.settings.zone)
    return Page(
        "Schedules and calendars",
        "schedules.html",
        [
            (agenda.SCHEDULES, found.schedules),
            (agenda.AGENDA, found.days),
            (foresight.NIGHT_TIMES, nights),
            (almanac.CALENDARS, calendars),
        ],
        {"backfills": _backfills(app)},
        empty="No schedule is there: batchctl schedule add NAME --entity ENTITY --type daily --run-times 02:00",
    )


def schedule(app: App, asked: PageRequest) -> Page:
    """Show one schedule: when it is due, what came of its last due times, what keeps it."""
    name = asked.needed("name", "schedule")
    timetable = app.timetable()
    sheet = timetable.sheet(name)
    benches = explain.Benches(app.schedule_bench, app.trigger_bench)
    explained = explain.why(app.transactions, app.clock, app.presence, f"schedule:{name}", timetable, benches)
    try:
        coming = [*islice(foresight.preview(timetable, name, start=None, days=agenda.DAYS).due_times, SHOWN)]
    except Refused:
        coming = []
    return Page(
        f"Schedule {visible(name)}",
        "schedule.html",
        [(foresight.DUE_TIMES, coming), (audit_trail.ACTS, sheet.audit)],
        {
            "sheet": sheet,
            "explained": explained,
            "backfills": _backfills(app, sheet.timed.schedule.schedule_id),
        },
        acts_about(Subject.SCHEDULES, name),
        narrowed={"of": f"schedule:{name}", "schedule": name},
        also=[(explain.GATES, explained.gates), (timetable_rows.DECIDED, sheet.decided)],
    )


def _backfills(app: App, of: ScheduleId | None = None) -> Sequence[Listed]:
    return backfiller.under_way(app.transactions, app.clock.now(), app.settings.business_time_zone, of)


def calendar(app: App, asked: PageRequest) -> Page:
    """Show one calendar with its days."""
    name = asked.needed("name", "calendar")
    found = almanac.named(app.transactions, app.clock, app.settings.zone, name)
    return Page(
        f"Calendar {visible(name)}",
        lists=[(almanac.CALENDARS, [found]), (almanac.DAYS, found.days)],
        narrowed={"calendar": name},
        empty="The calendar has no days of its own: of every day the weekday decides.",
    )
