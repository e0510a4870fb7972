"""What befalls the workers: each strike picks its victim by the campaign's own dice and counts what it did."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from time import monotonic

import psycopg

from tests.chaos.fleet import Fleet, Member
from tests.chaos.processes import Found, kill, marked, stands_still
from tests.chaos.shop import LEASE, Shop
from tests.proxy import Cut as ProxyCut

KILLS = {
    "worker": 30,
    "worker and supervisor": 20,
    "supervisor": 10,
    "warden": 6,
    "worker and warden": 4,
    "step": 16,
    "everything of a worker": 6,
}
OTHERS = {"SIGTERM": 5, "SIGSTOP beyond the lease": 6}
OF_SERVERS = {"server crash": 1.5, "session terminated": 6, "connection cut at COMMIT": 8}

YOUTH = 1.0
"""Seconds after which a worker is as likely a victim as any other."""
YOUTH_OF_CUT = 2.0
"""Seconds that a worker has for coming to where it is to be cut."""
SERVER_CALM = 5.0
"""Seconds for which a server runs at least: its own recovery after a crash takes a while, in which nothing else happens."""


@dataclass
class Nemesis:
    """Strikes."""

    fleet: Fleet
    shop: Shop
    random: Random
    counts: Counter[str] = field(default_factory=Counter)
    server_starts_at: float | None = None
    """When the server that was stopped is started again."""
    server_spared_until: float = 0.0

    def __post_init__(self) -> None:
        self._strikes: dict[str, Callable[[], bool]] = {
            "worker": self._kill_worker,
            "worker and supervisor": self._kill_both,
            "supervisor": self._kill_supervisor,
            "warden": self._kill_warden,
            "worker and warden": self._kill_worker_and_warden,
            "step": self._kill_step,
            "everything of a worker": self._kill_everything,
            "SIGTERM": self._terminate,
            "SIGSTOP beyond the lease": self._stop,
            "server crash": self._crash_server,
            "session terminated": self._terminate_session,
            "connection cut at COMMIT": self._cut_connection,
        }
        self._weights: dict[str, float] = {
            **KILLS,
            **OTHERS,
            **(OF_SERVERS if self.shop.place.server is not None else {}),
        }

    @property
    def kills(self) -> int:
        """How many SIGKILLs have been given, at random and at crash points."""
        return sum(times for name, times in self.counts.items() if name in KILLS or name == "crash point")

    def strike(self) -> None:
        """Do something bad, if there is anybody to do it to."""
        name = self.random.choices(list(self._weights), list(self._weights.values()))[0]
        began = monotonic()
        if self._strikes[name]():
            self.counts[name] += 1
            with (self.shop.directory / "strikes").open("a", encoding="utf-8") as log:
                log.write(f"{began:.3f} {monotonic():.3f} {name}\n")

    def relent(self, *, now: bool = False) -> None:
        """Undo what is due to be undone, or everything at once: wake up who stands still, start the server."""
        self._find_sleepers()
        for member in self.fleet.members.values():
            if member.sleeps_until is not None and (now or monotonic() >= member.sleeps_until):
                member.sleeps_until = None
                member.signal(signal.SIGCONT)
        if self.server_starts_at is not None and (now or monotonic() >= self.server_starts_at):
            assert self.shop.place.server is not None
            self.server_starts_at = None
            self.shop.place.server.start()
            self.server_spared_until = monotonic() + SERVER_CALM

    def _find_sleepers(self) -> None:
        """Give those who stand still at a cut a time to wake up."""
        for member in self.fleet.members.values():
            may_sleep = member.cut is not None and member.cut.stops and member.sleeps_until is None
            if may_sleep and stands_still(member.pid):
                member.sleeps_until = monotonic() + self._nap()
                self.counts["SIGSTOP at a crash point"] += 1

    def _nap(self) -> float:
        return LEASE * self.random.uniform(1, 4)

    def _a_worker(self) -> Member | None:
        """Pick one that has had some time; one with a cut before it has more, to come that far, and who sleeps is to wake."""
        born_before = monotonic() - self.random.uniform(0, YOUTH)
        workers = [
            member
            for member in self.fleet.workers()
            if member.sleeps_until is None and member.born + (0.0 if member.cut is None else YOUTH_OF_CUT) < born_before
        ]
        return self.random.choice(workers) if workers else None

    def _some(self, kind: str, parent: Member | None = None) -> list[Found]:
        found = [one for one in marked(self.fleet.mark) if one.kind == kind]
        return found if parent is None else [one for one in found if one.parent == parent.pid]

    def _warded(self, parent: Member | None = None) -> list[Found]:
        """Find the supervisors that have a warden: what comes of all three killed in one moment is not proven."""
        wards = {one.parent for one in self._some("warden")}
        return [one for one in self._some("supervisor", parent) if one.pid in wards]

    def _kill_worker(self) -> bool:
        worker = self._a_worker()
        if worker is None:
            return False
        worker.killed = True
        worker.signal(signal.SIGKILL)
        return True

    def _kill_both(self) -> bool:
        worker = self._a_worker()
        supervisors = [] if worker is None else self._warded(worker)
        if worker is None or not supervisors:
            return False
        acts: list[Callable[[], object]] = [lambda: kill(supervisors[0].pid, self.fleet.mark)]
        acts.insert(self.random.randrange(2), lambda: worker.signal(signal.SIGKILL))
        worker.killed = True
        for act in acts:
            act()
        return True

    def _kill_everything(self) -> bool:
        worker = self._a_worker()
        if worker is None:
            return False
        worker.killed = True
        everybody = list(marked(self.fleet.mark))
        supervisors = {one.pid for one in self._warded(worker)}
        steps = [one.pid for one in everybody if one.kind == "step" and one.parent in {worker.pid, *supervisors}]
        worker.signal(signal.SIGKILL)
        for pid in [*supervisors, *steps]:
            kill(pid, self.fleet.mark)
        return True

    def _kill_supervisor(self) -> bool:
        found = self._warded()
        return bool(found) and kill(self.random.choice(found).pid, self.fleet.mark)

    def _kill_warden(self) -> bool:
        return self._kill_any("warden")

    def _kill_worker_and_warden(self) -> bool:
        worker = self._a_worker()
        supervisors = set() if worker is None else {one.pid for one in self._some("supervisor", worker)}
        wardens = [one.pid for one in self._some("warden") if one.parent in supervisors]
        if worker is None or not wardens:
            return False
        worker.killed = True
        worker.signal(signal.SIGKILL)
        return kill(wardens[0], self.fleet.mark)

    def _kill_step(self) -> bool:
        return self._kill_any("step")

    def _kill_any(self, kind: str) -> bool:
        found = self._some(kind)
        inside = {one.pid for one in found}
        # What a step is about to become another program looks like the step itself.
        leaders = [one.pid for one in found if one.parent not in inside]
        return bool(leaders) and kill(self.random.choice(leaders), self.fleet.mark)

    def _terminate(self) -> bool:
        worker = self._a_worker()
        if worker is None or worker.asked:
            return False
        worker.asked = True
        worker.signal(signal.SIGTERM)
        return True

    def _stop(self) -> bool:
        worker = self._a_worker()
        if worker is None:
            return False
        worker.sleeps_until = monotonic() + self._nap()
        worker.signal(signal.SIGSTOP)
        return True

    def _crash_server(self) -> bool:
        server = self.shop.place.server
        if server is None or self.server_starts_at is not None or monotonic() < self.server_spared_until:
            return False
        server.stop(at_once=True)
        self.server_starts_at = monotonic() + self.random.choice([0, 0, 0.5, 1.5])
        return True

    def _terminate_session(self) -> bool:
        found = self.shop.ask(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        if not found:
            return False
        with suppress(psycopg.Error):
            return bool(self.shop.ask("SELECT pg_terminate_backend(?)", self.random.choice(found)[0]))
        return False

    def _cut_connection(self) -> bool:
        proxy = self.shop.place.proxy
        if proxy is None:
            return False
        proxy.cut(self.random.randint(1, 6), self.random.choice([ProxyCut.BEFORE, ProxyCut.AT, ProxyCut.AFTER]))
        return True
