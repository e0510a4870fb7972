"""What a step that writes as fast as it can costs the controller's loop, which keeps the newest of it where people see it.

The controller works in this process on one step, `yes`; what it computes meanwhile is the time that this process takes of a
processor. The same is measured of a step that writes nothing. The supervisor, which reads all of it, is a process of its own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from batchctl import config
from batchctl.app import App
from batchctl.control_database import upgrade_database
from batchctl.node import Node
from benchmarks.databases import Database

Lend = Callable[[Path], AbstractContextManager[Database]]

SECONDS = 10
WRITES = f"sh -c 'yes 2026-11-28 loading a row of some length & sleep {SECONDS}; kill $!'"
RESTS = f"sleep {SECONDS}"
_TOTAL = re.compile(r"\[\.\.\. \d+ of (\d+) bytes left out \.\.\.\]")


def measure(folder: Path, lend: Lend) -> tuple[float, float]:
    """Return how much more of its time a loop takes, in per cent, and how many MB a second the step has written."""
    busy, written = _share(folder / "writes", lend, WRITES)
    idle, _ = _share(folder / "rests", lend, RESTS)
    return busy - idle, written / SECONDS / 1e6


def _share(folder: Path, lend: Lend, command: str) -> tuple[float, int]:
    """Return how much of its time the loop computes, in per cent, and how many bytes the step has written."""
    folder.mkdir()
    file = str(folder / "batchctl.toml")
    with lend(folder) as database:
        Path(file).write_text(f'state_directory = "state"\ndatabase_url = "{database.url}"\n', encoding="utf-8")
        upgrade_database(file)
        database.run("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
        database.run(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, 1, 'step', 'os_command', ? FROM ProcessBatch",
            command,
        )
        database.run("INSERT INTO FileProcess (Entity) VALUES ('B')")
        app = App(config.load(file))
        node = Node(app)
        node.create()
        computed, begun = time.process_time(), time.perf_counter()
        report = node.process()
        share = 100 * (time.process_time() - computed) / (time.perf_counter() - begun)
        app.close()
        if report.succeeded != 1:
            raise SystemExit("the step did not succeed")
        (output,) = database.run("SELECT Output FROM BatchProcessHistory").fetchone()
    found = _TOTAL.search(output or "")
    return share, 0 if found is None else int(found[1])
