"""Playing schedules, one after the other, on one database that is emptied each time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from batchctl.operations.maintenance import fsck
from tests.sim.database import Database, edged
from tests.sim.healing import live
from tests.sim.laws import GO_BY_CLOCKS, Broken
from tests.sim.script import Script
from tests.sim.world import World


@dataclass(frozen=True)
class Played:
    """What became of a schedule: the law it broke, if it did."""

    script: Script
    law: str | None
    message: str
    world: World

    @property
    def commits(self) -> int:
        """Return how many transactions were committed."""
        return self.world.commits


def play(script: Script, *, examine: bool = False) -> Played:
    """Play one schedule. Whatever the engine raises that it should not have is told like a broken law."""
    law, message = None, ""
    with edged():
        world = World(database(), script)
        try:
            live(world)
            for found in fsck.examine(world.person.transactions, world.person.clock) if examine else ():
                if found.code not in GO_BY_CLOCKS or world.goes_by_clocks:
                    raise Broken(found.code, f"fsck: {found.law}: {found.table} {found.row_id}")
        except Broken as broken:
            law, message = broken.law, str(broken)
        except Exception as error:  # noqa: BLE001 - a program must not end so, whatever happens to it
            law, message = "raised", f"{type(error).__name__}: {error}"
        finally:
            world.close()
    return Played(script, law, message, world)


def play_twice(script: Script) -> Played:
    """Play a schedule again to see that the same happens; at the end `fsck` itself is asked."""
    first, second = play(script, examine=True), play(script)
    if first.law is None and first.world.fingerprint != second.world.fingerprint:
        return replace(first, law="determinism", message="played twice, it did not go the same way")
    return first


@cache
def database() -> Database:
    """Return the database of this process."""
    return Database()
