"""A control database as support staff finds it at 3 a.m., made by rows and by the installed command."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl, with_tables
from tests.postgres import PostgresServer
from tests.sqlserver.control import lent

HOSTILE = "[red]x[/red] \x1b[31m\u202e😀 {Data1} %s"


def a_file(folder: Path) -> SqliteControl:
    """Make a control database in a folder of its own."""
    folder.mkdir(exist_ok=True)
    made = SqliteControl(folder)
    with_tables(made)
    return made


def a_database(request: pytest.FixtureRequest, folder: Path) -> PostgresControl:
    """Make a control database on the tests' server."""
    server: PostgresServer = request.getfixturevalue("postgres")
    return PostgresControl(server, folder, server.new_database(request.getfixturevalue("prepared")))


def a_control(kind: str, request: pytest.FixtureRequest, folder: Path) -> ControlDatabase:
    """Make a control database of a kind, its commands to be run in a folder of its own."""
    folder.mkdir(exist_ok=True)
    match kind:
        case "sqlite":
            return a_file(folder)
        case "postgresql":
            return a_database(request, folder)
        case _:
            made = lent(request, folder)
            with_tables(made)
            return made


class Night:
    """A folder with a control database, and the command that works on it."""

    def __init__(self, database: ControlDatabase, run_batchctl: RunBatchctl) -> None:
        self.database = database
        self.folder = database.directory
        self._run = run_batchctl
        self.environment = {} if database.kind == "sqlite" else {"BATCHCTL_DATABASE_URL": database.url}

    def __call__(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder."""
        return self._run(*args, cwd=self.folder, env={**self.environment, **(env or {})})

    def json(self, *args: str) -> Any:
        """Run a command that must succeed and read what it printed as JSON."""
        done = self(*args, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Do something by hand, as in an SQL client."""
        with closing(self.database.hand()) as hand:
            return hand.sql(statement, *values)

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

    def dump(self) -> object:
        """Return everything the database holds."""
        with closing(self.database.hand()) as hand:
            return hand.dump()

    def _insert(self, table: str, columns: Mapping[str, object]) -> None:
        marks = ", ".join("?" * len(columns))
        self.sql(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", *columns.values())


def python(code: str, *arguments: str) -> str:
    """Return Data1 of a step that runs some Python; braces stand for themselves, but for those of the arguments."""
    words = [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")]
    return " ".join([*(shlex.quote(word) for word in words), *(f"'{argument}'" for argument in arguments)])


GOOD = python("print('good')")
NEEDS_A_FILE = python("import sys; print(open(sys.argv[1]).read())", "{Data2}")
