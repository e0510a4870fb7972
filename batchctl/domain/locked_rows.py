"""What others keep locked, as a controller says it with its sign of life, and who asks why is told of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice

from batchctl.domain.errors import in_one_line, without_next_step
from batchctl.domain.rows import BatchDefinition, BatchInstance

TO_END_IT = "; to end it: "
"""What stands between who keeps something locked and the statement that ends it."""
MOST = 20
"""So much of it is named."""
SO = "somebody keeps rows locked: "
"""How a trouble begins that is this."""
BETWEEN = " | "
"""What stands between what is said of the one and of the next."""


def trouble_of(locked: Mapping[str, str]) -> str | None:
    """Return the trouble that this is, by what is locked: what is said of it."""
    if not locked:
        return None
    named = [f"{what}: {said.partition(TO_END_IT)[0]}" for what, said in islice(locked.items(), MOST)]
    more = [] if len(locked) <= MOST else [f"{len(locked) - MOST} more"]
    end = next(iter(locked.values())).partition(TO_END_IT)[2]
    return in_one_line(f"{SO}{BETWEEN.join([*named, *more])}", end or "batchctl status")


def is_of_locks(trouble: str | None) -> bool:
    """Say whether a controller's trouble is that somebody keeps rows locked: what these do not concern goes on."""
    return (trouble or "").startswith(SO)


def said_of(trouble: str | None, names: Collection[str]) -> str | None:
    """Return what such a trouble says of anything that has one of some names."""
    if trouble is None or not is_of_locks(trouble):
        return None
    said = without_next_step(trouble).removeprefix(SO).split(BETWEEN)
    return next((one for one in said if any(one.startswith(f"{name}: ") for name in names)), None)


def names_of(instance: BatchInstance, batch: BatchDefinition) -> tuple[str, ...]:
    """Return by which names a lock may be called that keeps an instance from starting."""
    return f"BatchControl {instance.instance_id}", f"batch {batch.name}", f"FileProcess {instance.intake_id}"
