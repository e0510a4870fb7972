"""Plausible mistakes about pools and drains: each is found by schedules in which workers serve different ones."""

from __future__ import annotations

from batchctl.control import claiming, recording
from batchctl.domain import moves
from batchctl.domain.operators import pools
from batchctl.store import instances
from tests.sim.mutating import Mutant, mutant

POOL_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "a step begins wherever its plugin is",
        "I91",
        (recording, "(self.serves.may_begin(batch, step) and self.has_plugin(step))", "self.has_plugin(step)"),
    ),
    mutant("a claim goes on into another pool", "I92", (moves, " and next_pool == instance.next_pool", "")),
    mutant(
        "a claim has the pool that the row had before",
        "I91",
        (moves, "next_pool = batch.next_pool(instance.last_seq)", "next_pool = instance.next_pool"),
    ),
    mutant(
        "the pool of a claim is not written",
        "I91",
        (instances, "if after.next_pool != before.next_pool:", "if False:"),
    ),
    mutant(
        "on a drained host something new begins",
        "drain",
        (pools, " and self.drain_of_host(host) is None", ""),
    ),
    mutant(
        "in a drained pool something new begins",
        "drain",
        (pools, "(pool is None or pool.enabled) and self.drain_of_pool(name) is None", "pool is None or pool.enabled"),
    ),
    mutant(
        "one more instance than a pool may have is claimed",
        "I92",
        (claiming, "in_pools[pool] >= room", "in_pools[pool] > room"),
    ),
    mutant(
        "what is claimed together is not counted for its pool",
        "I92",
        (claiming, "in_pools[pool] += 1", "pass"),
    ),
    mutant(
        "those behind a retry begin before it where its pool is elsewhere",
        "walk",
        (claiming, "elif gates.makes_later_wait(instance, batch, self.now):", "elif False:"),
    ),
)
