"""Steps that a local Dask cluster carries: how soon one starts there, and how busy 64 workers are kept.

`start`: one instance of a hundred steps `date`, each of which writes what time it is; from the attempt's StartTime, which is
taken before the step is made ready in the cluster, to that time. Beside it the same on the controller's own host.

`busy`: ten rounds of steps of one second for 64 workers of one slot each, behind those in which the controller has begun, to
the last start. Whatever is not a second of a step is counted as idle, also what the step itself takes beyond it. The 64
hosts are processes of one machine: so that what they do for themselves does not count 64 times, a step is a Python function
that sleeps, and each looks seldom at what Dask watches of its host.
"""

from __future__ import annotations

import os
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

STEPS, WORKERS, ROUNDS = 100, 64, 15
FIRST_ROUNDS = 5
"""Those that are not counted: a controller that has just begun to lead looks once at everything."""
WARMING = 5
"""Steps that are not counted: the first ones load what all others need."""
PLUGINS = 'state_directory = "state"\nplugin_modules = ["second_job"]\n'
CONFIGURATION = PLUGINS + 'slots = {slots}\ndatabase_url = "{url}"\n'
SELDOM_WATCHED = {
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "10s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
JOBS = '''import time

from batchctl.plugin_api import job

@job("second", in_process=True)
def second() -> None:
    """Take a second."""
    time.sleep(1)
'''
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
        _insert_batch(database, pool, "os_command", "sh -c 'date +%s%N'", WARMING + steps)
        database.run("INSERT INTO FileProcess (Entity) VALUES ('B')")
        _batchctl(folder, "run", "--once")
        found = database.run("SELECT StartTime, Output FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
        waits = [1000 * (int(output) / 1e9 - _moment(started).timestamp()) for started, output in found.fetchall()]
    return sorted(waits[WARMING:])


def busy(workers: int = WORKERS, rounds: int = ROUNDS) -> KeptBusy:
    """Measure how busy workers are kept."""
    os.environ |= SELDOM_WATCHED
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        _made(Path(folder) / "busy", slots=workers, workers=workers) as database,
    ):
        _insert_batch(database, "burst", "python", "second", 1, most=workers)
        for these in (2, rounds):
            database.run("DELETE FROM BatchProcessHistory")
            for _ in range(workers * these):
                database.run("INSERT INTO FileProcess (Entity) VALUES ('B')")
            _batchctl(Path(folder) / "busy", "create")
            _batchctl(Path(folder) / "busy", "run", "--once")
        found = database.run("SELECT StartTime, EndTime FROM BatchProcessHistory WHERE Status = 'success'").fetchall()
    begun, ended = (sorted(map(_moment, column)) for column in zip(*found, strict=True))
    since, until = begun[workers * FIRST_ROUNDS - 1], begun[-1]
    return KeptBusy(sum(since <= one <= until for one in ended), (until - since).total_seconds(), workers)


@contextmanager
def _made(folder: Path, *, slots: int, workers: int) -> Iterator[Database]:
    """Lend a database whose pool has a cluster."""
    folder.mkdir()
    (folder / "agent").mkdir()
    agent = folder / "agent" / "batchctl.toml"
    agent.write_text(PLUGINS, encoding="utf-8")
    for place in (folder, folder / "agent"):
        (place / "second_job.py").write_text(JOBS, encoding="utf-8")
    with databases.postgresql(folder) as database, local_cluster(agent, workers) as address:
        settings = CONFIGURATION.format(slots=slots, url=database.url) + POOL.format(address=address)
        (folder / "batchctl.toml").write_text(settings, encoding="utf-8")
        upgrade_database(str(folder / "batchctl.toml"))
        database.run("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
        yield database


def _insert_batch(database: Database, pool: str, kind: str, data1: str, steps: int, most: int = 1) -> None:
    columns = "ProcessBatchName, Pool, MaxConcurrent"
    database.run(f"INSERT INTO ProcessBatch ({columns}) VALUES ('B', ?, ?)", pool, most)
    for seq in range(1, steps + 1):
        database.run(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, ?, 'step', ?, ? FROM ProcessBatch",
            *(seq, kind, data1),
        )


def _batchctl(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "batchctl", *words], cwd=folder, check=True, capture_output=True)


def _moment(stored: object) -> datetime:
    moment = stored if isinstance(stored, datetime) else datetime.fromisoformat(str(stored))
    return moment.replace(tzinfo=UTC)
