"""The staging example, as its README says it: rows that a plain client deposits start the batch that loads them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import PATIENCE, ROOT, RunBatchctl
from tests.control_databases import FIRST_TWO
from tests.postgres import PostgresServer

EXAMPLE = ROOT / "examples" / "staging_trigger"


class Shop:
    """A folder with the example's files, and the clients that everybody has."""

    def __init__(self, folder: Path, run: RunBatchctl, server: PostgresServer | None) -> None:
        self.folder, self._run, self._server = folder, run, server
        for file in EXAMPLE.iterdir():
            shutil.copy(file, folder)
        self._databases = {"batchctl": "batchctl.db", "warehouse": "warehouse.db"}
        if server is not None:
            self._databases = {name: server.new_database() for name in self._databases}
            urls = {name: server.url(database) for name, database in self._databases.items()}
            settings = f'database_url = "{urls["batchctl"]}"\npoll_interval = 5\n'
            settings += f'[connections.warehouse]\nurl = "{urls["warehouse"]}"\n'
            (folder / "batchctl.toml").write_text(settings, encoding="utf-8")

    def feed(self, database: str, file: str) -> None:
        """Give a file to the client of a database."""
        self.client(database, (self.folder / file).read_text(encoding="utf-8"))

    def client(self, database: str, text: str) -> str:
        """Give a text to the client of a database; return what it prints."""
        name = self._databases[database]
        if self._server is not None:
            done = self._server.psql(name, text, "-v", "ON_ERROR_STOP=1", "-At")
        else:
            done = subprocess.run(
                ["sqlite3", "-cmd", ".timeout 60000", "-bail", self.folder / name],
                input=text,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        assert done.returncode == 0, done
        return done.stdout.strip()

    def batchctl(self, *args: str) -> str:
        done = self._run(*args, cwd=self.folder)
        assert done.returncode == 0, done
        return done.stdout

    def tried(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.batchctl("trigger", "test", "orders", "--json"))
        return found

    def log(self) -> list[tuple[str, int, str | None]]:
        rows = json.loads(self.batchctl("log", "--json"))
        return [(row["EventType"], row["RowsQueued"], row["Message"]) for row in reversed(rows)]


@pytest.fixture(params=FIRST_TWO)
def shop(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Shop:
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    return Shop(tmp_path, run_batchctl, server)


def test_the_example_does_what_its_readme_says(shop: Shop) -> None:
    shop.batchctl("db", "upgrade")
    shop.feed("batchctl", "register.sql")
    shop.feed("warehouse", "staging.sql")
    assert shop.batchctl("check") == "Everything is in order.\n"
    assert shop.tried()["Reason"] == "no row is pending"

    shop.feed("warehouse", "deposit.sql")
    tried = shop.tried()
    assert (tried["WouldFire"], tried["Reason"], tried["PendingRows"]) == (True, "500 rows (threshold 500)", 500)
    shop.batchctl("run", "--until-idle", "0.5")

    first = [("fired", 500, "500 rows (threshold 500)"), ("completed", 500, None)]
    assert shop.log() == first
    counts = "SELECT count(*) FROM Orders; SELECT count(*) FROM StagingOrders WHERE ImportStatus <> 2;"
    assert shop.client("warehouse", counts).split() == ["500", "0"]

    shop.feed("warehouse", "trickle.sql")
    tried = shop.tried()
    said = r"the oldest of 2 rows is \d+ min old \(IdleMinutes 30\)"
    assert tried["WouldFire"] is True
    assert re.fullmatch(said, tried["Reason"])
    shop.batchctl("run", "--once")

    assert [row[:2] for row in shop.log()] == [row[:2] for row in first] + [("fired", 2), ("completed", 2)]
    assert shop.client("warehouse", counts).split() == ["502", "0"]
    message = "SELECT Source || ': ' || Message FROM FileProcess ORDER BY FileProcess_id LIMIT 1;"
    assert shop.client("batchctl", message) == "trigger orders: 500 rows (threshold 500)"
    shop.batchctl("fsck")


def test_a_load_that_fails_keeps_the_next_from_being_started_until_somebody_deals_with_it(shop: Shop) -> None:
    shop.batchctl("db", "upgrade")
    shop.feed("batchctl", "register.sql")
    shop.client("batchctl", "UPDATE ProcessBatch SET RetryCount = 0;")
    shop.feed("warehouse", "staging.sql")
    shop.client("warehouse", "INSERT INTO Orders VALUES (7, 'in the way', 1);")
    shop.feed("warehouse", "deposit.sql")
    shop._run("run", "--once", cwd=shop.folder)
    shop.feed("warehouse", "deposit.sql")
    for _ in range(2):
        shop.batchctl("run", "--once")

    assert [row[0] for row in shop.log()] == ["fired", "error", "skipped"]
    assert "500 rows (threshold 500), but BatchControl 1 of batch LoadOrders is failed" in str(shop.log()[2][2])
    shop.client("warehouse", "DELETE FROM Orders;")
    shop.batchctl("rerun", "1", "--reason", "it is out of the way")
    shop.batchctl("run", "--until-idle", "0.5")
    shop.batchctl("run", "--once")

    assert [row[0] for row in shop.log()][3:] == ["completed", "fired", "completed"]
    assert shop.client("warehouse", "SELECT count(*) FROM Orders;") == "1000"
