"""What the audit found on SQL Server is found again: each old text is put back, and the checks refuse it."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.dialects.mssql.base import MSSQLCompiler

from batchctl.domain.records import JsonValue
from batchctl.store import statements as product
from batchctl.store import views
from batchctl.store.dialects import mssql, mssql_session
from batchctl.store.tables import metadata
from batchctl.store.views.view_dialect import ViewDialect
from step_handlers.databases._database import Argument
from step_handlers.sqlserver import _mssql, _tsql
from tests.sqlserver import statements, taken, test_real_drivers
from tests.sqlserver.catalog import control_database
from tests.sqlserver.lint import all_refused
from tests.sqlserver.parser import findings, tree_of
from tests.sqlserver.tds import Server
from tests.sqlserver.trees import of_kind
from tests.step_handlers import test_mssql
from tests.store.mssql.test_definitions import names_without_schema


def numbers(*texts: str) -> set[str]:
    """Return the numbers of the errors with which texts would be refused."""
    return {reason.rpartition("(")[2].rstrip(")") for text in texts for reason in taken.refused(text)}


def test_a1_an_aggregate_of_columns_of_two_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ViewDialect.local
    assert numbers(*views.views("mssql").values()) == set()

    def local(self: ViewDialect, at: str) -> str:
        return (
            plain(self, at)
            .replace("TOP 1 CASE", "MIN(CASE")
            .replace(" END FROM", " END) FROM")
            .replace(" ORDER BY o.FromTime", "")
        )

    monkeypatch.setattr(ViewDialect, "local", local)
    refused = [name for name, text in views.views("mssql").items() if "8124" in numbers(text)]
    assert len(refused) >= 8


def test_a2_a_limit_without_an_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements.dialect(), "statement_compiler", MSSQLCompiler)
    for module in statements.modules():  # what was compiled before is forgotten
        for value in vars(module).values():
            if isinstance(value, product.RowSelect):
                monkeypatch.setattr(value, "_compiled", {})

    refused = {name for name, text in statements.kept().items() if findings(text)}
    assert {
        "intake.intake._LOOK",
        "instances._NEAR_OF",
        "limits._IN_USE",
        "dependencies.live._NEWEST",
        "maintenance.attempt_lengths._NEWEST",
    } <= refused


def test_a3_a_variable_that_drivers_give_the_name_of_a_marker() -> None:
    value: JsonValue = "x"
    declared = _tsql.Variable("arg1", value)
    body = _tsql.call_body(["dbo", "usp_Load"], [Argument("Name", value, output=False)])

    assert numbers(f"{declared.sent()}\n{body}") == set()
    assert numbers(f"{replace(declared, name='p1').sent()}\n{body}".replace("@arg1", "@p1")) == {"134"}


def test_a4_output_where_a_trigger_hears_of_it() -> None:
    for table in ("FileProcess", "BatchControl", "BatchFreeze", "ProcessBatch", "Schedule"):
        added: Any = product.RowInsert(metadata.tables[table])
        columns = ["z_inserted"]
        plain, old = (statements.compiled(one, columns) for one in (added._inline, added._returning))
        assert numbers(plain) == set()
        assert numbers(old) == {"334"}, table


def test_a5_a_model_that_alters_the_real_table() -> None:
    written = "ALTER TABLE Controller ADD ScheduleFinding nvarchar(max) NULL"
    nothing: Any = None
    sent, _ = mssql._alter_in_the_model(nothing, nothing, written, (), nothing, nothing)

    assert names_without_schema(sent) == []
    assert names_without_schema(written) == ["controller"]


def test_a6_a_view_that_is_not_the_first_in_its_batch() -> None:
    view = views.views("mssql")["vFailed"]

    assert numbers(mssql_session._TELLING.format(mssql_session._part_of_a_batch(view))) == set()
    assert "46010" in numbers(mssql_session._TELLING.format(view))


def test_a7_a_session_that_is_closed_during_a_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    def close(session: _mssql._Session) -> None:
        session.is_over = True
        session.ended.put(None)
        session.opened.close()

    monkeypatch.setattr(_mssql._Session, "close", close)
    with pytest.raises(AssertionError, match="closed during"):
        test_mssql.test_a_session_is_never_closed_during_a_cancel(monkeypatch, test_mssql.URL)


def test_a8_a_cancel_that_closes_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel_once(session: _mssql._Session) -> bool:
        session.opened.close()
        return False

    monkeypatch.setattr(_mssql._Session, "cancel", cancel_once)
    with pytest.raises(AssertionError, match="cancelled"):
        test_mssql.test_another_thread_stops_a_running_batch(monkeypatch, test_mssql.BUNDLED)


def test_a8_a_cancel_that_blocks_is_seen_on_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel_once(session: _mssql._Session) -> bool:
        session.ended.get()
        return False

    monkeypatch.setattr(_mssql._Session, "cancel", cancel_once)
    monkeypatch.setattr(test_real_drivers, "PATIENCE_SECONDS", 0.1)
    with Server(looks=100) as server:
        server.answers = [*test_real_drivers.ANSWERS]
        with pytest.raises(AssertionError, match="the step still runs, 0 attentions have come"):
            test_real_drivers.test_a_step_that_runs_is_cancelled_by_an_attention(server, "mssql_python")
        for step in [thread for thread in threading.enumerate() if thread.name == test_real_drivers.STEP]:
            step.join(60)
            assert not step.is_alive()


def test_a10_a_statement_that_a_view_shows_and_sqlcmd_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused_to_sqlcmd() == set()

    monkeypatch.setattr(ViewDialect, "for_any_client", lambda _self, view: view)
    assert {"vWaiting", "vFailed"} <= refused_to_sqlcmd()


def refused_to_sqlcmd() -> set[str]:
    """Return the views that show an INSERT which sessions of sqlcmd may not do."""
    shown = re.compile(r"'((?:SET QUOTED_IDENTIFIER ON; )?INSERT INTO OperatorRequest \([^)]*\) )")
    return {
        name
        for name, view in views.views("mssql").items()
        for text in shown.findall(view)
        if taken.refused(f"{text}SELECT 'a', 1, 'b'", by_any_client=True)
    }


def test_a9_a_procedure_with_a_try_around_it() -> None:
    called = _tsql.call_body(["dbo", "usp_Load"], [])
    declared, _, rest = called.partition("\n")
    old = f"{declared} BEGIN TRY\n{rest.replace(chr(10), chr(10) + _tsql._CATCH + chr(10), 1)}"

    assert numbers(called, old) == set(), "the server takes both"
    assert [*of_kind(tree_of(called), "TryCatchStatement")] == []
    assert len([*of_kind(tree_of(old), "TryCatchStatement")]) == 1


def test_b1_a_translation_to_a_text_of_another_type(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ViewDialect.tags

    def tags(self: ViewDialect, text: str) -> str:
        return plain(self, text).replace("CONCAT(REPLICATE(N' '", "CONCAT(REPLICATE(' '").replace("), N',')", "), ',')")

    monkeypatch.setattr(ViewDialect, "tags", tags)
    refused = [name for name, text in views.views("mssql").items() if "9828" in numbers(text)]
    assert "vFrozen" in refused


def test_b6_a_duplicate_is_looked_for_by_a_hash() -> None:
    by_hash = {name for name, text in statements.kept().items() if "DataHash = CAST(HASHBYTES(" in text}

    assert by_hash == {"intake.intake._FIRST", "reports.COUNT_NEW"}


@pytest.mark.parametrize(
    ("said", "mistyped", "number"),
    [("BatchControl", "BatchControll", "208"), ("PrevProcessControlSeq", "PrevSeq", "207")],
)
def test_a_name_that_is_none_is_found_in_every_statement(said: str, mistyped: str, number: str) -> None:
    naming = {name: text for name, text in statements.kept().items() if re.search(rf"\b{said}\b", text)}
    assert naming

    for name, text in naming.items():
        found = taken.refused(re.sub(rf"\b{said}\b", mistyped, text), of_ours=True)
        assert any(one.endswith(f"({number})") for one in found), name


def test_the_checks_are_alive() -> None:
    # An empty catalog would take everything that hangs on tables.
    made = control_database()
    assert len(made.tables) > 30
    for name in ("FileProcess", "Intake"):
        refused = all_refused(tree_of(f"INSERT INTO {name} (Entity) OUTPUT inserted.Entity VALUES ('x')"), made)
        assert [one.rpartition("(")[2] for one in refused] == ["334)"], name
