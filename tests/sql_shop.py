"""A control database and a shop's database of the same kind, with jobs of SQL; time passes as the test says."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from batchctl import config
from batchctl.app import App
from batchctl.control.attempts import PassReport
from batchctl.domain.definitions.sql_jobs import SqlJob
from batchctl.domain.rows import InstanceId
from batchctl.node import Node
from batchctl.operations.definitions import registrar
from batchctl.operations.definitions.registrar import Added, JobStanding, Registrar
from batchctl.operations.definitions.schedule_removal import RemovedSchedule, remove
from batchctl.operations.definitions.sql_correction import Corrected, set_sql
from batchctl.operations.intervene import Intervention, Operator
from batchctl.operations.operators.acts import Actor
from batchctl.system.clock import SystemClock
from tests.control_databases import ControlDatabase
from tests.postgres import PostgresServer

SOON = timedelta(seconds=30)
TABLE = "CREATE TABLE Item (Name varchar(50))"


class ClockAhead(SystemClock):
    """A clock that is so much ahead of the database's: for whoever goes by it, time has passed."""

    def __init__(self, ahead: timedelta) -> None:
        super().__init__()
        self.ahead = ahead

    def now(self) -> datetime:
        return super().now() + self.ahead


class SqlShop:
    """Where jobs are added, started when they are due, and looked at."""

    def __init__(self, database: ControlDatabase, server: Callable[[], PostgresServer]) -> None:
        self.database = database
        self.kind = "sqlite" if database.kind == "sqlite" else "postgresql"
        self.directory = database.directory
        if database.kind == "sqlite":
            self.target_url = f"sqlite:///{self.directory / 'shop.db'}"
            sqlite3.connect(self.directory / "shop.db").close()
            self._client: Any = sqlite3.connect(self.directory / "shop.db", isolation_level=None)
        else:
            name = server().new_database()
            self.target_url, self._client = server().url(name), server().connect(name)
        settings = (
            f'database_url = "{database.url}"\npoll_interval = 3600\n[connections.shop]\nurl = "{self.target_url}"\n'
        )
        self.file = self.directory / "batchctl.toml"
        self.file.write_text(settings, encoding="utf-8")
        self.target(TABLE)
        self.hand = database.hand()
        self.ahead = timedelta(0)

    @contextmanager
    def app(self) -> Iterator[App]:
        """Lend the application as it is when so much time has passed."""
        app = App(config.load(str(self.file)))
        app.clock = ClockAhead(self.ahead)
        with closing(app):
            yield app

    @property
    def now(self) -> datetime:
        """Return the present time, when so much has passed."""
        with self.app() as app:
            return app.clock.now()

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the control database as a person does."""
        return self.hand.sql(statement, *values)

    def target(self, statement: str) -> list[tuple[Any, ...]]:
        """Ask the shop's database likewise."""
        cursor = self._client.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []

    def job(self, name: str, sql: str, **given: Any) -> SqlJob:
        """Describe a job, due soon unless said otherwise."""
        at = (self.now + SOON).replace(microsecond=0, tzinfo=None)
        if given.get("is_daily"):
            at = at.replace(second=0) + timedelta(minutes=2)
        return replace(SqlJob(name=name, connection="shop", sql=sql, at=at, zone="UTC"), **given)

    def add(self, name: str, sql: str, *, dry_run: bool = False, reason: str | None = None, **given: Any) -> Added:
        """Add a job, as the command does."""
        job = self.job(name, sql, **given)
        with self.app() as app:
            return Registrar(actor=_actor(app, dry_run=dry_run), preparer=app.preparer).add(job, reason=reason)

    def remove(self, name: str, *, dry_run: bool = False) -> RemovedSchedule:
        """Remove a job, as the command does."""
        with self.app() as app:
            actor = _actor(app, dry_run=dry_run)
            operator = Operator(
                transactions=app.transactions, clock=app.clock, preparer=app.preparer, user="anna", host="host1"
            )
            return remove(actor, operator, name, reason="not wanted any more")

    def correct(self, name: str, sql: str | None, place: str | None = None, *, dry_run: bool = False) -> Corrected:
        """Give a job other SQL, or another connection, as the command does."""
        with self.app() as app:
            return set_sql(_actor(app, dry_run=dry_run), app.preparer, name, sql, place, reason="it was wrong")

    def rerun(self, instance_id: int, **given: Any) -> Intervention:
        """Run an instance again, as the command does."""
        with self.app() as app:
            operator = Operator(
                transactions=app.transactions, clock=app.clock, preparer=app.preparer, user="anna", host="host1"
            )
            return operator.rerun(InstanceId(instance_id), reason="mended", **given)

    def pass_time(self, by: timedelta = SOON + timedelta(seconds=2)) -> None:
        """Let time pass; by default until what is due soon is due."""
        self.ahead += by

    def run(self, *, slots: int = 1) -> PassReport:
        """Be the controller for one pass."""
        with self.app() as app:
            app.slots = slots
            return Node(app).run(once=True)

    def jobs(self) -> dict[str, JobStanding]:
        """Return how the jobs stand."""
        with self.app() as app:
            return {one.schedule.name: one for one in registrar.everyone(app.timetable())}

    def history(self) -> list[tuple[Any, ...]]:
        """Return batch, attempt, status and message of every attempt."""
        return self.sql(
            "SELECT b.ProcessBatchName, h.AttemptNo, h.Status, h.Message FROM BatchProcessHistory h"
            " JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id ORDER BY b.ProcessBatchName, h.AttemptNo"
        )

    def counts(self) -> list[int]:
        """Return how many batches, steps and schedules there are."""
        return [self.sql(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES]

    def close(self) -> None:
        self.hand.close()
        self._client.close()


TABLES = ("ProcessBatch", "ProcessControl", "Schedule")


def _actor(app: App, *, dry_run: bool) -> Actor:
    return Actor(transactions=app.transactions, clock=app.clock, user="anna", host="host1", dry_run=dry_run)


def moment(text: str) -> datetime:
    """Read a time of a row."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
