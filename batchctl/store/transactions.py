"""The two ways to the control database: reading, and one write transaction at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import TypeVar, cast

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import InvalidRequestError

from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseUnreachable, OutcomeUnknown
from batchctl.domain.text import message_of
from batchctl.ports import Boundary, Change, Notify
from batchctl.store.dialects import dialect_of
from batchctl.store.one_look import looking_anew

Result = TypeVar("Result")
ReadsClock = Callable[[], Callable[[datetime], None] | None]
"""Called before the database is asked for its time; returns what to call with it, if anything."""

ATTEMPTS = 10
PATIENCE = 5
"""How often, and for how many seconds, a transaction is tried again while the database is busy.

A try that waits for another transaction's lock gives up by itself after a while; see the dialects.
"""


NOT_AS_READ = "batchctl: not as read"
"""The text that a statement fails to convert to a number when a row is not as it was read; see `turns`."""


class NotAsReadError(Exception):
    """Of several rows that were to be written together one does not stand any more as it was read."""


class StoreTransactions:
    """One connection, used by one thread, that every statement of this process goes through."""

    def __init__(self, engine: Engine, reading: ReadsClock = lambda: None) -> None:
        """Open nothing yet: the connection is made at first use."""
        self._engine = engine
        self._dialect = dialect_of(engine)
        self._reading = reading
        self._connection: Connection | None = None
        self._session: object = None
        self._lost_session: object = None
        """A session that was lost during a commit, which it may not have finished."""
        self._marker: object = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend the connection; every statement sees the newest committed state."""
        try:
            yield self._connected()
        except Exception as error:
            if self._is_transient(error):
                raise self._busy() from error
            self._explain(error)
            raise

    def run(
        self,
        boundaries: frozenset[Boundary],  # noqa: ARG002 - the port's: what cuts transactions goes by their names
        work: Callable[[Connection], Result],
        *,
        nowait: bool = False,
    ) -> Result:
        """Run `work` between BEGIN and COMMIT; all of it again when the database was busy, unless it is nowait."""
        try:
            return self._first(work, nowait=nowait)
        except Exception as error:
            if f'"{NOT_AS_READ}"' in str(error):
                raise NotAsReadError from error
            if self._is_transient(error):
                if nowait:
                    raise Conflict(message_of(error)) from error
                return self._again(work)
            self._explain(error)
            raise

    def _first(self, work: Callable[[Connection], Result], *, nowait: bool) -> Result:
        """Let others write while `work` only reads; when they have written meanwhile, run it again with the lock."""
        if self._dialect.WRITES_ALONE:
            try:
                return self._once(work, nowait=nowait, optimistic=True)
            except Exception as error:
                # What a savepoint reports names its cause.
                if not any(map(self._dialect.is_transient, (error, error.__cause__ or error))):
                    raise
        return self._once(work, nowait=nowait)

    def _again(self, work: Callable[[Connection], Result]) -> Result:
        import tenacity  # noqa: PLC0415 - needed only when the database is busy

        busy = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._is_transient),
            stop=tenacity.stop_after_attempt(ATTEMPTS) | tenacity.stop_after_delay(PATIENCE),
            wait=tenacity.wait_random_exponential(multiplier=0.05, max=1),
        )
        try:
            return cast("Result", busy(self._once, work))
        except tenacity.RetryError as error:
            raise self._busy() from error
        except Exception as error:
            self._explain(error)
            raise

    def changed(self) -> Change:
        """Say what anybody else may have written since this was last asked: anything at first, and after a reconnection."""
        connection = self._connected()
        marker = self._dialect.change_marker(connection)
        before, self._marker = self._marker, marker
        return Change.NOTHING if marker == before else self._dialect.what_changed(connection)

    def refuse_another_file(self) -> None:
        """Refuse to go on with a file that was moved away or replaced: reading alone would not notice it."""
        if self._dialect.WRITES_ALONE:
            with self.read() as connection:
                self._dialect.change_marker(connection)

    def notify(self) -> Notify | None:
        """Return what rings when `changed` would report a change."""
        connection = self._connection
        if connection is None:
            return None

        def rings() -> bool:
            try:
                return self._dialect.change_marker(connection) != self._marker
            except Exception:  # noqa: BLE001 - the next use of the connection raises it
                return True

        try:
            descriptor, seconds = self._dialect.ways_to_notice(connection)
        except Exception:  # noqa: BLE001 - the next use of the connection raises it
            return None
        return Notify(rings, timedelta(seconds=seconds), descriptor)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, work: Callable[[Connection], Result], *, nowait: bool = False, optimistic: bool = False) -> Result:
        connection = self._connected()
        self._dialect.begin_write(connection, nowait=nowait, optimistic=optimistic, tell=self._reading())
        try:
            with looking_anew():
                result = work(connection)
        except BaseException:
            self._dialect.rollback(connection)
            raise
        try:
            self._dialect.commit(connection)
        except BaseException as error:
            if self._dialect.is_lost(error):
                message = (
                    "The connection was lost during a commit, so it is unknown whether it was made:"
                    f" {message_of(error)}"
                )
                raise OutcomeUnknown(message, next_step="look before you try again: batchctl status") from error
            self._dialect.rollback(connection)
            raise
        return result

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
            # SQLAlchemy's own transaction stays open and empty, so that only `_once` begins or commits.
            self._connection.begin()
            self._session = self._dialect.session(self._connection)
        if self._lost_session is not None:
            self._dialect.end_session(self._connection, self._lost_session)
            self._lost_session = None
        return self._connection

    def _is_transient(self, error: BaseException) -> bool:
        return isinstance(error, Conflict) or self._dialect.is_transient(error)

    def _busy(self) -> Busy:
        blocker = None
        with suppress(Exception):  # Where other sessions may not be seen, the message names none.
            blocker = self._dialect.blocker(self._connected())
        who, end = blocker or ("another program", "find the program that holds the lock, and end it")
        return Busy(f"The control database stayed locked by {who}.", next_step=f"try again; if it lasts: {end}")

    def _explain(self, error: Exception) -> None:
        """Explain an error that concerns the database as a whole; a lost connection is made anew at the next use."""
        if isinstance(error, OutcomeUnknown):
            self._lost_session = self._session
        # A file cannot be lost: opening its path anew might open another.
        is_away = isinstance(error, DatabaseUnreachable) and not self._dialect.WRITES_ALONE
        if is_away or isinstance(error, InvalidRequestError) or self._dialect.is_lost(error):
            # SQLAlchemy will not use a connection again over which it has met something it did not expect.
            self._give_up_connection()
        if self._dialect.is_about_the_database(error):
            raise self._dialect.database_refused(error, self._dialect.place_of(self._engine)) from error

    def _give_up_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
                connection.close()


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """Undo only this part of a transaction when it raises."""
    dialect = dialect_of(connection)
    dialect.begin_part(connection)
    try:
        yield
    except DatabaseUnreachable:
        raise  # There is nothing left to undo.
    except BaseException as error:
        if dialect.is_transient(error):
            # Only all of the transaction can be run again.
            raise Conflict(message_of(error)) from error
        if isinstance(error, Exception) and dialect.is_about_the_database(error):
            raise dialect.database_refused(error, dialect.place_of(connection.engine)) from error
        dialect.undo_part(connection)
        dialect.end_part(connection)
        raise
    dialect.end_part(connection)


@contextmanager
def left_out_if_refused(connection: Connection, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Undo only this part of a transaction when the database refuses it; all the rest is written nonetheless."""
    has_begun = False
    try:
        with savepoint(connection):
            has_begun = True
            yield
    except BatchctlError:
        raise
    except Exception as error:  # constraints and triggers of others refuse with whatever they please
        if not has_begun:
            raise
        if tell is not None:
            tell(message_of(error))
