"""The control database itself: created, upgraded, compared with what this version creates, and as SQL for a DBA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from batchctl import config
from batchctl.app import App, open_app
from batchctl.domain.errors import Busy, SchemaMismatch
from batchctl.domain.scheduling.zone_offsets import offsets
from batchctl.operations import copies, presence
from batchctl.ports import Boundary
from batchctl.store import Connection, engine, identity
from batchctl.store.dialects import dialect_of
from batchctl.store.maintenance import examination, roles, schema
from batchctl.store.maintenance.schema import SchemaStanding
from batchctl.store.scheduling import zone_offset_rows
from batchctl.store.transactions import StoreTransactions

MOST_LISTED = 20
"""How many differences of a schema are named: a reader of that many looks for another cause."""


class Upgraded(NamedTuple):
    """What an upgrade found and left: the revisions, and the state before."""

    before: str | None
    after: str
    found: SchemaStanding
    left: Sequence[str] = ()
    """Differences that no upgrade removes: what somebody has changed of tables and indexes."""

    @property
    def made_anew(self) -> bool:
        """Say whether views and triggers differed from what this version creates."""
        return self.found is SchemaStanding.STALE

    @property
    def was_compared(self) -> bool:
        """Say whether this login could read their definitions."""
        return self.found is not SchemaStanding.NOT_COMPARED


def upgrade_database(config_file: str | None, beside: Callable[[Sequence[str]], None] | None = None) -> Upgraded:
    """Create the control database or upgrade it. `beside` first gets the names of foreign tables."""
    app = App(config.load(config_file))
    url = partial(config.database_url, app.settings)
    transactions = StoreTransactions(engine.open_engine(url, app.settings.directory, may_create=True))
    try:
        with transactions.read() as connection:
            _lock_schema(connection)
            schema.check_upgradable(connection)
            if beside is not None:
                beside(schema.tables_of_others(connection))
            found = schema.standing(connection)
            if found is SchemaStanding.STALE:
                examination.check_may_make_tables(connection)
                _check_nobody_works(app, connection)
            dialect_of(connection).prepare(connection)
        newest = schema.newest_revision()
        is_stale = found is SchemaStanding.STALE
        before = transactions.run(frozenset({Boundary.MIGRATION}), _upgrade) if is_stale else newest
        transactions.run(frozenset({Boundary.MIGRATION}), partial(_keep_zone, app))
        copies.remember(transactions, app.clock)
        return Upgraded(before, newest, found, _left(transactions, before, found))
    finally:
        transactions.close()


def _lock_schema(connection: Connection) -> None:
    if not dialect_of(connection).lock_schema(connection):
        message = "Another program upgrades the control database."
        raise Busy(message, next_step="wait until it has ended, then: batchctl db upgrade")


def _left(transactions: StoreTransactions, before: str | None, found: SchemaStanding) -> Sequence[str]:
    """Return the differences that an upgrade has left, of a database that was there before and can be compared."""
    if before is None or found is SchemaStanding.NOT_COMPARED:
        return ()
    with transactions.read() as connection:
        return schema.differences(connection)


def check_may_upgrade(config_file: str | None) -> Sequence[str]:
    """Refuse to upgrade while a controller works on the control database. Return the names of foreign tables."""
    app = App(config.load(config_file))
    try:
        with app.transactions.read() as connection:
            _check_nobody_works(app, connection)
            return schema.tables_of_others(connection)
    finally:
        app.close()


def _check_nobody_works(app: App, connection: Connection) -> None:
    if schema.revision_of(connection) is not None:
        now = examination.now(connection) or app.clock.now()
        presence.check_nobody_works(connection, app.presence, now)


def _upgrade(connection: Connection) -> str | None:
    # Somebody else may have upgraded between the first look and this transaction.
    before = schema.revision_of(connection)
    schema.upgrade(connection)
    return before


def _keep_zone(app: App, connection: Connection) -> None:
    """Write the business time zone where SQL can read it."""
    zone = app.settings.business_time_zone
    found = offsets(zone)
    if not zone_offset_rows.are_kept(connection, zone, found):
        zone_offset_rows.keep(connection, zone, found, app.clock.now())


def verify_database(config_file: str | None) -> str:
    """Compare the database's schema with this version's; return its revision, raise `SchemaMismatch` if they differ."""
    app = open_app(config_file)
    try:
        with app.transactions.read() as connection:
            found = schema.differences(connection)
            if found:
                more = f"; and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
                message = f"The control database is not as batchctl made it: {'; '.join(found[:MOST_LISTED])}{more}."
                raise SchemaMismatch(message, next_step=_restoring(connection))
            identity.verify(connection)
    finally:
        app.close()
    return schema.newest_revision()


def _restoring(connection: Connection) -> str:
    if schema.lacks_only_what_is_repeatable(connection):
        return "batchctl db upgrade, which makes views, triggers and functions anew"
    return "compare with: batchctl db script; then restore what was changed by hand"


schema_script = schema.script
"""Returns the SQL that builds the schema, for a DBA."""
roles_script = roles.script
"""Returns the SQL that gives each kind of user its rights, for a DBA."""
