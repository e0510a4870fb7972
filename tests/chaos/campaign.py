"""One campaign: workers at work, and everything that may befall them; then peace; then the verdict."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic

from tests.chaos import cuts
from tests.chaos.agent_side import AgentNemesis, AgentSide
from tests.chaos.cable import Cable
from tests.chaos.carrying_side import CarryingSide
from tests.chaos.cuts import Cut
from tests.chaos.dask_side import DaskNemesis, DaskSide
from tests.chaos.fleet import REFUSED, ROOT, TIDY_CODES, Ended, Fleet, Member
from tests.chaos.hosts import HOSTS, POOLS
from tests.chaos.nemesis import OF_SERVERS, Nemesis
from tests.chaos.processes import kill, marked
from tests.chaos.shop import FINAL, Shop, place_of_its_own
from tests.chaos.verdict import Violation, gather, judge, statuses

WORKERS = 4
HEALERS = 2
OPEN_WORK = 32
"""How many instances are under way or wait, so that there is always something to break."""
PAUSE = (0.02, 0.18)
"""Seconds between two strikes: at least and at most."""
PAUSE_OF_AGENTS = (0.2, 1.5)
"""The same where agents carry the steps, which take seconds to come again."""
QUIET_TOO_LONG = 60.0
"""Seconds in which healthy workers must bring something to an end."""
RESCUES = {
    "adopted": " step.adopted ",
    "lost": " step.lost ",
    "unclear at first": " step.unclear ",
    "fenced": " step.fenced ",
    "given up and back": " controller.fenced ",
}
"""What workers say of the steps of dead ones, and of their own when they were taken for dead."""
BREAKDOWN = "went wrong inside batchctl"
CUT_OFF = re.compile(
    r"^Error: The (connection was lost during a commit|control database .* cannot be reached)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Options:
    """What a campaign is repeated by."""

    kills: int
    seed: int
    database: str
    sabotage: str | None = None
    pools: bool = False
    """True for three hosts, which serve different pools."""
    dask: bool = False
    """True for steps that agents in the workers of a cluster carry."""
    agents: bool = False
    """True for steps that agents carry which poll a console."""
    cable: bool = False
    """True to cut a host of the cluster off from time to time, in a network of this process's own."""

    @property
    def command(self) -> str:
        told = f"python3 dev.py chaos --database {self.database} --kills {self.kills} --seed {self.seed}"
        kinds = {"--pools": self.pools, "--dask": self.dask, "--agents": self.agents}
        told = " ".join([told, *(option for option, is_so in kinds.items() if is_so)])
        return told if self.sabotage is None else f"{told} --sabotage {self.sabotage}"


@dataclass
class Outcome:
    """What a campaign did and found."""

    options: Options
    directory: Path
    counts: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    people: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    rescued: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    instances: int = 0
    executions: int = 0
    notifications: Counter[int] = field(default_factory=Counter)
    """How often each message about an incident was sent."""
    seconds: float = 0.0
    chaos_seconds: float = 0.0
    constraint_findings: list[Violation] = field(default_factory=list)


class Campaign:
    """Runs once."""

    def __init__(self, options: Options, directory: Path) -> None:
        self.options = options
        self.random = Random(options.seed)
        self.outcome = Outcome(options, directory)
        self.place = place_of_its_own(options.database, directory)
        self.shop = Shop(directory, self.place, self.random, has_pools=options.pools)
        self.fleet = Fleet(
            f"{options.database}-{options.seed}-{directory.name}",
            directory,
            options.sabotage,
            ("distributed",) if options.dask else (),
        )
        self.side: CarryingSide | None = None
        self.nemesis = Nemesis(self.fleet, self.shop, self.random)
        with_side = self.fleet, self.shop, self.random
        if options.dask:
            self.side = cluster = DaskSide(self.shop, self.fleet.mark, cable=Cable() if options.cable else None)
            self.nemesis = DaskNemesis(*with_side, cluster)
        elif options.agents:
            self.side = polling = AgentSide(self.shop, self.fleet.mark)
            self.nemesis = AgentNemesis(*with_side, polling)
        self._points = self._shuffled(cuts.OF_WORKERS)
        self._wanted: list[str] = []
        self._people_at = 0.0
        self._breakdowns: list[str] = []

    def run(self) -> Outcome:
        """Make it all happen."""
        began = monotonic()
        try:
            self._set_up()
            while self.nemesis.kills < self.options.kills:
                self._live(self.random.uniform(*(PAUSE if self.side is None else PAUSE_OF_AGENTS)))
                self.nemesis.strike()
            self.outcome.chaos_seconds = monotonic() - began
            is_stuck = self._heal()
            self._tidy_up(is_stuck)
            self._judge()
        finally:
            self.close()
        self.outcome.seconds = monotonic() - began
        return self.outcome

    def close(self) -> None:
        """End everything that was started, and nothing else."""
        self.nemesis.relent(now=True)
        self.fleet.close()
        if self.side is not None:
            self.side.end()
        for found in marked(self.fleet.mark):
            kill(found.pid, self.fleet.mark)
        self.shop.let_go()
        self.place.close()

    def _shuffled(self, boundaries: tuple[str, ...]) -> list[str]:
        found = list(cuts.points(boundaries))
        self.random.shuffle(found)
        return found

    def _set_up(self) -> None:
        """Make the tables, while the one who makes them is killed at every moment of it, and hand in the first rows."""
        for point in (*cuts.points(("C14",)), None):
            cut = None if point is None else Cut.read(f"{point}:1")
            self._start("upgrade", "db", "upgrade", cut=cut)
            self.fleet.wait_for(list(self.fleet.members.values()), 60)
            self._take_ended()
        self.shop.register()
        if self.side is not None:
            self.side.begin()
        self.shop.hand_in(OPEN_WORK)

    def _live(self, seconds: float) -> None:
        """Let some time pass in which there are enough workers, enough work, and people."""
        self.fleet.listen(seconds)
        self._take_ended()
        self.nemesis.relent()
        if self.side is not None:
            self.side.keep()
        while len(self.fleet.workers()) < WORKERS and self.nemesis.server_starts_at is None:
            self._start_worker()
        if monotonic() >= self._people_at:
            self._people_at = monotonic() + 0.4
            self._hand_in()
            self.shop.want_the_past()
            self._decide(at_most=3)
            self._drain_or_undrain()

    def _start_worker(self) -> None:
        cut = None
        if self.side is None and self.random.random() < 0.4:
            self._points = self._points or self._shuffled(cuts.OF_WORKERS)
            is_rare = self._points[-1].startswith(("C2:", "C12:"))
            nth = 1 if is_rare else self.random.choice([1, 1, 2, 3, 5, 8])
            stops = self.random.random() < 0.1
            cut = Cut.read(f"{self._points.pop()}:{nth}{':stop' if stops else ''}")
        host = self._emptiest_host()
        config = self._config_of(self.random.choice(["batchctl", "proxied"]), host)
        slots = str(self.random.randint(1, 4))
        served = [] if host is None else HOSTS[host].options
        # The real command takes half a second to start, so it is the exception.
        installed = cut is None and self.options.sabotage is None and self.random.random() < 0.05
        self._start("worker", "run", "--slots", slots, *served, cut=cut, config=config, installed=installed, host=host)

    def _emptiest_host(self) -> int | None:
        """Return the host that has the fewest workers; None where all of them run on this one."""
        if not self.options.pools:
            return None
        there = Counter(member.host for member in self.fleet.workers())
        return min((host.number for host in HOSTS), key=lambda number: (there[number], self.random.random()))

    def _config_of(self, name: str, host: int | None) -> str:
        return f"{name}{'' if host is None else host}.toml"

    def _start(
        self,
        what: str,
        *arguments: str,
        cut: Cut | None = None,
        config: str = "batchctl.toml",
        installed: bool = False,
        host: int | None = None,
    ) -> Member:
        return self.fleet.start(what, "--config", config, *arguments, cut=cut, installed=installed, host=host)

    def _hand_in(self) -> None:
        """Hand in more once half of it is done: by SQL, and now and then by command, which may be cut."""
        standing, waiting = self.shop.standing(), self.shop.waiting_intake()
        if standing is None or waiting is None or len(standing) + waiting > OPEN_WORK / 2:
            return
        for _ in range(2):
            entity, name, data = self.shop.next_row()
            cut = self._person_cut(cuts.OF_INTAKE)
            member = self._start("submit", "submit", entity, "--file", name, "--data", data, cut=cut)
            member.note = name
        self.shop.hand_in(OPEN_WORK - len(standing) - waiting)

    def _drain_or_undrain(self) -> None:
        """Drain a host or a pool now and then, or end that; the other hosts go on."""
        if not self.options.pools or self.random.random() > 0.15:
            return
        place = self.random.choice([("--host", host.name) for host in HOSTS] + [("--pool", pool) for pool in POOLS])
        verb = self.random.choice(["drain", "undrain", "undrain"])
        self._start("drain", verb, *place, "--reason", "chaos", cut=self._person_cut(cuts.OF_PEOPLE))
        self.outcome.people[verb] += 1

    def _person_cut(self, boundaries: tuple[str, ...]) -> Cut | None:
        if self.random.random() < 0.5:
            return None
        return Cut.read(f"{self.random.choice(list(cuts.points(boundaries)))}:1")

    def _decide(self, *, at_most: int, cutting: bool = True) -> None:
        """Do what a person does about instances that stand: run them again, or go on without the step; give up a few."""
        busy = {member.note for member in self.fleet.members.values() if member.what == "person"}
        standing = self.shop.standing() or {}
        for instance, status in standing.items():
            verb = self._verb_for(status, cutting=cutting)
            if verb is None or str(instance) in busy or at_most == 0:
                continue
            at_most -= 1
            cut = self._person_cut(cuts.OF_PEOPLE) if cutting else None
            member = self._start("person", verb, str(instance), "--reason", "chaos", cut=cut)
            member.note = str(instance)
            self.outcome.people[verb] += 1

    def _verb_for(self, status: str, *, cutting: bool) -> str | None:
        if status in {"held", "failed"}:
            return "skip" if self.random.random() < 0.1 else "rerun"
        if status == "running" and cutting and self.random.random() < 0.01:
            return "cancel"
        return None

    def _take_ended(self) -> None:
        for ended in self.fleet.take_ended():
            if ended.died_at_cut and ended.member.cut is not None:
                self.nemesis.counts["crash point"] += 1
                self.outcome.points[ended.member.cut.point] += 1
            elif ended.member.what == "submit" and ended.code == 0:
                self.shop.acknowledged.add(ended.member.note)
            self._read(ended)

    def _read(self, ended: Ended) -> None:
        """Count what a command says of rescues, and see whether it broke down."""
        said = ended.member.printed
        self.outcome.rescued.update({name: said.count(event) for name, event in RESCUES.items()})
        if BREAKDOWN in said or "Traceback" in said:
            self._breakdowns.append(f"{ended.member.log.name}, exit code {ended.code}: {said[-300:]}")
        elif ended.code < 0 and not ended.is_fair:
            self._breakdowns.append(f"{ended.member.log.name} ended by signal {-ended.code}")

    def _heal(self) -> bool:
        """Stop all mischief, let healthy workers finish everything; say whether they did not."""
        self.nemesis.relent(now=True)
        self._end_workers()
        self.shop.sql("UPDATE Drain SET UndrainedTime = z_inserted")
        for host in [host.number for host in HOSTS] if self.options.pools else [None] * HEALERS:
            served = [] if host is None else HOSTS[host].options
            config, installed = self._config_of("batchctl", host), self.options.sabotage is None
            self._start("worker", "run", "--slots", "4", *served, config=config, installed=installed, host=host)
        last: object = None
        since = monotonic()
        while monotonic() - since < QUIET_TOO_LONG:
            self.fleet.listen(0.1)
            if self.side is not None:
                self.side.keep()
            self._take_ended()
            standing, waiting = self.shop.standing(), self.shop.waiting_intake()
            if standing == {} and waiting == 0:
                return False
            self._decide(at_most=4, cutting=False)
            if (seen := (standing, waiting, len(self.outcome.people))) != last:
                last, since = seen, monotonic()
        return True

    def _end_workers(self) -> None:
        """Ask every worker to end; one that stands still at a cut is woken up, one that does not end is named and killed."""
        workers = self.fleet.workers()
        for member in workers:
            member.asked = True
            member.signal(signal.SIGTERM)
        until = monotonic() + 20
        while self.fleet.wait_for(workers, 0.2) and monotonic() < until:
            self.nemesis.relent(now=True)
        for member in self.fleet.wait_for(workers, 0):
            self._breakdowns.append(f"{member.log.name}: a worker did not end within 20 s of SIGTERM")
            member.killed = True
            member.signal(signal.SIGKILL)
        self.fleet.wait_for(workers, 10)
        for ended in self.fleet.ended:
            is_untidy = ended.member in workers and ended.code not in TIDY_CODES and not ended.is_fair
            # Who loses its connection in its last commit ends by saying that nobody knows, and who finds no server any more in
            # its last act by saying so; what it left is judged by the rest.
            lost_it = ended.code == REFUSED and CUT_OFF.search(ended.member.printed) is not None
            is_cut_off = lost_it and any(self.nemesis.counts[strike] for strike in OF_SERVERS)
            # One that found no database when it came never was a worker.
            if is_untidy and not is_cut_off and "controller.started" in ended.member.printed:
                self._breakdowns.append(f"{ended.member.log.name}: exit code {ended.code} after SIGTERM")
        self._take_ended()

    def _tidy_up(self, is_stuck: bool) -> None:
        """End the healthy workers; nothing of theirs may be left."""
        if is_stuck:
            final = "', '".join(FINAL)
            rows = self.shop.sql(
                "SELECT BatchControl_id, ProcessBatch_id, Status, ClaimedBy, ClaimToken, NextRunTime FROM BatchControl"
                f" WHERE Status NOT IN ('{final}')"
            )
            waiting = self.shop.sql(
                "SELECT FileProcess_id, Entity, Status, Message FROM FileProcess WHERE Status = 'ready'"
            )
            self._find("stuck: not over although workers were healthy", [*rows, *waiting])
        self._end_workers()
        if self.side is not None:
            self.side.end()
        self.fleet.wait_for(list(self.fleet.members.values()), 10)
        self._take_ended()
        left = [found for found in self._strangers() if found]
        until = monotonic() + 10
        while left and monotonic() < until:
            self.fleet.listen(0.1)
            left = list(self._strangers())
        self._find("left over: a process of a step or of a worker", left)
        if self.place.server is not None:
            sessions = self.shop.sql(
                "SELECT pid, state, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            self._find("left over: a session in the database", sessions)

    def _strangers(self) -> Iterator[str]:
        known = {self.fleet.pid, *self.fleet.members}
        for found in marked(self.fleet.mark):
            if found.pid not in known:
                yield f"{found.kind} {found.pid} ({found.state}) {found.command}"

    def _judge(self) -> None:
        evidence = gather(self.shop)
        self.outcome.constraint_findings += judge(self.shop, evidence)
        self._find("a command broke down", self._breakdowns)
        for question in (("fsck", "--json"), ("audit", "seal"), ("audit", "verify", "--json")):
            answer = self._ask(*question)
            if answer.returncode != 0:
                self._find(" ".join(question), [answer.stdout or answer.stderr])
        outcome = self.outcome
        outcome.counts, outcome.kills = self.nemesis.counts, self.nemesis.kills
        outcome.attempts = statuses(evidence)
        outcome.notifications = self.shop.notifications()
        outcome.instances = len(evidence.instances)
        outcome.executions = sum("S" in one.wording for one in evidence.executions)

    def _ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "batchctl", "--config", "batchctl.toml", *command],
            cwd=self.shop.directory,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    def _find(self, promise: str, rows: Sequence[object]) -> None:
        if rows:
            self.outcome.constraint_findings.append(Violation(promise, tuple(rows)))
