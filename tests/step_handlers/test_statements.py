from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from step_handlers.databases._statements import HOLE, MalformedSql, statements, variables, with_holes

PIECES = (
    *(
        "SELECT 1",
        "INSERT INTO t VALUES ('a;b')",
        "-- c; d\n",
        "/* e; f */",
        '"g;h"',
        "[i;j]",
        "`k;l`",
        "''",
        "'it''s;'",
    ),
    *(
        ";",
        ";",
        "\n",
        " ",
        "CREATE TRIGGER x AFTER INSERT ON t BEGIN ",
        "CREATE TEMP TRIGGER y BEGIN ",
        "END",
        "UPDATE t SET a=1",
    ),
    *("CASE WHEN 1 THEN 2 END", "x'00'", "CREATE TABLE u (v)", "1.5e3", "-", "/", "->>", "||"),
)


def split(text: str) -> list[str]:
    return [statement.sql for statement in statements(text, ())]


def test_statements_end_at_semicolons_outside_quotes_and_comments() -> None:
    text = "  SELECT ';' AS \"a;b\", [c;d], `e;f` -- g;h\n; /* i;j */ SELECT 2 ;; ; -- the end"

    assert split(text) == ["SELECT ';' AS \"a;b\", [c;d], `e;f` -- g;h", "/* i;j */ SELECT 2"]


def test_a_trigger_is_one_statement() -> None:
    trigger = "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN UPDATE t SET a = CASE WHEN 1 THEN 2 END; SELECT 1; END"

    assert split(f"{trigger}; SELECT 3") == [trigger, "SELECT 3"]
    with pytest.raises(MalformedSql, match="CREATE TRIGGER ends with END"):
        split("CREATE TRIGGER x BEGIN SELECT 1;")


@given(st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_statements_are_split_where_sqlite_says_they_are_complete(text: str) -> None:
    try:
        found = split(text)
    except MalformedSql:
        return

    assert all(sqlite3.complete_statement(f"{statement}\n;") for statement in found)
    ends = [at for at, character in enumerate(text) if character == ";"]
    pieces, start = [], 0
    for end in ends:
        if sqlite3.complete_statement(text[start : end + 1]):
            pieces.append(text[start:end])
            start = end + 1
    pieces.append(text[start:])
    meant = [piece.strip(" \n") for piece in pieces]
    assert found == [piece for piece in meant if any(statements_in(piece))]


def statements_in(piece: str) -> list[str]:
    try:
        return split(piece)
    except MalformedSql:
        return []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no SQL statement"),
        (" ; -- nothing\n /* at all */ ;", "there is no SQL statement"),
        ("SELECT 'a", "a ' is never closed with '"),
        ("SELECT 'it''s", "a ' is never closed with '"),
        ('SELECT "a', 'a " is never closed with "'),
        ("SELECT [a", r"a \[ is never closed with \]"),
        ("SELECT 1 /* a", r"a /\* is never closed with \*/"),
        ("SELECT\u200b 1", r"there is an invisible character in 'SELECT\\u200b'"),
        ("SELECT\xa01", r"there is an invisible character in 'SELECT\\xa01'"),
        ("SELECT \x1b1", r"there is an invisible character in '\\x1b'"),
        ('SELECT "a\tb"', "there is an invisible character"),
    ],
)
def test_text_that_is_no_sound_sql_is_refused(text: str, said: str) -> None:
    with pytest.raises(MalformedSql, match=said):
        split(text)


def test_a_placeholder_becomes_a_bound_value() -> None:
    (statement,) = statements(
        with_holes(["SELECT * FROM t WHERE a=", 0, " AND b IN (", 1, ",", 0, ")"]), ["A", "B"] * 2
    )

    assert statement.sql == "SELECT * FROM t WHERE a=:A AND b IN (:B,:A)"
    assert statement.names == ["A", "B"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("SELECT '", "'", r"\{Data1\} stands in quotes; remove the quotes"),
        ("SELECT 'a ", " b'", r"\{Data1\} stands in quotes; remove the quotes"),
        ('SELECT "', '"', r"\{Data1\} stands in quotes; remove the quotes"),
        ("SELECT [", "]", r"\{Data1\} stands in quotes; remove the quotes"),
        ("SELECT 1 -- ", "\n", r"\{Data1\} stands in a comment; take it out"),
        ("SELECT 1 /* ", "*/", r"\{Data1\} stands in a comment; take it out"),
        ("SELECT * FROM t_", "", r"\{Data1\} touches what stands beside it"),
        ("SELECT ", "_x", r"\{Data1\} touches what stands beside it"),
        ("SELECT 'a'", "", r"\{Data1\} touches what stands beside it"),
        ("SELECT :", "", r"\{Data1\} touches what stands beside it"),
        ("SELECT ", "(1)", r"\{Data1\} touches what stands beside it"),
        ("SELECT ", f"{HOLE}0{HOLE}", r"\{Data1\} touches what stands beside it"),
    ],
)
def test_a_placeholder_that_could_not_be_bound_is_refused(before: str, after: str, said: str) -> None:
    with pytest.raises(MalformedSql, match=said):
        statements(with_holes([before, 0, after]), ["Data1"])


def test_the_authors_own_parameters_are_found() -> None:
    found = statements("SELECT ?, ?2, :a, @b, $c, :a, ':d', json ->> '$.e', f$g", ())

    assert variables(found) == ["?", "?2", ":a", "@b", "$c"]


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        ";" * 300_000,
        "'" * 1_000_001,
        "CREATE TRIGGER x " + ";" * 200_000,
        "-" * 1_000_000,
        "/*" * 500_000,
        "[" * 500_000,
    ],
)
def test_a_megabyte_is_split_or_refused_at_once(text: str) -> None:
    with pytest.raises(MalformedSql):
        split(text)
