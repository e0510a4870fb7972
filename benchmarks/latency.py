"""How soon a step starts after the INSERT that asks for it: milliseconds, on a worker that has nothing else to do.

A real worker (`batchctl run`) waits; a plain client inserts a FileProcess row, and the step, an in-process job, notes the time as
it starts. Beside it, in the same run: on PostgreSQL the bare LISTEN/NOTIFY round trip, the same INSERT with the same trigger,
heard by a process that waits on its socket; on SQLite a bare loop that looks at `data_version` every 10 ms.
"""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from batchctl.control_database import upgrade_database
from benchmarks.databases import Database

Lend = Callable[[Path], AbstractContextManager[Database]]

WARMING = 5
"""How many are not counted: the first row is the first for the populators' child process too."""

PATIENCE = 30.0

CONFIGURATION = 'plugin_modules = ["noting_jobs"]\nstate_directory = "state"\ndatabase_url = "{url}"\n'

JOBS = '''import os, time
from pathlib import Path

from batchctl.plugin_api import job

OUT = os.open(Path(__file__).with_name("started"), os.O_WRONLY)

@job("note", in_process=True)
def note() -> None:
    """Note when this is called."""
    os.write(OUT, b"%d\\n" % time.monotonic_ns())
'''

LISTEN = """import os, sys, time
from select import select
import psycopg
out = os.open("started", os.O_WRONLY)
connection = psycopg.connect(sys.argv[1].replace("+psycopg", ""), autocommit=True)
connection.execute("LISTEN batchctl")
os.write(out, b"%d\\n" % time.monotonic_ns())
while True:
    select([connection], [], [])
    connection.pgconn.consume_input()
    now = time.monotonic_ns()
    while connection.pgconn.notifies():
        os.write(out, b"%d\\n" % now)
"""

LOOK = """import os, sqlite3, time
out = os.open("started", os.O_WRONLY)
connection, seen = sqlite3.connect("batchctl.db", isolation_level=None), 0
while True:
    (now_there,) = connection.execute("PRAGMA data_version").fetchone()
    if now_there != seen:
        os.write(out, b"%d\\n" % time.monotonic_ns())
    seen = now_there
    time.sleep(0.01)
"""


def ours(folder: Path, lend: Lend, times: int) -> list[float]:
    """Return how many milliseconds a worker takes, each time."""
    with _made(folder, lend) as database:
        database.run("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
        database.run(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, 1, 'note', 'python', 'note' FROM ProcessBatch WHERE ProcessBatchName = 'B'"
        )
        return _waits(database, folder, times, "-m", "batchctl", "run")


def handover(folder: Path, lend: Lend, times: int) -> list[float]:
    """Return how many milliseconds pass between a step of one worker and the next step, of a pool that another serves."""
    with _made(folder, lend) as database:
        database.run("INSERT INTO Pool (PoolName) VALUES ('other')")
        database.run("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
        for seq, pool in ((1, "default"), (2, "other")):
            database.run(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Pool, Data1)"
                " SELECT ProcessBatch_id, ?, 'note', 'python', ?, 'note' FROM ProcessBatch WHERE ProcessBatchName = 'B'",
                seq,
                pool,
            )
        with _running(folder, "-m", "batchctl", "run", "--pool", "other"):
            return _waits(database, folder, times, "-m", "batchctl", "run", notes=2)


def bare(folder: Path, lend: Lend, times: int) -> list[float]:
    """Return how many milliseconds it takes who does nothing but take notice."""
    with _made(folder, lend) as database:
        script = [LOOK] if database.mark == "?" else [LISTEN, database.url]
        return _waits(database, folder, times, "-c", *script)


@contextmanager
def _made(folder: Path, lend: Lend) -> Iterator[Database]:
    """Lend a database with its tables, and the pipe into which starts are noted."""
    folder.mkdir()
    with lend(folder) as database:
        (folder / "noting_jobs.py").write_text(JOBS, encoding="utf-8")
        (folder / "batchctl.toml").write_text(CONFIGURATION.format(url=database.url), encoding="utf-8")
        upgrade_database(str(folder / "batchctl.toml"))
        os.mkfifo(folder / "started")
        yield database


@contextmanager
def _running(folder: Path, *command: str) -> Iterator[None]:
    """Let a command run meanwhile."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _waits(database: Database, folder: Path, times: int, *command: str, notes: int = 1) -> list[float]:
    """Insert a row, wait for the notes, let some time pass, and again; of two notes the time between them counts."""
    noted = os.open(folder / "started", os.O_RDWR)
    try:
        with _running(folder, *command):
            if "run" not in command:
                _notes(noted, 1)
            found = []
            for _ in range(WARMING + times):
                time.sleep(random.uniform(0.05, 0.25))
                begun = time.monotonic_ns()
                database.run("INSERT INTO FileProcess (Entity) VALUES ('B')")
                *before, last = _notes(noted, notes)
                found.append((last - (before or [begun])[-1]) / 1e6)
            return found[WARMING:]
    finally:
        os.close(noted)


def _notes(noted: int, many: int) -> list[int]:
    """Wait for so many notes at least; return the times in the last of them."""
    read = b""
    while read.count(b"\n") < many:
        if not select.select([noted], [], [], PATIENCE)[0]:
            message = f"no start was noted within {PATIENCE:g} seconds"
            raise SystemExit(message)
        read += os.read(noted, 100)
    return [int(line) for line in read.splitlines()[-many:]]
