"""Playing schedules, one after the other, on one database that is emptied each time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tests.sim.database import Database, edged
from tests.sim.laws import Broken
from tests.sim.script import Script
from tests.sim.world import World


@dataclass(frozen=True)
class Played:
    """What became of a schedule: the law it broke, if it did."""

    script: Script
    law: str | None
    message: str
    commits: int
    world: World


def play(script: Script) -> Played:
    """Play one schedule. Whatever the engine raises that it should not have is told like a broken law."""
    law, message = None, ""
    with edged():
        world = World(database(), script)
        try:
            world.live()
        except Broken as broken:
            law, message = broken.law, str(broken)
        except Exception as error:  # noqa: BLE001 - a program must not end so, whatever happens to it
            law, message = "raised", f"{type(error).__name__}: {error}"
    return Played(script, law, message, world.commits, world)


@cache
def database() -> Database:
    """Return the database of this process."""
    return Database()
