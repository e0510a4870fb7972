"""`sql` steps on a real PostgreSQL server."""

from __future__ import annotations

import threading
import tracemalloc
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from batchctl import __version__
from batchctl.domain.status import OnLost
from batchctl.plugin_api import Provable, Rendered, Step, StepOutcome, StepRefused
from batchctl.ports import Finished, Report, Spawned
from batchctl.system.runner import ThreadStepRunner
from batchctl.testing import a_request, a_step
from step_handlers.confirm import Confirm
from step_handlers.postgres import _postgres, _postgres_session
from step_handlers.sql import Sql
from step_handlers.stored_procedure import StoredProcedure
from tests.postgres import PostgresServer
from tests.proxy import Cut, Proxy
from tests.step_handlers.execution import KEY, Alone, _no_process, as_execution
from tests.step_handlers.postgres_steps import a_database, context_at, dump, render, run
from tests.system.watching import LIMIT

HANDLER = Sql()
WRITES = """
CREATE FUNCTION note() RETURNS integer LANGUAGE sql AS 'INSERT INTO Answer (Value) VALUES (''seen'') RETURNING 1';
"""
URL = "postgresql+psycopg://etl:s3cret@etl01:5433/Shop?sslmode=prefer&sslpassword=s3cret"


def sql_step(sql: str, **given: Any) -> Step:
    return a_step("sql", Data1="warehouse", Data2=sql, **given)


def messages(sql: str, url: str = URL) -> list[str]:
    return [finding.message for finding in HANDLER.check(sql_step(sql), context_at(url, {"f.sql": "SELECT {Data1}"}))]


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    return a_database(postgres)


@pytest.fixture
def url(postgres: PostgresServer, database: str) -> str:
    return postgres.url(database)


def test_every_place_of_a_placeholder_is_a_parameter_of_its_own() -> None:
    rendered = render(HANDLER, sql_step("SELECT {Data1}::text, {Data1}, '$1', {secret:token}"), URL, Data1="x")

    assert rendered.spec == {
        "connection": "warehouse",
        "directory": "/shop",
        "instance": 42,
        "lock": "batchctl:42:test",
        "before": [],
        "statements": [
            {
                "sql": "SELECT $1::text, $2, '$1', $3",
                "parameters": ["x", "x", {"secret": "token"}],
                "names": ["{Data1}", "{Data1}", "{secret:token}"],
                "line": 1,
            }
        ],
    }


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT {Data1}, {Data2}::date",
            'ERROR 22007: invalid input syntax for type date: "soon"; in the value of {Data2}',
        ),
        ("SELECT 5 + {Data2}", 'ERROR 22P02: invalid input syntax for type integer: "soon"; in the value of {Data2}'),
        (
            "SELECT pg_typeof({Data1}), 1 WHERE {Data2} IS NULL",
            "ERROR 42P18: could not determine data type of parameter $1 (the value of {Data1})",
        ),
    ],
)
def test_a_value_that_cannot_be_read_is_named_by_its_placeholder(url: str, sql: str, said: str) -> None:
    outcome = run(HANDLER, sql_step(sql), url, Data1="x", Data2="soon")

    assert outcome.message == f"statement 1 of 1 failed: {said}; at line 1; everything was rolled back"


def test_the_command_text_is_a_script_for_psql_without_a_password() -> None:
    text = render(
        HANDLER, sql_step("UPDATE Item SET Name={Data1}; -- last\nSELECT {Data2}, {Data3} -- end"), URL,
        Data1="it's\n\u202e\\!", Data2=None, Data3="plain",
    ).command_text  # fmt: skip

    assert text == (
        "-- BatchControl 42 of batch MyFileType1\n"
        "\\set ON_ERROR_STOP on \\set ON_ERROR_ROLLBACK off \\set AUTOCOMMIT on \\set SINGLELINE off \\set QUIET on "
        "\\pset pager off \\\\ -- stops at the first error; what is not between BEGIN and COMMIT is committed at once\n"
        "\\connect 'postgresql://etl@etl01:5433/Shop?sslmode=prefer&application_name=batchctl%2042' \\\\ "
        "-- before you start psql, set PGPASSWORD or .pgpass: the password is that of [connections.warehouse]\n"
        "SELECT ours AS connected, CASE WHEN ours THEN 'connected' ELSE 'not connected; nothing was done' END "
        "AS connection FROM (SELECT current_setting('application_name') = 'batchctl 42' AS ours) AS name "
        "\\gset \\encoding UTF8 \\echo :connection \\if :connected \\\\ "
        "-- a psql that could not connect is where it was: nothing below is done\n"
        "SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET TimeZone = 'UTC'; "
        "SET standard_conforming_strings = on; SET bytea_output = 'hex'; SET extra_float_digits = 1; "
        "SET default_transaction_isolation = 'read committed'; SET client_min_messages = 'notice'; "
        "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0; "
        "SELECT count(CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL "
        "THEN set_config('transaction_timeout', '0', false) END) AS timeouts \\gset \\set QUIET off \\\\ "
        "-- what a role or a database may have set otherwise\n"
        "BEGIN;\n"
        "UPDATE Item SET Name=E'it''s\\n\\u202e\\\\!';\n"
        "-- last\n"
        "SELECT NULL, 'plain' -- end\n"
        ";\n"
        "COMMIT;\n"
        "\\endif \\\\ -- what a psql that is not connected passes over ends here"
    )


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT '{Data1}'", "{Data1} stands in quotes; remove the quotes"),
        ("DO $x$ BEGIN PERFORM {Data1}; END $x$", "{Data1} stands in quotes; remove the quotes"),
        ("SELECT E'\\'{Data1}'", "{Data1} stands in quotes"),
        ("SELECT 1 /* a /* b */ {Data1} */", "{Data1} stands in a comment"),
        ("SELECT /* a /* b */", "a /* is never closed with */"),
        ("SELECT $$ x", "a $$ is never closed"),
        ("SELECT (1; SELECT 2", "the last statement is not complete; a ( is never closed"),
        ("SELECT $1, :x", "$1 :x would have no value; write a placeholder"),
        ("SELECT :'x'", ":'x' would have no value; write a placeholder"),
        ("BEGIN; SELECT 1", "every step is one transaction already; take BEGIN out"),
        ("SELECT 1; COMMIT", "every step is one transaction already; take COMMIT out"),
        ("ROLLBACK", "every step is one transaction already; take ROLLBACK out"),
        ("SELECT 1; VACUUM", "VACUUM and the rest: what cannot run in a transaction must be the only statement"),
        ("\\! ls", "what begins with '\\' is a command of psql, not SQL"),
        ("SELECT 1 \\g |sh", "what begins with '\\' is a command of psql, not SQL"),
        ("PREPARE x AS SELECT 1", "take PREPARE out"),
    ],
)
def test_check_says_what_is_wrong(sql: str, said: str) -> None:
    assert [message for message in messages(sql) if message.startswith(said)], messages(sql)
    with pytest.raises(StepRefused):
        HANDLER.render(a_request(sql_step(sql), context_at(URL), Data1="x"))


def test_check_says_which_driver_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr(_postgres, "import_module", nothing)
    said = (
        "connection 'warehouse' needs psycopg: No module named 'psycopg'; install it: pip install 'batchctl[postgres]'"
    )

    assert messages("SELECT 1") == [said]
    outcome = run(HANDLER, sql_step("SELECT 1"), URL)
    assert (outcome.message, outcome.fatal) == (said, True)


ROUTINES = """
CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN x IS NULL THEN 0 ELSE x * 2 END; END;
CREATE OR REPLACE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN -- a ' and a ; here
  INSERT INTO Answer (Value) VALUES (new.Name || ';''\t'); RETURN new;
END $body$;
CREATE TRIGGER t AFTER INSERT ON Item FOR EACH ROW EXECUTE FUNCTION noted();
INSERT INTO Item (Name, Amount, Day) VALUES ({Data1}, twice({Data2}::int), {CycleKey});
/* nested /* ; */ comment */ SELECT count(*)::text::int FROM Item
WHERE '{{"a": 1}}'::jsonb ? 'a' AND '{{1,2}}'::int[] @> ARRAY[{Data2}::int / 2]
"""


def test_text_arrives_whole_whatever_encoding_the_database_gives_its_clients(
    postgres: PostgresServer, database: str, url: str
) -> None:
    with postgres.connect(database) as dba:
        dba.execute("CREATE TABLE said (words text)")
        dba.execute(f"ALTER DATABASE {database} SET client_encoding = 'LATIN1'")

    outcome = run(HANDLER, sql_step("INSERT INTO said VALUES ({Data3}), ('ü€')"), url, Data3="ü€😀")

    assert outcome.succeeded, outcome.message
    with postgres.connect(database) as dba:
        dba.execute("SET client_encoding = 'UTF8'")
        assert dba.execute("SELECT words FROM said").fetchall() == [("ü€😀",), ("ü€",)]


def test_all_statements_run_in_one_transaction(postgres: PostgresServer, database: str, url: str) -> None:
    alone = Alone()

    outcome = run(HANDLER, sql_step(ROUTINES), url, alone, Data1="it's", Data2="4")

    assert outcome == StepOutcome(succeeded=True, rows_affected=1, value=4, output="count\n4\n(1 row)")
    assert dump(postgres, database)["answer"][0][1] == "it's;'\t"
    assert [str(at) for at in dump(postgres, database)["item"][3][1:]] == ["it's", "8", "None", "2026-11-21"]
    assert [len(session.split("@")) for session in alone.sessions] == [2]


def test_an_error_rolls_everything_back_and_says_where(postgres: PostgresServer, database: str, url: str) -> None:
    before = dump(postgres, database)

    outcome = run(HANDLER, sql_step("DELETE FROM Item; SELECT 5;\nINSERT INTO Answer\nVALUES (1/0)"), url)

    assert outcome.message is not None
    assert outcome.message.startswith("statement 3 of 3 failed: ERROR ")
    assert outcome.message.endswith("; everything was rolled back")
    assert outcome.output == "?column?\n5\n(1 row)"
    assert dump(postgres, database) == before


def test_an_error_names_its_line_in_the_whole_text(url: str) -> None:
    placed = run(HANDLER, sql_step("SELECT 5;\n-- then\nSELECT 1,\nwhere 1=1"), url)
    unplaced = run(HANDLER, sql_step("SELECT 5;\n\nSELECT 1/0"), url)

    assert placed.message == (
        'statement 2 of 2 failed: ERROR 42601: syntax error at or near "where"; at line 4; everything was rolled back'
    )
    assert unplaced.message == (
        "statement 2 of 2 failed: ERROR 22012: division by zero; at line 3; everything was rolled back"
    )
    assert [(one.error_code, one.error_line) for one in (placed, unplaced)] == [("42601", 4), ("22012", 3)]


@pytest.mark.parametrize(
    ("sql", "code", "fatal"),
    [
        ("SELEC 1", "42601", True),
        ("SELECT 1 FROM nowhere", "42P01", True),
        ("SELECT nothing(1)", "42883", True),
        ("SELECT nothing FROM Item", "42703", True),
        ("SET ROLE nobody_here", "22023", False),
        ("SET ROLE pg_monitor; DELETE FROM Item", "42501", True),
        ("SELECT {Data1} IS NULL", "42P18", True),
        ("INSERT INTO Item (Item_id) VALUES (1)", "23505", False),
        ("INSERT INTO Item (Amount) VALUES ({Data1})", "22P02", False),
        ("DO $$ BEGIN RAISE EXCEPTION 'own' USING ERRCODE = '40001', HINT = 'wait', DETAIL = 'more'; END $$", "40001", False),
    ],
)  # fmt: skip
def test_what_trying_again_cannot_mend_is_fatal(url: str, sql: str, code: str, fatal: bool) -> None:
    outcome = run(HANDLER, sql_step(sql), url, Data1="x")

    assert f"ERROR {code}: " in (outcome.message or "")
    assert (outcome.succeeded, outcome.fatal) == (False, fatal)


def test_a_constraint_checked_at_the_end_rolls_back_too(postgres: PostgresServer, database: str, url: str) -> None:
    outcome = run(
        HANDLER,
        sql_step(
            "CREATE TABLE Part (Item_id int REFERENCES Item DEFERRABLE INITIALLY DEFERRED); INSERT INTO Part VALUES (99)"
        ),
        url,
    )

    assert (outcome.message or "").startswith("COMMIT failed: ERROR 23503: ")
    assert "part" not in dump(postgres, database)


@pytest.mark.parametrize(
    "sql", ["VACUUM Item", "CREATE UNIQUE INDEX CONCURRENTLY ByName ON Item (Name)", "SAVEPOINT s; ROLLBACK TO s"]
)
def test_what_cannot_run_in_a_transaction_runs_alone(url: str, sql: str) -> None:
    assert messages(sql, url) == []
    assert run(HANDLER, sql_step(sql), url).message is None


def test_copy_through_the_client_is_refused(url: str) -> None:
    outcome = run(HANDLER, sql_step("COPY Item FROM STDIN"), url)

    assert outcome.message == "COPY from or to the client is for psql; use COPY with a file on the server, or INSERT"


@pytest.mark.full
def test_a_result_of_many_rows_keeps_memory_flat(url: str) -> None:
    step = sql_step("SELECT n, repeat('x', 1000) FROM generate_series(1, 200000) AS n; SELECT 7, true")
    run(HANDLER, sql_step("SELECT 1"), url)
    tracemalloc.start()

    outcome = run(HANDLER, step, url)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "(200000 rows, 199980 of them not shown)" in (outcome.output or "")
    assert outcome.value == 7
    assert peak < 20_000_000


class Heard(Alone):
    """An execution that lets somebody know of the first line that is shown."""

    has_shown = threading.Event()

    def show(self, line: str) -> None:
        """Show it."""
        super().show(line)
        self.has_shown.set()


def test_what_a_statement_says_is_shown_while_it_runs(postgres: PostgresServer, database: str, url: str) -> None:
    heard, outcomes = Heard(), list[StepOutcome]()
    half = sql_step("DO $$ BEGIN RAISE NOTICE 'half'; PERFORM pg_advisory_lock(7); END $$; SELECT 1 AS One")
    with postgres.connect(database) as owner:
        owner.execute("SELECT pg_advisory_lock(7)")
        running = threading.Thread(target=lambda: outcomes.append(run(HANDLER, half, url, heard)))
        running.start()
        assert heard.has_shown.wait(LIMIT)
        shown_so_far = list(heard.lines)
        owner.execute("SELECT pg_advisory_unlock(7)")
        running.join(LIMIT)

    assert shown_so_far == ["NOTICE: half"]
    assert heard.lines == (outcomes[0].output or "").splitlines() == ["NOTICE: half", "one", "1", "(1 row)"]


def test_a_flood_of_notices_is_cut_in_the_middle(url: str) -> None:
    flood = "DO $$ BEGIN FOR i IN 1..20000 LOOP RAISE NOTICE 'line % %', i, repeat('y', 50); END LOOP; END $$"

    outcome = run(HANDLER, sql_step(flood), url)

    assert outcome.output is not None
    assert outcome.output.startswith("NOTICE: line 1 yyy")
    assert "characters left out" in outcome.output
    assert "line 20000 " in outcome.output
    assert len(outcome.output) < 66_000


def test_a_session_does_not_depend_on_what_a_role_has_set(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as owner:
        owner.execute(f"CREATE ROLE odd_{database} LOGIN".encode())
        for setting in (
            "DateStyle = 'German'",
            "TimeZone = 'Asia/Tokyo'",
            "bytea_output = 'escape'",
            "statement_timeout = 100",
        ):
            owner.execute(f"ALTER ROLE odd_{database} SET {setting}".encode())

    outcome = run(
        HANDLER,
        sql_step(
            "SELECT concat_ws(' ', '2026-02-01'::date, '2026-01-02 00:00Z'::timestamptz, '\\x00'::bytea, "
            "current_setting('client_connection_check_interval'), current_setting('application_name')) FROM pg_sleep(0.2)"
        ),
        postgres.url(database, user=f"odd_{database}"),
    )

    assert outcome.value == f"2026-02-01 2026-01-02 00:00:00+00 \\x00 1s batchctl/{__version__}"


def test_an_instance_that_still_runs_is_not_started_again(
    postgres: PostgresServer, database: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_postgres_session, "LOCK_SECONDS", 0.05)
    with postgres.connect(database) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (_postgres_session.lock_key("batchctl:42:test"),))

        refused = run(HANDLER, sql_step("DELETE FROM Item"), url)
        another = run(HANDLER, sql_step("SELECT 1"), url, instance_id=43)

        assert (refused.message or "").startswith(
            "connection 'warehouse': BatchControl 42 is still being carried out there, "
            f"by session {other.info.backend_pid} (, idle since "
        )
        assert f"end it: SELECT pg_terminate_backend({other.info.backend_pid})" in (refused.message or "")
        assert (refused.succeeded, refused.fatal, another.succeeded) == (False, False, True)
    assert len(dump(postgres, database)["item"]) == 3
    assert run(HANDLER, sql_step("SELECT 1"), url).succeeded


def test_instances_of_the_same_number_in_two_control_databases_do_not_wait_for_each_other(
    postgres: PostgresServer, database: str, url: str
) -> None:
    request = a_request(sql_step("SELECT 1"), context_at(url))
    of_another = HANDLER.render(replace(request, database_id="another"))
    with postgres.connect(database) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (_postgres_session.lock_key(request.lock_name),))

        outcome = HANDLER.execute(of_another, as_execution(replace(Alone(), connections=context_at(url).connections)))

    assert outcome.succeeded


@pytest.mark.parametrize("handler", [HANDLER, StoredProcedure()])
def test_whether_a_session_still_carries_out_a_step_is_known_by_its_lock(
    postgres: PostgresServer, database: str, url: str, handler: Provable
) -> None:
    request = a_request(sql_step("SELECT 1"), context_at(url))
    rendered = HANDLER.render(request)
    execution = as_execution(replace(Alone(), connections=context_at(url).connections))
    assert isinstance(handler, Provable)

    assert handler.is_alive(rendered, execution) is False
    with postgres.connect(database) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (_postgres_session.lock_key(request.lock_name),))
        assert handler.is_alive(rendered, execution) is True
    assert handler.is_alive(rendered, execution) is False


def test_of_a_server_that_is_not_there_nothing_is_known(url: str) -> None:
    elsewhere = replace(Alone(), connections=context_at("postgresql://nobody@127.0.0.1:1/none").connections)

    assert HANDLER.is_alive(render(HANDLER, sql_step("SELECT 1"), url), as_execution(elsewhere)) is None
    assert HANDLER.is_alive(render(HANDLER, sql_step("SELECT 1"), url), as_execution(Alone())) is None


def a_runner(url: str, *, stop_grace: float = 10) -> ThreadStepRunner:
    return ThreadStepRunner(
        stop_grace=timedelta(seconds=stop_grace),
        controller_id="a test",
        plugin_process=_no_process,
        jobs={},
        connections=context_at(url).connections,
        secrets=dict[str, str]().__getitem__,
    )


def first_report(runner: ThreadStepRunner) -> Report:
    reports = runner.collect(timedelta(seconds=30))
    return reports[0] if reports else first_report(runner)


def stopped_asleep(
    owner: psycopg.Connection[Any], runner: ThreadStepRunner, rendered: Rendered
) -> tuple[str, StepOutcome]:
    """Start a step that sleeps, stop it once the server says that it does; the session that it had, and how it ended."""
    try:
        runner.start(KEY, HANDLER, rendered)
        spawned = first_report(runner)
        assert isinstance(spawned, Spawned)
        session = spawned.identity.db_session or ""
        pid = int(session.partition("@")[0])
        asleep = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
        while not owner.execute(asleep, (pid,)).fetchall():
            pass
        runner.stop(KEY)
        finished = first_report(runner)
        assert isinstance(finished, Finished)
        active = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND state = 'active'"
        assert owner.execute(active, (pid,)).fetchall() == []
    finally:
        runner.close()
    return session, finished.outcome


def test_a_stopped_step_really_stops_in_the_server(postgres: PostgresServer, database: str, url: str) -> None:
    rendered = render(HANDLER, sql_step("DELETE FROM Item; SELECT pg_sleep(600)"), url)

    with postgres.connect(database) as owner:
        session, outcome = stopped_asleep(owner, a_runner(url), rendered)

    assert outcome.stopped
    assert outcome.message == "was stopped at statement 2 of 2; everything was rolled back"
    assert session.endswith("Z")
    assert len(dump(postgres, database)["item"]) == 3


def test_what_does_not_let_itself_be_cancelled_is_ended_by_force(
    postgres: PostgresServer, database: str, url: str
) -> None:
    text = """DO $$ BEGIN LOOP
        BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN RAISE NOTICE 'go on'; END;
    END LOOP; END $$"""

    with postgres.connect(database) as owner:
        _, outcome = stopped_asleep(owner, a_runner(url, stop_grace=0.2), render(HANDLER, sql_step(text), url))

    assert (outcome.stopped, outcome.lost) == (True, False)
    assert outcome.message == "was stopped at statement 1 of 1; everything was rolled back"


SLEEPING = "SELECT pg_sleep(600)"


@pytest.mark.full
@pytest.mark.parametrize(
    ("statement", "word", "lost", "said"),
    [
        (SLEEPING, b"pg_sleep", False, "was stopped at statement 1 of 1; the server does not answer, and "),
        ("SELECT 1", b"COMMIT", True, "COMMIT: the server does not answer; whether it was done is not known"),
        (SLEEPING, b"pg_advisory_lock", False, "was stopped at preparing the session; the server does not "),
    ],
)
def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(
    postgres: PostgresServer,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    word: bytes,
    *,
    lost: bool,
    said: str,
) -> None:
    monkeypatch.setattr(_postgres_session, "FORCED_TRIES", 1)
    proxy = Proxy(postgres.port, word=word)
    proxy.cut(1, Cut.MUTE)
    far = f"{postgres.url(database, port=proxy.port)}?connect_timeout=2"
    runner = a_runner(far, stop_grace=0)
    try:
        runner.start(KEY, HANDLER, render(HANDLER, sql_step(statement), far))
        assert isinstance(first_report(runner), Spawned)
        proxy.muted.wait()
        runner.stop(KEY)
        finished = first_report(runner)
    finally:
        runner.close()
        proxy.close()

    assert isinstance(finished, Finished)
    assert (finished.outcome.lost, finished.outcome.stopped) == (lost, True)
    assert (finished.outcome.message or "").startswith(said)


def test_a_step_told_to_stop_before_it_began_does_nothing(postgres: PostgresServer, database: str, url: str) -> None:
    outcome = run(HANDLER, sql_step("DELETE FROM Item"), url, Alone(looks_until_stop=0))

    assert (outcome.stopped, len(dump(postgres, database)["item"])) == (True, 3)


def test_a_terminated_session_is_a_failure_and_rolled_back(postgres: PostgresServer, database: str, url: str) -> None:
    outcome = run(HANDLER, sql_step("DELETE FROM Item; SELECT pg_terminate_backend(pg_backend_pid())"), url)

    assert "statement 2 of 2 failed: FATAL 57P01: " in (outcome.message or "")
    assert (outcome.succeeded, outcome.fatal) == (False, False)
    assert len(dump(postgres, database)["item"]) == 3


@pytest.mark.parametrize(("where", "left"), [(Cut.BEFORE, 3), (Cut.AFTER, 0)])
def test_a_connection_lost_during_commit_is_a_lost_step(
    postgres: PostgresServer, database: str, where: Cut, left: int
) -> None:
    proxy = Proxy(postgres.port)
    proxy.cut(1, where)

    outcome = run(HANDLER, sql_step("DELETE FROM Item"), postgres.url(database, port=proxy.port))
    proxy.close()

    assert (outcome.message or "").startswith("COMMIT: the connection was lost (")
    assert (outcome.message or "").endswith("); whether it was done is not known")
    assert (outcome.succeeded, outcome.lost, outcome.fatal) == (False, True, False)
    assert len(dump(postgres, database)["item"]) == left


def test_a_connection_lost_before_the_commit_is_a_failure(postgres: PostgresServer, database: str) -> None:
    proxy = Proxy(postgres.port, word=b"DELETE")
    proxy.cut(1, Cut.AFTER)

    outcome = run(HANDLER, sql_step("DELETE FROM Item"), postgres.url(database, port=proxy.port))
    proxy.close()

    assert (outcome.message or "").startswith("statement 1 of 1 failed: ")
    assert (outcome.message or "").endswith("; everything was rolled back")
    assert (outcome.lost, outcome.fatal) == (False, False)
    assert len(dump(postgres, database)["item"]) == 3


def test_a_wrong_password_and_an_unknown_database_are_fatal_and_never_shown(
    postgres: PostgresServer, database: str
) -> None:
    with postgres.connect() as owner:
        owner.execute(f"CREATE ROLE locked_{database} LOGIN PASSWORD 'right'".encode())
        rules = postgres.data / "pg_hba.conf"
        rules.write_text(f"host all locked_{database} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        owner.execute("SELECT pg_reload_conf()")
    locked = f"postgresql+psycopg://locked_{database}:wr%40ng@127.0.0.1:{postgres.port}/{database}"
    while (refused := run(HANDLER, sql_step("SELECT 1"), locked)).succeeded:
        pass  # the server reads its rules again in its own time
    unknown = run(HANDLER, sql_step("SELECT 1"), postgres.url("nowhere"))

    assert "password authentication failed" in (refused.message or "")
    assert "see that the server is there, and the url of [connections.warehouse]" in (refused.message or "")
    assert "wr@ng" not in repr(refused)
    assert 'database "nowhere" does not exist' in (unknown.message or "")
    assert (refused.fatal, unknown.fatal) == (True, True)


def test_an_unreachable_server_is_said_and_tried_again() -> None:
    outcome = run(HANDLER, sql_step("SELECT 1"), "postgresql+psycopg://u:s3cret@127.0.0.1:1/d?connect_timeout=2")

    assert (outcome.message or "").startswith("connection 'warehouse': connection failed")
    assert "s3cret" not in repr(outcome)
    assert not outcome.fatal


def test_a_pooler_between_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", property(lambda info: 1))

    outcome = run(HANDLER, sql_step("SELECT 1"), url)

    assert (outcome.message or "").startswith("connection 'warehouse' goes through a pooler")
    assert outcome.fatal


def test_a_secret_is_resolved_only_at_execution(postgres: PostgresServer, database: str, url: str) -> None:
    step = sql_step("INSERT INTO Item (Name) VALUES ({secret:token})")

    assert run(HANDLER, step, url, Alone(secrets={"token": "s3cret"})).succeeded
    assert dump(postgres, database)["item"][-1][1] == "s3cret"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("SELECT 1", True),
        ("SELECT 'x'", True),
        ("SELECT true", True),
        ("SELECT false", False),
        ("SELECT 0.0", False),
        ("SELECT 0::bigint", False),
        ("SELECT NULL", False),
        ("SELECT ''", False),
        ("SELECT FROM Item", False),
        ("SELECT 1 WHERE false", False),
        ("SELECT x FROM nowhere", None),
    ],
)
def test_a_lost_step_is_verified_by_a_query(url: str, query: str, answer: bool | None) -> None:
    step = sql_step("DELETE FROM Item", Data6=query, on_lost=OnLost.VERIFY)

    outcome = run(HANDLER, HANDLER.verification(step), url)

    assert HANDLER.check(step, context_at(url)) == []
    assert HANDLER.is_done(outcome) is answer


def test_statements_come_from_a_file_too(url: str) -> None:
    context = context_at(url, {"f.sql": "SELECT {Data1}::int + 1"})
    rendered = HANDLER.render(a_request(sql_step("file:f.sql"), context, Data1="41"))

    outcome = HANDLER.execute(rendered, as_execution(replace(Alone(), connections=context.connections)))

    assert outcome.value == 42


def test_what_is_shown_beside_a_question_is_looked_at_without_writing(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as connection:
        connection.execute(WRITES.encode())
    step = a_step("confirm", Data1="now?", Data3="SELECT note() AS n", Data5="warehouse")

    outcome = run(Confirm(), step, postgres.url(database))

    assert (outcome.succeeded, outcome.asks) == (False, None)
    assert "read-only transaction" in (outcome.message or "")
    with postgres.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM Answer").fetchone() == (0,)
