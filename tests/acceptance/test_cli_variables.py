"""The same definitions in test and in production: what differs is a variable."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night, python
from tests.control_databases import ControlDatabase

WHY = ("--reason", "production")
SAYS = python("import sys; print('|'.join(sys.argv[1:]))", "{var:InDir}", "x{var:Who}y")


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """An instance of Loads waits, whose step names two variables that are not set."""
    made = Night(control_database, run_batchctl)
    made.batch("Loads", SAYS)
    made.arrive("Loads")
    assert made("create").returncode == 0
    return made


def test_an_attempt_without_its_variable_is_refused_and_says_what_to_type(night: Night) -> None:
    checked = night("check", env={"COLUMNS": "300"})
    night("process")
    (attempt,) = night.json("history", "1")
    night("variable", "set", "InDir", "/in/a b {Data1}", *WHY)
    night("variable", "set", "Who", "me", "--description", "who loads", *WHY)
    night("rerun", "1", "--reason", "set now")
    done = night("process")
    _, second = night.json("history", "1")

    assert checked.returncode == 6
    assert "{var:InDir} names a variable that is not set" in checked.stdout
    assert "batchctl variable set Who VALUE --reason ..." in checked.stdout
    assert attempt["CommandText"].startswith("-- not run: Step 10 'step 1' names variable 'InDir', which is not set.")
    assert "Next: batchctl variable set InDir VALUE --reason ..., then: batchctl rerun 1" in attempt["Message"]
    assert done.returncode == 0, done.stderr
    assert second["Output"].strip() == "/in/a b {Data1}|xmey"
    assert "'/in/a b {Data1}' xmey" in second["CommandText"]
    assert night("check").returncode == 0


def test_of_several_who_set_the_same_new_variable_at_once_the_last_wins_and_each_is_audited(night: Night) -> None:
    values = ["/in/a", "/in/b", "/in/c", "/in/d"]
    with ThreadPoolExecutor(len(values)) as people:
        asked = [people.submit(night, "variable", "set", "InDir", value, *WHY) for value in values]
        done = [one.result() for one in asked]
    acts = night.sql(
        "SELECT ValuesBefore, ValuesAfter FROM AuditLog WHERE Action = 'variable set' ORDER BY AuditLog_id"
    )
    chain = [tuple(json.loads(text).get("Value") for text in act) for act in acts]

    assert [(one.returncode, one.stderr) for one in done] == [(0, done[0].stderr)] * len(values)
    assert sorted(after for _, after in chain) == values
    assert [before for before, _ in chain] == [None, *(after for _, after in chain[:-1])]
    assert night.sql("SELECT Value FROM Variable") == [(chain[-1][1],)]


def test_a_changed_value_is_taken_by_the_next_attempt(night: Night) -> None:
    for name, value in (("InDir", "a"), ("Who", "b")):
        night("variable", "set", name, value, *WHY)
    night("process")
    night.sql("UPDATE Variable SET Value = 'c' WHERE VariableName = 'Who'")
    night("rerun", "1", "--from", "10", "--reason", "once more")
    night("process")

    assert [one["Output"].strip() for one in night.json("history", "1")] == ["a|xby", "a|xcy"]


def test_variables_are_listed_with_what_names_them_and_every_change_is_audited(night: Night) -> None:
    planned = night("variable", "set", "InDir", "/in", "--dry-run")
    nothing = night.json("variable", "list")
    made = night.json("variable", "set", "InDir", "/in", *WHY)
    same = night("variable", "set", "InDir", "/in", *WHY)
    night("variable", "set", "InDir", "/out", *WHY)
    (listed,) = night.json("variable", "list")
    shown = night("variable", "list", env={"COLUMNS": "200"})
    acts = night.sql("SELECT Action, Reason FROM AuditLog WHERE Target = 'Variable:InDir' ORDER BY AuditLog_id")

    assert "would be '/in'" in planned.stdout
    assert nothing == []
    assert (made["Before"], made["After"]["Value"]) == (None, "/in")
    assert "has that value already" in same.stdout
    assert listed["NamedBy"] == ["Data1 of ProcessControl Loads, step 10 'step 1'"]
    assert "/out" in shown.stdout
    assert [one for one in acts if one[0] == "variable set"] == [("variable set", "production")] * 2
    assert {one[0] for one in acts} == {"row insert", "row update", "variable set"}


def test_what_definitions_name_is_not_removed(night: Night) -> None:
    night("variable", "set", "InDir", "/in", *WHY)
    night("variable", "set", "Spare", "x", *WHY)
    refused = night("variable", "remove", "InDir", *WHY)
    planned = night("variable", "remove", "Spare", "--dry-run")
    gone = night("variable", "remove", "Spare", *WHY)
    unknown = night("variable", "remove", "indir", *WHY)

    assert refused.returncode == 4
    assert "Variable InDir is named by Data1 of ProcessControl Loads, step 10 'step 1'" in refused.stderr
    assert "would be removed" in planned.stdout
    assert gone.returncode == 0
    assert unknown.returncode == 3
    assert "Did you mean 'InDir'?" in unknown.stderr
    assert night.sql("SELECT VariableName FROM Variable") == [("InDir",)]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("a b", "x", "letters from A to Z, digits, _ . and - make one"),
        ("", "x", "it has no name"),
        ("x" * 101, "x", "the name has 101 characters, and 100 are the most"),
        ("Größe", "x", "is no name of a variable"),
        ("Me", "{var:Me}/in", "it names a variable, and values are taken as they stand"),
        ("Password", "{secret:warehouse}", "write {secret:NAME} into the definition itself"),
        ("Long", "x" * 4001, "it has 4001 characters, and 4000 are the most"),
    ],
)
def test_what_no_variable_may_be_is_refused(night: Night, name: str, value: str, said: str) -> None:
    refused = night("variable", "set", name, value, *WHY)

    assert refused.returncode == 4
    assert said in refused.stderr
    assert night.sql("SELECT VariableName FROM Variable") == []


def test_a_row_that_was_written_by_hand_is_named_by_check(night: Night) -> None:
    for name, value in (("Who", "{var:Who}"), ("InDir", "/in"), ("indir", "/in"), ("a b", "{secret:x}")):
        night.sql("INSERT INTO Variable (VariableName, Value) VALUES (?, ?)", name, value)
    found = {(one["Table"], one["Row"], one["Column"]) for one in json.loads(night("check", "--json").stdout)}

    assert found == {
        ("Variable", "Who", "Value"),
        ("Variable", "a b", "VariableName"),
        ("Variable", "a b", "Value"),
        ("Variable", "indir", "VariableName"),
    }


def test_the_same_file_of_definitions_serves_both_and_a_file_beside_it_says_what_differs(night: Night) -> None:
    night("variable", "set", "InDir", "/test/in", "--description", "where", *WHY)
    plain = tomllib.loads(night("export").stdout)
    with_them = tomllib.loads(night("export", "--variables").stdout)
    (night.folder / "production.toml").write_text(
        '[[Variable]]\nVariableName = "InDir"\nValue = "/prod/in"\nDescription = "where"\n'
        '[[Variable]]\nVariableName = "Who"\nValue = "{var:InDir}"\n'
    )
    refused = night("apply", "production.toml", *WHY)
    (night.folder / "production.toml").write_text(
        '[[Variable]]\nVariableName = "InDir"\nValue = "/prod/in"\nDescription = "where"\n'
    )
    held = night("apply", "production.toml", *WHY)
    applied = night("apply", "production.toml", "--overwrite", "InDir", *WHY)

    assert "Variable" not in plain
    assert with_them["Variable"] == [{"VariableName": "InDir", "Value": "/test/in", "Description": "where"}]
    assert refused.returncode == 6
    assert "it names a variable" in refused.stdout + refused.stderr
    assert held.returncode == 5, "somebody has set it by the command since"
    assert applied.returncode == 0, applied.stderr
    assert night.sql("SELECT Value FROM Variable WHERE VariableName = 'InDir'") == [("/prod/in",)]


def test_a_watched_folder_may_name_one(night: Night) -> None:
    (night.folder / "incoming").mkdir()
    (night.folder / "incoming" / "a.csv").write_text("x")
    night.sql(
        "INSERT INTO FileWatch (WatchName, Entity, Folder, Pattern, SettleSeconds) VALUES (?, ?, ?, ?, ?)",
        *("in", "Loads", "{var:Folder}", "*.csv", 0),
    )
    before = night("check", env={"COLUMNS": "300"}).stdout
    night("variable", "set", "Folder", "incoming", *WHY)
    (watch,) = night.json("watch", "list")

    assert "{var:Folder} names a variable that is not set" in before
    assert watch["Folder"] == "incoming"
    assert "a.csv" in night("watch", "test", "in").stdout
    assert night("variable", "remove", "Folder", *WHY).returncode == 4


def test_sql_takes_a_variable_as_a_bound_value_also_from_a_file(night: Night) -> None:
    (night.folder / "batchctl.toml").write_text(
        '[connections.shop]\nurl = "sqlite:///shop.db"\n'
        if night.database.kind == "sqlite"
        else f'database_url = "{night.database.url}"\n[connections.shop]\nurl = "sqlite:///shop.db"\n'
    )
    (night.folder / "shop.db").touch()
    (night.folder / "load.sql").write_text("INSERT INTO t VALUES ({var:In-Dir}, {var:In.Dir}, {var:In-Dir})")
    night.batch("Sql", Entity="Sql")
    for at, text in ((10, "CREATE TABLE t (a text, b text, c text)"), (20, "file:load.sql")):
        night.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)"
            " SELECT ProcessBatch_id, ?, 'sql', 'sql', 'shop', ? FROM ProcessBatch WHERE ProcessBatchName = 'Sql'",
            *(at, text),
        )
    hostile = "x'); DROP TABLE t; --"
    checked = night("check", env={"COLUMNS": "300"})
    night("variable", "set", "In-Dir", hostile, *WHY)
    night("variable", "set", "In.Dir", "{Data1}", *WHY)
    night.arrive("Sql")
    night("create")
    processed = night("process")
    removed = night("variable", "remove", "In-Dir", *WHY)
    assert processed.returncode == 1, "an instance of Loads fails too"
    assert night.status_of(2) == "complete", night("history", "2").stdout
    with closing(sqlite3.connect(night.folder / "shop.db")) as shop:
        rows = shop.execute("SELECT * FROM t").fetchall()

    assert "{var:In-Dir} names a variable that is not set" in checked.stdout
    assert rows == [(hostile, "{Data1}", hostile)]
    assert "Data2 of ProcessControl Sql, step 20 'sql'" in removed.stderr


def test_a_program_stands_in_another_folder_in_each_installation(night: Night) -> None:
    (night.folder / "tools").mkdir()
    script = night.folder / "tools" / "load.sh"
    script.write_text("#!/bin/sh\necho in tools\n")
    script.chmod(0o755)
    night.batch("Tools", "./load.sh")
    night.batch("Chosen", "{var:Tools}/load.sh")
    night.sql("UPDATE ProcessControl SET Data2 = '{var:Tools}' WHERE Data1 = './load.sh'")
    night("variable", "set", "Tools", "tools", *WHY)
    night.arrive("Tools")
    night("create")
    night("process")
    said = [
        output
        for (output,) in night.sql(
            "SELECT h.Output FROM BatchProcessHistory h JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id"
            " WHERE b.ProcessBatchName = 'Tools'"
        )
    ]

    assert said == ["in tools\n"]
    assert "the program must be written out" in night("check", env={"COLUMNS": "300"}).stdout
