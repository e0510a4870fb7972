"""Ten tasks, two workers: never more than two at once, each exactly once, the next as soon as one has ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.installation import PATIENCE, ROOT, RunBatchctl, StartBatchctl, Started
from tests.control_databases import ControlDatabase, PostgresControl

pytestmark = pytest.mark.wheel

EXAMPLE = ROOT / "examples" / "parallel_tasks"
CLOCKS_AGREE = timedelta(milliseconds=50)
TEN = [f"file:{number}" for number in range(1, 11)]


class Shop:
    """A folder with a fresh database, and the workers that wait there."""

    def __init__(self, database: ControlDatabase, start: StartBatchctl, run: RunBatchctl) -> None:
        self.database, self._start, self._run = database, start, run
        self.workers: list[Started] = []
        # Whoever looked for work only when this is over would never be done in time.
        settings = f'database_url = "{database.url}"\npoll_interval = 3600\n[connections.dwh]\nurl = "{database.url}"\n'
        (database.directory / "batchctl.toml").write_text(settings, encoding="utf-8")
        assert self.run("task", "enable", "--reason", "the example").returncode == 0
        self.hand = database.hand()

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return self._run(*args, cwd=self.database.directory)

    def hire(self, *args: str) -> None:
        """Start a worker, and wait until it is there."""
        worker = self._start("run", *args, cwd=self.database.directory)
        self.workers.append(worker)
        assert worker.stderr is not None
        assert any("controller.started" in line for line in worker.stderr)

    def dismiss(self, code: int = 0) -> None:
        """Tell the workers to end, which they do with this code."""
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        ends = [worker.communicate(timeout=PATIENCE) for worker in self.workers]
        assert [worker.returncode for worker in self.workers] == [code] * len(self.workers), ends
        self.workers.clear()

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.communicate()
        self.hand.close()

    def log(self) -> list[tuple[Any, ...]]:
        """Return (instance, status, start, end, worker, pid, session) of every attempt."""
        rows = self.hand.sql(
            "SELECT BatchControl_id, Status, StartTime, EndTime, ClaimedBy, Pid, DbSession"
            " FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"
        )
        return [(row[0], row[1], _moment(row[2]), _moment(row[3]), *row[4:]) for row in rows]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def at_once(log: list[tuple[Any, ...]]) -> int:
    """Return how many attempts were under way at the same time, at most."""
    spans: list[tuple[datetime, datetime]] = [(row[2], row[3]) for row in log]
    return max(sum(start <= begin and end - begin > CLOCKS_AGREE for start, end in spans) for begin, _ in spans)


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


@pytest.fixture
def postgres_shop(
    postgres_database: PostgresControl, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Shop]:
    made = Shop(postgres_database, start_batchctl, run_batchctl)
    yield made
    made.close()


@pytest.mark.parametrize("workers", [[["--slots", "2"]], [[], []]], ids=["two slots", "two processes"])
def test_the_example_runs_two_at_a_time_each_once_and_the_next_at_once(shop: Shop, workers: list[list[str]]) -> None:
    for arguments in workers:
        shop.hire(*arguments)

    script = (EXAMPLE / "ten_tasks.sql").read_text(encoding="utf-8").replace("sleep 3", "sleep 0.5")
    shop.hand.sql(re.sub(r"^--.*$", "", script, flags=re.MULTILINE))
    waited = shop.run("wait", *TEN)
    shop.dismiss()

    assert (waited.returncode, waited.stderr) == (0, "")
    assert sorted(waited.stdout.split("\n")) == ["", *sorted(f"{task} complete" for task in TEN)]
    log = shop.log()
    assert sorted(row[0] for row in log) == list(range(1, 11))
    assert {row[1] for row in log} == {"success"}
    assert at_once(log) == 2
    assert len({row[4] for row in log}) == len(workers)
    assert all(row[5] for row in log)
    *_, last = (EXAMPLE / "log.sql").read_text(encoding="utf-8").split(";\n\n")
    ((most,),) = shop.hand.sql(re.sub(r"^--.*$|;", "", last, flags=re.MULTILINE))
    assert most >= 2
    assert shop.run("fsck").returncode == 0


def test_sql_tasks_run_in_two_sessions_and_a_failed_one_stays_and_is_run_again(postgres_shop: Shop) -> None:
    shop = postgres_shop
    shop.hire("--slots", "2")
    queued = [shop.run("task", "SELECT pg_sleep(0.5)", "--connection", "dwh") for _ in range(4)]
    queued.append(shop.run("task", "INSERT INTO Later VALUES ('{Data1}')", "--connection", "dwh"))
    names = [done.stdout.strip() for done in queued]

    failed = shop.run("wait", *names)
    shop.hand.sql("CREATE TABLE Later (x text)")
    again = shop.run("rerun", "5", "--reason", "the table is there now")
    done = shop.run("wait", "5")
    shop.dismiss()

    assert names == [f"file:{number}" for number in range(1, 6)]
    assert (failed.returncode, again.returncode, done.returncode) == (1, 0, 0)
    assert "file:5 failed" in failed.stdout.splitlines()
    assert "later" in failed.stderr
    assert shop.hand.sql("SELECT x FROM Later") == [("{Data1}",)]
    log = shop.log()
    assert [row[1] for row in log] == ["success"] * 4 + ["failed", "success"]
    assert at_once(log) <= 2
    assert all(row[6] for row in log)


def test_run_until_idle_works_the_list_off_and_ends(shop: Shop) -> None:
    for _ in range(3):
        shop.hand.sql("INSERT INTO FileProcess (Entity, Data) VALUES ('Task', 'true')")

    ran = shop.run("run", "--until-idle", "0.5", "--slots", "2")

    assert (ran.returncode, ran.stdout) == (0, "Steps: 3 started, 3 succeeded, 0 failed. Instances: 3 complete.\n")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_task_that_outlasts_its_worker_is_gone_on_with(shop: Shop, how: signal.Signals) -> None:
    folder = shop.database.directory
    file = folder / "batchctl.toml"
    file.write_text(f"shutdown_grace = 0\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    os.mkfifo(folder / "gate")
    shop.hire()
    shop.run("task", "--", "sh", "-c", "read line <gate; echo done >>fin")
    # Whoever opens the gate for writing waits until the task reads from it.
    with (folder / "gate").open("w") as gate:
        (worker,) = shop.workers
        worker.send_signal(how)
        worker.communicate(timeout=PATIENCE)
        shop.workers.clear()
        gate.write("go on\n")

    ran = shop.run("run", "--until-idle", "0.5")

    assert (ran.returncode, [row[1] for row in shop.log()]) == (0, ["success"]), ran.stderr
    assert (folder / "fin").read_text() == "done\n"
