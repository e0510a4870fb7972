"""What the rig promises of backfills is shown to be missed when it is broken."""

from __future__ import annotations

from tests.chaos.scene import staged
from tests.chaos.shop import Place
from tests.control_databases import ControlDatabase

LOST = "lost: a due time that a backfill wanted"
DOUBLED = "doubled: a due time of a backfill"

BROKEN = {
    "DELETE FROM FileProcess WHERE FileProcess_id = 2": LOST,
    "UPDATE ScheduleBackfill SET Status = 'cancelled'": LOST,
    "UPDATE FileProcess SET CycleKey = '2026-01-01'": DOUBLED,
    "UPDATE ScheduleBackfill SET UntilTime = '2026-01-02 00:00:00.000'": DOUBLED,
    "UPDATE ScheduleBackfill SET Fired = 7": DOUBLED,
    "DELETE FROM ScheduleFire": DOUBLED,
}


def test_what_became_of_a_backfill_is_seen(control_database: ControlDatabase) -> None:
    with staged(Place(control_database), control_database.directory) as scene:
        scene.shop.backfill()
        worker = scene.worker()
        scene.until_over()
        scene.end(worker)
        assert not scene.constraint_findings()

        scene.shop.loosen()
        for statement, promise in BROKEN.items():
            scene.shop.sql("BEGIN")
            scene.shop.sql(statement)
            assert promise in scene.constraint_findings(), statement
            scene.shop.sql("ROLLBACK")
