"""Removing schedules: what goes, what stays, and what becomes of work that is open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from batchctl.domain.errors import NotFound
from batchctl.node import Node
from tests.control_databases import ControlDatabase
from tests.sql_shop import SqlShop


@pytest.fixture
def shop(control_database: ControlDatabase, request: pytest.FixtureRequest) -> Iterator[SqlShop]:
    made = SqlShop(control_database, lambda: request.getfixturevalue("postgres"))
    yield made
    made.close()


def ran(shop: SqlShop, sql: str = "SELECT 1") -> None:
    """Let a job have run once."""
    shop.add("job", sql, is_daily=True)
    shop.pass_time(timedelta(minutes=4))
    shop.run()


def test_a_job_with_a_history_keeps_it_in_a_disabled_batch(shop: SqlShop) -> None:
    ran(shop)

    done = shop.remove("job")

    assert (done.trail.fires, done.batch, done.is_batch_removed) == (1, "job", False)
    assert shop.counts() == [1, 1, 0]
    assert shop.sql("SELECT Enabled FROM ProcessBatch") == [(0,)]
    assert shop.sql("SELECT count(*) FROM ScheduleFire") == [(0,)]
    assert shop.sql("SELECT Status FROM BatchControl") == [("complete",)]


def test_what_was_wrong_with_a_job_that_is_kept_for_its_history_is_no_finding_any_more(shop: SqlShop) -> None:
    ran(shop)
    shop.sql("UPDATE ProcessControl SET Data1 = 'nowhere'")
    with shop.app() as app:
        assert "ProcessControl" in {one.table for one in app.check()}

    shop.remove("job")

    with shop.app() as app:
        assert app.check() == ()
        shop.sql("UPDATE ProcessBatch SET Enabled = 1")
        assert "ProcessControl" in {one.table for one in app.check()}, "somebody wants it to run again"


def test_what_it_was_stands_in_the_audit_log(shop: SqlShop) -> None:
    ran(shop)
    shop.remove("job")

    ((before,),) = shop.sql("SELECT ValuesBefore FROM AuditLog WHERE Action = 'remove' AND Target = 'Schedule:job'")

    assert '"ScheduleName": "job"' in before
    assert '"ScheduleType": "daily"' in before
    assert '"ScheduleFires": 1' in before


def test_what_failed_or_waits_is_cancelled_and_its_row_is_done(shop: SqlShop) -> None:
    ran(shop, "SELECT x FROM y")
    assert shop.sql("SELECT Status FROM BatchControl") == [("failed",)]

    done = shop.remove("job")

    assert (done.cancelled, done.columns()["StatusBefore"]) == ((1,), ["failed"])
    assert shop.sql("SELECT Status FROM BatchControl") == [("cancelled",)]
    assert shop.sql("SELECT Status FROM FileProcess") == [("complete",)]
    assert shop.sql("SELECT Reason FROM AuditLog WHERE Target = 'BatchControl:1'") == [("not wanted any more",)]


def test_a_run_under_way_goes_on_to_its_end(shop: SqlShop) -> None:
    ran(shop, "SELECT x FROM y")
    shop.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c1'")

    done = shop.remove("job")

    assert (done.cancelled, done.left) == ((), (1,))
    assert shop.sql("SELECT Status FROM BatchControl") == [("running",)]
    assert shop.sql("SELECT Enabled FROM ProcessBatch") == [(1,)], "or its retries would never be made"


def test_of_a_job_whose_runs_were_purged_the_lengths_stay_with_its_batch(shop: SqlShop) -> None:
    ran(shop)
    for table in ("ScheduleFire", "BatchProcessHistory", "BatchControl", "FileProcess"):
        shop.sql(f"DELETE FROM {table}")
    shop.sql(
        "INSERT INTO DurationHistory (ProcessBatch_id, ProcessControlSeq, Day, UpToMs, Runs, TotalMs, MinMs, MaxMs)"
        " SELECT ProcessBatch_id, 10, '2026-11-01', 10, 1, 5, 5, 5 FROM ProcessBatch"
    )

    assert not shop.remove("job").is_batch_removed
    assert shop.sql("SELECT Enabled FROM ProcessBatch") == [(0,)]


def test_a_row_that_nothing_was_made_of_is_rejected_with_the_reason(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")
    shop.sql("INSERT INTO FileProcess (Entity) VALUES ('job')")

    done = shop.remove("job")

    said = "schedule 'job' was removed by anna@host1: not wanted any more"
    assert done.rejected == (1,)
    assert shop.sql("SELECT Status, Message FROM FileProcess") == [("rejected", said)]
    assert shop.run().started == 0


def test_the_batch_of_any_other_schedule_stays_as_it_is(shop: SqlShop) -> None:
    shop.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load')")
    shop.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, IntervalMinutes) VALUES ('often', 'Load', 'interval', 5)"
    )
    shop.sql("INSERT INTO FileProcess (Entity) VALUES ('Load')")
    with shop.app() as app:
        Node(app).create()

    done = shop.remove("often")

    assert (done.batch, done.cancelled) == (None, ())
    assert shop.sql("SELECT Enabled FROM ProcessBatch") == [(1,)]
    assert shop.sql("SELECT Status FROM BatchControl") == [("ready",)]
    assert shop.counts() == [1, 0, 0]


def test_a_batch_that_another_schedule_has_come_to_use_stays_as_it_is(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")
    shop.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, Cron) VALUES ('too', 'job', 'cron', '0 3 * * *')"
    )

    assert shop.remove("job").batch is None
    assert shop.counts() == [1, 1, 1]


def test_a_batch_that_others_wait_for_is_kept(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")
    shop.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Report')")
    shop.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT d.ProcessBatch_id, u.ProcessBatch_id"
        " FROM ProcessBatch d, ProcessBatch u WHERE d.ProcessBatchName = 'Report' AND u.ProcessBatchName = 'job'"
    )

    assert not shop.remove("job").is_batch_removed
    assert shop.sql("SELECT Enabled FROM ProcessBatch WHERE ProcessBatchName = 'job'") == [(0,)]


def test_a_dry_run_removes_nothing_and_says_what_it_would(shop: SqlShop) -> None:
    ran(shop, "SELECT x FROM y")

    done = shop.remove("job", dry_run=True)

    assert (done.cancelled, done.is_batch_removed, done.dry_run) == ((1,), False, True)
    assert shop.counts() == [1, 1, 1]
    assert shop.sql("SELECT Status FROM BatchControl") == [("failed",)]


def test_a_schedule_that_is_not_there_is_not_found(shop: SqlShop) -> None:
    shop.add("job", "SELECT 1")

    with pytest.raises(NotFound, match=r"There is no schedule 'jbo'\. Did you mean 'job'\?"):
        shop.remove("jbo")


def test_its_backfills_go_with_it_and_what_they_have_fired_stays(shop: SqlShop) -> None:
    ran(shop)
    shop.sql(
        "INSERT INTO ScheduleBackfill (Schedule_id, FromTime, UntilTime, Actor)"
        " SELECT Schedule_id, '2026-01-01 00:00:00.000', '2026-01-02 00:00:00.000', 'anna' FROM Schedule"
    )
    shop.sql("UPDATE ScheduleFire SET ScheduleBackfill_id = (SELECT max(ScheduleBackfill_id) FROM ScheduleBackfill)")

    assert shop.remove("job").trail.backfills == 1
    assert shop.sql("SELECT count(*) FROM ScheduleBackfill") == [(0,)]
    assert shop.sql("SELECT Status FROM BatchControl") == [("complete",)]
