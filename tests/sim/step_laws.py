"""The laws of steps that are gone past when they have failed, and of those whose rows are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tests.sim import stepwise
from tests.sim.laws import FAILED, Broken

if TYPE_CHECKING:
    from tests.sim.faults import Actor
    from tests.sim.world import World


def check_passing(world: World, actor: Actor, seen: Sequence[tuple[Any, ...]]) -> None:
    """Ask whether an instance went past a failed step exactly when it may, and whether rows were looked at."""
    failed = {key: instance for key, instance in _ended(seen) if _status(world, key) in FAILED}
    moved = {one[1]: one for one in reversed(seen) if one[0] == "instance"}
    for key, instance in failed.items():
        if instance not in moved:
            continue
        _, row, was, became, seq_was, seq, *_, retries_was, _ = moved[instance]
        ((of_step, _, _, _, policy, _, _),) = world.rows(stepwise.STEP, key)
        said = f"instance {row} went from {was} to {became}, step {seq_was} to {seq}, by {actor.name}"
        is_for_good = retries_was <= 0 or stepwise.is_final(world, key)
        goes_past = seq >= of_step > seq_was
        if goes_past and (policy != "continue" or not is_for_good):
            raise Broken("past", f"{said}, although step {of_step} has failed ({policy}, {retries_was} retries)")
        if became == "failed" and policy == "continue":
            raise Broken("past", f"{said}, although it may go past step {of_step}")
        world.happened["WentPast"] += goes_past
    for key, _ in _ended(seen):
        _check_rows(world, key)


def _check_rows(world: World, key: int) -> None:
    execution = next((one for one in world.executions if one.key == key), None)
    ((seq, status, rows, _, _, guard, least),) = world.rows(stepwise.STEP, key)
    if execution is None or execution.checks or least in (None, "learned") or not execution.outcome.succeeded:
        return
    expected = "failed" if guard == "fail" and not stepwise.is_inside(rows) else "success"
    world.happened["OutsideRows"] += expected == "failed" and status == "failed"
    if status in ("success", "failed") and status != expected:
        raise Broken("rows", f"attempt {key} at step {seq} is {status} with {rows} rows ({guard})")


def _ended(seen: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, int]]:
    for what, key, was, became, *_, instance, _, _, _ in seen:
        if what == "attempt" and was == "running" and became in {"success", *FAILED}:
            yield int(key), int(instance)


def _status(world: World, key: int) -> str:
    ((_, status, *_),) = world.rows(stepwise.STEP, key)
    return str(status)
