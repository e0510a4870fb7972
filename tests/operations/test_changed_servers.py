"""A PostgreSQL server that somebody has changed: said with what mends it, and a changed password needs no restart."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchctl import app
from batchctl.cli import main
from batchctl.control_database import upgrade_database
from batchctl.domain.errors import Busy, DatabaseRefused
from batchctl.store import engine
from batchctl.store.dialects import postgresql
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase, PostgresControl
from tests.migrations.test_migrations import spoil
from tests.operations.test_doctor import by_name, configured, examined
from tests.postgres import PostgresServer
from tests.strict_postgres import StrictServer

ROLE = "limited"
LOOKS = 2000


@pytest.fixture
def database(postgres: PostgresServer, prepared: str) -> str:
    return postgres.new_database(prepared)


@pytest.fixture
def role(postgres: PostgresServer, database: str) -> Iterator[str]:
    """A role that owns nothing and may do everything that batchctl needs."""
    with postgres.connect(database) as dba:
        dba.execute(f"CREATE ROLE {ROLE} LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE}")
        dba.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {ROLE}")
    yield ROLE
    with postgres.connect(database) as dba:
        dba.execute(f"DROP OWNED BY {ROLE}; DROP ROLE {ROLE}")


def mended(next_step: str | None) -> bytes:
    """The SQL of a mending command."""
    return str(next_step).partition(": ")[2].encode()


@pytest.fixture
def strict() -> Iterator[StrictServer]:
    """A server that asks for passwords."""
    made = StrictServer()
    try:
        made.start()
        yield made
    finally:
        made.remove()


def test_a_changed_password_is_taken_up_by_who_runs_already(strict: StrictServer, tmp_path: Path) -> None:
    def change(password: str) -> None:
        """Change a password where it is kept, and end what was connected with the old one."""
        (tmp_path / "pw.txt").write_text(password, encoding="utf-8")
        strict.alter(f"ALTER ROLE etl PASSWORD '{password}'")
        strict.alter("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'etl'")

    def now() -> object:
        with running.transactions.read() as connection:
            return connection.exec_driver_sql("SELECT 1").scalar_one()

    strict.new_role("etl", "f1rst")
    (tmp_path / "pw.txt").write_text("f1rst", encoding="utf-8")
    url = f"postgresql://etl:{{secret:pw}}@127.0.0.1:{strict.port}/etl"
    config = configured(tmp_path, f'database_url = "{url}"\n[secrets.pw]\nfile = "pw.txt"\n')
    upgrade_database(config)
    running = app.open_app(config)

    change("s3cond")
    with pytest.raises(DatabaseRefused):
        now()
    assert now() == 1

    (tmp_path / "pw.txt").unlink()
    strict.alter("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'etl'")
    with pytest.raises(DatabaseRefused):
        now()
    with pytest.raises(DatabaseRefused, match=r"Secret 'pw' cannot be resolved: file pw\.txt cannot be read") as away:
        now()
    change("th1rd")
    assert now() == 1
    running.close()

    assert away.value.next_step == "put the secret into the file pw.txt, for the user who runs batchctl"
    assert "s3cond" not in away.value.message


def test_what_a_driver_says_of_a_changed_url_holds_no_password_of_it(postgres: PostgresServer, database: str) -> None:
    urls = iter([postgres.url(database), "postgresql://u:one@s3same@127.0.0.1:1/x"])
    transactions = StoreTransactions(engine.open_engine(lambda: next(urls), Path("/")))

    with pytest.raises(DatabaseRefused) as refused, transactions.read():
        pass
    assert "***" in refused.value.message
    assert "s3same" not in f"{refused.value!r} {refused.value.message} {refused.value.__cause__}"


def waiting(postgres: PostgresServer, database: str, most: int) -> object:
    """Wait until so many sessions wait for a lock; return how many do in the end."""
    found: object = 0
    with postgres.connect() as dba:
        for _ in range(LOOKS):
            asked = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND wait_event_type = 'Lock'"
            ((found,),) = dba.execute(asked.encode()).fetchall()
            if found == most:
                break
            dba.execute("SELECT pg_sleep(0.005)")
    return found


def test_of_two_upgrades_at_once_the_second_finds_nothing_to_do(postgres: PostgresServer, tmp_path: Path) -> None:
    database = postgres.new_database()
    config = configured(tmp_path, f'database_url = "{postgres.url(database)}"\n')
    older = StoreTransactions(engine.open_engine(postgres.url(database), tmp_path))
    spoil(older)
    older.close()

    def upgrade() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "batchctl", "--config", config, "db", "upgrade"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    with postgres.connect(database) as dba, dba.transaction():
        # An upgrade has the lock that keeps others out before it waits here.
        dba.execute("LOCK TABLE AuditLog IN SHARE MODE")
        first = upgrade()
        assert waiting(postgres, database, 1) == 1
        second = upgrade()
        assert waiting(postgres, database, 2) == 2
    said = [process.communicate() for process in (first, second)]

    assert [process.returncode for process in (first, second)] == [0, 0], said
    assert f"has schema {schema.newest_revision()}; its views and triggers were made anew" in said[0][0]
    assert f"Nothing to do: the control database has schema {schema.newest_revision()}" in said[1][0]


def test_an_upgrade_behind_one_that_does_not_end_is_refused(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "UPGRADE_PATIENCE_SECONDS", 0.1)
    config = configured(tmp_path, f'database_url = "{postgres.url(database)}"\n')
    endless = StoreTransactions(engine.open_engine(postgres.url(database), tmp_path))

    with closing(endless), endless.read() as connection:
        postgresql.DIALECT.lock_schema(connection)
        with pytest.raises(Busy, match="Another program upgrades the control database"):
            upgrade_database(config)


LOST = ["DELETE FROM Setting", "UPDATE Setting SET Value = ' '"]


@pytest.mark.parametrize("lose", LOST)
def test_a_database_that_has_lost_its_name_starts_no_controller_and_says_how_to_name_it(
    control_database: ControlDatabase, capsys: pytest.CaptureFixture[str], lose: str
) -> None:
    config = configured(control_database.directory, f'database_url = "{control_database.url}"\n')

    def call(*words: str) -> tuple[int, str]:
        code = main.run(["--config", config, *words])
        said = capsys.readouterr()
        return code, f"{said.out} {said.err}"

    hand = control_database.hand()
    kept = hand.sql("SELECT Value FROM Setting WHERE Name = 'DatabaseId'")
    hand.sql(lose)
    try:
        refused = {words: call(*words) for words in (("run", "--once"), ("process",), ("db", "verify"))}
        findings = call("check", "--json")
        reading = by_name(app.examine(config))["database_url", "name"]
        reading_ones = [call(*words)[0] for words in (("status",), ("batches",), ("run", "--once", "--dry-run"))]
        hand.sql(mended(reading.next_step).decode())
        ((named,),) = hand.sql("SELECT Value FROM Setting WHERE Name = 'DatabaseId'")
        after = call("run", "--once")[0], call("db", "verify")[0], call("check")[0]
    finally:
        hand.sql("DELETE FROM Setting")
        hand.sql("INSERT INTO Setting (Name, Value) VALUES ('DatabaseId', ?)", *kept[0])
        hand.close()

    for code, said in refused.values():
        assert code == 4
        assert "has lost its name" in said
        assert str(reading.next_step) in said
    (finding,) = json.loads(findings[1])
    assert (findings[0], finding["Table"], finding["Row"]) == (6, "Setting", "DatabaseId")
    assert reading_ones == [0, 0, 0]
    assert len(named) >= 32
    assert after == (0, 0, 0)


def found_of(postgres: PostgresServer, database: str, role: str, folder: Path) -> dict[str, Any]:
    """Return what doctor says of the control database, as a role sees it."""
    found = examined(folder, postgres.url(database, role))
    return {check: reading for (target, check), reading in found.items() if target == "database_url"}


def test_rows_that_a_policy_may_hide_are_no_rights(
    postgres: PostgresServer, database: str, role: str, tmp_path: Path
) -> None:
    with postgres.connect(database) as dba:
        assert found_of(postgres, database, role, tmp_path)["rights"].result == "OK"
        dba.execute("ALTER TABLE FileProcess ENABLE ROW LEVEL SECURITY; ALTER TABLE Setting ENABLE ROW LEVEL SECURITY")
        hidden = found_of(postgres, database, role, tmp_path)["rights"]
        of_owner = found_of(postgres, database, "postgres", tmp_path)["rights"]
        dba.execute(mended(hidden.next_step))

    assert (hidden.result, of_owner.result) == ("FAIL", "OK")
    assert "Row level security applies to this role on FileProcess, Setting" in hidden.message
    assert found_of(postgres, database, role, tmp_path)["rights"].result == "OK"


@pytest.mark.parametrize("whose", ["ROLE", "DATABASE"])
def test_fewer_connections_than_a_controller_needs_are_a_warning(
    postgres: PostgresServer, database: str, role: str, tmp_path: Path, whose: str
) -> None:
    name = role if whose == "ROLE" else database
    with postgres.connect(database) as dba:
        dba.execute(f"ALTER {whose} {name} CONNECTION LIMIT 2".encode())
        few = found_of(postgres, database, role, tmp_path)["connections"]
        dba.execute(mended(few.next_step))

    assert few.result == "WARN"
    assert f"{whose} {name} has a limit of 2: a controller needs 3" in few.message
    assert found_of(postgres, database, role, tmp_path)["connections"].result == "OK"


def test_disabled_triggers_are_found(postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    control = PostgresControl(postgres, tmp_path, database)
    transactions = StoreTransactions(engine.open_engine(control.url, tmp_path))
    with postgres.connect(database) as dba, transactions.read() as connection:
        dba.execute("ALTER TABLE FileProcess DISABLE TRIGGER USER")
        differing = schema.differences(connection)
        reading = found_of(postgres, database, "postgres", tmp_path)["triggers"]
        dba.execute(mended(reading.next_step))

        assert "fileprocess.tr_fileprocess_notify is not as it was made" in differing
        assert reading.result == "WARN"
        assert "is not written down" in reading.message
        assert schema.differences(connection) == []
    transactions.close()
    assert found_of(postgres, database, "postgres", tmp_path)["triggers"].result == "OK"
