"""The script for SQL Server, run again: a model of what stands in the database follows its guards."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest

from batchctl.store.maintenance import schema

BATCHES = [
    re.sub(r"(?m)^-- .*\n", "", batch).strip()
    for batch in re.split(r"^GO$", schema.script("mssql"), flags=re.MULTILINE)
]
INSIDE = [
    batch for batch in BATCHES[BATCHES.index("BEGIN TRANSACTION;") + 1 :] if not batch.startswith("IF @@TRANCOUNT")
]
INSIDE = INSIDE[: INSIDE.index("COMMIT TRANSACTION;")]

IN_SCHEMA = r"OBJECT_ID\(QUOTENAME\(SCHEMA_NAME\(\)\) \+ N'\.(?P<on>\w+)', N'U'\)"
CONDITIONS = {
    "table": re.compile(rf"{IN_SCHEMA} IS NULL"),
    "column": re.compile(r"COL_LENGTH\(QUOTENAME\(SCHEMA_NAME\(\)\) \+ N'\.(?P<on>\w+)', N'(?P<column>\w+)'\) IS NULL"),
    "check": re.compile(IN_SCHEMA.replace("N'U'", "N'C'").replace("<on>", "<check>") + " IS NULL"),
    "object": re.compile(
        r"(?P<no>NOT )?EXISTS \(SELECT 1 FROM sys\.(?P<kind>\w+) WHERE name = N'(?P<name>\w+)'"
        rf" AND (?:parent_)?(?:object_)?id = {IN_SCHEMA}\)"
    ),
    "no revision": re.compile(r"NOT EXISTS \(SELECT 1 FROM alembic_version\)"),
    "row": re.compile(r"NOT EXISTS \(SELECT 1 FROM (?P<row>\w+)\)"),
    "setting": re.compile(r"NOT EXISTS \(SELECT 1 FROM Setting WHERE Name = '(?P<setting>\w+)'\)"),
}
MADE = {
    "indexes": re.compile(r"CREATE (?:UNIQUE )?INDEX \[(?P<name>\w+)\] ON (?P<on>\w+) "),
    "tables": re.compile(r"CREATE TABLE (?P<on>\w+)(?P<name>) "),
    "columns": re.compile(r"ALTER TABLE (?P<on>\w+) ADD (?!CONSTRAINT)(?P<name>\w+) "),
    "checks": re.compile(r"ALTER TABLE \w+ ADD CONSTRAINT(?P<on>) \[(?P<name>\w+)\]\s+CHECK "),
}
OVER = re.compile(r"(?:EXEC sp_executesql N')?CREATE OR ALTER (VIEW|TRIGGER) (\w+) ")
VERSION = re.compile(r"INSERT INTO alembic_version \(version_num\) VALUES \('(\w+)'\)")
NEXT_VERSION = re.compile(r"UPDATE alembic_version SET version_num = '(\w+)' WHERE version_num = '(\w+)';")
DROPPED = re.compile(r"ALTER TABLE \w+ DROP CONSTRAINT IF EXISTS \[(\w+)\];")
DROPPED_INDEX = re.compile(r"DROP INDEX IF EXISTS \[(\w+)\] ON (\w+);")
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
            case "column":
                return self.key("columns", said["on"], said["column"]) not in self.objects
            case "check":
                return self.key("checks", "", said["check"]) not in self.objects
            case "object":
                is_there = self.key(said["kind"], said["on"], said["name"]) in self.objects
                return is_there is (said["no"] is None)
            case "no revision":
                return self.revision == ""
            case "row":
                return said["row"] not in self.rows
            case _:
                return f"setting {said['setting']}" not in self.rows

    def do(self, statement: str) -> None:
        """Do what a statement says, as a server would: nothing is made twice, and nothing dropped that is not there."""
        for kind, pattern in MADE.items():
            if made := pattern.match(statement):
                self.make(self.key(kind, made["on"], made["name"]), statement)
                for column in re.findall(r"(?m)^ {4}(\w+) ", statement) if kind == "tables" else ():
                    self.objects["columns", made["on"], column] = ""
                for check in re.findall(r"CONSTRAINT \[(CK_\w+)\]", statement):
                    self.objects["checks", "", check] = "made"
                return
        if dropped := DROPPED.fullmatch(statement):
            self.objects.pop(("checks", "", dropped[1]), None)
        elif dropped := DROPPED_INDEX.fullmatch(statement):
            self.objects.pop(("indexes", dropped[2], dropped[1]), None)
        elif version := VERSION.match(statement):
            self.revision = version[1]
        elif later := NEXT_VERSION.fullmatch(statement):
            self.revision = later[1] if self.revision == later[2] else self.revision
        elif over := OVER.match(statement):
            self.objects[over[1], "", over[2]] = statement
        elif dropped := re.match(r"ALTER TABLE \w+ DROP CONSTRAINT IF EXISTS \[(\w+)\]", statement):
            self.objects.pop(("checks", "", dropped[1]), None)
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


def fresh() -> Database:
    """Return a database in which the script was run once."""
    made = Database()
    made.run(INSIDE)
    return made


def test_the_model_knows_what_is_made() -> None:
    made = fresh()
    kinds = {kind: sum(key[0] == kind for key in made.objects) for kind in (*MADE, "VIEW", "TRIGGER")}

    assert made.revision == schema.revisions()[-1]
    assert kinds["indexes"] > 30
    assert kinds["TRIGGER"] > 20
    assert kinds["VIEW"] == 14
    assert "Entity, DataHash" in made.objects["indexes", "FileProcess", "IX_FileProcess_Duplicate"]


@pytest.mark.parametrize("done", [0, 1, 10, 40, len(INSIDE)])
def test_run_twice_it_leaves_what_it_makes_once_whatever_was_there(done: int) -> None:
    wanted, found = fresh(), Database()
    found.run(INSIDE[:done])
    for _ in range(2):
        found.run(INSIDE)
        assert found == wanted
