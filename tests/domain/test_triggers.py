"""When a trigger fires, in which words, and when it would."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.intake.triggers import Blocker, Counted, conditions_of, decide, fired_ago
from batchctl.domain.rows import DataTrigger, InstanceId, IntakeId

NOW = datetime(2026, 11, 22, 5, tzinfo=UTC)


def a_trigger(**given: Any) -> DataTrigger:
    usual = {"row_id": 1, "name": "t", "entity": "E", "connection": "wh", "table": "Staging", "status_column": "S"}
    return DataTrigger(**{**usual, "pending_value": "0", "created_column": "C", **given})


def minutes(length: float) -> timedelta:
    return timedelta(minutes=length)


THRESHOLD = a_trigger(row_threshold=500)
IDLE = a_trigger(idle=minutes(30))
NEW = a_trigger(on_new_rows=True)
UNDATED = a_trigger(on_new_rows=True, created_column=None)


@pytest.mark.parametrize(
    ("trigger", "counted", "ago", "fires", "reason", "due_in"),
    [
        (THRESHOLD, Counted(pending=0), None, False, "no row is pending", None),
        (THRESHOLD, Counted(pending=499), None, False, "499 rows (threshold 500)", None),
        (THRESHOLD, Counted(pending=500), None, True, "500 rows (threshold 500)", 0),
        (THRESHOLD, Counted(pending=1200), None, True, "1200 rows (threshold 500)", 0),
        (
            IDLE,
            Counted(pending=2, oldest=minutes(12)),
            None,
            False,
            "the oldest of 2 rows is 12 min old (IdleMinutes 30)",
            18,
        ),
        (
            IDLE,
            Counted(pending=1, oldest=minutes(30)),
            None,
            True,
            "the oldest of 1 row is 30 min old (IdleMinutes 30)",
            0,
        ),
        (
            IDLE,
            Counted(pending=2, undated=1, oldest=minutes(0.5)),
            None,
            False,
            "the oldest of 2 rows is 30 s old (IdleMinutes 30); 1 row without a time in CreatedColumn",
            29.5,
        ),
        (
            IDLE,
            Counted(pending=1, oldest=minutes(-120), newest=minutes(-120)),
            None,
            False,
            "the oldest of 1 row is 0 s old (IdleMinutes 30); the newest is dated 120 min ahead: CreatedColumn has to be UTC",
            150,
        ),
        (IDLE, Counted(pending=3, undated=3), None, False, "3 rows without a time in CreatedColumn", None),
        (
            NEW,
            Counted(pending=4, new=3, oldest_new=minutes(0.75)),
            minutes(9),
            False,
            "3 new rows (debounce 60 s)",
            0.25,
        ),
        (NEW, Counted(pending=4, new=3, oldest_new=minutes(1)), minutes(9), True, "3 new rows (debounce 60 s)", 0),
        (NEW, Counted(pending=1, new=1, oldest_new=minutes(1)), None, True, "1 new row (debounce 60 s)", 0),
        # A row of the second in which it fired: the later of the two counts.
        (NEW, Counted(pending=1, new=1, oldest_new=minutes(1)), minutes(0.5), False, "1 new row (debounce 60 s)", 0.5),
        (NEW, Counted(pending=4), minutes(9), False, "no new rows since it fired last, of 4 rows", None),
        (UNDATED, Counted(pending=4), None, True, "4 rows (debounce 60 s since it fired last)", 0),
        (UNDATED, Counted(pending=4), minutes(0.5), False, "4 rows (debounce 60 s since it fired last)", 0.5),
        (UNDATED, Counted(pending=4), minutes(1), True, "4 rows (debounce 60 s since it fired last)", 0),
    ],
)
def test_a_trigger_fires_when_its_condition_is_met_and_says_so(
    trigger: DataTrigger, counted: Counted, ago: timedelta | None, fires: bool, reason: str, due_in: float | None
) -> None:
    verdict = decide(trigger, counted, ago)

    assert (verdict.fires, verdict.reason) == (fires, reason)
    assert verdict.due_in == (None if due_in is None else minutes(due_in))


def test_of_several_conditions_the_first_that_is_met_is_told_and_the_earliest_that_will_be_is_due() -> None:
    all_of_them = a_trigger(row_threshold=5, idle=minutes(30), on_new_rows=True, debounce=minutes(45))
    counted = Counted(pending=5, oldest=minutes(31), new=5, oldest_new=minutes(50))

    assert decide(all_of_them, counted, None).reason == "5 rows (threshold 5)"
    assert decide(a_trigger(idle=minutes(30), on_new_rows=True), counted, None).reason.startswith("the oldest")
    early = Counted(pending=1, oldest=minutes(10), new=1, oldest_new=minutes(10))
    waits = decide(all_of_them, early, None)
    assert waits.reason.count(";") == 2
    assert waits.due_in == minutes(20)


def test_a_last_fire_that_is_still_to_come_is_that_of_a_wrong_clock() -> None:
    assert fired_ago(a_trigger(last_fired=NOW - minutes(2)), NOW) == minutes(2)
    assert fired_ago(a_trigger(last_fired=NOW + minutes(2)), NOW) is None
    assert fired_ago(a_trigger(), NOW) is None


def test_conditions_are_said_in_the_order_they_are_looked_at() -> None:
    said = conditions_of(a_trigger(row_threshold=1, idle=minutes(5), on_new_rows=True))

    assert said == "1 row; oldest 5 min; new rows, debounce 60 s"


def test_what_blocks_is_named_without_anything_invisible() -> None:
    running = Blocker(since=NOW, intake_id=IntakeId(7), instance_id=InstanceId(3), batch="B\x1b[0m", status="running")

    assert str(running) == "BatchControl 3 of batch B\\x1b[0m is running; it began 2026-11-22 05:00:00 UTC"
    assert str(Blocker(since=NOW, intake_id=IntakeId(7))).startswith("FileProcess 7 has waited for its instances since")
