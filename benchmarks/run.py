"""How much of the machine's limit the engine reaches: ratios to a bare loop in the same run, never bare figures.

`sqlite-noop`: instances of five no-op Python steps, in-process, each durably recorded, beside raw sqlite3 doing one
durable transaction a step (UPDATE, UPDATE, INSERT) on tables made by the same migration. `sqlite-noop-child`: the same with
jobs in the child process. `os-true`: `/bin/true` as an os_command step beside a bare loop that starts and awaits it, one
after the other. With `--slots N` N steps are under way at once; the limits stay as they are.
Each pair is alternated; the figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from batchctl import config
from batchctl.app import App, upgrade_database

STEPS = 5

CONFIGURATION = 'plugin_modules = ["noop_jobs"]\nstate_directory = "state"\n'

JOBS = '''from batchctl.plugin_api import job

@job("noop", in_process=True)
def noop() -> None:
    """Do nothing."""

@job("noop_in_child")
def noop_in_child() -> None:
    """Do nothing, elsewhere."""
'''


@dataclass(frozen=True, slots=True)
class Figure:
    """One benchmark: our rate (steps per second), the limit's rate, and their ratio."""

    name: str
    ratio: float
    rate: float
    limit: float


def main() -> None:
    """Run the benchmarks asked for and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print a list of name, ratio, rate, limit")
    parser.add_argument("--instances", type=int, default=600, help="instances a round (default 600)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--slots", type=int, default=1, help="steps under way at once (default 1)")
    parser.add_argument("--only", metavar="NAME", choices=list(BENCHMARKS), help="run one of them")
    options = parser.parse_args()
    figures = []
    for name, (process_type, command, share, limit) in BENCHMARKS.items():
        if options.only in (None, name):
            ours = partial(
                engine,
                process_type=process_type,
                command=command,
                instances=options.instances // share,
                slots=options.slots,
            )
            figures.append(compare(name, options.rounds, ours, limit))
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
        return
    for figure in figures:
        print(f"{figure.name:18} {figure.ratio:5.2f} of the limit ({figure.rate:,.0f} of {figure.limit:,.0f} steps/s)")


def compare(name: str, rounds: int, ours: Callable[[Path], float], limit: Callable[[Path], float]) -> Figure:
    """Alternate both and return the medians; each round begins in a fresh folder."""
    pairs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            pairs.append((ours(Path(folder)), limit(Path(folder))))
    ratio = statistics.median(our / bare for our, bare in pairs)
    rate, bare_rate = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    return Figure(name, round(ratio, 3), round(rate, 1), round(bare_rate, 1))


def engine(folder: Path, process_type: str, command: str, instances: int, slots: int = 1) -> float:
    """Process a backlog with the engine; return steps per second."""
    (folder / "batchctl.toml").write_text(f"{CONFIGURATION}slots = {slots}\n", encoding="utf-8")
    (folder / "noop_jobs.py").write_text(JOBS, encoding="utf-8")
    file = str(folder / "batchctl.toml")
    upgrade_database(file)
    with sqlite3.connect(folder / "batchctl.db") as hand:
        added = hand.execute("INSERT INTO ProcessBatch (ProcessBatchName, MaxConcurrent) VALUES ('B', ?)", (slots,))
        batch = added.lastrowid
        add = "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        hand.executemany(
            f"{add} VALUES (?, ?, 'step', ?, ?)", [(batch, at, process_type, command) for at in range(1, 1 + STEPS)]
        )
        numbers = [(number,) for number in range(1, instances + 1)]
        hand.executemany("INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (?, 'B')", numbers)
        rows = [(batch, number) for (number,) in numbers]
        hand.executemany("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (?, ?)", rows)
    hand.close()
    app = App(config.load(file))
    begun = time.perf_counter()
    report = app.process()
    seconds = time.perf_counter() - begun
    app.close()
    if report.succeeded != instances * STEPS:
        message = f"only {report.succeeded} of {instances * STEPS} steps succeeded"
        raise SystemExit(message)
    return report.succeeded / seconds


def raw_sqlite(folder: Path, steps: int = 3000) -> float:
    """Do what a step needs and nothing else: UPDATE, UPDATE, INSERT in one durable transaction."""
    raw = sqlite3.connect(folder / "batchctl.db", isolation_level=None)
    raw.execute("PRAGMA synchronous = FULL")
    now = "2026-11-21 03:15:00.000"
    open_entry = (
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " ClaimToken, CommandText, CommandSpec, StartTime, Host) VALUES (1, 1, ?, 'step', 'python', 1, ?, '{}', ?, 'h')"
    )
    close_entry = "UPDATE BatchProcessHistory SET Status = 'success', EndTime = ? WHERE BatchProcessHistory_id = ?"
    advance = "UPDATE BatchControl SET PrevProcessControlSeq = ?, z_updated = ? WHERE BatchControl_id = 1"
    text = "x" * 290  # as long as the engine's own command text and specification
    entry = raw.execute(open_entry, (1000, text, now)).lastrowid
    begun = time.perf_counter()
    for at in range(1001, 1001 + steps):
        raw.execute("BEGIN IMMEDIATE")
        raw.execute(close_entry, (now, entry))
        raw.execute(advance, (at, now))
        entry = raw.execute(open_entry, (at, text, now)).lastrowid
        raw.execute("COMMIT")
    seconds = time.perf_counter() - begun
    raw.close()
    return steps / seconds


def bare_spawns(folder: Path, steps: int = 1000) -> float:
    """Start and await a command, nothing else."""
    begun = time.perf_counter()
    for _ in range(steps):
        subprocess.Popen(["/bin/true"], cwd=folder, stdin=subprocess.DEVNULL).wait()
    return steps / (time.perf_counter() - begun)


BENCHMARKS: dict[str, tuple[str, str, int, Callable[[Path], float]]] = {
    "sqlite-noop": ("python", "noop", 1, raw_sqlite),
    "sqlite-noop-child": ("python", "noop_in_child", 3, raw_sqlite),
    "os-true": ("os_command", "/bin/true", 1, bare_spawns),
}
"""Each with its kind of step, its command, by what to divide the number of instances, and its limit."""


if __name__ == "__main__":
    main()
