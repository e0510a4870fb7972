from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.status import OnLost
from batchctl.plugin_api import Connection, StepContext, StepRefused, Verifiable
from batchctl.testing import a_request, a_step
from step_handlers.stored_procedure import StoredProcedure
from tests.step_handlers.databases import a_database, context_at, dump, pasted
from tests.step_handlers.execution import Alone, as_execution

HANDLER = StoredProcedure()
LOAD = """
-- Adds an item. { is no placeholder here
DELETE FROM Item WHERE Name = :name;
INSERT INTO Item (Name, Amount, Rate, Anything) VALUES (:Name, :Amount, :Rate, :amount - :Amount);
"""
FILES = {
    "procedures/load.sql": LOAD,
    "procedures/dbo.s_Load$1.sql": "SELECT 1",
    "procedures/broken.sql": "SELECT '",
    "procedures/odd.sql": "SELECT ?, @x",
    "procedures/begin.sql": "BEGIN; SELECT 1",
    "procedures/table.sql": "DELETE FROM :Table",
    "procedures/go.sql": "SELECT\n:go AS\ngo",
}
PARAMETERS = "@Name={Data1}, @Amount=-5, @Rate=0.30000000000000004"


def context(directory: Path = Path("/shop")) -> StepContext:
    return context_at(directory, FILES)


def messages(**columns: Any) -> list[str]:
    found = HANDLER.check(a_step("stored_procedure", **columns), context())
    return [f"{finding.column}: {finding.message}" for finding in found]


@pytest.fixture
def there(tmp_path: Path) -> StepContext:
    """Surroundings whose database exists."""
    return context(a_database(tmp_path).parent)


def test_parameters_are_bound_to_the_names_of_the_file_in_any_case(there: StepContext) -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2="load", Data3=PARAMETERS)

    rendered = HANDLER.render(a_request(step, there, Data1="it's"))

    assert HANDLER.check(step, there) == []
    assert rendered.spec["statements"] == [
        {
            "sql": "-- Adds an item. { is no placeholder here\nDELETE FROM Item WHERE Name = :name",
            "parameters": {"name": "it's"},
            "line": 3,
        },
        {
            "sql": "INSERT INTO Item (Name, Amount, Rate, Anything) VALUES (:name, :Amount, :Rate, :Amount - :Amount)",
            "parameters": {"name": "it's", "Amount": -5, "Rate": 0.30000000000000004},
            "line": 4,
        },
    ]
    assert rendered.command_text.split("\n")[:2] == ["-- BatchControl 42 of batch MyFileType1", "-- procedure load"]


def test_a_parameter_is_written_with_its_value_also_where_its_name_alone_would_end_a_statement(
    there: StepContext,
) -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2="go", Data3="@go=5")

    assert "; SELECT\n5 AS\n/**/go\n" in HANDLER.render(a_request(step, there)).command_text


def test_a_procedure_does_the_same_in_the_shell(tmp_path: Path) -> None:
    by_controller, by_hand = a_database(tmp_path / "controller"), a_database(tmp_path / "hand")
    step = a_step("stored_procedure", Data1="warehouse", Data2="load", Data3=PARAMETERS)
    view_dialect = [
        HANDLER.render(a_request(step, context(path.parent), Data1="a\r\nb")) for path in (by_controller, by_hand)
    ]

    outcome = HANDLER.execute(view_dialect[0], as_execution(Alone(connections=context().connections)))
    done = pasted(view_dialect[1].command_text)

    assert (outcome.message, outcome.rows_affected, done.returncode, done.stderr) == (None, 1, 0, b"")
    assert dump(by_controller) == dump(by_hand)
    assert dump(by_hand)["Item"][-1][2:] == ("a\r\nb", "text", -5, "integer", 0.30000000000000004, "real", 0, "integer")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "Data1: the name of a connection is missing"),
        ({"Data1": "warehouse"}, "Data2: '' is no procedure name"),
        ({"Data1": "warehouse", "Data2": "../load"}, "Data2: '../load' is no procedure name"),
        ({"Data1": "warehouse", "Data2": "{Data1}"}, "Data2: '{Data1}' is no procedure name"),
        ({"Data1": "warehouse", "Data2": "lod"}, "Data2: there is no file procedures/lod.sql"),
        ({"Data1": "warehouse", "Data2": "broken"}, "Data2: procedure broken: a ' is never closed"),
        ({"Data1": "warehouse", "Data2": "odd"}, "Data2: procedure odd: ? @x is no parameter here; write :Name"),
        ({"Data1": "warehouse", "Data2": "begin"}, "Data2: procedure begin: every step is one transaction already"),
        (
            {"Data1": "warehouse", "Data2": "load", "Data3": "@Name='x', @Amount=1"},
            "Data3: parameter @Rate of load is missing",
        ),
        (
            {"Data1": "warehouse", "Data2": "load", "Data3": "Nam=1, Name=2, Amount=3, Rate=4"},
            "Data3: load has no parameter @Nam. Did you mean 'name'?",
        ),
        ({"Data1": "warehouse", "Data2": "load", "Data3": "Name"}, "Data3: expected Name=value at 'Name'"),
        (
            {"Data1": "warehouse", "Data2": "load", "Data3": "Name={secret:x}"},
            "Data3: secret 'x' is not in the configuration",
        ),
        ({"Data1": "warehouse", "Data2": "dbo.s_Load$1", "Data4": "x"}, "Data4: Data4 is not used by stored_procedure"),
    ],
)
def test_check_says_what_is_wrong(columns: dict[str, Any], said: str) -> None:
    assert [message for message in messages(**columns) if message.startswith(said)], messages(**columns)
    if "not used" not in said:
        with pytest.raises(StepRefused):
            HANDLER.render(a_request(a_step("stored_procedure", **columns), context(), Data1="x"))


def test_a_name_with_schema_is_a_file_name(there: StepContext) -> None:
    assert HANDLER.check(a_step("stored_procedure", Data1="warehouse", Data2="dbo.s_Load$1"), there) == []


def test_check_reads_the_syntax_and_looks_for_database_and_secrets() -> None:
    around_nothing = replace(context(), secret_is_set=lambda name: False)
    step = a_step("stored_procedure", Data1="warehouse", Data2="table", Data3="@Table={secret:token}")

    found = [f"{finding.column}: {finding.message}" for finding in HANDLER.check(step, around_nothing)]

    assert found == [
        'Data2: statement 1 of 1: near ":Table": syntax error; {Table} is a value and cannot stand for a name or a keyword',
        (
            "Data1: connection 'warehouse': there is no database file /shop/warehouse.db; create it with sqlite3, "
            "or correct the url of [connections.warehouse]"
        ),
        "Data3: secret 'token' (env:TOKEN) is not set here; the controller will need it",
    ]


def test_a_connection_without_procedures_is_a_problem(there: StepContext) -> None:
    without = replace(there, connections={"w": Connection("w", "sqlite:///warehouse.db")})

    (finding,) = HANDLER.check(a_step("stored_procedure", Data1="w", Data2="load"), without)

    assert "connection 'w' has no procedures; set its key procedures to a folder of .sql files" in finding.message


def test_a_lost_procedure_is_verified_by_a_query_on_its_connection(there: StepContext) -> None:
    step = a_step(
        "stored_procedure",
        Data1="warehouse",
        Data2="dbo.s_Load$1",
        Data6="SELECT count(*) FROM Item",
        on_lost=OnLost.VERIFY,
    )

    verification = HANDLER.verification(step)

    assert isinstance(HANDLER, Verifiable)
    assert HANDLER.check(step, there) == []
    assert (verification.process_type, verification.data[:2]) == ("sql", ("warehouse", "SELECT count(*) FROM Item"))
