"""What the campaign works on: a folder, a control database, batches, and the ledger of all that was handed in."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from tests.chaos.hosts import HOSTS, POOL_OF, POOLS, share
from tests.chaos.processes import MARK
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.hand import Hand
from tests.postgres import PostgresServer
from tests.proxy import Proxy
from tests.strict_postgres import StrictServer

LEASE = 1.0
"""Seconds after which a worker that gives no sign of life is called dead."""

SETTINGS = {
    "poll_interval": 0.5,
    "heartbeat_interval": 0.2,
    "stop_grace": 0.5,
    "shutdown_grace": 1.0,
    "state_directory": "state",
    "step_environment": [MARK],  # by which the rig finds the processes that it kills
}
ALERTS = """
[alerts.channels.night]
kind = "log"
path = "alerts.log"
"""

BATCHES = (
    ("hold_one", "hold", 1, "hold_batch", 3),
    ("hold_many", "hold", 4, "continue", 3),
    ("rerun_many", "rerun", 3, "continue", 2),
    ("verify_two", "verify", 2, "continue", 3),
    ("after_both", "hold", 3, "continue", 1),
    ("timed", "rerun", 2, "continue", 1),
)
"""Name, OnLost, MaxConcurrent, OnFailure and the number of steps."""

DEPENDENCIES = {"after_both": ("hold_many", "rerun_many")}
"""What is started by completions, and whose."""

SCHEDULED = "timed"
"""What schedules and backfills start."""

STEPS = {name: tuple(10 * at for at in range(1, steps + 1)) for name, _, _, _, steps in BATCHES}
ON_LOST = {name: on_lost for name, on_lost, *_ in BATCHES}
HANDED_IN = tuple(name for name in STEPS if name not in {*DEPENDENCIES, SCHEDULED})
MAX_CONCURRENT = {name: most for name, _, most, *_ in BATCHES}

SECONDS_ON = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%S', 'now', '+{} seconds')",
    "postgresql": "to_char(clock_timestamp() AT TIME ZONE 'UTC' + interval '{} seconds', 'YYYY-MM-DD HH24:MI:SS')",
}
"""A moment to come, as RunAt has it."""

SCHEDULES = 3
"""How many are made whenever something is handed in."""
BACKFILLS = 2
"""How many are under way whenever nothing keeps them from it."""
FIRST_DAY = date(2026, 1, 1)
"""Of what backfills ask for: long over."""
BEHAVIOURS = {"ok": 60, "nap": 10, "slow": 8, "long": 2, "deaf": 2, "child": 3, "fail": 6}
FINAL = ("complete", "cancelled")


@dataclass
class Place:
    """A control database for a campaign; a server of its own may be stopped, and has a proxy before it."""

    database: ControlDatabase
    server: PostgresServer | None = None
    proxy: Proxy | None = None

    @property
    def proxied_url(self) -> str:
        """The way through the proxy, where there is one."""
        if self.server is None or self.proxy is None or not isinstance(self.database, PostgresControl):
            return self.database.url
        return self.server.url(self.database.name, port=self.proxy.port)

    def close(self) -> None:
        """Take down what is the campaign's own; a file stays."""
        if self.proxy is not None:
            self.proxy.close()
        if self.server is not None:
            self.server.remove()


def place_of_its_own(kind: str, directory: Path) -> Place:
    """Return a database that nobody else uses, on PostgreSQL with a server as durable as a real one."""
    if kind == "sqlite":
        return Place(SqliteControl(directory))
    server = StrictServer()
    server.start()
    return Place(PostgresControl(server, directory, server.new_database()), server, Proxy(server.port))


@dataclass
class Shop:
    """The batches, and what was handed in."""

    directory: Path
    place: Place
    random: Random
    acknowledged: set[str] = field(default_factory=set)
    """The file names whose rows were committed for all that anybody could see."""
    scheduled: set[str] = field(default_factory=set)
    """The schedules that were made for all that anybody could see: each is due once."""
    backfilled: dict[str, set[str]] = field(default_factory=dict)
    """The days that backfills want work for, by their schedules, of those that were asked for for all that anybody could see."""
    handed_in: int = 0
    lease: float = LEASE
    has_pools: bool = False
    """True where steps are of different pools, and workers run on several hosts."""
    _hand: Hand | None = None

    def __post_init__(self) -> None:
        for folder in ("logs", "locks"):
            (self.directory / folder).mkdir()
        (self.directory / "effects").touch()
        for script in ("effect.sh", "check.sh"):
            shutil.copy(Path(__file__).with_name(script), self.directory)
        lines = "".join(
            f"{name} = {json.dumps(value)}\n" for name, value in {**SETTINGS, "orphan_timeout": self.lease}.items()
        )
        for name, url in (("batchctl", self.place.database.url), ("proxied", self.place.proxied_url)):
            text = f'database_url = "{url}"\n{lines}{ALERTS}'
            (self.directory / f"{name}.toml").write_text(text, encoding="utf-8")
            for host in HOSTS if self.has_pools else ():
                own = text.replace('state_directory = "state"', f'state_directory = "state{host.number}"')
                (self.directory / f"{name}{host.number}.toml").write_text(own, encoding="utf-8")
        if self.has_pools:
            (self.directory / "places").touch()
            (self.directory / "alerts.log").touch()
            share(self.directory)

    def register(self) -> None:
        """Insert the definitions of the batches."""
        for name, on_lost, most, on_failure, steps in BATCHES:
            self.sql(
                "INSERT INTO ProcessBatch (ProcessBatchName, RetryCount, RetryWaitMins, MaxConcurrent, OnFailure, DuplicateCheck)"
                " VALUES (?, 3, 0, ?, ?, 0)",
                name,
                most,
                on_failure,
            )
            for seq in range(10, 10 * steps + 1, 10):
                self.sql(
                    "INSERT INTO ProcessControl"
                    " (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data6, OnLost)"
                    " SELECT ProcessBatch_id, ?, ?, 'os_command', ?, ?, ? FROM ProcessBatch WHERE ProcessBatchName = ?",
                    seq,
                    f"step {seq}",
                    f"sh effect.sh {{BatchControl_id}} {seq} {'{Data3}' if name in HANDED_IN else 'ok'}",
                    f"sh check.sh {{BatchControl_id}} {seq}" if on_lost == "verify" else None,
                    on_lost,
                    name,
                )

        if self.has_pools:
            for pool, limit in POOLS.items():
                self.sql("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES (?, ?)", pool, limit)
            for seq, of_step in POOL_OF.items():
                self.sql("UPDATE ProcessControl SET Pool = ? WHERE ProcessControlSeq = ?", of_step, seq)
            share(self.directory)
        for name, others in DEPENDENCIES.items():
            for other in others:
                self.sql(
                    "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT d.ProcessBatch_id, o.ProcessBatch_id"
                    " FROM ProcessBatch d JOIN ProcessBatch o ON o.ProcessBatchName = ? WHERE d.ProcessBatchName = ?",
                    other,
                    name,
                )

    def next_row(self) -> tuple[str, str, str]:
        """Return entity, file name and data of a row that nobody has handed in yet."""
        self.handed_in += 1
        entity = self.random.choice(HANDED_IN)
        words = self.random.choices(list(BEHAVIOURS), list(BEHAVIOURS.values()), k=len(STEPS[entity]))
        return entity, f"/in/{self.handed_in}.csv", ".".join(words)

    def schedule(self) -> None:
        """Insert a schedule that is due in a moment; CatchUp lets it start its work also when nobody was there."""
        self.handed_in += 1
        name, at = f"s{self.handed_in}", SECONDS_ON[self.place.database.kind].format(self.random.choice((2, 3, 4)))
        columns = "ScheduleName, Entity, ScheduleType, RunAt, CatchUp"
        if (
            self.ask(f"INSERT INTO Schedule ({columns}) VALUES (?, ?, 'once', {at}, 'latest')", name, SCHEDULED)
            is not None
        ):
            self.scheduled.add(name)

    def backfill(self) -> None:
        """Insert a daily schedule that itself does nothing, and one or two backfills of it, which overlap then."""
        self.handed_in += 1
        name, columns = f"p{self.handed_in}", "ScheduleName, Entity, ScheduleType, RunTimes, TimeZone, Enabled"
        if (
            self.ask(f"INSERT INTO Schedule ({columns}) VALUES (?, ?, 'daily', '06:00', 'UTC', 0)", name, SCHEDULED)
            is None
        ):
            return
        for begins in (0, 2)[: self.random.randint(1, 2)]:
            days = [FIRST_DAY + timedelta(days=begins + at) for at in range(4)]
            most_open = self.random.randint(1, 3)
            asked = self.ask(
                "INSERT INTO ScheduleBackfill (Schedule_id, FromTime, UntilTime, MostOpen, Actor)"
                f" SELECT Schedule_id, '{days[0]} 00:00:00.000', '{days[-1]} 23:59:59.999', {most_open}, 'chaos'"
                " FROM Schedule WHERE ScheduleName = ?",
                name,
            )
            if asked is not None:
                self.backfilled.setdefault(name, set()).update(map(str, days))

    def want_the_past(self) -> None:
        """Ask for another backfill unless enough are under way, as far as the database says."""
        running = self.ask("SELECT count(*) FROM ScheduleBackfill WHERE Status = 'running'")
        if running is not None and running[0][0] < BACKFILLS:
            self.backfill()

    def hand_in(self, most: int) -> None:
        """Insert rows as a file watcher does; what the database does not acknowledge may be there or not."""
        for _ in range(SCHEDULES):
            self.schedule()
        for _ in range(most):
            entity, name, data = self.next_row()
            if (
                self.ask("INSERT INTO FileProcess (Entity, FileName, Data) VALUES (?, ?, ?)", entity, name, data)
                is not None
            ):
                self.acknowledged.add(name)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Do a statement by hand, on a connection that is made anew when it has been lost."""
        if self._hand is None:
            self._hand = self._new_hand()
        try:
            return self._hand.sql(statement, *values)
        except (psycopg.OperationalError, psycopg.InterfaceError):
            self.let_go()
            raise

    def loosen(self) -> None:
        """Switch the constraints off for one's own statements."""
        self._hand = self._hand or self._new_hand()
        self._hand.loosen()

    def _new_hand(self) -> Hand:
        hand = self.place.database.hand()
        if self.place.database.kind == "sqlite":
            # A worker that stands still may hold the lock; it is this very process that wakes it up.
            hand.sql("PRAGMA busy_timeout = 100")
        return hand

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]] | None:
        """Do a statement; None when the database does not answer now."""
        try:
            return self.sql(statement, *values)
        except (psycopg.OperationalError, psycopg.InterfaceError, sqlite3.OperationalError):
            return None

    def standing(self) -> dict[int, str] | None:
        """Return the status of every instance that is not over; None when the database does not answer now."""
        final = ", ".join(f"'{status}'" for status in FINAL)
        found = self.ask(f"SELECT BatchControl_id, Status FROM BatchControl WHERE Status NOT IN ({final})")
        return None if found is None else dict(found)

    def waiting_intake(self) -> int | None:
        """Count the rows without an instance, the due times to come, and the backfills; None when nobody answers now."""
        found = self.ask(
            "SELECT count(*) FROM FileProcess f WHERE f.Status = 'ready'"
            " AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)"
            " UNION ALL SELECT count(*) FROM Schedule WHERE Enabled = 1"
            " UNION ALL SELECT count(*) FROM ScheduleBackfill WHERE Status = 'running'"
        )
        return None if found is None else sum(row[0] for row in found)

    def notifications(self) -> Counter[int]:
        """Return how often each message was sent."""
        told = self.directory / "alerts.log"
        lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
        return Counter(json.loads(line)["AlertDelivery_id"] for line in lines)

    def effects(self) -> Iterable[str]:
        """Return the lines the steps have left, in their order."""
        return (self.directory / "effects").read_text(encoding="utf-8").splitlines()

    def places(self) -> Iterable[str]:
        """Return the lines in which steps have left where they ran."""
        path = self.directory / "places"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def let_go(self) -> None:
        """Close the connection of one's own."""
        if self._hand is not None:
            with suppress(psycopg.Error):
                self._hand.close()
            self._hand = None
