"""The populator `procedure`: what it makes of a row, and why it makes nothing of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from batchctl.plugin_api import BatchDefinition, CannotPopulate, Connection, IntakeRow, Populated, StepContext
from batchctl.testing import an_intake_row, context
from step_handlers._populating_procedure import ProcedurePopulator
from step_handlers.sqlserver import _mssql_driver
from tests.postgres import PostgresServer
from tests.system.test_populating import BATCH as A_BATCH

NAME = "s_PopulateBatchControl_Load"
BATCH = replace(A_BATCH, name="Load", populator="procedure")
ALL = "SELECT :Data AS data1, :FileProcess_id AS DATA2, :Entity AS Data3, :FileName AS Data4, :CycleKey AS cyclekey"
FUNCTION = """
CREATE FUNCTION s_PopulateBatchControl_Load(bigint, text, text, text, text)
RETURNS TABLE (Data1 text, Data2 bigint, CycleKey date) LANGUAGE sql AS $$ {} $$
"""
OTHER_PARAMETERS = f"CREATE FUNCTION {NAME}() RETURNS int LANGUAGE sql AS 'SELECT 1'"
WRITES = f"""
CREATE FUNCTION {NAME}(bigint, text, text, text, text)
RETURNS TABLE (Data1 text) LANGUAGE sql AS $$ INSERT INTO T VALUES (1) RETURNING '' $$
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("CREATE TABLE Day (Data1, CycleKey); INSERT INTO Day VALUES ('a', 1), ('b', 2)")
    return path


def context_at(directory: Path, sql: str | None, name: str = NAME) -> StepContext:
    files = {} if sql is None else {f"procedures/{name}.sql": sql}
    control = Connection("control database", "sqlite:///warehouse.db", "procedures")
    return replace(context(str(directory), files=files), control=control)


def asked(context_at: StepContext, batch: BatchDefinition = BATCH, row: IntakeRow | None = None) -> Populated:
    return ProcedurePopulator().populate_from(row or an_intake_row(file_name=None, data="payload"), batch, context_at)


def refused(context_at: StepContext, batch: BatchDefinition = BATCH) -> str:
    with pytest.raises(CannotPopulate) as refused:
        asked(context_at, batch)
    return str(refused.value)


def test_a_payload_without_a_file_name_fills_an_instance(warehouse: Path) -> None:
    assert asked(context_at(warehouse.parent, ALL)) == Populated(data=("payload", "7", "MyFileType1", None, None, None))


def test_everything_of_the_row_is_given_and_the_last_result_counts(warehouse: Path) -> None:
    row = an_intake_row(file_name="/in/a.csv", data="x", cycle_key="2026-11-21")
    populated = asked(context_at(warehouse.parent, f"SELECT 1; {ALL};"), row=row)

    assert populated == Populated(data=("x", "7", "MyFileType1", "/in/a.csv", None, None), cycle_key="2026-11-21")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT Data1 FROM Day WHERE 0", f"{NAME} returned no row; let it return exactly one"),
        ("SELECT Data1 FROM Day", f"{NAME} returned more than one row; let it return exactly one"),
        ("SELECT 1 AS Data7", f"{NAME} returned the column 'Data7', which fills nothing. Did you mean"),
        ("SELECT 1 AS Data1, 2 AS DATA1", f"{NAME} returned the column Data1 twice"),
        ("SELECT x'00' AS Data1", f"{NAME} returned bytes in Data1; convert them to text"),
        ("SELECT :Day AS Data1", f"procedures/{NAME}.sql: there is no parameter :Day; use :FileProcess_id, :Entity"),
        ("SELECT Data1 FROM Gone", f"{NAME} failed: no such table: Gone"),
        ("DELETE FROM Day", f"{NAME} failed: attempt to write a readonly database"),
        ("", f"{NAME} cannot be asked: procedures/{NAME}.sql: there is no SQL statement"),
        (None, f"{NAME} cannot be asked: 'procedures/{NAME}.sql' cannot be read; write its SELECT into procedures/"),
    ],
)
def test_what_fills_nothing_is_refused_with_what_to_do(warehouse: Path, sql: str | None, said: str) -> None:
    assert refused(context_at(warehouse.parent, sql)).startswith(said)


def test_a_batch_that_no_file_can_be_called_by_is_refused(warehouse: Path) -> None:
    batch = replace(BATCH, name="../Load")

    assert refused(context_at(warehouse.parent, ALL), batch).startswith(
        "no file can be called s_PopulateBatchControl_../Load"
    )


def test_check_names_the_connection_the_file_and_a_populator_on_that_means_nothing(warehouse: Path) -> None:
    populator, there = ProcedurePopulator(), context_at(warehouse.parent, ALL)
    gone = replace(BATCH, populator_args="wh", populator_on="data")

    assert [*populator.check(BATCH), *populator.check_from(BATCH, there)] == []
    assert [one.column for one in populator.check(gone)] == ["PopulatorOn"]
    assert [one.message for one in populator.check_from(gone, there)] == [
        "connection 'wh' is not in the configuration."
    ]
    (lacks,) = populator.check_from(BATCH, context_at(warehouse.parent, None))
    assert lacks.message.startswith(f"{NAME} cannot be asked")
    assert refused(there, gone) == "connection 'wh' is not in the configuration; correct PopulatorArgs"


def on_postgres(server: PostgresServer, *made: str) -> StepContext:
    name = server.new_database()
    with server.connect(name) as owner:
        for each in made:
            owner.execute(each.encode())
    return replace(context("/shop"), connections={"wh": Connection("wh", server.url(name))})


def test_a_function_of_postgresql_is_asked(postgres: PostgresServer) -> None:
    there = on_postgres(postgres, FUNCTION.format("SELECT $4, $1 + 1, date '2026-11-22'"))

    populated = asked(there, replace(BATCH, populator_args="wh"))
    assert populated == Populated(data=("payload", "8", None, None, None, None), cycle_key="2026-11-22")


def test_a_session_of_postgresql_ends_with_the_process_that_asks(postgres: PostgresServer) -> None:
    there = on_postgres(
        postgres, FUNCTION.format("SELECT current_setting('client_connection_check_interval'), 1, NULL::date")
    )

    assert asked(there, replace(BATCH, populator_args="wh")).data[0] == "1s"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ((), f"wh: there is no function {NAME} that its user can call; make it"),
        ((FUNCTION.format("SELECT '', 1, now()::date WHERE false"),), f"{NAME} returned no row"),
        (
            (FUNCTION.format("SELECT '', i, now()::date FROM generate_series(1, 2) i"),),
            f"{NAME} returned more than one",
        ),
        ((OTHER_PARAMETERS,), f"{NAME} failed: function"),
        (("CREATE TABLE T (a int)", WRITES), f"{NAME} failed: cannot execute INSERT in a read-only transaction"),
    ],
)
def test_what_postgresql_does_not_answer_is_refused(postgres: PostgresServer, made: tuple[str, ...], said: str) -> None:
    assert refused(on_postgres(postgres, *made), replace(BATCH, populator_args="wh")).startswith(said)


def test_a_server_that_is_away_is_a_reason_without_its_password() -> None:
    there = replace(context("/shop"), connections={"wh": Connection("wh", "postgresql://u:hunter2@127.0.0.1:1/d")})

    said = refused(there, replace(BATCH, populator_args="wh"))
    assert said.startswith("connection 'wh': ")
    assert "hunter2" not in said


def test_without_a_database_it_refuses() -> None:
    with pytest.raises(CannotPopulate):
        ProcedurePopulator().populate(an_intake_row(), BATCH)


class Server:
    """Answers as a driver for SQL Server does: first whether there is the procedure, then with results."""

    autocommit = True

    def __init__(self, *results: tuple[list[tuple[str]] | None, list[tuple[object, ...]]]) -> None:
        self.results, self.wording, self.ends = [*results], list[tuple[str, tuple[object, ...]]](), list[str]()
        self.description: list[tuple[str]] | None = None

    def cursor(self) -> Server:
        return self

    def execute(self, statement: str, *values: object) -> Server:
        self.wording.append((statement, values))
        self.nextset()
        return self

    def nextset(self) -> bool:
        if not self.results:
            return False
        self.description, self.rows = self.results.pop(0)
        return True

    def fetchone(self) -> tuple[object, ...]:
        return self.rows[0]

    def fetchmany(self, most: int) -> list[tuple[object, ...]]:
        return self.rows[:most]

    def rollback(self) -> None:
        self.ends.append("rollback")

    def close(self) -> None:
        self.ends.append("close")


def on_sql_server(monkeypatch: pytest.MonkeyPatch, server: Server) -> StepContext:
    monkeypatch.setattr(
        _mssql_driver,
        "open_session",
        lambda connection: _mssql_driver.ServerConnection(server, OSError, is_pyodbc=True),
    )
    return replace(context("/shop"), connections={"wh": Connection("wh", "mssql+pyodbc://u@h/d")})


def test_a_procedure_of_sql_server_is_called_by_names_and_what_it_writes_is_rolled_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server(([("",)], [(7,)]), (None, []), ([("DATA1",), ("CycleKey",)], [("x", 5)]))
    populated = asked(on_sql_server(monkeypatch, server), replace(BATCH, name="a]b", populator_args="wh"))

    assert populated == Populated(data=("x", None, None, None, None, None), cycle_key="5")
    assert server.wording[-1] == (
        "EXEC [s_PopulateBatchControl_a]]b] @FileProcess_id = ?, @Entity = ?, @FileName = ?, @Data = ?, @CycleKey = ?",
        ((7, "MyFileType1", None, "payload", None),),
    )
    assert (server.autocommit, server.ends) == (False, ["rollback", "close"])


def test_what_sql_server_does_not_have_or_return_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = replace(BATCH, populator_args="wh")

    gone = refused(on_sql_server(monkeypatch, Server(([("",)], [(None,)]))), batch)
    assert gone.startswith(f"wh: there is no procedure {NAME} that its user can call; make it")
    silent = refused(on_sql_server(monkeypatch, Server(([("",)], [(7,)]), (None, []))), batch)
    assert silent.startswith(f"{NAME} returned no row")


def test_a_driver_of_sql_server_that_is_missing_is_said_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(_mssql_driver, "import_module", nothing)
    there = replace(context("/shop"), connections={"wh": Connection("wh", "mssql+mssqlpython://u@h/d")})

    assert refused(there, replace(BATCH, populator_args="wh")) == (
        "connection 'wh' needs mssql_python: mssql_python; install it: pip install 'batchctl[sqlserver-bundled]'"
    )
