"""Crontab files are read as cron reads them, and all that they say is accounted for."""

from __future__ import annotations

import random
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from batchctl.domain.definitions.crontabs import jobs_of
from batchctl.domain.definitions.defined import Columns
from batchctl.domain.definitions.foreign_jobs import ForeignJob, MappedHow
from batchctl.domain.scheduling.due import plan_of
from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.status import ScheduleType


def jobs(text: str, *, with_user: bool = False, zone: str | None = None) -> list[ForeignJob]:
    return jobs_of(text, "tab", with_user=with_user, zone=zone, taken=[])


def only(text: str, *, with_user: bool = False) -> ForeignJob:
    (found,) = jobs(text, with_user=with_user)
    return found


def step(job: ForeignJob) -> Columns:
    return job.defined[0].parts["ProcessControl"][10]


def cron(job: ForeignJob) -> object:
    return job.defined[1].columns["Cron"]


def test_a_line_is_a_batch_with_a_step_and_a_schedule_all_disabled() -> None:
    job = only("# Load the orders\n# of the night\n30 2 * * mon-fri /srv/etl/load_orders.sh --day 1\n")
    batch, schedule = job.defined

    assert (job.where, job.name, job.how) == ("tab:3", "load_orders", MappedHow.WHOLE)
    assert batch.columns == {"Enabled": 0, "OnFailure": "continue", "Description": "Load the orders of the night"}
    assert step(job) == {
        "ProcessName": "load_orders",
        "ProcessType": "os_command",
        "Data1": "/bin/sh -c '/srv/etl/load_orders.sh --day 1'",
    }
    assert schedule.columns == {
        "Entity": "load_orders",
        "ScheduleType": "cron",
        "Cron": "30 2 * * 1-5",
        "Enabled": 0,
    }


def test_settings_hold_for_the_lines_below_them() -> None:
    first, second = jobs(
        "0 1 * * * a\nSHELL=/bin/bash\nPATH = \"/opt/bin:/bin\"\n'HOME'=/srv\nIT='{x}'\nCRON_TZ=Europe/Amsterdam\n0 2 * * * b\n"
    )

    assert "Data4" not in step(first)
    assert step(second)["Data1"] == "/bin/bash -c b"
    assert step(second)["Data2"] == "/srv"
    assert step(second)["Data4"] == "PATH='/opt/bin:/bin', HOME='/srv', IT='{{x}}'"
    assert second.defined[1].columns["TimeZone"] == "Europe/Amsterdam"
    assert [(one.parameter, one.became) for one in second.mapped] == [
        ("times", "Schedule.Cron"),
        ("SHELL", "ProcessControl.Data1"),
        ("PATH", "ProcessControl.Data4"),
        ("HOME", "ProcessControl.Data2"),
        ("IT", "ProcessControl.Data4"),
        ("CRON_TZ", "Schedule.TimeZone"),
        ("command", "ProcessControl.Data1"),
    ]


def test_behind_a_percent_sign_stands_what_the_command_reads() -> None:
    job = only(r"0 1 * * * sort \%1 > out%b%a\%")

    assert step(job)["Data1"] == ("""/bin/sh -c 'printf '"'"'%s'"'"' '"'"'b\na%\n'"'"' | {{ sort %1 > out\n}}'""")
    assert only("SHELL=/bin/csh\n0 1 * * * sort%b").how is MappedHow.NOT


@pytest.mark.parametrize(
    ("nickname", "fields"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_nicknames(nickname: str, fields: str) -> None:
    assert cron(only(f"{nickname} true")) == fields


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@reboot true", "nothing starts when a host does"),
        ("@sometimes true", "no times"),
        ("5/15 * * * * true", "a step goes with a range or *"),
        ("*/0 * * * * true", "'0' is no step"),
        ("0~30 * * * * true", "a time drawn by chance"),
        ("60 * * * * true", "'60' is not from 0 to 59"),
        ("0 0 * * sat-sun true", "sat-sun goes backwards"),
        ("0 0 L * * true", "'L' is not from 1 to 31"),
        ("0 0 31 2 * true", "it is never due"),
        ("just words", "has no command"),
        ("0 1 * * *", "has no command"),
    ],
)
def test_what_cannot_be_mapped_is_named(line: str, said: str) -> None:
    job = only(line)
    assert job.how is MappedHow.NOT
    assert said in " ".join(job.findings)


def test_a_column_names_the_user() -> None:
    job = only("17 * * * * root run-parts /etc/cron.hourly\n", with_user=True)
    assert (job.how, job.name) == (MappedHow.WITH_FINDINGS, "run-parts")
    assert "it ran as root" in " ".join(job.findings)
    assert "has no command behind its times and user" in " ".join(only("0 1 * * * true", with_user=True).findings)


def test_a_secret_of_the_environment_is_neither_written_nor_shown() -> None:
    job = only("DB_PASSWORD=hunter2\n0 1 * * * true\n")
    assert step(job)["Data4"] == "DB_PASSWORD={secret:DB_PASSWORD}"
    assert job.how is MappedHow.WITH_FINDINGS
    assert "hunter2" not in str(job)


def test_what_nothing_is_made_of_is_accounted_for() -> None:
    job = only("MAILTO=ops@example.com\nRANDOM_DELAY=30\nCRON_TZ=Mars/Olympus\n-0 1 * * * true\n")
    said = {one.parameter: one for one in job.mapped}
    assert said["MAILTO"].note is not None
    assert "Schedule.Jitter" in str(said["RANDOM_DELAY"].finding)
    assert "is not a time zone" in str(said["CRON_TZ"].finding)
    assert job.how is MappedHow.WITH_FINDINGS


def test_names_differ_in_more_than_letter_case() -> None:
    commands = ("cd /srv && ./Load.sh", "/opt/load.py", "python3 /opt/load.py", "FOO=1 nice -n 5 ./x", ":")
    text = "\n".join(f"0 1 * * * {command}" for command in commands)
    assert [one.name for one in jobs(text)] == ["Load", "load 2", "load 3", "x", "cron"]


# The same due times as cron's, reckoned by another program: minute by minute, as crontab(5) says it.


def field_of(text: str, least: int, most: int) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step_ = part.partition("/")
        first, _, last = (f"{least}-{most}" if span == "*" else span).partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step_ or 1)))
    return found


def days_of(fields: Sequence[str], start: date, years: int) -> Iterator[date]:
    months, days = field_of(fields[3], 1, 12), field_of(fields[2], 1, 31)
    weekdays = {each % 7 for each in field_of(fields[4], 0, 7)}
    either = not fields[2].startswith("*") and not fields[4].startswith("*")
    for year in range(start.year, start.year + years):
        for month in sorted(months):
            for day in range(1, monthrange(year, month)[1] + 1):
                one = date(year, month, day)
                is_day, is_weekday = day in days, one.isoweekday() % 7 in weekdays
                if one >= start and ((is_day or is_weekday) if either else (is_day and is_weekday)):
                    yield one


def walked(fields: Sequence[str], after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield what is due on days on which no clock is changed."""
    minutes, hours = sorted(field_of(fields[0], 0, 59)), sorted(field_of(fields[1], 0, 23))
    for day in days_of(fields, after.astimezone(zone).date(), 60):
        for hour in hours:
            for minute in minutes:
                due = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone).astimezone(UTC)
                if due > after:
                    yield due


def drawn(chance: random.Random) -> str:
    def one(least: int, most: int) -> str:
        first = chance.randint(least, most)
        last = chance.randint(first, most)
        step_ = f"/{chance.randint(1, 12)}" if chance.random() < 0.4 else ""
        return chance.choice(["*", f"*/{chance.randint(1, 20)}", str(first), f"{first}-{last}{step_}"])

    def field_(least: int, most: int) -> str:
        return ",".join(one(least, most) for _ in range(1 if chance.random() < 0.8 else 2))

    return " ".join(field_(*each) for each in ((0, 59), (0, 23), (1, 28), (1, 12), (0, 7)))


ZONES = ("UTC", "Asia/Tokyo", "Africa/Lagos")
"""Whose clocks are not changed."""
NIGHTS = (
    ("Europe/Amsterdam", datetime(2026, 3, 29, 1, tzinfo=UTC)),
    ("Europe/Amsterdam", datetime(2026, 10, 25, 1, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 3, 8, 7, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 6, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 15, tzinfo=UTC)),
)
"""When clocks are changed."""


@pytest.mark.parametrize("seed", range(40))
def test_a_line_is_due_when_cron_says(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        fields, zone = drawn(chance), chance.choice(ZONES)
        job = only(f"{fields} true")
        after = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(525_600))
        timing = Timing(schedule_type=ScheduleType.CRON, cron=str(cron(job)), time_zone=zone)
        until = after + timedelta(days=18_000)
        instants = plan_of(timing, "UTC", None).instants(after, until)
        due = walked(fields.split(), after, ZoneInfo(zone))
        expected = [one for one in islice(due, 200) if one <= until]
        assert [one.due for one in islice(instants, 200)] == expected, (fields, zone)


def walked_over(fields: Sequence[str], change: datetime, zone: ZoneInfo) -> list[datetime]:
    """Return what is due around a change of clocks, as cron of Debian says it.

    What has * for its minute or hour goes by the minutes as they pass. What has not is due right after clocks go forward if
    they left its time out, and once where they show its time twice.
    """
    minutes, hours = field_of(fields[0], 0, 59), field_of(fields[1], 0, 23)
    days = {*days_of(fields, change.date() - timedelta(days=3), 1)}
    is_rhythm = fields[0].startswith("*") or fields[1].startswith("*")
    found, seen, before = list[datetime](), set[datetime](), None
    for minute in range(-6 * 60, 6 * 60):
        moment = change + timedelta(minutes=minute)
        wall = moment.astimezone(zone).replace(tzinfo=None)
        passed = [wall]
        if before is not None and wall > before + timedelta(minutes=1):
            passed = [before + timedelta(minutes=1 + each) for each in range((wall - before) // timedelta(minutes=1))]
        matching = {
            one
            for one in (([wall]) if is_rhythm else passed)
            if one.minute in minutes and one.hour in hours and one.date() in days
        }
        if matching - (set() if is_rhythm else seen):
            found.append(moment)
        seen |= matching
        before = wall
    return found


@pytest.mark.parametrize(("zone", "change"), NIGHTS)
def test_a_line_is_due_when_cron_says_while_clocks_are_changed(zone: str, change: datetime) -> None:
    chance = random.Random(f"{zone}{change}")
    for number in range(40):
        minute, hour, *_ = drawn(chance).split()
        fields = f"{minute} {hour if number % 2 else chance.choice(['0-4', '1,2', '2', '1-3/2', '*'])} * * *"
        timing = Timing(schedule_type=ScheduleType.CRON, cron=str(cron(only(f"{fields} true"))), time_zone=zone)
        begin, end = change - timedelta(hours=6, minutes=1), change + timedelta(hours=6) - timedelta(minutes=1)
        instants = plan_of(timing, "UTC", None).instants(begin, end)
        due = sorted({one.due for one in instants if one.due is not None})
        assert due == walked_over(fields.split(), change, ZoneInfo(zone)), (fields, zone)
