"""A server that asks for passwords and keeps what it is given: secrets reach it, and reach nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from batchctl.cli import main
from batchctl.store.tables import metadata
from tests.strict_postgres import StrictServer

PASSWORD = "p@ss;w\"o'r%d/:é}{x"
ROWS = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B');
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
SELECT ProcessBatch_id, 10, 'one', 'sql', 'warehouse', 'SELECT current_user' FROM ProcessBatch WHERE ProcessBatchName = 'B';
INSERT INTO FileProcess (Entity) VALUES ('B')
"""
TABLES = tuple(sorted(metadata.tables))


@pytest.fixture(scope="module")
def server() -> Iterator[StrictServer]:
    """A server of this module's own."""
    made = StrictServer()
    try:
        made.start()
        yield made
    finally:
        made.remove()


class Home:
    """A database with its tables, and a role that logs in with a secret."""

    def __init__(self, server: StrictServer, folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.server = server
        self.folder = folder
        self.name = server.new_role(name, PASSWORD)
        self.capsys = capsys
        url = f"postgresql+psycopg://{name}:{{secret:pw}}@127.0.0.1:{server.port}/{name}"
        text = f'database_url = "{url}"\n[connections.warehouse]\nurl = "{url}"\n[secrets.pw]\nfile = "pw.txt"\n'
        (folder / "batchctl.toml").write_text(text, encoding="utf-8")
        self.password(PASSWORD)
        assert self("db", "upgrade")[0] == 0

    def password(self, value: str) -> None:
        """Write the password where the configuration says it lies."""
        (self.folder / "pw.txt").write_text(f"{value}\n", encoding="utf-8")

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Run a command; return its exit code, and what it printed."""
        code = main.run(["--config", str(self.folder / "batchctl.toml"), *words])
        said = self.capsys.readouterr()
        assert PASSWORD not in said.out + said.err
        assert "Traceback" not in said.err or "--debug" in words
        return code, said.out, said.err

    def doctor(self) -> tuple[int, dict[tuple[str, str], dict[str, Any]]]:
        code, out, _ = self("doctor", "--json")
        return code, {(line["Target"], line["Check"]): line for line in json.loads(out)}

    def rows(self, table: str) -> list[tuple[object, ...]]:
        with self.server.connect(self.name) as connection:
            return connection.execute(f"SELECT * FROM {table}".encode()).fetchall()


@pytest.fixture
def home(
    server: StrictServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Home:
    """A database and a role of the test's own."""
    return Home(server, tmp_path, f"r{abs(hash(request.node.name)) % 10**8}", capsys)


def test_a_server_as_it_should_be_passes_with_the_secret_and_shows_it_nowhere(home: Home) -> None:
    home.server.alter(ROWS, home.name)
    code, found = home.doctor()

    assert {key: line["Message"] for key, line in found.items() if line["Result"] != "OK"} == {}
    assert code == 0
    assert home("check")[1:] == ("Everything is in order.\n", "")
    assert home("run", "--once")[0] == 0
    assert home("history", "1", "--json")[0] == 0
    written = repr([home.rows(table) for table in TABLES])
    assert "success" in written
    assert PASSWORD not in written


def test_a_wrong_password_is_refused_in_plain_words(home: Home) -> None:
    home.password("wrong" * 3)
    code, found = home.doctor()
    refused, out, err = home("status")

    assert code == 6
    for target in ("database_url", "connections.warehouse"):
        assert found[target, "login"]["Result"] == "FAIL"
        assert "password authentication failed" in found[target, "login"]["Message"]
    assert found["database_url", "login"]["Next"].startswith(f"check the password of role {home.name}")
    assert (refused, out) == (4, "")
    assert "refused the login" in err
    assert found["database_url", "login"]["Next"] in err
    assert "wrongwrong" not in err
    assert "wrongwrong" not in home("--debug", "status")[2]
    home.password(PASSWORD)
    assert home("status")[0] == 0


def test_a_connection_without_the_password_that_its_server_wants_is_told_to_have_one(home: Home) -> None:
    settings = home.folder / "batchctl.toml"
    control, warehouse = settings.read_text(encoding="utf-8").split("[connections")
    settings.write_text(f"{control}[connections{warehouse.replace(':{secret:pw}', '')}", encoding="utf-8")
    home.server.alter(ROWS, home.name)
    code, found = home.doctor()
    checked, out, _ = home("check", "--connections", "--json")

    line = found["connections.warehouse", "login"]
    assert (code, line["Result"], checked) == (6, "FAIL", 6)
    assert "no password supplied" in line["Message"]
    next_step = "write {secret:NAME} for the password in connections.warehouse, or set PGPASSWORD"
    assert line["Next"] == next_step
    assert next_step in {one["Next"] for one in json.loads(out)}


def test_a_secret_that_is_not_there_is_named(home: Home) -> None:
    (home.folder / "pw.txt").unlink()
    code, found = home.doctor()
    refused, _, err = home("status")

    assert (code, refused) == (6, 2)
    assert found["database_url", "secret"]["Result"] == "FAIL"
    assert ("secrets.pw", "secret") not in found, "one thing is missing, so one thing is said"
    next_step = "put the secret into the file pw.txt, for the user who runs batchctl"
    assert found["database_url", "secret"]["Next"] == next_step
    assert (
        err == f"Error: Secret 'pw' cannot be resolved: file pw.txt cannot be read.\nNext: {next_step}\nCode: BC1017\n"
    )


def mended(line: dict[str, Any]) -> str:
    """The SQL of a mending command."""
    return str(line["Next"]).partition(": ")[2]


def test_a_table_without_rights_is_named_and_granting_them_loses_nothing(home: Home) -> None:
    home.server.alter(ROWS, home.name)
    home.server.alter(
        f"REVOKE INSERT, UPDATE ON BatchProcessHistory FROM {home.name};"
        f"REVOKE ALL ON SEQUENCE batchcontrol_batchcontrol_id_seq FROM {home.name}",
        home.name,
    )
    code, out, _ = home("doctor", "--json")
    lacking = [line for line in json.loads(out) if line["Result"] == "FAIL"]
    refused, _, err = home("run", "--once")

    assert code == 6
    assert [line["Check"] for line in lacking] == ["rights", "rights"]
    assert "INSERT, UPDATE on BatchProcessHistory" in lacking[0]["Message"]
    assert "batchcontrol_batchcontrol_id_seq" in lacking[1]["Message"]
    assert refused == 4
    assert "does not give this role the rights" in err
    assert "ready" in repr(home.rows("FileProcess"))
    for line in lacking:
        home.server.alter(mended(line), home.name)
    assert home.doctor()[0] == 0
    assert home("run", "--once")[0] == 0
    assert "complete" in repr(home.rows("FileProcess"))


def test_rows_of_names_that_are_gone_are_named_and_what_is_shown_makes_them_anew(home: Home) -> None:
    home.server.alter("DELETE FROM NamedLock WHERE NamedLock_id < 10", home.name)
    (line,) = [line for line in json.loads(home("doctor", "--json")[1]) if line["Check"] == "locks"]
    home.server.alter(mended(line), home.name)

    assert line["Message"].startswith("9 of the 64 rows of NamedLock are gone")
    assert "NamedLock" not in home("doctor", "--json")[1]


@pytest.fixture
def daily(home: Home) -> Iterator[Home]:
    """The same database, seen by a role that owns nothing and has no right yet."""
    role = f"daily_{home.name}"
    home.server.alter("REVOKE ALL ON SCHEMA public FROM public", home.name)
    home.server.alter(f"CREATE ROLE {role} LOGIN PASSWORD 'of every day'")
    home.password("of every day")
    path = home.folder / "batchctl.toml"
    path.write_text(path.read_text().replace(f"//{home.name}:", f"//{role}:"), encoding="utf-8")
    yield home
    home.server.alter(f"DROP OWNED BY {role}; DROP ROLE {role}", home.name)


def test_the_rights_that_are_printed_are_all_that_a_role_of_every_day_needs(daily: Home) -> None:
    daily.server.alter(ROWS, daily.name)
    given = list[str]()
    while (found := daily.doctor())[0] != 0 and len(given) < 20:
        out = daily("doctor", "--json")[1]
        lacking = [line for line in json.loads(out) if line["Target"] == "database_url" and line["Check"] == "rights"]
        assert lacking
        for line in lacking:
            daily.server.alter(mended(line), daily.name)
            given.append(mended(line))

    assert found[1]["database_url", "schema"]["Result"] == "OK"
    assert "GRANT USAGE ON SCHEMA public" in given[0]
    assert any("alembic_version" in grant for grant in given)
    assert any("Setting" in grant for grant in given)
    assert any("DELETE ON Controller" in grant for grant in given), "who ended long ago is forgotten"
    assert any("SEQUENCE" in grant for grant in given)
    assert daily("run", "--once")[0] == 0
    assert "complete" in repr(daily.rows("FileProcess"))


def test_who_may_not_delete_is_told_what_grants_it_and_all_but_the_purging_works(daily: Home) -> None:
    daily.server.alter(ROWS, daily.name)
    daily.server.alter(
        "INSERT INTO SchedulerLog (EventType, Source, EventTime) VALUES ('skipped', 's', '2020-01-01')", daily.name
    )
    while lacking := [
        line for line in daily.doctor()[1].values() if line["Check"] == "rights" and line["Result"] == "FAIL"
    ]:
        for line in lacking:
            daily.server.alter(mended(line), daily.name)
    warned = daily.doctor()[1]["database_url", "retention"]
    code, _, told = daily("run", "--once")

    assert warned["Result"] == "WARN"
    assert (
        "BatchProcessHistory, FileProcess, Incident, OperatorRequest, SchedulerLog: nothing is purged there."
        in warned["Message"]
    )
    assert code == 0
    assert "complete" in repr(daily.rows("FileProcess"))
    assert told.count("retention.trouble") == 1
    assert "permission denied for table schedulerlog" in told
    daily.server.alter(mended(warned), daily.name)
    assert ("database_url", "retention") not in daily.doctor()[1]
    assert daily("purge", "--reason", "r")[1].startswith("Rows purged: 1 of SchedulerLog.")


@pytest.mark.parametrize(("path", "where"), [("pg_catalog", "schema pg_catalog"), ("nowhere", "no schema")])
def test_a_search_path_that_leads_elsewhere_is_named_and_what_is_shown_mends_it(
    home: Home, path: str, where: str
) -> None:
    home.server.alter(f"ALTER ROLE {home.name} SET search_path = {path}")
    mend = f"ALTER ROLE {home.name} SET search_path = public;"

    code, _, told = home("status")
    assert code == 4
    assert "The batchctl tables of this database stand in schema public, where this login does not look" in told
    assert f"Next: {mend}; or, for tables of its own: batchctl db upgrade" in told
    _, found = home.doctor()
    rights = found["database_url", "rights"]
    said = f"Role {home.name} works in {where} (search_path: {path}), and the tables stand in public."
    assert (rights["Result"], rights["Message"], rights["Next"]) == ("FAIL", said, mend)
    assert not [line for (target, _), line in found.items() if target == "database_url" and "GRANT" in json.dumps(line)]
    code, _, told = home("db", "upgrade")
    assert (code, "GRANT" in told) == (4, False), told

    home.server.alter(mend)
    assert home("status")[0] == 0


def test_who_may_not_make_tables_is_told_the_grant_by_upgrade_and_by_doctor(daily: Home) -> None:
    tables = ", ".join((*TABLES, "alembic_version"))
    with daily.server.connect(daily.name) as connection:
        named = "SELECT string_agg(proname, ', ') FROM pg_proc WHERE starts_with(proname, 'batchctl_')"
        ((functions,),) = connection.execute(named).fetchall()
    daily.server.alter(f"DROP TABLE {tables} CASCADE; DROP FUNCTION {functions} CASCADE", daily.name)
    refused, _, err = daily("db", "upgrade")
    line = daily.doctor()[1]["database_url", "rights"]

    assert refused == 4
    assert f"GRANT USAGE, CREATE ON SCHEMA public TO daily_{daily.name};" in err
    assert mended(line) == f"GRANT USAGE, CREATE ON SCHEMA public TO daily_{daily.name};"
    daily.server.alter(mended(line), daily.name)
    assert daily("db", "upgrade")[0] == 0


def test_settings_that_lose_commits_fail_until_the_command_shown_is_pasted(home: Home) -> None:
    def settle(statements: str, value: str) -> None:
        home.server.alter(statements)
        assert home.server.is_set("fsync", value)
        assert home.server.is_set("full_page_writes", value)

    settle("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf()", "off")
    try:
        code, found = home.doctor()
        failing = [found["database_url", check] for check in ("fsync", "full_page_writes")]
        of_target = found["connections.warehouse", "fsync"]
    finally:
        settle("; ".join(map(mended, failing)), "on")

    assert code == 6
    assert [line["Result"] for line in failing] == ["FAIL", "FAIL"]
    assert of_target["Result"] == "WARN"
    assert home.doctor()[0] == 0


def test_other_programs_that_do_not_wait_for_the_disk_are_a_warning(home: Home) -> None:
    home.server.alter(f"ALTER ROLE {home.name} SET synchronous_commit = off")
    code, found = home.doctor()

    assert (code, found["database_url", "synchronous_commit"]["Result"]) == (0, "WARN")
    assert "off for other programs" in found["database_url", "synchronous_commit"]["Message"]


def test_a_role_that_can_do_nothing_is_a_warning_for_a_connection(home: Home) -> None:
    home.server.alter(
        f"REVOKE ALL ON SCHEMA public FROM public; REVOKE ALL ON SCHEMA public FROM {home.name}", home.name
    )
    home.server.alter(f"ALTER ROLE {home.name} SET search_path = nowhere")
    _, found = home.doctor()

    assert "may use no schema" in found["connections.warehouse", "rights"]["Message"]
    assert found["database_url", "schema"]["Result"] == "FAIL"


def test_a_standby_is_refused_as_control_database_and_a_warning_as_target(home: Home) -> None:
    signal = home.server.data / "standby.signal"
    home.server.stop()
    signal.touch()
    home.server.start()
    try:
        code, found = home.doctor()
    finally:
        home.server.stop()
        signal.unlink()
        home.server.start()

    assert code == 6
    assert "is a standby" in found["database_url", "login"]["Message"]
    assert found["connections.warehouse", "standby"]["Result"] == "WARN"


def test_a_server_that_is_away_is_said_to_be_away(home: Home) -> None:
    home.server.stop()
    try:
        code, found = home.doctor()
        refused, _, err = home("run", "--once")
    finally:
        home.server.start()

    assert (code, refused) == (6, 4)
    assert "Connection refused" in found["database_url", "login"]["Message"]
    assert "cannot be reached" in err
    assert home("status")[0] == 0


@pytest.mark.parametrize("command", ["status", "check"])
def test_a_password_in_the_file_works_and_is_warned_about(home: Home, command: str) -> None:
    path = home.folder / "batchctl.toml"
    path.write_text(path.read_text().replace("{secret:pw}", quote(PASSWORD, safe="")), encoding="utf-8")
    code, _, err = home(command)
    found = home.doctor()[1]

    assert code == 0
    assert ("Warning: database_url holds its password" in err) == (command == "check")
    assert quote(PASSWORD, safe="") not in err
    assert found["database_url", "password"]["Result"] == "WARN"
