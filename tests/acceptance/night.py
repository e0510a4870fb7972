"""A control database as support staff finds it at 3 a.m., made by rows and by the installed command."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from batchctl.store import engine, schema
from batchctl.store.dialects import sqlite
from batchctl.store.transactions import StoreTransactions
from tests.acceptance.installation import RunBatchctl

HOSTILE = "[red]x[/red] \x1b[31m\u202e😀 {Data1} %s"


@cache
def empty_database() -> bytes:
    """Return a control database without rows, as `db upgrade` makes it."""
    with TemporaryDirectory() as folder:
        transactions = StoreTransactions(engine.open_engine("sqlite:///new.db", Path(folder), may_create=True))
        with transactions.read() as connection:
            sqlite.prepare_file(connection)
        transactions.run(frozenset(), schema.upgrade)
        transactions.close()
        return (Path(folder) / "new.db").read_bytes()


class Night:
    """A folder with a control database, and the command that works on it."""

    def __init__(self, folder: Path, run_batchctl: RunBatchctl) -> None:
        self.folder = folder
        self._run = run_batchctl
        folder.mkdir(exist_ok=True)
        (folder / "batchctl.db").write_bytes(empty_database())

    def __call__(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder."""
        return self._run(*args, cwd=self.folder, env=env)

    def json(self, *args: str) -> Any:
        """Run a command that must succeed and read what it printed as JSON."""
        done = self(*args, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Do something by hand, as in an SQL client."""
        with closing(sqlite3.connect(self.folder / "batchctl.db", isolation_level=None)) as hand:
            hand.execute("PRAGMA foreign_keys = ON")
            return hand.execute(statement, values).fetchall()

    def batch(self, name: str, *commands: str, **columns: object) -> None:
        """Register a batch of OS commands by rows."""
        self._insert("ProcessBatch", {"ProcessBatchName": name, **columns})
        ((batch_id,),) = self.sql("SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = ?", name)
        for at, command in enumerate(commands, start=1):
            step = {"ProcessControlSeq": 10 * at, "ProcessName": f"step {at}", "ProcessType": "os_command"}
            self._insert("ProcessControl", {"ProcessBatch_id": batch_id, **step, "Data1": command})

    def arrive(self, entity: str, file_name: str = "/in/file.csv", **columns: object) -> None:
        """Drop a FileProcess row."""
        self._insert("FileProcess", {"Entity": entity, "FileName": file_name, **columns})

    def status_of(self, instance_id: int) -> str:
        """Read an instance's status."""
        ((status,),) = self.sql("SELECT Status FROM BatchControl WHERE BatchControl_id = ?", instance_id)
        return str(status)

    def dump(self) -> list[str]:
        """Return everything the database holds."""
        with closing(sqlite3.connect(self.folder / "batchctl.db")) as hand:
            return list(hand.iterdump())

    def _insert(self, table: str, columns: Mapping[str, object]) -> None:
        marks = ", ".join("?" * len(columns))
        self.sql(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", *columns.values())


def python(code: str, *arguments: str) -> str:
    """Return Data1 of a step that runs some Python; braces stand for themselves, but for those of the arguments."""
    words = [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")]
    return " ".join([*(shlex.quote(word) for word in words), *(f"'{argument}'" for argument in arguments)])


GOOD = python("print('good')")
NEEDS_A_FILE = python("import sys; print(open(sys.argv[1]).read())", "{Data2}")
