"""How long something takes: the middle, the slow ones, and whether that has changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

RECENT = 20
"""How many of the last runs are compared with those before them."""
LEAST_RECENT, LEAST_EARLIER = 5, 10
"""With fewer runs than these no drift is reported."""
FACTOR = 1.5
"""How many times as long, or as short, the middle of the last runs has to be."""
LEAST_DIFFERENCE = timedelta(seconds=1)
"""A smaller difference is no drift, whatever the factor."""
POINTS = 20
"""How many of the last days with runs are drawn."""

_SIGNS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-~=+*#"


class Drift(StrEnum):
    """How the last runs differ from those before."""

    SLOWER = "slower"
    FASTER = "faster"


@dataclass(frozen=True, slots=True, order=True)
class LikeRuns:
    """Runs that were begun at a time, or on a day, and took about as long."""

    start: datetime
    took: timedelta
    many: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """How long something took."""

    many: int
    median: timedelta
    p95: timedelta
    longest: timedelta
    last: timedelta
    recent: timedelta | None = None
    """The median of the last runs; None of both when there are too few."""
    earlier: timedelta | None = None
    drift: Drift | None = None
    days: tuple[timedelta, ...] = ()
    """The median of each of the last days on which it ran."""

    def is_enough(self) -> bool:
        """Say whether these are enough runs to expect the next to be like them."""
        return self.many >= LEAST_RECENT


def performance(found: Iterable[LikeRuns]) -> Performance | None:
    """Look at runs; None when there are none."""
    ordered = sorted(found)
    if not ordered:
        return None
    recent, earlier = _split(ordered)
    by_day: dict[date, list[LikeRuns]] = {}
    for one in ordered:
        by_day.setdefault(one.start.date(), []).append(one)
    enough = _many(recent) >= LEAST_RECENT and _many(earlier) >= LEAST_EARLIER
    now, before = (quantile(recent, 0.5), quantile(earlier, 0.5)) if enough else (None, None)
    return Performance(
        many=_many(ordered),
        median=quantile(ordered, 0.5),
        p95=quantile(ordered, 0.95),
        longest=max(one.took for one in ordered),
        last=ordered[-1].took,
        recent=now,
        earlier=before,
        drift=_drift(now, before),
        days=tuple(quantile(by_day[day], 0.5) for day in sorted(by_day)[-POINTS:]),
    )


def quantile(found: Sequence[LikeRuns], share: float) -> timedelta:
    """Return the length that so large a share of runs does not exceed."""
    by_length = sorted(found, key=lambda one: one.took)
    wanted, seen = share * _many(found), 0
    for one in by_length:
        seen += one.many
        if seen >= wanted:
            return one.took
    return by_length[-1].took


def spark(lengths: Sequence[timedelta], *, ascii_only: bool) -> str:
    """Draw lengths as a line of signs; the highest stands for the longest, and the lowest for next to nothing."""
    signs = _ASCII if ascii_only else _SIGNS
    most = max(lengths, default=timedelta(0))
    if not most:
        return signs[0] * len(lengths)
    return "".join(signs[min(int(len(signs) * (one / most)), len(signs) - 1)] for one in lengths)


def _split(ordered: Sequence[LikeRuns]) -> tuple[Sequence[LikeRuns], Sequence[LikeRuns]]:
    """Return the last runs, and those before them."""
    at, seen = len(ordered), 0
    while at > 0 and seen < RECENT:
        at -= 1
        seen += ordered[at].many
    return ordered[at:], ordered[:at]


def _drift(recent: timedelta | None, earlier: timedelta | None) -> Drift | None:
    if recent is None or earlier is None or abs(recent - earlier) < LEAST_DIFFERENCE:
        return None
    if recent >= FACTOR * earlier:
        return Drift.SLOWER
    return Drift.FASTER if earlier >= FACTOR * recent else None


def _many(found: Iterable[LikeRuns]) -> int:
    return sum(one.many for one in found)
