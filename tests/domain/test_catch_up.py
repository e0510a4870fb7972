"""Every due time that has come is decided once, whatever was missed: compared with a reckoning that takes them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from batchctl.domain.scheduling import catch_up
from batchctl.domain.scheduling.catch_up import DISARMED, Decision, ScheduleStanding
from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan, jitter_of, plan_of, timing_hash
from batchctl.domain.scheduling.schedules import Calendar, CalendarId, Schedule, ScheduleId, Timing
from batchctl.domain.scheduling.undecided import Before, Undecided
from batchctl.domain.status import CatchUp, FireOutcome, ScheduleType
from tests.tiers import examples

NOW = datetime(2026, 11, 24, 9, 0, tzinfo=UTC)
GRACE = timedelta(minutes=5)
MINUTELY = Timing(schedule_type=ScheduleType.INTERVAL, interval_minutes=1)
DAILY = Timing(schedule_type=ScheduleType.DAILY, run_times="06:00")
NL = Calendar(calendar_id=CalendarId(1), name="NL")


def a_schedule(timing: Timing = DAILY, **given: object) -> Schedule:
    plain = Schedule(schedule_id=ScheduleId(1), name="s", entity="B", timing=timing, decided_until=NOW)
    return replace(plain, **given)  # type: ignore[arg-type]


def a_plan(timing: Timing = DAILY, calendar: Calendar | None = None) -> Plan:
    return plan_of(timing, "UTC", calendar)


def decide(schedule: Schedule, plan: Plan, now: datetime = NOW) -> Decision:
    return catch_up.decide(schedule, plan, now, GRACE)


def keys(decision: Decision) -> list[str]:
    return [*(fire.key for fire in decision.fires), *(skip.key for skip in decision.skips)]


def reckon(schedule: Schedule, instants: list[Instant], now: datetime) -> tuple[list[str], list[str], list[str]]:
    """Return what fires, what is skipped by itself or missed, and what has time yet, by taking all of it one by one."""
    reached, fires, others, waiting, missed = datetime.min.replace(tzinfo=UTC), [], [], [], []
    for instant in instants:
        skips = instant.outcome is InstantOutcome.SKIPPED
        wait = timedelta(0) if skips else jitter_of(schedule.name, instant, schedule.jitter)
        reached = max(reached, catch_up.due_of(instant) + wait)
        if reached > now:
            waiting.append(instant.key)
        elif skips:
            others.append(instant.key)
        elif reached + GRACE >= now:
            fires.append(instant.key)
        else:
            missed.append(instant.key)
    most = {CatchUp.NONE: 0, CatchUp.LATEST: 1, CatchUp.UP_TO: schedule.catch_up_most or 0}[schedule.catch_up]
    made_up = missed[max(0, len(missed) - most) :]
    return [*made_up, *fires], [*others, *missed[: len(missed) - len(made_up)]], waiting


@settings(max_examples=examples(300), deadline=None)
@given(
    minutes=st.sampled_from([1, 7, 60, 1440]),
    away=st.integers(0, 5 * 24 * 3600),
    most=st.integers(0, 5),
    jitter=st.sampled_from([0, 0, 30, 600, 7200]),
    has_calendar=st.booleans(),
)
def test_all_that_has_come_is_decided_once(minutes: int, away: int, most: int, jitter: int, has_calendar: bool) -> None:
    timing = replace(MINUTELY, interval_minutes=minutes, calendar_name="NL" if has_calendar else None)
    plan, policy = a_plan(timing, NL if has_calendar else None), (CatchUp.NONE, CatchUp.LATEST)
    schedule = a_schedule(
        timing,
        catch_up=policy[most] if most < len(policy) else CatchUp.UP_TO,
        catch_up_most=most if most >= len(policy) else None,
        jitter=timedelta(seconds=jitter),
        decided_until=NOW - timedelta(seconds=away),
    )
    instants = list(plan.instants(NOW - timedelta(seconds=away), NOW))
    fires, others, waiting = reckon(schedule, instants, NOW)
    decision = decide(schedule, plan)

    assert [fire.key for fire in decision.fires] == fires
    at = {instant.key: place for place, instant in enumerate(instants)}
    covered = list[int]()
    for skip in decision.skips:
        first, _, last = skip.key.partition("..")
        assert len(instants[at[first] : at[last or first] + 1]) == skip.instants
        assert (skip.due_until is not None) == bool(last)
        covered += range(at[first], at[last or first] + 1)
    assert sorted(covered) == sorted(at[key] for key in others)
    assert decision.decided_until == NOW if not waiting else decision.decided_until < NOW
    left = [one.key for one in plan.instants(decision.decided_until, NOW)]
    assert set(left) - set(keys(decision)) == set(waiting)


def test_a_year_of_minutes_is_one_row_and_soon_decided() -> None:
    year = a_schedule(MINUTELY, decided_until=NOW - timedelta(days=365), catch_up=CatchUp.UP_TO, catch_up_most=3)
    decision = decide(year, a_plan(MINUTELY))

    (stretch,) = decision.skips
    assert stretch.instants == catch_up.COUNTED
    assert stretch.key == "2025-11-24T09:01..2026-11-24T08:51"
    assert stretch.reason.startswith("more than 10,000 due times were missed")
    assert [fire.key[-5:] for fire in decision.fires] == [f"08:{at}" for at in range(52, 60)] + ["09:00"]


def test_what_lies_ten_years_back_is_not_looked_for() -> None:
    old = a_schedule(decided_until=datetime(1753, 1, 1, tzinfo=UTC))
    (stretch,) = decide(old, a_plan()).skips

    assert stretch.key == f"{(NOW - catch_up.LONGEST).date() + timedelta(days=1)}T06:00..2026-11-24T06:00"


def test_a_long_row_of_days_off_is_one_row_with_the_reason_of_the_first() -> None:
    timing = replace(MINUTELY, interval_minutes=60, calendar_name="NL")
    weekend = a_schedule(timing, decided_until=datetime(2026, 11, 20, 23, 59, tzinfo=UTC))
    decision = decide(weekend, a_plan(timing, NL), datetime(2026, 11, 22, 23, 59, tzinfo=UTC))

    (stretch,) = decision.skips
    assert (stretch.key, stretch.instants) == ("2026-11-21T00:00..2026-11-22T23:00", 48)
    assert stretch.reason.startswith("48 due times are skipped; of the first: 2026-11-21")


def test_what_is_skipped_anyway_is_told_when_it_is_due_but_by_the_hour() -> None:
    timing = replace(MINUTELY, calendar_name="NL")
    plan, friday = a_plan(timing, NL), datetime(2026, 11, 20, 23, 59, tzinfo=UTC)
    monday = datetime(2026, 11, 23, tzinfo=UTC)

    assert catch_up.wakes_at(plan, ScheduleStanding(monday, friday, "h"), friday) == friday + timedelta(hours=1)
    daily = a_plan(replace(DAILY, calendar_name="NL"), NL)
    saturday = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)
    assert catch_up.wakes_at(daily, ScheduleStanding(monday, friday, "h"), friday) == saturday
    assert catch_up.wakes_at(daily, DISARMED, friday) is None


def test_one_that_is_never_due_again_still_tells_what_it_skips() -> None:
    timing = replace(DAILY, calendar_name="NL", end_date="2026-11-21")
    plan, friday = a_plan(timing, NL), datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

    wakes_at = catch_up.wakes_at(plan, ScheduleStanding(None, friday, "h"), friday)
    assert wakes_at == datetime(2026, 11, 21, 6, 0, tzinfo=UTC)


def test_arming() -> None:
    plan, hashed = a_plan(), timing_hash(DAILY, "UTC")
    earlier, today = NOW - timedelta(days=3), datetime(2026, 11, 25, 6, 0, tzinfo=UTC)

    def arm(plan: Plan | None = plan, *, is_let: bool = True, **given: object) -> ScheduleStanding:
        return catch_up.arm(a_schedule(**given), plan, hashed, NOW, is_let=is_let)  # type: ignore[arg-type]

    assert arm(timing_hash=None, decided_until=earlier).decided_until == earlier
    assert arm(timing_hash="another", decided_until=earlier) == ScheduleStanding(today, NOW, hashed)
    assert arm(timing_hash=hashed, decided_until=earlier).next_run_time == earlier.replace(hour=6) + timedelta(days=1)
    assert arm(timing_hash=hashed, decided_until=None) == ScheduleStanding(today, NOW, hashed)
    assert arm(timing_hash=hashed, decided_until=NOW + timedelta(days=1)) == ScheduleStanding(today, NOW, hashed)
    assert arm(enabled=False, decided_until=earlier) == DISARMED
    assert arm(is_let=False, decided_until=earlier) == DISARMED
    assert arm(None, timing_hash="h", decided_until=earlier) == ScheduleStanding(None, earlier, "h")


def test_what_was_decided_before_is_left_alone_and_counted_nowhere() -> None:
    was = Before("2026-11-22T06:00", FireOutcome.SKIPPED, NOW, None, None)
    decided = {"2026-11-21T06:00": was, "2026-11-23T06:00": was, "2026-11-25T06:00": was}
    asked = list[str]()

    def ask(keys: Sequence[str]) -> dict[str, Before]:
        asked.extend(keys)
        return {key: decided[key] for key in keys if key in decided}

    undecided = Undecided(a_plan(), ask)
    schedule = a_schedule(decided_until=NOW - timedelta(days=4), catch_up=CatchUp.UP_TO, catch_up_most=1)
    decision = catch_up.decide(schedule, undecided, NOW, GRACE)

    assert keys(decision) == ["2026-11-24T06:00", "2026-11-22T06:00..2026-11-22T06:00"]
    assert decision.skips[0].instants == 1
    assert catch_up.next_run(schedule, undecided, NOW, NOW) == datetime(2026, 11, 26, 6, 0, tzinfo=UTC)
    assert [instant.key for instant, _ in undecided.passed] == ["2026-11-25T06:00"]
    assert len(asked) == len({*asked}), "nothing is asked twice"


def test_the_day_is_that_of_the_schedule() -> None:
    timing = replace(DAILY, time_zone="Pacific/Auckland")
    plan = a_plan(timing)
    now = datetime(2026, 11, 23, 17, 0, tzinfo=UTC)
    (fire,) = decide(a_schedule(timing, decided_until=now - timedelta(hours=1)), plan, now).fires

    assert fire.instant.business_date == date(2026, 11, 24)
