"""PostgreSQL target databases for tests, and steps carried out in them by the handlers and by psql."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from batchctl.domain.errors import StepRefused
from batchctl.plugin_api import Connection, Rendered, Step, StepContext, StepHandler, StepOutcome
from batchctl.testing import a_request
from tests.postgres import PostgresServer
from tests.step_handlers.execution import Alone, as_execution

SCHEMA = """
CREATE TABLE Item (Item_id serial PRIMARY KEY, Name text, Amount integer, Rate numeric, Day date);
CREATE TABLE Answer (Answer_id serial PRIMARY KEY, Value text, Kind text);
INSERT INTO Item (Name, Amount, Rate) VALUES ('one', 1, 1.5), ('two', 2, 2.5), ('', 7, 0);
"""

Dump = dict[str, list[tuple[object, ...]]]


def a_database(server: PostgresServer, schema: str = SCHEMA) -> str:
    """A new database with the tables above."""
    name = server.new_database()
    with server.connect(name) as connection:
        connection.execute(schema.encode())
    return name


def context_at(url: str, files: Mapping[str, str] | None = None) -> StepContext:
    """Surroundings with one connection."""
    known = dict(files or {})

    def read_text(path: str) -> str:
        if path not in known:
            raise StepRefused(f"there is no file {path}")
        return known[path]

    return StepContext(
        connections={"warehouse": Connection("warehouse", url)},
        jobs={},
        secrets={"token": "env:TOKEN", "filed": "file:secrets/it's"},
        secret_is_set=lambda name: True,
        directory="/shop",
        read_text=read_text,
        batchctl_command=("batchctl",),
    )


def render(handler: StepHandler, step: Step, url: str, **instance: str | int | None) -> Rendered:
    return handler.render(a_request(step, context_at(url), **instance))


def run(
    handler: StepHandler, step: Step, url: str, alone: Alone | None = None, **instance: str | int | None
) -> StepOutcome:
    """Carry out one step, without a runner."""
    known = context_at(url).connections
    rendered = render(handler, step, url, **instance)
    return handler.execute(rendered, as_execution(replace(alone or Alone(), connections=known)))


def dump(server: PostgresServer, database: str) -> Dump:
    """Everything in the tables."""
    with server.connect(database) as connection:
        names = [
            str(name)
            for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        ]
        return {name: connection.execute(f'SELECT * FROM "{name}" ORDER BY 1'.encode()).fetchall() for name in names}
