"""The console beside 1,000,000 attempts of 100,000 instances: milliseconds to the first byte of each page, as a browser has them.

A real console (`batchctl web`) answers one request after the other. Each page is asked for some times; the first is not
counted. Deep pages are those behind 90,000 instances.
"""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from batchctl.control_database import upgrade_database
from benchmarks.databases import Database

Lend = Callable[[Path], AbstractContextManager[Database]]
INSTANCES, ATTEMPTS, BATCHES, TIMES = 100_000, 10, 20, 20
FIRST, DEEP = "/instances", "/instances?before=10000"
PAGES = (
    "/",
    FIRST,
    DEEP,
    "/instances?status=failed",
    "/instances?status=complete&batch=batch1",
    "/instances/50000",
    "/batches",
    "/batch?name=batch1",
    "/dependencies",
    "/day",
    "/schedules",
    "/inbox",
    "/incidents",
    "/incidents?all=1",
    "/audit",
    "/requests",
    "/controllers",
    "/many/rerun?status=failed",
    "/many/cancel?status=complete",
    "/api/v1/instances?limit=50",
    "/api/v1/attempts",
)
PATIENCE = 60.0
BATCHCTL = (sys.executable, "-m", "batchctl")


@dataclass(frozen=True, slots=True)
class Answers:
    """How long the pages took, in milliseconds, by their paths."""

    took: dict[str, list[float]]

    def p95(self, path: str) -> float:
        """Return for a page the 95th of a hundred."""
        each = sorted(self.took[path])
        return each[len(each) * 95 // 100]

    @property
    def slowest(self) -> str:
        """Return the page that took longest."""
        return max(self.took, key=self.p95)


def measure(folder: Path, lend: Lend, instances: int) -> Answers:
    """Fill a database, and ask a console for its pages."""
    folder.mkdir(exist_ok=True)
    with lend(folder) as database:
        file = folder / "batchctl.toml"
        file.write_text(f'state_directory = "state"\ndatabase_url = "{database.url}"\n', encoding="utf-8")
        upgrade_database(str(file))
        fill(database, instances)
        with console(file) as (port, cookie, _):
            return Answers({path: [*_times(port, cookie, path)] for path in PAGES})


@contextmanager
def console(file: Path, program: Sequence[str] = BATCHCTL) -> Iterator[tuple[int, str, int]]:
    """Lend a console at work: its port, the cookie of a session, and the number of its process."""
    command = [*program, "--config", str(file), "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        found = re.search(r":(\d+)/", running.stdout.readline())
        assert found is not None
        code = running.stdout.readline().split()[1]
        try:
            yield int(found[1]), _entered(int(found[1]), code), running.pid
        finally:
            running.terminate()


def _entered(port: int, code: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", "/login", urlencode({"code": code}), {"Sec-Fetch-Site": "same-origin"})
    return (connection.getresponse().headers["Set-Cookie"] or "").partition(";")[0]


def _times(port: int, cookie: str, path: str) -> Iterator[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    for at in range(TIMES + 1):
        begun = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": cookie})
        answer = connection.getresponse()
        took = 1000 * (time.perf_counter() - begun)
        if answer.status != http.client.OK:
            message = f"{path}: {answer.status} {answer.read().decode()[-600:]}"
            raise SystemExit(message)
        answer.read()
        if at:
            yield took


def fill(database: Database, instances: int) -> None:
    """Register batches, and instances that ran: one in two hundred has failed, a few wait."""
    for number in range(1, 1 + BATCHES):
        database.run(
            "INSERT INTO ProcessBatch (ProcessBatch_id, ProcessBatchName) VALUES (?, ?)", number, f"batch{number}"
        )
        add = "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        database.many(f"{add} VALUES (?, ?, 'step', 'os_command', 'true')", [(number, at) for at in range(1, 6)])
    every = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {instances})"
    of, done = f"1 + i % {BATCHES}", "CASE WHEN i % 200 = 0 THEN 'failed' ELSE 'complete' END"
    over = "CASE WHEN i % 200 = 0 THEN 'ready' ELSE 'complete' END"
    rows = f"{every} INSERT INTO FileProcess (FileProcess_id, Entity, Status)"
    database.run(f"{rows} SELECT i, 'batch' || CAST({of} AS VARCHAR(10)), {over} FROM n")
    rows = f"{every} INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, Status, NextRunTime)"
    database.run(f"{rows} SELECT i, {of}, i, {done}, {database.moment('1900-01-01')} FROM n")
    for at in range(1, 1 + ATTEMPTS):
        rows = (
            f"{every} INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, AttemptNo,"
            " ProcessName, ProcessType, CommandText, Status, StartTime, EndTime)"
        )
        when = database.moment(f"2026-11-{at:02}")
        database.run(
            f"{rows} SELECT i, {of}, {1 + at % 5}, {1 + at // 5}, 'step', 'os_command', 'true', 'success',"
            f" {when}, {when} FROM n"
        )
    database.settle()
