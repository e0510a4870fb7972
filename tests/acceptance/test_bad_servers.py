"""What goes wrong on a server, seen from outside: said plainly, with what to type, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import GOOD, Night
from tests.control_databases import PostgresControl, with_tables
from tests.strict_postgres import StrictServer

PASSWORD = "s3cret-c4nary"
COMMANDS = [("status",), ("check",), ("submit", "E"), ("create",), ("process",), ("run", "--once"), ("db", "verify")]


@pytest.fixture(scope="module")
def server() -> Iterator[StrictServer]:
    """A server that asks for passwords."""
    made = StrictServer()
    try:
        made.start()
        made.new_role("etl", PASSWORD)
        yield made
    finally:
        made.remove()


@pytest.fixture
def night(server: StrictServer, run_batchctl: RunBatchctl, tmp_path: Path) -> Night:
    """A control database with one waiting row, which the role `etl` may use."""
    database = PostgresControl(server, tmp_path, server.new_database())
    with_tables(database)
    server.alter(
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO etl; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO etl",
        database.name,
    )
    database.url = url_of(server, database.name)
    made = Night(database, run_batchctl)
    made.batch("Loads", GOOD)
    made.arrive("Loads")
    return made


def url_of(server: StrictServer, database: str, *, password: str = PASSWORD, port: int | None = None) -> str:
    """Return the URL a role logs in with."""
    return f"postgresql://etl:{password}@127.0.0.1:{port or server.port}/{database}?connect_timeout=3"


def name_of(night: Night) -> str:
    """Return the name of the database."""
    assert isinstance(night.database, PostgresControl)
    return night.database.name


Spoil = Callable[[StrictServer, str], str]


def set_version(number: str) -> Spoil:
    """Let a database say that it is of another schema version."""

    def spoil(server: StrictServer, database: str) -> str:
        server.alter(f"UPDATE alembic_version SET version_num = '{number}'", database)
        return url_of(server, database)

    return spoil


def without_a_right(server: StrictServer, database: str) -> str:
    server.alter("REVOKE ALL ON FileProcess FROM etl", database)
    return url_of(server, database)


SPOILT: dict[str, tuple[Spoil, str, str]] = {
    "another password": (
        lambda server, database: url_of(server, database, password="wrong"),
        "refused the login",
        "password",
    ),
    "a host that does not answer": (
        lambda server, database: url_of(server, database, port=1),
        "cannot be reached",
        "listens",
    ),
    "no such database": (lambda server, database: url_of(server, "nowhere"), "does not exist", "CREATE DATABASE"),
    "an empty database": (
        lambda server, database: url_of(server, server.new_database()),
        "holds no batchctl tables",
        "batchctl db upgrade",
    ),
    "an older schema": (set_version("0001"), "knows none older than 0045", "batchctl export writes there"),
    "a newer schema": (set_version("9999"), "has schema 9999, which this version", "install the version of batchctl"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_every_command_says_what_is_wrong_with_the_database_and_changes_nothing(
    night: Night, server: StrictServer, how: str
) -> None:
    spoil, said, following = SPOILT[how]
    url = spoil(server, name_of(night))
    before = night.dump()

    for command in COMMANDS:
        done = night(*command, env={"BATCHCTL_DATABASE_URL": url})
        assert done.returncode == 4, (command, done.stderr)
        assert said in done.stderr, command
        assert following in done.stderr.partition("Next: ")[2], command
        assert PASSWORD not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert night.dump() == before


def test_a_role_without_rights_on_one_table_is_told_which_and_how_to_get_them(
    night: Night, server: StrictServer
) -> None:
    without_a_right(server, name_of(night))

    for command in (("submit", "E"), ("create",), ("run", "--once")):
        done = night(*command)
        assert done.returncode == 4, done.stderr
        assert "fileprocess" in done.stderr.lower()
        assert "Next: " in done.stderr
    examined = night("doctor", env={"COLUMNS": "300"})
    assert examined.returncode == 6
    grant = next(line for line in examined.stdout.splitlines() if "GRANT" in line and "FileProcess" in line)
    server.alter(grant[grant.index("GRANT") :].rstrip(";"), name_of(night))

    assert night("doctor").returncode == 0
    assert night("run", "--once").returncode == 0


PROCEDURES = """
CREATE PROCEDURE load(file_name text, rows int) LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE odd() LANGUAGE plpgsql AS $$ BEGIN
    SET search_path = pg_catalog; SET DateStyle = 'German'; SET statement_timeout = '1ms'; SET client_encoding = 'LATIN1';
    SET ROLE pg_monitor; SET default_transaction_read_only = on;
END $$;
CREATE FUNCTION million() RETURNS SETOF int LANGUAGE sql AS 'SELECT generate_series(1, 1000000)';
"""


def procedure(night: Night, server: StrictServer, name: str, parameters: str | None = None) -> None:
    """Let the batch's first step call a procedure, and the second one be what it was."""
    with server.connect(name_of(night)) as owner:
        owner.execute(PROCEDURES.encode())
    night.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2, Data3)"
        " VALUES (1, 5, 'call', 'stored_procedure', 'warehouse', ?, ?)",
        name,
        parameters,
    )
    night.sql("UPDATE ProcessBatch SET RetryCount = 3")
    (night.folder / "batchctl.toml").write_text(
        f'[connections.warehouse]\nurl = "{night.database.url}"\n', encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("lod", None, "there is no procedure or function lod in the search_path"),
        ("load", "@file_nam='x', @rows=1", "file_name is missing; it has no parameter file_nam"),
        ("load", "@file_name='x', @rows='many'", 'invalid input syntax for type integer: "many"'),
    ],
)
def test_a_call_that_does_not_fit_fails_at_once_or_is_tried_again_and_says_why(
    night: Night, server: StrictServer, name: str, parameters: str | None, said: str
) -> None:
    procedure(night, server, name, parameters)

    done = night("run", "--once")

    assert done.returncode == 1
    (attempt,) = night.json("history", "1")
    assert said in attempt["Message"]
    assert night.status_of(1) == ("failed" if "no " in said else "retry")
    assert PASSWORD not in done.stderr + str(attempt)


def test_a_procedure_that_changes_its_session_changes_nobody_elses(night: Night, server: StrictServer) -> None:
    procedure(night, server, "odd")
    server.alter("GRANT pg_monitor TO etl")

    assert night("run", "--once").returncode == 0
    assert night.status_of(1) == "complete"


def test_of_a_result_of_a_million_rows_a_few_are_kept(night: Night, server: StrictServer) -> None:
    procedure(night, server, "million")

    assert night("run", "--once").returncode == 0
    first, _ = night.json("history", "1")
    assert first["Status"] == "success"
    assert "1000000 rows" in first["Output"].replace(",", "")
    assert len(first["Output"]) < 4000
