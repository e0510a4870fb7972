"""How forecasts of a batch have done, and whether they are to be relied on."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.dependencies.odds import MEDIAN, NEARLY, Score, score
from batchctl.domain.values import named_value

FORECASTS = 60
"""How many of the last forecasts that came are scored."""
TO_JUDGE = 40
"""How many there have to be before people are told that forecasts are not to be relied on."""
LEAST_COVERAGE = 0.75
"""In which share of these it has to be ready by p90."""
BEFORE = 5
"""How many ends at the same hour say what would have been said by medians and means."""
SIGMAS = 1.28
"""How many standard deviations above the mean nine of ten are, were they normally distributed."""


@named_value
class ForecastScores:
    """The scores of a batch's forecasts, and of what plain arithmetic says of the ends before."""

    batch: str
    median: Score | None
    nearly: Score | None
    plain_median: Score | None
    plain_nearly: Score | None


def scores_of(batch: str, came: Iterable[KeptForecast]) -> ForecastScores:
    """Score forecasts of which it is known what came."""
    known = sorted((one for one in came if one.ready_on is not None), key=lambda one: one.made_on)
    plain = [*_plain(known)]
    return ForecastScores(
        batch=batch,
        median=score(MEDIAN, [pair for one in known if (pair := _pair(one, one.median)) is not None]),
        nearly=score(NEARLY, [pair for one in known if (pair := _pair(one, one.nearly)) is not None]),
        plain_median=score(MEDIAN, [(statistics.median(before), took) for before, took in plain]),
        plain_nearly=score(
            NEARLY, [(statistics.fmean(before) + SIGMAS * statistics.stdev(before), took) for before, took in plain]
        ),
    )


def _pair(one: KeptForecast, stated: datetime | None) -> tuple[float, float] | None:
    if stated is None or one.ready_on is None:
        return None
    return (stated - one.made_on).total_seconds(), (one.ready_on - one.made_on).total_seconds()


def _plain(known: Sequence[KeptForecast]) -> Iterator[tuple[list[float], float]]:
    """Yield for each forecast how long it took before until the end, from the same hour on, and how long it took then."""
    took: dict[timedelta, list[float]] = {}
    for one in known:
        if one.kept_for is None or one.ready_on is None:
            continue
        midnight = one.kept_for.replace(hour=0, minute=0, second=0, microsecond=0)
        before = took.setdefault(one.kept_for - midnight, [])
        seconds = (one.ready_on - one.kept_for).total_seconds()
        if len(before) >= BEFORE:
            yield [*before], seconds
        before.append(seconds)
