"""What people write into Schedule, Calendar and CalendarDay by hand: what lacks what its type needs is refused.

The names of the constraints, which servers tell, are told to people in docs/schedules.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import CheckConstraint

from batchctl.store.tables import calendar, calendar_day, schedule
from tests.hand import Hand, unfit

DOCS = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text(encoding="utf-8")
SOUND: dict[str, dict[str, object]] = {
    "interval": {"IntervalMinutes": 15},
    "daily": {"RunTimes": "06:00"},
    "weekly": {"RunTimes": "06:00", "RunDays": "Mon"},
    "monthly": {"RunTimes": "06:00", "RunDaysOfMonth": "last"},
    "monthly_dow": {"RunTimes": "06:00", "RunDays": "Mon", "WeekOfMonth": "first"},
    "once": {"RunAt": "2026-12-01 02:00"},
    "cron": {"Cron": "30 2 * * *"},
}
OWNED = {
    "IntervalMinutes": {"interval"},
    "RunTimes": {"daily", "weekly", "monthly", "monthly_dow"},
    "RunAt": {"once"},
    "Cron": {"cron"},
}
"""Columns that no other type may have."""
LACKING = [(kind, column) for kind, columns in SOUND.items() for column in columns]
STRANGE = [(kind, column) for kind in SOUND for column, types in OWNED.items() if kind not in types]
WRONG: list[tuple[str, str, object]] = [
    ("ScheduleName", "ScheduleName", ""),
    ("Entity", "Entity", ""),
    ("EveryN", "EveryN", 0),
    ("EveryN", "EveryN", 1001),
    ("CalendarRule", "CalendarRule", "skip"),
    ("GapPolicy", "GapPolicy", "once"),
    ("FoldPolicy", "FoldPolicy", "run"),
    ("CatchUp", "CatchUp", "all"),
    ("CatchUpMost", "CatchUp", "up_to"),
    ("CatchUpMost", "CatchUpMost", 3),
    ("Overlap", "Overlap", "kill"),
    ("Jitter", "Jitter", -1),
    ("Jitter", "Jitter", 86401),
    ("Enabled", "Enabled", 2),
]


def insert(hand: Hand, kind: str, **columns: object) -> None:
    said = {"ScheduleName": "nightly", "Entity": "B", "ScheduleType": kind, **columns}
    marks = ", ".join("?" for _ in said)
    hand.sql(f"INSERT INTO Schedule ({', '.join(said)}) VALUES ({marks})", *said.values())


@pytest.mark.parametrize("kind", SOUND)
def test_what_a_type_needs_is_enough(hand: Hand, kind: str) -> None:
    insert(hand, kind.upper(), **SOUND[kind])

    found = hand.sql(
        "SELECT ScheduleType, EveryN, CalendarRule, GapPolicy, FoldPolicy, CatchUp, Overlap, Jitter, Enabled,"
        " NextRunTime FROM Schedule"
    )
    assert [(row[0].lower(), *row[1:]) for row in found] == [
        (kind, 1, "business_days", "run", "once", "none", "queue", 0, 1, None)
    ]


@pytest.mark.parametrize(("kind", "column"), LACKING)
def test_a_schedule_that_lacks_what_its_type_needs_is_refused(hand: Hand, kind: str, column: str) -> None:
    with pytest.raises(hand.Refused, match=unfit("Schedule", column)):
        insert(hand, kind, **{**SOUND[kind], column: None})


@pytest.mark.parametrize(("kind", "column"), STRANGE)
def test_what_only_another_type_has_is_refused(hand: Hand, kind: str, column: str) -> None:
    value = {**SOUND["interval"], **SOUND["daily"], **SOUND["once"], **SOUND["cron"]}[column]
    with pytest.raises(hand.Refused, match=unfit("Schedule", column)):
        insert(hand, kind, **{**SOUND[kind], column: value})


@pytest.mark.parametrize(("kind", "column"), LACKING)
def test_an_update_cannot_take_it_away_either(hand: Hand, kind: str, column: str) -> None:
    insert(hand, kind, **SOUND[kind])
    with pytest.raises(hand.Refused, match=unfit("Schedule", column)):
        hand.sql(f"UPDATE Schedule SET {column} = NULL")


@pytest.mark.parametrize(("constraint", "column", "value"), WRONG)
def test_a_wrong_value_is_refused_by_name(hand: Hand, constraint: str, column: str, value: object) -> None:
    with pytest.raises(hand.Refused, match=unfit("Schedule", constraint)):
        insert(hand, "daily", **{**SOUND["daily"], column: value})


@pytest.mark.parametrize("minutes", [0, 1441])
def test_an_interval_is_within_a_day(hand: Hand, minutes: int) -> None:
    with pytest.raises(hand.Refused, match=unfit("Schedule", "IntervalMinutes", "_Bounds")):
        insert(hand, "interval", IntervalMinutes=minutes)


@pytest.mark.parametrize("most", [0, 1001])
def test_catching_up_has_bounds(hand: Hand, most: int) -> None:
    with pytest.raises(hand.Refused, match=unfit("Schedule", "CatchUpMost", "_Bounds")):
        insert(hand, "daily", RunTimes="06:00", CatchUp="up_to", CatchUpMost=most)


def test_there_is_no_other_type(hand: Hand) -> None:
    # Which constraint a database looks at first is its own affair: to no type that there is belong these columns.
    with pytest.raises(hand.Refused, match=unfit("Schedule", "(ScheduleType|RunTimes)")):
        insert(hand, "hourly", RunTimes="06:00")


def test_a_schedule_has_one_row(hand: Hand) -> None:
    insert(hand, "daily", RunTimes="06:00")
    with pytest.raises(hand.Refused):
        insert(hand, "daily", RunTimes="18:00")


def test_a_calendar_has_each_day_once_and_only_days(hand: Hand) -> None:
    hand.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    day = "INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, ?)"
    hand.sql(day, "2026-12-25")
    for wrong in ("2026-12-25", "25.12.2026", "2026-12"):
        with pytest.raises(hand.Refused):
            hand.sql(day, wrong)
    with pytest.raises(hand.Refused):
        hand.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (99, '2026-12-25')")
    with pytest.raises(hand.Refused, match=unfit("Calendar", "CalendarName")):
        hand.sql("INSERT INTO Calendar (CalendarName) VALUES ('')")


def test_every_constraint_is_told_to_people() -> None:
    told = set(re.findall(r"^\| `(CK_\w+)`", DOCS, re.MULTILINE))
    named = {
        str(constraint.name)
        for table in (schedule, calendar, calendar_day)
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint) and not str(constraint.name).endswith("_Type")
    }

    assert told == named
