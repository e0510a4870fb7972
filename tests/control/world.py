"""A real control database with a clock and step outcomes that the test decides."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from batchctl.control.controller import Controller
from batchctl.control.creation import CreationReport, Creator
from batchctl.control.membership import Membership
from batchctl.control.recording import Recorder
from batchctl.control.rescue import Rescue, Rescued
from batchctl.control.served_pools import ServedPools
from batchctl.domain.commands import Identity
from batchctl.domain.errors import PluginError
from batchctl.domain.liveness import Rhythm
from batchctl.domain.operators.pools import served_by
from batchctl.domain.outcomes import Finding, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.plugins import Plugins
from batchctl.domain.rows import (
    BatchDefinition,
    ControllerRow,
    HistoryEntry,
    HistoryId,
    IntakeRow,
    Populated,
    Step,
)
from batchctl.logs import Event, Listener
from batchctl.plugin_api import CannotPopulate, Execution, StepHandler
from batchctl.ports import Finished, Notify, Populating, Report, Sightings, Spawned, Trace
from batchctl.preparation import Preparer
from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import FakeClock, context
from tests.control_databases import IMPATIENT, ControlDatabase

NO_WAIT = timedelta(0)
ZONE = ZoneInfo("Europe/Amsterdam")
OK = StepOutcome(succeeded=True)
BAD = StepOutcome(succeeded=False, message="it broke", return_code=3)
FATAL = StepOutcome(succeeded=False, message="no use", fatal=True)
RUNS_ON = None
PROCESS = Identity(pid=4711)
LONG_AFTER = Rhythm(orphan_timeout=NO_WAIT)
"""Of who comes when everybody has waited for long enough."""


class ToldHandler:
    """Renders what Data1 says; never executes: the runner of the test decides how it ends."""

    process_type: ClassVar[str] = "told"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Find nothing wrong."""
        del step, context
        return []

    def render(self, request: StepRequest) -> Rendered:
        """Show the step's number and the instance's first value."""
        text = f"step {request.step.seq} of {request.instance.instance_id} with {request.instance.data[0]}"
        return Rendered(text, {"seq": request.step.seq})

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Never be called."""
        raise AssertionError(rendered, execution)

    def verification(self, step: Step) -> Step:
        """Ask with the same type."""
        return step

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read the value the test put into the outcome."""
        return None if outcome.value is None else bool(outcome.value)


@dataclass
class ScriptedRunner:
    """A `StepRunner` whose executions end as the test says: at once, or when told, or never."""

    script: Callable[[Rendered], StepOutcome | None] = lambda rendered: OK
    reports: deque[Report] = field(default_factory=deque)
    open: dict[HistoryId, Rendered] = field(default_factory=dict)
    started: list[HistoryId] = field(default_factory=list)
    stopped: list[HistoryId] = field(default_factory=list)
    waits: list[timedelta] = field(default_factory=list)
    kept: set[str] | None = None
    """Who was not to be forgotten when it was last tidied."""
    bells: list[Notify | None] = field(default_factory=list)
    lease_bound: set[HistoryId] = field(default_factory=set)
    gone: Callable[[ControllerRow], bool] = lambda row: False
    traces: dict[HistoryId, Trace] = field(default_factory=dict)
    alive: Sequence[int] = ()
    """The processes seen of every execution."""
    examined: list[str] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    """What happens while an execution is examined."""
    while_writing: Callable[[], object] = lambda: None
    """What happens while the ends of a turn are written."""
    stopped_left_over: list[HistoryId] = field(default_factory=list)
    while_stopping: Callable[[], object] = lambda: None
    """What happens while what is left over is stopped."""
    adopted: list[tuple[HistoryId, str]] = field(default_factory=list)
    goes_on_alone: bool = False
    reports_at_once: bool = False
    """True when what has ended while it was begun is reported then."""
    stops_at_once: bool = True
    released: list[HistoryId] = field(default_factory=list)
    lease_until: float = 0.0
    committed: list[HistoryId] = field(default_factory=list)

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:
        """Begin, and end at once if the script says so."""
        del handler
        if lease_bound:
            self.lease_bound.add(key)
        self.started.append(key)
        self.open[key] = rendered
        outcome = self.script(rendered)
        if outcome is not None:
            self.end(key, outcome)

    def end(self, key: HistoryId, outcome: StepOutcome) -> None:
        """Let an execution end."""
        self.open.pop(key, None)
        self.reports.append(Finished(key, outcome, None))

    def put_back(self, key: HistoryId, message: str) -> None:
        """Say of an execution that it could not be begun."""
        self.open.pop(key, None)
        self.reports.append(Finished(key, StepOutcome(succeeded=False, message=message), None, never_ran=True))

    def spawn(self, key: HistoryId, identity: Identity) -> None:
        """Report a process."""
        self.reports.append(Spawned(key, identity))

    def refuse(self, key: HistoryId, reason: str, *, put_back: bool = False) -> None:
        """Let an execution that could not be rendered fail, or be put back."""
        outcome = StepOutcome(succeeded=False, fatal=not put_back, never_ran=put_back, message=reason)
        self.reports.append(Finished(key, outcome, None))

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return what has been reported."""
        self.waits.append(wait)
        self.bells.append(notify)
        return self._reported()

    def overhear(self) -> Sequence[Report]:
        """Return what has been reported meanwhile."""
        self.while_writing()
        return self._reported()

    def _reported(self) -> Sequence[Report]:
        found = list(self.reports)
        self.reports.clear()
        return found

    def ask_for_output(self) -> bool:
        """Nothing shows what it writes."""
        return False

    def hasten(self) -> Sequence[Report]:
        """Everything has been carried out; it is reported now or later."""
        return self._reported() if self.reports_at_once else ()

    def wake(self) -> None:
        """Nothing waits here."""

    def stop(self, key: HistoryId) -> None:
        """Let a stopped execution end as stopped."""
        self.stopped.append(key)
        if key in self.open and self.stops_at_once:
            self.end(key, StepOutcome(succeeded=False, stopped=True, message="stopped"))

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say of a controller what the test says."""
        return self.gone(controller)

    def examine(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Trace:
        """Say of an execution what the test says."""
        del handler, rendered
        self.examined.append(entry.claimed_by or "")
        self.meanwhile()
        return self.traces.get(entry.history_id, Trace.GONE)

    def seen_alive(self, entry: HistoryEntry) -> Sequence[int]:
        """Say what the test says."""
        del entry
        return self.alive

    def stop_left_over(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Sequence[int]:
        """Note what was stopped: one process of each."""
        del handler, rendered
        self.stopped_left_over.append(entry.history_id)
        self.while_stopping()
        return (4712,)

    def adopt(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        entry: HistoryEntry,
        *,
        lease_bound: bool = False,
    ) -> None:
        """Go on with an execution that another runner began."""
        del handler
        if lease_bound:
            self.lease_bound.add(key)
        self.adopted.append((key, entry.claimed_by or ""))
        self.open[key] = rendered

    def let_go(self, key: HistoryId) -> bool:
        """Forget an execution, if executions go on alone here."""
        self.released.append(key)
        if self.goes_on_alone:
            self.open.pop(key, None)
        return self.goes_on_alone

    def keep_lease(self, until: float) -> None:
        """Note until when."""
        self.lease_until = until

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Note what is committed."""
        self.committed.extend(keys)

    def tidy(self, living: Collection[str], live: Collection[HistoryId]) -> None:
        """Note who is not forgotten."""
        del live
        self.kept = set(living)

    def close(self, *, leave: bool = False) -> None:
        """Nothing to end."""


class Populators:
    """Populators as the test writes them. Those in `aside` answer when the test says so."""

    def __init__(self) -> None:
        self.by_name: dict[str, Callable[[IntakeRow], Populated]] = {"pattern": _file_name}
        self.aside: set[str] = set()
        self.asked: list[tuple[IntakeRow, BatchDefinition]] = []
        """What was asked aside and has no answer, in order."""
        self.stuck: set[str] = set()
        self.room = 100
        self.waits = 0
        """How often it was waited for an answer."""
        self.hangs: Callable[[IntakeRow], bool] = lambda row: False
        self._come: list[Populating] = []

    def populate(self, populator: str, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Call one of them."""
        del batch
        if populator not in self.by_name:
            message = f"there is no populator '{populator}'"
            raise CannotPopulate(message)
        return self.by_name[populator](row)

    def ask(self, row: IntakeRow, batch: BatchDefinition) -> Populated | None:
        """Call one of them, or remember that it is to be called aside."""
        if batch.populator not in self.aside:
            return self.populate(batch.populator, row, batch)
        self.asked.append((row, batch))
        return None

    def answer(self, most: int = 1) -> None:
        """Let some of those asked aside answer, or take too long."""
        for row, batch in self.asked[:most]:
            hung = self.hangs(row)
            values: Populated | str = "it took too long" if hung else ""
            if not hung:
                try:
                    values = self.populate(batch.populator, row, batch)
                except CannotPopulate as refused:
                    values = str(refused)
            self._come.append(Populating(row, batch.batch_id, values, hung=hung))
        del self.asked[:most]

    def has_room(self, batch: BatchDefinition) -> bool:
        """Say what the test says of those asked aside."""
        return batch.populator not in self.aside or len(self.asked) < self.room

    def is_stuck(self, batch: BatchDefinition) -> bool:
        """Say what the test says."""
        return batch.populator in self.stuck

    def answers(self) -> Sequence[Populating]:
        """Return what has come."""
        found, self._come = self._come, []
        return found

    @property
    def has_answers(self) -> bool:
        """Say whether anything has come."""
        return bool(self._come)

    def wait(self) -> None:
        """Let the next answer come."""
        self.waits += 1
        self.answer()

    def close(self) -> None:
        """Nothing to end."""


def _file_name(row: IntakeRow) -> Populated:
    return Populated(data=(row.file_name, None, None, None, None, None))


class World:
    """One database and everything that works on it."""

    ok = OK

    def __init__(self, database: ControlDatabase) -> None:
        self.database = database
        self.directory = database.directory
        self.clock = FakeClock()
        self.runner = ScriptedRunner()
        self.populators = Populators()
        self.events: list[Event] = []
        self._opened: list[StoreTransactions] = []
        self.transactions: Any = self.open()
        self.hand = database.hand()

    def open(self) -> StoreTransactions:
        """Open another way to the database, as another program has one."""
        made = StoreTransactions(engine.open_engine(self.database.url, self.directory))
        self._opened.append(made)
        return made

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Do by hand what a person does in an SQL client."""
        rows = self.hand.sql(statement, *values)
        self.hear()
        return rows

    def hear(self) -> None:
        """Let what was notified reach the engine: it comes with the server's next answer, and the test does not wait."""
        if self.database.kind == "postgresql" and isinstance(self.transactions, StoreTransactions):
            with self.transactions.read() as connection:
                connection.exec_driver_sql("SELECT 1")

    def one(self, statement: str, *values: object) -> Any:
        """Return the first value a statement finds."""
        return self.sql(statement, *values)[0][0]

    def batch(self, name: str = "B", steps: int | Sequence[int] = 2, **columns: object) -> int:
        """Register a batch by rows."""
        self._insert("ProcessBatch", {"ProcessBatchName": name, **columns})
        batch_id = int(self.one("SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = ?", name))
        for seq in range(10, 10 * steps + 1, 10) if isinstance(steps, int) else steps:
            self.step(batch_id, seq)
        return batch_id

    def step(self, batch_id: int, seq: int, **columns: object) -> None:
        """Add a step by a row."""
        values = {"ProcessBatch_id": batch_id, "ProcessControlSeq": seq, "ProcessName": f"step {seq}"}
        self._insert("ProcessControl", {**values, "ProcessType": "told", **columns})

    def submit(self, entity: str = "B", file_name: str | None = "f", **columns: object) -> int:
        """Drop a FileProcess row."""
        self._insert("FileProcess", {"Entity": entity, "FileName": file_name, **columns})
        return int(self.one("SELECT max(FileProcess_id) FROM FileProcess"))

    def _insert(self, table: str, columns: Mapping[str, object]) -> None:
        marks = ", ".join("?" * len(columns))
        self.sql(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", *columns.values())

    def create(self) -> CreationReport:
        """Run one creation pass."""
        return self.creator().create_instances()

    def creator(self, *, gives_up: bool = False, plugins: Plugins | None = None) -> Creator:
        """Return the engine's creator."""
        zone = ZONE
        means = self.transactions, self.clock, self.populators, zone, self.events.append
        return Creator(*means, gives_up=gives_up, plugins=plugins)

    def recorder(
        self, controller: str = "c1", plugins: Plugins | None = None, pools: Sequence[str] = (), host: str = "host1"
    ) -> Recorder:
        """Return what a controller writes with."""
        preparer = Preparer(_find_handler, context(str(self.directory)), "anna", "host1", "test")
        return Recorder(preparer, controller, host, plugins, ServedPools(served_by(pools), host))

    def controller(
        self,
        name: str = "c1",
        *,
        slots: int = 1,
        transactions: StoreTransactions | None = None,
        runner: ScriptedRunner | None = None,
        is_trusted: Callable[[], bool] = lambda: True,
        plugins: Plugins | None = None,
        pools: Sequence[str] = (),
        host: str = "host1",
    ) -> Controller:
        """Return a new controller: with the world's connection and runner, or with its own, as on another host."""
        return Controller(
            transactions=transactions or self.transactions,
            clock=self.clock,
            runner=runner or self.runner,
            recorder=self.recorder(name, plugins, pools, host),
            listener=self.events.append,
            slots=slots,
            is_trusted=is_trusted,
        )

    def process(self, *, slots: int = 1) -> Controller:
        """Run one pass to its end."""
        controller = self.controller(slots=slots)
        self.turn_until_idle(controller)
        return controller

    def running(self, **step: object) -> Controller:
        """Bring one instance to a running first step of two."""
        self.runner.script = lambda rendered: RUNS_ON
        batch_id = self.batch(steps=0, RetryCount=1)
        self.step(batch_id, 10, **step)
        self.step(batch_id, 20)
        self.submit()
        self.create()
        return self.process()

    def turn_until_idle(self, controller: Controller, most: int = 1000) -> None:
        """Turn until nothing more may start, or until only open executions are left."""
        for _ in range(most):
            if controller.is_idle:
                return
            controller.turn(NO_WAIT)
            if self.runner.open and not self.runner.reports:
                if controller.failure is None:
                    self.hear()
                controller.turn(NO_WAIT)
                if self.runner.open and not self.runner.reports:
                    return
        raise AssertionError("the controller never came to rest")

    def recover(self, controller: str = "c2") -> Rescued:
        """Start again long after a crash, and look after what the dead have left."""
        return self.rescue(controller, rhythm=LONG_AFTER).look(lambda key: False)

    def rescue(
        self,
        controller: str = "c2",
        *,
        transactions: StoreTransactions | None = None,
        runner: ScriptedRunner | None = None,
        rhythm: Rhythm = Rhythm(),  # noqa: B008 - a frozen value
        noted: Sightings | None = None,
        plugins: Plugins | None = None,
    ) -> Rescue:
        """Return who looks after what the dead have left: here, or on another host."""
        return Rescue(
            transactions or self.transactions,
            self.clock,
            runner or self.runner,
            self.recorder(controller, plugins),
            self.events.append,
            rhythm,
            noted,
        )

    def membership(
        self,
        name: str = "c1",
        *,
        transactions: StoreTransactions | None = None,
        process: Identity = PROCESS,
        rhythm: Rhythm = Rhythm(),  # noqa: B008 - a frozen value
        listener: Listener | None = None,
        pools: Sequence[str] = (),
        host: str = "host1",
    ) -> Membership:
        """Return a controller's own row; it is not entered yet."""
        return Membership(
            transactions=transactions or self.transactions,
            clock=self.clock,
            listener=listener or self.events.append,
            name=name,
            host=host,
            process=process,
            pools=served_by(pools),
            slots=1,
            version="1",
            rhythm=rhythm,
            scheduler_zone="UTC",
        )

    def be_impatient(self) -> None:
        """Let the engine wait no more than a moment for somebody else's lock."""
        with self.transactions.read() as connection:
            connection.exec_driver_sql(IMPATIENT[self.database.kind])

    def crash(self) -> None:
        """Lose everything that is only in memory."""
        self.transactions.close()
        self.transactions = self.open()
        self.runner = ScriptedRunner()

    def statuses(self) -> list[str]:
        """Return the instances' statuses in order of creation."""
        return [row[0] for row in self.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id")]

    def history(self) -> list[tuple[int, int, int, str, str]]:
        """Return (instance, seq, attempt, cause, status) of every attempt in order."""
        return self.sql(
            "SELECT BatchControl_id, ProcessControlSeq, AttemptNo, Cause, Status"
            " FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"
        )

    def names(self) -> list[str]:
        """Return the names of the events so far."""
        return [event.name for event in self.events]

    def messages(self, name: str) -> list[str]:
        """Return what was said with the events of a name."""
        return [str(event.fields["Message"]) for event in self.events if event.name == name]

    def close(self) -> None:
        """Let go of the database."""
        self.hand.close()
        self.transactions.close()
        for opened in self._opened:
            opened.close()


def _find_handler(process_type: str) -> StepHandler:
    if process_type in {"told", "told too", "confirm"}:
        return ToldHandler()
    message = f"there is no ProcessType '{process_type}'"
    raise PluginError(message)
