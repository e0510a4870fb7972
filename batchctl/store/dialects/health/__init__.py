"""What `doctor` asks a database of each kind. The judging is apart from the asking, so that it needs no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from batchctl.domain.outcomes import HealthFinding, MissingRights
from batchctl.store.dialects.health import mssql_health, postgresql_health, sqlite_health

CONNECT_SECONDS = 10


class Health(Protocol):
    """One kind of database."""

    DRIVERS: tuple[str, ...]
    """What a URL may begin with, as steps know it."""
    INSTALL: str
    """What to type when the driver is missing."""

    def open_target(self, url: URL, directory: Path) -> Engine:
        """Return an engine for somebody else's database; nothing is created."""

    def now(self, connection: Connection) -> datetime | None:
        """Return the database's time; None when this host's clock is the database's."""

    def blocker(self, connection: Connection, *, making: bool) -> HealthFinding | None:
        """Say what keeps this user from seeing the tables, or from making them where they are not or if `making`."""

    def rights(self, connection: Connection, needed: Mapping[str, Sequence[str]]) -> list[HealthFinding]:
        """Name the tables for which needed privileges are lacking."""

    def lacking(self, connection: Connection, wished: Mapping[str, Sequence[str]]) -> list[MissingRights]:
        """Return the privileges that are lacking, with the tables for which they are."""

    def target_rights(self, connection: Connection) -> list[HealthFinding]:
        """Say as which user steps work in a target database, and whether they can."""

    def has_procedure(self, connection: Connection, name: str) -> bool:
        """Say whether there is a procedure, or a function, that a step may mean by a name."""

    def durability(self, connection: Connection) -> list[HealthFinding]:
        """Say whether what was committed stays."""


_ALL: dict[str, Health] = {"sqlite": sqlite_health, "postgresql": postgresql_health, "mssql": mssql_health}
NAMES = tuple(_ALL)


def health_of(name: str) -> Health | None:
    """Return what to ask a kind of database; None when it is not known."""
    return _ALL.get(name)
