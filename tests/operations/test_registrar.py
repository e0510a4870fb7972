"""Adding SQL that runs once or daily: what is refused, what is told, and what becomes of a name that was used before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.definitions.sql_jobs import comes_twice, wall_time
from batchctl.domain.errors import Refused
from tests.control_databases import ControlDatabase
from tests.sql_shop import SqlShop


@pytest.fixture
def shop(control_database: ControlDatabase, request: pytest.FixtureRequest) -> Iterator[SqlShop]:
    made = SqlShop(control_database, lambda: request.getfixturevalue("postgres"))
    yield made
    made.close()


def wall(text: str) -> datetime:
    found = wall_time(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"connection": "shpo"}, "Connection 'shpo' is not in the configuration. Did you mean 'shop'?"),
        ({"sql": "  \n"}, "The SQL cannot be kept: there is nothing in it."),
        ({"sql": "SELECT '\x00'"}, "The SQL cannot be kept: it contains a NUL character."),
        ({"sql": "file:tidy.sql"}, "The SQL cannot be kept: 'file:' begins no SQL; to take it from a file: --file"),
        ({"sql": "SELECT 'open"}, "The SQL could never be carried out: .*a ' is never closed with '"),
        ({"sql": "BEGIN; SELECT 1"}, "The SQL could never be carried out: .*every step is one transaction already"),
        ({"name": " x"}, "The job cannot be called so: it begins or ends with a blank."),
        ({"name": ""}, "The job cannot be called so: it is empty."),
        ({"name": "x\u202ey"}, "The job cannot be called so: it holds invisible characters"),
        ({"name": "x" * 201}, "The job cannot be called so: it is longer than 200 characters."),
        ({"at": wall("2040-01-01 02:00:30"), "is_daily": True}, "a daily job begins at a whole minute: write 2040-01-01 02:01"),
    ],
)  # fmt: skip
def test_what_could_never_run_is_refused_at_once(shop: SqlShop, given: dict[str, Any], said: str) -> None:
    job = {"name": "job", "sql": "SELECT 1", **given}

    with pytest.raises(Refused, match=said) as refused:
        shop.add(str(job.pop("name")), str(job.pop("sql")), **job)

    assert refused.value.next_step
    assert shop.counts() == [0, 0, 0]


def test_a_name_that_a_schedule_has_is_refused(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")

    with pytest.raises(Refused, match="There is a schedule 'job' already") as refused:
        shop.add("job", "SELECT 2")

    assert "batchctl schedule remove job --reason ..." in str(refused.value.next_step)


@pytest.mark.parametrize("columns", [("load", None), ("Nightly", "load")])
def test_a_name_that_starts_another_batch_is_refused(shop: SqlShop, columns: tuple[str, str | None]) -> None:
    shop.sql("INSERT INTO ProcessBatch (ProcessBatchName, Entity) VALUES (?, ?)", *columns)

    with pytest.raises(Refused, match=f"Batch {columns[0]} takes entity 'load' already"):
        shop.add("load", "SELECT 1")


def test_a_dry_run_writes_nothing_and_shows_the_command(shop: SqlShop) -> None:
    added = shop.add("job", "SELECT 'dry'", dry_run=True)

    assert added.schedule_id is None
    assert "SELECT 'dry'" in added.command_text
    assert shop.counts() == [0, 0, 0]


def test_a_time_that_clocks_leave_out_is_told_and_runs_at_the_first_moment_after_it(shop: SqlShop) -> None:
    added = shop.add("job", "SELECT 1", at=wall("2040-03-25 02:30"), zone="Europe/Amsterdam")

    assert added.first.local == "2040-03-25 03:00 +02:00"
    assert added.notes == ("2040-03-25 02:30 does not exist in Europe/Amsterdam: the clocks go on at 2040-03-25 03:00",)


def test_a_time_that_comes_twice_is_told_and_runs_the_first_time(shop: SqlShop) -> None:
    added = shop.add("job", "SELECT 1", at=wall("2040-10-28 02:30"), zone="Europe/Amsterdam")

    assert added.first.local == "2040-10-28 02:30 +02:00"
    assert "comes twice in Europe/Amsterdam" in added.notes[0]
    assert not comes_twice(wall("2040-10-28 03:30"), "Europe/Amsterdam")


def test_whose_time_it_is_stands_in_the_row(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1", at=wall("2040-12-01 02:00"), zone="Asia/Tokyo")

    assert shop.sql("SELECT RunAt, TimeZone, NextRunTime FROM Schedule") == [
        ("2040-12-01 02:00", "Asia/Tokyo", "2040-11-30 17:00:00.000")
    ]


def test_a_disabled_job_is_not_armed(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1", enabled=False)

    assert shop.sql("SELECT Enabled, NextRunTime, DecidedUntil, TimingHash FROM Schedule") == [(0, None, None, None)]


def test_a_new_job_of_a_name_takes_over_the_history_of_the_old_one(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")
    shop.pass_time()
    shop.run()
    shop.remove("job")
    assert shop.sql("SELECT Enabled FROM ProcessBatch") == [(0,)]

    shop.add("job", "SELECT 2")
    shop.pass_time()
    shop.run()

    assert [row[:3] for row in shop.history()] == [("job", 1, "success"), ("job", 1, "success")]
    assert "SELECT 2" in shop.sql("SELECT CommandText FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")[1][0]


def test_what_is_left_of_an_old_job_would_run_the_new_sql_so_that_is_refused(shop: SqlShop) -> None:
    shop.add("job", "SELECT x FROM y")
    shop.pass_time()
    shop.run()
    shop.sql("DELETE FROM ScheduleFire")
    shop.sql("DELETE FROM Schedule")

    with pytest.raises(Refused, match="BatchControl 1 of an earlier job 'job' is failed: it would run the new SQL"):
        shop.add("job", "SELECT 1")


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-13-01 02:00", "2026-12-01", "2026-12-01 25:00", "2026-12-01 2:00"]
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert wall_time(text) is None


def test_seconds_and_a_t_are_understood() -> None:
    assert wall_time("2026-12-01T02:00:05") == datetime(2026, 12, 1, 2, 0, 5)  # noqa: DTZ001 - wall time


def test_a_daily_job_of_a_time_that_is_over_is_told_the_next_such_time(shop: SqlShop) -> None:
    with pytest.raises(Refused, match="2020-12-01 02:00 is over") as refused:
        shop.add("job", "SELECT 1", at=wall("2020-12-01 02:00"), is_daily=True)

    tomorrow = shop.now + timedelta(days=1)
    days = {(shop.now if now_too else tomorrow).date().isoformat() for now_too in (True, False)}
    assert refused.value.next_step in {f"the same with --at '{day} 02:00', the next such time" for day in days}


@pytest.mark.parametrize(
    ("sql", "command"),
    [
        ("SELECT 'x'", """batchctl task 'SELECT '"'"'x'"'"'' --connection shop"""),
        ("SELECT 1;\nSELECT 2", "batchctl task - --connection shop   (with the SQL on standard input)"),
        ("SELECT 1 --" + "x" * 200, "batchctl task - --connection shop   (with the SQL on standard input)"),
    ],
)
def test_what_is_to_run_at_once_is_told_as_a_whole_command(shop: SqlShop, sql: str, command: str) -> None:
    with pytest.raises(Refused, match="2020-12-01 02:00 is over") as refused:
        shop.add("job", sql, at=wall("2020-12-01 02:00"))

    assert refused.value.next_step == f"a later --at; what is to run at once: {command}"


def test_a_job_whose_only_time_is_over_is_done(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")
    shop.add("off", "SELECT 1", enabled=False)
    shop.add("by hand", "SELECT 1")
    shop.sql("UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = 'by hand'")
    before = {name: one.state for name, one in shop.jobs().items()}
    shop.pass_time()
    shop.run()

    assert before == {"job": "enabled", "off": "disabled", "by hand": "disabled"}
    assert shop.jobs()["job"].state == "done"
    assert shop.jobs()["off"].state == "disabled"


def test_an_error_is_over_once_a_later_run_has_succeeded(shop: SqlShop) -> None:
    shop.add("job", "SELECT Name FROM Later")
    shop.pass_time()
    shop.run()
    (before,) = shop.jobs().values()
    shop.target("CREATE TABLE Later (Name varchar(50))")
    shop.rerun(1)
    shop.run()
    (after,) = shop.jobs().values()

    assert before.error is not None
    assert before.failed is not None
    assert before.failed.status == "failed"
    assert after.error is None
    assert after.standing.last_error == before.error, "which the JSON still tells"
