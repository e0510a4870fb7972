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
    controller.turn(controller._back_off.rest)
    world.turn_until_idle(controller)
    assert world.sql("SELECT DISTINCT Status FROM BatchControl") == [("complete",)]


REFUSE = "CREATE FUNCTION Refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION {} {}; END $$"
REFUSES = "CREATE TRIGGER Refuses BEFORE INSERT ON BatchControl FOR EACH ROW EXECUTE FUNCTION Refuse()"
USING = "USING DETAIL = 'Client 7 is closed.', HINT = 'Ask sales.'"


@pytest.mark.parametrize("control_database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("message", "using", "reason"),
    [
        ("E'The client is not to be served.\\n  See the list.'", USING,
         "The client is not to be served. See the list. Client 7 is closed. Ask sales."),
        ("''", USING, "Client 7 is closed. Ask sales."),
        ("''", "", "SQLSTATE P0001"),
    ],
)  # fmt: skip
def test_a_rejected_row_says_all_that_the_refusal_says(world: World, message: str, using: str, reason: str) -> None:
    world.batch(steps=1)
    world.submit()
    world.sql(REFUSE.format(message, using))
    world.sql(REFUSES)
    world.create()

    assert world.sql("SELECT Status, Message FROM FileProcess") == [("rejected", f"RaiseException: {reason}")]
