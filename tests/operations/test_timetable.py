"""What people see of schedules: when each runs next, what became of the last time, what is wrong, what is to come."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from batchctl.domain.errors import NotFound, Refused
from batchctl.operations import explain, overview
from batchctl.operations.scheduling import foresight
from batchctl.operations.scheduling.foresight import Rehearsed
from batchctl.operations.scheduling.schedule_trial import ScheduleBench, ScheduleTrial
from batchctl.operations.scheduling.timetable import COMING, DECIDED_WITHIN, SCHEDULES, Timed, Timetable
from tests.control.world import World
from tests.operations.test_looking import PRESENCE

ZONE = "Europe/Amsterdam"
DECIDED = (
    "INSERT INTO ScheduleFire (Schedule_id, FireKey, Outcome, DueTime, DueUntil, Instants, Reason, FileProcess_id)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


_DAY_OFF = "INSERT INTO CalendarDay (Calendar_id, CalendarDate, Description) VALUES (1, ?, ?)"
_NOT_YET = "due, and not decided yet"
_MISSED = "with no controller there in time, and CatchUp is"
_MISSED_ALL = f"{_NOT_YET}: 3 due times were missed, {_MISSED} none"
_MISSED_TWO = f"{_NOT_YET}: 2 due times were missed, {_MISSED} latest; what came later was made up for"


@pytest.fixture
def table(world: World) -> Timetable:
    """Return what looks at schedules; it is 21 November 2026, 03:00 UTC, 04:00 in Amsterdam."""
    world.batch()
    return Timetable(transactions=world.transactions, clock=world.clock, zone=ZONE, grace=timedelta(minutes=5))


def schedule(world: World, name: str = "nightly", kind: str = "daily", **columns: object) -> None:
    said = {"ScheduleName": name, "Entity": "B", "ScheduleType": kind, "DecidedUntil": "2026-11-21 03:00:00", **columns}
    if kind in {"daily", "weekly", "monthly", "monthly_dow"}:
        said.setdefault("RunTimes", "06:00")
    marks = ", ".join("?" for _ in said)
    world.sql(f"INSERT INTO Schedule ({', '.join(said)}) VALUES ({marks})", *said.values())


def only(table: Timetable) -> Timed:
    (found,) = table.everything()
    return found


def tried(table: Timetable, name: str = "nightly", *, grace: int = 300, fires_here: bool = True) -> ScheduleTrial:
    bench = ScheduleBench(table=replace(table, grace=timedelta(seconds=grace)), fires_here=fires_here)
    return bench.try_out(name)


def previewed(table: Timetable, days: int, start: datetime | None = None) -> list[dict[str, Any]]:
    return [foresight.DUE_TIMES.of(at) for at in foresight.preview(table, "nightly", start=start, days=days).due_times]


def rehearsed(table: Timetable) -> Rehearsed:
    (found,) = foresight.rehearse(table, "nightly", start=None)
    return found


class TestList:
    def test_one_of_which_nobody_knows_when_it_is_due_names_what_mends_it(self, world: World, table: Timetable) -> None:
        schedule(world)
        (fit,) = table.everything()
        world.sql("UPDATE Schedule SET TimeZone = 'Mars/Phobos'")
        (unfit,) = table.everything()

        assert fit.mend is None
        assert (unfit.plan, unfit.mend) == (None, "batchctl schedule set nightly --time-zone ... --reason ...")

    def test_the_next_time_is_shown_in_its_zone_and_in_utc(self, world: World, table: Timetable) -> None:
        schedule(world, TimeZone="America/New_York")

        found = SCHEDULES.of(only(table))

        assert (found["Words"], found["Zone"]) == ("daily at 06:00, America/New_York", "America/New_York")
        assert (found["NextLocalTime"], found["NextUtcTime"]) == ("2026-11-21 06:00 -05:00", "2026-11-21T11:00:00.000Z")
        assert (found["LastOutcome"], found["Findings"]) == (None, [])

    def test_jitter_moves_the_moment_and_not_the_time(self, world: World, table: Timetable) -> None:
        schedule(world, Jitter=3600)

        following = only(table).next

        assert following is not None
        assert following.local == "2026-11-21 06:00 +01:00"
        assert timedelta(0) < following.at - datetime(2026, 11, 21, 5, tzinfo=UTC) <= timedelta(hours=1)
        assert only(table).next == following

    @pytest.mark.parametrize("state", ["Enabled = 0", "RunTimes = '6'"])
    def test_what_starts_nothing_has_no_next_time(self, world: World, table: Timetable, state: str) -> None:
        world.hand.loosen()
        schedule(world)
        world.sql(f"UPDATE Schedule SET {state}")

        assert only(table).next is None

    def test_neither_has_what_its_batches_do_not_let(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.sql("UPDATE ProcessBatch SET ProcessingMode = 'triggered'")

        found = only(table)

        assert found.next is None
        assert [finding.column for finding in found.findings] == ["Entity"]

    def test_a_timing_that_was_changed_counts_from_now(self, world: World, table: Timetable) -> None:
        schedule(world, DecidedUntil="2026-11-01 00:00:00", TimingHash="of another timing")

        following = only(table).next

        assert following is not None
        assert following.local == "2026-11-21 06:00 +01:00"

    def test_the_newest_due_time_is_the_last_one(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.submit("B")
        world.sql(DECIDED, 1, "2026-11-20T06:00", "fired", "2026-11-20 05:00:00", None, 1, None, 1)
        world.sql(DECIDED, 1, "2026-11-18T06:00", "skipped", "2026-11-18 05:00:00", None, 1, "made up for", None)

        found = SCHEDULES.of(only(table))

        assert (found["LastOutcome"], found["LastFileProcess_id"]) == ("fired", 1)
        assert [one.fire_key for one in table.sheet("nightly").decided] == ["2026-11-20T06:00", "2026-11-18T06:00"]

    def test_that_its_calendar_runs_out_is_shown_as_long_as_it_is_enabled(self, world: World, table: Timetable) -> None:
        world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-12-31')")
        schedule(world, CalendarName="NL")

        said = "CalendarName: Calendar NL runs out on 2026-12-31: after that only the days of the week decide."
        assert SCHEDULES.of(only(table))["Findings"] == [said]
        world.sql("UPDATE Schedule SET Enabled = 0")
        assert SCHEDULES.of(only(table))["Findings"] == []

    def test_an_unknown_one_is_named_and_so_are_rows_that_hold_nonsense(self, world: World, table: Timetable) -> None:
        schedule(world)
        with pytest.raises(NotFound, match=r"There is no schedule 'nihtly'. Did you mean 'nightly'"):
            table.sheet("nihtly")
        world.hand.loosen()
        world.sql("UPDATE Schedule SET ScheduleType = 'hourly'")
        with pytest.raises(Refused, match=r"Schedule 1 \(nightly\) cannot be read: ScheduleType is 'hourly'"):
            table.sheet("nightly")

    def test_a_next_time_that_is_over_is_overdue(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.clock.advance(timedelta(hours=2) + DECIDED_WITHIN)
        assert (SCHEDULES.of(only(table))["Overdue"], SCHEDULES.of(only(table))["NextLocalTime"]) == (
            False,
            "2026-11-21 06:00 +01:00",
        )
        world.clock.advance(timedelta(seconds=1))

        following = only(table).next
        (coming,) = overview.overview(world.transactions, world.clock, PRESENCE, timetable=table).coming

        assert following is not None
        assert (following.is_overdue, following.words) == (True, "2026-11-21 06:00 +01:00, overdue")
        assert (SCHEDULES.of(only(table))["Overdue"], COMING.of(coming)["Overdue"]) == (True, True)


class TestPreview:
    def test_days_a_month_does_not_have_and_days_off_are_shown_with_the_reason(
        self, world: World, table: Timetable
    ) -> None:
        world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
        schedule(world, kind="monthly", RunDaysOfMonth="31", CalendarName="NL")

        shown = [(one["LocalTime"], one["UtcTime"], one["Outcome"], one["Reason"]) for one in previewed(table, 75)]

        assert shown == [
            ("2026-11-31", None, "skipped", "November 2026 has no day 31"),
            ("2026-12-31 06:00 +01:00", "2026-12-31T05:00:00.000Z", "fires", None),
            ("2027-01-31 06:00 +01:00", "2027-01-31T05:00:00.000Z", "skipped", _REASON),
        ]

    @pytest.mark.full
    def test_four_hundred_days_of_five_minutes(self, world: World, table: Timetable) -> None:
        schedule(world, kind="interval", IntervalMinutes=5)

        preview = foresight.preview(table, "nightly", start=None, days=400)

        assert sum(1 for _ in preview.due_times) == 400 * 24 * 12

    def test_what_is_decided_already_says_so(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.submit("B")
        world.sql(DECIDED, 1, "2026-11-10T06:00", "fired", "2026-11-10 05:00:00", None, 1, None, 1)
        stretch = ("2026-11-12 05:00:00", "2026-11-14 05:00:00", 3, "missed", None)
        world.sql(DECIDED, 1, "2026-11-12T06:00..2026-11-14T06:00", "skipped", *stretch)

        found = previewed(table, 6, datetime(2026, 11, 10, tzinfo=UTC))

        assert [
            (one["CycleKey"][-2:], one["Decided"], one["DecidedReason"], one["FileProcess_id"]) for one in found
        ] == [
            ("10", "fired", None, 1),
            ("11", None, None, None),
            ("12", "skipped", "missed", None),
            ("13", "skipped", "missed", None),
            ("14", "skipped", "missed", None),
            ("15", None, None, None),
        ]

    def test_what_a_clock_was_set_back_behind_is_decided_again_and_shown_so(
        self, world: World, table: Timetable
    ) -> None:
        schedule(world, DecidedUntil="2026-11-13 04:00:00")
        stretch = ("2026-11-12 05:00:00", "2026-11-14 05:00:00", 3, "missed", None)
        world.sql(DECIDED, 1, "2026-11-12T06:00..2026-11-14T06:00", "skipped", *stretch)

        found = previewed(table, 3, datetime(2026, 11, 12, tzinfo=UTC))

        assert [one["Decided"] for one in found] == ["skipped", None, None]

    @pytest.mark.parametrize(
        "start",
        [datetime(2027, 3, 27), datetime(2027, 3, 26, 23, tzinfo=UTC), datetime(2027, 3, 27, 0, 0, 0)],  # noqa: DTZ001
    )
    def test_a_start_is_reckoned_in_its_zone_and_belongs_to_the_days(
        self, world: World, table: Timetable, start: datetime
    ) -> None:
        schedule(world, RunTimes="00:00")

        found = [one["LocalTime"] for one in previewed(table, 3, start)]

        assert found == ["2027-03-27 00:00 +01:00", "2027-03-28 00:00 +01:00", "2027-03-29 00:00 +02:00"]

    def test_a_start_at_the_end_of_time_has_no_due_times(self, world: World, table: Timetable) -> None:
        schedule(world)

        assert previewed(table, 3, datetime(9999, 12, 31)) == []  # noqa: DTZ001
        assert previewed(table, 3, datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=14)))) == []

    def test_a_start_before_the_beginning_of_time_is_that_beginning(self, world: World, table: Timetable) -> None:
        schedule(world)
        starts = (
            datetime.min,  # noqa: DTZ901
            datetime.min.replace(tzinfo=UTC),
            datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        )

        for start in starts:
            assert [one["CycleKey"] for one in previewed(table, 2, start)] == ["1900-01-01", "1900-01-02"]

    def test_what_was_decided_of_another_moment_stays_decided(self, world: World, table: Timetable) -> None:
        """Its key is the same wall time, by the clocks of the zone that the schedule had then."""
        schedule(world)
        world.sql(DECIDED, 1, "2026-11-21T06:00", "skipped", "2026-11-20 17:00:00", None, 1, None, None)

        (one, other) = previewed(table, 2, datetime(2026, 11, 21))  # noqa: DTZ001

        assert (one["Decided"], other["Decided"]) == ("skipped", None)

    def test_what_is_over_and_not_decided_does_not_fire(self, world: World, table: Timetable) -> None:
        schedule(world)
        over = "not decided; batchctl backfill can start it"

        def outcomes() -> list[tuple[Any, Any]]:
            found = previewed(table, 3, datetime(2026, 11, 20))  # noqa: DTZ001
            return [(one["Outcome"], one["Reason"]) for one in found]

        assert outcomes() == [("over", over), ("fires", None), ("fires", None)]
        world.clock.advance(timedelta(hours=2))
        assert outcomes() == [("over", over), ("fires", "due, and not decided yet"), ("fires", None)]
        world.clock.advance(timedelta(hours=1))
        world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-21 05:30:00'")
        assert outcomes() == [("over", over), ("over", over), ("fires", None)]
        world.sql("UPDATE Schedule SET DecidedUntil = NULL, Enabled = 0")
        assert outcomes() == [("over", over), ("over", over), ("fires", None)]

    @pytest.mark.parametrize(
        ("catch_up", "expected"),
        [
            (("none", None), [("skipped", _MISSED_ALL)] * 3),
            (
                ("latest", None),
                [("skipped", _MISSED_TWO)] * 2 + [("fires", f"{_NOT_YET}: made up for, 3 h 0 min late")],
            ),
        ],
    )
    def test_what_is_due_and_not_decided_yet_is_as_the_next_look_decides_it(
        self, world: World, table: Timetable, catch_up: tuple[str, int | None], expected: list[tuple[str, str]]
    ) -> None:
        schedule(world, DecidedUntil="2026-11-18 08:00:00", CatchUp=catch_up[0], TimeZone="UTC")
        world.clock.advance(timedelta(hours=6))

        found = previewed(table, 3, datetime(2026, 11, 19))  # noqa: DTZ001

        assert [(one["Outcome"], one["Reason"]) for one in found] == expected
        assert tried(table).would_fire is (expected[-1][0] == "fires")

    def test_what_waits_by_its_jitter_or_is_skipped_by_overlap_says_so(self, world: World, table: Timetable) -> None:
        schedule(world, Jitter=86400)
        world.clock.advance(timedelta(hours=2, seconds=1))

        def said() -> list[tuple[Any, Any]]:
            found = previewed(table, 1, datetime(2026, 11, 21))  # noqa: DTZ001
            return [(one["Outcome"], one["Reason"]) for one in found]

        assert said() == [("fires", f"{_NOT_YET}: its jitter lets it wait")]
        world.sql("UPDATE Schedule SET Jitter = 0, Overlap = 'skip', RunTimes = '06:00,06:02'")
        world.clock.advance(timedelta(minutes=2))
        second = ("skipped", f"{_NOT_YET}: Overlap is skip, and that of 2026-11-21T06:00 starts first")
        assert said() == [("fires", _NOT_YET), second]
        world.submit("B")
        assert [outcome for outcome, _ in said()] == ["skipped", "skipped"]

    def test_where_nothing_is_to_come_it_is_said_why(self, world: World, table: Timetable) -> None:
        schedule(world, kind="once", RunAt="2026-11-21 06:00")

        def nothing() -> str | None:
            return foresight.preview(table, "nightly", start=None, days=1).nothing

        assert nothing() is None
        world.clock.advance(timedelta(hours=3))
        over = "Its only time, 2026-11-21 06:00 +01:00, is over"
        assert (
            nothing()
            == f"{over}: {_NOT_YET}: its due time was missed, with no controller there in time, and CatchUp is none."
        )
        world.submit("B")
        world.sql("UPDATE Schedule SET Enabled = 0, DecidedUntil = NULL")
        assert nothing() == f"{over}: not decided; batchctl backfill can start it."
        world.sql(DECIDED, 1, "2026-11-21T06:00", "fired", "2026-11-21 05:00:00", None, 1, "made up for", 1)
        assert nothing() == f"{over}: fired as file:1; made up for."
        world.sql("UPDATE Schedule SET RunAt = '2026-12-21 06:00'")
        assert nothing() == "It is due next at 2026-12-21 06:00 +01:00."
        world.sql(
            "UPDATE Schedule SET ScheduleType = 'daily', RunAt = NULL, RunTimes = '06:00', EndDate = '2026-11-01'"
        )
        assert nothing() == "It is never due again."

    @pytest.mark.parametrize(
        ("rule", "start", "expected"),
        [
            ("next", 24, [("24", "fires"), ("25", "shifted"), ("26", "shifted"), ("27", "shifted"), ("28", "fires")]),
            ("next", 26, [("26", "shifted"), ("27", "shifted"), ("28", "fires"), ("29", "fires"), ("30", "fires")]),
            (
                "previous",
                25,
                [("25", "shifted"), ("26", "shifted"), ("27", "shifted"), ("28", "fires"), ("29", "fires")],
            ),
        ],
    )
    def test_a_day_off_that_runs_with_another_day_has_a_line_of_its_own(
        self, world: World, table: Timetable, rule: str, start: int, expected: list[tuple[str, str]]
    ) -> None:
        world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
        world.sql(_DAY_OFF, "2026-12-25", "Christmas Day")
        schedule(world, CalendarName="NL", CalendarRule=rule)

        found = previewed(table, 5, datetime(2026, 12, start))  # noqa: DTZ001

        assert [(one["CycleKey"][-2:], one["Outcome"]) for one in found] == expected
        assert len({one["FireKey"] for one in found}) == 5
        target = "2026-12-28" if rule == "next" else "2026-12-24"
        if start < 26:
            (christmas,) = (one for one in found if one["FireKey"] == "2026-12-25")
            said = f"2026-12-25 is no business day of NL: Christmas Day; it runs with {target}"
            assert (christmas["UtcTime"], christmas["Reason"]) == (None, said)

    def test_a_shifted_day_is_one_line(self, world: World, table: Timetable) -> None:
        world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
        schedule(world, kind="monthly", RunDaysOfMonth="26,27", CalendarName="NL", CalendarRule="next")

        found = previewed(table, 5, datetime(2026, 12, 25))  # noqa: DTZ001

        assert [(one["FireKey"], one["CycleKey"]) for one in found] == [
            ("2026-12-27", "2026-12-27"),
            ("2026-12-28T06:00", "2026-12-26"),
        ]

    def test_what_fired_before_its_day_was_a_day_off_does_not_fire_again(self, world: World, table: Timetable) -> None:
        world.sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('NL', 'Mon,Tue,Wed,Thu,Fri,Sat')")
        schedule(world, kind="monthly", RunDaysOfMonth="21", CalendarName="NL", CalendarRule="next")
        world.submit("B")
        world.sql(DECIDED, 1, "2026-11-21T06:00", "fired", "2026-11-21 05:00:00", None, 1, None, 1)
        world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-21 05:00:00'")
        world.sql(_DAY_OFF, "2026-11-21", "moved")
        world.clock.advance(timedelta(hours=6))

        (found,) = previewed(table, 5)

        said = "decided already as file:1, due as 2026-11-21T06:00 before its calendar was changed"
        assert (found["FireKey"], found["Outcome"], found["Decided"]) == ("2026-11-23T06:00", "skipped", None)
        assert found["Reason"].startswith(said)

    def test_that_its_calendar_begins_behind_the_first_day_is_noted(self, world: World, table: Timetable) -> None:
        world.sql(
            "INSERT INTO Calendar (CalendarName, ValidFrom, ValidUntil) VALUES ('NL', '2027-01-01', '2027-12-31')"
        )
        schedule(world, CalendarName="NL")

        def note(start: datetime, days: int) -> str | None:
            return foresight.preview(table, "nightly", start=start, days=days).note

        early = "Calendar NL says nothing before 2027-01-01: until then only the days of the week decide."
        late = "Calendar NL says nothing from 2028-01-01 on: then only the days of the week decide."
        assert note(datetime(2027, 1, 2, tzinfo=UTC), 10) is None
        assert note(datetime(2026, 12, 1, tzinfo=UTC), 10) == early
        assert note(datetime(2026, 12, 1, tzinfo=UTC), 900) == f"{early} {late}"

    def test_that_its_calendar_ends_before_the_days_do_is_noted(self, world: World, table: Timetable) -> None:
        world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2027-12-31')")
        schedule(world, CalendarName="NL")

        def note(days: int) -> str | None:
            return foresight.preview(table, "nightly", start=datetime(2027, 12, 1), days=days).note  # noqa: DTZ001

        assert note(31) is None
        assert note(32) == "Calendar NL says nothing from 2028-01-01 on: then only the days of the week decide."

    def test_what_cannot_be_understood_is_refused_with_its_column(self, world: World, table: Timetable) -> None:
        world.hand.loosen()
        schedule(world, RunTimes="6")
        with pytest.raises(Refused, match="Schedule nightly is never due: RunTimes: '6' is no time of day"):
            previewed(table, 1)


_REASON = "2027-01-31 is no business day of NL: a Sunday"


class TestChangeNights:
    @pytest.mark.parametrize(
        ("gap", "fold", "spring", "autumn"),
        [
            ("run", "once", [("2027-03-28 03:00 +02:00", "once")], [("2027-10-31 02:30 +02:00", "once")]),
            (
                "skip",
                "twice",
                [("2027-03-28 02:30", "not at all")],
                [("2027-10-31 02:30 +02:00", "twice"), ("2027-10-31 02:30 +01:00", "twice")],
            ),
        ],
    )
    def test_both_nights_say_what_runs_once_twice_or_not_at_all(
        self,
        world: World,
        table: Timetable,
        gap: str,
        fold: str,
        spring: list[tuple[str, str]],
        autumn: list[tuple[str, str]],
    ) -> None:
        schedule(world, RunTimes="02:30", GapPolicy=gap, FoldPolicy=fold)

        found = rehearsed(table)

        assert [night.change.words for night in found.nights] == [
            "Sun 2027-03-28: the clocks are put forward from 02:00 to 03:00",
            "Sun 2027-10-31: the clocks are put back from 03:00 to 02:00",
        ]
        assert [[(one.instant.local, one.runs) for one in night.times] for night in found.nights] == [spring, autumn]
        assert all(one.is_concerned for night in found.nights for one in night.times)

    def test_what_is_due_elsewhere_is_not_concerned(self, world: World, table: Timetable) -> None:
        schedule(world, RunTimes="03:00,12:00")

        found = [[one.is_concerned for one in night.times] for night in rehearsed(table).nights]

        assert found == [[False], [False]]

    @pytest.mark.parametrize(
        ("columns", "what"),
        [
            ({"kind": "cron", "Cron": "*/20 2 * * *"}, "a cron whose minute or hour begins with *"),
            (
                {"kind": "interval", "IntervalMinutes": 20, "BetweenTimes": "02:00-02:40"},
                "an interval of 60 minutes or less",
            ),
        ],
    )
    def test_a_rhythm_shows_what_the_clocks_leave_out_and_nobody_makes_up_for(
        self, world: World, table: Timetable, columns: dict[str, Any], what: str
    ) -> None:
        schedule(world, **columns)

        rehearsal = rehearsed(table)

        shown = [
            row
            for row in map(foresight.NIGHT_TIMES.of, rehearsal.rows)
            if row["ChangeTime"] == "2027-03-28T01:00:00.000Z"
        ]
        said = f"the clocks leave this out; {what} is not made up for"
        assert [(row["LocalTime"], row["UtcTime"], row["Outcome"], row["Reason"], row["Runs"]) for row in shown] == [
            (f"2027-03-28 02:{minute}", None, "skipped", said, "not at all") for minute in ("00", "20", "40")
        ]
        assert {one.runs for one in rehearsal.nights[1].times} == {"twice"}

    def test_what_is_left_out_stands_where_the_clocks_go_on(self, world: World, table: Timetable) -> None:
        schedule(world, kind="interval", IntervalMinutes=30, BetweenTimes="01:30-03:00")

        spring, _ = rehearsed(table).nights

        assert [(one.instant.local[11:], one.runs) for one in spring.times] == [
            ("01:30 +01:00", "once"),
            ("02:00", "not at all"),
            ("02:30", "not at all"),
            ("03:00 +02:00", "once"),
        ]

    def test_what_is_left_out_on_days_that_are_not_its_own_is_not_shown(self, world: World, table: Timetable) -> None:
        schedule(world, kind="cron", Cron="*/20 2 * * 1-5")

        assert [night.times for night in rehearsed(table).nights] == [(), ()]

    def test_what_is_skipped_in_the_gap_has_no_moment(self, world: World, table: Timetable) -> None:
        schedule(world, RunTimes="02:30", GapPolicy="skip")

        skipped = foresight.NIGHT_TIMES.of(next(rehearsed(table).rows))

        assert (skipped["LocalTime"], skipped["UtcTime"]) == ("2027-03-28 02:30", None)
        assert str(skipped["Reason"]).startswith("2027-03-28 02:30 does not exist in Europe/Amsterdam")

    def test_several_that_are_due_at_one_moment_say_so(self, world: World, table: Timetable) -> None:
        schedule(world, RunTimes="02:30,03:00,03:30")

        spring, autumn = rehearsed(table).nights

        moved = "2027-03-28 02:30 does not exist in Europe/Amsterdam: the clocks go on at 2027-03-28 03:00"
        assert [one.reason for one in spring.times] == [
            f"{moved}; 2 are due at this moment",
            "2 are due at this moment",
            None,
        ]
        assert [one.reason for one in autumn.times] == [None] * 3

    def test_an_interval_of_30_minutes_runs_whenever_the_clocks_show_its_times(
        self, world: World, table: Timetable
    ) -> None:
        schedule(world, kind="interval", IntervalMinutes=30, BetweenTimes="01:30-03:00")

        _, autumn = rehearsed(table).nights

        assert [(one.instant.local[11:], one.runs) for one in autumn.times] == [
            ("01:30 +02:00", "once"),
            ("02:00 +02:00", "twice"),
            ("02:30 +02:00", "twice"),
            ("02:00 +01:00", "twice"),
            ("02:30 +01:00", "twice"),
            ("03:00 +01:00", "once"),
        ]

    @pytest.mark.parametrize(
        ("zone", "words"),
        [
            ("UTC", []),
            ("Asia/Tokyo", []),
            (
                "Australia/Lord_Howe",
                [
                    "Sun 2027-04-04: the clocks are put back from 02:00 to 01:30",
                    "Sun 2027-10-03: the clocks are put forward from 02:00 to 02:30",
                ],
            ),
            (
                "America/Santiago",
                [
                    "Sun 2027-04-04: the clocks are put back from 2027-04-04 00:00 to 2027-04-03 23:00",
                    "Sun 2027-09-05: the clocks are put forward from 00:00 to 01:00",
                ],
            ),
        ],
    )
    def test_every_zone_has_its_own_nights(self, world: World, table: Timetable, zone: str, words: list[str]) -> None:
        schedule(world, TimeZone=zone)

        assert [night.change.words for night in rehearsed(table).nights] == words

    def test_without_a_name_all_that_are_enabled_are_shown_and_what_is_wrong_too(
        self, world: World, table: Timetable
    ) -> None:
        world.hand.loosen()
        schedule(world)
        schedule(world, "off", Enabled=0)
        schedule(world, "wrong", RunTimes="6")

        found = {one.schedule.name: one.failure for one in foresight.rehearse(table, None, start=None)}

        assert list(found) == ["nightly", "wrong"]
        assert found["nightly"] is None
        assert str(found["wrong"]).startswith("RunTimes: '6' is no time of day")


class TestTest:
    def test_before_its_time_it_says_when(self, world: World, table: Timetable) -> None:
        schedule(world)

        found = tried(table)

        assert (found.would_fire, found.reason) == (False, "it is not due before 2026-11-21 06:00 +01:00")
        assert found.next_run_time == datetime(2026, 11, 21, 5, tzinfo=UTC)

    def test_when_it_is_due_it_would_fire_and_nothing_is_written(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.clock.advance(timedelta(hours=2, minutes=1))
        before = world.hand.dump()

        found = tried(table)

        assert found.would_fire
        assert found.reason == "daily at 06:00, Europe/Amsterdam; due 2026-11-21 06:00 +01:00"
        assert found.next_local == "2026-11-22 06:00 +01:00"
        assert world.hand.dump() == before

    def test_what_is_decided_does_not_fire_again(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.sql(DECIDED, 1, "2026-11-21T06:00", "skipped", "2026-11-21 05:00:00", None, 1, "x", None)
        world.clock.advance(timedelta(hours=2, minutes=1))

        assert not tried(table).would_fire

    def test_what_was_missed_is_skipped_or_made_up_for_as_its_row_says(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.clock.advance(timedelta(hours=5))

        assert not tried(table).would_fire
        assert "CatchUp is none" in tried(table).reason
        world.sql("UPDATE Schedule SET CatchUp = 'latest'")
        assert tried(table).would_fire

    def test_what_would_be_made_up_for_says_how_late_as_its_row_will(self, world: World, table: Timetable) -> None:
        schedule(world, CatchUp="latest")
        world.clock.advance(timedelta(hours=5))

        due = "due 2026-11-21 06:00 +01:00; made up for, 3 h 0 min late"
        assert tried(table).reason == f"daily at 06:00, Europe/Amsterdam; {due}"

    def test_one_that_has_run_says_so_and_is_moved_before_it_is_enabled(self, world: World, table: Timetable) -> None:
        schedule(world, kind="once", RunAt="2026-11-21 06:00", Enabled=0)
        world.clock.advance(timedelta(hours=5))
        fired = "INSERT INTO FileProcess (Entity) VALUES ('B')"
        unknown = tried(table).reason
        world.sql(fired)
        world.sql(DECIDED, 1, "2026-11-21T06:00", "fired", "2026-11-21 05:00:00", None, 1, None, 1)

        found = tried(table)

        assert unknown == "it is disabled, and never due again"
        assert found.reason == "it is disabled, and it has run at 2026-11-21 06:00 +01:00, as file:1"
        moved = "batchctl schedule set nightly --run-at ... --reason ..."
        assert found.next_step == f"{moved}, then: batchctl schedule enable nightly --reason ..."
        assert found.notes == ()

    def test_one_that_was_skipped_says_why(self, world: World, table: Timetable) -> None:
        schedule(world, kind="once", RunAt="2026-11-21 06:00", Enabled=0)
        world.clock.advance(timedelta(hours=5))
        world.sql(DECIDED, 1, "2026-11-21T06:00", "skipped", "2026-11-21 05:00:00", None, 1, "it was missed", None)

        said = "it is disabled, and its last time, 2026-11-21 06:00 +01:00, was skipped: it was missed"
        assert tried(table).reason == said

    def test_of_a_job_the_code_is_what_moves_it(self, world: World, table: Timetable) -> None:
        schedule(world, "load.d", EndDate="2026-11-20", Enabled=0, Origin="job shop")

        said = "correct the decorator of load, then: batchctl schedule enable load.d --reason ..."
        assert tried(table, "load.d").next_step == said

    def test_only_one_that_is_still_to_run_disables_itself(self, world: World, table: Timetable) -> None:
        world.hand.loosen()
        schedule(world, kind="once", RunAt="2026-11-21 06:00")
        to_come = tried(table).notes
        world.clock.advance(timedelta(hours=2, minutes=1))
        now = tried(table).notes
        world.clock.advance(timedelta(hours=2))
        missed = tried(table)
        world.sql("UPDATE Schedule SET RunAt = '25:00'")

        assert to_come == now == ("It disables itself once it has run.",)
        assert "its due time was missed" in missed.reason
        assert (missed.next_step, missed.notes) == ("batchctl schedule set nightly --run-at ... --reason ...", ())
        assert tried(table).notes == ()

    def test_open_work_is_a_reason_where_overlap_is_skip(self, world: World, table: Timetable) -> None:
        schedule(world, Overlap="skip")
        world.clock.advance(timedelta(hours=2, minutes=1))
        assert tried(table).would_fire
        world.submit("B")
        world.create()

        found = tried(table)

        assert not found.would_fire
        assert "but Overlap is skip, and BatchControl 1 of batch B is ready" in found.reason
        assert found.next_step == "batchctl why 1"
        world.sql("UPDATE Schedule SET Overlap = 'queue'")
        assert tried(table).would_fire

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ("UPDATE Schedule SET Enabled = 0", "it is disabled; nothing that is due meanwhile is made up for"),
            (
                "UPDATE ProcessBatch SET ProcessingMode = 'manual'",
                "no batch of its entity lets schedules start it: batch B is manual",
            ),
            ("UPDATE Schedule SET CalendarName = 'NL'", "CalendarName: There is no calendar 'NL'."),
            ("UPDATE Schedule SET EndDate = '2026-11-20'", "it is never due again"),
        ],
    )
    def test_every_other_reason_is_said(self, world: World, table: Timetable, change: str, reason: str) -> None:
        schedule(world)
        world.clock.advance(timedelta(hours=2, minutes=1))
        assert tried(table).would_fire
        world.sql(change)

        found = tried(table)

        assert not found.would_fire
        assert found.reason.startswith(reason)

    def test_of_a_disabled_one_the_mode_is_said_too_and_comes_first(self, world: World, table: Timetable) -> None:
        schedule(world, Enabled=0)
        world.sql("UPDATE ProcessBatch SET ProcessingMode = 'triggered'")

        found = tried(table)

        assert (
            found.reason == "it is disabled, and no batch of its entity lets schedules start it: batch B is triggered"
        )
        assert found.next_step == "batchctl mode B scheduled --reason ..."

    def test_a_file_name_that_it_does_not_bring_is_noted(self, world: World, table: Timetable) -> None:
        world.sql(
            "UPDATE ProcessControl SET ProcessType = 'os_command', Data1 = 'wc {FileName}' WHERE ProcessControlSeq = 10"
        )
        schedule(world)
        said = "Step 10 of B uses {FileName}; a schedule brings none, so it fails."

        assert tried(table).notes == (said,)
        assert SCHEDULES.of(only(table))["Findings"] == [f"Entity: {said}"]

    def test_a_day_off_is_a_reason_and_a_calendar_that_ends_is_noted(self, world: World, table: Timetable) -> None:
        world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-12-31')")
        schedule(world, CalendarName="NL")
        world.clock.advance(timedelta(hours=2, minutes=1))

        found = tried(table, fires_here=False)

        assert not found.would_fire
        assert "2026-11-21 is no business day of NL: a Saturday" in found.reason
        assert found.next_local == "2026-11-23 06:00 +01:00"
        assert [note[:30] for note in found.notes] == [
            "Calendar NL runs out on 2026-1",
            "[scheduler] enabled is false i",
        ]


class TestElsewhere:
    def test_status_shows_what_is_due_next_and_calendars_that_end(self, world: World, table: Timetable) -> None:
        world.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2026-12-31')")
        schedule(world, "later", RunTimes="07:00")
        schedule(world, "soon", CalendarName="NL", CalendarRule="days_off")
        schedule(world, "off", Enabled=0)

        seen = overview.overview(world.transactions, world.clock, PRESENCE, timetable=table)

        assert [(one.schedule.name, one.next.local) for one in seen.coming] == [
            ("soon", "2026-11-21 06:00 +01:00"),
            ("later", "2026-11-21 07:00 +01:00"),
        ]
        assert [(one.calendar, one.schedules) for one in seen.ending] == [("NL", ("soon",))]

    def test_a_schedule_in_trouble_ails(self, world: World, table: Timetable) -> None:
        schedule(world)
        world.sql(
            "INSERT INTO SchedulerLog (EventType, Source, Entity, Message) VALUES ('error', 'schedule nightly', 'B', 'no')"
        )

        def ails() -> list[str]:
            return [one.source for one in overview.overview(world.transactions, world.clock, PRESENCE).dead_end_starts]

        assert ails() == ["schedule nightly"]
        world.sql("UPDATE Schedule SET NextRunTime = '2026-11-21 05:00:00'")
        assert ails() == []

    def test_why_says_what_starts_a_batch(self, world: World, table: Timetable) -> None:
        schedule(world)
        schedule(world, "off", Enabled=0)
        world.sql("UPDATE ProcessBatch SET ProcessingMode = 'scheduled'")

        def notes() -> tuple[str, ...]:
            return explain.why(world.transactions, world.clock, PRESENCE, "batch:B", table).notes[1:]

        assert notes() == (
            "Its mode is scheduled.",
            "Schedule nightly starts it: daily at 06:00, Europe/Amsterdam; next at 2026-11-21 06:00 +01:00.",
            "Schedule off is disabled: daily at 06:00, Europe/Amsterdam.",
        )
        world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
        assert notes()[:2] == (
            "Its mode is manual: no schedule is to start it.",
            "Schedule nightly is left alone, as the mode says: daily at 06:00, Europe/Amsterdam.",
        )
