"""The catalog way of `ssis`: sequences of SQL Server's catalog, replayed by a scripted connection."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlglot
from hypothesis import given
from sqlglot import expressions as parsed

from batchctl.domain.rows import BatchId
from batchctl.domain.status import Cause, OnLost
from batchctl.plugin_api import BatchDefinition, Connection, Rendered, StepOutcome, visible
from batchctl.ports import Finished
from batchctl.preparation import Preparer
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner
from batchctl.testing import a_request, a_step, an_instance, context
from step_handlers.packages import _catalog
from step_handlers.sqlserver import _mssql_driver
from step_handlers.ssis import Ssis
from tests.step_handlers.catalog import (
    CONNECTION_LOST,
    NUMBERED,
    Answer,
    Catalog,
    DriverError,
    Late,
    MssqlPythonError,
    Watched,
    caught,
    rows,
    statements,
)
from tests.step_handlers.execution import KEY
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.tsql_frames import assert_frames_are_closed

ETL = Connection("etl", "mssql+pyodbc://etl01/SSISDB")
AROUND = context("/shop", connections={"etl": ETL})
STEP = a_step(
    "ssis",
    Data1=r"\SSISDB\Finance\Daily Load",
    Data2="Load.dtsx",
    Data3="$Project::Day(String)={Data3}; Rows(Int32)=5; $ServerOption::LOGGING_LEVEL(Int16)=1",
    Data4="etl",
)
GOLDEN = Path(__file__).parent / "golden"
MESSAGES = rows(
    (3, 120, "2026-11-21T03:00:02", "Load:Error: file is\nlocked", 3),
    (1, 70, "2026-11-21T03:00:00", "Load:Information: begins", 3),
    (2, 110, "2026-11-21T03:00:01", "Load:Warning: odd", 3),
)
COMMON = "batchctl test BatchControl 42 step 10 attempt "
FIRST = f"{COMMON}1 of MyFileType1"


def no_process() -> PluginProcess:
    raise AssertionError("no job is called here")


def rendered(**data: str) -> Rendered:
    return Ssis().render(a_request(STEP, AROUND, **{"Data3": "2026-11-21", **data}))


def a_catalog(**answers: list[Answer]) -> Catalog:
    plain: dict[str, list[Answer]] = {"create": [rows((4711,))], "start": [[]], "messages": [MESSAGES]}
    return Catalog({**plain, **answers})


def carried_out(catalog: Catalog, ready: Rendered | None = None, watched: Watched | None = None) -> StepOutcome:
    execution = watched or Watched(connections={"etl": ETL})
    outcome = Ssis(catalog.open).execute(ready or rendered(), execution)
    assert all(session.closed for session in catalog.sessions) or catalog.refused_sessions
    return outcome


def test_a_package_is_created_started_followed_and_told() -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(status=[rows((7,))])

    outcome = carried_out(catalog, watched=watched)

    assert outcome == StepOutcome(
        succeeded=True,
        output=(
            "execution_id 4711\n2026-11-21T03:00:00 information: Load:Information: begins\n"
            "2026-11-21T03:00:01 warning: Load:Warning: odd\n2026-11-21T03:00:02 error: Load:Error: file is\\nlocked"
        ),
    )
    assert catalog.asked == ["create", "start", "status", "messages"]
    assert watched.sessions == ["ssis:4711"]
    _, values = catalog.batches[0]
    assert values == (
        *("Finance", "Daily Load", "Load.dtsx", "Day", "2026-11-21", "Rows", "5", "LOGGING_LEVEL", "1"),
        *("CALLER_INFO", FIRST, "SYNCHRONIZED", "1"),
    )
    assert [values for _, values in catalog.batches[1:]] == [("4711",)] * 3


def test_the_execution_id_is_known_before_the_package_starts() -> None:
    watched = Watched(connections={"etl": ETL})
    seen: list[list[str]] = []
    catalog = a_catalog(status=[rows((7,))])
    catalog.meanwhile = lambda kind: seen.append(list(watched.sessions)) if kind == "start" else None

    carried_out(catalog, watched=watched)

    assert seen == [["ssis:4711"]]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (3, "execution 4711 was cancelled (status 3)"),
        (4, "execution 4711 failed (status 4)"),
        (6, "execution 4711 ended unexpectedly (status 6)"),
        (9, "execution 4711 completed without saying that it succeeded (status 9)"),
        (77, "execution 4711 ended in a way that this version does not know (status 77)"),
    ],
)
def test_only_succeeded_is_success(status: int, message: str) -> None:
    outcome = carried_out(a_catalog(status=[rows((status,))]))

    assert (outcome.succeeded, outcome.fatal, outcome.stopped) == (False, False, False)
    assert outcome.message == f"{message}: Load:Error: file is\\nlocked"


def test_a_start_that_returns_early_is_waited_for() -> None:
    catalog = a_catalog(status=[rows((5,)), rows((2,)), rows((8,)), rows((7,))])

    assert carried_out(catalog).succeeded
    assert catalog.asked.count("status") == 4
    assert ["WAITFOR" in sql for sql, _ in catalog.batches if "[executions]" in sql] == [False, True, True, True]


@pytest.mark.parametrize("number", [27146, 27123, 27176, 229, 2812])
def test_what_trying_again_cannot_help_is_fatal_and_says_what_to_do(number: int) -> None:
    outcome = carried_out(a_catalog(create=[caught(number, "Cannot access the package")]))

    assert (outcome.succeeded, outcome.fatal) == (False, True)
    start = f"error {number}: Cannot access the package (catalog.start_execution, line 21); "
    assert (outcome.message or "").startswith(start)


def test_a_deadlock_while_creating_is_a_plain_failure() -> None:
    outcome = carried_out(a_catalog(create=[caught(1205, "deadlocked")]))

    assert (outcome.succeeded, outcome.fatal, outcome.output) == (False, False, None)


@pytest.mark.parametrize("late", [False, True])
def test_an_error_that_the_batch_cannot_catch_is_found_by_draining(late: bool) -> None:
    error = DriverError("42000", NUMBERED.format(text="The EXECUTE permission was denied", number=229))
    catalog = a_catalog(create=[Late(rows((4711,)), error) if late else error])

    outcome = carried_out(catalog)

    assert (outcome.succeeded, outcome.fatal, catalog.asked) == (False, True, ["create"])
    assert "permission was denied" in (outcome.message or "")


def test_a_project_deployed_between_creation_and_start_is_created_once_more() -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(
        create=[rows((4711,)), rows((4712,))], start=[caught(27150, "version has changed"), []], status=[rows((7,))]
    )

    outcome = carried_out(catalog, watched=watched)

    assert outcome.succeeded
    assert catalog.asked == ["create", "start", "create", "start", "status", "messages"]
    assert watched.sessions == ["ssis:4711", "ssis:4712"]
    assert len(watched.stops) == 1
    assert (outcome.output or "").startswith("execution_id 4712\nexecution 4711 was given up")


def test_a_project_deployed_twice_is_a_failure_that_may_be_retried() -> None:
    catalog = a_catalog(start=[caught(27150, "version has changed")], status=[rows((1,))])

    outcome = carried_out(catalog)

    assert (outcome.succeeded, outcome.fatal) == (False, False)
    assert catalog.asked.count("create") == 2
    assert (outcome.message or "").startswith("error 27150")


def test_an_error_of_the_start_is_not_believed_while_the_package_runs() -> None:
    catalog = a_catalog(start=[caught(27133, "unable to wait for process")], status=[rows((2,)), rows((7,))])

    assert carried_out(catalog).succeeded


def test_a_start_that_was_refused_is_told_without_waiting() -> None:
    catalog = a_catalog(start=[caught(27184, "required parameters")], status=[rows((1,))])

    outcome = carried_out(catalog)

    assert (outcome.fatal, catalog.asked.count("status")) == (True, 1)
    assert "give every required parameter a value in Data3" in (outcome.message or "")


@pytest.mark.parametrize("lost_at", [CONNECTION_LOST, Late([], CONNECTION_LOST)])
def test_a_lost_connection_does_not_lose_the_execution(lost_at: Answer) -> None:
    catalog = a_catalog(start=[lost_at], status=[rows((2,)), CONNECTION_LOST, rows((2,)), rows((7,))])

    outcome = carried_out(catalog)

    assert outcome.succeeded
    assert catalog.asked.count("start") == 1
    assert len(catalog.sessions) == 3
    assert "the connection was lost: " in (outcome.output or "")


def test_a_lost_connection_before_the_start_was_carried_out_is_a_failure() -> None:
    catalog = a_catalog(start=[CONNECTION_LOST], status=[rows((1,))])

    outcome = carried_out(catalog)

    assert (outcome.succeeded, outcome.fatal) == (False, False)
    assert (outcome.message or "").startswith("execution 4711 was created and never started (status 1)")
    assert catalog.asked.count("status") == 31


def test_an_execution_that_cannot_be_seen_any_more_is_lost_and_never_started_again_unasked() -> None:
    catalog = a_catalog(start=[CONNECTION_LOST])
    catalog.refused_sessions = frozenset({2, 3, 4})

    outcome = carried_out(catalog)

    assert (outcome.succeeded, outcome.lost) == (False, True)
    assert "execution 4711 was under way and it is unknown how it ended" in (outcome.message or "")


def test_a_connection_that_cannot_be_opened_is_a_plain_failure() -> None:
    catalog = a_catalog()
    catalog.refused_sessions = frozenset({1})

    outcome = carried_out(catalog)

    assert (outcome.succeeded, outcome.fatal) == (False, False)
    assert outcome.message == "connection 'etl' cannot be opened: login timeout"


def test_being_told_to_stop_stops_the_operation_and_waits_for_its_real_end() -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(stop=[caught(27124, "not running"), []], status=[rows((8,)), rows((8,)), rows((3,))])
    catalog.meanwhile = lambda kind: watched.stop() if kind == "start" else None

    outcome = carried_out(catalog, watched=watched)

    assert catalog.asked == ["create", "start", "stop", "pause", "stop", "status", "status", "status", "messages"]
    assert (outcome.succeeded, outcome.stopped) == (False, True)
    assert outcome.message == "was told to stop; execution 4711 was cancelled (status 3)"


def test_a_stop_that_is_refused_is_told_and_the_end_is_waited_for() -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(stop=[caught(27143, "Cannot access the operation")], status=[rows((2,)), rows((4,))])
    catalog.meanwhile = lambda kind: watched.stop() if kind == "start" else None

    outcome = carried_out(catalog, watched=watched)

    assert outcome.stopped
    assert "; the stop was refused: error 27143: Cannot access the operation" in (outcome.message or "")


def test_what_succeeds_although_it_was_to_stop_has_succeeded() -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(stop=[caught(27126, "is already in Stopping state")], status=[rows((7,))])
    catalog.meanwhile = lambda kind: watched.stop() if kind == "start" else None

    outcome = carried_out(catalog, watched=watched)

    assert (outcome.succeeded, outcome.stopped) == (True, False)


def test_a_stop_before_the_start_starts_nothing() -> None:
    watched = Watched(connections={"etl": ETL}, announced=True)
    catalog = a_catalog()

    outcome = carried_out(catalog, watched=watched)

    assert (outcome.stopped, outcome.message) == (True, "was told to stop before execution 4711 was started")
    assert catalog.asked == ["create"]


def test_messages_that_cannot_be_read_do_not_change_the_end() -> None:
    outcome = carried_out(a_catalog(status=[rows((7,))], messages=[caught(229, "denied")]))

    assert outcome.succeeded
    assert "its messages cannot be read: error 229: denied" in (outcome.output or "")


def test_a_flood_of_messages_is_bounded_and_says_so() -> None:
    flood = rows(*((number, 70, "2026-11-21T03:00:00", "x" * 5000, 9000) for number in range(300)))

    outcome = carried_out(a_catalog(status=[rows((7,))], messages=[flood]))

    assert len(outcome.output or "") < 70_000
    assert "8700 more messages are in" in (outcome.output or "")


LOST = replace(STEP, on_lost=OnLost.VERIFY)


def look(attempt: int = 2, lost_count: int = 1) -> Rendered:
    handler = Ssis()
    asked = replace(handler.verification(LOST), seq=LOST.seq, name=LOST.name)
    request = a_request(asked, AROUND, Data3="x")
    instance = replace(request.instance, lost_count=lost_count)
    return handler.render(replace(request, attempt_no=attempt, instance=instance))


@pytest.mark.parametrize(
    ("found", "statuses", "done"),
    [
        (rows(), [], False),
        (rows((4711, 7, FIRST)), [rows((7,))], True),
        (rows((4711, 4, FIRST)), [rows((4,))], False),
        (rows((4711, 1, FIRST)), [rows((1,))], False),
        (rows((4711, 2, FIRST)), [rows((2,)), rows((2,)), rows((7,))], True),
        (rows((4711, 2, FIRST)), [rows((2,)), rows((4,))], False),
        (CONNECTION_LOST, [], None),
        (caught(229, "denied"), [], None),
    ],
)
def test_after_a_restart_the_lost_execution_is_found_and_followed(
    found: Answer, statuses: list[Answer], done: bool | None
) -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(search=[found], status=statuses)

    outcome = carried_out(catalog, look(), watched)

    assert Ssis().is_done(outcome) is done
    assert "create" not in catalog.asked
    assert "start" not in catalog.asked
    assert watched.sessions == (["ssis:4711"] if statuses else [])
    assert catalog.batches[0][1] == (COMMON, "Finance", "Daily Load", "Load.dtsx")


def test_an_older_attempt_that_succeeded_says_nothing_about_the_lost_one() -> None:
    catalog = a_catalog(search=[rows((4711, 7, FIRST))], status=[rows((7,))])

    outcome = carried_out(catalog, look(attempt=4))

    assert Ssis().is_done(outcome) is None
    assert outcome.message == ("the newest execution in the catalog is that of attempt 1; lost were those from 3 on")


@pytest.mark.parametrize(("status", "done"), [(7, True), (4, False)])
def test_a_lost_execution_is_found_again_however_often_the_looking_itself_is_lost(status: int, done: bool) -> None:
    # Attempt 1 was lost, and so were the attempts 2 and 3 that looked for it.
    catalog = a_catalog(search=[rows((4711, 2, FIRST))], status=[rows((2,)), rows((status,))])

    assert Ssis().is_done(carried_out(catalog, look(attempt=4, lost_count=3))) is done


@pytest.mark.parametrize("attempt", [3, 4])
def test_of_several_lost_attempts_the_newest_execution_counts(attempt: int) -> None:
    # Attempt 1 was lost and not done, 3 and the looking of 4 were lost too.
    catalog = a_catalog(search=[rows((4713, 7, f"{COMMON}{attempt} of x"))], status=[rows((7,))])

    assert Ssis().is_done(carried_out(catalog, look(attempt=5, lost_count=3))) is True


def test_whose_an_execution_is_stands_in_it_whole() -> None:
    request = a_request(STEP, AROUND, Data3="x")
    other = replace(request, database_id="another", batch_name="renamed $(x)\n")
    spec = Ssis().render(other).spec

    assert spec["caller"] == "batchctl another BatchControl 42 step 10 attempt 1 of renamed $(x)\\n"
    # Neither of another control database's, nor of a step or an attempt whose number only begins alike.
    assert not str(spec["caller"]).startswith(COMMON)
    assert _catalog.marker(other) == "batchctl another BatchControl 42 step 10 attempt "
    assert _catalog.attempt_of(f"{COMMON}12 of MyFileType1", COMMON) == 12
    assert _catalog.attempt_of(f"{COMMON}of MyFileType1", COMMON) is None


def test_the_heading_of_a_text_holds_no_variable_of_sqlcmd() -> None:
    request = replace(a_request(STEP, AROUND, Data3="$(x)"), note="batch $(PATH)")

    assert "$(" not in Ssis().render(request).command_text


def test_a_single_message_is_a_message_and_no_error() -> None:
    only = rows((3, 120, "2026-11-21T03:00:02", "Load:Error: file is locked", 1))

    outcome = carried_out(a_catalog(status=[rows((4,))], messages=[only]))

    assert outcome.message == "execution 4711 failed (status 4): Load:Error: file is locked"
    assert (outcome.output or "").endswith("\n2026-11-21T03:00:02 error: Load:Error: file is locked")


def test_an_error_that_a_batch_has_caught_is_one_whatever_comes_behind_it() -> None:
    outcome = carried_out(a_catalog(create=[[*caught(27146, "Cannot access the package"), [(None,)]]]))

    assert (outcome.fatal, (outcome.message or "")[:12]) == (True, "error 27146:")


REFUSED = "Syntax error or access violation"


@pytest.mark.parametrize(("words", "fatal"), [(REFUSED, True), ("Base table or view not found", True),
    ("Serialization failure", False), ("Communication link failure", False), ("Numeric value out of range", False)])  # fmt: skip
def test_an_error_without_a_number_is_judged_by_its_class(words: str, fatal: bool) -> None:
    error = MssqlPythonError(words, "The EXECUTE permission was denied")

    outcome = carried_out(a_catalog(create=[error]))

    assert (outcome.succeeded, outcome.fatal, outcome.lost) == (False, fatal, False)
    assert (outcome.message or "").startswith("The EXECUTE permission was denied")


def test_a_deadlock_at_the_start_is_no_lost_connection() -> None:
    error = MssqlPythonError("Serialization failure", "Transaction was deadlocked")
    catalog = a_catalog(start=[error], status=[rows((1,))])

    outcome = carried_out(catalog)

    assert (outcome.message, outcome.fatal) == ("Transaction was deadlocked", False)
    assert "connection was lost" not in repr(outcome)
    assert catalog.asked.count("status") == 1


def test_a_text_from_a_row_does_not_choose_the_number() -> None:
    error = DriverError("42000", NUMBERED.format(text="value '(229) (SQLFetch)' is odd", number=50000))

    assert not carried_out(a_catalog(create=[error])).fatal


def test_stopping_the_search_stops_what_it_has_found() -> None:
    watched = Watched(connections={"etl": ETL})
    catalog = a_catalog(search=[rows((4711, 2, FIRST))], status=[rows((2,)), rows((3,))])
    catalog.meanwhile = lambda kind: watched.stop() if kind == "status" and not watched.announced else None

    outcome = carried_out(catalog, look(), watched)

    assert "stop" in catalog.asked
    assert (outcome.stopped, Ssis().is_done(outcome)) == (True, None)


def test_the_engine_asks_for_a_lost_execution_by_the_marker_of_its_step() -> None:
    preparer = Preparer(find_handler=lambda _: Ssis(), context=AROUND, user="etl", host="ETL02", database_id="test")
    batch = BatchDefinition(batch_id=BatchId(1), name="MyFileType1", entity="MyFileType1")
    now = datetime(2026, 11, 21, 3, tzinfo=UTC)

    prepared = preparer.prepare(
        an_instance(Data3="x", lost_count=1), batch, LOST, attempt_no=3, cause=Cause.VERIFY, now=now
    )

    assert prepared.rendered is not None
    assert prepared.rendered.spec["first_lost"] == 2
    assert prepared.rendered.spec["caller"] == COMMON


def test_the_runner_stops_an_execution_under_way_and_knows_its_id() -> None:
    started, released = threading.Event(), threading.Event()

    def meanwhile(kind: str) -> None:
        if kind == "start":
            started.set()
            assert released.wait(30)
        elif kind == "stop":
            released.set()

    catalog = a_catalog(status=[rows((8,)), rows((3,))], stop=[[]])
    catalog.meanwhile = meanwhile
    runner = ThreadStepRunner(
        controller_id="a test",
        plugin_process=no_process,
        jobs={},
        connections={"etl": ETL},
        secrets=str,
    )
    try:
        runner.start(KEY, Ssis(catalog.open), rendered())
        assert started.wait(30)
        runner.stop(KEY)
        reports: list[object] = []
        while not any(isinstance(report, Finished) for report in reports):
            reports += runner.collect(timedelta(seconds=30))
    finally:
        runner.close()

    finished = next(report for report in reports if isinstance(report, Finished))
    assert finished.outcome.stopped
    assert finished.outcome.message == "was told to stop; execution 4711 was cancelled (status 3)"
    assert finished.identity is not None
    assert finished.identity.db_session == "ssis:4711"


SENT = {
    "DateTime": ("2026-11-21T02:30:00.003", "datetime", "CONVERT(datetime, ?, 126)"),
    "Single": ("0.5", "real", "CAST(? AS real)"),
    "Double": ("0.5", "float", "CAST(? AS float)"),
    "UInt64": ("18446744073709551615", "decimal(20, 0)", "CAST(? AS decimal(20, 0))"),
    "UInt32": ("4294967295", "bigint", "CAST(? AS bigint)"),
    "SByte": ("-128", "smallint", "CAST(? AS smallint)"),
    "Byte": ("255", "tinyint", "CAST(? AS tinyint)"),
    "Boolean": ("1", "bit", "CAST(? AS bit)"),
    "Decimal": ("-12.50", "decimal(4, 2)", "CAST(? AS decimal(4, 2))"),
    "String": ("x", "nvarchar(4000)", "?"),
}


@pytest.mark.parametrize("kind", SENT)
def test_every_type_reaches_the_catalog_as_the_one_that_it_documents(kind: str) -> None:
    value, declared, cast = SENT[kind]
    catalog = a_catalog(status=[rows((7,))])

    carried_out(
        catalog,
        Ssis().render(
            a_request(replace(STEP, data=(*STEP.data[:2], f"P({kind})={{Data3}}", *STEP.data[3:])), AROUND, Data3=value)
        ),
    )

    sql, values = catalog.batches[0]
    assert f"@value1 {declared} = {cast};" in sql
    assert values[4] == value


@pytest.mark.parametrize(("name", "text"), [("ssis", rendered), ("ssis_lost", look)])
def test_the_text_to_paste_is_the_golden_one(name: str, text: Any) -> None:
    assert text().command_text + "\n" == (GOLDEN / f"{name}.sql").read_text(encoding="utf-8")


def literals(tree: parsed.Expr) -> str:
    """What a concatenation of literals and code units means."""
    match tree:
        case parsed.Add():
            return literals(tree.left) + literals(tree.right)
        case parsed.National() | parsed.Literal():
            return str(tree.this)
        case _:
            number = tree.find(parsed.Literal)
            assert number is not None
            return chr(int(number.this))


@given(HOSTILE)
def test_any_value_pastes_as_one_literal_that_means_it(value: str) -> None:
    if len(value) > 1000:
        return
    text = rendered(Data3=value).command_text

    assert all(visible(line) == line for line in text.split("\n"))
    assert "$(" not in text
    lines = [line for line in statements(text) if "@value1" in line]
    declared = sqlglot.parse_one(lines[0], read="tsql")
    assert isinstance(declared, parsed.Declare)
    items = declared.expressions
    assert len(items) == 2
    assert literals(items[1].args["default"]).encode("utf-16-le", "surrogatepass") == value.encode("utf-16-le")


@pytest.mark.parametrize("value", ["plain", "O'Brien", *ATOMS[::7]])
def test_the_text_is_read_by_a_parser_of_t_sql(value: str) -> None:
    assert_frames_are_closed(rendered(Data3=value).command_text)
    trees = sqlglot.parse("\n".join(statements(rendered(Data3=value).command_text)), read="tsql")

    assert not [tree for tree in trees if isinstance(tree, parsed.Command)]
    assert len([tree for tree in trees if isinstance(tree, parsed.Execute)]) == 7


def test_what_is_sent_is_framed_as_what_is_pasted() -> None:
    catalog = a_catalog(status=[rows((7,))])
    carried_out(catalog)

    for sql, _ in catalog.batches:
        assert_frames_are_closed(sql)
    assert ["BEGIN TRY" in sql for sql, _ in catalog.batches] == [True, True, False, False]


@pytest.mark.parametrize("driver", ["pyodbc", "mssqlpython"])
def test_a_session_is_opened_for_this_step_alone_and_no_error_shows_its_password(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def connect(text: str, **options: Any) -> None:
        asked.append((text, options))
        raise DriverError("28000", f"[28000] Login failed for {text}")

    module = SimpleNamespace(
        __name__="pyodbc" if driver == "pyodbc" else "mssql_python",
        connect=connect,
        pooling=lambda *, enabled: None,
        Error=DriverError,
    )
    monkeypatch.setattr(_mssql_driver, "import_module", lambda name: module)
    secret = Connection("etl", f"mssql+{driver}://sa:s3cret@etl01/SSISDB?driver=ODBC+Driver+18")

    outcome = Ssis().execute(rendered(), Watched(connections={"etl": secret}))

    ((text, options),) = asked
    assert options["autocommit"] is True
    assert ("APP=batchctl/" in text) == (driver == "pyodbc")
    assert (outcome.succeeded, outcome.fatal) == (False, True)
    assert (outcome.message or "").startswith("connection 'etl' cannot be opened: ")
    assert "s3cret" not in repr(outcome)


def test_a_missing_driver_is_said_by_check_and_by_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise ImportError("libodbc.so.2: no such file")

    monkeypatch.setattr(_mssql_driver, "import_module", nothing)

    (finding,) = Ssis().check(STEP, AROUND)
    outcome = Ssis().execute(rendered(), Watched(connections={"etl": ETL}))

    assert finding.column == "Data4"
    assert "pip install 'batchctl[sqlserver]'" in finding.message
    assert (outcome.message, outcome.fatal) == (finding.message, True)


def test_a_connection_that_left_the_configuration_is_named() -> None:
    outcome = Ssis().execute(rendered(), Watched())

    assert (outcome.fatal, outcome.message) == (True, "connection 'etl' is not in the configuration")
