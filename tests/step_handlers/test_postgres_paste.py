"""The paste law on PostgreSQL: what is pasted into psql leaves the database as the controller would."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchctl.plugin_api import Step, StepHandler, visible
from batchctl.testing import a_request, a_step
from step_handlers.postgres._psql import literal
from step_handlers.sql import Sql
from step_handlers.stored_procedure import StoredProcedure
from tests.postgres import PostgresServer
from tests.step_handlers.execution import Alone
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.postgres_steps import SCHEMA, Dump, a_database, context_at, dump, render, run
from tests.step_handlers.terminal import paste
from tests.step_handlers.test_sql_paste import drained
from tests.tiers import examples

Giving = Callable[[PostgresServer, str], subprocess.CompletedProcess[str]]
VALUES = st.tuples(HOSTILE, HOSTILE | st.none())
EVERY_USE = """
-- Every way a value is used; 'quotes' and ; in comments. \\q
INSERT INTO Item (Name, Day) VALUES ({Data1}, {CycleKey});
/* comparing /* must not change */ with the way the value is written
\\q */
INSERT INTO Answer (Value, Kind) SELECT count(*), {Data2} FROM Item
WHERE Name={Data1} OR Name>={Data2} OR {Data1}::text IN (Name,{Data2});
INSERT INTO Answer (Value, Kind)
SELECT {Data1}||E'a;\tb{{x}}\\'\\t'||{Data2}, $x$
\\q ; '	:Data1 $1 $x$||length({Data1});
UPDATE Answer SET Kind=Kind||':x \\' WHERE Value LIKE '%'||{Data1} ESCAPE '' -- the end
"""
PROCEDURES = """
CREATE PROCEDURE Keep(One text, Two varchar, Whole int, Large bigint, Part numeric, Approx float8, INOUT Rest int)
LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO Answer (Value, Kind) VALUES (One, Two);
  COMMIT;
  INSERT INTO Answer (Value, Kind) VALUES (concat_ws(' ', Whole, Large, Part, Approx), pg_typeof(Part)::text);
END $$;
"""
SQL = a_step("sql", Data1="warehouse", Data2=EVERY_USE)
CALL = a_step(
    "stored_procedure",
    Data1="warehouse",
    Data2="KEEP",
    Data3="@One={Data1}, @Two={Data2}, @Whole=-5, @Large=-9223372036854775808, @Part=0.10, @Approx=-1.5e-7, @Rest=7 OUTPUT",
)


@pytest.fixture(scope="module")
def pair(postgres: PostgresServer) -> tuple[str, str]:
    """Two databases, one for the controller and one for psql."""
    return a_database(postgres, SCHEMA + PROCEDURES), a_database(postgres, SCHEMA + PROCEDURES)


def as_a_file(server: PostgresServer, text: str) -> subprocess.CompletedProcess[str]:
    """Give a text to psql line by line."""
    return server.psql("postgres", text)


def as_one_line(server: PostgresServer, text: str) -> subprocess.CompletedProcess[str]:
    """Give a text to psql as readline does after a bracketed paste: all its lines as one.

    So psql also reads what a variable holds, and it does without readline.
    """
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return server.psql("postgres", f"\\set pasted `cat {file.name}`\n:pasted\n")


def both(
    server: PostgresServer,
    pair: tuple[str, str],
    handler: StepHandler,
    step: Step,
    examples: list[tuple[str, str | None]],
    give: Giving = as_a_file,
) -> tuple[Dump, Dump, str]:
    """What a database holds after the controller, what another holds after psql, and what psql said."""
    for database in pair:
        with server.connect(database) as owner:
            owner.execute("TRUNCATE Answer RESTART IDENTITY; DELETE FROM Item WHERE Item_id > 3")
            owner.execute("SELECT setval('item_item_id_seq', 3)")
    by_controller, by_hand = pair
    texts = []
    for one, two in examples:
        assert run(handler, step, server.url(by_controller), Data1=one, Data2=two).message is None
        asked = a_request(step, context_at(server.url(by_hand)), Data1=one, Data2=two)
        texts.append(handler.render(replace(asked, note=f"as {one}, on {two}")).command_text)
    done = give(server, "\n".join(texts))
    return dump(server, by_controller), dump(server, by_hand), done.stderr


@pytest.mark.parametrize(("handler", "step"), [(Sql(), SQL), (StoredProcedure(), CALL)], ids=["sql", "call"])
@pytest.mark.parametrize("give", [as_a_file, as_one_line])
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(examples=st.lists(VALUES, min_size=1, max_size=10))
def test_values_arrive_through_psql_as_the_controller_binds_them(
    postgres: PostgresServer,
    pair: tuple[str, str],
    handler: StepHandler,
    step: Step,
    give: Giving,
    examples: list[tuple[str, str | None]],
) -> None:
    by_controller, by_hand, said = both(postgres, pair, handler, step, examples, give)

    assert said == ""
    assert by_hand == by_controller
    assert len(by_hand["answer"]) == 2 * len(examples)


@given(VALUES)
def test_a_command_text_holds_nothing_that_acts_on_a_terminal(values: tuple[str, str | None]) -> None:
    for handler, step in ((Sql(), SQL), (StoredProcedure(), CALL)):
        text = render(handler, step, "postgresql://h/d", Data1=values[0], Data2=values[1]).command_text

        assert all(visible(line) == line for line in text.split("\n"))


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | HOSTILE, min_size=1, max_size=40))
def test_every_literal_has_the_value_that_is_bound(postgres: PostgresServer, values: list[str | int | None]) -> None:
    database = postgres.new_database()
    rows = ",\n".join(f"({at}, 4-{literal(at)}, ({literal(value)})::text)" for at, value in enumerate(values))

    done = postgres.psql(database, f"CREATE TABLE v (at int, down int, value text);\nINSERT INTO v VALUES {rows};")

    assert done.stderr == ""
    assert dump(postgres, database)["v"] == [
        (at, 4 - at, None if value is None else str(value)) for at, value in enumerate(values)
    ]


def test_a_hundred_kilobytes_arrive(postgres: PostgresServer, pair: tuple[str, str]) -> None:
    step = a_step("sql", Data1="warehouse", Data2="INSERT INTO Answer (Value, Kind) VALUES ({Data1}, {Data2})")

    by_controller, by_hand, said = both(postgres, pair, Sql(), step, [("".join(ATOMS) * 420, "\n" * 5000)])

    assert said == ""
    assert by_hand == by_controller


AUTHOR = (
    "INSERT INTO Answer (Value) VALUES ('tab\there, line\r\nend, it''s \x1b \\'), (E'tab\t\\\t\\\\ \\'q\\' \u202e');\r\n"
    "INSERT\tINTO Answer (Value)\r\nVALUES ($a$it's\ttab\r\n\\ $a$), ($$plain\nline$$), (E'new\nline\\\nhere')"
)


@pytest.mark.parametrize("give", [as_a_file, as_one_line])
def test_the_authors_own_text_arrives_with_its_line_ends(
    postgres: PostgresServer, pair: tuple[str, str], give: Giving
) -> None:
    by_controller, by_hand, said = both(
        postgres, pair, Sql(), a_step("sql", Data1="warehouse", Data2=AUTHOR), [("x", None)], give
    )

    assert said == ""
    assert by_hand == by_controller
    assert [row[1] for row in by_hand["answer"]] == [
        "tab\there, line\r\nend, it's \x1b \\",
        "tab\t\t\\ 'q' \u202e",
        "it's\ttab\r\n\\ ",
        "plain\nline",
        "new\nline\nhere",
    ]


FAILING = (
    "DELETE FROM Item WHERE Name={Data1};\n-- this one fails\nINSERT INTO Item (Item_id) VALUES (2);\nDELETE FROM Item"
)


@pytest.mark.parametrize("give", [as_a_file, as_one_line])
def test_an_error_leaves_nothing_behind_in_psql_either(postgres: PostgresServer, give: Giving) -> None:
    database = a_database(postgres)
    before = dump(postgres, database)
    step = a_step("sql", Data1="warehouse", Data2=FAILING)

    done = give(postgres, render(Sql(), step, postgres.url(database), Data1="one").command_text)

    assert done.returncode == 3
    assert "duplicate key" in done.stderr
    assert dump(postgres, database) == before


def interactively(server: PostgresServer, database: str, text: str) -> bytes:
    """Paste a text into a psql on a terminal that is connected to a database already."""
    keyboard, terminal = pty.openpty()
    command = [str(server.programs / "psql"), "-X", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres"]
    process = subprocess.Popen(
        [*command, "-d", database],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env={**os.environ, "TERM": "dumb", "LC_ALL": "C.UTF-8", "PAGER": "less"},
    )
    os.close(terminal)
    os.write(keyboard, (text + "\n\\q\n").encode())
    shown = drained(keyboard)
    process.wait(timeout=30)
    return shown


@pytest.mark.parametrize("sql", [FAILING, EVERY_USE])
def test_an_interactive_psql_does_the_same(postgres: PostgresServer, sql: str) -> None:
    by_controller, by_hand = a_database(postgres), a_database(postgres)
    step = a_step("sql", Data1="warehouse", Data2=sql)
    run(Sql(), step, postgres.url(by_controller), Data1="one", Data2="two\x1b\t\t!")

    text = render(Sql(), step, postgres.url(by_hand), Data1="one", Data2="two\x1b\t\t!").command_text
    shown = interactively(postgres, "postgres", text)

    assert dump(postgres, by_hand) == dump(postgres, by_controller), shown


def programs(server: PostgresServer) -> list[str]:
    """The server's psql, which has no readline, and the one that people use here, if there is one."""
    return [str(server.programs / "psql"), *filter(None, [shutil.which("psql")])]


def pasted_on_a_terminal(
    server: PostgresServer, program: str, text: str, environment: Mapping[str, str] | None = None
) -> bytes:
    """Paste a text into a psql that is connected to a database already."""
    known = ["-X", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "-d", "postgres"]
    return paste([program, *known], text, prompt=b"postgres=# ", goodbye="\\q", environment=environment)


@pytest.mark.parametrize(
    ("handler", "step"),
    [(Sql(), SQL), (StoredProcedure(), CALL), (Sql(), a_step("sql", Data1="warehouse", Data2=FAILING))],
    ids=["sql", "call", "failing"],
)
@pytest.mark.parametrize("value", ["two\x1b\t\t!\n\\q\n", "it's `id` :name $$ \\\\", "-- \r\n.quit"])
def test_a_terminals_paste_does_the_same(
    postgres: PostgresServer, handler: StepHandler, step: Step, value: str
) -> None:
    by_controller = a_database(postgres, SCHEMA + PROCEDURES)
    run(handler, step, postgres.url(by_controller), Data1="one", Data2=value)

    for program in programs(postgres):
        by_hand = a_database(postgres, SCHEMA + PROCEDURES)
        text = render(handler, step, postgres.url(by_hand), Data1="one", Data2=value).command_text
        shown = pasted_on_a_terminal(postgres, program, text)

        assert dump(postgres, by_hand) == dump(postgres, by_controller), shown


def test_an_interactive_psql_that_cannot_connect_does_nothing_where_it_was(postgres: PostgresServer) -> None:
    elsewhere = a_database(postgres)
    step = a_step("sql", Data1="warehouse", Data2="DELETE FROM Item")

    shown = interactively(postgres, elsewhere, render(Sql(), step, postgres.url("nowhere")).command_text)

    assert len(dump(postgres, elsewhere)["item"]) == 3
    assert b"not connected; nothing was done" in shown


@pytest.mark.parametrize("give", [as_a_file, as_one_line])
def test_a_secret_comes_from_where_the_configuration_says(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, give: Giving
) -> None:
    monkeypatch.setenv("TOKEN", "s3'cr\\et\n")
    by_controller, by_hand = a_database(postgres), a_database(postgres)
    step = a_step("sql", Data1="warehouse", Data2="INSERT INTO Answer (Value) VALUES ({secret:token})")
    run(Sql(), step, postgres.url(by_controller), Alone(secrets={"token": "s3'cr\\et\n"}))
    text = render(Sql(), step, postgres.url(by_hand)).command_text

    done = give(postgres, text)

    assert "\\getenv secret1 'TOKEN' \\\\" in text.split("\n")
    assert "s3" not in text
    assert done.stderr == ""
    assert dump(postgres, by_hand) == dump(postgres, by_controller)


@pytest.mark.parametrize("give", [as_a_file, as_one_line])
def test_without_its_secret_nothing_is_done(postgres: PostgresServer, give: Giving) -> None:
    database = a_database(postgres)
    step = a_step("sql", Data1="warehouse", Data2="DELETE FROM Item; SELECT {secret:token}")

    text = render(Sql(), step, postgres.url(database)).command_text
    done = give(postgres, "\\set secret1 'of another step'\n" + text)

    assert done.returncode == 3
    assert len(dump(postgres, database)["item"]) == 3


def test_a_secret_in_a_file_is_read_by_psql() -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2="keep", Data3="@One={secret:filed}, @Two={secret:filed}")

    text = render(StoredProcedure(), step, "postgresql://h/d").command_text

    assert "\\set p1 `cat '/shop/secrets/it'\"'\"'s'` \\\\" in text.split("\n")
    assert ':call "keep"("one" => :\'p1\', "two" => :\'p2\');' in text.split("\n")


@pytest.fixture(scope="module")
def locked(postgres: PostgresServer) -> Iterator[str]:
    """The name of somebody who needs a password."""
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_bytes()
    rules.write_bytes(b"host all locked 127.0.0.1/32 scram-sha-256\n" + before)
    with postgres.connect() as owner:
        owner.execute(f"CREATE ROLE locked LOGIN SUPERUSER PASSWORD {literal(PASSWORD)}".encode())
        owner.execute("SELECT pg_reload_conf()")
        yield "locked"
        rules.write_bytes(before)
        owner.execute("SELECT pg_reload_conf()")
        owner.execute("DROP ROLE locked")


PASSWORD = "s3'cr\\et :x `id` \"$1"


def as_locked(server: PostgresServer, user: str, database: str, password: str, source: str) -> str:
    """A text that deletes everything, for a connection with a password."""
    url = server.url(database, user).replace(f"{user}@", f"{user}:{password}@")
    asked = a_request(a_step("sql", Data1="warehouse", Data2="DELETE FROM Item"), context_at(url))
    there = replace(asked.context, secrets={"warehouse": source})
    return Sql().render(replace(asked, context=there)).command_text


@pytest.mark.parametrize("give", [as_a_file, as_one_line])
@pytest.mark.parametrize("kind", ["env", "file"])
def test_the_password_comes_from_where_the_configuration_says(
    postgres: PostgresServer, locked: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, give: Giving, kind: str
) -> None:
    (tmp_path / "a password").write_text(f"{PASSWORD}\n", encoding="utf-8")
    monkeypatch.setenv("WAREHOUSE", PASSWORD)
    monkeypatch.setenv("PGPASSWORD", "her own")
    database = a_database(postgres)
    source = {"env": "env:WAREHOUSE", "file": f"file:{tmp_path / 'a password'}"}[kind]
    text = as_locked(postgres, locked, database, "{secret:warehouse}", source)

    done = give(postgres, f"{text}\n\\getenv after PGPASSWORD \\\\ \\echo now :after :{{?batchctl_password}}")

    assert "s3" not in text
    assert (done.stderr, dump(postgres, database)["item"]) == ("", [])
    assert "now her own FALSE" in done.stdout


def test_the_password_arrives_on_a_terminal(postgres: PostgresServer, locked: str) -> None:
    for program in programs(postgres):
        database = a_database(postgres)
        text = as_locked(postgres, locked, database, "{secret:warehouse}", "env:WAREHOUSE")

        shown = pasted_on_a_terminal(postgres, program, text, {"WAREHOUSE": PASSWORD})

        assert dump(postgres, database)["item"] == [], shown


def test_a_password_that_is_written_out_is_named_by_its_connection(postgres: PostgresServer, locked: str) -> None:
    text = as_locked(postgres, locked, "d", quote(PASSWORD, safe=""), "env:WAREHOUSE")
    strange = as_locked(postgres, locked, "d", "{secret:warehouse}", "file:/shop/`id`")

    said = "-- before you start psql, set PGPASSWORD or .pgpass: the password is that of"
    for written, holder in ((text, "[connections.warehouse]"), (strange, "/shop/`id`")):
        assert [line for line in written.split("\n") if line.endswith(f"{said} {holder}")], written
    assert not [written for written in (PASSWORD, quote(PASSWORD, safe=""), "s3") if written in text]
