"""A few workers and a few rows, for accidents that are staged one by one."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

from tests.chaos.cuts import Cut
from tests.chaos.fleet import Fleet, Member
from tests.chaos.processes import Found, kill, marked
from tests.chaos.shop import LEASE, Place, Shop
from tests.chaos.verdict import gather, judge

T = TypeVar("T")
PATIENCE = 120.0


@contextmanager
def staged(place: Place, directory: Path, sabotage: str | None = None, lease: float = LEASE) -> Iterator[Scene]:
    """Open a scene, and leave nothing of it."""
    scene = Scene(place, directory, sabotage, lease)
    try:
        yield scene
    finally:
        scene.close()


@dataclass
class Scene:
    """Where an accident happens."""

    place: Place
    directory: Path
    sabotage: str | None = None
    lease: float = LEASE
    shop: Shop = field(init=False)
    fleet: Fleet = field(init=False)

    def __post_init__(self) -> None:
        self.shop = Shop(self.directory, self.place, Random(1), lease=self.lease)
        # Folders of tests that run at the same time may have the same name, in different places.
        mark = f"scene-{os.getpid()}-{self.directory.name}-{self.place.database.kind}"
        self.fleet = Fleet(mark, self.directory, self.sabotage)
        self.shop.register()

    def close(self) -> None:
        self.fleet.close()
        for found in marked(self.fleet.mark):
            kill(found.pid, self.fleet.mark)
        self.shop.let_go()

    def hand_in(self, entity: str, plan: str, times: int = 1) -> None:
        """Insert rows whose steps behave as the plan says, `ok.slow.fail`."""
        for _ in range(times):
            self.shop.handed_in += 1
            name = f"/in/{self.shop.handed_in}.csv"
            self.shop.sql("INSERT INTO FileProcess (Entity, FileName, Data) VALUES (?, ?, ?)", entity, name, plan)
            self.shop.acknowledged.add(name)

    def worker(self, cut: str | None = None, *options: str) -> Member:
        """Start a worker of four slots."""
        at = None if cut is None else Cut.read(cut)
        return self.fleet.start("worker", "--config", "batchctl.toml", "run", "--slots", "4", *options, cut=at)

    def person(self, *command: str) -> Member:
        """Type a command."""
        return self.fleet.start("person", "--config", "batchctl.toml", *command)

    def ended(self, *members: Member) -> list[int]:
        """Wait for the end of commands; return their exit codes."""
        assert self.fleet.wait_for(list(members), PATIENCE) == [], "a command did not end"
        codes = {ended.member.pid: ended.code for ended in self.fleet.ended}
        return [codes[member.pid] for member in members]

    def end(self, *members: Member) -> list[int]:
        """Ask commands to end, and wait until they have."""
        for member in members:
            member.signal(signal.SIGTERM)
        return self.ended(*members)

    def kill(self, worker: Member) -> None:
        """Kill a worker."""
        worker.killed = True
        worker.signal(signal.SIGKILL)

    def kill_all(self, kind: str) -> None:
        """Kill every process of a kind."""
        for found in self.running(kind):
            kill(found.pid, self.fleet.mark)

    def until(self, found: Callable[[], T], seconds: float = PATIENCE) -> T:
        """Wait until something is so; return it."""
        for _ in range(int(seconds / 0.02)):
            if thing := found():
                return thing
            self.fleet.listen(0.02)
        raise AssertionError(f"it never came: {found.__code__.co_names}")

    def until_over(self) -> None:
        """Wait until everything that was handed in is over."""
        self.until(lambda: self.shop.waiting_intake() == 0 and self.shop.standing() == {})

    def wording(self, word: str) -> Counter[tuple[int, int]]:
        """Count how often each step of each instance has left a line that begins so."""
        lines = (line.split() for line in self.shop.effects())
        return Counter((int(instance), int(seq)) for first, instance, seq, *_ in lines if first == word)

    def statuses(self) -> list[str]:
        """Return how the instances stand, in order of creation."""
        return [row[0] for row in self.shop.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id")]

    def attempts(self) -> list[tuple[int, str, str]]:
        """Return step, cause and status of every attempt, in their order."""
        rows = self.shop.sql(
            "SELECT ProcessControlSeq, Cause, Status FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"
        )
        return [(seq, cause, status) for seq, cause, status in rows]

    def running(self, kind: str) -> list[Found]:
        """Return the processes of a kind."""
        return [found for found in marked(self.fleet.mark) if found.kind == kind]

    def constraint_findings(self) -> str:
        """Say which promises were not kept."""
        return "\n".join(map(str, judge(self.shop, gather(self.shop))))
