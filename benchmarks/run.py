"""How much of the machine's limit the engine reaches: ratios to a bare loop in the same run, never bare figures.

`*-noop`: instances of five no-op Python steps, in-process, each durably recorded, beside the driver alone doing one durable
transaction a step (UPDATE, UPDATE, INSERT) on the same tables; `-8` with eight slots. `sqlite-noop-child`: the same with jobs
in the child process. `os-true`: `/bin/true` as an os_command step beside a bare loop that starts and awaits it, one after the
other; `-4` with four slots. `*-claims`: the rate beside 1,000,000 waiting instances and as many ended attempts, to that
beside a thousand. `*-pools`: with 20 pools that have limits, to without any. Each pair is alternated; the figure is the
median of the rounds. A round is long enough that what a worker does once, at its start, weighs little.

`sqlite-latency`, `postgresql-latency`: no rates but milliseconds, from an INSERT to the start of the step; see latency.py.
There less is better: `rate` and `limit` are medians in the `unit` "ms", `ratio` says how many times the bare way's ours
takes, and `p99` is ours for the 99th of a hundred.

`postgresql-handover`: the same, from the end of a step to the start of the next one, which is of a pool that another worker
serves.

`sqlite-purge`, `postgresql-purge`: the longest transaction in which 1,000,000 rows of history are purged, of the second that
one may take; see purging.py.

`sqlite-live-output`, `postgresql-live-output`: how much of the loop's time a step takes that writes as fast as it can, of the 5 %
that it may; see live_output.py.

`sqlite-web`, `postgresql-web`: the first byte of the console's slowest page, of the 100 ms that it may take, and how much longer
a page takes that lies deep than the first one; see web_pages.py. `web` runs both.

`sqlite-web-live`, `postgresql-web-live`: `*-noop-8` beside a console with 200 open tabs, to the same without them, of which
it may lose 3 %; what the console asks, and the memory of a tab; see web_live.py. `web-live` runs both.

`many-workers`: claims and ends a second with one, four and sixteen controllers on one PostgreSQL, on one batch, with 1,008 steps
under way beside 100,000 instances that wait, and what idle controllers cost; see many_workers.py. With `--short`, as
little of it as shows that it works.

`dask-start`: the milliseconds until a step starts in a local Dask cluster, of the 20 that it may take; `dask-busy`: how much of
the time 64 workers have a step of a second, of the 95 % that they must. `dask` runs both; see cluster_steps.py.

`forecast-accuracy`: the pinball loss of p90 on a year of flights, to that of means with 1.28 standard deviations; see
forecast_accuracy.py. `forecast-night`: the seconds of 200 replays of a night of 500 batches, with one slot
or 40, of the 5 that they may take.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from batchctl import config
from batchctl.app import App
from batchctl.control_database import upgrade_database
from batchctl.node import Node
from benchmarks import (
    cluster_steps,
    databases,
    due_times,
    forecast_accuracy,
    latency,
    live_output,
    many_workers,
    purging,
    refusals,
    web_live,
    web_pages,
)
from benchmarks.databases import Database
from tests.arguments import at_least_one

STEPS = 5
MANY = 1_000_000
MANY_POOLS = 20

CONFIGURATION = 'plugin_modules = ["noop_jobs"]\nstate_directory = "state"\n'

JOBS = '''from batchctl.plugin_api import job

@job("noop", in_process=True)
def noop() -> None:
    """Do nothing."""

@job("noop_in_child")
def noop_in_child() -> None:
    """Do nothing, elsewhere."""
'''

Lend = Callable[[Path], AbstractContextManager[Database]]
Beside = Callable[[Path], AbstractContextManager[None]]
"""What works beside the engine, by the settings."""
Measure = Callable[[Path], float]


@dataclass(frozen=True, slots=True)
class Figure:
    """One benchmark: what we reach, what the limit is, and their ratio."""

    name: str
    ratio: float
    rate: float
    limit: float
    unit: str
    p99: float | None = None
    seconds: float | None = None
    """How long all of it took, where that is not the question."""

    def __str__(self) -> str:
        """Show it on a line."""
        if self.p99 is None:
            return f"{self.name:18} {self.ratio:5.2f} of the limit ({self.rate:,.4g} of {self.limit:,.4g} {self.unit})"
        if self.seconds is not None:
            longest = f"longest {self.rate:,.0f} of {self.limit:,.0f} {self.unit}, 99th {self.p99:,.0f}"
            return f"{self.name:18} {self.ratio:5.2f} of what a transaction may take ({longest}; all in {self.seconds:,.0f} s)"
        ours = f"median {self.rate:.2f}, 99th {self.p99:.2f} {self.unit}"
        return f"{self.name:18} {self.ratio:5.2f} times the bare way ({ours}; bare {self.limit:.2f} {self.unit})"


def main() -> None:
    """Run the benchmarks asked for and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print a list of name, ratio, rate, limit, unit, p99")
    parser.add_argument("--instances", type=at_least_one, default=2000, help="instances a round (default 2000)")
    parser.add_argument("--rounds", type=at_least_one, default=3, help="rounds (default 3)")
    parser.add_argument("--short", action="store_true", help="measure little of many-workers")
    known = [*NAMES, *GROUPS]
    parser.add_argument("--only", metavar="NAME", action="append", choices=known, help="run one, or several")
    options = parser.parse_args()
    try:
        wanted = [one for name in options.only or NAMES for one in GROUPS.get(name, [name])]
        figures = list[Figure]()
        for name in wanted:
            if name == MANY_WORKERS:
                found = many_workers.measure(many_workers.SHORT if options.short else many_workers.FULL)
                figures += figures_of_many_workers(found)
            else:
                figures.append(figure_of(name, options.rounds, options.instances))
    finally:
        databases.stop_server()
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
        return
    for figure in figures:
        print(figure)


def figure_of(name: str, rounds: int, instances: int) -> Figure:
    """Run one benchmark."""
    if name in PURGES:
        return longest_of(name)
    if name == REFUSED:
        return refused(rounds)
    if name in LIVE:
        return live(name, rounds)
    if name in WEBS:
        return web(name)
    if name == DASK_START:
        return far_starts()
    if name == DASK_BUSY:
        return far_work()
    if name == FORECASTS:
        return accuracy()
    if name == FORECAST_NIGHT:
        (one_slot, _), (many, memory) = map(forecast_accuracy.of_a_large_night, (1, 40))
        seconds = max(one_slot, many)
        bare = seconds / forecast_accuracy.of_bare_heaps()
        said = f"s of the processor ({one_slot:.1f} with one slot, {many:.1f} with 40), {memory:.0f} MB, {bare:.1f} bare heaps"
        return Figure(name, round(seconds / MOST_OF_A_FORECAST, 3), round(seconds, 2), MOST_OF_A_FORECAST, said)
    if name in WEB_LIVES:
        return beside_tabs(name, rounds, instances)
    if name in LATENCIES:
        return compare_latencies(name, rounds, instances // 40)
    return compare(name, rounds, *BENCHMARKS[name](instances))


def compare(name: str, rounds: int, ours: Measure, limit: Measure) -> Figure:
    """Alternate both and return the medians; each round begins in a fresh folder."""
    pairs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            pairs.append((ours(Path(folder)), limit(Path(folder))))
    ratio = statistics.median(our / bare for our, bare in pairs)
    rate, bare_rate = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    return Figure(name, round(ratio, 3), round(rate, 1), round(bare_rate, 1), UNITS.get(name, "steps/s"))


def compare_latencies(name: str, rounds: int, times: int) -> Figure:
    """Alternate both and return the medians of all rounds together."""
    our: list[float] = []
    bare: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            measure = latency.handover if name == HANDOVER else latency.ours
            our += measure(Path(folder) / "ours", LATENCIES[name], times)
            bare += latency.bare(Path(folder) / "bare", LATENCIES[name], times)
    median, limit = statistics.median(our), statistics.median(bare)
    p99 = sorted(our)[len(our) * 99 // 100]
    return Figure(name, round(median / limit, 3), round(median, 3), round(limit, 3), "ms", round(p99, 3))


def refused(rounds: int) -> Figure:
    """Return how many of a hundred INSERTs were refused beside how many may be, and at how many steps a second."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        found = [refusals.measure(Path(folder) / str(at), MOST_INSERTS) for at in range(rounds)]
    share, rate = (statistics.mean(each[at] for each in found) for at in (0, 1))
    return Figure(REFUSED, round(share, 3), round(share, 2), 1.0, f"% of INSERTs, at {rate:.1f} steps/s")


def live(name: str, rounds: int) -> Figure:
    """Return what a step that writes costs the loop beside what it may."""
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            found.append(live_output.measure(Path(folder), LIVE[name]))
    share, written = (statistics.median(each[at] for each in found) for at in (0, 1))
    return Figure(
        name, round(share / MOST_OF_LOOP, 3), round(share, 2), MOST_OF_LOOP, f"% of the loop, at {written:.0f} MB/s"
    )


def web(name: str) -> Figure:
    """Return how long the slowest page of the console takes beside what it may."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        found = web_pages.measure(Path(folder) / "web", WEBS[name], web_pages.INSTANCES)
    for path in web_pages.PAGES:
        print(f"{name} {path}: 95th {found.p95(path):.1f} ms", file=sys.stderr)
    slowest, deep = found.p95(found.slowest), found.p95(web_pages.DEEP) / found.p95(web_pages.FIRST)
    said = f"ms, {found.slowest}; a deep page {deep:.2f} times the first"
    return Figure(name, round(slowest / MOST_OF_A_PAGE, 3), round(slowest, 1), MOST_OF_A_PAGE, said)


def accuracy() -> Figure:
    """Return how much forecasts lose beside what others reckon."""
    found = forecast_accuracy.measure()
    for name in found.pairs:
        print(f"{FORECASTS} {found.line(name, 0.5 if 'p50' in name else 0.9)}", file=sys.stderr)
    ours, others = (found.loss(name, 0.9) for name in (forecast_accuracy.NEARLY_ALL, forecast_accuracy.USUAL))
    return Figure(FORECASTS, round(ours / others, 3), round(ours, 2), round(others, 2), "min of pinball loss at p90")


def beside_tabs(name: str, rounds: int, instances: int) -> Figure:
    """Return how fast the engine is beside a console with open tabs, and alone."""
    costs = list[web_live.Cost]()
    lend, many = WEB_LIVES[name], 5 * instances

    def ours(folder: Path) -> float:
        costs.append(cost := web_live.Cost())
        beside = partial(web_live.tabs, cost=cost)
        return engine(folder / "beside", lend, "python", "noop", many, slots=8, beside=beside)

    def alone(folder: Path) -> float:
        return engine(folder / "alone", lend, "python", "noop", many, slots=8)

    found = compare(name, rounds, ours, alone)
    return replace(found, unit=f"steps/s; {web_live.Cost.median(costs)}")


def figures_of_many_workers(found: many_workers.Comparison) -> list[Figure]:
    """Return how many steps end a second with more controllers, beside one; and what else shows how far a server goes."""
    print(f"{MANY_WORKERS} " + ", ".join(f"{name} {mb:.0f} MB" for name, mb in found.sizes.items()), file=sys.stderr)

    def beside(one: many_workers.Found, limit: float, unit: str) -> Figure:
        name, ratio = f"{MANY_WORKERS} {one.shape.name}", one.rate / limit if limit else 0.0
        return Figure(name, round(ratio, 3), round(one.rate, 1), round(limit, 1), unit)

    alone, widest, many, idle = found.alone.rate, found.together[-1].rate, found.many, found.idle
    busy = f"processor, for {idle.statements:.0f} statements/s"
    return [
        *(beside(one, alone, "ends/s, of one controller") for one in found.together),
        beside(found.one_batch, widest, "ends/s, of the same on many batches"),
        beside(many, many.wanted, "ends/s that the slots ask for"),
        Figure(f"{MANY_WORKERS} {idle.shape.name}", round(idle.busy, 3), round(idle.busy, 3), 1.0, busy),
    ]


def far_starts() -> Figure:
    """Return how soon steps start in a cluster."""
    found = cluster_steps.starts()
    said = f"ms in the cluster, 99th {found.p99:.1f}; {statistics.median(found.here):.1f} on the controller's host"
    return Figure(DASK_START, round(found.median / SOON, 3), round(found.median, 2), SOON, said)


def far_work() -> Figure:
    """Return how busy the workers of a cluster are kept."""
    found = cluster_steps.busy()
    said = f"of the time of {found.slots} slots, {found.ends} steps in {found.seconds:.1f} s"
    return Figure(DASK_BUSY, round(found.share / BUSY, 3), round(found.share, 3), BUSY, said)


def longest_of(name: str) -> Figure:
    """Purge a million rows once, and return the longest transaction."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        took, seconds = purging.measure(Path(folder) / "purge", PURGES[name], MANY)
    longest, p99 = 1000 * max(took), 1000 * sorted(took)[len(took) * 99 // 100]
    return Figure(name, round(longest / 1000, 3), round(longest, 1), 1000.0, "ms", round(p99, 1), round(seconds, 1))


def engine(
    folder: Path,
    lend: Lend,
    process_type: str,
    command: str,
    instances: int,
    *,
    slots: int = 1,
    besides: int = 0,
    pools: int = 0,
    beside: Beside | None = None,
) -> float:
    """Process a number of instances with the engine; return steps per second.

    `besides` so many more instances wait behind them, each with an ended attempt. There are so many `pools`, each with a limit;
    the steps are of one of them. `beside` is what works at the same time.
    """
    file = str(folder / "batchctl.toml")
    with lend(prepared(folder)) as database:
        lines = f'{CONFIGURATION}slots = {slots}\ndatabase_url = "{database.url}"\n'
        Path(file).write_text(lines, encoding="utf-8")
        upgrade_database(file)
        fill(database, process_type, command, instances, slots, besides)
        for number in range(pools):
            database.run("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES (?, ?)", f"pool{number}", slots)
        if pools:
            database.run("UPDATE ProcessBatch SET Pool = 'pool0'")
    app = App(config.load(file))
    app.pools = frozenset(f"pool{number}" for number in range(pools)) or app.pools
    with nullcontext() if beside is None else beside(Path(file)):
        begun = time.perf_counter()
        report = Node(app).process()
        seconds = time.perf_counter() - begun
    app.close()
    if report.succeeded != instances * STEPS:
        message = f"only {report.succeeded} of {instances * STEPS} steps succeeded"
        raise SystemExit(message)
    return report.succeeded / seconds


def prepared(folder: Path) -> Path:
    """Make a folder with the jobs in it."""
    folder.mkdir(exist_ok=True)
    (folder / "noop_jobs.py").write_text(JOBS, encoding="utf-8")
    return folder


def fill(database: Database, process_type: str, command: str, instances: int, slots: int, besides: int) -> None:
    """Register a batch and its instances; those that wait behind them are paused."""
    database.run("INSERT INTO ProcessBatch (ProcessBatchName, MaxConcurrent) VALUES ('B', ?)", slots)
    (batch,) = database.run("SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'B'").fetchone()
    add = "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
    steps = [(batch, at, process_type, command) for at in range(1, 1 + STEPS)]
    database.many(f"{add} VALUES (?, ?, 'step', ?, ?)", steps)
    first, behind = 1_000_000, 1_000_000 + instances
    every, others = _numbers(first, behind + besides), _numbers(behind, behind + besides)
    database.run(f"{every} INSERT INTO FileProcess (FileProcess_id, Entity) SELECT i, 'B' FROM n")
    waits = f"CASE WHEN i < {behind} THEN {database.moment('1900-01-01')} ELSE {database.moment('2999-01-01')} END"
    database.run(
        f"{every} INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, NextRunTime)"
        f" SELECT i, {batch}, i, {waits} FROM n"
    )
    if besides:
        database.run(
            f"{others} INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName,"
            " ProcessType, CommandText, Status, EndTime)"
            f" SELECT i, {batch}, 99, 'step', 'python', '', 'success', {database.moment('2026-01-01')} FROM n"
        )
    database.settle()


def _numbers(first: int, end: int) -> str:
    return f"WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {end - 1})"


def raw(folder: Path, lend: Lend, steps: int = 3000) -> float:
    """Do what a step needs and nothing else: UPDATE, UPDATE, INSERT in one durable transaction."""
    now = "2026-11-21 03:15:00.000"
    text = "x" * 290  # as long as the engine's own command text and specification
    columns = (
        "BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, ClaimToken, CommandText,"
        " CommandSpec, StartTime, Host, Status, EndTime"
    )
    with lend(folder) as database:
        (instance, batch) = database.run(
            "SELECT BatchControl_id, ProcessBatch_id FROM BatchControl ORDER BY BatchControl_id"
        ).fetchone()
        opened = f"INSERT INTO BatchProcessHistory ({columns}) VALUES ({instance}, {batch}, ?, 'step', 'python', 1, ?, '{{}}', ?, 'h', 'success', ?)"  # noqa: E501 - our own ids
        closed = "UPDATE BatchProcessHistory SET Status = 'success', EndTime = ? WHERE BatchControl_id = ? AND ProcessControlSeq = ? AND AttemptNo = 1"  # noqa: E501
        moved = "UPDATE BatchControl SET PrevProcessControlSeq = ?, z_updated = ? WHERE BatchControl_id = ?"
        if database.mark == "?":
            return _three_statements(database, opened, closed, moved, instance, now, text, steps)
        return _one_statement(database, opened, closed, moved, instance, now, text, steps)


def _three_statements(
    database: Database, opened: str, closed: str, moved: str, instance: int, now: str, text: str, steps: int
) -> float:
    database.run(opened, 1000, text, now, now)
    begun = time.perf_counter()
    for at in range(1001, 1001 + steps):
        database.run("BEGIN IMMEDIATE")
        database.run(closed, now, instance, at - 1)
        database.run(moved, at, now, instance)
        database.run(opened, at, text, now, now)
        database.run("COMMIT")
    return steps / (time.perf_counter() - begun)


def _one_statement(
    database: Database, opened: str, closed: str, moved: str, instance: int, now: str, text: str, steps: int
) -> float:
    """On a server each round trip counts, so the limit is what needs one."""
    whole = f"WITH closed AS ({closed}), moved AS ({moved}) {opened}"
    database.run(opened, 1000, text, now, now)
    begun = time.perf_counter()
    for at in range(1001, 1001 + steps):
        database.run(whole, now, instance, at - 1, at, now, instance, at, text, now, now)
    return steps / (time.perf_counter() - begun)


def bare_spawns(folder: Path, steps: int = 1000) -> float:
    """Start and await a command, nothing else."""
    begun = time.perf_counter()
    for _ in range(steps):
        subprocess.Popen(["/bin/true"], cwd=folder, stdin=subprocess.DEVNULL).wait()
    return steps / (time.perf_counter() - begun)


def _noop(lend: Lend, slots: int, instances: int) -> tuple[Measure, Measure]:
    ours = partial(engine, lend=lend, process_type="python", command="noop", instances=instances, slots=slots)
    return ours, partial(raw, lend=lend)


def _noop_in_child(instances: int) -> tuple[Measure, Measure]:
    ours = partial(
        engine, lend=databases.sqlite, process_type="python", command="noop_in_child", instances=instances // 3
    )
    return ours, partial(raw, lend=databases.sqlite)


def _true(slots: int, instances: int) -> tuple[Measure, Measure]:
    ours = partial(
        engine,
        lend=databases.sqlite,
        process_type="os_command",
        command="/bin/true",
        instances=instances,
        slots=slots,
    )
    return ours, bare_spawns


def _claims(lend: Lend, instances: int) -> tuple[Measure, Measure]:
    def beside(folder: Path, besides: int) -> float:
        at = folder / str(besides)
        return engine(at, lend, "python", "noop", instances, slots=1, besides=besides)

    return partial(beside, besides=MANY), partial(beside, besides=1000)


def _pools(lend: Lend, instances: int) -> tuple[Measure, Measure]:
    def among(folder: Path, pools: int) -> float:
        return engine(folder / str(pools), lend, "python", "noop", instances, slots=1, pools=pools)

    return partial(among, pools=MANY_POOLS), partial(among, pools=0)


BENCHMARKS: dict[str, Callable[[int], tuple[Measure, Measure]]] = {
    "sqlite-noop": partial(_noop, databases.sqlite, 1),
    "sqlite-noop-8": partial(_noop, databases.sqlite, 8),
    "sqlite-noop-child": _noop_in_child,
    "postgresql-noop": partial(_noop, databases.postgresql, 1),
    "postgresql-noop-8": partial(_noop, databases.postgresql, 8),
    "os-true": partial(_true, 1),
    "os-true-4": partial(_true, 4),
    "sqlite-claims": partial(_claims, databases.sqlite),
    "postgresql-claims": partial(_claims, databases.postgresql),
    "sqlite-pools": partial(_pools, databases.sqlite),
    "postgresql-pools": partial(_pools, databases.postgresql),
    "due-times": lambda _: (due_times.ours, due_times.bare),
}
"""Each returns what to measure, and what to measure it by."""

UNITS = {"due-times": "times/s"}
"""Of what is measured otherwise than in steps."""

HANDOVER = "postgresql-handover"
LATENCIES: dict[str, Lend] = {
    "sqlite-latency": databases.sqlite,
    "postgresql-latency": databases.postgresql,
    HANDOVER: databases.postgresql,
}

PURGES: dict[str, Lend] = {"sqlite-purge": databases.sqlite, "postgresql-purge": databases.postgresql}

LIVE: dict[str, Lend] = {"sqlite-live-output": databases.sqlite, "postgresql-live-output": databases.postgresql}
MOST_OF_LOOP = 5.0

FORECASTS, FORECAST_NIGHT = "forecast-accuracy", "forecast-night"
MOST_OF_A_FORECAST = 5.0
"""Seconds."""
WEB = "web"
WEBS: dict[str, Lend] = {"sqlite-web": databases.sqlite, "postgresql-web": databases.postgresql}
MOST_OF_A_PAGE = 100.0

WEB_LIVE = "web-live"
WEB_LIVES: dict[str, Lend] = {"sqlite-web-live": databases.sqlite, "postgresql-web-live": databases.postgresql}
DASK_START, DASK_BUSY = "dask-start", "dask-busy"
SOON = 20.0
"""Milliseconds."""
BUSY = 0.95
GROUPS = {WEB: [*WEBS], WEB_LIVE: [*WEB_LIVES], "dask": [DASK_START, DASK_BUSY]}

MANY_WORKERS = "many-workers"

REFUSED = "sqlite-refusals"
MOST_INSERTS = 500

NAMES = [
    *(*BENCHMARKS, *LATENCIES, *PURGES, *LIVE, *WEBS, *WEB_LIVES),
    *(DASK_START, DASK_BUSY, FORECASTS, FORECAST_NIGHT, REFUSED, MANY_WORKERS),
]


if __name__ == "__main__":
    main()
