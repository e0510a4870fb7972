"""A control database on PostgreSQL with the roles of the script, and a login of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from batchctl.store.maintenance import roles
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night, a_database
from tests.control_databases import PostgresHand
from tests.postgres import PostgresServer

ENTITIES = {"shop": ["Orders", "L'été"]}
LOGINS = {
    "reader": "batchctl_reader",
    "loader": "batchctl_intake",
    "shop": "batchctl_intake_shop",
    "anna": "batchctl_operator",
    "author": "batchctl_author",
    "web": "batchctl_web",
    "service": "batchctl_service",
}


class Guarded(Night):
    """A control database with the roles, and logins that are members of them."""

    def __init__(self, server: PostgresServer, *args: Any) -> None:
        super().__init__(*args)
        self.server = server
        script = roles.script("postgresql", None, ENTITIES)
        for _ in range(2):
            done = server.psql(self.name, script)
            assert (done.returncode, done.stderr) == (0, "")
        for login, role in LOGINS.items():
            self.sql(f"DROP ROLE IF EXISTS {login}")
            self.sql(f"CREATE ROLE {login} LOGIN IN ROLE {role}")

    @property
    def name(self) -> str:
        return self.database.url.rpartition("/")[2]

    def url(self, login: str) -> str:
        return self.server.url(self.name, user=login)

    def announced(self, login: str, *args: str) -> Any:
        """Run a command as somebody."""
        return self(*args, env={"BATCHCTL_DATABASE_URL": self.url(login)})

    def as_(self, login: str, statement: str) -> list[tuple[Any, ...]]:
        """Do something in SQL as somebody."""
        where = {"host": "127.0.0.1", "port": self.server.port, "user": login, "dbname": self.name}
        with closing(PostgresHand(psycopg.connect(**where, autocommit=True))) as hand:  # type: ignore[arg-type] # as given
            return hand.sql(statement)

    def refuses(self, login: str, statement: str) -> None:
        """Expect that somebody may not do something, and nothing comes of it."""
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            self.as_(login, statement)


@contextmanager
def guarding(request: pytest.FixtureRequest, folder: Path, run_batchctl: RunBatchctl) -> Iterator[Guarded]:
    """Make the database and the logins; afterwards none of them is there."""
    server: PostgresServer = request.getfixturevalue("postgres")
    made = Guarded(server, a_database(request, folder), run_batchctl)
    yield made
    with closing(made.database.hand()) as hand:
        for login in LOGINS:
            hand.sql(f"DROP OWNED BY {login}")
            hand.sql(f"DROP ROLE {login}")


@pytest.fixture
def guarded(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Iterator[Guarded]:
    with guarding(request, tmp_path, run_batchctl) as made:
        made.batch("Load", "test {Data3} = right")
        made.arrive("Load", Data="wrong")
        yield made
