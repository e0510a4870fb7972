"""What of a command a list of several shows."""

from __future__ import annotations

import pytest

from batchctl.cli.commands import Command
from batchctl.plugin_api import Connection, Step, StepHandler
from batchctl.testing import a_request, a_step, surroundings
from step_handlers.os_command import OsCommand
from step_handlers.sql import Sql
from step_handlers.stored_procedure import StoredProcedure

AROUND = surroundings(
    "/shop",
    connections={
        "pg": Connection("pg", "postgresql+psycopg://etl@etl01/Shop"),
        "ms": Connection("ms", "mssql+pyodbc://etl01/Shop"),
        "lite": Connection("lite", "sqlite:///shop.db"),
    },
)
SQL = "UPDATE Item\nSET Name = {Data1};\nSET x = 1"


def text_of(handler: StepHandler, step: Step) -> str:
    return handler.render(a_request(step, AROUND, Data1="it")).command_text


PSQL = text_of(Sql(), a_step("sql", Data1="pg", Data2=SQL))
CALL = text_of(StoredProcedure(), a_step("stored_procedure", Data1="pg", Data2="load", Data3="@Name={Data1}"))
TSQL = text_of(Sql(), a_step("sql", Data1="ms", Data2="UPDATE Item SET Name = {Data1}"))


@pytest.mark.parametrize("text", [PSQL, CALL, TSQL])
def test_no_line_gets_lost(text: str) -> None:
    command = Command.of(text)

    assert [*command.comments, *command.set_up, *command.statements, *command.tidying] == text.split("\n")
    assert len(command.set_up) >= 5


@pytest.mark.parametrize("end", ["", " \\\\"])
def test_of_a_script_for_psql_the_transaction_or_the_call_is_left(end: str) -> None:
    script, call = (
        "\n".join(f"{at}{end}" if at[0] == "\\" else at for at in text.split("\n")) for text in (PSQL, CALL)
    )

    assert Command.of(script).statements == ("BEGIN;", "UPDATE Item", "SET Name = 'it';", "SET x = 1;", "COMMIT;")
    assert Command.of(script).comments == ("-- BatchControl 42 of batch MyFileType1",)
    assert Command.of(call).statements == (""":call "load"("name" => 'it');""",)


def test_of_a_script_for_sqlcmd_the_values_and_the_transaction_are_left() -> None:
    statements = Command.of(TSQL).statements

    assert statements[0].startswith("DECLARE @")
    assert "UPDATE Item SET Name = @Data1" in statements
    assert statements[-1] == "END CATCH;"


@pytest.mark.parametrize(
    "text",
    [
        text_of(Sql(), a_step("sql", Data1="lite", Data2=SQL)),
        text_of(OsCommand(), a_step(Data1="load {Data1} '\\x'")),
        "",
        "# only a comment",
        "\n".join([r"\set QUIET on"] * 9),
    ],
)
def test_a_command_with_little_set_up_or_nothing_else_stays_whole(text: str) -> None:
    command = Command.of(text)

    assert (command.set_up, command.tidying) == ((), ())
    assert "\n".join([*command.comments, *command.statements]) == text
