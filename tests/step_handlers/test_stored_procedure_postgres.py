"""`stored_procedure` steps on a real PostgreSQL server."""

from __future__ import annotations

from typing import Any

import pytest

from batchctl.domain.status import OnLost
from batchctl.plugin_api import StepOutcome, StepRefused
from batchctl.ports import Finished, Spawned
from batchctl.testing import a_request, a_step
from step_handlers.postgres._postgres_channel import _IN_FUNCTION
from step_handlers.sql import Sql
from step_handlers.stored_procedure import StoredProcedure
from tests.postgres import PostgresServer
from tests.proxy import Proxy
from tests.step_handlers.execution import KEY, Alone
from tests.step_handlers.postgres_steps import SCHEMA, a_database, context_at, dump, render, run
from tests.step_handlers.test_sql_postgres import a_runner, first_report, stopped_asleep

HANDLER = StoredProcedure()
ROUTINES = """
CREATE SCHEMA "my shop";
CREATE PROCEDURE Load_Items(FileName text, Times int, INOUT Total bigint, "Odd" numeric DEFAULT 0.5) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..Times LOOP
        INSERT INTO Item (Name, Amount, Rate) VALUES (FileName, i, "Odd");
        RAISE NOTICE 'item % of %', i, FileName;
        COMMIT;
    END LOOP;
    SELECT count(*) INTO Total FROM Item;
    RAISE WARNING 'done';
END $$;
CREATE FUNCTION Summary(Bottom int, OUT Name text, OUT Amount int) RETURNS SETOF record LANGUAGE sql
AS 'SELECT Name, Amount FROM Item WHERE Amount >= Bottom ORDER BY Amount';
CREATE FUNCTION Failing(Given text) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO Item (Name) VALUES (Given);
    RETURN QUERY SELECT generate_series(1, 5000);
    RAISE EXCEPTION 'found %', Given USING ERRCODE = 'P0042', DETAIL = 'row 7', HINT = 'look at row 7';
END $$;
CREATE PROCEDURE "my shop"."We""ird"() LANGUAGE sql AS 'INSERT INTO Answer (Value) VALUES (''weird'')';
CREATE PROCEDURE Twice(x int) LANGUAGE sql AS 'INSERT INTO Answer (Kind) VALUES (''int'')';
CREATE FUNCTION Twice(x text) RETURNS void LANGUAGE sql AS 'INSERT INTO Answer (Kind) VALUES (''text'')';
CREATE PROCEDURE Sleeping() LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO Item (Name) VALUES ('kept'); COMMIT; DELETE FROM Item; PERFORM pg_sleep(600); END $$;
CREATE PROCEDURE Odd_Options() LANGUAGE plpgsql AS $$ BEGIN
    SET DateStyle = 'German'; SET client_encoding = 'LATIN1'; SET bytea_output = 'escape'; SET ROLE pg_monitor;
    SET statement_timeout = '1h';
END $$;
CREATE TABLE Parent (Parent_id int PRIMARY KEY);
CREATE TABLE Child (Parent_id int REFERENCES Parent DEFERRABLE INITIALLY DEFERRED);
CREATE PROCEDURE Orphan(INOUT Number int DEFAULT 1) LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO Child VALUES (99); END $$;
CREATE PROCEDURE Orphan_In_Silence() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO Child VALUES (99); END $$;
CREATE FUNCTION Take_Time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM set_config('client_connection_check_interval', '0', true);
    RAISE WARNING 'committing'; PERFORM pg_sleep(0.5); RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER Slow AFTER INSERT ON Answer DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION Take_Time();
CREATE PROCEDURE Slow_To_Commit() LANGUAGE sql AS 'INSERT INTO Answer (Value) VALUES (''slow'')';
CREATE PROCEDURE Refused() LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE Load_Day(p_file text, p_day date, OUT o_n int, OUT o_two int) LANGUAGE plpgsql AS
$$ BEGIN o_n := 1; END $$;
CREATE FUNCTION Count_Of(p_file text, p_scale int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION Count_Of(p_kind int, p_file text) RETURNS int LANGUAGE sql AS 'SELECT 2';
CREATE FUNCTION Unnamed(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION "my shop".Only_There() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION Half_Missing() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN no_such_function(1); END $$;
CREATE PROCEDURE Many_Lines(p_day text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
        Amount FROM "item"
    WHERE p_day::date
        IS NOT NULL;
END $$;
CREATE FUNCTION Digits_2(x1 int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RETURN x1 / 0;
END $$;
CREATE FUNCTION Cast_9(x1 int) RETURNS date LANGUAGE plpgsql AS $$ BEGIN RETURN 'no day'::text; END $$;
CREATE PROCEDURE We_1() LANGUAGE sql AS 'INSERT INTO Answer (Value) SELECT (1/0)::text';
CREATE PROCEDURE Calls_Many_Lines(p_day text) LANGUAGE plpgsql AS $$ BEGIN CALL Many_Lines(p_day); END $$;
"""


def step(name: str, parameters: str | None = None, **given: Any) -> Any:
    return a_step("stored_procedure", Data1="warehouse", Data2=name, Data3=parameters, **given)


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    return a_database(postgres, SCHEMA + ROUTINES)


@pytest.fixture
def url(postgres: PostgresServer, database: str) -> str:
    return postgres.url(database)


def test_a_procedure_is_called_with_named_parameters_and_may_commit(
    postgres: PostgresServer, database: str, url: str
) -> None:
    called = step("load_items", "@FileName={Data1}, @Times=2, @Total=OUTPUT")
    alone = Alone()

    outcome = run(HANDLER, called, url, alone, Data1="it's; DROP TABLE Item")

    assert HANDLER.check(called, context_at(url)) == []
    assert outcome == StepOutcome(
        succeeded=True,
        value=5,
        output=(
            "NOTICE: item 1 of it's; DROP TABLE Item\nNOTICE: item 2 of it's; DROP TABLE Item\n"
            "WARNING: done\ntotal\n5\n(1 row)"
        ),
    )
    assert [row[1:3] for row in dump(postgres, database)["item"][3:]] == [
        ("it's; DROP TABLE Item", 1),
        ("it's; DROP TABLE Item", 2),
    ]
    assert len(alone.sessions) == 1


def test_a_function_is_called_too_and_its_rows_are_shown(url: str) -> None:
    outcome = run(HANDLER, step("public.SUMMARY", "Bottom={Data1}"), url, Data1="2")

    assert (outcome.message, outcome.output) == (None, "name | amount\ntwo | 2\n | 7\n(2 rows)")


def test_names_are_read_as_sql_reads_them(postgres: PostgresServer, database: str, url: str) -> None:
    assert run(HANDLER, step('"my shop"."We""ird"'), url).succeeded
    assert [row[1] for row in dump(postgres, database)["answer"]] == ["weird"]
    assert run(HANDLER, step('"Load_Items"'), url).fatal


def test_a_procedure_goes_before_a_function_of_the_same_name(postgres: PostgresServer, database: str, url: str) -> None:
    run(HANDLER, step("twice", "x=1"), url)

    assert [row[2] for row in dump(postgres, database)["answer"]] == ["int"]


def test_an_error_after_rows_is_a_failure_with_its_place(postgres: PostgresServer, database: str, url: str) -> None:
    outcome = run(HANDLER, step("failing", "Given={Data1}"), url, Data1="x\ny")

    assert outcome.message == (
        'SELECT * FROM "failing" failed: ERROR P0042: found x\\ny; row 7; hint: look at row 7; '
        "in PL/pgSQL function failing(text) line 5 at RAISE"
    )
    assert (outcome.succeeded, outcome.fatal) == (False, False)
    assert len(dump(postgres, database)["item"]) == 3


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("failing", "Given=x", 5),
        ("calls_many_lines", "p_day=soon", 3),
        ("half_missing", None, 1),
        ("digits_2", "x1=4", 3),
        ("cast_9", "x1=4", None),
        ("we_1", None, None),
    ],
)
def test_the_line_of_an_error_is_that_of_the_innermost_procedure(
    url: str, name: str, parameters: str | None, line: int | None
) -> None:
    outcome = run(HANDLER, step(name, parameters), url)

    assert (outcome.succeeded, outcome.error_line) == (False, line)
    assert "; at line" not in (outcome.message or "")


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("PL/pgSQL function load_2(integer) line 14 at RAISE", 14),
        ("PL/pgSQL-Funktion load_2(integer) Zeile 14 bei RAISE", 14),
        ("PL/pgSQL function inline_code_block line 7 at SQL statement", 7),
        ("PL/pgSQL function load_2(integer) while casting return value to function's return type", None),
        ('SQL function "load_2" statement 1', None),
    ],
)
def test_the_line_is_read_whatever_language_the_server_speaks(place: str, line: int | None) -> None:
    found = _IN_FUNCTION.match(place)

    assert (None if found is None else int(found.group(1))) == line


@pytest.mark.parametrize(
    ("name", "parameters", "code"),
    [
        ("nowhere", None, "42883"),
        ("no_schema.load", None, "3F000"),
        ("load_items", "@Nothing=1", "42883"),
        ("load_items", "@FileName='1', @Times='x', @Total=OUTPUT", "22P02"),
    ],
)
def test_a_procedure_or_parameters_that_do_not_exist_are_fatal(
    url: str, name: str, parameters: str | None, code: str
) -> None:
    outcome = run(HANDLER, step(name, parameters), url)

    assert f"ERROR {code}: " in (outcome.message or "")
    assert outcome.fatal is (code != "22P02")


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        (
            "load_dya",
            "@p_file='x'",
            (
                '"load_dya" failed: ERROR 42883: there is no procedure or function load_dya in the search_path '
                "(\"$user\", public) of role postgres. Did you mean 'load_day'?"
            ),
        ),
        (
            '"my shop".weird',
            None,
            (
                '"my shop"."weird" failed: ERROR 42883: there is no procedure or function "my shop".weird. '
                'Did you mean \'"We""ird"\'?'
            ),
        ),
        (
            "only_there",
            None,
            (
                '"only_there" failed: ERROR 42883: there is no procedure or function only_there in the search_path '
                '("$user", public) of role postgres. It is in another schema: write "my shop".only_there in Data2.'
            ),
        ),
        (
            "publik.load_day",
            None,
            '"publik"."load_day" failed: ERROR 3F000: there is no schema publik. Did you mean \'public\'?',
        ),
        (
            "load_day",
            "@p_fil='x', @P_Day='2026-11-21', @O_n=OUTPUT",
            (
                '"load_day" failed: ERROR 42883: the parameters do not fit; procedure load_day('
                "IN p_file text, IN p_day date, OUT o_n integer, OUT o_two integer): "
                "p_file is missing; o_two is missing: in PostgreSQL every OUT parameter of a procedure must be listed, "
                "write @o_two=OUTPUT; it has no parameter p_fil. Did you mean 'p_file'?"
            ),
        ),
        (
            "count_of",
            "@p_scale=2",
            (
                '"count_of" failed: ERROR 42883: the parameters do not fit; '
                "function count_of(p_file text, p_scale integer): p_file is missing; "
                "or function count_of(p_kind integer, p_file text): "
                "p_kind is missing; p_file is missing; it has no parameter p_scale. Did you mean 'p_file'?"
            ),
        ),
        (
            "count_of",
            "@p_file=5",
            (
                '"count_of" failed: ERROR 42883: the parameters do not fit; function count_of(p_file text, p_scale integer): '
                "a value has another type than its parameter; in quotes it fits every type; "
                "or function count_of(p_kind integer, p_file text): p_kind is missing"
            ),
        ),
        (
            "unnamed",
            None,
            (
                '"unnamed" failed: ERROR 42883: the parameters do not fit; function unnamed(integer): '
                "it has a parameter without a name, which no step can give"
            ),
        ),
    ],
)
def test_what_a_call_lacks_is_said_by_the_catalog(url: str, name: str, parameters: str | None, said: str) -> None:
    outcome = run(HANDLER, step(name, parameters), url)

    assert (outcome.message, outcome.fatal) == (said, True)


def test_what_is_missing_inside_a_function_is_told_by_the_server(url: str) -> None:
    message = run(HANDLER, step("half_missing"), url).message or ""

    assert message.startswith(
        'SELECT * FROM "half_missing" failed: ERROR 42883: function no_such_function(integer) does not exist;'
    )
    assert message.endswith("in PL/pgSQL function half_missing() line 1 at RETURN")


def test_a_value_that_cannot_be_read_is_named_by_its_parameter(url: str) -> None:
    bad = step("load_day", "@p_file={Data1}, @P_Day={Data2}, @o_n=OUTPUT, @o_two=OUTPUT")

    outcome = run(HANDLER, bad, url, Data1="f", Data2="yesterdayish")

    assert outcome.message == (
        'CALL "load_day" failed: ERROR 22007: invalid input syntax for type date: "yesterdayish"; in the value of p_day'
    )


def test_a_statement_of_many_lines_has_no_false_callers(url: str) -> None:
    outcome = run(HANDLER, step("calls_many_lines", "p_day=soon"), url)

    assert outcome.message == (
        'CALL "calls_many_lines" failed: ERROR 22007: invalid input syntax for type date: "soon"; '
        'in SQL statement "SELECT Amount FROM "item" WHERE p_day::date IS NOT NULL", '
        "called by PL/pgSQL function many_lines(text) line 3 at PERFORM, "
        'called by SQL statement "CALL Many_Lines(p_day)", '
        "called by PL/pgSQL function calls_many_lines(text) line 1 at CALL"
    )


def test_a_procedure_one_may_not_call_is_fatal(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as owner:
        owner.execute("REVOKE ALL ON PROCEDURE Refused FROM PUBLIC")
        owner.execute(f"CREATE ROLE poor_{database} LOGIN".encode())

    outcome = run(HANDLER, step("refused"), postgres.url(database, user=f"poor_{database}"))

    assert outcome.message == 'CALL "refused" failed: ERROR 42501: permission denied for procedure refused'
    assert outcome.fatal


def test_odd_session_options_of_a_procedure_reach_no_other_step(url: str) -> None:
    assert run(HANDLER, step("odd_options"), url).message is None
    assert run(HANDLER, step("summary", "Bottom=7"), url).output == "name | amount\n | 7\n(1 row)"


def test_a_stopped_procedure_really_stops_in_the_server(postgres: PostgresServer, database: str, url: str) -> None:
    with postgres.connect(database) as owner:
        _, outcome = stopped_asleep(owner, a_runner(url), render(HANDLER, step("sleeping"), url))

    assert outcome.message == 'was stopped at CALL "sleeping"'
    assert outcome.stopped
    assert [row[1] for row in dump(postgres, database)["item"]] == ["one", "two", "", "kept"]


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("", None, "Data2: '' is no procedure name; write procedure or schema.procedure"),
        ("a.b.c", None, "Data2: 'a.b.c' is no procedure name"),
        ("load; DROP", None, "Data2: 'load; DROP' is no procedure name"),
        ("load()", None, "Data2: 'load()' is no procedure name"),
        ("{Data1}", None, "Data2: '{Data1}' is no procedure name"),
        ('"open', None, "Data2: '\"open' is no procedure name"),
        ("load\u202e", None, "Data2: 'load\\u202e' is no procedure name"),
        ("load", "@x", "Data3: expected Name=value at '@x'"),
        ("load", "@x={Dat1}", "Data3: '{Dat1}' is not a placeholder"),
        ("load", "@x=OUTPUT, @x=1", "Data3: parameter 'x' is given twice"),
        ("load", "@x={secret:tokn} OUTPUT", "Data3: secret 'tokn' is not in the configuration"),
    ],
)
def test_check_says_what_is_wrong(name: str, parameters: str | None, said: str) -> None:
    context = context_at("postgresql+psycopg://etl@etl01/Shop")

    found = [f"{one.column}: {one.message}" for one in HANDLER.check(step(name, parameters), context)]

    assert [message for message in found if message.startswith(said)], found
    with pytest.raises(StepRefused):
        HANDLER.render(a_request(step(name, parameters), context, Data1="x"))


def test_a_lost_procedure_is_verified_by_a_query_on_its_connection(url: str) -> None:
    lost = step("load_items", Data6="SELECT count(*) FROM Item WHERE Name = {Data1}", on_lost=OnLost.VERIFY)

    outcome = run(Sql(), HANDLER.verification(lost), url, Data1="one")

    assert HANDLER.check(lost, context_at(url)) == []
    assert HANDLER.is_done(outcome) is True


@pytest.mark.parametrize("name", ["orphan", "orphan_in_silence"])
def test_what_its_commit_is_refused_is_a_failure(postgres: PostgresServer, database: str, name: str) -> None:
    outcome = run(HANDLER, step(name), postgres.url(database))

    assert (outcome.succeeded, outcome.lost) == (False, False)
    assert "23503" in (outcome.message or "")
    assert dump(postgres, database)["child"] == []


def test_a_commit_that_is_stopped_is_no_success(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as owner:
        owner.execute("ALTER FUNCTION Take_Time() SET search_path = public")
        owner.execute("CREATE OR REPLACE FUNCTION Take_Time() RETURNS trigger LANGUAGE plpgsql AS "
                      "$$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$")  # fmt: skip
    runner = a_runner(postgres.url(database))
    try:
        runner.start(KEY, HANDLER, render(HANDLER, step("slow_to_commit"), postgres.url(database)))
        assert isinstance(first_report(runner), Spawned)
        runner.stop(KEY)
        finished = first_report(runner)
    finally:
        runner.close()

    assert isinstance(finished, Finished)
    assert (finished.outcome.succeeded, finished.outcome.stopped) == (False, True)
    assert dump(postgres, database)["answer"] == []


def test_a_connection_that_breaks_behind_the_statement_and_before_its_commit_makes_a_lost_step(
    postgres: PostgresServer, database: str
) -> None:
    proxy = Proxy(postgres.port)
    proxy.cut_behind(b"committing")

    outcome = run(HANDLER, step("slow_to_commit"), postgres.url(database, port=proxy.port))
    proxy.close()

    assert (outcome.succeeded, outcome.lost) == (False, True)
    assert "the connection was lost" in (outcome.message or "")
    while not dump(postgres, database)["answer"]:
        pass  # it was done after all, half a second later
