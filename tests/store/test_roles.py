"""The scripts of roles as far as they can be looked at without a server; what they come to is tried in the acceptance tests."""

from __future__ import annotations

import re

import pytest
import sqlglot
from sqlglot import ErrorLevel, exp

from batchctl.domain.errors import Refused
from batchctl.store.maintenance import roles
from batchctl.store.tables import DEFINITIONS, metadata

MSSQL = roles.script("mssql", None, {"shop": ["Orders", "L'été"]})
GRANT = re.compile(r"GRANT ([A-Z, ]+) ON dbo\.(\w+)(?: \(([\w, ]+)\))? TO (\w+(?:, \w+)*);")


def test_every_line_for_sql_server_is_t_sql() -> None:
    triggers = re.findall(r"CREATE OR ALTER TRIGGER .*?\nEND;\n", MSSQL, re.DOTALL)
    others = MSSQL
    for trigger in triggers:
        others = others.replace(trigger, "")
    bodies = [trigger.partition(" RETURN;")[2].removesuffix("\nEND;\n") for trigger in triggers]
    kinds = [
        [type(one) for one in sqlglot.parse(body, dialect="tsql", error_level=ErrorLevel.RAISE)] for body in bodies
    ]
    assert [made.count(exp.Update) for made in kinds] == [2, 1]
    assert kinds[0][-2:] == [exp.Insert, exp.Update]
    for line in others.splitlines():
        if line in {"GO", ""} or line.startswith(("--", "IF DATABASE_PRINCIPAL_ID", "CREATE OR ALTER VIEW", "SET ")):
            continue
        if line.startswith("SELECT"):
            (found,) = sqlglot.parse(
                line.replace(" WITH CHECK OPTION", ""), dialect="tsql", error_level=ErrorLevel.RAISE
            )
            assert isinstance(found, exp.Select)
        elif line.startswith("GRANT"):
            assert GRANT.fullmatch(line), line
        else:
            assert re.fullmatch(r"REVOKE SELECT, INSERT, UPDATE, DELETE ON dbo\.\w+ FROM \w+(, \w+)*;", line), line


@pytest.mark.parametrize(
    ("table", "columns"),
    [("ProcessControl", ("ProcessType", "ProcessBatch_id")), ("ProcessBatch", ("Entity", "ProcessBatchName"))],
)
def test_only_who_makes_work_run_commands_locks_the_tables_of_work(table: str, columns: tuple[str, str]) -> None:
    (made,) = re.findall(rf"CREATE OR ALTER TRIGGER dbo\.\w+ ON dbo\.{table} AFTER .*?\nEND;\n", MSSQL, re.DOTALL)
    before, _, after = made.partition(" RETURN;")
    guard = " ".join(before.partition("IF NOT (")[2].split())

    assert guard.startswith(
        f"UPDATE({columns[0]}) OR UPDATE({columns[1]})) OR NOT EXISTS (SELECT 1 FROM inserted AS i "
    )
    assert guard.endswith("ProcessType)) = 'task')")
    assert "TABLOCKX" not in before
    assert "WITH (TABLOCKX)" in after


def test_each_role_is_made_once_and_each_view_stands_alone_in_its_batch() -> None:
    made = re.findall(r"^IF DATABASE_PRINCIPAL_ID\(N'(\w+)'\) IS NULL CREATE ROLE \1;$", MSSQL, re.MULTILINE)
    batches = [batch.strip() for batch in re.split(r"^GO$", MSSQL, flags=re.MULTILINE)]

    assert made == [*roles.ROLES, "batchctl_intake_shop"]
    views = [batch for batch in batches if "CREATE OR ALTER VIEW" in batch]
    assert len(views) == 3
    assert all(view.startswith("CREATE OR ALTER VIEW") for view in views)
    assert "WHERE Entity IN (N'Orders', N'L''été') AND (NOT EXISTS (SELECT 1 FROM dbo.ProcessBatch" in views[-1]
    assert all("LOWER(TRIM(p.ProcessType)) = 'task'" in view for view in views if "FileProcess" in view)


def test_nobody_but_who_is_for_it_gets_a_right_on_sql_server_either() -> None:
    given = {(role, table): rights for rights, table, _, role in GRANT.findall(MSSQL) if "," not in role}

    assert {table for role, table in given if role == "batchctl_author"} == {
        *DEFINITIONS,
        "AppliedDefinition",
        "AuditLog",
        "NamedLock",
        "vSqlJob",
    }
    assert {table for role, table in given if role == "batchctl_operator"} == {"Asked"}
    assert {table for role, table in given if role == "batchctl_intake"} == {"Intake"}
    assert given["batchctl_service", "AuditLog"] == "INSERT, DELETE"
    assert given["batchctl_service", "AuditSeal"] == "INSERT"
    assert "GRANT UPDATE ON dbo.ProcessBatch (Enabled, z_updated) TO batchctl_service;" in MSSQL


@pytest.mark.parametrize("dialect", ["postgresql", "mssql"])
def test_every_table_there_is_may_be_seen_by_who_sees_everything(dialect: str) -> None:
    script = roles.script(dialect, None, {})
    seen = " ".join(line for line in script.splitlines() if line.startswith("GRANT SELECT"))

    assert {table for table in metadata.tables if re.search(rf"\b{table}\b", seen)} == set(metadata.tables)


@pytest.mark.parametrize("name", ["", "1", "a b", "a;", "x'", "é", "a" * 42])
def test_a_name_that_would_have_to_be_quoted_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        roles.script("postgresql", None, {name: ["E"]})
    with pytest.raises(Refused):
        roles.script("postgresql", name, {})
