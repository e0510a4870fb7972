"""SQL Server steps against a driver that plays the sequences a server was seen to answer. No server was at hand."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from batchctl import __version__
from batchctl.plugin_api import Step, StepHandler, StepOutcome, StepRefused
from batchctl.testing import a_request, a_step
from step_handlers.databases import _servers
from step_handlers.sql import Sql
from step_handlers.sqlserver import _mssql, _mssql_driver
from step_handlers.stored_procedure import StoredProcedure
from tests.sqlserver.taken import assert_taken
from tests.step_handlers.execution import Alone, as_execution
from tests.step_handlers.postgres_steps import context_at
from tests.step_handlers.scripted_server import (
    ERROR_COLUMNS,
    ONE_OPEN,
    SESSION,
    Answer,
    ConnectionStringParseError,
    Count,
    Error,
    Failure,
    Last,
    MssqlPythonError,
    Rows,
    Server,
    server_error,
)

URL = "mssql+pyodbc://etl:s3cret@etl01/Staging?driver=ODBC+Driver+18+for+SQL+Server&port=1434"
DRIVER = "ODBC Driver 18 for SQL Server"
BUNDLED = "mssql+mssqlpython://etl:s3cret@etl01/Staging"
ODBC = "mssql+pyodbc:///?odbc_connect=SERVER%3Detl01%3BDATABASE%3DStaging%3BUID%3Detl%3BPWD%3D%7Bs3%7D%7Dcret%7D"
CALL = a_step(
    "stored_procedure",
    Data1="warehouse",
    Data2="dbo.usp_Load",
    Data3="@FileName={Data1}, @Rows=5, @Note={Data2}, @Total=OUTPUT, @Seed=2.5 OUTPUT",
)
QUERY = a_step("sql", Data1="warehouse", Data2="UPDATE Item SET Name={Data1};\nSELECT {Data1}")
RC = ["batchctl_return_code", "Total", "Seed"]
DONE: list[Answer] = [Rows(RC, [[0, "12", 2.5]])]


def play(
    monkeypatch: pytest.MonkeyPatch, server: Server, step: Step = CALL, alone: Alone | None = None, url: str = URL
) -> StepOutcome:
    """Carry out a step against the scripted server."""
    server.module = "mssql_python" if "mssqlpython" in url else "pyodbc"
    driver = server.driver
    monkeypatch.setattr(_mssql_driver, "import_module", lambda name: driver)
    handler: StepHandler = Sql() if step.process_type == "sql" else StoredProcedure()
    context = context_at(url)
    rendered = handler.render(a_request(step, context, Data1="it's", Data2=None))
    execution = replace(alone or Alone(), connections=context.connections)
    return handler.execute(rendered, as_execution(execution))


def test_every_result_is_read_and_everything_said_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(
        [
            Count(3, wording=["loading"]),
            Rows(["Name", "Amount"], [["a", 1], [None, 2]], wording=["read it\x1b[31m"]),
            Count(2),
            Rows(RC, [[0, None, 2.5]], wording=["done"]),
            Last(["and closed"]),
        ]
    )
    alone = Alone()

    outcome = play(monkeypatch, server, alone=alone)

    assert outcome == StepOutcome(
        succeeded=True,
        return_code=0,
        rows_affected=5,
        value="a",
        output=(
            "loading\nread it\\x1b[31m\nName | Amount\na | 1\nNULL | 2\n(2 rows)\ndone\n@Total = NULL\n@Seed = 2.5\nand closed"
        ),
    )
    assert alone.sessions == ["51@2026-11-21T03:00:00.123"]


def test_an_error_behind_the_first_result_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(
        [Rows(["Name"], [["a"]]), server_error(547, "The INSERT statement conflicted with the FOREIGN KEY", "23000")]
    )

    outcome = play(monkeypatch, server)

    assert outcome.message == "[dbo].[usp_Load] failed: error 547: The INSERT statement conflicted with the FOREIGN KEY"
    assert (outcome.succeeded, outcome.fatal, outcome.output) == (False, False, "Name\na\n(1 row)")


def test_an_error_behind_a_row_count_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = play(monkeypatch, Server([Count(1), Count(1), server_error(8134, "Divide by zero error encountered.")]))

    assert outcome.message == "[dbo].[usp_Load] failed: error 8134: Divide by zero error encountered."
    assert outcome.rows_affected == 2


def test_a_return_code_read_after_a_late_error_does_not_undo_it(monkeypatch: pytest.MonkeyPatch) -> None:
    late = MssqlPythonError("Integrity constraint violation", "[Microsoft][SQL Server]Violation of PRIMARY KEY")

    outcome = play(monkeypatch, Server([Count(1), late, *DONE]), url=BUNDLED)

    assert outcome.message == "[dbo].[usp_Load] failed: Violation of PRIMARY KEY"
    assert not outcome.succeeded


def test_a_procedure_that_handles_its_errors_is_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # IF @@ERROR <> 0 ... RETURN 7: within a TRY it would never get there, and neither its message nor its code would come.
    handled: list[Answer] = [
        Count(1),
        MssqlPythonError("Integrity constraint violation", "[Microsoft][SQL Server]Violation of PRIMARY KEY"),
        MssqlPythonError("General error", "[Microsoft][SQL Server]Orders were not loaded"),
        Count(1, wording=["the error was written down"]),
        Rows(RC, [[7, None, None]]),
    ]

    outcome = play(monkeypatch, Server(handled), url=BUNDLED)

    assert outcome.message == "[dbo].[usp_Load] failed: Violation of PRIMARY KEY"
    assert outcome.return_code == 7
    assert "the error was written down" in (outcome.output or "")


def test_what_a_failed_procedure_left_open_is_rolled_back_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server([Count(1), server_error(547, "it conflicted", "23000")], open_transactions=ONE_OPEN)

    outcome = play(monkeypatch, server)

    end = "; the transaction that it left open was rolled back"
    assert outcome.message == f"[dbo].[usp_Load] failed: error 547: it conflicted{end}"
    assert server.asked[-1][0] == "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"


def test_a_driver_that_raises_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    endless: list[Answer] = [MssqlPythonError("General error", "[Microsoft][SQL Server]again")] * 2000

    outcome = play(monkeypatch, Server([Count(1), *endless]), url=BUNDLED)

    assert outcome.message == "[dbo].[usp_Load] failed: again"


def test_a_count_that_the_driver_does_not_tell_is_not_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    several: list[Answer] = [Count(3), Rows(["Name"], [["a"], ["b"]]), Count(7)]

    counted = {url: play(monkeypatch, Server(several), QUERY, url=url).rows_affected for url in (URL, BUNDLED)}
    first = play(monkeypatch, Server([Count(3), Rows(["Name"], [["a"]])]), QUERY, url=BUNDLED)
    none = play(monkeypatch, Server([Rows(["Name"], [["a"], ["b"]])]), QUERY, url=BUNDLED)

    assert counted == {URL: 10, BUNDLED: None}
    assert (first.rows_affected, none.rows_affected) == (3, 0)


def test_a_statement_that_counts_nothing_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(monkeypatch, Server([Count(3), Count(-1), Count(2)]), QUERY).rows_affected == 5


def test_what_was_said_on_the_way_to_an_error_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Failure(server_error(8134, "Divide by zero error encountered."), ["row 7 is odd"])

    assert play(monkeypatch, Server([broken]), QUERY).output == "row 7 is odd"


def test_an_error_behind_the_row_of_a_question_of_our_own_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(DONE, session=[SESSION, server_error(300, "permission was denied")])

    outcome = play(monkeypatch, server)

    assert outcome.message == "[dbo].[usp_Load] failed: error 300: permission was denied"
    assert not [sql for sql, _ in server.asked if "usp_Load" in sql]


CAUGHT = Rows(ERROR_COLUMNS, [[2627, 14, 1, 12, "dbo.usp_Inner", "Violation of PRIMARY KEY\r\nhere"]])


@pytest.mark.parametrize("after", [[server_error(2627, "Violation", "23000")], [], DONE])
def test_number_severity_line_and_procedure_are_said(monkeypatch: pytest.MonkeyPatch, after: list[Answer]) -> None:
    outcome = play(monkeypatch, Server([Count(1, wording=["before it"]), CAUGHT, *after]))

    assert outcome.message == (
        "[dbo].[usp_Load] failed: error 2627: Violation of PRIMARY KEY\\r\\nhere "
        "(severity 14, state 1, procedure dbo.usp_Inner, line 12)"
    )
    assert (outcome.succeeded, outcome.output) == (
        False,
        "before it" + ("\n@Total = 12\n@Seed = 2.5" if after == DONE else ""),
    )


@pytest.mark.parametrize("masking", [3903, 3902])
def test_an_error_of_the_rollback_does_not_hide_the_first(monkeypatch: pytest.MonkeyPatch, masking: int) -> None:
    server = Server(
        [server_error(1205, "deadlock victim", "40001")],
        roll_back=[server_error(masking, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.")],
    )

    outcome = play(monkeypatch, server, QUERY)

    assert outcome.message == "the batch failed: error 1205: deadlock victim; everything was rolled back"
    assert server.asked[-1][0] == "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"


def test_the_first_of_two_errors_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    second = Rows(ERROR_COLUMNS, [[3930, 16, 1, 1, None, "The current transaction cannot be committed"]])

    outcome = play(monkeypatch, Server([CAUGHT, second, server_error(3930, "cannot be committed")]))

    assert "error 2627" in (outcome.message or "")


@pytest.mark.parametrize(("code", "said"), [(5, "return code 5"), (-6, "return code -6"), (None, "no return code")])
def test_a_return_code_other_than_0_is_a_failure(monkeypatch: pytest.MonkeyPatch, code: int | None, said: str) -> None:
    outcome = play(monkeypatch, Server([Rows(RC, [[code, None, None]])]))

    assert outcome.message == f"[dbo].[usp_Load] ended with {said}; only 0 is success"
    assert (outcome.succeeded, outcome.return_code) == (False, code)


def test_a_call_that_never_gave_its_return_code_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = play(monkeypatch, Server([Count(1)]))

    assert outcome.message == "[dbo].[usp_Load] ended with no return code; only 0 is success"


def test_a_transaction_left_open_is_a_failure_and_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(DONE, open_transactions=ONE_OPEN)

    outcome = play(monkeypatch, server)

    assert outcome.message == "[dbo].[usp_Load] left a transaction open; it was rolled back"
    assert not outcome.succeeded
    assert server.asked[-1][0] == "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"


@pytest.mark.parametrize("number", [2812, 229, 201, 8144, 8145, 102, 156, 208])
def test_what_trying_again_cannot_mend_is_fatal(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    raised = play(monkeypatch, Server([server_error(number, "(1205) is in the text")]))
    told = play(monkeypatch, Server([Rows(ERROR_COLUMNS, [[number, 16, 1, 1, None, "text"]])]))

    assert (raised.fatal, told.fatal) == (True, True)
    assert raised.message == f"[dbo].[usp_Load] failed: error {number}: (1205) is in the text"


@pytest.mark.parametrize("number", [1205, 1222, 547, 515, 8134, 50000])
def test_what_trying_again_may_mend_is_not(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    assert not play(monkeypatch, Server([server_error(number, "(2812) is in the text")])).fatal


def test_lines_count_from_the_first_of_the_author(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = play(monkeypatch, Server([Rows(ERROR_COLUMNS, [[245, 16, 1, 4, None, "Conversion failed"]])]), QUERY)

    assert outcome.message == (
        "the batch failed: error 245: Conversion failed (severity 16, state 1, line 2); everything was rolled back"
    )
    assert (outcome.error_code, outcome.error_line) == ("245", 2)


BACKUP = "DECLARE @file nvarchar(512) = N'C:\\shop.bak';\nBACKUP DATABASE Shop TO DISK = @file;"


@pytest.mark.parametrize(
    "text", [BACKUP, "EXEC sp_updatestats;", "EXEC sys.[sp_updatestats]", "ALTER DATABASE Shop SET READ_ONLY"]
)
def test_what_no_transaction_may_hold_is_done_without_one(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    step = a_step("sql", Data1="warehouse", Data2=text)
    server = Server([Rows(ERROR_COLUMNS, [[3013, 16, 1, 3, None, "BACKUP DATABASE is terminating abnormally."]])])

    outcome = play(monkeypatch, server, step)

    (sent,) = [sql for sql, _ in server.asked if text in sql]
    assert "TRANSACTION" not in sent.partition("BEGIN CATCH")[0]
    assert outcome.message == (
        "the batch failed: error 3013: BACKUP DATABASE is terminating abnormally. (severity 16, state 1, line 2)"
    )


def test_what_only_names_a_backup_stays_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server([Count(1)])
    text = "INSERT INTO Log (Said) VALUES ('BACKUP DATABASE x') -- BACKUP DATABASE y"

    play(monkeypatch, server, a_step("sql", Data1="warehouse", Data2=text))

    assert [sql for sql, _ in server.asked if "BEGIN TRANSACTION;" in sql]


def test_options_are_set_and_the_lock_is_taken_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(DONE)

    play(monkeypatch, server)

    asked = [sql for sql, _ in server.asked]
    assert "SET LANGUAGE us_english; SET DATEFORMAT ymd; SET LOCK_TIMEOUT -1;" in asked[0]
    assert "SET QUOTED_IDENTIFIER ON" in asked[1]
    assert asked[2] == "SET XACT_ABORT OFF;"
    assert "@LockOwner = 'Session'" in asked[4]
    assert server.asked[4][1] == ("batchctl:42:test",)
    assert asked[5].startswith("DECLARE @arg1 nvarchar(4000) = ?;")
    assert server.asked[5][1] == ("it's", 5, 2.5)
    assert asked[6] == "SELECT @@TRANCOUNT"
    assert server.closed == 1


@pytest.mark.parametrize(
    ("code", "holder", "said"),
    [
        (-1, [Rows([""], [[77]])], "still being carried out there, by session 77; wait for it, or end it: KILL 77"),
        (-1, [server_error(300, "permission was denied")], "by another session; wait for it"),
        (-2, [], "the lock of BatchControl 42 was not granted because it was cancelled"),
        (-3, [], "the lock of BatchControl 42 was not granted because of a deadlock"),
        (-999, [], "the lock of BatchControl 42 was not granted because of a bad call"),
    ],
)  # fmt: skip
def test_the_locks_return_code_is_believed(
    monkeypatch: pytest.MonkeyPatch, code: int, holder: list[Answer], said: str
) -> None:
    server = Server(DONE, lock=[Rows([""], [[code]])], holder=holder)

    outcome = play(monkeypatch, server)

    assert (outcome.message or "").endswith(said)
    assert (outcome.succeeded, outcome.fatal) == (False, False)
    assert not [sql for sql, _ in server.asked if "usp_Load" in sql]


@pytest.mark.parametrize(
    ("answer", "is_alive"),
    [(Rows([""], [[0]]), False), (Rows([""], [[-1]]), True), (Rows([""], [[-999]]), None), (server_error(300, "no"), None)],
)  # fmt: skip
def test_whether_a_session_still_carries_out_a_step_is_known_by_its_lock(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, is_alive: bool | None
) -> None:
    server = Server([], lock=[answer])
    server.module = "pyodbc"
    monkeypatch.setattr(_mssql_driver, "import_module", lambda name: server.driver)
    rendered = StoredProcedure().render(a_request(CALL, context_at(URL), Data1="it's", Data2=None))
    execution = as_execution(replace(Alone(), connections=context_at(URL).connections))

    assert StoredProcedure().is_alive(rendered, execution) is is_alive

    ((asked, values),) = [asked for asked in server.asked if "sp_getapplock" in asked[0]]
    assert "@LockTimeout = 0;" in asked
    assert values == ("batchctl:42:test",)
    assert server.closed == 1


def test_a_lock_granted_after_waiting_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(monkeypatch, Server(DONE, lock=[Rows([""], [[1]])])).succeeded


@pytest.mark.parametrize(
    ("url", "text", "given"),
    [
        (
            URL,
            f"DRIVER={{{DRIVER}}};Server=etl01;Database=Staging;UID=etl;PWD=s3cret;port=1434;APP=batchctl/{__version__}",
            {"autocommit": True, "timeout": 10},
        ),
        (BUNDLED, "Server=etl01;Database=Staging;UID=etl;PWD=s3cret", {"autocommit": True, "timeout": 10}),
        (
            ODBC,
            f"SERVER=etl01;DATABASE=Staging;UID=etl;PWD={{s3}}}}cret}};APP=batchctl/{__version__}",
            {"autocommit": True, "timeout": 10},
        ),
    ],
)  # fmt: skip
def test_a_session_of_its_own_is_opened_without_a_pool(
    monkeypatch: pytest.MonkeyPatch, url: str, text: str, given: dict[str, Any]
) -> None:
    server = Server(DONE)

    assert play(monkeypatch, server, url=url).message is None

    assert server.connected == [(text, given)]
    assert (server.pooling_off, server.closed) == (True, 1)


@pytest.mark.parametrize("url", [URL, ODBC])
@pytest.mark.parametrize("error", [
    Error("28000", "[28000] [Microsoft][SQL Server]Login failed for 'etl' s3cret s3}cret. (18456) (SQLDriverConnect)"),
    MssqlPythonError("Invalid authorization specification", "[Microsoft][SQL Server]Login failed s3cret s3}cret"),
])  # fmt: skip
def test_a_refused_login_is_fatal_and_shows_no_password(
    monkeypatch: pytest.MonkeyPatch, url: str, error: Exception
) -> None:
    outcome = play(monkeypatch, Server(DONE, connecting=error), url=url)

    assert (outcome.message or "").startswith("connection 'warehouse' cannot be opened: Login failed")
    assert outcome.fatal
    assert ("s3cret" if url == URL else "s3}cret") not in repr(outcome)
    assert "see that the server is there, and the url of [connections.warehouse]" in (outcome.message or "")


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        (["Unknown keyword 'timeout' is not recognized"], "Unknown keyword 'timeout' is not recognized"),
        (
            ["Unknown keyword 'a'", "Duplicate keyword 'pwd' of s3cret"],
            "Unknown keyword 'a'; Duplicate keyword 'pwd' of ***",
        ),
    ],
)
def test_a_connection_string_that_cannot_be_read_is_told_for_good_and_without_a_password(
    monkeypatch: pytest.MonkeyPatch, errors: list[str], said: str
) -> None:
    outcome = play(monkeypatch, Server(DONE, connecting=ConnectionStringParseError(errors)), url=BUNDLED)

    assert (outcome.message or "").startswith(f"connection 'warehouse' cannot be opened: {said}; see ")
    assert outcome.fatal


def test_an_unreachable_server_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Error(
        "08001", "[08001] [Microsoft][ODBC Driver 18]TCP Provider: Error code 0x2749 (10061) (SQLDriverConnect)"
    )

    assert not play(monkeypatch, Server(DONE, connecting=away)).fatal


@pytest.mark.parametrize("scheme", ["mssql", "sqlserver"])
@pytest.mark.parametrize(
    ("module", "odbc_drivers", "taken"),
    [
        ("pyodbc", ("SQL Server", DRIVER), "pyodbc"),
        ("pyodbc", ("SQL Server",), "mssql_python"),
        ("nothing", (), "mssql_python"),
    ],
)
def test_a_url_without_a_driver_takes_the_one_that_is_there(
    monkeypatch: pytest.MonkeyPatch, scheme: str, module: str, odbc_drivers: tuple[str, ...], taken: str
) -> None:
    url = f"{scheme}://etl:s3cret@etl01/Staging"
    odbc = Server(DONE, odbc_drivers=odbc_drivers)
    bundled = Server(DONE, module="mssql_python")

    def installed(name: str) -> Any:
        found = {module: odbc.driver, "mssql_python": bundled.driver}
        if name not in found:
            raise ImportError(name)
        return found[name]

    monkeypatch.setattr(_mssql_driver, "import_module", installed)
    context = context_at(url)
    rendered = StoredProcedure().render(a_request(CALL, context, Data1="x", Data2="y"))
    outcome = StoredProcedure().execute(rendered, as_execution(Alone(connections=context.connections)))

    assert outcome.succeeded, outcome.message
    ((text, _),) = (odbc if taken == "pyodbc" else bundled).connected
    assert ("DRIVER={ODBC Driver 18 for SQL Server}" in text) == (taken == "pyodbc")
    assert not (bundled if taken == "pyodbc" else odbc).connected


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (URL, "needs pyodbc and Microsoft's ODBC driver: no libodbc; install it: pip install 'batchctl[sqlserver]'"),
        (BUNDLED, "needs mssql_python: no libodbc; install it: pip install 'batchctl[sqlserver-bundled]'"),
    ],
)  # fmt: skip
def test_a_missing_driver_is_said_by_check_and_by_the_step(
    monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    def nothing(name: str) -> None:
        raise ImportError("no libodbc")

    monkeypatch.setattr(_mssql_driver, "import_module", nothing)
    context = context_at(url)

    (finding,) = Sql().check(QUERY, context)
    rendered = Sql().render(a_request(QUERY, context, Data1="x"))
    outcome = Sql().execute(rendered, as_execution(Alone(connections=context.connections)))

    assert finding.message == f"connection 'warehouse' {said}"
    assert (outcome.message, outcome.fatal) == (finding.message, True)


@pytest.mark.parametrize("url", [URL, BUNDLED])
def test_another_thread_stops_a_running_batch(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr(_servers, "CANCEL_AGAIN_SECONDS", 0.01)
    # Looked at once before the batch is sent, and once more when it has failed.
    alone = Alone(looks_until_stop=1)
    server = Server([server_error(3617, "Operation canceled", "HY008")])
    enough = threading.Event()

    def until_stopped() -> None:
        (stop,) = alone.stops
        threading.Thread(target=stop).start()
        for _ in range(1000):
            if server.cancelled > 2 or server.closed:
                return
            enough.wait(0.01)

    server.before_batch = until_stopped

    outcome = play(monkeypatch, server, QUERY, alone, url)

    assert outcome.stopped
    assert outcome.message == "was stopped at the batch; everything was rolled back"
    assert server.cancelled > 2
    assert server.closed == 1


@pytest.mark.parametrize("url", [URL, BUNDLED])
def test_a_session_is_never_closed_during_a_cancel(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    # Microsoft's driver ends the process then (SIGSEGV), with all other steps.
    monkeypatch.setattr(_servers, "CANCEL_AGAIN_SECONDS", 0.0)
    for _ in range(200):
        alone = Alone(looks_until_stop=1)
        server = Server([server_error(3617, "Operation canceled", "HY008")])
        inside, closed = threading.Event(), threading.Event()
        seen: list[str] = []
        stopping: list[threading.Thread] = []

        def cancelling(
            closed: threading.Event = closed, inside: threading.Event = inside, seen: list[str] = seen
        ) -> None:
            seen.append("closed before" if closed.is_set() else "")
            inside.set()
            # As long as a close that does not wait takes to come.
            seen.append("closed during" if closed.wait(0.002) else "")

        def stop_then_end(
            alone: Alone = alone, inside: threading.Event = inside, stopping: list[threading.Thread] = stopping
        ) -> None:
            stopping.append(threading.Thread(target=alone.stops[0]))
            stopping[0].start()
            assert inside.wait(10)

        server.while_cancelling, server.while_closing, server.before_batch = cancelling, closed.set, stop_then_end

        assert play(monkeypatch, server, QUERY, alone, url).stopped
        stopping[0].join(10)
        assert server.closed == 1
        assert {*seen} == {""}


class Impatient(Alone):
    @property
    def must_end(self) -> bool:
        """Its grace time is over."""
        return True


def test_a_server_that_takes_no_notice_of_a_cancel_is_told_once_to_end_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_servers, "CANCEL_AGAIN_SECONDS", 0.001)
    alone = Impatient(looks_until_stop=1)
    server = Server(
        [server_error(596, "Cannot continue the execution because the session is in the kill state.", "HY000")]
    )
    enough = threading.Event()

    def until_killed() -> None:
        threading.Thread(target=alone.stops[0]).start()
        for _ in range(1000):
            if any(sql.startswith("KILL") for sql, _ in server.asked) and server.cancelled > 3:
                return
            enough.wait(0.01)

    server.before_batch = until_killed

    outcome = play(monkeypatch, server, QUERY, alone)

    assert outcome.stopped
    assert [sql for sql, _ in server.asked if sql.startswith("KILL")] == ["KILL 51"]


def test_a_session_that_is_over_is_not_ended_by_its_number_which_is_soon_that_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = Impatient(looks_until_stop=1)
    server = Server([server_error(3617, "Operation canceled", "HY008")])
    closed, plainly, opened = threading.Event(), _mssql_driver.open_session, list[threading.Thread]()
    stopping: list[threading.Thread] = []

    def open_late(connection: Any) -> Any:
        opened.append(threading.current_thread())
        if threading.current_thread() in stopping:
            assert closed.wait(10)
        return plainly(connection)

    def stop() -> None:
        stopping.append(threading.Thread(target=alone.stops[0]))
        stopping[0].start()
        while stopping[0] not in opened:
            closed.wait(0.001)

    monkeypatch.setattr(_mssql, "open_session", open_late)
    server.before_batch, server.while_closing = stop, closed.set

    assert play(monkeypatch, server, QUERY, alone).stopped
    stopping[0].join(10)
    assert [sql for sql, _ in server.asked if sql.startswith("KILL")] == []


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_connection_that_is_lost_after_the_grace_time_is_a_stop_only_where_the_server_ended_the_session(
    monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    monkeypatch.setattr(_servers, "CANCEL_AGAIN_SECONDS", 0.001)
    alone = Impatient(looks_until_stop=1)
    server = Server([server_error(10054, "TCP Provider: An existing connection was forcibly closed", "08S01")])
    if not is_killed:
        server.kill = (server_error(6102, "User does not have permission to use the KILL statement."),)
    enough = threading.Event()

    def until_asked() -> None:
        threading.Thread(target=alone.stops[0]).start()
        for _ in range(1000):
            if any(sql.startswith("KILL") for sql, _ in server.asked) and server.cancelled > 3:
                return
            enough.wait(0.01)

    server.before_batch = until_asked

    outcome = play(monkeypatch, server, QUERY, alone)

    assert (outcome.stopped, outcome.lost) == (is_killed, not is_killed)


def test_a_cancel_that_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_servers, "CANCEL_AGAIN_SECONDS", 0.01)
    server = Server(DONE, cancelling=server_error(0, "Invalid handle", "HY010"))
    alone = Alone(looks_until_stop=1)
    enough, raised = threading.Event(), list[BaseException]()

    def stop() -> None:
        try:
            alone.stops[0]()
        except BaseException as error:  # noqa: BLE001 - told to the test below
            raised.append(error)

    def until_stopped() -> None:
        threading.Thread(target=stop).start()
        for _ in range(1000):
            if server.cancelled > 2 or raised:
                return
            enough.wait(0.01)

    server.before_batch = until_stopped

    play(monkeypatch, server, QUERY, alone)

    assert (server.cancelled > 2, raised) == (True, [])


def test_a_step_told_to_stop_before_it_began_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(DONE)

    outcome = play(monkeypatch, server, alone=Alone(looks_until_stop=0))

    assert outcome.stopped
    assert not [sql for sql, _ in server.asked if "usp_Load" in sql]


@pytest.mark.parametrize(
    "error",
    [
        Error("08S01", "[08S01] [Microsoft][ODBC Driver 18]Communication link failure (10054) (SQLExecDirectW)"),
        Error("08007", "[08007] [Microsoft][ODBC Driver 18]Connection failure during transaction (0) (SQLExecDirectW)"),
        Error("08003", "[08003] [Microsoft][ODBC Driver Manager]Connection not open (0) (SQLExecDirectW)"),
        Error("10054", "[10054] [Microsoft][ODBC Driver 18]An existing connection was closed (0) (SQLExecDirectW)"),
        Error("01002", "[01002] [Microsoft][ODBC Driver 18]Disconnect error (0) (SQLExecDirectW)"),
        MssqlPythonError("Communication link failure", "[Microsoft]TCP Provider: An existing connection was closed"),
        MssqlPythonError("Connection failure during transaction", "[Microsoft]gone"),
        MssqlPythonError("Connection not open", "[Microsoft]gone"),
        MssqlPythonError("An error occurred with SQLSTATE code: 10054", "[Microsoft]gone"),
        MssqlPythonError("Disconnect error", "[Microsoft]gone"),
    ],
)
def test_a_lost_connection_makes_a_lost_step(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    outcome = play(monkeypatch, Server([Count(1), error], roll_back=[error]))

    assert "the connection was lost (" in (outcome.message or "")
    assert (outcome.message or "").endswith("whether it was done is not known")
    assert (outcome.lost, outcome.fatal) == (True, False)


def test_a_table_that_is_missing_is_fatal_where_the_driver_knows_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = MssqlPythonError("Base table or view not found", "[Microsoft][SQL Server]Invalid object name 'Itme'.")

    outcome = play(monkeypatch, Server([missing]), QUERY, url=BUNDLED)

    assert (outcome.fatal, outcome.lost) == (True, False)


def test_a_text_from_a_row_does_not_choose_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Conversion failed for '(229) (SQLFetch); [42000] x (208) (SQLFetch)'."

    outcome = play(monkeypatch, Server([server_error(245, said)]), QUERY)

    assert outcome.message == f"the batch failed: error 245: {said}; everything was rolled back"
    assert not outcome.fatal


def test_only_a_session_of_the_same_database_is_named_for_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(DONE, lock=[Rows([""], [[-1]])], holder=[Rows([""], [[77]])])

    play(monkeypatch, server)

    ((asked, given),) = [one for one in server.asked if "dm_tran_locks" in one[0]]
    assert "resource_database_id = DB_ID()" in asked
    assert given == ("%[[]batchctl:42:test%",)


def test_a_million_rows_are_read_and_a_few_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = play(monkeypatch, Server([Rows(["n"], [[n] for n in range(100_000)]), *DONE]))

    assert "(100000 rows, 99980 of them not shown)" in (outcome.output or "")


def test_a_secret_is_resolved_only_at_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server([Count(1)])
    step = a_step("sql", Data1="warehouse", Data2="UPDATE Item SET Name={secret:token}")

    outcome = play(monkeypatch, server, step, Alone(secrets={"token": "s3cret"}))

    assert outcome.succeeded
    assert [given for sql, given in server.asked if "UPDATE" in sql] == [("s3cret",)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT '{Data1}'", "{Data1} stands in quotes; remove the quotes"),
        ("SELECT [a]]{Data1}]", "{Data1} stands in quotes"),
        ("SELECT 1 /* /* */ {Data1} */", "{Data1} stands in a comment"),
        ("SELECT ?", "? would have no value"),
        ("SELECT 1\nGO\nSELECT 2", "a line with 'GO' is a command of sqlcmd, not SQL"),
        ("SELECT 'a\r\n  go 5 -- x\r\n'", "a line with 'go 5 -- x' is a command of sqlcmd"),
        (":r other.sql", "a line with ':r' is a command of sqlcmd"),
        ("SELECT 1\nGO ;\nSELECT 2", "a line with 'GO ;' is a command of sqlcmd"),
        ("SELECT 1\nGO /* x */\nSELECT 2", "a line with 'GO /* x */' is a command of sqlcmd"),
        ("SELECT 'a\nexit\n'", "a line with 'exit' is a command of sqlcmd"),
        ("/*\nQUIT\n*/ SELECT 1", "a line with 'QUIT' is a command of sqlcmd"),
        ("SELECT 1\n  reset\n", "a line with 'reset' is a command of sqlcmd"),
        ("SELECT 'a\ned b'", "a line with 'ed' is a command of sqlcmd"),
        ("SELECT 'a\nexit(SELECT 1)'", "a line with 'exit' is a command of sqlcmd"),
        ("SELECT '$(HOME)'", "'$(' begins a variable of sqlcmd"),
        ("DECLARE @P1 int = {Data1}; SELECT @P1", "'@p1' is what a placeholder is called where it is sent"),
        ("DECLARE @n int, @p2 int; SELECT {Data1}, {Data2}", "'@p2' is what a placeholder is called"),
        ("declare @data1 int = {Data1}", "'@data1' is what a placeholder is called"),
        ("BEGIN TRAN; SELECT 1", "every step is one transaction already; take BEGIN out"),
        ("SELECT 1; COMMIT", "every step is one transaction already; take COMMIT out"),
        ("IF 1=1 ROLLBACK", "every step is one transaction already; take ROLLBACK out"),
        (
            "CREATE OR ALTER PROCEDURE p AS SELECT 1",
            "CREATE OR must be the first in its batch; put it into EXEC (N'...')",
        ),
        ("CREATE VIEW v AS SELECT 1", "CREATE VIEW must be the first in its batch"),
    ],
)
def test_check_says_what_is_wrong(sql: str, said: str) -> None:
    step = a_step("sql", Data1="warehouse", Data2=sql)

    found = [finding.message for finding in Sql().check(step, context_at(URL))]

    assert [message for message in found if message.startswith(said)], found
    with pytest.raises(StepRefused):
        Sql().render(a_request(step, context_at(URL), Data1="x"))


@pytest.mark.parametrize(
    "sql", ["SELECT\nexited FROM t", "SELECT\ned.name FROM emp ed", "SELECT\nquit_date, [go] FROM t"]
)
def test_what_only_begins_like_a_command_of_sqlcmd_is_none(sql: str) -> None:
    step = a_step("sql", Data1="warehouse", Data2=sql)

    assert [one.message for one in Sql().check(step, context_at(URL)) if "sqlcmd" in one.message] == []


@pytest.mark.parametrize(
    "sql",
    [
        "DECLARE @p1 int = 1; SELECT @p1",
        "DECLARE @p2 int = {Data1}; SELECT @p2",
        "EXEC load @P1 = {Data1}, @Data1 = 1",
        "DECLARE @Data10 int = {Data1}; SELECT @Data10, '@p1' AS [@p1]",
    ],
)
def test_a_variable_that_no_placeholder_takes_the_name_of_is_taken(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr(_mssql_driver, "import_module", lambda _: Server(DONE).driver)
    step = a_step("sql", Data1="warehouse", Data2=sql)

    assert [one.message for one in Sql().check(step, context_at(URL))] == []
    assert_taken(str(Sql().render(a_request(step, context_at(URL), Data1="x")).spec["batch"]))


def test_a_procedure_whose_name_sqlcmd_would_fill_in_is_refused() -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2="dbo.[load$(HOME)]")

    found = [one.message for one in StoredProcedure().check(step, context_at(URL))]

    assert any("'$(' begins a variable of sqlcmd, also inside [ ]; call it through a synonym" in one for one in found)
    with pytest.raises(StepRefused):
        StoredProcedure().render(a_request(step, context_at(URL)))


@pytest.mark.parametrize("name", ["", "a.b.c.d", "load; DROP", "[open", "{Data1}", "p @x=1", "load\u202e"])
def test_a_text_that_is_no_procedure_name_is_refused(name: str) -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2=name)

    assert any(
        "is no procedure name; write procedure" in one.message for one in StoredProcedure().check(step, context_at(URL))
    )
    with pytest.raises(StepRefused):
        StoredProcedure().render(a_request(step, context_at(URL)))
