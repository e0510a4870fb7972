"""The databases of the benchmarks: a SQLite file, or a PostgreSQL server of their own that is as durable as a real one."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.strict_postgres import StrictServer

Rows = Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Database:
    """A database and a connection to it that commits each statement by itself."""

    url: str
    connection: Any
    mark: str

    def run(self, statement: str, *values: object) -> Any:
        """Execute a statement whose values are marked `?`; return the cursor."""
        return self.connection.execute(self._marked(statement), values)

    def many(self, statement: str, rows: Rows) -> None:
        """Execute a statement with every row, in one transaction."""
        cursor = self.connection.cursor()
        cursor.execute("BEGIN")
        cursor.executemany(self._marked(statement), list(rows))
        cursor.execute("COMMIT")

    def _marked(self, statement: str) -> str:
        return statement if self.mark == "?" else statement.replace("%", "%%").replace("?", self.mark)

    def moment(self, day: str) -> str:
        """Return the beginning of a day as an SQL expression."""
        return f"'{day} 00:00:00'" if self.mark == "?" else f"TIMESTAMP '{day} 00:00:00'"

    def settle(self) -> None:
        """Let the database see to what was written, as it would by itself some time later."""
        if self.mark == "?":
            self.run("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            self.run("VACUUM (ANALYZE)")
            self.run("CHECKPOINT")


@contextmanager
def sqlite(folder: Path) -> Iterator[Database]:
    """Lend the file of a folder, as durable as the engine's own connection."""
    connection = sqlite3.connect(folder / "batchctl.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    try:
        yield Database("sqlite:///batchctl.db", connection, "?")
    finally:
        connection.close()


_server: StrictServer | None = None


def server() -> StrictServer:
    """Return the server, which is started when it is first wanted."""
    global _server  # noqa: PLW0603 - one for all rounds
    if _server is None:
        _server = StrictServer()
        _server.start()
    return _server


def stop_server() -> None:
    """Remove the server, if it was ever started."""
    if _server is not None:
        _server.remove()


@contextmanager
def postgresql(folder: Path) -> Iterator[Database]:
    """Lend the database of a folder."""
    name = folder / "database"
    if not name.exists():
        name.write_text(server().new_database(), encoding="utf-8")
    database = name.read_text(encoding="utf-8")
    with server().connect(database) as connection:
        yield Database(server().url(database), connection, "%s")
