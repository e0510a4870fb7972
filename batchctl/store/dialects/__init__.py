"""What differs from one kind of control database to another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from batchctl.domain.errors import DatabaseRefused
from batchctl.ports import Change


class Dialect:
    """One kind of control database: as it is where nothing of it has to be looked at, unless its own class says more."""

    WRITES_ALONE = False
    """True when no other transaction can write while one of `begin_write` lasts."""

    def create(self, url: URL, directory: Path, *, may_create: bool, renewed: Callable[[], URL]) -> Engine:
        """Return an engine for the database; nothing is created unless `may_create`.

        Every connection is made with the passwords of `renewed`, which may have been changed meanwhile.
        """
        raise NotImplementedError

    def place_of(self, engine: Engine) -> str:
        """Name an engine's database for a person, without any password."""
        raise NotImplementedError

    def prepare(self, connection: Connection) -> None:
        """Set what the database itself remembers, before the first migration."""

    def lock_schema(self, connection: Connection) -> bool:
        """Wait until no other connection changes the schema, and keep others from it as long as this one lives.

        Return False when somebody else has changed it for longer than `UPGRADE_PATIENCE_SECONDS`.
        """
        return True

    def end_migration(self, connection: Connection) -> None:
        """Forget what the session has learnt of tables that are no longer as they were."""

    def begin_write(
        self,
        connection: Connection,
        *,
        nowait: bool = False,
        optimistic: bool = False,
        tell: Callable[[datetime], None] | None = None,
    ) -> None:
        """Begin a transaction; call `tell` with the time of a database with a clock of its own, at its first answer.

        It sees what others have committed before each statement, and locks what must not change meanwhile.
        One that is `nowait` learns of a lock by the error when it meets one, if the database can raise it at once.
        One that is `optimistic` lets others write, where it would be alone, until it does itself; when any have done so
        since it began to read, its first statement that writes raises what `is_transient`.
        """
        raise NotImplementedError

    def lock_row(self, connection: Connection, table: str, row_id: int) -> None:
        """Lock a row of a table until the end of the transaction, waiting while another has it."""

    def ask(self, connection: Connection, statement: str, values: Sequence[object]) -> Callable[[], Sequence[Any]]:
        """Execute a statement in the driver's own words, at the latest when its rows are called for."""
        raise NotImplementedError

    def lock_rows(self, connection: Connection, table: str, row_ids: Sequence[int]) -> Callable[[], Collection[int]]:
        """Lock rows without waiting for locks that others hold; return a function that returns those locked now."""
        return lambda: row_ids

    @contextmanager
    def waiting_briefly(self, connection: Connection) -> Iterator[None]:
        """Let statements wait no longer than a moment for another who writes, where nowait does not see to that."""
        del connection
        yield

    def lock_name(self, connection: Connection, name: str) -> bool:
        """Lock a name until the end of the transaction; false when another has it for longer than a moment."""
        return True

    def tell(self, connection: Connection) -> None:
        """Let other controllers notice a transaction once it is committed; without it, a controller's wakes none."""

    def commit(self, connection: Connection) -> None:
        """Commit what `begin_write` began."""
        raise NotImplementedError

    def rollback(self, connection: Connection) -> None:
        """Undo what `begin_write` began, if the database has not done so itself."""
        raise NotImplementedError

    def begin_part(self, connection: Connection) -> None:
        """Begin a part of a transaction that may be undone alone."""
        raise NotImplementedError

    def undo_part(self, connection: Connection) -> None:
        """Undo the part."""
        raise NotImplementedError

    def end_part(self, connection: Connection) -> None:
        """Make the part one with its transaction."""
        raise NotImplementedError

    def session(self, connection: Connection) -> object:
        """Return what names the connection's session to another one."""
        return None

    def end_session(self, connection: Connection, lost: object) -> None:
        """See that a session which was lost during a commit can commit no more; raises `Busy` while it still may."""

    def change_marker(self, connection: Connection) -> object:
        """Return what differs once anybody else has committed."""
        raise NotImplementedError

    def what_changed(self, connection: Connection) -> Change:
        """Return what made the marker differ since this was last asked."""
        return Change.ANYTHING

    def ways_to_notice(self, connection: Connection) -> tuple[int | None, float]:
        """Return what becomes readable when the marker may differ, if anything does; and how many seconds apart to look."""
        raise NotImplementedError

    def is_transient(self, error: BaseException) -> bool:
        """Say whether running the whole transaction again may succeed."""
        raise NotImplementedError

    def is_lost(self, error: BaseException) -> bool:
        """Say whether the connection is gone, so that the outcome of the last statement is unknown."""
        return False

    def is_about_the_database(self, error: BaseException) -> bool:
        """Say whether an error concerns the database as a whole, not a row."""
        raise NotImplementedError

    def database_refused(self, error: BaseException, where: str) -> DatabaseRefused:
        """Explain an error that concerns the database as a whole."""
        raise NotImplementedError

    def whereabouts(self, connection: Connection) -> str | None:
        """Return, as JSON, what tells this database from a copy of it; None where the server does not say."""
        return None

    def other_schema(self, connection: Connection) -> tuple[str, str] | None:
        """Name the schema that holds the tables, where this login works in another, and the statement that sends it there."""
        return None

    def blocker(self, connection: Connection, instance_id: int | None = None) -> tuple[str, str] | None:
        """Name the session that keeps an instance's rows locked, and say how to end it; None when none is seen.

        Where the database cannot tell that, name the one that has kept a lock on the control tables longest.
        """
        return None

    def locked_instances(self, connection: Connection, instance_ids: Sequence[int]) -> Collection[int]:
        """Return those instances that cannot be written without waiting for another transaction.

        Where the database can tell, the others are locked for this one; where it cannot, or need not because the
        transaction is nowait, none is returned.
        """
        return ()

    def numbered(self, table: str, insert: str) -> str:
        """Return an INSERT that gives the id of its row, written so that the database accepts it."""
        return insert

    def missing_names(self, connection: Connection) -> Mapping[int, str]:
        """Return which rows of NamedLock are gone that stand for names, where any do, and what makes each anew."""
        return {}

    def long_read(self, connection: Connection) -> AbstractContextManager[None]:
        """Make reading every table from end to end in this transaction as cheap as the database can."""
        raise NotImplementedError

    def look_for_locks(self, connection: Connection) -> None:
        """Let `locked_instances` look in this transaction, although it is nowait."""

    def is_locked_intake(self, connection: Connection, intake_id: int, batch_ids: Sequence[int]) -> bool:
        """Say whether others have locked a FileProcess row or a batch that takes it; with nowait the lock raises."""
        return False

    def constraint_findings(self, connection: Connection, *, at_length: bool) -> list[str]:
        """Return what breaks the constraints, or the database itself; at most a hundred lines.

        Where that takes reading every row of every table it is done `at_length` only.
        """
        raise NotImplementedError

    def definitions(self, connection: Connection) -> dict[str, str]:
        """Return how everything in the database is defined, by name."""
        raise NotImplementedError

    def wanted_definitions(self, connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
        """Return the definitions of what `make` makes in an empty database of this kind; nothing of it stays."""
        raise NotImplementedError

    def restored_definitions(self, connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
        """Return the definitions that differ from the wanted ones once a dump has brought back what `make` makes."""
        return {}


NAMES = ("sqlite", "postgresql", "mssql")
_ALSO_CALLED = {"sqlserver": "mssql"}

UPGRADE_PATIENCE_SECONDS = 300
"""How long an upgrade waits for others of the same database: each compares everything with what it would make."""


def dialect_of(engine: Engine | Connection) -> Dialect:
    """Return the dialect of an engine or a connection."""
    return _loaded(engine.dialect.name)


def official(name: str) -> str:
    """Return the name that a kind of database has here."""
    return _ALSO_CALLED.get(name, name)


def dialect_named(name: str) -> Dialect | None:
    """Return a dialect by its name; None when it is not supported."""
    known = official(name)
    return _loaded(known) if known in NAMES else None


@cache
def _loaded(name: str) -> Dialect:
    # Each imports what only it needs, and a command needs one of them.
    dialect: Dialect = import_module(f"batchctl.store.dialects.{name}").DIALECT
    return dialect
