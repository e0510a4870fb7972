"""Correcting the SQL of a job: what is refused, what becomes of its runs, and who is told of the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from batchctl.cli import main
from batchctl.domain.errors import NotFound, Refused
from batchctl.operations import explain
from batchctl.operations.overview import overview
from tests.control_databases import ControlDatabase
from tests.sql_shop import SqlShop

WRONG = "INSERT INTO Item (Nmae) VALUES ('x')"
RIGHT = "INSERT INTO Item (Name) VALUES ('{x}')"
COMMAND = "batchctl schedule set-sql job --sql ... --reason ..."


@pytest.fixture
def shop(control_database: ControlDatabase, request: pytest.FixtureRequest) -> Iterator[SqlShop]:
    made = SqlShop(control_database, lambda: request.getfixturevalue("postgres"))
    yield made
    made.close()


@pytest.fixture
def failed(shop: SqlShop) -> SqlShop:
    """Let a job have failed whose SQL is wrong."""
    shop.add("job", WRONG)
    shop.pass_time()
    shop.run()
    assert shop.sql("SELECT Status FROM BatchControl") == [("failed",)]
    return shop


def test_a_failed_run_carries_out_the_corrected_sql_once_it_is_rerun(failed: SqlShop) -> None:
    done = failed.correct("job", RIGHT)
    failed.rerun(1)
    failed.run()

    assert (done.is_changed, done.failed, done.running) == (True, (1,), ())
    assert failed.target("SELECT Name FROM Item") == [("{x}",)], "nothing in it is a placeholder"
    assert failed.sql("SELECT Status FROM BatchControl") == [("complete",)]


def test_it_is_audited_with_what_stood_there_and_what_stands_there(failed: SqlShop) -> None:
    failed.correct("job", RIGHT)

    ((target, reason, before, after),) = failed.sql(
        "SELECT Target, Reason, ValuesBefore, ValuesAfter FROM AuditLog WHERE Action = 'set-sql'"
    )
    assert (target, reason) == ("Schedule:job", "it was wrong")
    assert json.loads(before) == {"Data2": WRONG}
    assert json.loads(after) == {"Data2": "INSERT INTO Item (Name) VALUES ('{{x}}')"}


def test_its_times_and_its_connection_stay(shop: SqlShop) -> None:
    shop.add("job", WRONG, is_daily=True)
    asked = "SELECT NextRunTime, TimingHash, Enabled, Data1 FROM Schedule, ProcessControl"
    before = shop.sql(asked)

    shop.correct("job", RIGHT)

    assert shop.sql(asked) == before


@pytest.mark.parametrize("given", ["INSERT 'open", "BEGIN; SELECT 1", " ", "file:x.sql", "SELECT '\x00'"])
def test_what_could_never_run_is_refused_and_nothing_is_written(failed: SqlShop, given: str) -> None:
    with pytest.raises(Refused, match="The SQL c") as refused:
        failed.correct("job", given)

    assert "Data2" not in refused.value.message, "whoever writes SQL knows no columns"
    assert refused.value.next_step == "correct it, and give it again"
    assert failed.sql("SELECT Data2 FROM ProcessControl") == [(WRONG,)]


def test_what_a_parser_objects_to_is_told(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")

    notes = shop.correct("job", "SELECT 1; SELEKT 2").rehearsed.notes

    assert notes == (('statement 2 of 2: near "SELEKT": syntax error',) if shop.kind == "sqlite" else ())


def test_a_dry_run_and_the_same_sql_once_more_write_nothing(failed: SqlShop) -> None:
    dry = failed.correct("job", RIGHT, dry_run=True)
    same = failed.correct("job", WRONG)

    assert (dry.is_changed, same.is_changed) == (True, False)
    assert "'{x}'" in dry.rehearsed.command_text
    assert failed.sql("SELECT Data2 FROM ProcessControl") == [(WRONG,)]
    assert failed.sql("SELECT count(*) FROM AuditLog WHERE Action = 'set-sql'") == [(0,)]


def test_a_run_that_waits_for_its_retry_takes_the_new_sql(shop: SqlShop) -> None:
    shop.add("job", "INSERT INTO Item SELECT Name FROM Later" if shop.kind == "sqlite" else "SELECT 1/0", retries=3)
    shop.sql("UPDATE ProcessBatch SET RetryWaitMins = 1")
    shop.pass_time()
    shop.run()
    if shop.kind == "postgresql":
        # The server says of hardly anything that trying again may help.
        shop.sql("UPDATE BatchControl SET Status = 'retry'")

    done = shop.correct("job", RIGHT)
    shop.pass_time(timedelta(minutes=2))
    shop.run()

    assert (done.retrying, done.failed) == ((1,), ())
    assert shop.sql("SELECT Status FROM BatchControl") == [("complete",)]


def test_a_run_under_way_is_told(failed: SqlShop) -> None:
    failed.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c1'")

    assert failed.correct("job", RIGHT).running == (1,)


def test_what_is_no_job_of_sql_has_none_to_correct(shop: SqlShop) -> None:
    shop.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('load', 'x', 'daily', '02:00')"
    )

    with pytest.raises(Refused, match="Schedule load is no job that add-sql has made"):
        shop.correct("load", RIGHT)
    with pytest.raises(NotFound, match="There is no schedule 'laod'"):
        shop.correct("laod", RIGHT)


def test_a_job_whose_step_somebody_has_taken_away_is_refused(failed: SqlShop) -> None:
    failed.sql("UPDATE ProcessControl SET ProcessControlSeq = 20")

    with pytest.raises(Refused, match="no batch with a step 10 of type sql any more"):
        failed.correct("job", RIGHT)


def test_whoever_looks_at_a_failed_run_is_told_how_to_correct_it(failed: SqlShop) -> None:
    with failed.app() as app:
        (failing,) = overview(app.transactions, app.clock, app.presence).failing
        explained = explain.why(app.transactions, app.clock, app.presence, "1")

    assert failing.clear == f"batchctl rerun 1 --reason ...   (if its SQL is wrong, first: {COMMAND})"
    assert explained.blocking[0].clear == failing.clear


def test_where_no_retry_can_help_the_correction_comes_first(failed: SqlShop) -> None:
    failed.sql("UPDATE BatchControl SET RetryCount = 2")

    with failed.app() as app:
        (failing,) = overview(app.transactions, app.clock, app.presence).failing

    assert failing.clear == (
        f"{COMMAND}   (if its SQL is wrong: batchctl history 1), then: batchctl rerun 1 --reason ..."
    )


def test_a_value_that_the_sql_does_not_use_corrects_nothing_so_that_is_refused(failed: SqlShop) -> None:
    with pytest.raises(Refused, match="No step of job job uses Data2") as refused:
        failed.rerun(1, corrections={"Data2": "select 1"})

    assert COMMAND in str(refused.value.next_step)
    assert failed.sql("SELECT Status FROM BatchControl") == [("failed",)]


CONNECTION = "batchctl schedule set-sql job --connection ... --reason ..."


@pytest.fixture
def astray(shop: SqlShop) -> SqlShop:
    """Let a job have failed whose connection is misspelt."""
    shop.add("job", RIGHT)
    shop.sql("UPDATE ProcessControl SET Data1 = 'shpo'")
    shop.pass_time()
    shop.run()
    assert shop.sql("SELECT Status FROM BatchControl") == [("failed",)]
    return shop


def test_a_connection_is_corrected_by_the_same_command_and_the_run_goes_on(astray: SqlShop) -> None:
    done = astray.correct("job", None, "shop")
    astray.rerun(1)
    astray.run()

    assert (done.before, done.after) == ({"Data1": "shpo"}, {"Data1": "shop"})
    assert astray.sql("SELECT Status FROM BatchControl") == [("complete",)]
    noted = astray.sql("SELECT ValuesBefore, ValuesAfter FROM AuditLog WHERE Action = 'set-sql'")
    assert [json.loads(each) for each in noted[0]] == [{"Data1": "shpo"}, {"Data1": "shop"}]


def test_where_the_connection_is_wrong_the_command_names_that(astray: SqlShop) -> None:
    with astray.app() as app:
        (failing,) = overview(app.transactions, app.clock, app.presence).failing
        explained = explain.why(app.transactions, app.clock, app.presence, "1")
    assert failing.clear == (
        f"{CONNECTION}, or add [connections.shpo] to batchctl.toml and restart the controllers,"
        " then: batchctl rerun 1 --reason ..."
    )
    assert explained.blocking[0].clear == failing.clear

    with pytest.raises(Refused, match="--connection: connection 'shpo' is not in the configuration") as refused:
        astray.correct("job", "SELECT 1")
    assert refused.value.next_step == "the same with --connection NAME"
    with pytest.raises(Refused, match="No step of job job uses Data1") as refused:
        astray.rerun(1, corrections={"Data1": "shop"})
    assert CONNECTION in str(refused.value.next_step)


def test_show_and_jobs_name_it_too(astray: SqlShop, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["show", "1"], ["schedule", "jobs"]):
        capsys.readouterr()
        main.run(["--config", str(astray.file), *words])
        assert CONNECTION in capsys.readouterr().out
    assert (
        main.run(
            ["--config", str(astray.file), *["schedule", "set-sql", "job", "--connection", "shop", "--reason", "x"]]
        )
        == 0
    )
    assert "The connection of job job is changed." in capsys.readouterr().out
