"""How kept forecasts have done, beside what plain arithmetic would have said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from batchctl.domain.dependencies.forecast_record import KeptForecast, last_hour
from batchctl.domain.dependencies.forecast_scores import scores_of
from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.wall_clock import clock_of

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)
SAID = KeptForecast(
    batch_id=BatchId(1),
    cycle_key=None,
    made_on=MIDNIGHT,
    kept_for=MIDNIGHT,
    median=MIDNIGHT + 20 * MINUTE,
    nearly=MIDNIGHT + 30 * MINUTE,
    finish_by=MIDNIGHT + 60 * MINUTE,
    chance=40,
    needs_person=0,
    nights=30,
    decides=None,
    helps=None,
)


def on(day: int, took: int | None, *, nearly: bool = True) -> KeptForecast:
    """Return the forecast of another night, and how many minutes that took."""
    assert SAID.median is not None
    assert SAID.nearly is not None
    ahead = day * DAY
    return replace(
        SAID,
        made_on=SAID.made_on + ahead,
        kept_for=MIDNIGHT + ahead,
        median=SAID.median + ahead,
        nearly=SAID.nearly + ahead if nearly else None,
        ready_on=None if took is None else MIDNIGHT + ahead + took * MINUTE,
    )


def test_what_came_is_scored_and_what_never_came_is_not() -> None:
    found = scores_of("Report", [on(3, 40), on(0, 10), on(1, 20), on(2, None), on(4, 25, nearly=False)])
    assert found.median is not None
    assert (found.median.many, found.median.covered) == (4, 2)
    assert found.median.loss / 60 == pytest.approx((10 + 0 + 20 + 5) / 2 / 4)
    assert found.nearly is not None
    assert (found.nearly.many, found.nearly.covered) == (3, 2)
    assert found.nearly.loss / 60 == pytest.approx((2 + 1 + 9) / 3)
    assert (found.plain_median, found.plain_nearly) == (None, None), "five nights have to be known before"


def test_plain_arithmetic_goes_by_the_ends_before_at_the_same_hour() -> None:
    found = scores_of("Report", [on(day, took) for day, took in enumerate([10, 20, 30, 40, 50, 60])])
    assert found.plain_median is not None
    assert (found.plain_median.many, found.plain_median.covered) == (1, 0)
    assert found.plain_median.loss / 60 == pytest.approx((60 - 30) / 2)
    assert found.plain_nearly is not None
    assert found.plain_nearly.loss / 60 == pytest.approx((60 - 30 - 1.28 * 250**0.5) * 0.9)


@pytest.mark.parametrize(
    ("at", "last"),
    [
        ("2026-11-21T16:59", "2026-11-21T02:00"),
        ("2026-11-21T17:00", "2026-11-21T17:00"),
        ("2026-11-20T23:30", "2026-11-20T23:00"),
    ],
)
def test_the_last_fixed_hour_is_that_of_the_clocks_of_the_business(at: str, last: str) -> None:
    now = datetime.fromisoformat(f"{at}:00+00:00")
    found = last_hour((18 * 60, 0, 3 * 60), clock_of("Europe/Amsterdam"), now)
    assert found == datetime.fromisoformat(f"{last}:00+00:00")


def test_it_is_at_risk_as_long_as_there_is_time_and_enough_is_known() -> None:
    assert SAID.is_at_risk(MIDNIGHT)
    assert not SAID.is_at_risk(MIDNIGHT + 60 * MINUTE)
    assert not replace(SAID, chance=50).is_at_risk(MIDNIGHT)
    assert not replace(SAID, chance=None).is_at_risk(MIDNIGHT)
    assert not replace(SAID, nights=4).is_at_risk(MIDNIGHT)
