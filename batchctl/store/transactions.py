"""The two ways to the control database: reading, and one write transaction at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

import tenacity
from sqlalchemy import Connection, Engine

from batchctl.domain.errors import Busy
from batchctl.ports import Boundary
from batchctl.store.dialects import sqlite

Result = TypeVar("Result")

ATTEMPTS = 3
"""How often a transaction is tried while the database is busy; each try waits `sqlite.BUSY_TIMEOUT` by itself."""


class StoreTransactions:
    """One connection, used by one thread, that every statement of this process goes through."""

    def __init__(self, engine: Engine) -> None:
        """Open nothing yet: the connection is made at first use."""
        self._engine = engine
        self._connection: Connection | None = None
        self._marker: int | None = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend the connection; every statement sees the newest committed state."""
        try:
            yield self._connected()
        except Exception as error:
            if sqlite.is_about_the_database(error):
                raise sqlite.unusable(error, sqlite.file_of(self._engine)) from error
            raise

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Connection], Result]) -> Result:
        """Run `work` between BEGIN and COMMIT; all of it again when the database was busy."""
        try:
            return self._once(work)
        except Exception as error:
            if sqlite.is_transient(error):
                return self._again(boundaries, work)
            if sqlite.is_about_the_database(error):
                raise sqlite.unusable(error, sqlite.file_of(self._engine)) from error
            raise

    def _again(self, boundaries: frozenset[Boundary], work: Callable[[Connection], Result]) -> Result:
        busy = tenacity.Retrying(
            retry=tenacity.retry_if_exception(sqlite.is_transient),
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=tenacity.wait_random_exponential(multiplier=0.05, max=1),
        )
        try:
            return cast("Result", busy(self._once, work))
        except tenacity.RetryError as error:
            message = f"The control database stayed locked by another program ({', '.join(sorted(boundaries))})."
            raise Busy(message, next_step="try again; if it lasts, find the program that holds the lock") from error

    def changed(self) -> bool:
        """Say whether anybody else has committed since this was last asked; true at first."""
        marker = sqlite.change_marker(self._connected())
        before, self._marker = self._marker, marker
        return marker != before

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, work: Callable[[Connection], Result]) -> Result:
        connection = self._connected()
        sqlite.begin_write(connection)
        try:
            result = work(connection)
            sqlite.commit(connection)
        except BaseException:
            sqlite.rollback(connection)
            raise
        return result

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
            # SQLAlchemy's own transaction stays open and empty, so that nobody but `_once` begins or commits.
            self._connection.begin()
        return self._connection


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """Undo only this part of a transaction when it raises."""
    sqlite.begin_part(connection)
    try:
        yield
    except BaseException:
        sqlite.undo_part(connection)
        raise
    finally:
        sqlite.end_part(connection)
