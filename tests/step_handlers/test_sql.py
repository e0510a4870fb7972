from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.status import OnLost
from batchctl.plugin_api import Connection, Finding, StepOutcome, StepRefused, Verifiable
from batchctl.testing import a_request, a_step
from step_handlers.sql import Sql
from tests.step_handlers.databases import a_database, context_at, dump
from tests.step_handlers.execution import Alone, as_execution

HANDLER = Sql()
AROUND = context_at(
    Path("/shop"), {"merge.sql": "INSERT INTO Item (Name) VALUES ({Data1});", "nul.sql": "SELECT '\x00'"}
)


NO_FILE = (
    "Data1: connection 'warehouse': there is no database file /shop/warehouse.db; create it with sqlite3, "
    "or correct the url of [connections.warehouse]"
)


def messages(**columns: Any) -> list[str]:
    return [f"{finding.column}: {finding.message}" for finding in HANDLER.check(a_step("sql", **columns), AROUND)]


def run(directory: Path, sql: str, alone: Alone | None = None, **instance: str | None) -> StepOutcome:
    context = context_at(directory)
    rendered = HANDLER.render(a_request(a_step("sql", Data1="warehouse", Data2=sql), context, **instance))
    return HANDLER.execute(rendered, as_execution(replace(alone or Alone(), connections=context.connections)))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return a_database(tmp_path)


def test_what_each_statement_returns_is_shown_at_once(database: Path) -> None:
    alone = Alone()
    outcome = run(database.parent, "SELECT count(*) AS Items FROM Item; INSERT INTO Item SELECT * FROM Item", alone)

    assert not outcome.succeeded
    assert alone.lines == (outcome.output or "").splitlines()
    assert alone.lines[0] == "Items"


def test_placeholders_become_bound_values() -> None:
    step = a_step(
        "sql", Data1="warehouse", Data2="DELETE FROM Item WHERE Name={Data1};\nSELECT {Data2}, {Data1}, {secret:token};"
    )

    rendered = HANDLER.render(a_request(step, AROUND, Data1="x' OR 1=1 --", Data2=None))

    assert rendered.spec == {
        "connection": "warehouse",
        "directory": "/shop",
        "before": [],
        "statements": [
            {"sql": "DELETE FROM Item WHERE Name=:Data1", "parameters": {"Data1": "x' OR 1=1 --"}, "line": 1},
            {
                "sql": "SELECT :Data2, :Data1, :secret3",
                "parameters": {"Data2": None, "Data1": "x' OR 1=1 --", "secret3": {"secret": "token"}},
                "line": 2,
            },
        ],
    }


def test_the_command_text_is_a_script_for_the_sqlite_shell() -> None:
    step = a_step(
        "sql", Data1="warehouse", Data2="PRAGMA foreign_keys=ON; -- first\nUPDATE Item SET Name={Data1}\n; SELECT 1"
    )

    text = HANDLER.render(a_request(step, AROUND, Data1="it's\n\u202e!")).command_text

    assert text == (
        "-- BatchControl 42 of batch MyFileType1\n"
        '-- for sqlite3 "file:/shop/warehouse.db?mode=rw"; after an error type ROLLBACK;\n'
        "PRAGMA busy_timeout = 10000 -- milliseconds to wait for somebody else's lock\n"
        "; SELECT json_extract('{}', 'this is another database; nothing was done') "
        "FROM pragma_database_list WHERE name = 'main' AND file NOT IN ('/shop/warehouse.db') "
        "-- fails on purpose in every other database\n"
        "; PRAGMA foreign_keys=ON\n"
        "; BEGIN IMMEDIATE\n"
        "-- first\n"
        "; UPDATE Item SET Name=('it''s'||char(10,8238)||'!')\n"
        "; SELECT 1\n"
        "; COMMIT\n"
        ";"
    )


def test_a_file_holds_the_sql_and_its_placeholders() -> None:
    step = a_step("sql", Data1="warehouse", Data2="file:merge.sql")

    rendered = HANDLER.render(a_request(step, AROUND, Data1="x"))

    assert rendered.spec["statements"] == [
        {"sql": "INSERT INTO Item (Name) VALUES (:Data1)", "parameters": {"Data1": "x"}, "line": 1}
    ]
    assert messages(Data1="warehouse", Data2="file:merge.sql") == [NO_FILE]


def test_a_file_that_is_corrected_is_taken_by_the_next_attempt_at_the_same_row() -> None:
    files = {"merge.sql": "SELECT 1;"}
    step = a_step("sql", Data1="warehouse", Data2="file:merge.sql")
    around = replace(AROUND, read_text=lambda name: files[name])

    assert HANDLER.render(a_request(step, around)).spec["statements"]
    files["merge.sql"] = "SELECT '"
    with pytest.raises(StepRefused, match="is never closed with '"):
        HANDLER.render(a_request(step, around))
    files["merge.sql"] = "SELECT 2;"
    assert HANDLER.render(a_request(step, around)).spec["statements"]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"Data2": "SELECT 1"}, "Data1: the name of a connection is missing. Known: warehouse."),
        (
            {"Data1": "warehose", "Data2": "SELECT 1"},
            "Data1: connection 'warehose' is not in the configuration. Did you mean 'warehouse'?",
        ),
        ({"Data1": "warehouse"}, "Data2: there is no SQL statement"),
        ({"Data1": "warehouse", "Data2": " -- only a comment"}, "Data2: there is no SQL statement"),
        ({"Data1": "warehouse", "Data2": "SELECT '{Data1}'"}, "Data2: {Data1} stands in quotes; remove the quotes"),
        ({"Data1": "warehouse", "Data2": "SELECT 1 -- {Data1}"}, "Data2: {Data1} stands in a comment"),
        (
            {"Data1": "warehouse", "Data2": "SELECT {Dat1}"},
            "Data2: '{Dat1}' is not a placeholder. Did you mean 'Data1'?",
        ),
        ({"Data1": "warehouse", "Data2": "SELECT 'x"}, "Data2: a ' is never closed"),
        ({"Data1": "warehouse", "Data2": "SELECT :a, ?"}, "Data2: :a ? would have no value; write a placeholder"),
        ({"Data1": "warehouse", "Data2": "SELECT {secret:tokn}"}, "Data2: secret 'tokn' is not in the configuration"),
        (
            {"Data1": "warehouse", "Data2": "BEGIN; SELECT 1; COMMIT"},
            "Data2: every step is one transaction already; take BEGIN out",
        ),
        (
            {"Data1": "warehouse", "Data2": "SELECT 1; commit"},
            "Data2: every step is one transaction already; take COMMIT out",
        ),
        (
            {"Data1": "warehouse", "Data2": "ROLLBACK"},
            "Data2: every step is one transaction already; take ROLLBACK out",
        ),
        ({"Data1": "warehouse", "Data2": "ATTACH 'x' AS y"}, "Data2: a step works on one connection"),
        ({"Data1": "warehouse", "Data2": "SELECT 1; VACUUM"}, "Data2: VACUUM cannot run in a transaction"),
        ({"Data1": "warehouse", "Data2": "SELECT 1; PRAGMA x=1"}, "Data2: a PRAGMA has no effect in a transaction"),
        ({"Data1": "warehouse", "Data2": "PRAGMA cache_size={Data1}"}, "Data2: PRAGMA takes no placeholders"),
        ({"Data1": "warehouse", "Data2": ".shell ls"}, "Data2: what begins with '.' is a command of the sqlite3 shell"),
        ({"Data1": "warehouse", "Data2": "file:nothere.sql"}, "Data2: there is no file nothere.sql"),
        ({"Data1": "warehouse", "Data2": "file:{Data1}.sql"}, "Data2: {Data1} stands in a file name"),
        ({"Data1": "warehouse", "Data2": "file:nul.sql"}, "Data2: file nul.sql: it contains a NUL character"),
        ({"Data1": "warehouse", "Data2": "SELECT 1", "Data3": "x"}, "Data3: Data3 is not used by sql; empty it"),
    ],
)
def test_check_says_what_is_wrong(columns: dict[str, Any], said: str) -> None:
    assert [message for message in messages(**columns) if message.startswith(said)], messages(**columns)
    if "not used" not in said:
        with pytest.raises(StepRefused):
            HANDLER.render(a_request(a_step("sql", **columns), AROUND, Data1="x"))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "oracle+oracledb://u:pw@h/d",
            "needs oracle, which is not supported; use a url with sqlite, postgresql+psycopg",
        ),
        ("postgresql+psycopg2://u:pw@h/d", "names the driver postgresql+psycopg2, which is not supported; write"),
        ("mssql+pymssql://u:pw@h/d", "not supported; write mssql+pyodbc or mssql+mssqlpython"),
        ("sqlite://", "must name a database file, as in sqlite:///warehouse.db"),
        ("sqlite:///:memory:", "must name a database file, as in sqlite:///warehouse.db"),
        ("sqlite:pw@nonsense", "the url of connection 'w' cannot be read"),
    ],
)
def test_a_connection_that_no_step_can_use_is_a_problem(url: str, said: str) -> None:
    context = replace(AROUND, connections={"w": Connection("w", url)})

    (finding,) = HANDLER.check(a_step("sql", Data1="w", Data2="SELECT 1"), context)

    assert finding.column == "Data1"
    assert said in finding.message
    assert "pw" not in finding.message


def test_all_statements_run_in_one_transaction(database: Path) -> None:
    outcome = run(
        database.parent,
        "INSERT INTO Item (Name) VALUES ({Data1}), ('x'); UPDATE Item SET Amount = 9 WHERE Name = {Data1}; "
        "SELECT count(*) AS Items, {Data2} FROM Item; SELECT Name FROM Item WHERE 0",
        Data1="it's",
        Data2=None,
    )

    assert outcome == StepOutcome(
        succeeded=True,
        rows_affected=3,
        value=None,
        output="Items | :Data2\n5 | NULL\n(1 row)\nName\n(0 rows)",
    )
    assert [row[2] for row in dump(database)["Item"][3:]] == ["it's", "x"]


def test_an_error_rolls_everything_back_and_names_the_statement(database: Path) -> None:
    before = dump(database)

    outcome = run(database.parent, "SELECT 5; DELETE FROM Item; INSERT INTO Item (Item_id) VALUES (1), (1)")

    assert not outcome.succeeded
    assert outcome.message == (
        "statement 3 of 3 failed: UNIQUE constraint failed: Item.Item_id (SQLITE_CONSTRAINT_PRIMARYKEY); at line 1; "
        "everything was rolled back"
    )
    assert outcome.output == "5\n5\n(1 row)"
    assert (outcome.fatal, outcome.stopped) == (False, False)
    assert dump(database) == before


def test_an_error_names_the_line_of_the_text_on_which_its_statement_begins(database: Path) -> None:
    outcome = run(database.parent, "SELECT 5;\n-- then\nSELECT 6;  /* a\n\ncomment */\nSELECT 1, where 1=1")

    assert outcome.message == (
        'statement 3 of 3 failed: near "where": syntax error (SQLITE_ERROR); at line 6; everything was rolled back'
    )
    assert (outcome.error_code, outcome.error_line) == ("SQLITE_ERROR", 6)


def test_a_constraint_checked_at_the_end_rolls_back_too(database: Path) -> None:
    run(database.parent, "CREATE TABLE Part (Item_id integer REFERENCES Item DEFERRABLE INITIALLY DEFERRED)")

    outcome = run(database.parent, "PRAGMA foreign_keys=ON; INSERT INTO Part VALUES (99)")

    assert outcome.message is not None
    assert outcome.message.startswith("COMMIT failed: FOREIGN KEY constraint failed")
    assert dump(database)["Part"] == []


def test_triggers_savepoints_and_a_lone_vacuum_work(database: Path) -> None:
    trigger = "CREATE TRIGGER Note AFTER INSERT ON Item BEGIN INSERT INTO Answer (Value) VALUES (new.Name); END"

    outcomes = [
        run(database.parent, f"{trigger}; INSERT INTO Item (Name) VALUES ('a')"),
        run(database.parent, "SAVEPOINT s; DELETE FROM Item; ROLLBACK TO s; RELEASE s"),
        run(database.parent, "VACUUM"),
        run(database.parent, "PRAGMA user_version = 7; SELECT 1"),
    ]

    assert [outcome.message for outcome in outcomes] == [None] * 4
    assert outcomes[0].rows_affected == 1
    assert [row[2] for row in dump(database)["Answer"]] == ["a"]
    assert len(dump(database)["Item"]) == 4


def test_many_rows_are_drained_and_the_first_are_shown(database: Path) -> None:
    numbers = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i < 30000) SELECT i, 'a\x1b\nb' AS t FROM n"

    outcome = run(database.parent, numbers)

    assert outcome.value == 1
    assert outcome.output is not None
    lines = outcome.output.split("\n")
    assert lines[:2] == ["i | t", "1 | a\\x1b\\nb"]
    assert lines[-1] == "(30000 rows, 29980 of them not shown)"
    assert len(lines) == 22


def test_long_and_strange_values_are_shown_short(database: Path) -> None:
    outcome = run(
        database.parent, f"SELECT x'00ff', CAST(x'ff41' AS TEXT), {{Data1}}{', {Data1}' * 400}", Data1="y" * 5000
    )

    assert outcome.succeeded
    assert outcome.value == "00ff"
    assert outcome.output is not None
    assert "00ff | \\xffA | yyyy" in outcome.output
    assert "characters left out" in outcome.output
    assert len(outcome.output) < 66_000


def test_a_missing_database_is_said_and_never_created(tmp_path: Path) -> None:
    outcome = run(tmp_path, "SELECT 1")

    assert outcome.message == (
        f"connection 'warehouse': there is no database file {tmp_path}/warehouse.db; create it with sqlite3, "
        "or correct the url of [connections.warehouse]"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "warehouse.db").write_text("this is no database, and long enough to be seen as none " * 20)

    outcome = run(tmp_path, "SELECT 1")

    assert outcome.message == "BEGIN failed: file is not a database (SQLITE_NOTADB)"


def test_a_connection_removed_since_is_said(database: Path) -> None:
    rendered = HANDLER.render(
        a_request(a_step("sql", Data1="warehouse", Data2="SELECT 1"), context_at(database.parent))
    )

    outcome = HANDLER.execute(rendered, as_execution(Alone()))

    assert outcome.message == "connection 'warehouse' is not in the configuration"


def test_a_lock_of_somebody_else_is_a_failure(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("step_handlers.databases._sqlite.BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        outcome = run(database.parent, "SELECT 1")

    assert outcome.message == "BEGIN failed: database is locked (SQLITE_BUSY)"


ENDLESS = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n"


def test_a_running_statement_is_stopped_and_rolled_back(database: Path) -> None:
    outcome = run(database.parent, f"DELETE FROM Item; {ENDLESS}", Alone(looks_until_stop=5))

    assert (outcome.succeeded, outcome.stopped) == (False, True)
    assert outcome.message == "was stopped at statement 2 of 2; everything was rolled back"
    assert len(dump(database)["Item"]) == 3


def test_a_step_told_to_stop_before_it_began_does_nothing(database: Path) -> None:
    outcome = run(database.parent, "DELETE FROM Item", Alone(looks_until_stop=0))

    assert (outcome.stopped, len(dump(database)["Item"])) == (True, 3)


def test_another_thread_can_interrupt_a_statement(database: Path) -> None:
    context = context_at(database.parent)
    rendered = HANDLER.render(a_request(a_step("sql", Data1="warehouse", Data2=ENDLESS), context))
    alone = Alone(connections=context.connections)
    outcomes: list[StepOutcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(HANDLER.execute(rendered, as_execution(alone))))

    thread.start()
    while thread.is_alive():
        for stop in alone.stops:
            stop()
        thread.join(0.05)

    assert outcomes[0].message == (
        "statement 1 of 1 failed: interrupted (SQLITE_INTERRUPT); at line 1; everything was rolled back"
    )


def test_a_secret_is_resolved_only_at_execution(database: Path) -> None:
    outcome = run(
        database.parent, "INSERT INTO Item (Name) VALUES ({secret:token})", Alone(secrets={"token": "s3cret"})
    )

    assert outcome.succeeded
    assert dump(database)["Item"][-1][2] == "s3cret"


def test_readfile_does_what_the_shell_does(database: Path) -> None:
    (database.parent / "in put.csv").write_bytes(b"a\r\n\xff\x00b")

    outcome = run(
        database.parent,
        "SELECT hex(readfile({Data1})) || typeof(readfile('nothere')) || typeof(readfile(NULL))",
        Data1="in put.csv",
    )

    assert outcome.value == "610D0AFF0062nullnull"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("SELECT 1", True),
        ("SELECT 'x'", True),
        ("SELECT 0", False),
        ("SELECT NULL", False),
        ("SELECT ''", False),
        ("SELECT 1 WHERE 0", False),
        ("SELECT x FROM nowhere", None),
    ],
)
def test_a_lost_step_is_verified_by_a_query(database: Path, query: str, answer: bool | None) -> None:
    step = a_step("sql", Data1="warehouse", Data2="DELETE FROM Item", Data6=query, on_lost=OnLost.VERIFY)
    verification = HANDLER.verification(step)
    context = context_at(database.parent)
    rendered = HANDLER.render(a_request(verification, context))

    outcome = HANDLER.execute(rendered, as_execution(Alone(connections=context.connections)))

    assert isinstance(HANDLER, Verifiable)
    assert HANDLER.check(step, context) == []
    assert verification.process_type == "sql"
    assert HANDLER.is_done(outcome) is answer


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT '", "a ' is never closed with '"),
        ("SELEKT 1", 'statement 1 of 1: near "SELEKT": syntax error'),
        ("SELECT {secret:unset}", "secret 'unset' (env:UNSET) is not set here; the controller will need it"),
    ],
)
def test_the_check_of_a_lost_step_is_checked(database: Path, query: str, said: str) -> None:
    step = a_step("sql", Data1="warehouse", Data2="SELECT 1", Data6=query, on_lost=OnLost.VERIFY)
    context = replace(context_at(database.parent), secrets={"unset": "env:UNSET"}, secret_is_set=lambda name: False)

    assert [(finding.column, finding.message) for finding in HANDLER.check(step, context)] == [("Data6", said)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1; SELEKT {Data1}", ['statement 2 of 2: near "SELEKT": syntax error']),
        ("SELECT (1", ["statement 1 of 1: incomplete input"]),
        (
            "DELETE FROM {Data1}",
            [
                (
                    'statement 1 of 1: near ":Data1": syntax error; '
                    "{Data1} is a value and cannot stand for a name or a keyword"
                )
            ],
        ),
        ("SELECT * FROM made_by_an_earlier_step WHERE no_such_column = {Data1}", []),
        ("CREATE TABLE made (x); INSERT INTO made VALUES ({Data1})", []),
        ("EXPLAIN QUERY PLAN SELECT {Data1}", []),
        ("-- a comment\nDROP TABLE Item", []),
    ],
)
def test_check_finds_errors_of_syntax_and_executes_nothing(database: Path, sql: str, said: list[str]) -> None:
    before = dump(database)

    found = HANDLER.check(a_step("sql", Data1="warehouse", Data2=sql), context_at(database.parent))

    assert found == [Finding("Data2", message) for message in said]
    assert dump(database) == before
    assert [path.name for path in database.parent.iterdir()] == ["warehouse.db"]


def test_what_only_a_check_finds_does_not_refuse_a_step(tmp_path: Path) -> None:
    step = a_step("sql", Data1="warehouse", Data2="DELETE FROM {Data1}; SELECT {secret:token}")
    context = replace(context_at(tmp_path), secret_is_set=lambda name: False)

    rendered = HANDLER.render(a_request(step, context, Data1="x"))

    assert len(HANDLER.check(step, context)) == 3
    assert rendered.spec["connection"] == "warehouse"
