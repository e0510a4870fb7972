"""The script for SQL Server, run again: a model of what stands in the database follows its guards."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest

from batchctl.store import schema

BATCHES = [batch.strip() for batch in re.split(r"^GO$", schema.script("mssql"), flags=re.MULTILINE)]
INSIDE = [
    batch for batch in BATCHES[BATCHES.index("BEGIN TRANSACTION;") + 1 :] if not batch.startswith("IF @@TRANCOUNT")
]
INSIDE = INSIDE[: INSIDE.index("COMMIT TRANSACTION;")]

IN_SCHEMA = r"OBJECT_ID\(QUOTENAME\(SCHEMA_NAME\(\)\) \+ N'\.(?P<on>\w+)', N'[UV]'\)"
CONDITIONS = {
    "table": re.compile(rf"{IN_SCHEMA} IS NULL"),
    "object": re.compile(
        r"(?P<no>NOT )?EXISTS \(SELECT 1 FROM sys\.(?P<kind>\w+) WHERE name = N'(?P<name>\w+)'"
        rf" AND (?:parent_)?(?:object_)?id = {IN_SCHEMA}\)"
    ),
    "revision": re.compile(r"NOT EXISTS \(SELECT 1 FROM alembic_version WHERE version_num >= '(?P<revision>\w+)'\)"),
    "no revision": re.compile(r"NOT EXISTS \(SELECT 1 FROM alembic_version\)"),
    "setting": re.compile(r"NOT EXISTS \(SELECT 1 FROM Setting WHERE Name = '(?P<setting>\w+)'\)"),
}
MADE = {
    "indexes": re.compile(r"CREATE (?:UNIQUE )?INDEX \[(?P<name>\w+)\] ON (?P<on>\w+) "),
    "triggers": re.compile(r"EXEC sp_executesql N'CREATE TRIGGER (?P<name>\w+) ON (?P<on>\w+) "),
    "check_constraints": re.compile(r"ALTER TABLE (?P<on>\w+) ADD CONSTRAINT \[(?P<name>\w+)\] CHECK"),
    "columns": re.compile(r"ALTER TABLE (?P<on>\w+) ADD (?!CONSTRAINT )(?P<name>\w+) "),
    "tables": re.compile(r"CREATE TABLE (?P<on>\w+)(?P<name>) "),
}
DROPPED = {
    "indexes": re.compile(r"DROP INDEX \[(?P<name>\w+)\] ON (?P<on>\w+);"),
    "triggers": re.compile(r"DROP TRIGGER (?P<name>\w+)(?P<on>);"),
    "check_constraints": re.compile(r"ALTER TABLE (?P<on>\w+) DROP CONSTRAINT \[(?P<name>\w+)\]"),
}
VERSION = re.compile(r"INSERT INTO alembic_version \(version_num\) VALUES \('(\w+)'\)")
VERSIONS = re.compile(r"UPDATE alembic_version SET version_num = '(\w+)' WHERE version_num = '(\w+)';")
INNER = re.compile(r"CONSTRAINT \[(\w+)\] CHECK")
Key = tuple[str, str, str]


@dataclass
class Database:
    """What stands in a database: of each object its kind, its table and its name, with what made it."""

    objects: dict[Key, str] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    revision: str = ""

    def key(self, kind: str, on: str, name: str) -> Key:
        """Return how an object is known; a trigger's name is its schema's."""
        return kind, "" if kind == "triggers" else on, name

    def run(self, batches: list[str]) -> None:
        """Run batches, each where its guard says so."""
        for batch in batches:
            guard, _, statement = batch.partition("\n") if batch.startswith("IF ") else ("", "", batch)
            if all(self.holds(one) for one in re.split(r" AND (?=NOT EXISTS)", guard.removeprefix("IF "))):
                self.do(statement)

    def holds(self, condition: str) -> bool:
        """Say whether a condition holds."""
        if not condition:
            return True
        kind, found = next((kind, found) for kind, one in CONDITIONS.items() if (found := one.fullmatch(condition)))
        said = found.groupdict()
        match kind:
            case "table":
                return self.key("tables", said["on"], "") not in self.objects
            case "object":
                is_there = self.key(said["kind"], said["on"], said["name"]) in self.objects
                return is_there is (said["no"] is None)
            case "revision":
                return self.revision < said["revision"]
            case "no revision":
                return self.revision == ""
            case _:
                return f"setting {said['setting']}" not in self.rows

    def do(self, statement: str) -> None:
        """Do what a statement says, as a server would: nothing is made twice, and nothing dropped that is not there."""
        for kind, pattern in MADE.items():
            if made := pattern.match(statement):
                self.make(self.key(kind, made["on"], made["name"]), statement)
                for name in INNER.findall(statement) if kind in {"tables", "columns"} else ():
                    self.make(self.key("check_constraints", made["on"], name), statement)
                return
        for kind, pattern in DROPPED.items():
            if gone := pattern.match(statement):
                assert self.objects.pop(self.key(kind, gone["on"], gone["name"]), None) is not None, statement
                return
        if versions := VERSIONS.match(statement):
            self.revision = versions[1] if self.revision == versions[2] else self.revision
        elif version := VERSION.match(statement):
            self.revision = version[1]
        elif view := re.match(r"CREATE OR ALTER VIEW (\w+)", statement):
            self.objects["views", "", view[1]] = statement
        elif setting := re.match(r"INSERT INTO Setting \(Name, Value\) SELECT '(\w+)'", statement):
            self.rows[f"setting {setting[1]}"] = 1
        else:
            into = re.match(r"INSERT INTO (\w+) ", statement)
            assert into, statement
            self.rows[into[1]] = self.rows.get(into[1], 0) + 1

    def make(self, key: Key, statement: str) -> None:
        """Make an object."""
        assert key not in self.objects, f"made twice: {statement}"
        self.objects[key] = statement


def up_to(revision: str) -> list[str]:
    """Return the batches that lead to a revision."""
    ends = re.compile(rf"alembic_version[^\n]*(?:version_num = |VALUES \()'{revision}'")
    return INSIDE[: next(at for at, batch in enumerate(INSIDE) if ends.search(batch)) + 1]


def fresh() -> Database:
    """Return a database in which the script was run once."""
    made = Database()
    made.run(INSIDE)
    return made


def test_the_model_knows_what_is_made() -> None:
    made = fresh()
    kinds = {kind: sum(key[0] == kind for key in made.objects) for kind in (*MADE, "views")}

    assert made.revision == schema.revisions()[-1]
    assert kinds["indexes"] > 30
    assert kinds["triggers"] > 20
    assert kinds["check_constraints"] > 100
    assert "Entity, DataHash" in made.objects["indexes", "FileProcess", "IX_FileProcess_Duplicate"]


@pytest.mark.parametrize("revision", ["", *schema.revisions()])
def test_run_twice_it_leaves_what_it_makes_once_whatever_was_there(revision: str) -> None:
    wanted, found = fresh(), Database()
    found.run(up_to(revision) if revision else [])
    for _ in range(2):
        found.run(INSIDE)
        assert found == wanted
