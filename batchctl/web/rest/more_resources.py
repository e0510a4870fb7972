"""What programs can read besides instances and batches: what is happening, what starts work, what keeps it from that."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.operators.requests import RequestId
from batchctl.domain.rows import LONG_AGO, EventFilter
from batchctl.domain.status import RequestStatus, SchedulerEvent
from batchctl.operations import overview, starting_log
from batchctl.operations.alerting import overview_lists
from batchctl.operations.definitions import batch_history, roster
from batchctl.operations.intake import watches
from batchctl.operations.operators import asking, freezing, pooling, request_book
from batchctl.operations.scheduling import almanac, backfiller
from batchctl.web.rest.filters import (
    ALL,
    BATCH,
    BEFORE,
    LIMIT,
    SINCE,
    Resource,
    RestAnswer,
    header_of,
    limit_of,
    page_of,
    rows_of,
    since_of,
    status_in,
    word_of,
)
from batchctl.web.wishes import FormField, Wish


def _status(app: App, asked: Wish) -> RestAnswer:
    del asked
    means = app.transactions, app.clock, app.presence
    seen = overview.overview(*means, timetable=app.timetable(), full_disks=app.full_disks())
    return RestAnswer(overview.columns(seen))


def _freezes(app: App, asked: Wish) -> RestAnswer:
    now, everything = app.clock.now(), asked.text("all") == "true"
    found, broken = freezing.listed(app.transactions, now, limit_of(asked), everything=everything)
    idle = freezing.idle(app.transactions, [one for one in found if one.holds(now)])
    return RestAnswer(freezing.as_json(freezing.freezes_at(now, idle), found, broken))


def _drains(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(overview_lists.DRAINS, pooling.drained(app.transactions))


def _backfills(app: App, asked: Wish) -> RestAnswer:
    del asked
    found, unreadable = backfiller.everyone(app.transactions, app.clock.now(), app.settings.business_time_zone)
    return RestAnswer([*backfiller.BACKFILLS.as_json(found), *(one.columns() for one in unreadable)])


def _watches(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(watches.WATCHES, *watches.everyone(app.transactions))


def _calendars(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(almanac.CALENDARS, almanac.everything(app.transactions, app.clock, app.settings.zone))


def _calendar(app: App, asked: Wish) -> RestAnswer:
    found = almanac.named(app.transactions, app.clock, app.settings.zone, asked.key)
    return RestAnswer({**almanac.CALENDARS.of(found), "Days": almanac.DAYS.as_json(found.days)})


def _versions(app: App, asked: Wish) -> RestAnswer:
    return rows_of(batch_history.VERSIONS, batch_history.versions(app.transactions, asked.key))


def _jobs(app: App, asked: Wish) -> RestAnswer:
    del asked
    zone = app.settings.business_time_zone
    known = roster.Roster(transactions=app.transactions, clock=app.clock, plugins=app.registry, default_zone=zone)
    return rows_of(roster.JOBS, known.lines())


def _log(app: App, asked: Wish) -> RestAnswer:
    kind = asked.text("type")
    wanted = EventFilter(
        source=asked.text("source"),
        entity=asked.text("entity"),
        event=None if kind is None else SchedulerEvent(kind),
        batch=asked.text("batch"),
        since=since_of(asked),
        before=asked.number("before"),
    )
    found = starting_log.page(app.transactions, wanted, limit_of(asked))
    return RestAnswer(starting_log.LOG.as_json(found.lines), None if found.is_last else found.lines[-1].entry.log_id)


def _requests(app: App, asked: Wish) -> RestAnswer:
    batch, status, since = asked.text("batch"), word_of(asked, RequestStatus), since_of(asked)
    before, limit = asked.number("before"), limit_of(asked)
    found = request_book.requests(
        app.transactions, batch=batch, status=status, since=since, before=before, most=limit + 1
    )
    return page_of(request_book.REQUESTS, found, limit, lambda one: one.request_id)


def _request(app: App, asked: Wish) -> RestAnswer:
    found = asking.standing(app.transactions, RequestId(asked.row_id))
    return RestAnswer(request_book.REQUESTS.as_json([found])[0])


MORE: tuple[Resource, ...] = (
    Resource("/status", "What is happening, and what needs a person.", "status", _status, is_list=False),
    Resource(
        "/freezes",
        "What is frozen.",
        "freezes",
        _freezes,
        (ALL, LIMIT),
        header_of(freezing.freezes_at(LONG_AGO, {})),
    ),
    Resource("/drains", "Where nothing new begins.", "status", _drains, columns=header_of(overview_lists.DRAINS)),
    Resource("/backfills", "The backfills.", "backfill list", _backfills, columns=header_of(backfiller.BACKFILLS)),
    Resource("/watches", "The watched folders.", "watch list", _watches, columns=header_of(watches.WATCHES)),
    Resource("/calendars", "The calendars.", "calendar list", _calendars, columns=header_of(almanac.CALENDARS)),
    Resource("/calendars/{key:path}", "One calendar with its days.", "calendar show NAME", _calendar, is_list=False),
    Resource(
        "/batches/{key:path}/versions",
        "The versions of a batch and its steps.",
        "versions NAME",
        _versions,
        columns=header_of(batch_history.VERSIONS),
    ),
    Resource("/jobs", "The decorated jobs.", "job list", _jobs, columns=header_of(roster.JOBS)),
    Resource(
        "/log",
        "What started work of itself, what kept it from that, and what came of it, newest first.",
        "log",
        _log,
        (
            FormField("source", "What started it", hint="trigger NAME"),
            FormField("entity", "Only of this entity"),
            FormField("type", "Only these events", choices=tuple(SchedulerEvent)),
            BATCH,
            SINCE,
            BEFORE,
            LIMIT,
        ),
        header_of(starting_log.LOG),
    ),
    Resource(
        "/requests",
        "What people have asked for by rows.",
        "requests",
        _requests,
        (BATCH, status_in(RequestStatus), SINCE, BEFORE, LIMIT),
        header_of(request_book.REQUESTS),
    ),
    Resource(
        "/requests/{key}",
        "One request: whether it is answered, and what the answer says.",
        "requests",
        _request,
        is_list=False,
    ),
)
