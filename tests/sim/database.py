"""The control database of a schedule: the real tables and the real SQL in memory, behind an edge where faults strike."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

import tenacity
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import NullPool

from batchctl.domain.errors import DatabaseRefused, DatabaseUnreachable
from batchctl.domain.maintenance.retention import Keep, Rules
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.status import InstanceStatus
from batchctl.operations.maintenance import audit_trail
from batchctl.ports import Boundary
from batchctl.store.definitions import definitions
from batchctl.store.dialects import sqlite
from batchctl.store.maintenance import purging, schema
from batchctl.store.transactions import ReadsClock, StoreTransactions
from tests.sim import foreseeing
from tests.sim.clock import BEGINNING
from tests.sim.faults import Actor, ConnectionLost

Result = TypeVar("Result")

_REAL_NOW = "strftime('%Y-%m-%d %H:%M:%f','now')"
_KEPT = {"alembic_version", "Setting"}
_OF_ONE_SCHEDULE = ("temp.Seen", "temp.Fires", "temp.Standings", "temp.BackfillTurns")

_SEEN = """
CREATE TEMP TABLE Seen (
    Seen_id integer PRIMARY KEY, What text, Row integer, Was text, Became text,
    SeqWas integer, SeqBecame integer, TokenWas integer, TokenBecame integer, OwnerWas text, OwnerBecame text,
    RetriesWas integer, RetriesBecame integer
)
"""
_SEE_INSTANCES = """
CREATE TEMP TRIGGER SeeInstance AFTER UPDATE ON main.BatchControl BEGIN
    INSERT INTO Seen (What, Row, Was, Became, SeqWas, SeqBecame, TokenWas, TokenBecame, OwnerWas, OwnerBecame,
                      RetriesWas, RetriesBecame)
    VALUES ('instance', new.BatchControl_id, old.Status, new.Status, old.PrevProcessControlSeq, new.PrevProcessControlSeq,
            old.ClaimToken, new.ClaimToken, old.ClaimedBy, new.ClaimedBy,
            old.RetryCount, new.RetryCount);
END
"""
_SEE_PURGED = """
CREATE TEMP TRIGGER SeePurged BEFORE DELETE ON main.BatchControl BEGIN
    INSERT INTO Seen (What, Row, Was, Became, SeqWas, SeqBecame, OwnerWas)
    VALUES ('purged', old.BatchControl_id, old.Status, (SELECT f.Status FROM main.FileProcess f
            WHERE f.FileProcess_id = old.FileProcess_id), old.ProcessBatch_id, old.FileProcess_id, old.z_updated);
END
"""
_SEE_FORGOTTEN = """
CREATE TEMP TRIGGER SeeForgotten BEFORE DELETE ON main.BatchCompletion BEGIN
    INSERT INTO Seen (What, Row, Was) VALUES ('forgotten', old.BatchCompletion_id, old.FileProcess_id);
END
"""
_SEE_ATTEMPTS = """
CREATE TEMP TRIGGER SeeAttempt AFTER UPDATE ON main.BatchProcessHistory BEGIN
    INSERT INTO Seen (What, Row, Was, Became, SeqWas, SeqBecame, TokenWas, TokenBecame, OwnerWas)
    VALUES ('attempt', new.BatchProcessHistory_id, old.Status, new.Status, old.ProcessControlSeq, new.ProcessControlSeq,
            old.ClaimToken, (SELECT c.ClaimToken FROM BatchControl c WHERE c.BatchControl_id = new.BatchControl_id),
            new.BatchControl_id);
END
"""


_SEE_WRITTEN = """
CREATE TEMP TRIGGER SeeWritten AFTER INSERT ON main.StepOutput BEGIN
    INSERT INTO Seen (What, Row, SeqWas, SeqBecame)
    VALUES ('wrote', new.BatchProcessHistory_id, new.Number, length(CAST(new.Text AS blob)));
END
"""
_SEE_DROPPED = """
CREATE TEMP TRIGGER SeeDropped AFTER DELETE ON main.StepOutput BEGIN
    INSERT INTO Seen (What, Row, SeqWas, SeqBecame)
    VALUES ('dropped', old.BatchProcessHistory_id, old.Number, length(CAST(old.Text AS blob)));
END
"""
_SEE_BEGUN = """
CREATE TEMP TRIGGER SeeBegun AFTER INSERT ON main.BatchProcessHistory WHEN new.Status = 'running' AND EXISTS
    (SELECT 1 FROM main.BatchFreeze f JOIN main.ProcessBatch b ON b.ProcessBatch_id = new.ProcessBatch_id
     WHERE f.ThawedTime IS NULL AND f.UntilTime IS NULL AND coalesce(f.ProcessBatchName, b.ProcessBatchName) = b.ProcessBatchName)
BEGIN
    INSERT INTO Seen (What, Row) VALUES ('begun frozen', new.BatchProcessHistory_id);
END
"""
_SEE_DRAINED = """
CREATE TEMP TRIGGER SeeDrained AFTER INSERT ON main.BatchProcessHistory WHEN new.Status = 'running' AND EXISTS
    (SELECT 1 FROM main.Drain d LEFT JOIN main.Controller k ON k.ControllerName = new.ClaimedBy
     WHERE d.UndrainedTime IS NULL AND (lower(d.Host) = lower(k.Host) OR d.PoolName = (
        SELECT coalesce(trim(lower(p.Pool)), trim(lower(b.Pool)), 'default') FROM main.ProcessControl p
        JOIN main.ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
        WHERE p.ProcessBatch_id = new.ProcessBatch_id AND p.ProcessControlSeq = new.ProcessControlSeq)))
BEGIN
    INSERT INTO Seen (What, Row) VALUES ('begun drained', new.BatchProcessHistory_id);
END
"""
_SEE_DRAINS = """
CREATE TEMP TRIGGER SeeDrain AFTER INSERT ON main.Drain BEGIN
    INSERT INTO Seen (What, Row) VALUES ('drain', new.Drain_id);
END
"""
_SEE_UNDRAINS = """
CREATE TEMP TRIGGER SeeUndrain AFTER UPDATE ON main.Drain BEGIN
    INSERT INTO Seen (What, Row) VALUES ('drain', new.Drain_id);
END
"""
_SEE_FREEZES = """
CREATE TEMP TRIGGER SeeFreeze AFTER INSERT ON main.BatchFreeze BEGIN
    INSERT INTO Seen (What, Row) VALUES ('freeze', new.BatchFreeze_id);
END
"""
_SEE_THAWS = """
CREATE TEMP TRIGGER SeeThaw AFTER UPDATE ON main.BatchFreeze BEGIN
    INSERT INTO Seen (What, Row) VALUES ('freeze', new.BatchFreeze_id);
END
"""
_SEE_AUDIT = """
CREATE TEMP TRIGGER SeeAudit AFTER INSERT ON main.AuditLog BEGIN
    INSERT INTO Seen (What, Row, Was, Became) VALUES ('audit', new.AuditLog_id, new.Target, new.Host);
END
"""
_SEE_ANSWERS = """
CREATE TEMP TRIGGER SeeAnswer AFTER UPDATE ON main.OperatorRequest BEGIN
    INSERT INTO Seen (What, Row, Was, Became) VALUES ('answer', new.OperatorRequest_id, old.Status, new.Status);
END
"""
_SEE_QUESTIONS = """
CREATE TEMP TRIGGER SeeQuestion AFTER INSERT ON main.Confirmation BEGIN
    INSERT INTO Seen (What, Row) VALUES ('asked', new.Confirmation_id);
END
"""
_SEE_CONFIRMATIONS = """
CREATE TEMP TRIGGER SeeConfirmation AFTER UPDATE ON main.Confirmation BEGIN
    INSERT INTO Seen (What, Row, Was, Became) VALUES ('question', new.Confirmation_id, old.Answer, new.Answer);
END
"""
_SEE_FIRES = """
CREATE TEMP TRIGGER SeeFire AFTER INSERT ON main.ScheduleFire BEGIN
    INSERT INTO Fires (Fire, Schedule, Minutes, Enabled, DecidedUntil, Backfill, Program, Commits, At)
    SELECT new.ScheduleFire_id, s.Schedule_id, s.IntervalMinutes, s.Enabled, s.DecidedUntil,
           (SELECT b.Status FROM main.ScheduleBackfill b WHERE b.ScheduleBackfill_id = new.ScheduleBackfill_id),
           acting(), commits(), virtual_now()
    FROM main.Schedule s WHERE s.Schedule_id = new.Schedule_id;
END
"""
_SEE_STANDING = """
CREATE TEMP TRIGGER SeeStanding AFTER UPDATE OF DecidedUntil ON main.Schedule BEGIN
    INSERT INTO Standings (Schedule, Minutes, Was, Became, HashWas, HashBecame, At)
    VALUES (new.Schedule_id, new.IntervalMinutes, old.DecidedUntil, new.DecidedUntil, old.TimingHash, new.TimingHash,
            virtual_now());
END
"""


_SEE_BACKFILLS = """
CREATE TEMP TRIGGER SeeBackfill AFTER UPDATE ON main.ScheduleBackfill BEGIN
    INSERT INTO BackfillTurns (Backfill, Minutes, Enabled, DecidedUntil, DoneWas, DoneBecame, Became, Fired, LastFire, Open, At)
    SELECT new.ScheduleBackfill_id, s.IntervalMinutes, s.Enabled, s.DecidedUntil, old.DoneUntil, new.DoneUntil, new.Status,
           new.Fired - old.Fired, (SELECT max(f.ScheduleFire_id) FROM main.ScheduleFire f),
           (SELECT count(*) FROM main.ScheduleFire f WHERE f.ScheduleBackfill_id = new.ScheduleBackfill_id AND
            (SELECT coalesce(sum(c.Status NOT IN ('complete', 'cancelled')), 1) FROM main.BatchControl c
             WHERE c.FileProcess_id = f.FileProcess_id) > 0),
           virtual_now()
    FROM main.Schedule s WHERE s.Schedule_id = new.Schedule_id;
END
"""
_OBSERVED = (
    (
        "Fires (Fire integer, Schedule integer, Minutes integer, Enabled integer, DecidedUntil text, Backfill text,"
        " Program text, Commits integer, At text)"
    ),
    (
        "Standings (Standing_id integer PRIMARY KEY, Schedule integer, Minutes integer, Was text, Became text, HashWas text,"
        " HashBecame text, At text)"
    ),
    (
        "BackfillTurns (Turn_id integer PRIMARY KEY, Backfill integer, Minutes integer, Enabled integer, DecidedUntil text,"
        " DoneWas text, DoneBecame text, Became text, Fired integer, LastFire integer, Open integer, At text)"
    ),
)
_SEES = (
    *(_SEE_INSTANCES, _SEE_ATTEMPTS, _SEE_PURGED, _SEE_FORGOTTEN, _SEE_FIRES, _SEE_STANDING, _SEE_BACKFILLS),
    *(_SEE_DRAINED, _SEE_DRAINS, _SEE_UNDRAINS, _SEE_WRITTEN, _SEE_DROPPED),
    *(_SEE_BEGUN, _SEE_FREEZES, _SEE_THAWS, _SEE_AUDIT, _SEE_ANSWERS, _SEE_QUESTIONS, _SEE_CONFIRMATIONS),
)


class Shared(sqlite3.Connection):
    """The one connection behind all programs of a schedule; who closes it only goes away."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._functions: set[str] = set()

    def close(self) -> None:
        """Stay open for the others."""

    def create_function(self, name: str, *arguments: Any, **options: Any) -> None:
        """Register only once what SQLAlchemy registers at each connect: it makes SQLite compile every statement anew."""
        if name not in self._functions:
            self._functions.add(name)
            super().create_function(name, *arguments, **options)


class Database:
    """One database, emptied for each schedule."""

    def __init__(self) -> None:
        self.raw = sqlite3.connect(":memory:", isolation_level=None, factory=Shared, cached_statements=512)
        # A connection that the garbage collector returns to the pool must not roll back somebody else's transaction.
        self.engine = create_engine(
            "sqlite://",
            creator=lambda: self.raw,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            pool_reset_on_return=None,
        )
        self.now: Callable[[], datetime] = lambda: BEGINNING
        self.raw.create_function("virtual_now", 0, lambda: self.now().strftime("%Y-%m-%d %H:%M:%S.000"))
        self.raw.create_function("acting", 0, lambda: EDGE.actor.name)
        self.raw.create_function("commits", 0, lambda: EDGE.actor.world.commits)
        for statement in _definitions():
            self.raw.execute(statement.replace(_REAL_NOW, "virtual_now()"))
        self.tables = [
            name
            for (name,) in self.raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if name not in _KEPT and not name.startswith("sqlite_")
        ]
        for statement in (_SEEN, *(f"CREATE TEMP TABLE {table}" for table in _OBSERVED), *_SEES):
            self.raw.execute(statement)

    def empty(self) -> None:
        """Forget the last schedule."""
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")
        self.raw.execute("PRAGMA foreign_keys = OFF")
        for table in (*self.tables, "sqlite_sequence", *_OF_ONE_SCHEDULE):
            self.raw.execute(f"DELETE FROM {table}")
        self.raw.execute("DELETE FROM Setting WHERE Name = 'MaxConcurrent'")
        self.raw.execute("PRAGMA foreign_keys = ON")


def _definitions() -> list[str]:
    """Return the statements that make what the migrations make."""
    with create_engine("sqlite://", isolation_level="AUTOCOMMIT").connect() as connection:
        schema.upgrade(connection)
        found = connection.exec_driver_sql(
            # The triggers are for hands, and would keep the tables from being emptied.
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND type <> 'trigger'"
            " ORDER BY CASE type WHEN 'table' THEN 0 ELSE 1 END"
        )
        return [str(sql) for sql in found.scalars()]


class EdgedTransactions(StoreTransactions):
    """The real transactions of one program; only what the driver would do is done here."""

    def __init__(self, engine: Engine, actor: Actor, reading: ReadsClock) -> None:
        super().__init__(engine, reading)
        self._actor = actor

    def run(
        self,
        boundaries: frozenset[Boundary],
        work: Callable[[Connection], Result],
        *,
        nowait: bool = False,
    ) -> Result:
        """Run a transaction, with what the script has in store for it."""
        actor = self._actor
        actor.arrive(boundaries)
        if Boundary.SCHEDULE in boundaries:
            work = foreseeing.watched(actor, work)
        try:
            result = super().run(boundaries, work, nowait=nowait)
        except BaseException:
            actor.world.batches = None  # What it had read may be what it had written.
            raise
        actor.leave()
        return result

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Read, with what the script has in store before that."""
        self._actor.call("read")
        with super().read() as connection:
            yield connection

    def _connected(self) -> Connection:
        self._actor.reach_database()
        return super()._connected()


class Edge:
    """What stands in for the driver's part of the dialect while a schedule is played."""

    actor: Actor
    """Who is acting at this moment."""

    def begin_write(
        self, connection: Connection, *, tell: Callable[[datetime], None] | None = None, **_: object
    ) -> None:
        """Begin, unless the database is locked or away; the database tells its time, as a server does."""
        self.actor.begin()
        _raw(connection).execute("BEGIN IMMEDIATE")
        if tell is not None:
            tell(self.actor.world.time.database_now())

    def commit(self, connection: Connection) -> None:
        """Commit, or lose the connection at that moment."""
        self.actor.commit(_raw(connection))

    def all_batches(self, connection: Connection) -> tuple[BatchDefinition, ...]:
        """Return the definitions, read anew when they or their versions are new: that is a fifth of all the time."""
        world = self.actor.world
        if world.batches is None or any(batch.version is None for batch in world.batches):
            world.batches = _all_batches(connection)
        return world.batches

    def rules(self, connection: Connection | None) -> Rules:
        """Return how long everything is kept: here seconds, where the table knows days."""
        del connection
        options = self.actor.world.options
        if options.kept_for is None:
            return Rules()
        age = timedelta(seconds=options.kept_for)
        keep = Keep(age, options.keep_last)
        outcomes = (InstanceStatus.COMPLETE, InstanceStatus.CANCELLED)
        batches = range(1, len(options.batches) + len(options.dependents) + 1)
        # Where nothing else goes, what strikes at a purge strikes at one of instances.
        others = age if options.keep_last else None
        return Rules(
            scheduler_log=others,
            audit_log=others,
            inbox=others,
            instances={(BatchId(batch), outcome): keep for batch in batches for outcome in outcomes},
        )

    def allowed_at(self, *_: object) -> timedelta | None:
        """Return how long the audit log is kept, for who asks whether a purge was allowed."""
        return self.rules(None).audit_log

    def change_marker(self, connection: Connection) -> object:
        """Return what differs once anybody else has committed."""
        del connection
        return self.actor.session, self.actor.world.commits - self.actor.commits

    def is_lost(self, error: BaseException) -> bool:
        """Say whether an error is one of a lost connection."""
        return isinstance(error, ConnectionLost)

    def database_refused(self, error: BaseException, where: str) -> DatabaseRefused:
        """Explain an error, also one of a lost connection."""
        return DatabaseUnreachable(str(error)) if isinstance(error, ConnectionLost) else _unusable(error, where)

    def is_about_the_database(self, error: BaseException) -> bool:
        """Say whether an error concerns the database as a whole."""
        return isinstance(error, ConnectionLost) or _is_about_the_database(error)


_is_about_the_database = sqlite.DIALECT.is_about_the_database
_unusable = sqlite.DIALECT.database_refused
_all_batches = definitions.all_batches
EDGE = Edge()


class _Sleepless:
    """What tenacity sleeps with: nobody sleeps in virtual time."""

    @staticmethod
    def sleep(seconds: float) -> None:
        """Return at once."""
        del seconds


@contextmanager
def edged() -> Iterator[None]:
    """Put the edge between the store and SQLite."""
    names = ("begin_write", "commit", "change_marker", "is_lost", "is_about_the_database", "database_refused")
    replaced: list[tuple[Any, str, Any]] = [(sqlite.DIALECT, name, getattr(EDGE, name)) for name in names]
    replaced += [
        (definitions, "all_batches", EDGE.all_batches),
        (purging, "rules", EDGE.rules),
        (audit_trail, "allowed_at", EDGE.allowed_at),
        (tenacity.nap, "time", _Sleepless),
    ]
    # As on a server: what is claimed is read again once its batch is locked.
    replaced += [(sqlite.DIALECT, "WRITES_ALONE", False)]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
    try:
        for owner, name, value in replaced:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _raw(connection: Connection) -> Any:
    return connection.connection.dbapi_connection
