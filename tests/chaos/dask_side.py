"""The cluster of a campaign with `--dask`: a scheduler, nannies and workers, all of which are killed and come again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from time import monotonic

from tests.chaos.cable import HERE, THERE, Cable
from tests.chaos.carrying_side import NAP, CarryingNemesis, CarryingSide
from tests.chaos.fleet import Fleet
from tests.chaos.shop import Shop
from tests.dask_processes import DaskProcess

NANNIES = 2
PATIENCE = 30.0
"""Seconds that a nanny has for a worker; one that never finds its scheduler again is started anew, as a service is."""
KILLS = {"dask worker": 24, "nanny": 6, "dask scheduler": 3}
OTHERS = {"dask worker stopped": 8}
CUTS = {"network cut": 8}
"""Where there is a cable."""


@dataclass
class DaskSide(CarryingSide):
    """Starts what has ended, as whatever manages the services of a cluster does."""

    cable: Cable | None = None
    """To the host of the first nanny, where this user may lay one."""
    scheduler: DaskProcess | None = None
    nannies: list[DaskProcess] = field(default_factory=list)
    cut_until: float | None = None
    far: DaskProcess | None = None
    """The nanny at the other end of the cable."""
    _idle: dict[int, float] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return "dask"

    @property
    def agents(self) -> list[int]:
        return [pid for nanny in self.nannies for pid in nanny.workers]

    def of_pool(self) -> str:
        return f'kind = "dask"\nscheduler = "{self._address}"\n'

    def keep(self) -> None:
        if self.scheduler is None or self.scheduler.process.poll() is not None:
            if self.scheduler is not None:
                self.scheduler.end()
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

    def wake(self, *, now: bool = False) -> None:
        """Mend the cable, too."""
        super().wake(now=now)
        if self.cable is not None and self.cut_until is not None and (now or monotonic() >= self.cut_until):
            self.cut_until = None
            self.cable.mend()

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
        return DaskProcess(*args, folder=self.shop.directory, env=self.environment, wait=wait, prefix=prefix)

    def end(self) -> None:
        for each in [*self.nannies, *([] if self.scheduler is None else [self.scheduler])]:
            each.end()
        self.nannies.clear()
        self.scheduler = None
        if self.cable is not None:
            self.cable.close()


class DaskNemesis(CarryingNemesis):
    """Strikes at the cluster too."""

    side: DaskSide

    def __init__(self, fleet: Fleet, shop: Shop, random: Random, side: DaskSide) -> None:
        super().__init__(fleet, shop, random, side, KILLS, OTHERS if side.cable is None else OTHERS | CUTS)
        self._strikes |= {
            "dask worker": self.kill_agent,
            "nanny": self._kill_nanny,
            "dask scheduler": self._kill_scheduler,
            "dask worker stopped": self.stop_agent,
            "network cut": self._cut_network,
        }

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
        if self.side.scheduler is None or not self.awake():
            return False
        self.side.scheduler.process.kill()
        return True
