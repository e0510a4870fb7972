"""A task is carried out as it stands: as SQL on a connection, or as a command; nothing in it is a placeholder."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.status import Cause
from batchctl.plugin_api import Connection, StepHandler, StepRefused
from batchctl.preparation import Prepared, Preparer
from batchctl.registry import Registry
from batchctl.system.commands.command_line import written
from batchctl.testing import FakeClock, a_request, a_step, an_instance, context
from step_handlers.os_command import OsCommand
from step_handlers.shells._script_text import is_batch_file
from step_handlers.sql import Sql
from step_handlers.task import Task

HANDLER = Task()
HANDLERS = {"task": cast("StepHandler", HANDLER), "sql": Sql(), "os_command": OsCommand()}
AROUND = context(
    "/shop",
    connections={"wh": Connection("wh", "sqlite:///wh.db"), "pg": Connection("pg", "postgresql://etl@host/dwh")},
    secrets={"token": "env:TOKEN"},
)
BUILT_IN = a_step("task", Data1="{Data2}", Data2="{Data3}")


def prepare(**instance: Any) -> Prepared:
    """Make the built-in step ready as the engine does."""
    batch = BatchDefinition(batch_id=BatchId(1), name="Task", entity="Task", steps=(BUILT_IN,))
    preparer = Preparer(lambda name: HANDLERS[name], AROUND, "anna", "host1", "test")
    return preparer.prepare(
        an_instance(**instance), batch, BUILT_IN, attempt_no=1, cause=Cause.AUTO, now=FakeClock().now()
    )


def spec(prepared: Prepared) -> Any:
    assert prepared.rendered is not None, prepared.refused
    return prepared.rendered.spec


def messages(**columns: Any) -> list[str]:
    return [f"{finding.column}: {finding.message}" for finding in HANDLER.check(a_step("task", **columns), AROUND)]


def test_without_a_connection_it_is_an_os_command() -> None:
    ready = prepare(Data3="wc -l '/in/my file.csv'")

    assert ready.step.process_type == "os_command"
    assert isinstance(ready.handler, OsCommand)
    assert spec(ready)["argv"] == ["wc", "-l", "/in/my file.csv"]
    assert ready.command_text.endswith("(cd -P /shop && exec wc -l '/in/my file.csv' </dev/null)")


def test_with_a_connection_it_is_sql_there() -> None:
    ready = prepare(Data2="wh", Data3="DELETE FROM Staging WHERE Day < '2026-11-01'")

    assert ready.step.process_type == "sql"
    assert isinstance(ready.handler, Sql)
    assert spec(ready)["connection"] == "wh"
    assert "DELETE FROM Staging WHERE Day < '2026-11-01'" in ready.command_text


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12), max_size=4))
def test_a_command_written_for_a_row_is_carried_out_with_the_same_words(arguments: list[str]) -> None:
    # Not every word may stand behind a batch file; see the tests of os_command.
    assume(not any(is_batch_file(word) for word in arguments))
    assert spec(prepare(Data3=written(["prog", *arguments])))["argv"] == ["prog", *arguments]


@pytest.mark.parametrize("text", ["{Data1}", "{{Data1}}", "{secret:token}", "{", "}}", "{nonsense}", "{Data3}"])
def test_everything_in_the_body_is_literal(text: str) -> None:
    command = prepare(Data1="never", Data3=written(["echo", text]))
    sql = prepare(Data1="never", Data2="wh", Data3=f"SELECT '{text}'")

    assert spec(command)["argv"] == ["echo", text]
    assert f"SELECT '{text}'" in sql.command_text


@pytest.mark.parametrize(
    ("instance", "said"),
    [
        ({"Data3": None}, "Data2: there is no body in {Data3}, so there is nothing to do"),
        ({"Data3": " \n"}, "Data2: there is no body in {Data3}, so there is nothing to do"),
        (
            {"Data2": "wg", "Data3": "SELECT 1"},
            "(Data2 of the instance) 'wg' is not in the configuration. Known: pg, wh.",
        ),
        ({"Data2": "wh", "Data3": " file:x.sql"}, "the SQL of a task stands in its body"),
        ({"Data2": "wh", "Data3": "SELECT 'x"}, "a ' is never closed with '"),
        ({"Data3": "echo 'x"}, "the command cannot be split into words"),
        ({"Data3": "echo a\x00b"}, "{Data3} of BatchControl 42 cannot be used: it contains a NUL character"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_with_the_reason(instance: dict[str, str], said: str) -> None:
    refused = prepare(**instance)

    assert refused.rendered is None
    assert said in (refused.refused or "")


def test_a_queue_of_ones_own_may_name_its_connection_once_for_all() -> None:
    step = a_step("task", Data1="pg", Data2="{Data3}")

    assert HANDLER.delegate(a_request(step, AROUND, Data3="CALL nightly()")).data[:2] == ("pg", "CALL nightly()")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"Data1": "{Data2}", "Data2": "{Data3}"}, []),
        ({"Data2": "{Data3}"}, []),
        ({"Data1": "{Data2}"}, ["Data2: write the one placeholder that the body is in, such as {Data3}"]),
        ({"Data2": "rm {Data3}"}, ["Data2: write the one placeholder that the body is in, such as {Data3}"]),
        ({"Data2": "{secret:token}"}, ["Data2: write the one placeholder that the body is in, such as {Data3}"]),
        (
            {"Data1": "{secret:token}", "Data2": "{Data3}"},
            ["Data1: write the name of a connection, or one placeholder, or nothing"],
        ),
        ({"Data1": "px", "Data2": "{Data3}"}, ["Data1: connection 'px' is not in the configuration."]),
        ({"Data2": "{Data3}", "Data4": "A=1"}, ["Data4: Data4 is not used by task; empty it"]),
        ({"Data2": "{Daten3}"}, ["Data2: '{Daten3}' is not a placeholder."]),
    ],
)
def test_check_names_what_is_wrong_with_the_step(columns: dict[str, str], found: list[str]) -> None:
    said = messages(**columns)

    assert len(said) == len(found)
    assert all(one.startswith(beginning) for one, beginning in zip(said, found, strict=True))


def test_a_step_that_is_wrong_itself_is_refused() -> None:
    with pytest.raises(StepRefused, match="write the one placeholder that the body is in"):
        HANDLER.delegate(a_request(a_step("task", Data2="rm -rf {Data3}"), AROUND, Data3="/"))


def test_the_registry_takes_a_handler_that_delegates_instead_of_rendering() -> None:
    assert isinstance(Registry().handler("task"), Task)
