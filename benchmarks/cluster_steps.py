"""Steps that a local Dask cluster carries: how soon one starts there, and how busy 64 workers are kept.

`start`: one instance of a hundred steps `date`, each of which writes what time it is; from the attempt's StartTime, which is
taken before the step is made ready in the cluster, to that time. Beside it the same on the controller's own host.

`busy`: ten rounds of steps of one second for 64 workers of one slot each, from the first moment at which every slot has one
to the last start. Whatever is not a second of a step is counted as idle, also what the step itself takes beyond it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from batchctl.control_database import upgrade_database
from batchctl.system.remote.local_cluster import local_cluster
from benchmarks import databases
from benchmarks.databases import Database

STEPS, WORKERS, ROUNDS = 100, 64, 10
WARMING = 5
"""Steps that are not counted: the first ones load what all others need."""
CONFIGURATION = 'state_directory = "state"\nslots = {slots}\ndatabase_url = "{url}"\n'
POOL = '[pools.burst]\nkind = "dask"\nscheduler = "{address}"\n'


@dataclass(frozen=True, slots=True)
class StartTimes:
    """Milliseconds until a step has started, sorted."""

    there: list[float]
    """In a worker of the cluster."""
    here: list[float]

    @property
    def median(self) -> float:
        """Return that of the steps in the cluster."""
        return statistics.median(self.there)

    @property
    def p99(self) -> float:
        """Return the same for the 99th of a hundred."""
        return self.there[len(self.there) * 99 // 100]


@dataclass(frozen=True, slots=True)
class KeptBusy:
    """How many steps of a second ended in how many seconds."""

    ends: int
    seconds: float
    slots: int

    @property
    def share(self) -> float:
        """Return how much of the time the slots had a step."""
        return self.ends / (self.seconds * self.slots)


def starts(steps: int = STEPS) -> StartTimes:
    """Measure how soon steps start."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        return StartTimes(*(_starts(Path(folder) / pool, pool, steps) for pool in ("burst", "default")))


def _starts(folder: Path, pool: str, steps: int) -> list[float]:
    with _made(folder, slots=8, workers=2) as database:
        _insert_batch(database, pool, "sh -c 'date +%s%N'", WARMING + steps)
        _run_once(folder)
        found = database.run("SELECT StartTime, Output FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
        waits = [1000 * (int(output) / 1e9 - _moment(started).timestamp()) for started, output in found.fetchall()]
    return sorted(waits[WARMING:])


def busy(workers: int = WORKERS, rounds: int = ROUNDS) -> KeptBusy:
    """Measure how busy workers are kept."""
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        _made(Path(folder) / "busy", slots=workers, workers=workers) as database,
    ):
        _insert_batch(database, "burst", "sleep 1", 1, most=workers, instances=workers * rounds)
        _run_once(Path(folder) / "busy")
        found = database.run("SELECT StartTime, EndTime FROM BatchProcessHistory WHERE Status = 'success'").fetchall()
    begun, ended = (sorted(map(_moment, column)) for column in zip(*found, strict=True))
    since, until = begun[workers - 1], begun[-1]
    return KeptBusy(sum(since <= one <= until for one in ended), (until - since).total_seconds(), workers)


@contextmanager
def _made(folder: Path, *, slots: int, workers: int) -> Iterator[Database]:
    """Lend a database whose pool has a cluster."""
    folder.mkdir()
    (folder / "agent").mkdir()
    agent = folder / "agent" / "batchctl.toml"
    agent.write_text('state_directory = "state"\n', encoding="utf-8")
    with databases.postgresql(folder) as database, local_cluster(agent, workers) as address:
        settings = CONFIGURATION.format(slots=slots, url=database.url) + POOL.format(address=address)
        (folder / "batchctl.toml").write_text(settings, encoding="utf-8")
        upgrade_database(str(folder / "batchctl.toml"))
        database.run("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
        yield database


def _insert_batch(database: Database, pool: str, command: str, steps: int, most: int = 1, instances: int = 1) -> None:
    columns = "ProcessBatchName, Pool, MaxConcurrent"
    database.run(f"INSERT INTO ProcessBatch ({columns}) VALUES ('B', ?, ?)", pool, most)
    for seq in range(1, steps + 1):
        database.run(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, ?, 'step', 'os_command', ? FROM ProcessBatch",
            seq,
            command,
        )
    for _ in range(instances):
        database.run("INSERT INTO FileProcess (Entity) VALUES ('B')")


def _run_once(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "batchctl", "run", "--once"], cwd=folder, check=True, capture_output=True)


def _moment(stored: object) -> datetime:
    moment = stored if isinstance(stored, datetime) else datetime.fromisoformat(str(stored))
    return moment.replace(tzinfo=UTC)
