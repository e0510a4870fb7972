"""PostgreSQL as it may be met: a standby, a pooler, a role without rights, settings of somebody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import cast

import psycopg
import pytest
from sqlalchemy import Connection, text

from batchctl.domain.error_codes import code_at
from batchctl.domain.errors import Busy, ConfigurationError, Conflict, DatabaseRefused, DatabaseUnreachable
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.definitions import definitions
from batchctl.store.dialects import UPGRADE_PATIENCE_SECONDS, postgresql, postgresql_errors
from batchctl.store.intake import intake
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions, left_out_if_refused, savepoint
from batchctl.system.clock import SystemClock
from tests.postgres import PostgresServer
from tests.proxy import Proxy

C1 = frozenset({Boundary.INTAKE})
LOOKS = 1000


@pytest.fixture
def database(postgres: PostgresServer, prepared: str) -> str:
    return postgres.new_database(prepared)


@pytest.fixture
def somebody(postgres: PostgresServer, database: str) -> Iterator[str]:
    """A role that may connect and nothing more."""
    role = f"somebody_{database}"
    with postgres.connect(database) as dba:
        dba.execute(f"CREATE ROLE {role} LOGIN")
    yield role
    with postgres.connect(database) as dba:
        dba.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def add(connection: Connection) -> int:
    return intake.add(connection, entity="E", file_name=None, data=None, cycle_key=None, source="test")


def way_to(url: str) -> StoreTransactions:
    return StoreTransactions(engine.open_engine(url, Path("/")))


def refusal(transactions: StoreTransactions) -> DatabaseRefused:
    with pytest.raises(DatabaseRefused) as refused:
        transactions.run(C1, add)
    return refused.value


@pytest.mark.full
def test_a_standby_is_refused() -> None:
    primary = PostgresServer()
    try:
        primary.start()
        standby = primary.standby()
        standby.start()
        try:
            refused = refusal(way_to(standby.url("postgres")))
        finally:
            standby.remove()
    finally:
        primary.remove()

    assert "is a standby" in refused.message
    assert "primary" in str(refused.next_step)


def test_a_connection_pooler_is_refused(postgres: PostgresServer, database: str) -> None:
    pooler = Proxy(postgres.port, pools=True)
    try:
        refused = refusal(way_to(postgres.url(database, port=pooler.port)))
    finally:
        pooler.close()

    assert "connection pooler" in refused.message
    assert "name the server itself" in str(refused.next_step)


@pytest.mark.parametrize(
    ("url", "said", "next_step"),
    [
        ("postgresql://nobody_here@127.0.0.1:{port}/{database}", "refused the login", 'CREATE ROLE "nobody_here"'),
        ("postgresql://postgres@127.0.0.1:{port}/no_such", "does not exist", 'CREATE DATABASE "no_such"'),
        ("postgresql://postgres:s3same@127.0.0.1:1/x", "x on 127.0.0.1:1 cannot be reached", "127.0.0.1, port 1"),
        ("postgresql://postgres:s3same@host.invalid/x", "cannot be reached", "correct the host"),
        ("postgresql://postgres@127.0.0.1:{port}/x?sslmode=require", "cannot be reached", "correct sslmode"),
        ("postgresql://postgres@127.0.0.1:{port}/x?no_such=1", "cannot be opened", "behind the '?'"),
        (
            "postgresql://u:s3same@/x?host=/no/such&port=54399",
            "x on /no/such/.s.PGSQL.54399 cannot be reached",
            "listens on /no/such/.s.PGSQL.54399",
        ),
        (
            "postgresql://u:s3same@/x?host=a.invalid:1&host=b.invalid:2",
            "x on a.invalid:1, b.invalid:2 cannot be reached",
            "correct the host",
        ),
    ],
)
def test_what_cannot_be_reached_is_named_without_its_password_and_with_what_mends_it(
    postgres: PostgresServer, database: str, url: str, said: str, next_step: str
) -> None:
    refused = refusal(way_to(url.format(port=postgres.port, database=database)))

    assert said in refused.message
    assert refused.code == code_at("batchctl.store.dialects.postgresql:PostgresqlDialect.database_refused")
    assert next_step in str(refused.next_step)
    assert "s3same" not in f"{refused!r} {refused.message}"


def test_the_table_without_rights_is_named(postgres: PostgresServer, database: str, somebody: str) -> None:
    with postgres.connect(database) as dba:
        dba.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {somebody}")

    refused = refusal(way_to(postgres.url(database, somebody)))

    assert "does not give this role the rights" in refused.message
    assert refused.code == code_at("batchctl.store.dialects.postgresql:PostgresqlDialect.database_refused")
    assert "fileprocess" in refused.message


def test_settings_of_the_role_change_nothing(postgres: PostgresServer, database: str, somebody: str) -> None:
    with postgres.connect(database) as dba:
        dba.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {somebody}")
        dba.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {somebody}")
        for setting in (
            "DateStyle = 'German, DMY'",
            "TimeZone = 'Australia/Lord_Howe'",
            "default_transaction_isolation = 'serializable'",
            "default_transaction_read_only = on",
            "statement_timeout = '1ms'",
            "synchronous_commit = off",
            "standard_conforming_strings = on",
        ):
            dba.execute(f"ALTER ROLE {somebody} SET {setting}")
    transactions = way_to(postgres.url(database, somebody))
    transactions.run(C1, add)

    with transactions.read() as connection:
        (row,) = intake.untaken(connection, 0, 10)
        moment = connection.exec_driver_sql(
            "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24')"
        ).scalar_one()
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"
    assert f"{row.inserted_at:%Y-%m-%d %H}" == moment
    transactions.close()


def test_text_is_utf8_whatever_encoding_the_database_gives_its_clients(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as dba:
        dba.execute(f"ALTER DATABASE {database} SET client_encoding = 'LATIN1'")
    transactions = way_to(postgres.url(database))
    transactions.run(
        C1, lambda at: intake.add(at, entity="ü€😀", file_name=None, data=None, cycle_key=None, source="t")
    )

    with transactions.read() as connection:
        assert [row.entity for row in intake.untaken(connection, 0, 10)] == ["ü€😀"]
    transactions.close()


def test_a_table_locked_for_long_is_busy_also_for_who_only_reads(postgres: PostgresServer, database: str) -> None:
    transactions = way_to(postgres.url(database))
    with transactions.read() as connection:
        connection.exec_driver_sql("SET lock_timeout = '1ms'")
    with postgres.connect(database) as dba, dba.transaction():
        dba.execute("LOCK TABLE FileProcess")
        with pytest.raises(Busy, match="stayed locked"), transactions.read() as connection:
            intake.untaken(connection, 0, 10)

    with transactions.read() as connection:
        assert intake.untaken(connection, 0, 10) == []
    transactions.close()


def test_the_servers_clock_is_the_engines(postgres: PostgresServer, database: str) -> None:
    told: list[datetime] = []
    transactions = StoreTransactions(engine.open_engine(postgres.url(database), Path("/")), lambda: told.append)
    transactions.run(C1, add)

    with transactions.read() as connection:
        (row,) = intake.untaken(connection, 0, 10)
    assert abs((told[0] - row.inserted_at).total_seconds()) < 5
    assert told[0].utcoffset() is not None
    transactions.close()


def test_the_clock_does_not_run_late_by_what_went_out_with_the_question(
    postgres: PostgresServer, database: str
) -> None:
    clock, slept = SystemClock(), timedelta(seconds=0.6)
    transactions = StoreTransactions(engine.open_engine(postgres.url(database), Path("/")), clock.reading)
    for _ in range(3):
        transactions.run(C1, add)

    def ask_for_long(connection: Connection) -> datetime:
        postgresql.DIALECT.ask(connection, "SELECT pg_sleep(%s)", [slept.total_seconds()])
        ((shown,),) = postgresql.DIALECT.ask(connection, "SELECT clock_timestamp()", [])()
        return cast("datetime", shown)

    shown = transactions.run(C1, ask_for_long, nowait=True)
    assert clock.now() > shown - slept / 2
    transactions.close()


def test_a_name_is_had_by_one_until_the_end_of_his_transaction(postgres: PostgresServer, database: str) -> None:
    kind = frozenset({Boundary.POPULATE})
    one, other = way_to(postgres.url(database)), way_to(postgres.url(database))

    def have_it_while_others_try(connection: Connection) -> list[bool]:
        had = postgresql.DIALECT.lock_name(connection, "a")
        return [had, *(other.run(kind, partial(postgresql.DIALECT.lock_name, name=name)) for name in "ab")]

    assert one.run(kind, have_it_while_others_try) == [True, False, True]
    assert other.run(kind, partial(postgresql.DIALECT.lock_name, name="a"))
    one.close()
    other.close()


def test_a_stranger_keeps_nobody_from_a_name_and_what_is_gone_is_made_anew(
    postgres: PostgresServer, database: str
) -> None:
    kind = frozenset({Boundary.POPULATE})
    transactions = way_to(postgres.url(database))
    user, nothing = "CREATE ROLE stranger LOGIN", "SELECT * FROM pg_locks WHERE locktype = 'advisory'"
    with psycopg.connect(postgres.url(database).replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("DO $$ BEGIN " + user + "; EXCEPTION WHEN duplicate_object THEN NULL; END $$")

        def have_it(connection: Connection) -> object:
            return postgresql.DIALECT.lock_name(connection, "a"), owner.execute(nothing).fetchall()

        assert transactions.run(kind, have_it) == (True, [])
        owner.execute("SET ROLE stranger")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            owner.execute("SELECT 1 FROM NamedLock FOR NO KEY UPDATE")
        for nowait in (True, False):
            owner.execute("RESET ROLE; DELETE FROM NamedLock")
            assert transactions.run(kind, have_it_alone, nowait=nowait)
            assert owner.execute("SELECT count(*) FROM NamedLock").fetchone() == (1,)
    transactions.close()


def test_of_two_who_make_a_name_anew_one_has_it(postgres: PostgresServer, database: str) -> None:
    kind = frozenset({Boundary.POPULATE})
    one, other = way_to(postgres.url(database)), way_to(postgres.url(database))
    with psycopg.connect(postgres.url(database).replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("TRUNCATE NamedLock")

    def have_it_while_another_is_hurried(connection: Connection) -> None:
        assert postgresql.DIALECT.lock_name(connection, "a")
        with pytest.raises(Conflict):
            other.run(kind, have_it_alone, nowait=True)

    one.run(kind, have_it_while_another_is_hurried)
    assert other.run(kind, have_it_alone, nowait=True)
    one.close()
    other.close()


def have_it_alone(connection: Connection) -> bool:
    return postgresql.DIALECT.lock_name(connection, "a")


def test_who_is_hurried_runs_into_whoever_has_a_name(postgres: PostgresServer, database: str) -> None:
    kind = frozenset({Boundary.POPULATE})
    one, other = way_to(postgres.url(database)), way_to(postgres.url(database))

    def have_it_while_another_is_hurried(connection: Connection) -> None:
        postgresql.DIALECT.lock_name(connection, "a")
        with pytest.raises(Conflict):
            other.run(kind, partial(postgresql.DIALECT.lock_name, name="a"), nowait=True)

    one.run(kind, have_it_while_another_is_hurried)
    one.close()
    other.close()


@pytest.mark.parametrize("when", ["before", "within"])
@pytest.mark.parametrize("part", [nullcontext, savepoint, left_out_if_refused])
def test_a_session_that_ends_amid_a_transaction_is_told_as_what_it_is(
    postgres: PostgresServer, database: str, part: Callable[[Connection], AbstractContextManager[None]], when: str
) -> None:
    def end_sessions() -> None:
        with postgres.connect(database) as dba:
            dba.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def read_without_a_session(connection: Connection) -> None:
        if when == "before":
            end_sessions()
        with part(connection):
            if when == "within":
                end_sessions()
            definitions.all_batches(connection)

    transactions = way_to(postgres.url(database))
    with pytest.raises(DatabaseUnreachable, match=r"terminating connection due to administrator command|server closed"):
        transactions.run(C1, read_without_a_session)
    assert transactions.run(C1, add) > 0
    transactions.close()


@pytest.mark.parametrize(
    ("said", "what", "next_step"),
    [
        ('FATAL:  password authentication failed for user "a b"', "refused the login", "the password of role a b,"),
        ("fe_sendauth: no password supplied", "refused the login", "{secret:NAME}"),
        ('FATAL:  role "r" is not permitted to log in', "refused the login", 'ALTER ROLE "r" LOGIN;'),
        ('FATAL:  no pg_hba.conf entry for host "h"', "refused the login", "pg_hba.conf"),
        ('FATAL:  permission denied for database "d"', "refused the login", 'GRANT CONNECT ON DATABASE "d"'),
        ("FATAL:  etwas anderes", "refused the login", "user, password and database"),
        ("FATAL:  sorry, too many clients already", "has no connection left", "max_connections"),
        ("FATAL:  the database system is starting up", "is not ready", "wait"),
        ("timeout expired", "cannot be reached", "host and port"),
    ],
)
def test_what_a_server_says_of_a_login_is_understood_by_its_words(said: str, what: str, next_step: str) -> None:
    prefix = 'connection failed: connection to server at "h", port 5432 failed: ' if said != "timeout expired" else ""
    meaning = postgresql_errors.meaning(f"{prefix}{said}", "")

    assert meaning[0] == what
    assert next_step in meaning[1]


def test_a_session_that_the_server_ended_was_no_login() -> None:
    said = "consuming input failed: FATAL:  terminating connection due to administrator command"

    assert postgresql_errors.meaning(said, "")[0] == "cannot be reached"


def test_a_kind_that_is_nearly_right_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        engine.open_engine("postgres://u@h/d", tmp_path)

    assert "postgresql://, not postgres://" in str(refused.value.next_step)


@pytest.mark.parametrize(
    ("state", "transient", "lost", "whole"),
    [
        ("40001", True, False, False),
        ("40P01", True, False, False),
        ("55P03", True, False, False),
        ("08006", False, True, True),
        ("57P01", False, True, True),
        ("57P03", False, True, True),
        ("53100", False, False, True),
        ("53300", False, False, True),
        ("25006", False, False, True),
        ("58030", False, False, True),
        ("XX000", False, False, False),
        ("XX001", False, False, True),
        ("28P01", False, False, True),
        ("42501", False, False, True),
        ("23505", False, False, False),
        ("22001", False, False, False),
    ],
)
def test_errors_are_told_apart_by_their_code(state: str, transient: bool, lost: bool, whole: bool) -> None:
    error = type("Error", (Exception,), {"sqlstate": state})("deadlock detected, connection lost, disk full")

    assert postgresql.DIALECT.is_transient(error) is transient
    assert postgresql.DIALECT.is_lost(error) is lost
    assert postgresql.DIALECT.is_about_the_database(error) is whole


@pytest.mark.parametrize(
    "said", ['could not extend file "base/5/16384": File too large', "could not write to file x: Disk quota exceeded"]
)
def test_a_file_that_the_server_may_not_write_is_no_rows_trouble(said: str) -> None:
    error = type("Error", (Exception,), {"sqlstate": "XX000"})(said)

    assert postgresql.DIALECT.is_about_the_database(error)
    assert "let a DBA make room" in str(postgresql.DIALECT.database_refused(error, "d").next_step)


def test_a_database_of_another_version_is_refused(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as dba:
        dba.execute("UPDATE alembic_version SET version_num = '0000'")
    transactions = way_to(postgres.url(database))

    with transactions.read() as connection, pytest.raises(Exception, match="knows none older"):
        schema.verify(connection)
    transactions.close()


def test_an_upgrade_waits_for_another_one_and_for_longer_than_for_any_other_lock(
    postgres: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "UPGRADE_PATIENCE_SECONDS", 0.1)
    first, second = way_to(postgres.url(database)), way_to(postgres.url(database))
    with closing(second), second.read() as waiting:
        with closing(first), first.read() as upgrading:
            assert postgresql.DIALECT.lock_schema(upgrading)
            assert not postgresql.DIALECT.lock_schema(waiting)
        monkeypatch.undo()

        assert postgresql.DIALECT.lock_schema(waiting)
        assert waiting.scalar(text("SHOW lock_timeout")) == "5s"
        assert UPGRADE_PATIENCE_SECONDS > 60
