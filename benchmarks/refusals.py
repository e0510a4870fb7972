"""How many plain INSERTs a busy controller refuses: a client of SQLite that waits for no lock, beside 20 steps a second.

A real worker walks commands of a twentieth of a second one after the other; a client without a busy time-out inserts rows, as
the sqlite3 shell does to which nobody has said `.timeout`, and counts what is told `database is locked`.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from batchctl.control_database import upgrade_database
from benchmarks import databases

STEPS = 20
INSERTS_A_SECOND = 30
CONFIGURATION = 'state_directory = "state"\n'
STARTED = "SELECT count(*) FROM BatchProcessHistory"
REGISTERED = "FROM ProcessBatch WHERE ProcessBatchName = 'B'"


def measure(folder: Path, inserts: int) -> tuple[float, float]:
    """Return how many of a hundred INSERTs were refused, and how many steps a second were begun meanwhile."""
    folder.mkdir()
    (folder / "batchctl.toml").write_text(CONFIGURATION, encoding="utf-8")
    upgrade_database(str(folder / "batchctl.toml"))
    with databases.sqlite(folder) as database:
        database.run("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
        for seq in range(1, STEPS + 1):
            database.run(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
                f" SELECT ProcessBatch_id, ?, 'wait', 'os_command', 'sleep 0.045' {REGISTERED}",
                seq,
            )
        files = inserts // INSERTS_A_SECOND * 2 + 10
        database.many("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', ?)", [(f"{at}",) for at in range(files)])
        worker = subprocess.Popen(
            [sys.executable, "-m", "batchctl", "run"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while not database.run(STARTED).fetchone()[0]:
                time.sleep(0.1)
            before, begun = database.run(STARTED).fetchone()[0], time.monotonic()
            refused = sum(_is_refused(folder / "batchctl.db") for _ in range(inserts))
            seconds = time.monotonic() - begun
            return 100 * refused / inserts, (database.run(STARTED).fetchone()[0] - before) / seconds
        finally:
            worker.terminate()
            worker.wait()


def _is_refused(file: Path) -> bool:
    """Insert a row at a moment that the controller does not know."""
    time.sleep(random.uniform(0, 2 / INSERTS_A_SECOND))
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as client:
        try:
            client.execute("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', '/in/orders.csv')")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            return True
    return False
