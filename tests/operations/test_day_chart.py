"""When a batch is usually worked at, and what a day of it holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from batchctl.domain.rows import BatchId, InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.operations.scheduling.day_chart import usual_hours
from batchctl.store.scheduling.worked_times import WorkedAt

START = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


def past(days: int, hour: int, minutes: int) -> WorkedAt:
    began = datetime(2026, 11, 28, hour, 0, tzinfo=UTC) - timedelta(days=days)
    ended = began + timedelta(minutes=minutes)
    return WorkedAt(InstanceId(days), BatchId(1), InstanceStatus.COMPLETE, began, ended)


def test_the_usual_hours_are_those_of_nine_of_ten_nights_moved_into_this_one() -> None:
    nights = [past(days, 2, 30) for days in range(1, 20)]

    assert usual_hours([*nights, past(20, 9, 600)], START) == (
        datetime(2026, 11, 29, 2, 0, tzinfo=UTC),
        datetime(2026, 11, 29, 2, 30, tzinfo=UTC),
    )


def test_of_two_nights_nothing_is_usual() -> None:
    assert usual_hours([past(1, 2, 30), past(2, 2, 30)], START) is None
