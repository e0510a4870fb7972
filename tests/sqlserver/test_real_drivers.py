"""What pyodbc with Microsoft's driver and mssql-python put on the wire, and make of what comes back."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import update

from batchctl.plugin_api import Step, StepOutcome
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.intake import intake
from batchctl.store.tables import batch_control
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import a_request, a_step
from step_handlers.sql import Sql
from step_handlers.stored_procedure import StoredProcedure
from tests.house.source import ROOT
from tests.sqlserver import tds
from tests.sqlserver.real_drivers import missing_libraries, url
from tests.sqlserver.tds import Asked, Count, Hold, Part, Rows, Server, Told
from tests.step_handlers.execution import Alone, as_execution
from tests.step_handlers.postgres_steps import context_at

MODULES = ("pyodbc", "mssql_python")
CALL = a_step(
    "stored_procedure",
    Data1="warehouse",
    Data2="dbo.usp_Load",
    Data3="@FileName={Data1}, @Rows=5, @Note={Data2}, @Total=OUTPUT, @Seed=2.5 OUTPUT",
)
MANY = a_step(
    "stored_procedure",
    Data1="warehouse",
    Data2="dbo.usp_Load",
    Data3="@a=-1, @b=300, @c=70000, @d=5000000000, @e=-2.5, @f={Data1}, @g='ü'",
)
QUERY = a_step("sql", Data1="warehouse", Data2="UPDATE Item SET Name = {Data1}")
STEP = "a step that is to be stopped"
PATIENCE_SECONDS = 5
DONE = Rows(["batchctl_return_code", "Total", "Seed"], [[0, "12", 2]])
ANSWERS: list[tuple[str, list[Part]]] = [
    ("dm_exec_sessions", [Rows(["id", "at"], [[51, "2026-11-21T03:00:00.123"]])]),
    ("sp_getapplock", [Rows(["got"], [[0]])]),
    (r"\ASELECT @@TRANCOUNT\Z", [Rows(["open"], [[0]])]),
]
"""What is asked before and after the batch of every step."""
NOW = datetime(2026, 11, 21, 3, 15, tzinfo=UTC)
TYPES = {
    "pyodbc": ["int4", "int4", "int4", "int8", "float8", "nvarchar", "nvarchar"],
    "mssql_python": ["int2", "int2", "int4", "int8", "float8", "varchar", "nvarchar"],
}
"""As what each driver sends the values of that step. Any of them fits into the variable that the batch declares."""
ROW_TYPES = {
    "pyodbc": ["varchar", "int4", "datetime2(0)", "int4"],
    "mssql_python": ["varchar", "int1", "datetime2(6)", "int1"],
}
ASKS_FOR_TYPES = "sp_describe|sp_datatype_info(?!_100)"


@pytest.fixture(autouse=True)
def _libraries() -> None:
    assert missing_libraries() == [], f"the drivers need libraries: apt-get install {' '.join(missing_libraries())}"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        made.answers = [*ANSWERS]
        yield made


def types(asked: Asked) -> list[str]:
    """Return the types of the parameters."""
    return [one.type for one in asked.parameters]


def play(
    server: Server, module: str, step: Step, parts: list[Part], alone: Alone | None = None, data1: str = "it's ü"
) -> StepOutcome:
    """Carry out a step whose own batch is answered so."""
    server.answers.append(("usp_Load|UPDATE Item", parts))
    handler = Sql() if step.process_type == "sql" else StoredProcedure()
    context = context_at(url(module, server.port))
    rendered = handler.render(a_request(step, context, Data1=data1, Data2=None))
    return handler.execute(rendered, as_execution(replace(alone or Alone(), connections=context.connections)))


@pytest.mark.parametrize("module", MODULES)
def test_a_call_is_sent_with_its_values_apart_and_read_to_the_end(server: Server, module: str) -> None:
    outcome = play(server, module, CALL, [Count(3), Told(0, "read it", 0), Rows(["Name"], [["ä"]]), DONE])

    assert outcome.succeeded, outcome
    assert outcome.return_code == 0
    assert "@Total = 12" in (outcome.output or "")
    assert "read it" in (outcome.output or "")
    (call,) = server.wording("usp_Load")
    # The drivers' own names for markers: a variable of that name would be declared twice (error 134).
    assert "DECLARE @arg1 nvarchar(4000) = @P1;" in call.text
    assert "DECLARE @arg3 nvarchar(4000);" in call.text
    assert [one.value for one in call.parameters] == ["it's ü", 5, 2.5]
    assert types(call) == ["nvarchar", {"pyodbc": "int4", "mssql_python": "int1"}[module], "float8"]
    assert server.wording(ASKS_FOR_TYPES) == []


@pytest.mark.parametrize("module", MODULES)
def test_every_value_is_sent_as_a_type_that_holds_it(server: Server, module: str) -> None:
    outcome = play(server, module, MANY, [DONE], data1="plain")

    assert outcome.succeeded, outcome
    (call,) = server.wording("usp_Load")
    assert [one.value for one in call.parameters] == [-1, 300, 70_000, 5_000_000_000, -2.5, "plain", "ü"]
    assert types(call) == TYPES[module]


@pytest.mark.parametrize("length", [2_000, 2_001, 4_001, 100_000])
@pytest.mark.parametrize("module", MODULES)
def test_a_text_of_any_length_is_sent_as_what_a_procedure_takes(server: Server, module: str, length: int) -> None:
    text = "ü" * length
    outcome = play(server, module, CALL, [DONE], data1=text)

    assert outcome.succeeded, outcome
    (call,) = server.wording("usp_Load")
    # No procedure takes an ntext for its nvarchar (error 206), and a driver that knows no type asks for it.
    assert (call.parameters[0].type.removesuffix("(max)"), call.parameters[0].value) == ("nvarchar", text)
    assert server.wording(ASKS_FOR_TYPES) == []


@pytest.mark.parametrize("module", MODULES)
def test_an_error_behind_the_first_result_is_raised(server: Server, module: str) -> None:
    outcome = play(server, module, CALL, [Count(1), Told(547, "it conflicted")])

    assert not outcome.succeeded
    assert "it conflicted" in (outcome.message or "")


@pytest.mark.parametrize("module", MODULES)
def test_a_procedure_that_goes_on_after_an_error_is_a_failure_that_was_carried_out(server: Server, module: str) -> None:
    handled = Rows(["batchctl_return_code", "Total", "Seed"], [[7, None, None]])

    outcome = play(server, module, CALL, [Count(1), Told(547, "it conflicted"), Told(0, "written down", 0), handled])

    assert "it conflicted" in (outcome.message or "")
    # What only mssql-python reads on to; pyodbc gives the statement up.
    assert outcome.return_code == (7 if module == "mssql_python" else None)


@pytest.mark.parametrize("module", MODULES)
def test_a_step_that_runs_is_cancelled_by_an_attention(server: Server, module: str) -> None:
    alone, outcomes = Alone(looks_until_stop=1), list[StepOutcome]()
    server.while_held = lambda: threading.Thread(target=alone.stops[0], daemon=True).start()

    # On a thread of its own, because who waits in a driver for a server that says nothing waits for ever.
    step = threading.Thread(
        target=lambda: outcomes.append(play(server, module, QUERY, [Hold(threading.Event())], alone)),
        name=STEP,
        daemon=True,
    )
    step.start()
    step.join(PATIENCE_SECONDS)

    assert outcomes, (
        f"the step still runs, {server.attentions} attentions have come: a cancel that does not block sends one at once"
    )
    assert server.attentions >= 1
    assert outcomes[0].stopped


@pytest.mark.parametrize("module", MODULES)
def test_what_was_done_when_it_was_stopped_is_a_success(server: Server, module: str) -> None:
    alone, looked_at = Alone(looks_until_stop=1), threading.Event()

    def stop() -> None:
        stopping = threading.Thread(target=alone.stops[0])
        stopping.start()
        stopping.join(5)
        looked_at.set()

    server.while_held = stop
    server.answers = [one for one in server.answers if "TRANCOUNT" not in one[0]]
    server.answers.append((r"\ASELECT @@TRANCOUNT\Z", [Hold(looked_at), Rows(["open"], [[0]])]))

    outcome = play(server, module, QUERY, [Count(3)], alone)

    assert (outcome.succeeded, outcome.rows_affected, server.attentions) == (True, 3, 0)


@pytest.fixture
def control(server: Server) -> Server:
    """A server that answers what the engine asks of it when it connects."""
    server.answers += [
        ("test max support", [Rows(["said"], [["test max support"]])]),
        ("transaction_isolation_level|system_views", [Rows(["said"], [["READ COMMITTED"]])]),
        ("(?i)schema_name|fn_listextendedproperty", [Rows(["said"], [["dbo"]])]),
        ("PARSENAME", [Rows(["version", "edition", "state"], [[15, 3, "READ_WRITE"]])]),
        ("@@version", [Rows(["said"], [["Microsoft SQL Server 2019 (RTM) - 15.0.2000.5 (X64)"]])]),
        ("(?i)serverproperty", [Rows(["said"], [["15.0.2000.5"]])]),
        ("delayed_durability_desc", [Rows(["said"], [["DISABLED"]])]),
        (r"BEGIN TRANSACTION", [tds.Moment(NOW)]),
        ("INSERT INTO FileProcess", [Count(1), Rows(["id"], [[41]])]),
        ("UPDATE BatchControl", [Count(1), Rows(["batchctl_count"], [[1]])]),
    ]
    return server


@pytest.mark.parametrize("module", MODULES)
def test_the_engine_sends_what_it_means_and_asks_for_no_type(control: Server, module: str, tmp_path: Path) -> None:
    transactions = StoreTransactions(engine.open_engine(url(module, control.port), tmp_path))

    added = transactions.run(
        frozenset({Boundary.POPULATE}),
        lambda connection: intake.add(
            connection, entity="Orders", file_name=None, data="ü", cycle_key=None, source="test"
        ),
    )
    transactions.close()

    assert added == 41
    (insert,) = control.wording("INSERT INTO FileProcess")
    assert [one.value for one in insert.parameters] == ["Orders", "ü", "test"]
    plain = {"pyodbc": "nvarchar", "mssql_python": "varchar"}[module]
    assert types(insert) == [plain, "nvarchar", plain]
    assert "VALUES (@P1, CAST(NULL AS nvarchar(4000)), @P2, CAST(NULL AS nvarchar(4000)), @P3)" in insert.text
    assert control.wording(ASKS_FOR_TYPES) == []
    # Transactions are begun and ended in SQL, by the store alone.
    assert control.transactions == []
    assert len(control.wording(r"COMMIT TRANSACTION")) == 1


@pytest.mark.parametrize("module", MODULES)
def test_a_row_is_written_with_typed_values_and_its_transaction_is_begun_and_ended_in_plain_batches(
    control: Server, module: str, tmp_path: Path
) -> None:
    transactions = StoreTransactions(engine.open_engine(url(module, control.port), tmp_path))
    write = update(batch_control).where(batch_control.c.BatchControl_id == 7)
    write = write.values(Status="ready", RetryCount=3, NextRunTime=NOW, CycleKey=None)

    transactions.run(frozenset({Boundary.POPULATE}), lambda connection: connection.execute(write))
    transactions.close()

    (updated,) = control.wording("UPDATE BatchControl")
    assert types(updated) == ROW_TYPES[module]
    # What is called as a procedure has a scope of its own: a transaction that is begun there ends with error 266.
    context_at = control.wording("BEGIN TRANSACTION|COMMIT TRANSACTION")
    assert [(one.procedure, one.parameters) for one in context_at] == [("", ())] * 2


@pytest.mark.parametrize("module", MODULES)
def test_a_connection_that_breaks_during_a_cancel_never_ends_the_process(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sqlserver.dropping", module, "200"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "200 rounds\n"), done.stderr[-2000:]
