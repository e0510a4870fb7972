"""A trigger that somebody has put on a table of batchctl: what it keeps out is told, and nothing runs under a wrong number."""

from __future__ import annotations

import pytest

from tests.control.world import NO_WAIT, World

KEEPS_OUT = """
CREATE TRIGGER KeepsOut BEFORE INSERT ON BatchProcessHistory WHEN NEW.BatchControl_id = {instance}
BEGIN SELECT RAISE(IGNORE); END
"""


@pytest.mark.parametrize("control_database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("instance", [1, 3])
def test_an_attempt_that_a_trigger_keeps_out_is_not_begun(world: World, instance: int) -> None:
    world.batch(steps=1, MaxConcurrent=3)
    for _ in range(3):
        world.submit()
    world.create()
    world.sql(KEEPS_OUT.format(instance=instance))
    controller = world.controller(slots=3)
    controller.turn(NO_WAIT)
    controller.turn(NO_WAIT)

    begun = [row[0] for row in world.sql("SELECT BatchProcessHistory_id FROM BatchProcessHistory")]
    assert set(world.runner.started) <= set(begun)
    assert world.one("SELECT Status FROM BatchControl WHERE BatchControl_id = ?", instance) == "ready"
    assert any("trigger" in str(event.fields) for event in world.events)
    world.sql("DROP TRIGGER KeepsOut")
    controller.turn(controller._back_off)
    world.turn_until_idle(controller)
    assert world.sql("SELECT DISTINCT Status FROM BatchControl") == [("complete",)]
