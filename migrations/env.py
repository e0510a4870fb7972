"""Runs the migrations on the connection batchctl hands over, or prints them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context


def _print() -> None:
    context.configure(
        dialect_name=context.config.attributes["dialect"],
        literal_binds=True,
        output_buffer=context.config.output_buffer,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()
        for statement in context.config.attributes["repeatable"]:
            context.execute(sa.DDL(statement.replace("%", "%%")))  # type: ignore[no-untyped-call] # SQLAlchemy has no types for it


def _run() -> None:
    # The caller has begun the transaction: a migration killed half-way leaves nothing behind.
    connection = context.config.attributes["connection"]
    # Where everything is made in another schema, to look at it, the version is too.
    elsewhere = (connection.get_execution_options().get("schema_translate_map") or {}).get(None)
    context.configure(connection=connection, transactional_ddl=False, version_table_schema=elsewhere)
    context.run_migrations()


if context.is_offline_mode():
    _print()
else:
    _run()
