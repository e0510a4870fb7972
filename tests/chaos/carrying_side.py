"""What carries the steps of a campaign in place of its workers: agents, which are killed and stopped, and come again."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from time import monotonic

from tests.chaos.fleet import Fleet
from tests.chaos.nemesis import Nemesis
from tests.chaos.processes import MARK, marked
from tests.chaos.shop import Shop
from tests.dask_processes import free_port

POOL, POOL_LEASE = "burst", 2
NAP = (3.0, 14.0)
"""Seconds for which an agent is stopped: it is given up in the midst of that."""
KILLS = {"worker": 20, "supervisor": 6, "step": 10}
OTHERS = {"SIGTERM": 4, "SIGSTOP beyond the lease": 3}


@dataclass
class CarryingSide:
    """Starts what has ended, as whatever manages services does."""

    shop: Shop
    mark: str
    port: int = field(default_factory=free_port)
    naps: dict[int, float] = field(default_factory=dict)
    """Until when each stopped agent is left so."""

    def begin(self) -> None:
        """Let all steps run there."""
        folder = self.shop.directory
        agent = f'state_directory = "agents"\nstop_grace = 0.5\nstep_environment = ["{MARK}"]\n'
        (folder / "agent.toml").write_text(agent + self.of_agent(), encoding="utf-8")
        pool = f'[pools.{POOL}]\nlease = "{POOL_LEASE}s"\n{self.of_pool()}'
        for name in ("batchctl.toml", "proxied.toml"):
            with (folder / name).open("a", encoding="utf-8") as settings:
                settings.write(pool)
        self.shop.sql(f"INSERT INTO Pool (PoolName, Kind) VALUES ('{POOL}', '{self.kind}')")
        self.shop.sql(f"UPDATE ProcessControl SET Pool = '{POOL}'")
        self.keep()

    @property
    def kind(self) -> str:
        """Return the Kind of the pool."""
        raise NotImplementedError

    @property
    def agents(self) -> list[int]:
        """Return the process ids of the agents."""
        raise NotImplementedError

    @property
    def there(self) -> list[int]:
        """Return the process ids of all that may be stopped, and is to go on."""
        return self.agents

    def of_agent(self) -> str:
        """Return what stands in the configuration of agents besides."""
        return ""

    def of_pool(self) -> str:
        """Return what stands in the section of the pool besides."""
        raise NotImplementedError

    def keep(self) -> None:
        """Start what is not there."""
        raise NotImplementedError

    def end(self) -> None:
        """End all of it."""
        raise NotImplementedError

    def wake(self, *, now: bool = False) -> None:
        """Let stopped agents go on whose time has come, or all."""
        for pid, until in [*self.naps.items()]:
            if now or monotonic() >= until:
                del self.naps[pid]
                # What started it may be dead by now, and it is to end then: that it can only when it goes on.
                if any(found.pid == pid for found in marked(self.mark)):
                    signalled(pid, signal.SIGCONT)

    @property
    def environment(self) -> dict[str, str]:
        """Return what tells an agent where its configuration is, and a process whose it is."""
        return {MARK: self.mark, "BATCHCTL_CONFIG": str(self.shop.directory / "agent.toml")}


class CarryingNemesis(Nemesis):
    """Strikes at what carries the steps too."""

    def __init__(
        self,
        fleet: Fleet,
        shop: Shop,
        random: Random,
        side: CarryingSide,
        kills: dict[str, int],
        others: dict[str, int],
    ) -> None:
        super().__init__(fleet, shop, random)
        self.side = side
        self._own_kills = kills
        self._weights = {**KILLS, **kills, **OTHERS, **others}

    @property
    def kills(self) -> int:
        return super().kills + sum(self.counts[name] for name in self._own_kills)

    def relent(self, *, now: bool = False) -> None:
        super().relent(now=now)
        self.side.wake(now=now)

    def awake(self) -> list[int]:
        """Return the agents that are not stopped."""
        return [pid for pid in self.side.agents if pid not in self.side.naps]

    def kill_agent(self) -> bool:
        found = self.awake()
        return bool(found) and signalled(self.random.choice(found), signal.SIGKILL)

    def stop_agent(self) -> bool:
        found = self.awake()
        if not found:
            return False
        return self.nap(self.random.choice(found))

    def nap(self, pid: int) -> bool:
        """Let a process stand still for a while."""
        self.side.naps[pid] = monotonic() + self.random.uniform(*NAP)
        return signalled(pid, signal.SIGSTOP)


def signalled(pid: int, number: int) -> bool:
    """Send a signal; false where the process is gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False
