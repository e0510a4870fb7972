"""The lock that makes one of a server's controllers the leader: held by a session."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Connection, Engine

from batchctl.domain.errors import BatchctlError
from batchctl.domain.leader import Holder
from batchctl.store.dialects import dialect_of


class SessionLeaderLock:
    """Holds a lock that ends with its session, however that ends."""

    def __init__(self, engine: Engine) -> None:
        """Open nothing yet."""
        self._engine = engine
        self._dialect = dialect_of(engine)
        self._connection: Connection | None = None

    def take(self, controller: str) -> bool:
        """Take the lock, or see that one still has it; false when another has it or the database does not answer."""
        try:
            if self._connection is not None:
                self._dialect.look(self._connection)
                return True
            return self._acquire(controller)
        except Exception:  # noqa: BLE001 - whatever it is, the session is of no more use; it is made anew next time
            self.release()
            return False

    def release(self) -> None:
        """End the session, and the lock with it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # The session ends either way.
                connection.invalidate()
                connection.close()

    def holder(self) -> Holder | None:
        """Return whose session has the lock, if any has."""
        try:
            with self._engine.connect() as connection:
                return self._dialect.lock_holder(connection)
        except Exception as error:
            if not isinstance(error, BatchctlError) and self._dialect.is_about_the_database(error):
                raise self._dialect.unusable(error, self._dialect.place_of(self._engine)) from error
            raise

    def wrest(self, holder: Holder) -> bool:
        """End the holder's session, if it still has the lock."""
        with self._engine.connect() as connection:
            return self._dialect.end_leader(connection, holder)

    def _acquire(self, controller: str) -> bool:
        connection = self._engine.connect()
        try:
            got = self._dialect.try_lock(connection, controller)
        except BaseException:
            connection.close()
            raise
        if got:
            self._connection = connection
        else:
            connection.close()
        return got
