"""Twenty-four hours of all batches, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlencode

from batchctl.app import App
from batchctl.operations.scheduling import day_chart
from batchctl.operations.scheduling.day_chart import BatchDay, DayChart
from batchctl.web.page import Page, PageRequest
from batchctl.web.strips import Bar, ChartSpan, Strip

HOURS = 3
"""How far apart the hours stand above the drawing."""
HEADINGS = ("usual (UTC)", "in these hours", "due (UTC)", "ready by (UTC)")


def day(app: App, asked: PageRequest) -> Page:
    """Draw every batch in the hours that are over and those to come."""
    del asked
    found = day_chart.day_chart(app.timetable())
    span = ChartSpan(found.start, found.end)
    return Page(
        "24 hours",
        "day.html",
        [(day_chart.DAYS, found.rows)],
        {
            "found": found,
            "hours": [*span.hours(HOURS)],
            "strips": [_strip(one, found, span) for one in found.rows],
            "headings": HEADINGS,
        },
        narrowed={"since": f"{found.start:%Y-%m-%d %H:%M:%S}"},
        empty="No batch is registered: see examples/register_a_batch.sql",
    )


def _strip(one: BatchDay, found: DayChart, span: ChartSpan) -> Strip:
    usual = "" if one.usual is None else f"{_clock(one.usual[0])} to {_clock(one.usual[1])}"
    worked = ", ".join(f"{many} {status}" for status, many in _counts(one).items())
    due = ", ".join(dict.fromkeys(_clock(each.at) for each in one.due[:6])) + (" ..." if len(one.due) > 6 else "")
    href = f"/batch?{urlencode({'name': one.batch.name})}"
    return Strip(one.batch.name, tuple(_bars(one, found, span)), (usual, worked, due, _ready(one, found.now)), href)


def _bars(one: BatchDay, found: DayChart, span: ChartSpan) -> Iterator[Bar]:
    if one.usual is not None:
        yield from span.bar(*one.usual, "usual", f"usually {_clock(one.usual[0])} to {_clock(one.usual[1])}")
    for each in one.worked:
        end = each.ended if each.ended is not None and each.status.value != "running" else found.now
        words = f"instance {each.instance_id} {each.status.value}, {_clock(each.began)} to {_clock(end)}"
        yield from span.bar(each.began, end, each.status.value, words)
    if one.ready is not None and one.ready.median is not None and one.ready.median > found.now:
        words = f"ready by {_ready(one, found.now)}"
        yield from span.bar(one.ready.median, one.ready.nearly or one.ready.median, "ready", words)
    for due in one.due:
        yield from span.mark(due.at, "due", f"due {_clock(due.at)} by {due.schedule}")
    yield from span.mark(found.now, "now", "")


def _counts(one: BatchDay) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in one.worked:
        counts[each.status.value] = counts.get(each.status.value, 0) + 1
    return counts


def _ready(one: BatchDay, now: datetime) -> str:
    """Say when it will be ready: p50 and p90, with the day where that is another than the one before it."""
    levels = () if one.ready is None else (one.ready.median, one.ready.nearly)
    said, day = list[str](), now.date()
    for at in levels:
        if at is not None:
            said.append(_clock(at) if at.date() == day else f"{at:%Y-%m-%d} {_clock(at)}")
            day = at.date()
    return " to ".join(said)


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M}"
