"""How long the transactions are in which 1,000,000 rows of history are purged: nobody else should wait longer for one.

The rows are five attempts each of 200,000 complete instances, with the text of a usual command and some output.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from batchctl import config
from batchctl.app import App
from batchctl.control.maintenance.purge import Purge
from batchctl.control_database import upgrade_database
from benchmarks.databases import Database

Lend = Callable[[Path], AbstractContextManager[Database]]

ATTEMPTS = 5
KEPT = 20


def measure(folder: Path, lend: Lend, rows: int) -> tuple[list[float], float]:
    """Purge a number of attempts; return how long each transaction took, and all of it, in seconds."""
    folder.mkdir(exist_ok=True)
    file = str(folder / "batchctl.toml")
    with lend(folder) as database:
        Path(file).write_text(f'database_url = "{database.url}"\nstate_directory = "state"\n', encoding="utf-8")
        upgrade_database(file)
        _fill(database, rows // ATTEMPTS)
        app = App(config.load(file))
        took = _watched(app)
        purge = Purge(transactions=app.transactions, clock=app.clock, actor="bench", host="bench")
        begun = time.perf_counter()
        for _ in purge.pages():
            pass
        seconds = time.perf_counter() - begun
        app.close()
    if purge.failures or purge.gone["BatchProcessHistory"] != rows - KEPT * ATTEMPTS:
        message = f"not all of it is gone: {purge.gone} {purge.failures}"
        raise SystemExit(message)
    return took, seconds


def _watched(app: App) -> list[float]:
    """Return the list to which each transaction adds how long it took, from the asking to the commit."""
    took, run = list[float](), app.transactions.run

    def watched(*what: Any, **how: Any) -> Any:
        begun = time.perf_counter()
        try:
            return run(*what, **how)
        finally:
            took.append(time.perf_counter() - begun)

    app.transactions.run = watched  # type: ignore[method-assign]  # the benchmark's own way to look
    return took


def _fill(database: Database, instances: int) -> None:
    database.run("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
    (batch,) = database.run("SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'B'").fetchone()
    database.run("INSERT INTO Setting (Name, Value) VALUES ('CompleteDays', '30')")
    first, then = 1_000_000, database.moment("2026-01-01")
    numbers = f"WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {first + instances - 1})"
    database.run(
        f"{numbers} INSERT INTO FileProcess (FileProcess_id, Entity, FileName, Status, z_inserted, z_updated)"
        f" SELECT i, 'B', '/in/file.csv', 'complete', {then}, {then} FROM n"
    )
    database.run(
        f"{numbers} INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, Status, PrevProcessControlSeq,"
        f" Data1, Data2, z_inserted, z_updated) SELECT i, {batch}, i, 'complete', 50, '/in', 'file.csv', {then}, {then} FROM n"
    )
    for at in range(1, ATTEMPTS + 1):
        database.run(
            f"{numbers} INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName,"
            " ProcessType, CommandText, Output, Status, StartTime, EndTime)"
            f" SELECT i, {batch}, {10 * at}, 'step', 'os_command', '{'x' * 200}', '{'y' * 300}', 'success', {then}, {then} FROM n"
        )
    database.settle()
