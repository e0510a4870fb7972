"""The paste law: what is pasted into the `sqlite3` shell leaves the database as the controller would."""

from __future__ import annotations

import os
import pty
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from batchctl.plugin_api import StepRequest, visible
from batchctl.testing import a_request, a_step
from step_handlers.databases._sql_text import literal
from step_handlers.sql import Sql
from tests.step_handlers.databases import Dump, a_database, context_at, dump, pasted, shell_for
from tests.step_handlers.databases import given as given_to
from tests.step_handlers.execution import Alone, as_execution
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.terminal import ASKED, paste
from tests.tiers import examples

HANDLER = Sql()
VALUES = st.tuples(HOSTILE, HOSTILE | st.none())
EVERY_USE = """
-- Every way a value is used; 'quotes' and ; in comments.
INSERT INTO Item (Name, Amount, Rate, Anything) VALUES ({Data1}, {Data1}, {Data2}, {Data2});
/* comparing with columns of each affinity
   must not change with the way the value is written */
INSERT INTO Answer (Value, Kind) SELECT count(*), typeof({Data1}) FROM Item
WHERE Name={Data1} OR Amount<{Data1} OR Rate>={Data2} OR Anything IN ({Data1},{Data2});
INSERT INTO Answer (Value, Kind)
SELECT {Data1}||'a;\tb{{x}}'||{Data2}, CASE WHEN {Data1} IS NULL THEN 'go' ELSE 8
/
2 END AS
go
;
UPDATE Answer SET Kind=Kind||length({Data1}) WHERE Value LIKE {Data1} -- the end
"""


def request(directory: Path, values: tuple[str | None, str | None], sql: str = EVERY_USE) -> StepRequest:
    one, two = values
    asked = a_request(a_step("sql", Data1="warehouse", Data2=sql), context_at(directory), Data1=one, Data2=two)
    return replace(asked, note=f"as {one}, on {two}")


def both(folder: Path, examples: list[tuple[str, str | None]], sql: str = EVERY_USE) -> tuple[Dump, Dump, str]:
    """What a database holds after the controller, what another holds after the shell, and what the shell said."""
    by_controller, by_hand = a_database(folder / "controller"), a_database(folder / "by hand? 100%")
    for values in examples:
        rendered = HANDLER.render(request(by_controller.parent, values, sql))
        alone = Alone(connections=context_at(by_controller.parent).connections)
        assert HANDLER.execute(rendered, as_execution(alone)).message is None
    texts = [HANDLER.render(request(by_hand.parent, values, sql)).command_text for values in examples]
    done = pasted("\n".join(texts))
    return dump(by_controller), dump(by_hand), done.stderr.decode()


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(VALUES, min_size=1, max_size=12))
def test_values_arrive_in_the_shell_as_the_controller_binds_them(examples: list[tuple[str, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        by_controller, by_hand, said = both(Path(folder), examples)

    assert said == ""
    assert by_hand == by_controller
    assert len(by_hand["Item"]) == 3 + len(examples)


@given(VALUES)
def test_a_command_text_holds_nothing_that_acts_on_a_terminal(values: tuple[str, str | None]) -> None:
    text = HANDLER.render(request(Path("/shop"), values)).command_text

    assert all(visible(line) == line for line in text.split("\n"))


@settings(max_examples=examples(40))
@given(
    st.lists(
        st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | HOSTILE,
        min_size=1,
        max_size=40,
    )
)
@example([-0.0, -1.5, -1, -1e300])
@example(
    [1.7067505296688221e-293, -5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1e23, 0.1, 85.3608769270162]
)
def test_every_literal_has_the_value_and_type_that_is_bound(values: list[str | int | float | None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = a_database(Path(folder))
        rows = ",\n".join(f"(4-{literal(value)}, {literal(value)})" for value in values)
        done = given_to(["sqlite3", str(path)], f"INSERT INTO Item (Name, Anything) VALUES {rows};")
        found = [(row[-2], row[-1]) for row in dump(path)["Item"][3:]]

    assert done.stderr == b""
    kinds = {str: "text", int: "integer", float: "real", type(None): "null"}
    assert found == [(value, kinds[type(value)]) for value in values]


def test_a_hundred_kilobytes_arrive(tmp_path: Path) -> None:
    by_controller, by_hand, said = both(
        tmp_path, [("".join(ATOMS) * 420, "\n" * 5000)], "INSERT INTO Answer (Value, Kind) VALUES ({Data1}, {Data2})"
    )

    assert said == ""
    assert by_hand == by_controller


AUTHOR = (
    "INSERT INTO Answer (Value) VALUES ('tab\there, line\r\nend, it''s \x1b');\r\n"
    "INSERT\tINTO Answer (Value)\r\nVALUES ('plain\nline')"
)


def test_the_authors_own_text_arrives_with_its_line_ends(tmp_path: Path) -> None:
    by_controller, by_hand, said = both(tmp_path, [("x", None)], AUTHOR)

    assert said == ""
    assert by_hand == by_controller
    assert [row[2] for row in by_hand["Answer"]] == ["tab\there, line\r\nend, it's \x1b", "plain\nline"]


FAILING = (
    "DELETE FROM Item WHERE Name={Data1};\n-- this one fails\nINSERT INTO Item (Item_id) VALUES (2);\nDELETE FROM Item"
)


def test_an_error_leaves_nothing_behind_in_the_shell_either(tmp_path: Path) -> None:
    path = a_database(tmp_path)
    before = dump(path)

    done = pasted(HANDLER.render(request(tmp_path, ("one", None), FAILING)).command_text)

    assert done.returncode != 0
    assert b"UNIQUE constraint failed" in done.stderr
    assert dump(path) == before


def typed(text: str) -> bytes:
    """Give a text to an interactive shell line by line, as a simple terminal pastes."""
    keyboard, terminal = pty.openpty()
    process = subprocess.Popen(
        [*shell_for(text), "-interactive"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(terminal)
    os.write(keyboard, f"{text}\n.quit\n".encode())
    shown = drained(keyboard)
    process.wait(timeout=30)
    return shown


def pasted_on_a_terminal(text: str, shell: list[str] | None = None) -> bytes:
    """Paste a text into an interactive shell."""
    return paste([*(shell or shell_for(text)), "-interactive"], text, prompt=b"sqlite> ", goodbye=".quit")


@pytest.mark.parametrize("sql", [FAILING, EVERY_USE])
@pytest.mark.parametrize("enter", [typed, pasted_on_a_terminal])
def test_an_interactive_shell_does_the_same(tmp_path: Path, sql: str, enter: Callable[[str], bytes]) -> None:
    by_controller, by_hand = a_database(tmp_path / "controller"), a_database(tmp_path / "hand")
    values = ("one", "two\x1b\t\t!")
    alone = Alone(connections=context_at(by_controller.parent).connections)
    HANDLER.execute(HANDLER.render(request(by_controller.parent, values, sql)), as_execution(alone))

    shown = enter(HANDLER.render(request(by_hand.parent, values, sql)).command_text)

    assert dump(by_hand) == dump(by_controller), shown


@settings(max_examples=examples(10), deadline=None)
@given(VALUES)
def test_hostile_values_arrive_from_a_terminal_too(values: tuple[str, str | None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        by_controller, by_hand = a_database(Path(folder) / "controller"), a_database(Path(folder) / "hand")
        alone = Alone(connections=context_at(by_controller.parent).connections)
        HANDLER.execute(HANDLER.render(request(by_controller.parent, values)), as_execution(alone))

        shown = pasted_on_a_terminal(HANDLER.render(request(by_hand.parent, values)).command_text)

        assert dump(by_hand) == dump(by_controller), shown


@pytest.mark.parametrize("sql", ["DELETE FROM Item", "PRAGMA user_version = 5; DELETE FROM Item", "VACUUM"])
def test_another_database_is_left_alone(tmp_path: Path, sql: str) -> None:
    a_database(tmp_path)
    other = a_database(tmp_path / "other")
    before = other.read_bytes()
    text = HANDLER.render(request(tmp_path, ("x", None), sql)).command_text

    done = given_to(["sqlite3", str(other)], text)
    shown = pasted_on_a_terminal(text, ["sqlite3", str(other)])

    assert b"this is another database; nothing was done" in done.stderr
    assert b"Runtime error: " in shown
    assert other.read_bytes() == before


def test_a_database_is_known_through_links(tmp_path: Path) -> None:
    path = a_database(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    text = HANDLER.render(request(tmp_path / "link", ("x", None), "DELETE FROM Item")).command_text

    done = given_to(["sqlite3", str(path)], text)

    assert (done.stderr, dump(path)["Item"]) == (b"", [])


def test_a_transaction_that_an_error_left_open_takes_nothing_more(tmp_path: Path) -> None:
    path = a_database(tmp_path)
    failing, sound = (
        HANDLER.render(request(tmp_path, ("one", None), sql)).command_text for sql in (FAILING, "DELETE FROM Item")
    )

    refused = pasted(f"{failing}\n{sound}")
    unchanged = len(dump(path)["Item"])
    undone = pasted(f"{failing}\nROLLBACK;\n{sound}")

    assert b"cannot start a transaction within a transaction" in refused.stderr
    assert unchanged == 3
    assert undone.stderr.count(b"rror") == 1
    assert dump(path)["Item"] == []


def drained(keyboard: int) -> bytes:
    shown = b""
    try:
        while piece := os.read(keyboard, 65536):
            shown += piece
    except OSError:
        pass
    finally:
        os.close(keyboard)
    return shown


def test_a_missing_database_is_not_created_by_the_shell(tmp_path: Path) -> None:
    done = pasted(HANDLER.render(request(tmp_path, ("x", None))).command_text)

    assert done.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_what_needs_a_dot_command_says_so_and_is_refused_whole_by_a_paste(tmp_path: Path) -> None:
    path = a_database(tmp_path)
    (tmp_path / "Item.txt").write_text("x", encoding="utf-8")
    sql = "DELETE FROM Item; INSERT INTO Answer (Value) VALUES (readfile('Item.txt'))"
    text = HANDLER.render(request(tmp_path, ("x", None), sql)).command_text

    shown = pasted_on_a_terminal(text)
    untouched = len(dump(path)["Item"])
    done = pasted(text)

    assert "save it as a file, and end that command with < file" in text.split("\n")[2]
    assert untouched == (3 if ASKED in shown else 0), shown
    assert done.stderr == b""
    assert dump(path)["Answer"][0][2] == b"x"


def test_readfile_finds_relative_names_in_the_shell_too(tmp_path: Path) -> None:
    sql = "INSERT INTO Answer (Value, Kind) VALUES (readfile({Data1}), CAST(readfile({Data1}) AS TEXT))"
    for name in ("controller", "by hand? 100%"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a 'file'.csv").write_bytes(b"a\r\n1")

    by_controller, by_hand, said = both(tmp_path, [("a 'file'.csv", None), ("nothere", None)], sql)

    assert said == ""
    assert by_hand == by_controller
    assert [row[2:] for row in by_hand["Answer"]] == [
        (b"a\r\n1", "blob", "a\r\n1", "text"),
        (None, "null", None, "null"),
    ]


def test_a_secret_is_asked_for_and_never_written(tmp_path: Path) -> None:
    path = a_database(tmp_path)
    text = HANDLER.render(
        request(tmp_path, ("x", None), "INSERT INTO Answer (Value) VALUES ({secret:token})")
    ).command_text
    setting = ".parameter set :secret1 \"'...'\""

    without = pasted(text)
    untouched = dump(path)["Answer"]
    done = given_to(shell_for(text), f"{setting.replace('...', 's3cret')}\n{text}")

    assert f"-- first set the secret 'token': {setting}" in text.split("\n")
    assert b"the secret token is not set; nothing was done" in without.stderr
    assert untouched == []
    assert done.stderr == b""
    assert dump(path)["Answer"][0][2] == "s3cret"
