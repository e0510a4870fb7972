"""The lock by which the controllers of one database server find out that there is another: held by a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine

from batchctl.domain.errors import BatchctlError, Busy
from batchctl.domain.text import visible
from batchctl.store.dialects import dialect_of


class SessionControllerLock:
    """Holds a lock that ends with its session, however that ends."""

    def __init__(self, engine: Engine) -> None:
        """Open nothing yet."""
        self._engine = engine
        self._dialect = dialect_of(engine)
        self._connection: Connection | None = None
        self._controller = ""

    @contextmanager
    def hold(self, controller: str) -> Iterator[None]:
        """Hold the lock; raises `Busy` naming the holder."""
        self._controller = controller
        try:
            self._acquire()
        except Exception as error:
            self._explain(error)
            raise
        try:
            yield
        finally:
            self._let_go()

    def is_held(self) -> bool:
        """Say whether others are kept out. A session that was lost is made anew; the database may be away meanwhile."""
        if self._connection is not None:
            try:
                self._dialect.look(self._connection)
            except Exception:  # noqa: BLE001 - whatever it is, the session is of no more use
                self._let_go()
            else:
                return True
        try:
            self._acquire()
        except Busy:
            return False
        except Exception:  # noqa: BLE001 - whom the database does not answer it answers nobody; the claims' tokens decide
            return True
        return True

    def holder(self) -> str | None:
        """Name the living controller, if there is one."""
        try:
            with self._engine.connect() as connection:
                return self._dialect.lock_holder(connection)
        except Exception as error:
            self._explain(error)
            raise

    def _acquire(self) -> None:
        connection = self._engine.connect()
        try:
            if not self._dialect.try_lock(connection, self._controller):
                holder = self._dialect.lock_holder(connection) or "it cannot be seen by this user"
                message = f"Another controller works on this database: {visible(holder)}."
                raise Busy(message, next_step="batchctl status")
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # The session ends either way, and the lock with it.
                connection.invalidate()
                connection.close()

    def _explain(self, error: Exception) -> None:
        if not isinstance(error, BatchctlError) and self._dialect.is_about_the_database(error):
            raise self._dialect.unusable(error, self._dialect.place_of(self._engine)) from error
