"""Triggers by which PostgreSQL writes words in lower case, and notifies a waiting controller of what was written."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import String

from batchctl.store.repeatable import watched
from batchctl.store.repeatable.trigger import Trigger, on_postgresql, once_a_statement, plain
from batchctl.store.tables import metadata

_WRITTEN = "INSERT OR UPDATE OR DELETE"
QUIET = "coalesce(current_setting('batchctl.quiet', true), '') <> 'on'"
"""The condition under which a session notifies: sessions of the engine set `batchctl.quiet`."""


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:  # noqa: ARG001 - as the other modules have it
    """Yield the triggers; other databases compare words in any letter case, and notify no program."""
    if dialect == "postgresql":
        yield from _lower()
        for table, event in (*((one.table, _WRITTEN) for one, _ in watched.each()), ("OperatorRequest", "INSERT")):
            yield once_a_statement(f"TR_{table}_Notify", table, f"AFTER {event}", "batchctl_notify", QUIET)


def _lower() -> Iterator[Trigger]:
    for table in metadata.sorted_tables:
        for column in table.c:
            if type(column.type) is String:
                yield on_postgresql(
                    f"TR_{table.name}_{column.name}",
                    str(table.name),
                    f"BEFORE INSERT OR UPDATE OF {column.name}",
                    "batchctl_lower",
                    column.name.lower(),
                    when=f"NEW.{column.name} <> lower(NEW.{column.name})",
                )


FUNCTIONS = (
    *plain(
        "batchctl_lower",
        "    RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], lower(to_jsonb(NEW) ->> TG_ARGV[0])));\n",
    ),
    *plain("batchctl_notify", "    PERFORM pg_notify('batchctl', lower(TG_TABLE_NAME));\n    RETURN NULL;\n"),
)
"""The functions of PostgreSQL."""
