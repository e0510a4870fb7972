"""The paste law on SQL Server, as far as it can be seen without one: golden texts, a parser, and literals read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from batchctl.plugin_api import visible
from batchctl.store.dialects import mssql_session
from batchctl.testing import a_request, a_step
from step_handlers.sql import Sql
from step_handlers.sqlserver._tsql import literals
from step_handlers.stored_procedure import StoredProcedure
from tests.sqlserver.parser import findings
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.postgres_steps import context_at, render
from tests.step_handlers.test_mssql import BUNDLED, CALL, ODBC, QUERY, URL
from tests.step_handlers.tsql_frames import assert_frames_are_closed

PRELUDE = """\
-- BatchControl 42 of batch MyFileType1
-- in sqlcmd or SSMS, connected to {server} as etl
-- the password is that of [connections.warehouse]; sqlcmd takes it from SQLCMDPASSWORD
-- what clients and logins set differently, and the meaning of the step could hang on
USE [Staging]; \
SET LANGUAGE us_english; SET DATEFORMAT ymd; SET LOCK_TIMEOUT -1; SET NOCOUNT OFF; SET IMPLICIT_TRANSACTIONS OFF; \
SET TRANSACTION ISOLATION LEVEL READ COMMITTED; \
SET ANSI_NULLS ON; SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; SET ARITHABORT ON; SET CONCAT_NULL_YIELDS_NULL ON; \
SET QUOTED_IDENTIFIER ON; SET NUMERIC_ROUNDABORT OFF; \
SET XACT_ABORT {abort};
GO
-- sqlcmd and SSMS go on after an error, in whatever database they are: in another one this fails
IF DB_ID() <> ISNULL(DB_ID(N'Staging'), -1) THROW 50000, N'this is another database; nothing was done', 1;
"""
CATCH = """\
END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; \
SELECT ERROR_NUMBER() AS batchctl_error, ERROR_SEVERITY() AS severity, ERROR_STATE() AS state, \
ERROR_LINE() AS line, ERROR_PROCEDURE() AS [procedure], ERROR_MESSAGE() AS message; THROW; END CATCH;
"""
END = """\
GO
-- nothing of the step stays open
IF @@TRANCOUNT > 0 BEGIN ROLLBACK TRANSACTION; RAISERROR(N'a transaction was left open; it was rolled back', 16, 1); END;
GO"""
VALUES = st.tuples(HOSTILE, HOSTILE | st.none())


def test_the_frames_of_every_text_are_closed() -> None:
    multiple = a_step("sql", Data1="warehouse", Data2="IF {Data1} IS NULL BEGIN SELECT CASE WHEN 1=1 THEN 1 END END")
    for handler, step in ((Sql(), QUERY), (Sql(), multiple), (StoredProcedure(), CALL)):
        rendered = render(handler, step, URL, Data1="END TRY; THROW", Data2="x")

        assert_frames_are_closed(rendered.command_text)
        assert_frames_are_closed(str(rendered.spec["batch"]))
    assert_frames_are_closed(mssql_session._TELLING.format("UPDATE t SET a = ?"))


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN TRY\nSELECT 1;\nEND TRY",
        "BEGIN TRY\nSELECT 1;\nEND TRY\nSELECT 2;\nBEGIN CATCH\nEND CATCH;",
        "BEGIN TRY\nGO\nEND TRY\nBEGIN CATCH\nEND CATCH;",
        "BEGIN CATCH\nEND CATCH;",
        "BEGIN TRY\nIF 1=1 BEGIN SELECT 1;\nEND TRY\nBEGIN CATCH\nEND CATCH;",
        "BEGIN TRY\nSELECT 1;\nEND TRY\nBEGIN CATCH\nROLLBACK\nTHROW;\nEND CATCH;",
        "BEGIN TRY\nSELECT 1;\nEND TRY\nBEGIN CATCH\nSELECT 1;\nTHROW\nEND CATCH;",
        "SELECT 1 END",
    ],
)
def test_a_frame_that_is_not_closed_is_seen(text: str) -> None:
    with pytest.raises(AssertionError):
        assert_frames_are_closed(text)


def test_a_call_is_one_batch_with_its_return_code_last() -> None:
    text = render(StoredProcedure(), CALL, URL, Data1="it's\n😀\u202e\U000e0041 $(x)", Data2=None).command_text

    assert text == (
        PRELUDE.format(server="etl01,1434", abort="OFF")
        + "DECLARE @arg1 nvarchar(4000) = N'it''s'+NCHAR(10)+N'😀'+NCHAR(8238)+NCHAR(56128)+NCHAR(56385)+N' $'+N'(x)';\n"
        "DECLARE @arg2 bigint = 5;\n"
        "DECLARE @arg3 nvarchar(4000);\n"
        "DECLARE @arg4 nvarchar(max);\n"
        "DECLARE @arg5 float = 2.5E0;\n"
        "DECLARE @rc int;\n"
        "EXEC @rc = [dbo].[usp_Load] @FileName = @arg1, @Rows = @arg2, @Note = @arg3,"
        " @Total = @arg4 OUTPUT, @Seed = @arg5 OUTPUT;\n"
        "SELECT @rc AS batchctl_return_code, @arg4 AS [Total], @arg5 AS [Seed];\n" + END
    )


def test_statements_are_one_transaction() -> None:
    text = render(Sql(), QUERY, ODBC, Data1="x").command_text

    assert text == (
        PRELUDE.format(server="etl01", abort="ON") + "DECLARE @Data1 nvarchar(4000) = N'x';\n"
        "BEGIN TRY BEGIN TRANSACTION;\n"
        "UPDATE Item SET Name=@Data1;\n"
        "SELECT @Data1\n"
        ";IF @@TRANCOUNT <> 1 THROW 50000, N'the transaction of the step was ended inside', 1;\n"
        "COMMIT TRANSACTION; " + CATCH + END
    )


def test_what_is_sent_is_what_is_pasted_with_markers_for_the_values() -> None:
    rendered = render(StoredProcedure(), CALL, URL, Data1="x", Data2=None)

    pasted = re.sub(r"(?m)^(DECLARE @arg\d+ [a-z0-9()]+ = ).*;$", r"\1?;", rendered.command_text)

    assert f"\n{rendered.spec['batch']}\nGO\n" in pasted
    assert rendered.spec["parameters"] == ["x", 5, 2.5]


def test_names_are_quoted_part_by_part() -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2='Other."my ""schema".[we]]ird]', Data3="@x=1")

    assert 'EXEC @rc = [Other].[my "schema].[we]]ird] @x = @arg1;' in render(StoredProcedure(), step, URL).command_text


def test_a_call_without_parameters() -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2="#temp")

    assert "\nEXEC @rc = [#temp];\n" in render(StoredProcedure(), step, BUNDLED).command_text


def test_a_secret_is_filled_in_by_sqlcmd_and_never_written() -> None:
    step = a_step("stored_procedure", Data1="warehouse", Data2="p", Data3="@a={secret:token}, @b={secret:filed}")

    text = render(StoredProcedure(), step, URL).command_text

    assert "DECLARE @arg1 nvarchar(max) = N'$(TOKEN)';" in text
    # Neither comment would let a line break of the secret's out.
    assert all("$(" not in line for line in text.split("\n") if line.startswith("--"))
    assert text.count("-- It is put there as it is: double every ' in it, or what stands behind one is") == 2
    assert "-- the secret comes from env TOKEN: sqlcmd takes it from the environment; elsewhere write it" in text
    assert "DECLARE @arg2 nvarchar(max) = N'$(batchctl_arg2)';" in text
    assert "-- the secret comes from file secrets/it's: start sqlcmd with -v batchctl_arg2=...; elsewhere" in text


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (URL.replace("s3cret", "{secret:token}"), "comes from env TOKEN"),
        (f"{BUNDLED}?pwd={{secret:filed}}".replace(":s3cret", ""), "comes from file secrets/it's"),
        ("mssql+pyodbc://?odbc_connect=SERVER=h;PWD={secret:token};DATABASE=d", "comes from env TOKEN"),
        ("mssql+pyodbc://?odbc_connect=SERVER=h;Pwd={{secret:token}}", "comes from env TOKEN"),
        ("mssql+pyodbc://?odbc_connect=SERVER=h;PWD={a;b}}c}", "is that of [connections.warehouse]"),
        ("mssql+pyodbc://u:s{secret:token}@h/d", "is that of [connections.warehouse]"),
    ],
)
def test_a_comment_says_where_the_password_comes_from(url: str, said: str) -> None:
    text = render(Sql(), QUERY, url, Data1="x").command_text

    assert f"-- the password {said}; sqlcmd takes it from SQLCMDPASSWORD" in text.split("\n")


def test_who_logs_in_without_a_password_is_told_of_none() -> None:
    assert "password" not in render(Sql(), QUERY, "mssql+pyodbc://h/d?Trusted_Connection=yes", Data1="x").command_text


AUTHOR = "INSERT\tINTO t VALUES ('a\tb''\r\n', N'\u202e\tc', 'plain\nline') -- the\tend\r\n/* block\r\n\x1b */"


def test_the_authors_text_holds_nothing_that_acts_on_a_terminal() -> None:
    text = render(Sql(), a_step("sql", Data1="warehouse", Data2=AUTHOR), URL).command_text

    assert (
        "INSERT INTO t VALUES (('a'+CHAR(9)+'b'''+CHAR(13)+'\n'), (NCHAR(8238)+NCHAR(9)+N'c'), 'plain\nline')" in text
    )
    assert all(visible(line) == line for line in text.split("\n"))


@given(VALUES)
def test_a_command_text_holds_nothing_that_acts_on_a_terminal_or_sqlcmd(values: tuple[str, str | None]) -> None:
    for handler, step in ((Sql(), QUERY), (StoredProcedure(), CALL)):
        text = render(handler, step, URL, Data1=values[0], Data2=values[1]).command_text
        lines = text.split("\n")

        assert all(visible(line) == line for line in lines)
        assert "$(" not in text
        assert sum(line.strip().upper() == "GO" for line in lines) == 3


def batches(text: str) -> Iterator[str]:
    """Cut a script as sqlcmd does; sqlglot knows no TRY, so what stands in it is read by itself."""
    for batch in re.split(r"(?m)^GO$", text):
        yield re.sub(
            r"(?m)(^|(?<=[;YH] ))(BEGIN TRY|END TRY|BEGIN CATCH|END CATCH;|THROW;|BEGIN TRANSACTION;)(?=$| )", "", batch
        )


@given(VALUES)
def test_every_batch_is_read_by_a_parser(values: tuple[str, str | None]) -> None:
    for handler, step in ((Sql(), QUERY), (StoredProcedure(), CALL)):
        text = render(handler, step, URL, Data1=values[0], Data2=values[1]).command_text
        found = [one for batch in batches(text) for one in sqlglot.parse(batch, dialect="tsql") if one is not None]

        declared = [declaration for one in found for declaration in one.find_all(exp.Declare)]
        assert len(declared) == (1 if step is QUERY else 6)


@pytest.mark.parametrize("value", [None, "it's\n😀 $(x) ?", *ATOMS])
def test_every_pasted_text_is_taken_by_the_parser_of_the_server(value: str | None) -> None:
    for handler, step in ((Sql(), QUERY), (StoredProcedure(), CALL)):
        text = render(handler, step, URL, Data1=value, Data2=value).command_text

        assert findings(text) == [], text


def test_a_pasted_text_that_is_not_taken_is_seen() -> None:
    text = render(Sql(), QUERY, URL, Data1="x").command_text

    assert findings(text.replace("END CATCH", "END CATHC")) != []


def value_of(tree: exp.Expr) -> str:
    """Read a literal back: national texts and NCHAR, joined."""
    match tree:
        case exp.Add():
            return value_of(tree.left) + value_of(tree.right)
        case exp.National():
            return str(tree.this)
        case exp.Chr():
            return chr(int(tree.expressions[0].this))
        case exp.Anonymous() if tree.name.upper() == "NCHAR":
            return chr(int(tree.expressions[0].this))
        case _:
            raise AssertionError(repr(tree))


@given(HOSTILE)
def test_a_text_is_read_back_as_it_was(value: str) -> None:
    read = "".join(value_of(sqlglot.parse_one(literal, dialect="tsql")) for literal in literals(value))

    assert read.encode("utf-16-le", "surrogatepass") == value.encode("utf-16-le")


def test_a_text_beyond_4000_characters_is_joined_from_short_ones() -> None:
    value = "".join(ATOMS) * 60
    step = a_step("sql", Data1="warehouse", Data2="INSERT INTO t VALUES ({Data1})")

    text = render(Sql(), step, URL, Data1=value).command_text
    written = re.findall(r"(?m)^(?:DECLARE @Data1 nvarchar\(max\) =|SET @Data1 \+=) (.*);$", text)

    assert len(written) > 2
    read = "".join(value_of(sqlglot.parse_one(one, dialect="tsql")) for one in written)
    assert read.encode("utf-16-le", "surrogatepass") == value.encode("utf-16-le")
    assert max(one.count("+N") for one in written) <= 60


def units(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("value", ["😀" * 10_000, "x😀" * 5000, "'" * 9000, ("x" * 700 + "\t😀$(") * 20, "ab" * 4500])
def test_nothing_that_is_joined_is_longer_than_what_the_server_keeps(value: str) -> None:
    written = literals(value)
    read = [[value_of(piece) for piece in parts(sqlglot.parse_one(one, dialect="tsql"))] for one in written]

    assert "".join(map("".join, read)) == value
    # nvarchar(n) + nvarchar(n) is cut at 4000 units, without a word.
    assert max(units("".join(one)) for one in read) <= 4000
    assert max(len(one) for one in read) <= 60


def parts(tree: exp.Expr) -> list[exp.Expr]:
    """What a concatenation joins."""
    return [*parts(tree.left), *parts(tree.right)] if isinstance(tree, exp.Add) else [tree]


@pytest.mark.parametrize("begin", ["N'", "'"])
def test_a_long_text_of_the_authors_is_joined_as_one_of_any_length(begin: str) -> None:
    short, long = (f"{begin}{'x' * half}\t{'y' * half}'" for half in (1500, 5000))
    text = [
        render(Sql(), a_step("sql", Data1="warehouse", Data2=f"SELECT {one}"), URL).command_text
        for one in (short, long)
    ]

    prefix = begin[:-1]
    assert [f"(CAST({prefix}'' AS {prefix.lower()}varchar(max))+" in one for one in text] == [False, True]
    tree = sqlglot.parse_one(text[1].split("BEGIN TRANSACTION;\n")[1].split("\n;IF")[0], dialect="tsql")
    assert tree.find(exp.Cast)


def test_no_comment_holds_a_variable_of_sqlcmd() -> None:
    request = replace(a_request(QUERY, context_at(URL), Data1="$(x)"), note="batch $(PATH)")

    assert "$(" not in Sql().render(request).command_text


@given(st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_with_their_type(value: float | None) -> None:
    (written,) = literals(value)

    assert ("e" in written.lower()) is isinstance(value, float)
    assert written == "NULL" if value is None else float(written) == float(value)
