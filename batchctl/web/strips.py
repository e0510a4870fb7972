"""Bars on a line of time, in percent of its width: what a row of a chart draws. The numbers stand beside it, in its table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

LEAST = 0.4
"""How wide a bar is at least, so that it is seen."""
LABEL, NARROW_LABEL = 5, 10
"""How far from both ends of a drawing the middle of an hour's label stands at least: of a wide one, of a narrow one."""
SPARSE = 6
"""How far apart hours stand above a narrow drawing."""
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: where it stands, what it looks like, what it says."""

    x: float
    width: float
    kind: str
    text: str
    height: float = 100


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of a chart: what it is about, its bars, and what its columns say."""

    name: str
    bars: tuple[Bar, ...]
    cells: tuple[Any, ...] = ()
    href: str | None = None

    @property
    def words(self) -> str:
        """Say it without the drawing."""
        return "; ".join(bar.text for bar in self.bars if bar.text) or "nothing"


@dataclass(frozen=True, slots=True)
class HourLabel:
    """What the clock shows above a drawing, and where."""

    x: float
    text: str
    only_wide: bool
    """True where a narrow drawing has no room for it."""


@dataclass(frozen=True, slots=True)
class ChartSpan:
    """From when until when a chart reaches."""

    start: datetime
    end: datetime

    def at(self, moment: datetime) -> float:
        """Return where a moment lies, from 0 to 100."""
        whole = max((self.end - self.start).total_seconds(), 0.001)
        return round(min(max((moment - self.start).total_seconds() / whole * 100, 0), 100), 2)

    def bar(self, start: datetime, end: datetime, kind: str, text: str) -> Iterator[Bar]:
        """Yield the bar of what was between two moments, if any of it is within the chart."""
        if start < self.end and end > self.start:
            x = min(self.at(start), 100 - LEAST)
            yield Bar(x, max(round(self.at(end) - x, 2), LEAST), kind, text)

    def mark(self, moment: datetime, kind: str, text: str) -> Iterator[Bar]:
        """Yield a mark at a moment, if it is within the chart."""
        if self.start <= moment <= self.end:
            yield Bar(min(self.at(moment), 100 - LEAST), LEAST, kind, text)

    def hours(self, every: int) -> Iterator[HourLabel]:
        """Yield each so many hours where it lies, and what the clock shows then; not what would reach beyond an end."""
        moment = self.start.replace(minute=0, second=0, microsecond=0) + _HOUR
        while moment < self.end:
            x = self.at(moment)
            room = min(x, 100 - x)
            if moment.hour % every == 0 and room >= LABEL:
                yield HourLabel(x, f"{moment:%H:%M}", moment.hour % SPARSE != 0 or room < NARROW_LABEL)
            moment += _HOUR


def columns_of(lengths: Iterable[timedelta]) -> tuple[Bar, ...]:
    """Return lengths of time as columns beside each other, the longest as high as there is room."""
    all_of_them = [*lengths]
    highest = max(all_of_them, default=timedelta(0)) or timedelta(1)
    width = 100 / max(len(all_of_them), 20)
    return tuple(
        Bar(round(at * width, 2), round(width * 0.8, 2), "took", "", round(max(one / highest * 100, 3), 2))
        for at, one in enumerate(all_of_them)
    )
