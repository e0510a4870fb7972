"""The cluster of a campaign with `--dask`: a scheduler, nannies and workers, all of which are killed and come again."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from time import monotonic

from tests.chaos.cable import HERE, THERE, Cable
from tests.chaos.fleet import Fleet
from tests.chaos.nemesis import Nemesis
from tests.chaos.processes import MARK
from tests.chaos.shop import Shop
from tests.dask_processes import DaskProcess, free_port

POOL_LEASE = 2
NANNIES = 2
PATIENCE = 30.0
"""Seconds that a nanny has for a worker; one that never finds its scheduler again is started anew, as a service is."""
NAP = (3.0, 14.0)
"""Seconds for which a worker is stopped: it is given up in the midst of that."""
KILLS = {
    "worker": 20,
    "dask worker": 24,
    "nanny": 6,
    "dask scheduler": 3,
    "supervisor": 6,
    "step": 10,
}
OTHERS = {"SIGTERM": 4, "SIGSTOP beyond the lease": 3, "dask worker stopped": 8}
CUTS = {"network cut": 8}
"""Where there is a cable."""


@dataclass
class DaskSide:
    """Starts what has ended, as whatever manages the services of a cluster does."""

    shop: Shop
    mark: str
    cable: Cable | None = None
    """To the host of the first nanny, where this user may lay one."""
    port: int = field(default_factory=free_port)
    scheduler: DaskProcess | None = None
    nannies: list[DaskProcess] = field(default_factory=list)
    naps: dict[int, float] = field(default_factory=dict)
    """Until when each stopped worker is left so."""
    cut_until: float | None = None
    far: DaskProcess | None = None
    """The nanny at the other end of the cable."""
    _idle: dict[int, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Let all steps run there."""
        folder = self.shop.directory
        agent = f'state_directory = "agents"\nstop_grace = 0.5\nstep_environment = ["{MARK}"]\n'
        (folder / "agent.toml").write_text(agent, encoding="utf-8")
        pool = f'[pools.burst]\nkind = "dask"\nscheduler = "{self._address}"\nlease = "{POOL_LEASE}s"\n'
        for name in ("batchctl.toml", "proxied.toml"):
            with (folder / name).open("a", encoding="utf-8") as settings:
                settings.write(pool)
        self.shop.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
        self.shop.sql("UPDATE ProcessControl SET Pool = 'burst'")
        self.keep()

    def keep(self) -> None:
        """Start what is not there."""
        if self.scheduler is None or self.scheduler.process.poll() is not None:
            self.scheduler = self._start("scheduler", str(self.port), self._host)
        for nanny in [*self.nannies]:
            since = self._idle.setdefault(nanny.process.pid, monotonic())
            if nanny.workers:
                self._idle[nanny.process.pid] = monotonic()
            elif nanny.process.poll() is not None or monotonic() > since + PATIENCE:
                self.nannies.remove(nanny)
                nanny.end()
        while len(self.nannies) < NANNIES:
            self.nannies.append(self._nanny())

    @property
    def _host(self) -> str:
        return "127.0.0.1" if self.cable is None else HERE

    @property
    def _address(self) -> str:
        return f"tcp://{self._host}:{self.port}"

    def _nanny(self) -> DaskProcess:
        folder = str(self.shop.directory)
        if self.cable is None or self.far in self.nannies:
            return self._start("worker", folder, self._address, self._host, wait=False)
        self.far = self._start("worker", folder, self._address, THERE, wait=False, prefix=self.cable.there)
        return self.far

    def _start(self, *args: str, wait: bool = True, prefix: Sequence[str] = ()) -> DaskProcess:
        env = {MARK: self.mark, "BATCHCTL_CONFIG": str(self.shop.directory / "agent.toml")}
        return DaskProcess(*args, folder=self.shop.directory, env=env, wait=wait, prefix=prefix)

    @property
    def workers(self) -> list[int]:
        return [pid for nanny in self.nannies for pid in nanny.workers]

    def wake(self, *, now: bool = False) -> None:
        """Let stopped workers go on whose time has come, or all, and mend the cable."""
        if self.cable is not None and self.cut_until is not None and (now or monotonic() >= self.cut_until):
            self.cut_until = None
            self.cable.mend()
        for pid, until in [*self.naps.items()]:
            if now or monotonic() >= until:
                del self.naps[pid]
                if pid in self.workers:
                    _signal(pid, signal.SIGCONT)

    def end(self) -> None:
        """End all of it."""
        for each in [*self.nannies, *([] if self.scheduler is None else [self.scheduler])]:
            each.end()
        self.nannies.clear()
        self.scheduler = None
        if self.cable is not None:
            self.cable.close()


class DaskNemesis(Nemesis):
    """Strikes at the cluster too."""

    def __init__(self, fleet: Fleet, shop: Shop, random: Random, side: DaskSide) -> None:
        super().__init__(fleet, shop, random)
        self.side = side
        self._strikes |= {
            "dask worker": self._kill_dask_worker,
            "nanny": self._kill_nanny,
            "dask scheduler": self._kill_scheduler,
            "dask worker stopped": self._stop_dask_worker,
            "network cut": self._cut_network,
        }
        self._weights = {**KILLS, **OTHERS, **({} if side.cable is None else CUTS)}

    @property
    def kills(self) -> int:
        return super().kills + sum(self.counts[name] for name in ("dask worker", "nanny", "dask scheduler"))

    def relent(self, *, now: bool = False) -> None:
        super().relent(now=now)
        self.side.wake(now=now)

    def _awake(self) -> list[int]:
        return [pid for pid in self.side.workers if pid not in self.side.naps]

    def _kill_dask_worker(self) -> bool:
        found = self._awake()
        return bool(found) and _signal(self.random.choice(found), signal.SIGKILL)

    def _stop_dask_worker(self) -> bool:
        found = self._awake()
        if not found:
            return False
        pid = self.random.choice(found)
        self.side.naps[pid] = monotonic() + self.random.uniform(*NAP)
        return _signal(pid, signal.SIGSTOP)

    def _kill_nanny(self) -> bool:
        found = [nanny for nanny in self.side.nannies if nanny.workers]
        if found:
            self.random.choice(found).process.kill()
        return bool(found)

    def _cut_network(self) -> bool:
        if self.side.cable is None or self.side.cut_until is not None:
            return False
        self.side.cable.cut()
        self.side.cut_until = monotonic() + self.random.uniform(*NAP)
        return True

    def _kill_scheduler(self) -> bool:
        if self.side.scheduler is None or not self._awake():
            return False
        self.side.scheduler.process.kill()
        return True


def _signal(pid: int, number: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False
