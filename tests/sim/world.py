"""The world of one schedule: plays its events, then heals, and sees that everything comes to its end."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from batchctl.domain.maintenance.audit_chain import Anchor
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import BatchDefinition, HistoryId
from batchctl.logs import Event as Told
from batchctl.logs import Listener
from batchctl.ports import Boundary
from tests.sim import counts, laws, learning, paces, questioned, shown, step_laws, stepwise, telling
from tests.sim.agent_processes import AgentProcesses
from tests.sim.agent_runner import Seat
from tests.sim.clock import BEGINNING, TrueTime
from tests.sim.database import EDGE, Database
from tests.sim.faults import Actor
from tests.sim.happening import happen
from tests.sim.hosts import STOPPED, Host, Luck, Running, Supervisor
from tests.sim.passing import Passing
from tests.sim.programs import Person, Program
from tests.sim.script import (
    BatchPlan,
    DependentPlan,
    Event,
    Fault,
    SchedulePlan,
    Script,
    SetClock,
    every_event,
)
from tests.sim.wires import Wires


class World:
    """Everything there is while a schedule is played."""

    def __init__(self, database: Database, script: Script) -> None:
        self.script = script
        self.options = script.options
        self.time = TrueTime()
        self.raw = database.raw
        self.engine = database.engine
        database.empty()
        database.now = self.time.database_now
        # What an agent carries is to outlive its controller often enough.
        patience = script.options.orphan_timeout * (1.5 if script.options.agents else 1.0)
        self.luck = Luck(script.options.luck, patience)
        self.executions: list[Running] = []
        self.supervisors: dict[str, Supervisor] = {}
        self.passing, self.wires = Passing(self), Wires(self)
        self.commits = 0
        self.happened: Counter[str] = Counter()
        """How often what happened; a fault counts when it strikes."""
        self.away_until = -1.0
        self._trace: list[tuple[float, str, str, Mapping[str, Any]]] = []
        self._seen = 0
        self._starts = 0
        self.progress = 0
        """How many commits were more than a sign of life."""
        self.armed: list[Fault] = []
        self.frozen: list[Actor] = []
        self.stalled: set[int] = set()
        """Workers that make no turn by themselves at present."""
        self.hosts = [Host(number, ahead) for number, ahead in enumerate(self.options.ahead)]
        self.agents = AgentProcesses(self)
        self.workers: list[Program | None] = [None] * len(self.options.places)
        self.kept_out: defaultdict[str, list[datetime]] = defaultdict(list)
        """When, by their own clocks, programs met a lock that kept them from deciding about a schedule."""
        self.begun: dict[int, dict[int, float]] = {}
        """By batch, which of its instances was begun when, of those that are begun slowly."""
        self.shown: dict[int, shown.Seen] = {}
        """By attempt, how far it has been shown while it runs."""
        self.past = 0
        """The number of the last attempt that was made before the schedule began."""
        self.completed: list[int] = []
        """Instances, in the order in which they have completed."""
        self.unusual: set[int] = set()
        """Attempts of which the number of rows was found wrong."""
        self.is_healed = False
        self.adopters: set[str] = set()
        """Programs that have taken something over, or may have."""
        self.letters_begun = 0
        self.letters: dict[int, list[tuple[str, float]]] = {}
        self.reports: dict[str, list[tuple[str, float]]] = {}
        """Who sent which message, and when."""
        self.anchors: list[Anchor] = []
        """How far the chain of the audit log reached, whenever that was told."""
        self.person = Person(self)
        EDGE.actor = self.person
        self.batches: tuple[BatchDefinition, ...] | None = None
        """The definitions as they were last read; None once they were changed."""
        self.raw.execute("INSERT INTO Resource (ResourceName, Units) VALUES ('tapes', ?)", (self.options.tapes,))
        pools = [(plan.name, plan.most, plan.kind) for plan in self.options.pools]
        self.raw.executemany("INSERT INTO Pool (PoolName, MaxConcurrent, Kind) VALUES (?, ?, ?)", pools)
        if self.options.limit is not None:
            self.raw.execute(
                "INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', ?)", (str(self.options.limit),)
            )
        for number, plan in enumerate(self.options.batches):
            self._register(number, plan)
        for number, dependent in enumerate(self.options.dependents):
            self._register_dependent(number, dependent)
        for number, timed in enumerate(self.options.schedules):
            self._register_schedule(number, timed)
        learning.remember(self)

    @property
    def goes_by_clocks(self) -> bool:
        """Say whether the order of events can be told by times: not where the database's clock is set."""
        return not any(isinstance(event, SetClock) for event in every_event(self.script.events))

    @property
    def fingerprint(self) -> str:
        """Return what is the same whenever the same schedule is played."""
        return hashlib.sha256("\n".join(self.story()).encode()).hexdigest()

    def story(self) -> Iterator[str]:
        """Tell what happened, line by line."""
        for seconds, name, what, fields in self._trace:
            yield f"{seconds:9.1f} {name:8} {what} " + " ".join(f"{key}={told(value)}" for key, value in fields.items())

    def play(self, events: Iterable[Event], frozen: Actor | None = None) -> None:
        """Let events happen, while a program is frozen."""
        if frozen is not None:
            self.frozen.append(frozen)
        before = EDGE.__dict__.get("actor")
        for event in events:
            happen(self, event)
        if frozen is not None:
            self.frozen.remove(frozen)
        if before is not None:
            EDGE.actor = before

    def acting(self, actor: Actor, act: Callable[[], None]) -> None:
        """Let somebody act."""
        before = EDGE.__dict__.get("actor")
        EDGE.actor = actor
        try:
            act()
        finally:
            if before is not None:
                EDGE.actor = before

    @property
    def pace(self) -> float:
        """How many seconds a worker may leave between two turns and still be trusted."""
        return 0.8 * min(rhythm.lease.total_seconds() for rhythm in self.options.rhythms)

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Look into the tables as nobody in the world can."""
        return list(self.raw.execute(statement, values))

    def listener(self, name: str) -> Listener:
        """Return what a program tells its events to."""
        return lambda event: self.note(name, event)

    def note(self, name: str, event: Told) -> None:
        """Put an event into the trace."""
        self.tell(name, event.name, event.fields)
        if event.name == "audit.anchor":
            self.anchors.append(telling.anchor_in(event.fields))
        if event.name == "retention.trouble" and "IntegrityError" in str(event.fields["Message"]):
            raise laws.Broken("purge", str(event.fields["Message"]))

    def tell(self, name: str, what: str, fields: Mapping[str, Any]) -> None:
        """Put something into the trace."""
        self._trace.append((self.time.seconds, name, what, fields))

    def committed(self, actor: Actor, boundaries: Collection[str]) -> None:
        """See what a commit has changed."""
        self.commits += 1
        self.progress += Boundary.HEARTBEAT not in boundaries
        seen = self.rows("SELECT * FROM Seen WHERE Seen_id > ? ORDER BY Seen_id", self._seen)
        if seen:
            self._seen = seen[-1][0]
        self.tell(actor.name, f"commit {self.commits}", {"at": boundaries, "seen": [row[1:5] for row in seen]})
        laws.check_commit(self, actor, boundaries, [row[1:] for row in seen])
        questioned.check_commit(self, [row[1:] for row in seen])
        if Boundary.OPERATOR not in boundaries:
            counts.check_moves(self, actor, [row[1:] for row in seen])
            step_laws.check_passing(self, actor, [row[1:] for row in seen])
        learning.check(self, [row[1:] for row in seen])
        shown.check(self, actor, [row[1:] for row in seen])
        if Boundary.TAKEOVER in boundaries:
            self.adopters.add(actor.name)
        if Boundary.CLAIM in boundaries:
            counts.check_slots(self, actor)
            paces.check(self, [row[1:] for row in seen])

    def armed_for(self, actor: Actor) -> list[Fault]:
        """Return the faults that strike whichever program is the first."""
        return self.armed if isinstance(actor, Program) else []

    def is_dead(self, name: str) -> bool:
        """Say whether a program has died."""
        return all(program is None or program.name != name for program in self.workers)

    def is_trusted(self, name: str | None) -> bool:
        """Say whether a program is alive, and its last sign of life so young that nobody may take it for dead."""
        found = next((program for program in self.workers if program is not None and program.name == name), None)
        return found is not None and found.worker.membership.is_trusted()

    def check_adoption(self, program: Program, key: int) -> None:
        """See that nobody else who is alive watches over an execution any more under the newest claim."""
        self.tell(program.name, "adopts", {"key": key})
        laws.check_adoption(self, program, key)

    def check_stop(self, program: Program, running: Running) -> None:
        """See that nobody stops what another has adopted."""
        self.tell(program.name, "stops", {"key": running.key})
        laws.check_stop(self, program, running)

    def stands_still(self, program: Program) -> bool:
        """Say whether nothing of a program goes on at present."""
        return program in self.frozen or program.place in self.stalled

    def new_supervisor(self, program: Program | Seat) -> Supervisor:
        """Return the supervisor of a new program."""
        made = self.supervisors[program.name] = Supervisor(program.host, program.host.boot)
        return made

    def execute(
        self, program: Program | Seat, key: HistoryId, spec: dict[str, Any], *, is_command: bool, lease_bound: bool
    ) -> Running:
        """Let an execution begin."""
        now = self.time.seconds
        seconds, outcome, grace = self.luck.of(spec["instance"], spec["seq"], spec["attempt"])
        if "asks" in spec:
            outcome = questioned.asking(outcome, spec["asks"])
        if spec["checks"]:
            outcome = self._answer(spec["instance"], spec["seq"], doubtful=not outcome.succeeded)
        running = Running(
            key=int(key),
            instance=spec["instance"],
            seq=spec["seq"],
            attempt=spec["attempt"],
            checks=spec["checks"],
            host=program.host,
            owner=program.name,
            is_command=is_command,
            lease_bound=lease_bound,
            pid=len(self.executions) + 100,
            started=now,
            ends=now + seconds,
            outcome=outcome,
            grace=grace,
        )
        running.outcome = learning.with_rows(self, running)
        self.tell(program.name, "execution", {"key": int(key), "spec": spec, "ends": running.ends})
        laws.check_start(self, running)
        questioned.check_start(self, running.instance, running.seq)
        if not running.checks:
            counts.check_order(self, running)
        self.executions.append(running)
        return running

    def alive_of(self, instance: int) -> list[Running]:
        """Return what of an instance is alive at this moment."""
        now = self.time.seconds
        return [one for one in self.executions if one.instance == instance and one.is_alive(now)]

    def died(self, program: Program) -> None:
        """Let a program's commands go on and the rest end with it."""
        self.tell(program.name, "died", {})
        now = self.time.seconds
        for one in self.executions:
            if one.owner == program.name and not one.is_command:
                one.end(now, STOPPED)
        self.supervisors[program.name].orphaned = True
        self.workers[program.place] = None
        program.end_loops()

    def close(self) -> None:
        """Let everything go that holds something besides memory."""
        for program in self.workers:
            if program is not None:
                program.end_loops()
        self.agents.close()

    def _answer(self, instance: int, seq: int, *, doubtful: bool) -> StepOutcome:
        """Say whether a step was done, as a check that looks at its work does."""
        if doubtful:
            return StepOutcome(succeeded=False, message="cannot tell")
        done = any(one.outcome.succeeded for one in self.executions if (one.instance, one.seq) == (instance, seq))
        return StepOutcome(succeeded=True, value=done)

    def _register(self, number: int, plan: BatchPlan) -> None:
        self.raw.execute(
            "INSERT INTO ProcessBatch (ProcessBatchName, Entity, DuplicateCheck, Seq, RetryCount, RetryWaitMins, OnFailure,"
            " MaxConcurrent, Populator, Pool, Priority, MaxPerMinute) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                f"B{number}",
                None if plan.entity is None else f"B{plan.entity}",
                int(plan.duplicate_check),
                100 if plan.is_of_one_seq else 100 + number,
                plan.retry_count,
                plan.retry_wait,
                plan.on_failure,
                plan.max_concurrent,
                "poisoned" if plan.poison else "pattern",
                plan.pool,
                plan.priority,
                plan.max_per_minute,
            ),
        )
        if plan.units:
            self.raw.execute(
                "INSERT INTO BatchResource (ProcessBatch_id, Resource_id, Units, Exclusive)"
                " SELECT ProcessBatch_id, 1, ?, ? FROM ProcessBatch WHERE ProcessBatchName = ?",
                (plan.units, int(plan.exclusive), f"B{number}"),
            )
        steps = list(enumerate(plan.steps, start=1))
        for at, step in reversed(steps) if plan.backwards else steps:
            kind = "confirm" if step.asks is not None else "command" if step.is_command else "call"
            self.raw.execute(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, OnLost, MaxDuration,"
                " RetryCount, RetryWaitSecs, RetryBackoff, RetryOn, OnStepFailure, RowsMin, RowsMax, OnRows, Pool, Needs, Data4)"
                " SELECT ProcessBatch_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM ProcessBatch"
                " WHERE ProcessBatchName = ?",
                (
                    *(10 * at, f"step {at}", kind, step.on_lost, step.max_duration),
                    *(*stepwise.columns(step), step.pool, step.needs, step.asks, f"B{number}"),
                ),
            )

    def _register_dependent(self, number: int, plan: DependentPlan) -> None:
        mode = "any" if plan.any_of_them else "all"
        named = "SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName ="
        self.raw.execute(
            "INSERT INTO ProcessBatch (ProcessBatchName, Seq, OnFailure, MaxConcurrent, DependencyMode) VALUES (?, ?, ?, ?, ?)",
            (f"D{number}", 200 + number, "continue", 3, mode),
        )
        self.raw.execute(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, OnLost)"
            f" VALUES (({named} ?), 10, 'step', 'command', 'rerun')",
            (f"D{number}",),
        )
        for other in plan.waits_for:
            self.raw.execute(
                f"INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (({named} ?), ({named} ?))",
                (f"D{number}", f"B{other}"),
            )

    def _register_schedule(self, number: int, plan: SchedulePlan) -> None:
        at = None if plan.once_at is None else BEGINNING + timedelta(minutes=plan.once_at)
        self.raw.execute(
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, IntervalMinutes, RunAt, CatchUp, CatchUpMost, Overlap,"
            " Jitter) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                f"s{number}",
                f"B{plan.batch % len(self.options.batches)}",
                "interval" if at is None else "once",
                plan.minutes if at is None else None,
                None if at is None else at.strftime("%Y-%m-%d %H:%M"),
                plan.catch_up,
                plan.most,
                plan.overlap,
                plan.jitter,
            ),
        )

    def program(self, worker: int) -> Program | None:
        """Return the worker's program; what watches over programs starts it again when it has died."""
        host = self.hosts[self.options.places[worker]]
        if self.workers[worker] is None and host.up:
            self._starts += 1
            self.workers[worker] = Program(self, worker, f"w{worker}.{self._starts}", host)
        return self.workers[worker]

    def turn(self, worker: int) -> None:
        program = self.program(worker)
        if program is not None and program not in self.frozen:
            program.turn()


def told(value: object) -> str:
    """Return a value in words that are the same each time."""
    return "+".join(sorted(value)) if isinstance(value, frozenset) else str(value)
