"""What people write into the columns that hold lists is taken by the database exactly as far as the engine reads it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing, nullcontext
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import CheckConstraint

from batchctl.domain.scheduling.cadences import MONTHS
from batchctl.domain.scheduling.column_text import (
    UnfitText,
    month_days_of,
    months_of,
    time_of_day,
    weekdays_of,
    weeks_of,
    window_of_day,
)
from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.scheduling.timing_text import read_timing
from batchctl.domain.status import ScheduleType
from batchctl.store.conditions import spelled
from batchctl.store.tables import metadata
from tests.control_databases import ControlDatabase
from tests.hand import Hand, unfit

PARTS = {
    "RunMonths": (
        months_of,
        (
            *(*MONTHS, "jAN", "january", "#", "Brumaire", "J an", "Ja", "an", "-", "Jan-", "-Jan", "Jan--Feb"),
            *(*map(str, range(14)), "01", "09", "012", "001", "1 2", "١", "-1"),
            *("Jan-Mar", "jan - 3", "Nov-Feb", "1-12", "Jan-Feb-Mar", "01-02-03", "1-2-3-4", "Mar-13", " - "),
        ),
    ),
    "RunDaysOfMonth": (
        month_days_of,
        (
            *(*map(str, range(34)), "01", "09", "031", "0001", "1 5", "-1", "1-5", "+1", "1.", "¹", "Mon"),
            *("last", "LAST", " Last ", "la st", "lastly", "last last", "business", "business_", "business-1"),
            *(f"business_{place}" for place in (*range(25), "01", "09", "023", "last", "LAST", " 1", "first")),
            *("Business_Last", "business_business_1", "_1", "1_1", "a", "<>", "1<>2", "'", "%", "ſ"),
        ),
    ),
    "RunDays": (weekdays_of, ("Mon", "sun", "Mon-Fri", "Fri - Mon", "Mon-Tue-Wed", "Mo n", "#", "#-#", "Monday", "1")),
    "RunTimes": (
        lambda part: [time_of_day(part)],
        (
            *(
                "06:00",
                "00:00",
                "23:59",
                "0 6:00",
                "06 :00",
                "06: 00",
                "06:0 0",
                "06:  00",
                "06:00 18:00",
                "0600",
                "6:00",
            ),
            *("24:00", "06:60", "06:00:00", "06:00:30", "6", ":", "06:00-18:00", "<>06:00", "06<>:00", "٠٦:٠٠"),
        ),
    ),
    "BetweenTimes": (
        lambda whole: window_of_day(whole) or (),
        (
            *(
                "09:00-17:00",
                "22:00 - 06:00",
                " 09:00-17:00 ",
                "0 9:00-17:00",
                "09:00-1 7:00",
                "09:00-17: 00",
                "09:00 17:00",
            ),
            *("09:00", "09:00-", "-17:00", "09:00--17:00", "09:00-17:00-18:00", "9-17", "09:00-24:00", "09:00\t-17:00"),
        ),
    ),
    "WeekOfMonth": (weeks_of, ("first", "LAST", "fifth", "sixth", "#", "fi rst", "first-last", "1")),
}
OF_FORM = ("_Form", "_Blanks", "CK_Schedule_RunMonths", "CK_Schedule_BetweenTimes")
CONDITIONS = {
    column: " AND ".join(
        f"({spelled(made.sqltext, 'sqlite')})"
        for made in metadata.tables["Schedule"].constraints
        if isinstance(made, CheckConstraint)
        and str(made.name).split("_")[2] == column
        and str(made.name).endswith(OF_FORM)
    )
    for column in PARTS
}
BLANKS = ("\t", "\n", "\r", "\x1f", "\u00a0", "\u2003")
"""What Python takes for a blank and nobody writes into a list: neither reader does."""
REPLACED = "UPDATE Schedule SET {} = ?"


@pytest.fixture
def hand(control_database: ControlDatabase, hand: Hand) -> Hand:
    """Return a database with a schedule that any column may be written of; several connections would be of no use."""
    hand.sql("INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('s', 'B', 'daily', '06:00')")
    return hand


def is_read(column: str, written: str) -> bool:
    """Say whether the engine reads a list, or a window, which is none."""
    take: Callable[[str], Collection[object]] = PARTS[column][0]
    try:
        for part in [written] if column == "BetweenTimes" else written.split(","):
            take(part.strip(" "))
    except UnfitText:
        return False
    return True


def is_taken(hand: Hand, column: str, written: str) -> bool:
    try:
        hand.sql(REPLACED.format(column), written)
    except hand.Refused:
        return False
    return hand.sql(f"SELECT {column} FROM Schedule") == [(written,)]


@pytest.mark.parametrize("column", PARTS)
def test_a_list_is_taken_exactly_where_it_is_read(hand: Hand, column: str) -> None:
    _, parts = PARTS[column]
    good = next(part for part in parts if is_read(column, part))
    lists = ["", " ", ",", *parts, *(f"{good}{blank}" for blank in BLANKS), *(f"{blank},{good}" for blank in BLANKS)]
    for part in parts:
        lists += [f"{part},{good}", f" {good} , {part} ", f"{part},{part}", f"{part},", f",{part}", f"{good},,{part}"]
        lists += [f"{part} {good}", f"{part}   {good}", f"{part}-{good}", f"{good}{part}", f"{good};{part}"]

    found = {written: is_taken(hand, column, written) for written in lists if len(written) <= 200}

    assert {written for written, taken in found.items() if taken != is_read(column, written)} == set()
    assert sum(found.values()) >= sum(is_read(column, part) for part in parts) > 1, "and many are taken"


def test_every_number_and_name_that_is_read_is_taken_at_once(hand: Hand) -> None:
    for column in ("RunMonths", "RunDaysOfMonth"):
        _, parts = PARTS[column]
        assert is_taken(hand, column, ",".join(part for part in parts if is_read(column, part))[:197].rsplit(",", 1)[0])


PIECES = (*" ,-", "  ", "06:00", "23:59", "0", "6:00", ":", "Mon", "Jan", "first", "last", "12", "business_1")
TYPED = st.text(" ,-_#<>019businelatJfrMon:", max_size=15) | st.lists(st.sampled_from(PIECES), max_size=7).map("".join)


@given(st.sampled_from(sorted(PARTS)), TYPED)
def test_whatever_is_typed_is_taken_as_it_is_read(column: str, written: str) -> None:
    with closing(sqlite3.connect(":memory:")) as scratch:
        asked = f"WITH t ({column}) AS (VALUES (?)) SELECT {CONDITIONS[column]} FROM t"
        ((taken,),) = scratch.execute(asked, (written,))

    assert bool(taken) == is_read(column, written)


def test_months_that_lack_all_of_the_days_are_refused(hand: Hand) -> None:
    """It would never be due."""
    months = ("Feb", "2", "02, feb", "Apr", "4,Jun,9,nov", "Feb,Apr", "Jan", "Feb,Mar", "Apr-Apr", "Feb-Apr", "12")
    days = ("29", "30", "31", "30, 31", "31,31", "31,last", "30,business_1", "1", "last")
    hand.sql("UPDATE Schedule SET CalendarName = 'NL'")
    for written, on in product(months, days):
        timing = Timing(schedule_type=ScheduleType.DAILY, run_times="06:00", run_months=written, run_days_of_month=on)
        pattern = read_timing(timing, "UTC", None)[0].days
        numbers = (
            pattern.month_days.numbers if pattern.month_days is not None and not pattern.month_days.business else {-1}
        )
        lengths = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
        never = not any(number <= lengths.get(month, 31) for month in pattern.months or () for number in numbers)
        hand.sql("UPDATE Schedule SET RunMonths = NULL, RunDaysOfMonth = NULL")
        try:
            hand.sql("UPDATE Schedule SET RunMonths = ?, RunDaysOfMonth = ?", written, on)
            taken = True
        except hand.Refused:
            taken = False

        assert taken != (never and "-" not in written), (written, on)


LIMITS = ("0", "1", "20", " 3 ", "\t3\n", "\u00a03\u2003", "9" * 18, "9" * 19, "0" * 30)
NO_LIMITS = ("", " ", "-1", "+1", "twenty", "1.0", "1 1", "٣", "1e3", "MaxConcurrent", "x1", "1x")


@pytest.mark.parametrize("value", [*LIMITS, *NO_LIMITS])
def test_a_limit_of_everything_is_a_number(hand: Hand, value: str) -> None:
    said = value.strip()
    is_number = said.isascii() and said.isdecimal() and len(said) <= 18
    hand.sql("INSERT INTO Setting (Name, Value) VALUES ('TaskRoles', ?)", value)
    with nullcontext() if is_number else pytest.raises(hand.Refused, match=unfit("Setting", "MaxConcurrent")):
        hand.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', ?)", value)

    assert hand.sql("SELECT count(*) FROM Setting WHERE Name = 'MaxConcurrent'") == [(int(is_number),)]
