"""SQLite target databases for tests, and what the `sqlite3` shell makes of a command text."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from batchctl.domain.errors import StepRefused
from batchctl.plugin_api import Connection, StepContext

SCHEMA = """
CREATE TABLE Item (Item_id integer PRIMARY KEY, Name text, Amount integer, Rate real, Anything);
CREATE TABLE Answer (Answer_id integer PRIMARY KEY, Value, Kind text);
INSERT INTO Item (Name, Amount, Rate, Anything) VALUES ('one', 1, 1.5, '1'), ('two', 2, 2.5, 2), ('', 7, -0.0, x'00ff');
"""

Dump = dict[str, list[tuple[object, ...]]]


def a_database(directory: Path, name: str = "warehouse.db") -> Path:
    """A database with the tables above."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
    return path


def context_at(directory: Path, files: Mapping[str, str] | None = None, **given: object) -> StepContext:
    """Surroundings with one connection, and files as a configuration's directory has them."""
    known = dict(files or {})

    def read_text(path: str) -> str:
        if path not in known:
            raise StepRefused(f"there is no file {path}")
        return known[path]

    return StepContext(
        connections={"warehouse": Connection("warehouse", "sqlite:///warehouse.db", procedures="procedures")},
        jobs={},
        secrets={"token": "env:TOKEN"},
        secret_is_set=lambda name: True,
        directory=str(directory),
        read_text=read_text,
        batchctl_command=("batchctl",),
    )


def dump(path: Path) -> Dump:
    """Everything in the tables, with the type each value is stored as."""
    with closing(sqlite3.connect(path)) as connection:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        return {name: _rows(connection, name) for name in names}


def _rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    columns = [column for _, column, *_ in connection.execute(f"PRAGMA table_info('{table}')")]
    listed = ", ".join(f"{column}, typeof({column})" for column in columns)
    return connection.execute(f"SELECT {listed} FROM {table} ORDER BY 1").fetchall()


def shell_for(text: str) -> list[str]:
    """The `sqlite3` shell as the first command text asks for it."""
    asked = re.search(r'^-- for (sqlite3 ".*"); after', text, re.MULTILINE)
    assert asked, text
    return [*shlex.split(asked[1]), "-init", os.devnull]


def pasted(text: str) -> subprocess.CompletedProcess[bytes]:
    """Give a command text to its `sqlite3` shell as a file."""
    return given(shell_for(text), text)


def given(shell: list[str], text: str) -> subprocess.CompletedProcess[bytes]:
    """Give a text to a `sqlite3` shell as a file."""
    return subprocess.run(shell, input=text.encode(), capture_output=True, check=False)
