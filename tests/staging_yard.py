"""A control database with its engine, and a staging table that others fill, in a target database of the same kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import psycopg

from batchctl.control.intake.triggering import Triggering
from batchctl.domain.intake.triggers import Counted
from batchctl.domain.rows import DataTrigger
from batchctl.ports import Inquiries
from batchctl.store.intake.staging import StagingTables
from batchctl.store.transactions import StoreTransactions
from batchctl.system.plugins.inquiries import ThreadInquiries
from tests.control.world import World
from tests.postgres import PostgresServer

LIMIT = timedelta(seconds=30)
POLL = timedelta(seconds=15)
LOG = (
    "SELECT EventType, Source, Entity, FileProcess_id, BatchControl_id, Message, RowsQueued"
    " FROM SchedulerLog ORDER BY SchedulerLog_id"
)


class Target(Protocol):
    """Somebody else's database, and the plain client that he writes to it with."""

    url: str

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Do a statement, which commits by itself."""
        ...

    def ago(self, seconds: float) -> str:
        """Write a moment before the present one of this database, as SQL."""
        ...

    def close(self) -> None:
        """Close the client."""
        ...


class SqliteTarget(Target):
    TABLE = (
        "CREATE TABLE {name} (Id INTEGER PRIMARY KEY, ImportStatus INTEGER NOT NULL DEFAULT 0,"
        " CreatedAt TEXT DEFAULT CURRENT_TIMESTAMP)"
    )

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.url = f"sqlite:///{path}"

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement).fetchall()

    def ago(self, seconds: float) -> str:
        return f"strftime('%Y-%m-%d %H:%M:%f', 'now', '{-seconds} seconds')"

    def close(self) -> None:
        self.connection.close()


class PostgresTarget(Target):
    TABLE = (
        "CREATE TABLE {name} (Id bigserial PRIMARY KEY, ImportStatus smallint NOT NULL DEFAULT 0,"
        " CreatedAt timestamp DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'))"
    )

    def __init__(self, server: PostgresServer) -> None:
        name = server.new_database()
        self.connection: psycopg.Connection[Any] = server.connect(name)
        self.url = server.url(name)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []

    def ago(self, seconds: float) -> str:
        return f"(clock_timestamp() AT TIME ZONE 'UTC') - interval '{seconds} seconds'"

    def close(self) -> None:
        self.connection.close()


def target_of(kind: str, directory: Path, server: Callable[[], PostgresServer]) -> SqliteTarget | PostgresTarget:
    """Return a target database of a kind with an empty staging table."""
    made: SqliteTarget | PostgresTarget = (
        SqliteTarget(directory / "warehouse.db") if kind == "sqlite" else PostgresTarget(server())
    )
    made.sql(made.TABLE.format(name="Staging"))
    return made


class Yard:
    """Everything that a data trigger has to do with. The batch `B` takes what is started, and clears nothing by itself."""

    def __init__(self, world: World, target: SqliteTarget | PostgresTarget) -> None:
        self.world, self.target = world, target
        self.urls = {"wh": target.url}
        self.duty = self.leader()

    def trigger(self, name: str = "orders", **columns: object) -> None:
        """Define a trigger by a row, as everybody does."""
        usual = {"TriggerName": name, "Entity": "B", "ConnectionName": "wh", "TableName": "Staging"}
        self.world._insert(
            "DataTrigger",
            {**usual, "StatusColumn": "ImportStatus", "PendingValue": "0", "CreatedColumn": "CreatedAt", **columns},
        )

    def deposit(self, rows: int = 1, *, ago: float = 0, table: str = "Staging") -> None:
        """Let somebody else's program insert rows, dated some seconds back by the clock of his database."""
        values = ", ".join([f"(0, {self.target.ago(ago)})"] * rows)
        self.target.sql(f"INSERT INTO {table} (ImportStatus, CreatedAt) VALUES {values}")

    def clear(self, table: str = "Staging") -> None:
        """Do what the batch is for."""
        self.target.sql(f"UPDATE {table} SET ImportStatus = 1")

    def count(self, trigger: DataTrigger, ago: timedelta | None) -> Counted:
        """Count as the product does."""
        return StagingTables(self.urls.__getitem__, self.world.directory, LIMIT).count(trigger, ago)

    def leader(
        self,
        *,
        count: Callable[[DataTrigger, timedelta | None], Counted] | None = None,
        inquiries: Inquiries | None = None,
        transactions: StoreTransactions | None = None,
    ) -> Triggering:
        """Return the duty of a leader that has just become one."""
        return Triggering(
            transactions or self.world.transactions,
            self.world.clock,
            inquiries or ThreadInquiries(LIMIT),
            count or self.count,
            self.world.events.append,
            POLL,
        )

    def round(self) -> bool:
        """Let the leader do a whole round; true when it started work."""
        return self.duty.finish()

    def pass_time(self, seconds: float) -> None:
        """Let time pass: for the control database, and for the rows, which grow older."""
        self.world.clock.advance(timedelta(seconds=seconds))
        self.age(seconds)

    def age(self, seconds: float) -> None:
        """Let the rows grow older by the clock of their database."""
        if isinstance(self.target, SqliteTarget):
            self.target.sql(
                f"UPDATE Staging SET CreatedAt = strftime('%Y-%m-%d %H:%M:%f', CreatedAt, '{-seconds} seconds')"
            )
        else:
            self.target.sql(f"UPDATE Staging SET CreatedAt = CreatedAt - interval '{seconds} seconds'")

    def work_off(self) -> None:
        """Create what is asked for, and walk it to its end."""
        self.world.create()
        self.world.process()

    def log(self, event: str | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of the log: type, source, entity, FileProcess_id, BatchControl_id, message, rows."""
        return [row for row in self.world.sql(LOG) if event in {None, row[0]}]

    def events(self) -> list[str]:
        """Return the types of the rows of the log."""
        return [row[0] for row in self.log()]

    def started(self) -> list[tuple[Any, ...]]:
        """Return entity, source and message of every row that asks for work."""
        return self.world.sql("SELECT Entity, Source, Message FROM FileProcess ORDER BY FileProcess_id")


@contextmanager
def a_yard(world: World, server: Callable[[], PostgresServer], kind: str | None = None) -> Iterator[Yard]:
    """Lend a yard whose target is of the control database's kind, or of another."""
    target = target_of(kind or world.database.kind, world.directory, server)
    try:
        yield Yard(world, target)
    finally:
        target.close()
