"""The steps of an instance as they were tried, beside how long each was expected to take."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from batchctl.domain.rows import HistoryEntry
from batchctl.domain.status import HistoryStatus
from batchctl.domain.text import visible
from batchctl.operations.inspection import ShownInstance, StepState
from batchctl.operations.reports.reporting import StepLengths
from batchctl.web.strips import Bar, ChartSpan, Strip

HEADINGS = ("began (UTC)", "took", "expected")
MOST = 40
"""How many of the newest attempts are drawn."""


def timeline(shown: ShownInstance, lengths: tuple[StepLengths, ...], now: datetime) -> list[Strip]:
    """Return a row for each step that was tried."""
    drawn = shown.history[-MOST:]
    if not drawn:
        return []
    usual = {one.step.seq: one.took.median for one in lengths}
    start = min(one.started_at for one in drawn)
    ends = [_end(one, now) for one in drawn]
    expected = [one.last.started_at + length for one in shown.steps if one.last and (length := _expected(one, usual))]
    span = ChartSpan(start, max([*ends, *expected, start + timedelta(seconds=1)]))
    return [
        _strip(one, [entry for entry in drawn if entry.seq == one.step.seq], usual, span, now) for one in shown.steps
    ]


def _strip(
    state: StepState, tried: list[HistoryEntry], usual: dict[int, timedelta], span: ChartSpan, now: datetime
) -> Strip:
    step, last, length = state.step, state.last, _expected(state, usual)
    took = None if last is None else _end(last, now) - last.started_at
    bars = (*_expectation(last, length, span), *(bar for entry in tried for bar in _attempt(entry, span, now)))
    cells = (None if last is None else last.started_at, took, length)
    return Strip(f"{step.seq} {visible(step.name)}", bars, cells)


def _expectation(last: HistoryEntry | None, length: timedelta | None, span: ChartSpan) -> Iterator[Bar]:
    if last is not None and length is not None:
        yield from span.bar(last.started_at, last.started_at + length, "expected", "")


def _attempt(entry: HistoryEntry, span: ChartSpan, now: datetime) -> Iterator[Bar]:
    words = f"attempt {entry.attempt_no} {entry.status.value}"
    yield from span.bar(entry.started_at, _end(entry, now), entry.status.value, words)


def _expected(state: StepState, usual: dict[int, timedelta]) -> timedelta | None:
    return state.step.expected_duration or usual.get(state.step.seq)


def _end(entry: HistoryEntry, now: datetime) -> datetime:
    """Return when an attempt ended; what runs has not ended yet."""
    if entry.ended_at is not None:
        return entry.ended_at
    return now if entry.status is HistoryStatus.RUNNING else entry.started_at
