"""Which instances go, with all that belongs to them, and which stay, whatever happens beside that."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.maintenance import purge as purge_module
from batchctl.control.maintenance.purge import Purge, Retention
from batchctl.domain.errors import Conflict
from batchctl.domain.maintenance.retention import rules_of
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import BatchId, InstanceId, IntakeId
from batchctl.operations.intervene import Operator
from batchctl.ports import Boundary
from batchctl.store import invariants
from batchctl.store.dependencies import live
from batchctl.store.maintenance import duration_history, finished_instances
from tests.control.world import BAD, OK, World
from tests.control_databases import IMPATIENT

COUNTED = ("FileProcess", "BatchControl", "BatchProcessHistory", "BatchCompletion")


@pytest.fixture(autouse=True)
def _long_after(world: World) -> None:
    """Let the engine's clock be far ahead of the database's own, by which rows are made."""
    world.clock.advance(timedelta(days=3650))


def setting(world: World, **values: object) -> None:
    for name, value in values.items():
        named(world, name, value)


def named(world: World, name: str, value: object) -> None:
    world.sql("DELETE FROM Setting WHERE Name = ?", name)
    world.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, str(value))


def work(world: World, many: int = 1, entity: str = "B", **columns: object) -> None:
    """Let instances come and go."""
    for at in range(many):
        world.submit(entity, f"f{at}", **columns)
    world.create()
    world.process()


def pass_days(world: World, days: float) -> None:
    """Let time pass for all that is in the tables."""
    world.clock.advance(timedelta(days=days))


def purge(world: World, **how: Any) -> Purge:
    made = Purge(transactions=world.transactions, clock=world.clock, actor="anna", host="h", **how)
    for _ in made.pages():
        pass
    return made


def counted(world: World) -> list[int]:
    return [int(world.one(f"SELECT count(*) FROM {table}")) for table in COUNTED]


def operator(world: World) -> Operator:
    return Operator(
        transactions=world.open(), clock=world.clock, preparer=world.recorder().preparer, user="anna", host="h"
    )


def test_nothing_goes_unless_a_setting_says_so(world: World) -> None:
    world.batch()
    work(world, 30)
    pass_days(world, 40_000)
    purge(world)

    assert counted(world) == [30, 30, 60, 0]


def test_what_is_old_goes_whole_and_the_last_ones_stay(world: World) -> None:
    world.batch()
    work(world, 30)
    pass_days(world, 11)
    work(world, 2)
    setting(world, CompleteDays=10)
    done = purge(world)

    assert counted(world) == [20, 20, 40, 0], "the last twenty, of which two are new"
    assert done.gone == {"BatchControl": 12, "BatchProcessHistory": 24, "FileProcess": 12}
    assert world.one("SELECT min(BatchControl_id) FROM BatchControl") == 13
    assert done.failures == []
    setting(world, KeepLast=0)
    assert purge(world).gone["BatchControl"] == 18


@pytest.mark.parametrize("name", ["completedays:A", "COMPLETEDAYS", "Keeplast:A"])
def test_while_a_setting_is_written_in_another_letter_case_no_instance_goes(world: World, name: str) -> None:
    world.batch("A")
    work(world, 30, "A")
    pass_days(world, 11)
    named(world, "CompleteDays", 10)
    named(world, name, 100)

    (failure,) = purge(world).failures

    assert counted(world)[1] == 30
    right = {"completedays": "CompleteDays", "keeplast": "KeepLast"}[name.partition(":")[0].lower()]
    assert f"It is written {right}" in failure[1]


def test_an_instance_with_an_attempt_that_a_hand_has_opened_stays_and_keeps_no_other(world: World) -> None:
    world.batch()
    work(world, 30)
    pass_days(world, 11)
    setting(world, CompleteDays=10, KeepLast=0)
    world.sql("UPDATE BatchProcessHistory SET Status = 'running', EndTime = NULL WHERE BatchProcessHistory_id = 3")
    done = purge(world)

    assert (counted(world)[1], done.failures) == (1, [])


ALL = [("A", "cancelled", 2), ("A", "complete", 3), ("B", "cancelled", 2), ("B", "complete", 3)]


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"CompleteDays": 10}, [2, 1, 2, 1]),
        ({"CancelledDays": 10}, [1, 3, 1, 3]),
        ({"CompleteDays:A": 10}, [2, 1, 2, 3]),
        ({"CompleteDays": 10, "CompleteDays:A": "forever"}, [2, 3, 2, 1]),
        ({"CompleteDays": 10, "CompleteDays:A": 12}, [2, 3, 2, 1]),
        ({"CompleteDays": 12, "CompleteDays:A": 10}, [2, 1, 2, 3]),
        ({"CompleteDays": 10, "KeepLast:A": 2}, [2, 2, 2, 1]),
        ({"CompleteDays": 10, "CompleteDays:Nobody": 3}, [2, 3, 2, 3]),
        ({"CompleteDays": 10, "CompleteDays:A": 0}, [2, 3, 2, 3]),
        ({"CompleteDays": 10, "KeepLast:B": "many"}, [2, 3, 2, 3]),
        ({"CompleteDays": ""}, [2, 3, 2, 3]),
    ],
    ids=str,
)
def test_each_batch_and_outcome_has_its_rule(world: World, settings: dict[str, object], left: list[int]) -> None:
    for name in ("A", "B"):
        world.batch(name, steps=1)
        work(world, 3, name)
    for name in ("A", "B"):
        for at in range(2):
            world.submit(name, f"cancelled {at}")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE Status = 'ready'")
    world.sql("UPDATE FileProcess SET Status = 'complete'")
    world.sql("UPDATE BatchControl SET z_updated = ?", f"{world.clock.now():%Y-%m-%d %H:%M:%S}")
    pass_days(world, 11)
    for name, value in {"KeepLast": 1, **settings}.items():
        named(world, name, value)
    purge(world)

    found = world.sql(
        "SELECT ProcessBatchName, Status, count(*) FROM BatchControl c JOIN ProcessBatch b"
        " ON b.ProcessBatch_id = c.ProcessBatch_id GROUP BY ProcessBatchName, Status ORDER BY 1, 2"
    )
    assert found == [(batch, status, many) for (batch, status, _), many in zip(ALL, left, strict=True)]


@pytest.mark.parametrize("status", ["ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling"])
def test_what_is_open_stays_however_old_it_is_and_so_does_its_row(world: World, status: str) -> None:
    setting(world, CompleteDays=1, CancelledDays=1, InboxDays=1, KeepLast=0)
    world.batch()
    work(world, 2)
    world.sql("UPDATE BatchControl SET Status = ? WHERE BatchControl_id = 1", status)
    world.sql("UPDATE FileProcess SET Status = 'ready' WHERE FileProcess_id = 1")
    pass_days(world, 5000)
    purge(world)

    assert counted(world) == [1, 1, 2, 0]
    assert world.statuses() == [status]


def test_a_row_of_which_one_instance_is_open_keeps_the_others_too(world: World) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch("A", steps=1, Entity="E")
    world.batch("B", steps=1, Entity="E", Enabled=0)
    work(world, 2, "E")
    pass_days(world, 2)
    purge(world)
    assert counted(world)[:2] == [2, 4]

    world.sql("UPDATE ProcessBatch SET Enabled = 1")
    world.process()
    purge(world)
    assert counted(world)[:2] == [2, 4], "these have only just completed"
    pass_days(world, 2)
    purge(world)
    assert counted(world)[:2] == [0, 0]


def test_of_a_row_no_instance_goes_before_the_others_may_so_that_a_rerun_creates_nothing_anew(world: World) -> None:
    setting(world, **{"CompleteDays:A": 1, "KeepLast:A": 0})
    world.batch("A", steps=1, Entity="E")
    world.batch("B", steps=1, Entity="E")
    work(world, 1, "E")
    pass_days(world, 2)
    purge(world)
    operator(world).rerun(InstanceId(2), reason="again", from_seq=10)
    work(world, 0)

    assert counted(world)[:2] == [1, 2]
    assert world.statuses() == ["complete"] * 2


def test_a_rerun_between_reading_and_deleting_keeps_the_instance(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=1)
    work(world, 3)
    pass_days(world, 2)
    leaving = finished_instances.leaving

    def meanwhile(*what: Any, locked: bool) -> finished_instances.Leaving:
        found = leaving(*what, locked=locked)
        if not locked:
            operator(world).rerun(InstanceId(2), reason="again", from_seq=10)
        return found

    monkeypatch.setattr(finished_instances, "leaving", meanwhile)
    purge(world, most=100)

    assert world.sql("SELECT BatchControl_id, Status FROM BatchControl") == [(2, "ready")]
    assert world.history() == [(2, 10, 1, "auto", "success")]


def test_what_somebody_is_about_to_run_again_stays(world: World) -> None:
    if world.database.kind == "sqlite":
        return  # There nobody else writes meanwhile.
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=1)
    work(world, 3)
    pass_days(world, 2)
    other = world.database.hand()
    other.sql("BEGIN")
    other.sql("UPDATE BatchControl SET Status = 'ready' WHERE BatchControl_id = 1")
    other.sql("SELECT 1 FROM FileProcess WHERE FileProcess_id = 2 FOR UPDATE")
    done = purge(world)
    assert (done.gone["BatchControl"], done.failures) == (1, [])
    other.sql("COMMIT")
    other.close()

    assert world.sql("SELECT BatchControl_id, Status FROM BatchControl ORDER BY 1") == [(1, "ready"), (2, "complete")]


def test_the_statement_that_deletes_says_itself_what_may_go(world: World) -> None:
    """Whatever is wrong with the choice before it."""
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=1)
    work(world, 2)
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    pass_days(world, 2)
    rules = rules_of({"CompleteDays": "1", "KeepLast": "0"}, {"B": BatchId(1)})

    def remove(connection: Any) -> object:
        found = finished_instances.leaving(connection, [IntakeId(2)], rules, world.clock.now(), locked=True)
        (right,) = found.instances
        wrong = finished_instances.Leaving([right, replace(right, instance_id=InstanceId(1))])
        return finished_instances.remove(connection, wrong, world.clock.now())

    with pytest.raises(Conflict):
        world.transactions.run(frozenset({Boundary.PURGE}), remove, nowait=True)

    assert counted(world) == [2, 2, 2, 0]


def test_who_purges_beside_another_waits_for_nobody_and_adds_up_what_the_other_has_added(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=1)
    work(world, 60)
    pass_days(world, 2)
    other, add_up, beside = world.open(), duration_history.add_up, list[Purge]()
    with other.read() as connection:
        connection.exec_driver_sql(IMPATIENT[world.database.kind])

    def meanwhile(*what: Any) -> None:
        add_up(*what)
        if not beside:
            beside.append(Purge(transactions=other, clock=world.clock, actor="ben", host="h"))
            for _ in beside[0].pages():
                pass

    monkeypatch.setattr(duration_history, "add_up", meanwhile)
    first = purge(world)

    assert (first.failures, beside[0].failures, dict(beside[0].gone)) == ([], [], {})
    assert counted(world) == [0, 0, 0, 0]
    assert world.one("SELECT sum(Runs) FROM DurationHistory") == 60


def test_a_crash_between_two_pages_leaves_whole_rows_and_the_next_one_goes_on(world: World) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch()
    work(world, 100)
    pass_days(world, 2)
    duty = Retention(world.transactions, world.clock, world.events.append, actor="a", host="h")
    for _ in range(3):
        duty.look()
    world.crash()

    rows, instances, attempts, _ = counted(world)
    assert 0 < rows < 100
    assert (instances, attempts) == (rows, 2 * rows)
    purge(world)
    assert counted(world) == [0, 0, 0, 0]


@pytest.mark.full
def test_no_transaction_deletes_more_than_a_page_of_history(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=10)
    then = f"{world.clock.now():%Y-%m-%d %H:%M:%S}"
    rows = [(str(at),) for at in range(10_000)]
    world.hand.many("INSERT INTO FileProcess (Entity, FileName, Status) VALUES ('B', ?, 'complete')", rows)
    world.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, PrevProcessControlSeq, z_inserted, z_updated)"
        f" SELECT 1, FileProcess_id, 'complete', 100, '{then}', '{then}' FROM FileProcess"
    )
    world.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        f" CommandText, Status, StartTime, EndTime) SELECT BatchControl_id, 1, ProcessControlSeq, 's', 'told', 'c', 'success',"
        f" '{then}', '{then}' FROM BatchControl, ProcessControl"
    )
    pass_days(world, 2)
    taken, remove = list[int](), finished_instances.remove

    def watched(*what: Any) -> Any:
        gone = remove(*what)
        taken.append(gone["BatchProcessHistory"])
        return gone

    monkeypatch.setattr(finished_instances, "remove", watched)
    purge(world)

    assert sum(taken) == 100_000
    assert max(taken) <= purge_module.MOST
    assert counted(world) == [0, 0, 0, 0]


def dependents(world: World) -> None:
    """Let `R` depend on `A` and `B`."""
    for name in ("A", "B", "R"):
        world.batch(name, steps=1)
    for name in ("A", "B"):
        world.sql(
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT r.ProcessBatch_id, u.ProcessBatch_id"
            " FROM ProcessBatch r, ProcessBatch u WHERE r.ProcessBatchName = 'R' AND u.ProcessBatchName = ?",
            name,
        )
    setting(world, KeepLast=0)


def test_a_completion_that_waits_keeps_its_instance_until_it_is_used_or_nobody_waits_any_more(world: World) -> None:
    dependents(world)
    setting(world, CompleteDays=1)
    work(world, 1, "A", CycleKey="k")
    work(world, 1, "A", CycleKey="l")
    pass_days(world, 2)
    purge(world)
    assert counted(world) == [2, 2, 2, 2]

    work(world, 1, "B", CycleKey="k")
    work(world, 0)
    pass_days(world, 2)
    purge(world)
    assert counted(world) == [1, 1, 1, 1], "what has completed for l waits still"
    world.sql("DELETE FROM BatchDependency")
    purge(world)
    assert counted(world) == [0, 0, 0, 0]


def test_a_row_that_completions_have_started_stays_with_them_so_that_a_rerun_does_not_start_it_again(
    world: World,
) -> None:
    dependents(world)
    named(world, "CompleteDays:R", 1)
    for name in ("A", "B"):
        work(world, 1, name, CycleKey="k")
    work(world, 0)
    pass_days(world, 2)
    purge(world)
    assert counted(world) == [3, 2, 2, 2], "the instance of R is gone"

    operator(world).rerun(InstanceId(1), reason="again", from_seq=10)
    work(world, 0)
    assert counted(world) == [3, 2, 3, 2]
    named(world, "CompleteDays:A", 1)
    named(world, "CompleteDays:B", 1)
    pass_days(world, 2)
    purge(world)
    assert counted(world) == [0, 0, 0, 0]


def test_a_watched_file_is_not_taken_anew_because_its_row_is_gone(world: World) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=1)
    work(world, 1)
    world.sql("INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('w', 'B', '/in')")
    world.sql(
        "INSERT INTO FileWatchSeen (FileWatch_id, PathKey, FilePath, FileSize, ModifiedNs, FileProcess_id)"
        " VALUES (1, ?, '/in/f', 3, 4, 1)",
        "0" * 64,
    )
    pass_days(world, 2)
    purge(world)

    assert counted(world) == [0, 0, 0, 0]
    assert world.sql("SELECT FilePath, FileSize, ModifiedNs, FileProcess_id FROM FileWatchSeen") == [
        ("/in/f", 3, 4, None)
    ]


def test_what_never_became_work_goes_by_its_own_age_and_what_a_person_has_paused_stays(world: World) -> None:
    world.batch(steps=1)
    world.submit(Data="d")
    work(world, 1, Data="d")
    for status in ("rejected", "paused"):
        world.submit(Status=status)
    world.submit("Nobody")
    pass_days(world, 10)
    world.submit(Status="rejected", z_updated=f"{world.clock.now():%Y-%m-%d %H:%M:%S}")
    purge(world)
    assert counted(world)[0] == 6
    setting(world, InboxDays=5)
    purge(world)

    assert world.sql("SELECT FileProcess_id, Status FROM FileProcess ORDER BY 1") == [
        (1, "complete"),
        (4, "paused"),
        (5, "ready"),
        (6, "rejected"),
    ]


def test_sent_again_after_its_row_was_purged_it_is_no_duplicate(world: World) -> None:
    setting(world, CompleteDays=5, KeepLast=0)
    world.batch(steps=1)
    work(world, 1, Data="d")
    work(world, 1, Data="d")
    assert world.one("SELECT count(*) FROM FileProcess WHERE Status = 'duplicate'") == 1
    pass_days(world, 6)
    purge(world)
    work(world, 1, Data="d")

    assert world.statuses() == ["complete"]


def test_how_long_steps_took_survives_and_is_added_up_by_day_and_length(world: World) -> None:
    setting(world, CompleteDays=1, KeepLast=0)
    world.batch(steps=1, RetryCount=1, RetryWaitMins=0)
    lengths = iter([1, 1, 1, 60, 1, 5])
    ends = iter([OK, OK, OK, OK, BAD, OK])

    def script(rendered: object) -> StepOutcome:
        world.clock.advance(timedelta(seconds=next(lengths)))
        return next(ends)

    for at in range(2):
        for _ in range(2):
            world.submit(file_name=str(at))
    world.submit()
    world.create()
    world.runner.script = script
    world.process()
    with world.transactions.read() as connection:
        before = live.lengths(connection)
    pass_days(world, 2)
    assert purge(world, most=1).gone["BatchProcessHistory"] == 6
    with world.transactions.read() as connection:
        after = live.lengths(connection)

    shown = "SELECT ProcessControlSeq, Day, Runs, TotalMs, MinMs, MaxMs FROM DurationHistory ORDER BY UpToMs"
    assert [row[2:] for row in world.sql(shown)] == [
        (3, 3000, 1000, 1000),
        (1, 5000, 5000, 5000),
        (1, 60000, 60000, 60000),
    ]
    assert {step: sorted(found) for step, found in after.items()} == {
        step: sorted(found) for step, found in before.items()
    }


def test_what_is_purged_breaks_no_law(world: World) -> None:
    dependents(world)
    setting(world, CompleteDays=1, AuditLogDays=1, KeepLast=1)
    for key in "klm":
        for name in ("A", "B"):
            work(world, 1, name, CycleKey=key)
    work(world, 0)
    operator(world).rerun(InstanceId(1), reason="again", from_seq=10)
    work(world, 0)
    pass_days(world, 2)
    done = purge(world)

    assert done.gone["BatchControl"] == 6
    assert done.failures == []
    with world.transactions.read() as connection:
        assert list(invariants.broken(connection, world.clock.now(), 100)) == []
