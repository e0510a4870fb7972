"""The script for SQL Server: complete, repeatable, and T-SQL as far as a parser can tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlglot
from sqlalchemy import CheckConstraint, Column, Table, make_url
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlglot import ErrorLevel, exp

from batchctl.cli.main import run
from batchctl.cli.maintenance import database_commands
from batchctl.store import views
from batchctl.store.maintenance import schema, tsql_script
from batchctl.store.tables import metadata
from tests.step_handlers.tsql_frames import assert_frames_are_closed

GOLDEN = Path(__file__).parent / "golden" / "mssql.sql"
SCRIPT = schema.script("mssql")
COMMENT = re.compile(r"^-- .*\n", re.MULTILINE)
BATCHES = [COMMENT.sub("", batch).strip() for batch in re.split(r"^GO$", SCRIPT, flags=re.MULTILINE) if batch.strip()]
IN_SCHEMA = r"OBJECT_ID\(QUOTENAME\(SCHEMA_NAME\(\)\) \+ N'\.\w+', N'[UC]'\)"
GUARDED = re.compile(
    rf"\AIF (?:{IN_SCHEMA} IS NULL|COL_LENGTH\([^\n]*\) IS NULL|(?:NOT )?EXISTS \([^\n]*\))\n(.*)\Z", re.DOTALL
)
NOEXEC = "IF @@TRANCOUNT = 0\nBEGIN\n    SET NOEXEC ON;\nEND;"
DIALECT = make_url("mssql+pyodbc://").get_dialect()()
TABLES = sorted(metadata.tables)
MAKES_TRIGGER = re.compile(r"\AEXEC sp_executesql N'(CREATE OR ALTER TRIGGER .*)';\Z", re.DOTALL)
TRIGGER = re.compile(
    r"CREATE OR ALTER TRIGGER \w+ ON \w+ (?:AFTER|INSTEAD OF) [A-Z, ]+ AS\nBEGIN\n    (SET NOCOUNT ON;\n.*)\nEND\Z",
    re.DOTALL,
)
TRIGGERS = {
    name: made[1].replace("''", "'")
    for batch in BATCHES
    if (made := MAKES_TRIGGER.search(batch))
    for name in re.findall(r"CREATE OR ALTER TRIGGER (\w+)", made[1])
}
OTHERS = [batch for batch in BATCHES if not MAKES_TRIGGER.search(batch)]


def parsed(text: str) -> list[exp.Expr]:
    """Parse T-SQL; what the parser only passes through counts as an error."""
    found = [one for one in sqlglot.parse(text, dialect="tsql", error_level=ErrorLevel.RAISE) if one is not None]
    assert not any(one.find(exp.Command) for one in found), text
    return found


def statement_for(beginning: str) -> str:
    """Return the batch that makes something, without what guards it."""
    (found,) = (match[1] for batch in BATCHES if (match := GUARDED.match(batch)) and match[1].startswith(beginning))
    return str(found)


def parts_of(create: str) -> list[str]:
    """Return the columns and constraints that a CREATE TABLE names."""
    (made,) = parsed(create)
    return [one.sql(dialect="tsql") for one in made.this.expressions]


def made_table(table: str) -> list[str]:
    """Return the columns and constraints of a table."""
    return parts_of(statement_for(f"CREATE TABLE {table} "))


OF_THIS_SERVER = parts_of("CREATE TABLE t (DataHash AS CAST(HASHBYTES('SHA2_256', Data) AS binary(32)))")
"""What no other database has, and so no model."""


OF_DEFAULT = re.compile(r" CONSTRAINT \[DF_\w+\]")
"""The name of a default, which no other database gives it."""


def normal(text: str) -> str:
    """Return T-SQL as the parser writes it."""
    (one,) = parsed(text)
    return one.sql(dialect="tsql")


def test_it_is_the_script_that_was_reviewed() -> None:
    assert GOLDEN.read_text(encoding="utf-8") == SCRIPT


@pytest.mark.parametrize("batch", OTHERS)
def test_every_batch_is_t_sql(batch: str) -> None:
    assert parsed(batch)
    if guarded := GUARDED.match(batch):
        assert len(parsed(guarded[1])) == 1


@pytest.mark.parametrize("name", TRIGGERS)
def test_every_trigger_is_t_sql(name: str) -> None:
    body = TRIGGER.fullmatch(TRIGGERS[name])

    assert body
    # The parser does not know THROW.
    statements = parsed(re.sub(r"THROW 51000, (N'[^']*'), 1;", r"RAISERROR(\1, 16, 1);", body[1]))
    assert len(statements) >= 2


def test_what_a_trigger_tells_to_type_can_be_typed_in_sqlcmd_and_agent_too() -> None:
    said = re.findall(r"THROW 51000, N'([^']*)'", "".join(TRIGGERS.values()))
    telling = [one for one in said if re.search(r"\b(?:UPDATE [A-Z]|INSERT INTO)", one)]

    assert len(telling) == 6
    assert all(re.search(r"SET QUOTED_IDENTIFIER ON; (?:UPDATE|INSERT)", one) for one in telling)


@pytest.mark.parametrize("table", ["FileProcess", "BatchControl"])
def test_a_table_is_written_again_only_for_who_has_said_success(table: str) -> None:
    before, _, _ = TRIGGERS[f"TR_{table}_Success"].partition("UPDATE w SET ")

    assert before.endswith(
        "    IF EXISTS (SELECT 1 FROM inserted AS s WHERE s.Status = 'success')\n    BEGIN\n        "
    )


@pytest.mark.parametrize(("table", "word"), [("FileProcess", "complete"), ("BatchControl", "ready")])
def test_success_is_audited_as_the_word_that_is_stored_for_it(table: str, word: str) -> None:
    # What is written and what the other trigger makes of it would be an entry each.
    (body,) = parsed(TRIGGERS[f"TR_{table}_Audit"].partition("SET NOCOUNT ON;")[2].removesuffix("\nEND"))
    found = {
        (one.table, case.sql(dialect="tsql") if (case := one.find_ancestor(exp.Case)) else "")
        for one in body.find_all(exp.Column)
        if one.name == "Status"
    }

    stored = "CASE {0}.Status WHEN 'success' THEN '{1}' ELSE {0}.Status END"
    assert found == {(row, normal(f"SELECT {stored.format(row, word)}").removeprefix("SELECT ")) for row in ("d", "i")}


def test_what_hands_change_is_audited_there_too() -> None:
    watched = {name.split("_")[1] for name in TRIGGERS if name.endswith("_Audit")}

    assert watched == {
        *("ProcessBatch", "ProcessControl", "BatchDependency", "BatchResource", "Resource", "Schedule", "Calendar"),
        *("CalendarDay", "DataTrigger", "FileWatch", "Setting", "BatchControl", "FileProcess", "BatchFreeze"),
        *("Pool", "Variable", "Drain"),
    }
    assert set(TRIGGERS) - {f"TR_{table}_Audit" for table in watched} == {
        "TR_AuditLog_AppendOnly",
        "TR_AuditSeal_AppendOnly",
        *(
            "TR_FileProcess_Success",
            "TR_BatchControl_Success",
            "TR_FileProcess_Paused",
            "TR_FileProcess_SetAside",
            "TR_ProcessControl_InUse",
            "TR_Calendar_Used",
            "TR_Calendar_Renamed",
            "TR_Pool_Used",
            "TR_Pool_Renamed",
            "TR_vSqlJob_Insert",
            "TR_vSqlJob_Stays",
        ),
    }


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_made_as_the_model_says(table: str) -> None:
    model = parts_of(str(CreateTable(metadata.tables[table]).compile(dialect=DIALECT)))

    made = [OF_DEFAULT.sub("", part) for part in made_table(table) if part not in OF_THIS_SERVER]
    assert sorted(map(_in_one_order, made)) == sorted(map(_in_one_order, model))


def test_rows_of_the_same_data_are_found_by_a_hash() -> None:
    # Of an index of the entity alone, each earlier row's Data would be read.
    assert set(OF_THIS_SERVER) <= set(made_table("FileProcess"))
    assert statement_for("CREATE INDEX [IX_FileProcess_Duplicate]").endswith(
        " ON FileProcess (Entity, DataHash) WHERE Data IS NOT NULL;"
    )


def _in_one_order(part: str) -> str:
    """Write NOT NULL behind the default."""
    return part.replace(" NOT NULL", "") + (" NOT NULL" if " NOT NULL" in part else "")


def test_every_index_is_made_as_the_model_says() -> None:
    wanted = [
        str(CreateIndex(index).compile(dialect=DIALECT))
        for table in metadata.tables.values()
        for index in table.indexes
        if index._ddl_if is None or index._ddl_if.dialect == "mssql"
    ]
    assert len(wanted) == 44
    for text in wanted:
        assert normal(statement_for(text.partition(" (")[0])) == normal(text)


def test_every_view_is_made_whole_and_names_no_schema() -> None:
    made = [batch for batch in BATCHES if batch.startswith("CREATE OR ALTER VIEW ")]

    assert [batch.split()[4] for batch in made] == [*views.NAMES]
    for batch in made:
        (view,) = parsed(batch)
        assert not [table for table in view.find_all(exp.Table) if table.args.get("db")]
        assert "||" not in batch


def constraints_of(table: Table) -> set[str]:
    """Return the names of the constraints a table has on SQL Server."""
    found = {
        str(constraint.name)
        for constraint in table.constraints
        if constraint._ddl_if is None or constraint._ddl_if.dialect is None
    }
    return found | {f"DF_{table.name}_{column.name}" for column in table.columns if column.server_default is not None}


@pytest.mark.parametrize("table", TABLES)
def test_every_constraint_and_default_has_its_name(table: str) -> None:
    made = ", ".join(made_table(table))
    names = set(re.findall(r"CONSTRAINT \[(\w+)\]", made))

    assert names == constraints_of(metadata.tables[table])
    assert len(re.findall(r"\b(?:DEFAULT|CHECK|PRIMARY KEY|UNIQUE|FOREIGN KEY)\b", made)) == len(names)
    assert all(len(name) <= 128 for name in names)


def type_of(column: Column[object]) -> str:
    """Return the type of a column on SQL Server."""
    return str(column.type.compile(dialect=DIALECT))


def test_the_types_are_those_of_a_sql_server_shop() -> None:
    types = {f"{table}.{column.name}": type_of(column) for table in TABLES for column in metadata.tables[table].columns}
    exact = " COLLATE Latin1_General_100_BIN2"

    assert types["FileProcess.FileProcess_id"] == "BIGINT"
    assert types["FileProcess.Entity"] == f"NVARCHAR(200){exact}"
    assert types["FileProcess.Data"] == f"NVARCHAR(max){exact}"
    assert types["FileProcess.Status"] == "VARCHAR(20) COLLATE Latin1_General_100_CI_AS"
    assert types["ProcessBatch.Enabled"] == "SMALLINT"
    assert types["BatchControl.NextRunTime"] == "DATETIME2(3)"
    assert not {"NTEXT", "DATETIME", "FLOAT"} & {kind.partition(" ")[0] for kind in types.values()}
    assert "datetimeoffset" not in SCRIPT.lower()
    assert "BIGINT NOT NULL IDENTITY" in statement_for("CREATE TABLE BatchControl ")


def test_conditions_on_sqlite_types_stay_out_of_it() -> None:
    sqlite_only = [
        constraint
        for table in metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint) and constraint._ddl_if is not None
    ]

    assert sqlite_only
    assert "typeof" not in SCRIPT
    assert "strftime" not in SCRIPT


def test_whatever_makes_something_looks_first_whether_it_is_there() -> None:
    making = [batch for batch in BATCHES if re.search(r"\b(?:CREATE|INSERT|ALTER|DROP)\b", batch)]
    # Views and triggers are made over what is there.
    making = [batch for batch in making if not re.match(r"(?:EXEC sp_executesql N')?CREATE OR ALTER ", batch)]
    dropping = r"(?:ALTER TABLE \w+ DROP CONSTRAINT|DROP INDEX) IF EXISTS "
    making = [batch for batch in making if not re.match(dropping, batch)]

    assert len(making) > len(TABLES) + 33
    assert all(GUARDED.match(batch) for batch in making)


def test_after_an_error_nothing_more_is_done() -> None:
    begin, commit = BATCHES.index("BEGIN TRANSACTION;"), BATCHES.index("COMMIT TRANSACTION;")
    inside = BATCHES[begin + 1 : commit]

    assert BATCHES[0].splitlines()[-10:-8] == ["SET IMPLICIT_TRANSACTIONS OFF;", "SET XACT_ABORT ON;"]
    assert set(inside[1::2]) == {NOEXEC}
    assert NOEXEC not in inside[::2]
    assert BATCHES[commit + 1] == "SET NOEXEC OFF;"


def test_what_filtered_indexes_need_is_set() -> None:
    for needed in (
        "ANSI_NULLS ON",
        "QUOTED_IDENTIFIER ON",
        "ANSI_PADDING ON",
        "ARITHABORT ON",
        "NUMERIC_ROUNDABORT OFF",
    ):
        assert f"SET {needed};" in BATCHES[0]


def test_the_version_is_written_only_once_and_within_the_transaction() -> None:
    (version,) = [batch for batch in BATCHES if "INSERT INTO alembic_version" in batch]

    assert version == (
        "IF NOT EXISTS (SELECT 1 FROM alembic_version)\n"
        f"INSERT INTO alembic_version (version_num) VALUES ('{schema.newest_revision()}');"
    )
    versions = [version, *(batch for batch in BATCHES if batch.startswith("UPDATE alembic_version"))]
    *former, newest = schema.revisions()
    assert re.findall(r"'(\d+)'", " ".join(versions[1:])) == [each for one in former for each in (newest, one)]
    begin, commit = BATCHES.index("BEGIN TRANSACTION;"), BATCHES.index("COMMIT TRANSACTION;")
    assert begin < min(map(BATCHES.index, versions)) <= max(map(BATCHES.index, versions)) < commit


def test_a_person_reads_what_each_table_is_for() -> None:
    described = re.findall(r"^-- (.+)\nIF [^\n]*\nCREATE TABLE (\w+) ", SCRIPT, re.MULTILINE)

    assert {table for _, table in described} == set(TABLES)


def test_somebody_elses_tables_are_refused_before_anything_is_made() -> None:
    (refused,) = [batch for batch in BATCHES if "did not make" in batch]

    assert BATCHES.index(refused) < BATCHES.index("BEGIN TRANSACTION;")
    assert {f"N'{table}'" for table in TABLES} <= set(re.findall(r"N'\w+'", refused))
    assert "SET NOEXEC ON;" in refused


def test_what_lies_in_another_schema_is_never_taken_for_what_is_to_be_made() -> None:
    found = re.findall(r"OBJECT_ID\([^,]*, N'U'\)", SCRIPT)

    # A name of one part is looked for in dbo too.
    assert len(found) > len(TABLES)
    assert all(re.fullmatch(IN_SCHEMA, one) for one in found)
    assert re.findall(r"schema_id = (\S+)", SCRIPT) == ["SCHEMA_ID()"]


def test_a_foreign_version_table_is_refused_before_anything_is_made() -> None:
    (refused,) = [batch for batch in BATCHES if "not of this batchctl" in batch]
    known = ", ".join(f"'{revision}'" for revision in schema.revisions())
    (outer,) = parsed(refused)

    assert BATCHES.index(refused) < BATCHES.index("BEGIN TRANSACTION;")
    assert f"WHERE version_num NOT IN ({known})" in refused
    assert "NOT EXISTS (SELECT 1 FROM alembic_version)" in refused
    assert ".ProcessBatch', N'U') IS NULL" in refused
    assert "SET NOEXEC ON;" in refused
    # Where the table is not there, a statement that names it would be an error: it must not stand in the first condition.
    assert "FROM alembic_version" not in refused.partition("BEGIN")[0]
    assert isinstance(outer, exp.IfBlock)


def test_a_transaction_that_is_open_already_is_refused() -> None:
    refused = BATCHES[BATCHES.index("BEGIN TRANSACTION;") - 1]

    assert refused.startswith(
        "IF @@TRANCOUNT > 0\nBEGIN\n    RAISERROR(N'batchctl: this session has a transaction open"
    )
    assert "SET NOEXEC ON;" in refused


def test_the_frames_of_every_batch_are_closed() -> None:
    assert_frames_are_closed(SCRIPT)


def test_a_statement_that_cannot_be_repeated_is_not_printed() -> None:
    with pytest.raises(NotImplementedError, match="ALTER TABLE"):
        tsql_script.guarded("ALTER TABLE FileProcess DROP COLUMN x;")


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "script", "--dialect", "mssql"]) == 0

    assert capsys.readouterr().out.rstrip() == SCRIPT.rstrip()
    assert database_commands.DIALECTS == schema.DIALECTS
