"""What has gone wrong elsewhere, staged with real processes; the numbers are those of the list the tests are kept by."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.chaos.fleet import Member
from tests.chaos.scene import Scene, staged
from tests.chaos.shop import LEASE, Place, place_of_its_own
from tests.control_databases import ControlDatabase, with_tables
from tests.standing_still import freeze

OPEN_TRANSACTIONS = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND application_name LIKE 'batchctl%' AND state <> 'idle'"
)


no_takeover = pytest.mark.parametrize("lease", [60.0])
"""For scenes without a death that others wait for: a lease that lasts however busy the machine is."""


@pytest.fixture
def lease() -> float:
    return 3 * LEASE  # The campaign may lose a lease to a busy machine; here what becomes of each attempt is asked.


@pytest.fixture
def scene(control_database: ControlDatabase, lease: float) -> Iterator[Scene]:
    """A scene on each kind of database in turn; at its end no promise may be broken."""
    with staged(Place(control_database), control_database.directory, lease=lease) as scene:
        yield scene
        assert not scene.constraint_findings()


def test_02_killed_between_any_two_of_claim_history_execute_and_status_nothing_is_lost_or_doubled(scene: Scene) -> None:
    cuts = ("C4:inside:1", "C4:after:1", "spawn:before:1", "spawn:after:1", "C7:inside:1", "C7:after:1", "C9:after:3")
    for number, cut in enumerate(cuts, 1):
        scene.hand_in("hold_many", "nap.nap.nap")
        assert scene.ended(scene.worker(cut)) == [-signal.SIGKILL], cut
        healthy = scene.worker()
        scene.until_over()
        scene.end(healthy)

        assert scene.statuses() == ["complete"] * number, cut
        assert set(scene.wording("S").values()) == set(scene.wording("E").values()) == {1}, cut
    # None of it needed a person.
    assert {cause for _, cause, _ in scene.attempts()} <= {"auto", "retry"}


def test_02_killed_before_within_and_after_the_commit_of_a_backfill_each_due_time_starts_once(scene: Scene) -> None:
    for cut in ("C10:inside:2", "C10:after:2", "C10:before:3"):
        scene.shop.backfill()
        assert scene.ended(scene.worker(cut)) == [-signal.SIGKILL], cut
        healthy = scene.worker()
        scene.until_over()
        scene.end(healthy)

    wanted = sum(len(days) for days in scene.shop.backfilled.values())
    assert len(scene.statuses()) == wanted >= 12


def test_03_a_worker_that_lost_its_lease_cannot_write_the_end_of_what_another_has_taken_over(scene: Scene) -> None:
    scene.hand_in("hold_many", "long.ok.ok")
    frozen = scene.worker()
    scene.until(lambda: scene.wording("B"))
    with closing(scene.place.database.hand()) as hand:
        freeze(hand, scene.place.database.kind, frozen.pid)
    other = scene.worker()
    scene.until(lambda: "adopted" in other.printed)
    frozen.signal(signal.SIGCONT)
    scene.until_over()

    assert scene.statuses() == ["complete"]
    assert set(scene.wording("S").values()) == set(scene.wording("E").values()) == {1}
    assert scene.attempts() == [(10, "auto", "success"), (20, "auto", "success"), (30, "auto", "success")]
    assert ".fenced" in frozen.printed
    codes = scene.end(frozen, other)
    assert codes[0] in (0, 1), "it may have noticed by itself, or by a write that was refused"
    assert codes[1] == 0


def stop_between_transactions(scene: Scene, worker: Member) -> None:
    """Stop a worker that keeps nothing locked: whoever is stopped within a transaction keeps everybody waiting."""

    def is_between() -> bool:
        worker.signal(signal.SIGSTOP)
        if not scene.shop.sql(OPEN_TRANSACTIONS):
            return True
        worker.signal(signal.SIGCONT)
        return False

    scene.until(is_between)


def test_04_the_database_restarts_during_recovery_and_everything_is_recovered_afterwards(
    tmp_path: Path, lease: float
) -> None:
    place = place_of_its_own("postgresql", tmp_path)
    try:
        with_tables(place.database)
        with staged(place, tmp_path, lease=lease) as scene:
            assert place.server is not None
            recovering = scene.worker("C12:inside:2:stop")
            scene.until(lambda: "controller.started" in recovering.printed)
            stop_between_transactions(scene, recovering)
            dying = scene.worker()
            scene.hand_in("hold_many", "slow.ok.ok", times=4)
            scene.until(lambda: len(scene.wording("S")) == 4)
            scene.kill(dying)
            recovering.signal(signal.SIGCONT)
            scene.until(lambda: "cut at" in recovering.printed)
            place.server.stop(at_once=True)
            recovering.signal(signal.SIGCONT)
            place.server.start()
            scene.until_over()

            assert scene.statuses() == ["complete"] * 4
            assert set(scene.wording("S").values()) == {1}
            assert not scene.constraint_findings()
            assert scene.end(recovering) == [0]
    finally:
        place.close()


@no_takeover
def test_05_an_old_worker_drains_while_a_new_one_starts_and_they_do_not_take_work_from_each_other(scene: Scene) -> None:
    scene.hand_in("hold_many", "slow.slow.ok", times=3)
    old = scene.worker()
    scene.until(lambda: len(scene.wording("S")) == 3)
    old.signal(signal.SIGTERM)
    new = scene.worker()
    scene.until_over()

    assert scene.ended(old) == [0]
    assert scene.statuses() == ["complete"] * 3
    assert set(scene.wording("S").values()) == {1}
    assert {status for _, _, status in scene.attempts()} == {"success"}
    assert scene.end(new) == [0]


def test_06_a_person_and_the_recovery_ask_for_the_same_instance_and_it_runs_once(scene: Scene) -> None:
    scene.hand_in("hold_one", "long.ok.ok")
    dying = scene.worker()
    scene.until(lambda: scene.wording("B"))
    scene.kill(dying)
    scene.kill_all("supervisor")
    healthy = scene.worker()
    people = [scene.person("rerun", "1", "--reason", "it hangs")]
    scene.until(lambda: scene.statuses() == ["held"] or scene.wording("S")[1, 10] > 1)
    people += [scene.person("rerun", "1", "--reason", "it is held") for _ in range(3)]
    scene.ended(*people)
    scene.until_over()

    assert scene.statuses() == ["complete"]
    assert scene.wording("S") == {(1, 10): 2, (1, 20): 1, (1, 30): 1}
    assert [status for seq, _, status in scene.attempts() if seq == 10] == ["lost", "success"]
    scene.end(healthy)


@no_takeover
def test_07_two_controllers_see_one_event_and_it_has_one_run_and_one_audit_row(scene: Scene) -> None:
    workers = [scene.worker(), scene.worker()]
    scene.hand_in("hold_many", "ok.ok.ok", times=20)
    scene.until_over()
    assert set(scene.wording("S").values()) == {1}
    assert len(scene.wording("S")) == 60

    people = [scene.person("rerun", "7", "--from", "30", "--reason", f"person {number}") for number in range(2)]
    codes = scene.ended(*people)
    scene.until(lambda: scene.wording("S")[7, 30] > 1)
    scene.until_over()
    asked = codes.count(0)
    assert scene.wording("S")[7, 30] == 1 + asked
    assert scene.shop.sql("SELECT count(*) FROM AuditLog WHERE Target = 'BatchControl:7'") == [(asked,)]
    scene.end(*workers)


@no_takeover
def test_09_killed_when_all_work_was_done_the_next_start_finds_nothing_left_to_run(scene: Scene) -> None:
    scene.hand_in("hold_one", "ok.ok.ok")
    assert scene.ended(scene.worker("C9:after:3")) == [-signal.SIGKILL]
    again = scene.worker(None, "--once")

    assert scene.ended(again) == [0]
    assert "0 started" in again.printed
    assert scene.statuses() == ["complete"]
    assert set(scene.wording("S").values()) == {1}


@no_takeover
def test_10_a_cancelled_instance_frees_its_place_at_once_and_a_waiting_retry_holds_none(scene: Scene) -> None:
    scene.hand_in("hold_one", "long.ok.ok")
    scene.hand_in("hold_one", "ok.ok.ok")
    worker = scene.worker()
    scene.until(lambda: scene.wording("B"))
    assert not scene.wording("S")[2, 10]
    assert scene.ended(scene.person("cancel", "1", "--reason", "not wanted")) == [0]
    scene.until(lambda: scene.wording("S")[2, 10])
    scene.until_over()
    assert scene.statuses() == ["cancelled", "complete"]

    scene.shop.sql(
        "UPDATE ProcessBatch SET RetryWaitMins = 60, OnFailure = 'continue' WHERE ProcessBatchName = 'hold_one'"
    )
    scene.hand_in("hold_one", "fail.ok.ok")
    scene.hand_in("hold_one", "ok.ok.ok")
    scene.until(lambda: scene.statuses()[2:] == ["retry", "complete"])
    assert scene.ended(scene.person("cancel", "3", "--reason", "enough")) == [0]
    scene.end(worker)


@no_takeover
def test_11_a_thousand_rows_before_a_full_place_do_not_hide_one_ready_row_elsewhere(scene: Scene) -> None:
    scene.hand_in("hold_one", "long.ok.ok")
    worker = scene.worker()
    scene.until(lambda: scene.wording("B"))
    for_one = scene.shop.sql("SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'hold_one'")[0][0]
    many = 1000
    hand = scene.place.database.hand()
    # Taken already: the worker must not make the instances that are given to it here.
    hand.many(
        "INSERT INTO FileProcess (Entity, FileName, Status) VALUES ('hold_one', ?, 'complete')",
        [(f"/bulk/{n}",) for n in range(many)],
    )
    hand.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Data3)"
        " SELECT ?, FileProcess_id, 'ok.ok.ok' FROM FileProcess WHERE FileName LIKE '/bulk/%'",
        for_one,
    )
    hand.close()
    scene.hand_in("hold_many", "ok.ok.ok")
    last = many + 2
    scene.until(lambda: scene.wording("E")[last, 30])

    assert not scene.wording("E")[1, 10], "what is in the way is still there"
    scene.shop.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE Status = 'ready'")
    scene.until_over()
    scene.end(worker)
