"""How far one PostgreSQL goes: claims and ends a second, and what each costs the server, with ever more controllers.

The controllers are processes of their own that do all that `batchctl run` does, each with its connection. With one, four and
sixteen of them, of eight slots each, the steps are no-op Python functions, so that nothing but the controllers and the server
computes: on two cores that is soon all there is, so what a step costs the server says more than how many steps there were.
An instance has one step, the dearest kind: each step is a claim, a beginning and the end of an instance.

Then sixteen of 63 slots hold 1,008 steps under way that are nothing but time (see simulated_worker.py), beside 100,000
instances that wait: whether the slots stay filled, and what it costs. And in the end nothing may start, and they only look.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from batchctl.control_database import upgrade_database
from benchmarks.counting_server import Counted, CountingServer, computed
from benchmarks.databases import Database
from tests.leftovers import children_of

Result = TypeVar("Result")

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120.0

CONFIGURATION = """
plugin_modules = ["noop_jobs"]
state_directory = "state"
shutdown_grace = 0
slots = {slots}
database_url = "{url}"
"""
JOBS = '''from batchctl.plugin_api import job

@job("noop", in_process=True)
def noop() -> None:
    """Do nothing."""
'''


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything a run has."""

    batches: int = 100
    most: int = 20
    """MaxConcurrent of each."""
    waiting: int = 100_000
    controllers: tuple[int, ...] = (1, 4, 16)
    slots: int = 8
    many_slots: int = 63
    held: float = 5.0
    """Seconds that a step takes which is nothing but time."""
    warming: float = 3.0
    """Seconds that are not counted, once all controllers are there."""
    seconds: float = 8.0


FULL = Size()
SHORT = Size(batches=4, waiting=2000, controllers=(1, 2), slots=4, many_slots=16, held=0.5, warming=0.5, seconds=1.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is measured at once."""

    name: str
    controllers: int
    slots: int
    batches: int
    held: float | None = None
    works: bool = True
    """Whether anything may start."""


@dataclass(slots=True)
class Found:
    """What was found of one shape, and how it is shown."""

    shape: Shape
    counted: Counted = field(default_factory=Counted)
    """What the server did in the time that counts."""
    window: tuple[float, float] = (0.0, 0.0)
    """That time, by the server's clock."""
    seen: Counter[str] = field(default_factory=Counter)
    """What active sessions were seen at."""
    claims: int = 0
    ends: int = 0
    under_way: int = 0
    """At the end."""
    controllers_computed: float = 0.0
    succeeded: int = 0
    """Steps, from the first to the last, as the controllers count them."""
    recorded: int = 0
    """The same as the tables have it."""
    round_trips: int = 0

    @property
    def rate(self) -> float:
        """Return how many steps ended in a second."""
        return self.ends / self.counted.at

    @property
    def wanted(self) -> float:
        """Return how many would end if no slot were ever empty."""
        return self.shape.controllers * self.shape.slots / (self.shape.held or 1)

    @property
    def statements(self) -> float:
        """Return how many were sent in a second."""
        return self.counted.statements / self.counted.at

    @property
    def server_seconds(self) -> float:
        """Return how many seconds of a processor a step has cost the server."""
        return self.counted.computed / (self.ends or 1)

    @property
    def busy(self) -> float:
        """Return how many processors the server kept busy."""
        return self.counted.computed / self.counted.at

    def __str__(self) -> str:
        """Show all of it on some lines."""
        one = self.counted
        lines = [
            f"{self.shape.name}: {self.claims / one.at:.1f} claims/s, {self.rate:.1f} ends/s, {self.under_way} under way",
            *([self._of_an_end] if self.ends else []),
            f"a second: {self.statements:.0f} statements, {one.commits / one.at:.0f} commits, {one.wal_syncs / one.at:.0f} syncs",
            f"processors: {self.busy:.2f} by the server, {self.controllers_computed / one.at:.2f} by controllers",
            f"got {one.locks} of {one.lock_tries} locks of batches; active sessions: {self._waits}",
        ]
        return "\n    ".join(lines)

    @property
    def _of_an_end(self) -> str:
        one, ends = self.counted, self.ends
        return (
            f"an end: {one.statements / ends:.2f} statements, {self.round_trips / self.succeeded:.2f} round trips,"
            f" {one.commits / ends:.2f} commits, {one.notifies / ends:.2f} notifies, {one.wal_bytes / ends:,.0f} bytes of WAL,"
            f" {1000 * self.server_seconds:.2f} ms by the server, {1000 * self.controllers_computed / ends:.2f} by controllers"
        )

    @property
    def _waits(self) -> str:
        all_seen = self.seen.total()
        return ", ".join(f"{100 * many / all_seen:.0f} % {what}" for what, many in self.seen.most_common(4))


@dataclass(slots=True)
class Comparison:
    """All shapes of one run."""

    alone: Found
    together: Sequence[Found]
    one_batch: Found
    many: Found
    idle: Found
    sizes: dict[str, float]
    """MB of the largest tables, once all has worked."""

    @property
    def all(self) -> Sequence[Found]:
        """Return each of them."""
        return self.alone, *self.together, self.one_batch, self.many, self.idle


def measure(size: Size) -> Comparison:
    """Measure all shapes, on one server."""
    server = CountingServer()
    try:
        server.start()
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            return compared(server, Path(folder), size)
    finally:
        server.remove()


def compared(server: CountingServer, folder: Path, size: Size) -> Comparison:
    """Measure all shapes: on a database with many batches, and one of them on a database with a single batch."""
    most = max(size.controllers)
    spread, single = server.new_database(), server.new_database()
    _fill(server, folder / spread, spread, size.batches, size)
    _fill(server, folder / single, single, 1, replace(size, waiting=size.waiting // 5))

    def shape(name: str, controllers: int, slots: int = size.slots, held: float | None = None) -> Shape:
        return Shape(name, controllers, slots, size.batches, held)

    alone, *together = [
        _measured(server, folder / spread, spread, shape(f"{many} controller{'s' * (many > 1)}", many), size)
        for many in size.controllers
    ]
    one_batch = Shape(f"{most} controllers, one batch", most, size.slots, 1)
    beside = _measured(server, folder / single, single, one_batch, size)
    missing = size.waiting - server.rows(spread, "SELECT count(*) FROM BatchControl WHERE Status = 'ready'")[0][0]
    _add_waiting(server, spread, missing)
    workers = shape(f"{most * size.many_slots} workers", most, size.many_slots, size.held)
    many = _measured(server, folder / spread, spread, workers, size)
    sizes = server.sizes(spread)
    server.rows(spread, "UPDATE BatchControl SET NextRunTime = '2999-01-01' WHERE Status = 'ready'")
    nothing = Shape(f"{most} idle", most, size.many_slots, size.batches, works=False)
    idle = _measured(server, folder / spread, spread, nothing, size)
    return Comparison(alone, together, beside, many, idle, sizes)


def _fill(server: CountingServer, folder: Path, database: str, batches: int, size: Size) -> None:
    folder.mkdir()
    (folder / "noop_jobs.py").write_text(JOBS, encoding="utf-8")
    upgrade_database(str(_configured(server, folder, database, 1)))
    most = min(1000, size.most * size.batches // batches)
    server.rows(
        database,
        "INSERT INTO ProcessBatch (ProcessBatchName, MaxConcurrent)"
        f" SELECT 'B' || i, {most} FROM generate_series(1, {batches}) i",
    )
    server.rows(
        database,
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        " SELECT ProcessBatch_id, 1, 'step', 'python', 'noop' FROM ProcessBatch",
    )
    _add_waiting(server, database, size.waiting)


def _add_waiting(server: CountingServer, database: str, instances: int) -> None:
    """Let instances wait, as if rows had come for each batch in turn."""
    server.rows(
        database,
        f"""
        WITH b AS (SELECT ProcessBatch_id, ProcessBatchName, count(*) OVER () AS many,
                          row_number() OVER (ORDER BY ProcessBatch_id) - 1 AS at FROM ProcessBatch),
             f AS (INSERT INTO FileProcess (Entity)
                   SELECT ProcessBatchName FROM generate_series(1, {instances}) i JOIN b ON at = i % many
                   RETURNING FileProcess_id, Entity)
        INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Data1)
        SELECT ProcessBatch_id, FileProcess_id, '/in' FROM f JOIN b ON ProcessBatchName = Entity ORDER BY FileProcess_id
        """,
    )
    with server.connect(database) as connection:
        Database(server.url(database), connection, "%s").settle()


def _configured(server: CountingServer, folder: Path, database: str, slots: int) -> Path:
    file = folder / "batchctl.toml"
    file.write_text(CONFIGURATION.format(slots=slots, url=server.url(database)), encoding="utf-8")
    return file


def _measured(server: CountingServer, folder: Path, database: str, shape: Shape, size: Size) -> Found:
    """Let the controllers of a shape work for a while, count, and print it: the figures are the shorter answer."""
    found, before = Found(shape), server.rows(database, _SUCCEEDED)[0][0]
    file = _configured(server, folder, database, shape.slots)
    with _working(file, shape, found) as workers:
        _await_all(server, database, shape)
        if shape.works:
            _awaited("end of a step", lambda: server.rows(database, _SUCCEEDED)[0][0], lambda many: many > before)
        else:
            _await_calm(server, database)
        time.sleep(size.warming + 1.5 * (shape.held or 0))
        own = sum(map(computed, workers))
        with server.watched(database) as found.seen:
            first = server.counted(database)
            time.sleep(size.seconds)
            last = server.counted(database)
        found.controllers_computed = sum(map(computed, workers)) - own
        ((found.under_way,),) = server.rows(database, "SELECT count(*) FROM BatchProcessHistory WHERE EndTime IS NULL")
    found.counted, found.window = last.since(first), (first.at, last.at)
    ((found.claims, found.ends),) = server.rows(database, _RATES, *found.window * 2)
    found.recorded = server.rows(database, _SUCCEEDED)[0][0] - before
    print(f"many-workers {found}", file=sys.stderr, flush=True)
    return found


@contextmanager
def _working(file: Path, shape: Shape, found: Found) -> Iterator[list[int]]:
    """Let controllers work, and lend their process ids; at the end take in what they have counted."""
    words = [sys.executable, "-m", "benchmarks.simulated_worker", str(file), str(shape.controllers)]
    words += [] if shape.held is None else [str(shape.held)]
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as together:
        try:
            yield _all_of(together, shape)
            together.terminate()
            for line in together.communicate(timeout=PATIENCE)[0].splitlines():
                counted = json.loads(line)
                found.succeeded += counted["succeeded"]
                found.round_trips += counted["round_trips"]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(together.pid, signal.SIGKILL)


def _all_of(together: subprocess.Popen[str], shape: Shape) -> list[int]:
    return _awaited(
        f"{shape.controllers} processes", lambda: children_of(together.pid), lambda pids: len(pids) == shape.controllers
    )


def _await_all(server: CountingServer, database: str, shape: Shape) -> None:
    asked = "SELECT count(*) FROM Controller WHERE Status = 'running'"
    wanted = [(shape.controllers,)]
    _awaited(f"{shape.controllers} controllers", lambda: server.rows(database, asked), lambda rows: rows == wanted)


def _await_calm(server: CountingServer, database: str) -> None:
    """Wait until there are no fewer statements in a second than in the one before: what begins reads every definition."""
    before, rate = math.inf, 0.0
    while rate < 0.9 * before or before == math.inf:
        first = server.counted(database)
        time.sleep(2)
        done = server.counted(database).since(first)
        before, rate = rate or math.inf, done.statements / done.at


def _awaited(what: str, look: Callable[[], Result], is_enough: Callable[[Result], bool]) -> Result:
    until = time.monotonic() + PATIENCE
    while not is_enough(found := look()):
        if time.monotonic() > until:
            message = f"there is no sign of {what} within {PATIENCE:g} seconds"
            raise SystemExit(message)
        time.sleep(0.1)
    return found


_SUCCEEDED = "SELECT count(*) FROM BatchProcessHistory WHERE Status = 'success'"
_WITHIN = "{} >= to_timestamp(%s) AT TIME ZONE 'UTC' AND {} < to_timestamp(%s) AT TIME ZONE 'UTC'"
_RATES = f"""
SELECT count(*) FILTER (WHERE {_WITHIN.format("StartTime", "StartTime")}),
       count(*) FILTER (WHERE Status = 'success' AND {_WITHIN.format("EndTime", "EndTime")})
FROM BatchProcessHistory
"""
