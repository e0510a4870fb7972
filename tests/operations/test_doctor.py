"""What `doctor` says of databases, connections and this host, on a good day and on a bad one."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy.exc import OperationalError

from batchctl import app, config
from batchctl.control_database import upgrade_database
from batchctl.domain.locked_rows import LEAD, TO_END_IT, failure_of
from batchctl.domain.outcomes import HealthFinding, Result, RowFinding
from batchctl.operations.maintenance.doctor import Doctor
from batchctl.store import engine
from batchctl.store.dialects.health import mssql_health, postgresql_health, sqlite_health
from batchctl.store.maintenance import schema
from batchctl.system.clock import SystemClock
from batchctl.system.host.shares import file_system_of
from tests.control.world import World
from tests.control_databases import ControlDatabase, SqliteControl
from tests.postgres import PostgresServer
from tests.store.sql_server import ConnectionStringParseError, SqlServer


def configured(folder: Path, text: str) -> str:
    path = folder / "batchctl.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def examined(folder: Path, url: str, more: str = "") -> dict[tuple[str, str], HealthFinding]:
    """Examine a control database; return the readings by target and check."""
    lines = app.examine(configured(folder, f'database_url = "{url}"\n{more}'))
    return by_name(lines)


def by_name(lines: tuple[HealthFinding, ...]) -> dict[tuple[str, str], HealthFinding]:
    return {(line.target, line.check): replace(line, target="") for line in lines}


def failing(found: dict[tuple[str, str], HealthFinding]) -> set[tuple[str, str]]:
    return {key for key, finding in found.items() if finding.result is Result.FAIL}


def test_a_sound_database_fails_in_nothing_but_what_the_tests_server_saves(control_database: ControlDatabase) -> None:
    found = examined(control_database.directory, control_database.url)
    of_control = {check for target, check in found if target == "database_url"}

    assert {"driver", "login", "schema", "rights", "clock", "controller"} <= of_control
    if control_database.kind == "sqlite":
        assert failing(found) == set()
        assert {"synchronous", "journal mode", "place"} <= of_control
    else:
        assert failing(found) == {("database_url", "fsync"), ("database_url", "full_page_writes")}
        assert found["database_url", "fsync"].next_step == "start the server without -c fsync=off"
        assert {"full_page_writes", "synchronous_commit", "standby", "pooler"} <= of_control
    assert found["this host", "tzdata"].result is Result.OK


def test_what_does_not_say_ok_says_what_to_type(control_database: ControlDatabase) -> None:
    more = '[connections.w]\nurl = "postgresql://u:literal@127.0.0.1:1/d"\n[secrets.s]\nenv = "NO_SUCH"\n'
    found = examined(control_database.directory, control_database.url, more)

    assert {finding.result for finding in found.values()} == set(Result)
    assert all(finding.next_step for finding in found.values() if finding.result is not Result.OK)


def test_an_empty_database_wants_the_tables(tmp_path: Path, postgres: PostgresServer) -> None:
    finding = examined(tmp_path, postgres.url(postgres.new_database()))["database_url", "schema"]

    assert finding.result is Result.FAIL
    assert "holds no batchctl tables" in finding.message
    assert finding.next_step == "batchctl db upgrade"


def test_a_database_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    finding = examined(tmp_path, "sqlite:///none.db")["database_url", "login"]

    assert (finding.result, finding.next_step) == (Result.FAIL, "batchctl db upgrade")
    assert not (tmp_path / "none.db").exists()


def test_views_and_triggers_that_are_gone_are_named_with_what_makes_them_again(empty_database: ControlDatabase) -> None:
    file = configured(empty_database.directory, f'database_url = "{empty_database.url}"\n')
    upgrade_database(file)
    on = "" if empty_database.kind == "sqlite" else " ON AuditLog"
    with closing(empty_database.hand()) as hand:
        for statement in ("DROP VIEW vStatus", f"DROP TRIGGER TR_AuditLog_AppendOnly{'' if on else 'Delete'}{on}"):
            hand.sql(statement)
    finding = examined(empty_database.directory, empty_database.url)["database_url", "views"]

    assert finding.result is Result.WARN
    assert "vstatus" in finding.message.lower()
    assert "tr_auditlog_appendonly" in finding.message.lower()
    assert (finding.next_step or "").startswith("batchctl db upgrade")
    upgrade_database(file)
    assert ("database_url", "views") not in examined(empty_database.directory, empty_database.url)


@pytest.mark.parametrize(
    ("damage", "lacking"),
    [
        ("DROP TABLE Resource", "table Resource"),
        ("ALTER TABLE ProcessBatch RENAME COLUMN Tags TO Tag", "column ProcessBatch.Tags"),
    ],
)
def test_tables_and_columns_that_are_gone_are_named_and_nothing_is_left_out(
    empty_database: ControlDatabase, damage: str, lacking: str
) -> None:
    upgrade_database(configured(empty_database.directory, f'database_url = "{empty_database.url}"\n'))
    sound = examined(empty_database.directory, empty_database.url)
    with closing(empty_database.hand()) as hand:
        hand.sql(f"{damage} CASCADE" if "DROP" in damage and empty_database.kind != "sqlite" else damage)
    found = examined(empty_database.directory, empty_database.url)

    assert found["database_url", "schema"] == HealthFinding(
        "schema", Result.FAIL, f"The control database lacks the {lacking}.", "batchctl db verify"
    )
    assert ("database_url", "views") not in found, "what db upgrade cannot make is not advised to be made by it"
    assert found.keys() == sound.keys()
    definitions = found["database_url", "definitions"]
    assert definitions.result is Result.WARN
    assert "could not be looked at: The control database" in definitions.message
    assert definitions.next_step


def test_a_newer_schema_is_told_from_an_older_one(
    control_database: ControlDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hand = control_database.hand()
    hand.sql("UPDATE alembic_version SET version_num = '9999'")
    newer = examined(control_database.directory, control_database.url)["database_url", "schema"]
    hand.sql("UPDATE alembic_version SET version_num = ?", schema.newest_revision())
    hand.close()
    later = tmp_path / "later"
    shutil.copytree(schema.migrations_path(), later)
    (later / "versions" / "9000_later.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(schema, "migrations_path", lambda: later)
    older = examined(control_database.directory, control_database.url)["database_url", "schema"]

    assert newer.result is older.result is Result.FAIL
    assert "has schema 9999, which this version of batchctl" in newer.message
    assert "newer" in str(newer.next_step)
    assert "this version needs 9000" in older.message
    assert str(older.next_step).startswith("batchctl db upgrade")


@pytest.mark.parametrize(("seconds", "word"), [(5, "ahead of"), (-5, "behind")])
def test_clocks_that_differ_are_a_warning_where_the_server_has_its_own(
    control_database: ControlDatabase, seconds: int, word: str
) -> None:
    settings = config.load(configured(control_database.directory, f'database_url = "{control_database.url}"'))

    def now() -> datetime:
        return SystemClock().now() + timedelta(seconds=seconds)

    finding = by_name(Doctor(settings, now, app.App(settings).presence).examine())["database_url", "clock"]
    if control_database.kind == "sqlite":
        assert finding.result is Result.OK
    else:
        assert finding.result is Result.WARN
        assert f"{word} the server's" in finding.message


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "No controller works on it now; batchctl run starts one."),
        (["host:anna"], "Working on it: host:anna."),
        (["host:anna", "other:ben"], "Working on it: host:anna, other:ben."),
    ],
)
def test_the_controllers_at_work_are_named(control_database: ControlDatabase, names: list[str], said: str) -> None:
    configuration = configured(control_database.directory, f'database_url = "{control_database.url}"')
    hand = control_database.hand()
    now = SystemClock().now().strftime("%Y-%m-%d %H:%M:%S")
    for name in names:
        hand.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES (?, 'h', ?)", name, now)
    hand.close()

    assert by_name(app.examine(configuration))["database_url", "controller"] == HealthFinding(
        "controller", Result.OK, said
    )


def test_that_no_controller_leads_fails_and_names_who_keeps_them_from_it_and_how_to_end_that(
    control_database: ControlDatabase,
) -> None:
    end = "SELECT pg_terminate_backend(7)"
    failure = failure_of({LEAD: f"no controller can lead: locked by session 7 (psql){TO_END_IT}{end}"})
    now = SystemClock().now()
    hand = control_database.hand()
    hand.sql("DELETE FROM Leader")
    hand.sql(
        "INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('a', 'h', ?)", f"{now:%Y-%m-%d %H:%M:%S}"
    )
    unnamed = examined(control_database.directory, control_database.url)["database_url", "leader"]
    hand.sql("UPDATE Controller SET Trouble = ?", failure)
    hand.close()
    named = examined(control_database.directory, control_database.url)["database_url", "leader"]

    assert (unnamed.result, named.result) == (Result.FAIL, Result.FAIL)
    assert "batchctl run" in str(unnamed.next_step)
    assert "locked by session 7 (psql)" in named.message
    assert named.next_step == end


def test_a_batch_that_runs_whatever_a_row_says_is_warned_of_where_nothing_keeps_others_out(world: World) -> None:
    before = examined(world.directory, world.database.url)["database_url", "tasks"]
    world.batch("Chores", steps=1)
    world.sql("UPDATE ProcessControl SET ProcessType = 'Task', Data1 = NULL, Data2 = '{Data3}'")
    after = examined(world.directory, world.database.url)["database_url", "tasks"]

    assert before.result is Result.OK
    assert after.result is Result.WARN
    assert (
        "Batch Chores (entity 'Chores') runs whatever a row says: every user who may insert FileProcess rows"
        in after.message
    )
    assert str(after.next_step) == "do as batchctl db roles says, or: batchctl disable Chores --reason ..."


def test_a_step_that_nobody_follows_is_warned_of_with_the_last_sign_of_life(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.sql("INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c9', 'h', '2026-01-02 03:04:05')")
    world.sql("UPDATE BatchControl SET Status = 'running', ClaimToken = 1, ClaimedBy = 'c9'")
    world.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " AttemptNo, ClaimToken, Cause, Status, CommandText, StartTime, ClaimedBy)"
        " VALUES (1, 1, 10, 'step 10', 'os_command', 1, 1, 'auto', 'running', 'x', '2026-01-02 03:04:00', 'c9')"
    )
    finding = examined(world.directory, world.database.url)["database_url", "controller"]

    assert finding.result is Result.WARN
    assert "none follows what stands as running: the last sign of life is of 2026-01-02 03:04:05 UTC" in finding.message
    assert "batchctl run" in str(finding.next_step)


@pytest.fixture
def silent_server() -> Iterator[int]:
    """The port of a server that takes every call and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("seconds", "said"), [((300, 300), None), ((300, 4), "300 s, b on h: 4 s"), ((300, None), "b on h: unknown")]
)
def test_controllers_that_wait_differently_long_for_each_other_are_told(
    control_database: ControlDatabase, seconds: tuple[int | None, int | None], said: str | None
) -> None:
    hand = control_database.hand()
    now = SystemClock().now().strftime("%Y-%m-%d %H:%M:%S")
    for name, each in zip("ab", seconds, strict=True):
        hand.sql(
            "INSERT INTO Controller (ControllerName, Host, Heartbeat, OrphanTimeoutSecs) VALUES (?, 'h', ?, ?)",
            name,
            now,
            each,
        )
    hand.close()
    finding = examined(control_database.directory, control_database.url).get(("database_url", "orphan_timeout"))

    assert (finding is None) is (said is None)
    if finding is not None:
        assert finding.result is Result.WARN
        assert str(said) in finding.message
        assert "the same orphan_timeout" in str(finding.next_step)


ZONES = [
    (("UTC", "UTC"), None, None),
    (("UTC", None), None, None),
    (("UTC", "Europe/Amsterdam"), "business_time_zone", "(a on h: UTC, b on h: Europe/Amsterdam)"),
    ((None, None), "scheduler", "No controller that works on it fires schedules"),
]


@pytest.mark.parametrize(("zones", "target", "said"), ZONES)
def test_controllers_that_fire_by_different_clocks_or_not_at_all_are_told(
    control_database: ControlDatabase, zones: tuple[str | None, str | None], target: str | None, said: str | None
) -> None:
    hand = control_database.hand()
    now = SystemClock().now().strftime("%Y-%m-%d %H:%M:%S")
    for name, zone in zip("ab", zones, strict=True):
        entered = "INSERT INTO Controller (ControllerName, Host, Heartbeat, OrphanTimeoutSecs, SchedulerZone)"
        hand.sql(f"{entered} VALUES (?, 'h', ?, 300, ?)", name, now, zone)
    hand.sql("INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('s', 'B', 'daily', '06:00')")
    warned = told_of_controllers(control_database)
    hand.sql("UPDATE Schedule SET Enabled = 0")
    disabled = told_of_controllers(control_database)
    hand.close()

    assert list(warned) == ([] if target is None else [target])
    assert target is None or str(said) in warned[target]
    assert list(disabled) == [one for one in warned if one == "business_time_zone"]


def told_of_controllers(database: ControlDatabase) -> dict[str, str]:
    found = examined(database.directory, database.url)
    about = {"business_time_zone", "scheduler", "orphan_timeout"}
    return {what: finding.message for (_, what), finding in found.items() if what in about}


def test_what_does_not_answer_is_given_up_and_the_rest_is_looked_at(
    sqlite_database: SqliteControl, silent_server: int
) -> None:
    text = (
        f'database_url = "{sqlite_database.url}"\n[connections.silent]\nurl = "postgresql://u@127.0.0.1:{silent_server}/d"\n'
        '[connections.refused]\nurl = "postgresql://u@127.0.0.1:1/d"\n[connections.gone]\nurl = "sqlite:///gone.db"\n'
    )
    settings = config.load(configured(sqlite_database.directory, text))
    doctor = Doctor(settings, SystemClock().now, app.App(settings).presence, limit=timedelta(seconds=1))
    found = by_name(doctor.examine())

    assert found["connections.silent", "login"].message == "It did not answer within 1 seconds."
    assert "Connection refused" in found["connections.refused", "login"].message
    assert "gone.db" in found["connections.gone", "login"].message
    assert found["database_url", "login"].result is Result.OK
    assert failing(found) == {(f"connections.{name}", "login") for name in ("silent", "refused", "gone")}


@pytest.mark.full
def test_plugin_modules_that_hang_are_named_and_the_database_is_not_blamed(sqlite_database: SqliteControl) -> None:
    settings = config.load(configured(sqlite_database.directory, f'database_url = "{sqlite_database.url}"\n'))
    mended = Event()

    def hanging() -> dict[str, str]:
        mended.wait()
        return {}

    def checking() -> tuple[RowFinding, ...]:
        mended.wait()
        return ()

    doctor = Doctor(
        settings,
        SystemClock().now,
        app.App(settings).presence,
        checking,
        hanging,
        ["acme_one", "acme_two"],
        limit=timedelta(seconds=3),
    )
    found = by_name(doctor.examine())
    mended.set()

    assert failing(found) == {("plugin_modules", "plugins")}
    assert "acme_one, acme_two" in found["plugin_modules", "plugins"].message
    assert found["database_url", "login"].result is Result.OK
    assert found["database_url", "definitions"].message == "Looking at them took longer than 3 seconds."


def test_connections_are_looked_at_each_in_its_own_way(
    sqlite_database: SqliteControl, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite3.connect(sqlite_database.directory / "wh.db").execute("CREATE TABLE t (a)").connection.close()
    (sqlite_database.directory / "text.db").write_text("this is no database, but a long enough text" * 50)
    more = (
        '[connections.wh]\nurl = "sqlite:///wh.db"\nprocedures = "nowhere"\n'
        '[connections.text]\nurl = "sqlite:///text.db"\n'
        f'[connections.pg]\nurl = "{postgres.url(postgres.new_database())}"\n'
        '[connections.oracle]\nurl = "oracle://u@h/d"\n'
        '[connections.short]\nurl = "postgres://u@h/d"\n'
        '[connections.strange]\nurl = "postgresql+nodriver://u@h/d"\n'
        '[connections.nonsense]\nurl = "postgresql://u@h:port/d"\n'
        '[connections.locked]\nurl = "postgresql://u:{secret:pw}@h/d"\n[secrets.pw]\nenv = "NO_SUCH"\n'
    )
    found = examined(sqlite_database.directory, sqlite_database.url, more)

    assert found["connections.wh", "rights"].result is Result.OK
    assert found["connections.wh", "procedures"].result is Result.WARN
    assert "file is not a database" in found["connections.text", "login"].message
    assert found["connections.pg", "login"].result is Result.OK
    assert found["connections.pg", "fsync"].result is Result.WARN
    assert "superuser" in found["connections.pg", "rights"].message
    assert "oracle" in found["connections.oracle", "driver"].message
    assert "steps use postgresql or postgresql+psycopg" in found["connections.strange", "driver"].message
    assert found["connections.nonsense", "driver"].message == "The url is not a database URL."
    assert "NO_SUCH is not set" in found["connections.locked", "secret"].message
    assert "set the environment variable NO_SUCH" in str(found["connections.locked", "secret"].next_step)
    assert ("secrets.pw", "secret") not in found, "it is told where it is wanted"
    assert "write postgresql://" in str(found["connections.short", "driver"].next_step)


@pytest.mark.parametrize(("url", "module"), [("mssql+mssqlpython", "mssql_python"), ("mssql+pyodbc", "pyodbc")])
def test_a_driver_that_is_missing_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    more = f'[connections.w]\nurl = "{url}://u@127.0.0.1:1/d"\n'
    found = examined(tmp_path, "sqlite:///none.db", more)
    (finding,) = (finding for (target, _), finding in found.items() if target == "connections.w")

    assert (finding.check, finding.result) == ("driver", Result.FAIL)
    assert "batchctl[sqlserver" in str(finding.next_step)


def test_a_connection_string_that_a_driver_cannot_read_is_told_with_the_keyword_and_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SqlServer("mssql_python", connecting=ConnectionStringParseError(["Unknown keyword 'tiemout'", "hunter2"]))
    server.install(monkeypatch)
    url = "mssql+mssqlpython://u:hunter2@127.0.0.1:1/d?tiemout=5"
    found = examined(tmp_path, url, f'[connections.w]\nurl = "{url}"\n')
    said = {target: finding.message for (target, check), finding in found.items() if finding.result is Result.FAIL}

    assert set(said) == {"database_url", "connections.w"}
    assert all("Unknown keyword 'tiemout'" in message and "***" in message for message in said.values())
    assert "hunter2" not in repr(found)


URLS = [
    "postgresql://u:hunter2@127.0.0.1:1/d",
    "postgresql://u:hunter2@127.0.0.1:port/d",
    "postgresql://u@127.0.0.1:1/d?password=hunter2",
    "postgresql://u@127.0.0.1:1/d?PASSWORD=hunter2",
    "mssql+pyodbc:///?odbc_connect=DRIVER={x};SERVER=127.0.0.1,1;PWD=hunter2",
    "mssql+pyodbc:///?odbc_connect=DRIVER%3D%7Bx%7D%3BPassword%3D%7Bhunter2%7D",
    "oracle://u:hunter2@h/d",
    "mssql+pyodbc:///?odbc_connect=DRIVER%253D%257Bx%257D%253BPassword%253D%257Bhunter2%257D",
    "hunter2",
]


@pytest.mark.parametrize("url", URLS)
def test_no_reading_holds_a_password(tmp_path: Path, url: str) -> None:
    lines = app.examine(configured(tmp_path, f'database_url = "{url}"\n[connections.w]\nurl = "{url}"\n'))

    assert "hunter2" not in repr(lines)
    assert {"database_url", "connections.w"} == {line.target for line in lines if line.result is Result.FAIL}


@pytest.mark.parametrize(
    "url", ["postgresql://u:hunter2@127.0.0.1:1/d", "postgresql://u@127.0.0.1:1/d?password=hunter2&sslpassword=hunter2"]
)
def test_an_engine_keeps_its_password_to_itself(tmp_path: Path, url: str) -> None:
    opened = engine.open_engine(url, tmp_path)
    with pytest.raises(OperationalError) as refused:
        opened.connect()

    assert "hunter2" not in f"{opened!r} {opened.url} {opened.url.password} {refused.value} {refused.value!r}"


def test_what_a_driver_says_is_redacted_with_all_that_it_carries(tmp_path: Path) -> None:
    class Chatty(Exception):
        def __init__(self, said: str) -> None:
            super().__init__("IM002", said)
            self.driver_error = said

    def connect() -> None:
        try:
            raise ValueError("PWD=hunter2")
        except ValueError as error:
            raise Chatty("SERVER=s;PWD={hunter2};") from error

    opened = engine.open_engine("postgresql://u:hunter2@h/d", tmp_path)
    opened.dialect.connect = lambda *_, **__: connect()  # type: ignore[method-assign,assignment]  # a driver that repeats what it was given
    with pytest.raises(Chatty) as refused:
        opened.connect()

    assert refused.value.args == ("IM002", "SERVER=s;PWD={***};")
    assert refused.value.driver_error == "SERVER=s;PWD={***};"
    assert str(refused.value.__cause__) == "PWD=***"


def worst(findings: Iterator[HealthFinding]) -> dict[str, Result]:
    return {finding.check: finding.result for finding in findings if finding.result is not Result.OK}


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (mssql_health.MssqlDurability(), {}),
        (mssql_health.MssqlDurability(delayed_durability="ALLOWED"), {}),
        (mssql_health.MssqlDurability(delayed_durability="FORCED"), {"delayed durability": Result.FAIL}),
        (mssql_health.MssqlDurability(updateability="READ_ONLY"), {"updateability": Result.FAIL}),
        (mssql_health.MssqlDurability(is_snapshot=False), {"read committed snapshot": Result.WARN}),
        (mssql_health.MssqlDurability(compatibility_level=130), {}),
        (mssql_health.MssqlDurability(compatibility_level=120), {"compatibility level": Result.WARN}),
    ],
)
def test_sql_server_is_judged_by_how_it_is_set(facts: mssql_health.MssqlDurability, said: dict[str, Result]) -> None:
    assert worst(mssql_health.judge(facts)) == said


def test_a_name_of_sql_server_is_quoted_in_the_mending_command() -> None:
    steps = [
        finding.next_step
        for finding in mssql_health.judge(mssql_health.MssqlDurability(name="a]b", delayed_durability="FORCED"))
    ]

    assert steps[0] == "ALTER DATABASE [a]]b] SET DELAYED_DURABILITY = DISABLED;"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (postgresql_health.PostgresqlDurability(), {}),
        (postgresql_health.PostgresqlDurability(fsync="off"), {"fsync": Result.FAIL}),
        (postgresql_health.PostgresqlDurability(full_page_writes="off"), {"full_page_writes": Result.FAIL}),
        (postgresql_health.PostgresqlDurability(synchronous_commit="off"), {"synchronous_commit": Result.FAIL}),
        (
            postgresql_health.PostgresqlDurability(synchronous_commit_of_others="off"),
            {"synchronous_commit": Result.WARN},
        ),
        (postgresql_health.PostgresqlDurability(is_standby=True), {"standby": Result.FAIL}),
        (postgresql_health.PostgresqlDurability(is_pooled=True), {"pooler": Result.FAIL}),
    ],
)
def test_postgresql_is_judged_by_how_it_is_set(
    facts: postgresql_health.PostgresqlDurability, said: dict[str, Result]
) -> None:
    assert worst(postgresql_health.judge(facts)) == said


@pytest.mark.parametrize(
    ("waits", "mode", "said"),
    [
        (True, "wal", {}),
        (True, "truncate", {}),
        (False, "wal", {"synchronous": Result.FAIL}),
        (True, "off", {"journal mode": Result.FAIL}),
        (True, "memory", {"journal mode": Result.FAIL}),
    ],
)
def test_sqlite_is_judged_by_how_it_is_set(waits: bool, mode: str, said: dict[str, Result]) -> None:
    assert worst(sqlite_health.judge(sqlite_health.SqliteDurability("/d/x.db", 1, waits, mode, (3, 40, 1)))) == said


@pytest.mark.parametrize(
    ("version", "is_told"),
    [
        ((3, 40, 1), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
    ],
)
def test_what_an_old_sqlite_may_do_to_a_log_is_told(version: tuple[int, int, int], is_told: bool) -> None:
    (said,) = (
        each
        for each in sqlite_health.judge(sqlite_health.SqliteDurability("/d/x.db", 1, True, "wal", version))
        if each.check == "journal mode"
    )

    assert said.result is Result.OK
    assert ("should have a newer SQLite" in said.message) is is_told


def test_an_upgrade_leaves_the_journal_mode_as_its_owner_has_set_it(sqlite_database: SqliteControl) -> None:
    with sqlite3.connect(sqlite_database.directory / "batchctl.db") as hand:
        hand.execute("PRAGMA journal_mode = TRUNCATE")
    upgrade_database(configured(sqlite_database.directory, f'database_url = "{sqlite_database.url}"'))

    assert hand.execute("PRAGMA journal_mode").fetchone() == ("truncate",)
    hand.close()


def test_a_state_directory_that_no_controller_could_write_to_is_told(sqlite_database: SqliteControl) -> None:
    (sqlite_database.directory / "file").touch()
    key = "this host", "state directory"
    found = {
        where: examined(sqlite_database.directory, sqlite_database.url, f'state_directory = "{where}"')[key]
        for where in ("file/state", "to/be/made")
    }

    assert found["to/be/made"].result is Result.OK
    assert found["file/state"].result is Result.FAIL
    assert f"because of {sqlite_database.directory / 'file'}" in found["file/state"].message
    assert "state_directory" in str(found["file/state"].next_step)


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/x /mnt/with\\040blank nfs4 rw 0 0
tmpfs /mnt/with\\040blank/inner tmpfs rw 0 0
server:/y /mnt/with\\040blank/inner cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/a.db", "ext4"),
        ("/mnt/with blank/a.db", "nfs4"),
        ("/mnt/with blanket/a.db", "ext4"),
        ("/mnt/with blank/inner/a.db", "cifs"),
    ],
)
def test_the_file_system_of_a_file_is_the_innermost_and_last(path: str, kind: str) -> None:
    assert file_system_of(path, MOUNTS) == kind
