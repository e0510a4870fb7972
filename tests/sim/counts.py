"""How often, when, and in which order: the laws of retries, slots, steps, duplicates and requests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.sim import stepwise
from tests.sim.laws import FAILED, Broken

if TYPE_CHECKING:
    from tests.sim.faults import Actor
    from tests.sim.hosts import Running
    from tests.sim.world import World

_REFUSED = "poison"
"""How the names of files begin that a populator refuses."""
_SURPRISE = "surprise"
"""How those begin with which something happens that nobody foresaw; what becomes of them is not counted."""

_NEXT_RUN = "SELECT NextRunTime FROM BatchControl WHERE BatchControl_id = ?"
_LATER = "SELECT strftime('%Y-%m-%d %H:%M:%f', ?, ? || ' seconds')"


_WORDING = """
SELECT 1 FROM BatchProcessHistory
WHERE BatchProcessHistory_id = ? AND Cause = 'verify' AND Message LIKE 'the check could not tell%'
"""


def check_moves(world: World, actor: Actor, seen: Sequence[tuple[Any, ...]]) -> None:
    """Ask of what the engine has moved whether its retries, and the time of the next one, are as they should be."""
    ended, lost = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for what, key, _, became, *_, instance, _, _, _ in seen:
        if what == "attempt" and became in FAILED:
            ended[int(instance)].append(int(key))
        elif what == "attempt" and became == "lost":
            lost[int(instance)].append(int(key))
    for what, row, was, became, seq_was, seq, _, _, _, _, retries_was, retries in seen:
        if what != "instance":
            continue
        said = f"instance {row} went from {was} to {became} by {actor.name}"
        if seq > seq_was and retries != (allowed := stepwise.allowed(world, row, seq)):
            raise Broken("retry", f"{said}, past step {seq}, and has {retries} retries instead of {allowed}")
        if became in ("retry", "ready") and any(_could_not_tell(world, key) for key in lost.get(row, [])):
            raise Broken("verify", f"{said} after a check that could not tell")
        failed = ended.get(row, [])
        if (
            became == "failed"
            and failed
            and retries_was > 0
            and not any(stepwise.is_final(world, key) for key in failed)
        ):
            raise Broken("retry", f"{said}, although it had {retries_was} retries left")
        if became == "retry" and failed and world.goes_by_clocks:
            ((next_run,),) = world.rows(_NEXT_RUN, row)
            ((earliest,),) = world.rows(_LATER, *stepwise.earliest(world, max(failed)))
            if next_run < earliest:
                raise Broken("retry", f"{said}, and runs again at {next_run}, before {earliest}")


def _could_not_tell(world: World, key: int) -> bool:
    """Say whether an attempt was a check that could not tell whether its step was done."""
    return bool(world.rows(_WORDING, key))


def check_slots(world: World, actor: Actor) -> None:
    """Ask whether a worker has no more under way than it has slots; what it has taken over comes on top."""
    ((claimed,),) = world.rows("SELECT count(*) FROM BatchControl WHERE ClaimedBy = ?", actor.name)
    if claimed > world.options.slots and actor.name not in world.adopters:
        raise Broken("slots", f"{actor.name} has claimed {claimed} instances with {world.options.slots} slots")


_STEP = """
SELECT min(p.ProcessControlSeq) FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id AND c.ClaimToken = h.ClaimToken
JOIN ProcessControl p ON p.ProcessBatch_id = c.ProcessBatch_id AND p.ProcessControlSeq > c.PrevProcessControlSeq
WHERE h.BatchProcessHistory_id = ? AND h.Status = 'running'
"""


def check_order(world: World, new: Running) -> None:
    """Ask whether a step that begins is the next one of its instance."""
    ((following,),) = world.rows(_STEP, new.key)
    if following not in (None, new.seq):
        raise Broken("walk", f"step {new.seq} of instance {new.instance} begins before step {following}")


_FAILURES = """
SELECT c.BatchControl_id, h.ProcessControlSeq, count(*), coalesce(p.RetryCount, b.RetryCount) FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN ProcessControl p ON p.ProcessBatch_id = c.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status IN ('failed', 'timeout') AND h.Cause <> 'verify' AND NOT EXISTS (SELECT 1 FROM AuditLog a
    WHERE a.Target = 'BatchControl:' || c.BatchControl_id AND a.Action IN ('rerun', 'skip'))
GROUP BY 1, 2, 4 HAVING count(*) > 1 + coalesce(p.RetryCount, b.RetryCount)
"""
_ACTS = """
SELECT a.Host, count(*) FROM AuditLog a WHERE a.Host LIKE 'OperatorRequest:%'
GROUP BY a.Host, a.Action, a.Target HAVING count(*) > 1
"""


def check_end(world: World) -> None:
    """Ask at the end whether everything was tried, taken in and answered as often as it should be."""
    for instance, seq, failures, allowed in world.rows(_FAILURES):
        raise Broken("retry", f"step {seq} of instance {instance} has failed {failures} times with {allowed} retries")
    for request, acts in world.rows(_ACTS):
        raise Broken("C11", f"{request} was carried out {acts} times")
    if not world.happened["Purged"]:
        _check_taken(world)


def _check_taken(world: World) -> None:
    """Ask whether every row became work of every batch that takes it; of those with the same Data, one did."""
    rows = world.rows("SELECT FileProcess_id, Entity, FileName, Data, PopulatorTries FROM FileProcess")
    made = Counter(world.rows("SELECT ProcessBatch_id, FileProcess_id FROM BatchControl"))
    for number, plan in enumerate(world.options.batches):
        entity = f"B{number if plan.entity is None else plan.entity}"
        groups, unknown = defaultdict[object, list[int]](list), set[int]()
        for row, of_entity, name, data, tries in rows:
            is_refused = plan.poison and str(name).startswith(_REFUSED)
            # What awaits an answer still may be the first of its Data, whatever that answer will be.
            if of_entity == entity and (tries or not is_refused):
                compares = plan.duplicate_check and data is not None
                groups[data if compares else row].append(row)
                unknown |= {row} if tries or str(name).startswith(_SURPRISE) else set()
        for key, alike in groups.items():
            taken = sum(made[number + 1, row] for row in alike)
            if taken != 1 and unknown.isdisjoint(alike):
                raise Broken("intake", f"of the rows {alike} ({key}) batch B{number} has {taken} instances")
