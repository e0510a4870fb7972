"""`check --connections`: what only the target databases know."""

from __future__ import annotations

import pytest

from batchctl import app, config
from batchctl.cli import main
from batchctl.domain.outcomes import RowFinding
from batchctl.operations.definitions import connection_checks
from batchctl.store.dialects.health import mssql_health
from tests.control_databases import SqliteControl
from tests.postgres import PostgresServer

MADE = """
CREATE SCHEMA staging;
CREATE PROCEDURE load(a int) LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION staging."Sum Up"() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
"""


def registered(
    database: SqliteControl, *names: str, connection: str = "wh", process_type: str = "stored_procedure"
) -> None:
    hand = database.hand()
    hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
    for seq, name in enumerate(names, start=1):
        hand.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)"
            " VALUES (1, ?, 's', ?, ?, ?)",
            seq,
            process_type,
            connection,
            name,
        )
    hand.close()


def found(database: SqliteControl, text: str) -> list[RowFinding]:
    path = database.directory / "batchctl.toml"
    path.write_text(f'database_url = "{database.url}"\n{text}', encoding="utf-8")
    return list(connection_checks.findings(app.App(config.load(str(path))).transactions, config.load(str(path))))


def test_procedures_that_do_not_exist_are_found_by_the_name_as_a_call_reads_it(
    sqlite_database: SqliteControl, postgres: PostgresServer
) -> None:
    name = postgres.new_database()
    with postgres.connect(name) as owner:
        owner.execute(MADE)
    registered(sqlite_database, "LOAD", '"LOAD"', "public.load", "staging.load", 'staging."Sum Up"', "gone", "gone")
    findings = found(sqlite_database, f'[connections.wh]\nurl = "{postgres.url(name)}"\n')

    said = "Connection 'wh' has no procedure '{}' that its user can call so."
    assert [(one.row, one.column, one.message) for one in findings] == [
        ("B, step 2 's'", "Data2", said.format('"LOAD"')),
        ("B, step 4 's'", "Data2", said.format("staging.load")),
        ("B, step 6 's'", "Data2", said.format("gone")),
        ("B, step 7 's'", "Data2", said.format("gone")),
    ]
    assert {one.remedy for one in findings} == {"make the procedure, or correct the row"}


def test_a_database_that_does_not_answer_is_one_finding_and_shows_no_password(sqlite_database: SqliteControl) -> None:
    registered(sqlite_database, "load", "other")
    (finding,) = found(sqlite_database, '[connections.wh]\nurl = "postgresql://u:hunter2@127.0.0.1:1/d"\n')

    assert (finding.table, finding.row) == ("(configuration)", "connections.wh")
    assert finding.message.startswith("It cannot be connected to: ")
    assert "hunter2" not in finding.message


def test_a_file_that_is_missing_is_found_for_plain_sql_too(sqlite_database: SqliteControl) -> None:
    registered(sqlite_database, "SELECT 1", process_type="sql")
    (finding,) = found(sqlite_database, '[connections.wh]\nurl = "sqlite:///none.db"\n')

    assert finding.row == "connections.wh"


def test_a_connection_that_is_not_configured_or_not_used_is_not_asked(sqlite_database: SqliteControl) -> None:
    registered(sqlite_database, "load", connection="other")

    assert found(sqlite_database, '[connections.wh]\nurl = "postgresql://u@127.0.0.1:1/d"\n') == []


@pytest.mark.parametrize(("number", "exists"), [(7, True), (None, False)])
def test_sql_server_is_asked_for_the_object(number: int | None, exists: bool) -> None:
    class Answer:
        def execute(self, statement: object, values: dict[str, str]) -> Answer:
            assert (str(statement), values) == ("SELECT OBJECT_ID(:name)", {"name": "dbo.load"})
            return self

        def scalar_one(self) -> int | None:
            return number

    assert mssql_health.has_procedure(Answer(), "dbo.load") is exists  # type: ignore[arg-type] # a stand-in for the connection


def test_the_command_asks_only_when_it_is_told_to(
    sqlite_database: SqliteControl, capsys: pytest.CaptureFixture[str]
) -> None:
    registered(sqlite_database, "load")
    found(sqlite_database, '[connections.wh]\nurl = "postgresql://u@127.0.0.1:1/d"\n')
    settings = str(sqlite_database.directory / "batchctl.toml")
    first = main.run(["--config", settings, "check"])
    without = capsys.readouterr().out
    second = main.run(["--config", settings, "check", "--connections"])

    assert (first, second) == (0, 6)
    assert "connections.wh" not in without
    assert "It cannot be connected to" in " ".join(capsys.readouterr().out.split())


def test_procedures_that_fill_instances_are_asked_for_in_any_letter_case(
    sqlite_database: SqliteControl, postgres: PostgresServer
) -> None:
    name = postgres.new_database()
    with postgres.connect(name) as owner:
        owner.execute("CREATE FUNCTION s_PopulateBatchControl_Folded() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        owner.execute("CREATE FUNCTION \"s_PopulateBatchControl_As is\"() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    hand = sqlite_database.hand()
    for batch in ("Folded", "As is", "Gone"):
        hand.sql(
            "INSERT INTO ProcessBatch (ProcessBatchName, Populator, PopulatorArgs) VALUES (?, 'procedure', 'wh')", batch
        )
    hand.close()
    (finding,) = found(sqlite_database, f'[connections.wh]\nurl = "{postgres.url(name)}"\n')

    assert (finding.row, finding.column) == ("Gone", "Populator")
    assert finding.message.startswith("There is no procedure s_PopulateBatchControl_Gone")
