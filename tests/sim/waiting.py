"""Who waits for whom: when something happens next by itself, and whether everything has come to its end."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.sim import paces, pooled, questioned
from tests.sim.clock import BEGINNING
from tests.sim.laws import Broken

if TYPE_CHECKING:
    from tests.sim.world import World

_OPEN = """
SELECT c.BatchControl_id, c.Status, c.ClaimedBy, b.ProcessBatchName, b.Enabled AND NOT EXISTS (
    SELECT 1 FROM BatchFreeze f WHERE f.ThawedTime IS NULL AND (f.UntilTime IS NULL OR f.UntilTime > virtual_now())
    AND coalesce(f.ProcessBatchName, b.ProcessBatchName) = b.ProcessBatchName), b.OnFailure, c.ProcessBatch_id
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status NOT IN ('complete', 'cancelled') ORDER BY c.BatchControl_id
"""
_NOT_TAKEN = """
SELECT f.FileProcess_id FROM FileProcess f JOIN ProcessBatch b ON coalesce(b.Entity, b.ProcessBatchName) = f.Entity
WHERE f.Status = 'ready' AND f.Message IS NULL AND NOT EXISTS
    (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)
"""


_DUE = """
SELECT NextRunTime FROM BatchControl WHERE Status IN ('ready', 'retry') AND NextRunTime > ?1
UNION ALL SELECT LeaseUntil FROM Leader WHERE LeaseUntil > ?1
    AND ControllerName NOT IN (SELECT value FROM json_each(?2))
"""


def until_something_happens(world: World, pace: float) -> float | None:
    """Return the seconds until an execution ends, an instance is due, or the lead of one that died is free; None for never.

    As long as anything is claimed that is at most the `pace` at which workers have to give signs of life.
    """
    now = world.time.seconds
    moments = [one.ends for one in world.executions if one.ends > now]
    asked = [program.populators.next_answer for program in world.workers if program is not None]
    moments += [answer for answer in asked if answer is not None and answer > now]
    leads = [program.name for program in world.workers if program is not None]
    for (text,) in world.rows(_DUE, world.time.database_now().strftime("%Y-%m-%d %H:%M:%S.000"), json.dumps(leads)):
        due = datetime.fromisoformat(text).replace(tzinfo=UTC)
        moments.append((due - BEGINNING).total_seconds() - world.time.database_ahead)
    for text in questioned.next_end(world):
        due = datetime.fromisoformat(text).replace(tzinfo=UTC)
        moments.append(max((due - BEGINNING).total_seconds() - world.time.database_ahead, now + 1.0))
    moments += paces.next_beginnings(world)
    seconds = max(min(moments) - now, 0.0) + 1.0 if moments else None
    if world.rows("SELECT 1 FROM BatchControl WHERE ClaimedBy IS NOT NULL LIMIT 1"):
        return min(pace, seconds or pace)
    return seconds


def check_rest(world: World) -> None:
    """Ask whether whatever has not come to its end waits for a person."""
    questioned.check_rest(world)
    found, closed = world.rows(_OPEN), pooled.closed(world)
    stops_all = any(
        policy == "stop_all"
        and (status in ("failed", "held") or (status == "retry" and (not enabled or row in closed)))
        for row, status, _, _, enabled, policy, _ in found
    )
    blocked: set[int] = set()
    for row, status, owner, name, enabled, policy, batch in found:
        waits = status in ("failed", "held", "paused") or not enabled or stops_all or batch in blocked or row in closed
        if not waits:
            raise Broken("I35", f"instance {row} of {name} stays {status} (of {owner}): {explain(world)}")
        if (status in ("failed", "held") and policy != "continue") or row in closed:
            # One that waits for its pool keeps its place.
            blocked.add(batch)
    for (row,) in world.rows("SELECT OperatorRequest_id FROM OperatorRequest WHERE Status = 'requested'"):
        raise Broken("C11", f"request {row} is not answered: {explain(world)}")
    for (row,) in world.rows(_NOT_TAKEN):
        raise Broken("I01", f"FileProcess {row} has no instance: {explain(world)}")


def is_open(world: World) -> bool:
    """Say whether any instance has not come to its end."""
    return bool(world.rows(_OPEN))


def check_finished(world: World) -> None:
    """Ask whether, once a person has dealt with everything, everything has come to its end."""
    if is_open(world):
        raise Broken("I35", f"a person has dealt with everything, and still: {explain(world)}")


def explain(world: World) -> str:
    """Say who waits for whom: instance, owner, execution."""
    now = world.time.seconds
    said = []
    for row, status, owner, name, enabled, policy, _ in world.rows(_OPEN):
        alive = [one.key for one in world.alive_of(row)]
        program = next((one for one in world.workers if one is not None and one.name == owner), None)
        about = "" if owner is None else f", owned by {owner} ({'alive' if program else 'dead'})"
        said.append(
            f"{row} of {name} ({policy}{'' if enabled else ', disabled'}) is {status}{about}, executions {alive}"
        )
    return f"at {now:.0f} s: " + "; ".join(said or ["nothing is open"])
