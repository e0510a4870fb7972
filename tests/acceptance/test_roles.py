"""The roles of the script: each can do what it is for, and each is refused what it is not for."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from batchctl.store.maintenance import roles
from batchctl.web.pages import PAGES
from tests.acceptance.consoles import Browser
from tests.acceptance.guarded import ENTITIES, Guarded, guarded
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.faults.site import Running, until

ASK = "INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES ('rerun', 1, 'the file was late')"
__all__ = ["guarded"]
LONG_AGO = "'2026-01-01 00:00:00'"


def connections(folder: Path, more: str = "") -> None:
    """Write a configuration."""
    (folder / "batchctl.toml").write_text(more, encoding="utf-8")


def test_the_console_keeps_its_users_and_changes_no_work(guarded: Guarded, start_batchctl: StartBatchctl) -> None:
    here = {"BATCHCTL_DATABASE_URL": guarded.url("web")}
    added = guarded.announced("web", "web", "user", "add", "anna", "--role", "operator", "--json")
    assert added.returncode == 0, added.stderr
    console = start_batchctl("web", "--port", "0", cwd=guarded.folder, env=here)
    assert console.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", console.stdout.readline())
    assert found is not None
    browser = Browser(int(found[1]))
    assert browser.post("/login", {"name": "anna", "password": json.loads(added.stdout)["Code"]}).status == 303
    assert browser.post("/account/password", {"new": "four quiet horses graze"}).status == 303
    for place in PAGES:
        if place.menu is not None:
            assert browser.get(place.path).status == 200, place.path
    assert browser.act("/new/file-processes", entity="Load", file_name="of_console.csv").status == 303
    console.send_signal(signal.SIGTERM)
    console.communicate(timeout=PATIENCE)

    assert guarded.sql("SELECT count(*) FROM FileProcess WHERE FileName = 'of_console.csv'") == [(1,)]
    acts = "SELECT Actor FROM AuditLog WHERE Action = 'login'"
    assert guarded.sql(acts) == [("anna",), ("anna",)]
    for refused in (
        "UPDATE BatchControl SET Status = 'ready'",
        "UPDATE ProcessControl SET Data1 = 'x'",
        "DELETE FROM AuditLog",
        "UPDATE FileProcess SET Status = 'ready'",
    ):
        guarded.refuses("web", refused)
    for login in ("reader", "anna", "author", "service"):
        for table in roles.KEPT_FOR_CONSOLE:
            guarded.refuses(login, f"SELECT * FROM {table}")


def test_a_whole_night_is_the_work_of_the_service(guarded: Guarded) -> None:
    (guarded.folder / "in").mkdir()
    (guarded.folder / "in" / "one.csv").write_text("1\n")
    staged = f"sqlite:///{guarded.folder / 'shop.db'}"
    connections(guarded.folder, f'[connections.shop]\nurl = "{staged}"\n')
    with sqlite3.connect(guarded.folder / "shop.db") as shop:
        shop.execute("CREATE TABLE Staged (Status text)")
        shop.execute("INSERT INTO Staged VALUES ('new')")
    for name in ("Report", "Watched", "Staged", "Timed", "Spare"):
        guarded.batch(name, "true")
    guarded.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (2, 1)")
    guarded.sql(
        "INSERT INTO FileWatch (WatchName, Entity, Folder, SettleSeconds) VALUES ('in', 'Watched', ?, 0)",
        str(guarded.folder / "in"),
    )
    guarded.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows)"
        " VALUES ('rows', 'Staged', 'shop', 'Staged', 'Status', 'new', 1)"
    )
    guarded.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, IntervalMinutes, CatchUp, DecidedUntil)"
        " VALUES ('often', 'Timed', 'interval', 1, 'latest', (clock_timestamp() AT TIME ZONE 'UTC') - interval '5 minutes')"
    )
    guarded.sql(
        "INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '30'), ('RequestDays', '30'), ('CompleteDays', '30')"
    )
    guarded.sql("INSERT INTO Setting (Name, Value) VALUES ('KeepLast', '0'), ('InboxDays', '30')")
    guarded.sql(
        f"INSERT INTO AuditLog (Actor, Host, Action, Target, z_inserted) VALUES ('a', 'h', 'x', 'Nothing', {LONG_AGO})"
    )
    # It goes only once it has been sealed for as long.
    guarded.sql(
        "INSERT INTO AuditSeal (SealNo, AuditLog_id, PrevHash, RecordHash, z_inserted)"
        f" SELECT 1, AuditLog_id, '{'0' * 64}', '{'a' * 64}', {LONG_AGO} FROM AuditLog WHERE Target = 'Nothing'"
    )
    guarded.sql(
        f"INSERT INTO FileProcess (Entity, Status, z_inserted, z_updated) VALUES ('o', 'complete', {LONG_AGO}, {LONG_AGO})"
    )
    guarded.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, z_inserted, z_updated)"
        f" VALUES (2, 2, 'complete', {LONG_AGO}, {LONG_AGO})"
    )
    guarded.as_("shop", "INSERT INTO Intake_shop (Entity, FileName) VALUES ('Orders', '/in/o.csv')")
    first = guarded.announced("service", "run", "--until-idle", "2")
    guarded.as_(
        "anna",
        "INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason)"
        """ SELECT 'rerun', BatchControl_id, '{"Data3": "right"}', 'the file was late' FROM BatchControl"""
        " WHERE Status = 'failed'",
    )
    guarded.as_("anna", "INSERT INTO OperatorRequest (Action, ProcessBatchName) VALUES ('disable', 'Spare')")
    second = guarded.announced("service", "run", "--until-idle", "2")

    for done in (first, second):
        assert "trouble" not in done.stderr, done.stderr
        assert "controller.waiting" not in done.stderr, done.stderr
    statuses = guarded.sql(
        "SELECT ProcessBatchName, c.Status, count(*) FROM BatchControl c JOIN ProcessBatch b"
        " ON b.ProcessBatch_id = c.ProcessBatch_id GROUP BY 1, 2 ORDER BY 1"
    )
    assert [row[:2] for row in statuses] == [
        *(("Load", "complete"), ("Report", "complete"), ("Staged", "complete"), ("Timed", "complete")),
        ("Watched", "complete"),
    ]
    assert guarded.sql("SELECT Actor, Status FROM OperatorRequest ORDER BY 1") == [("anna", "done")] * 2
    assert guarded.sql("SELECT Target FROM AuditLog WHERE z_inserted < '2026-02-01'") == []
    assert guarded.sql("SELECT count(*) FROM BatchControl WHERE z_inserted < '2026-02-01'") == [(0,)]
    assert guarded.announced("service", "audit", "verify").returncode == 0
    assert guarded.announced("reader", "fsck").returncode == 0
    rights = [
        one for one in json.loads(guarded.announced("service", "doctor", "--json").stdout) if "rights" in str(one)
    ]
    assert rights
    assert {one["Result"] for one in rights} == {"OK"}, rights


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ProcessControl SET Data1 = 'rm -rf /'",
        "INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Mine')",
        "UPDATE ProcessBatch SET Populator = 'x'",
        "UPDATE Schedule SET RunTimes = '03:00'",
        "UPDATE Setting SET Value = '1'",
        "INSERT INTO Setting (Name, Value) VALUES ('AuditLogDays', '1')",
        "DELETE FROM ProcessBatch",
        "UPDATE AuditLog SET Actor = 'somebody'",
        "UPDATE AuditSeal SET RecordHash = 'x'",
        "DELETE FROM AuditSeal",
        "TRUNCATE AuditLog",
        "UPDATE OperatorRequest SET Actor = 'somebody'",
        "INSERT INTO OperatorRequest (Action) VALUES ('enable')",
        "CREATE TABLE Mine (x int)",
        "ALTER TABLE AuditLog DISABLE TRIGGER ALL",
        "DROP TRIGGER TR_AuditLog_AppendOnly ON AuditLog",
        "SET session_replication_role = replica",
    ],
)
def test_the_service_neither_defines_work_nor_changes_what_was_written_down(guarded: Guarded, statement: str) -> None:
    guarded.refuses("service", statement)


def test_the_service_deletes_of_the_log_only_what_is_old_enough(guarded: Guarded) -> None:
    with pytest.raises(psycopg.errors.RaiseException, match="stays as it is"):
        guarded.as_("service", "DELETE FROM AuditLog")


def test_who_has_work_submits_it_and_sees_nothing(guarded: Guarded) -> None:
    guarded.as_(
        "loader",
        "INSERT INTO FileProcess (Entity, FileName, Data, CycleKey, Source) VALUES ('Load', 'f', 'd', 'c', 's')",
    )
    for statement in (
        "INSERT INTO FileProcess (Entity, Status) VALUES ('Load', 'complete')",
        "INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (99, 'Load')",
        "SELECT 1 FROM FileProcess",
        "UPDATE FileProcess SET Data = 'x'",
        "DELETE FROM FileProcess",
        "SELECT 1 FROM ProcessBatch",
        "INSERT INTO OperatorRequest (Action) VALUES ('enable')",
        "INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('a', 'h', 'x', 'y')",
        "CREATE TABLE Mine (x int)",
        "SELECT 1 FROM AuditLog",
    ):
        guarded.refuses("loader", statement)

    assert guarded.sql("SELECT Status, Source FROM FileProcess WHERE FileProcess_id = 2") == [("ready", "s")]


def test_who_has_work_of_some_entities_submits_only_that(guarded: Guarded) -> None:
    guarded.as_("shop", "INSERT INTO Intake_shop (Entity, FileName) VALUES ('L''été', '/in/x')")
    with pytest.raises(psycopg.errors.WithCheckOptionViolation):
        guarded.as_("shop", "INSERT INTO Intake_shop (Entity, FileName) VALUES ('Load', '/in/x')")
    for statement in (
        "INSERT INTO FileProcess (Entity) VALUES ('Orders')",
        "SELECT 1 FROM Intake_shop",
        "UPDATE Intake_shop SET Data = 'x'",
        "INSERT INTO Intake_shop (Entity, Status) VALUES ('Orders', 'complete')",
    ):
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedColumn)):
            guarded.as_("shop", statement)

    assert guarded.sql("SELECT Entity, Status FROM FileProcess WHERE FileProcess_id > 1") == [("L'été", "ready")]


def test_support_asks_and_does_nothing_itself(guarded: Guarded) -> None:
    assert guarded.announced("service", "run", "--once").returncode == 1
    guarded.as_("anna", ASK)
    assert guarded.announced("anna", "status").returncode == 0
    refused = guarded.announced("anna", "rerun", "1", "--reason", "now")
    for statement in (
        "INSERT INTO OperatorRequest (Action, Actor) VALUES ('enable', 'boss')",
        "INSERT INTO OperatorRequest (Action, Status) VALUES ('enable', 'done')",
        "UPDATE OperatorRequest SET Action = 'cancel'",
        "DELETE FROM OperatorRequest",
        "UPDATE BatchControl SET Status = 'ready'",
        "UPDATE BatchControl SET Data1 = 'x'",
        "UPDATE ProcessControl SET Data1 = 'x'",
        "INSERT INTO FileProcess (Entity) VALUES ('Load')",
        "INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('a', 'h', 'x', 'y')",
        "DELETE FROM AuditLog",
    ):
        guarded.refuses("anna", statement)

    assert refused.returncode == 4, refused.stderr
    assert "any other asks by a row: INSERT INTO OperatorRequest" in refused.stderr
    assert guarded.sql("SELECT Actor, Status FROM OperatorRequest") == [("anna", "requested")]


def test_who_defines_work_is_audited_and_does_none(guarded: Guarded) -> None:
    guarded.as_("author", "INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('New')")
    guarded.as_("author", "UPDATE ProcessControl SET Data1 = 'echo 1'")
    guarded.as_("author", "DELETE FROM ProcessBatch WHERE ProcessBatchName = 'New'")
    added = guarded.announced(
        "author",
        "schedule",
        "add",
        "nightly",
        "--entity",
        "Load",
        "--type",
        "daily",
        "--run-times",
        "03:00",
        "--reason",
        "new",
    )
    switched = guarded.announced("author", "disable", "Load", "--reason", "wait")
    for statement in (
        "INSERT INTO FileProcess (Entity) VALUES ('Load')",
        "UPDATE BatchControl SET Status = 'ready'",
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)",
        "UPDATE BatchProcessHistory SET Status = 'success'",
        "UPDATE AuditLog SET Actor = 'x'",
        "DELETE FROM AuditLog",
        "INSERT INTO AuditLog (AuditLog_id, Actor, Host, Action, Target) VALUES (1000, 'a', 'h', 'x', 'y')",
        "INSERT INTO AuditSeal (SealNo, AuditLog_id, PrevHash, RecordHash) VALUES (1, 1, 'a', 'b')",
        "UPDATE Setting SET Value = '1'",
        "INSERT INTO OperatorRequest (Action) VALUES ('enable')",
        "ALTER TABLE ProcessBatch DISABLE TRIGGER ALL",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TEMP TABLE x (y int); CREATE TRIGGER t AFTER INSERT ON x FOR EACH ROW EXECUTE FUNCTION batchctl_audit('a')",
    ):
        guarded.refuses("author", statement)

    assert (added.returncode, switched.returncode) == (0, 0), added.stderr + switched.stderr
    acts = guarded.sql("SELECT Actor, Action, Target FROM AuditLog WHERE Actor = 'author' ORDER BY AuditLog_id")
    assert acts == [
        ("author", "row insert", "ProcessBatch:New"),
        ("author", "row update", "ProcessControl:Load:10"),
        ("author", "row delete", "ProcessBatch:New"),
        ("author", "row insert", "Schedule:nightly"),
        ("author", "row update", "ProcessBatch:Load"),
    ]


def test_who_only_looks_changes_nothing(guarded: Guarded) -> None:
    for command in (
        ["status"],
        ["batches"],
        ["history"],
        ["audit"],
        ["audit", "verify"],
        ["check"],
        ["fsck"],
        ["requests"],
        ["report", "night"],
    ):
        assert guarded.announced("reader", *command).returncode == 0, command
    for statement in ("INSERT INTO FileProcess (Entity) VALUES ('x')", "UPDATE ProcessBatch SET Enabled = 0", ASK):
        guarded.refuses("reader", statement)


def test_the_service_sends_the_report_of_the_night(guarded: Guarded) -> None:
    settings = {
        "BATCHCTL_DATABASE_URL": guarded.url("service"),
        "BATCHCTL_REPORT": '{"night": "00:00", "channels": ["told"]}',
        "BATCHCTL_ALERTS": '{"channels": {"told": {"kind": "log", "path": "told.log"}}}',
    }
    # The instance that waits there fails, and people hear of that, too.
    assert [guarded("run", "--once", env=settings).returncode for _ in range(2)] == [1, 0]

    titles = [
        json.loads(line)["Title"] for line in (guarded.folder / "told.log").read_text(encoding="utf-8").splitlines()
    ]
    assert [title.startswith("Night of ") for title in titles].count(True) == 1
    acts = guarded.sql("SELECT Action FROM AuditLog WHERE Target LIKE 'Report:%' ORDER BY AuditLog_id")
    assert acts == [("report claim",), ("report sent",)]
    assert guarded.announced("service", "audit", "verify").returncode == 0


def test_a_right_that_was_given_beyond_the_script_is_taken_again_by_it(guarded: Guarded) -> None:
    guarded.sql("GRANT UPDATE ON ProcessControl TO batchctl_operator")
    guarded.sql("GRANT UPDATE (Actor) ON OperatorRequest TO batchctl_operator")
    assert guarded.server.psql(guarded.name, roles.script("postgresql", None, ENTITIES)).returncode == 0

    guarded.refuses("anna", "UPDATE ProcessControl SET Data1 = 'x'")
    guarded.refuses("anna", "UPDATE OperatorRequest SET Actor = 'x'")


def test_the_script_is_printed_for_each_kind_of_database(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    def script(*args: str) -> Mapping[str, Any]:
        done = run_batchctl("db", "roles", *args, cwd=tmp_path)
        return {"code": done.returncode, "out": done.stdout, "err": done.stderr}

    assert script("--dialect", "postgresql", "--intake", "shop=Orders", "--intake", "shop=L'été")[
        "out"
    ] == roles.script("postgresql", None, ENTITIES)
    assert "SQLite has no roles" in script("--dialect", "sqlite")["out"]
    assert "GRANT SELECT ON batch.AuditLog TO" in script("--dialect", "mssql", "--schema", "batch")["out"]
    odd = script("--dialect", "postgresql", "--schema", "x; DROP")
    assert (odd["code"], odd["out"]) == (4, "")
    assert script("--dialect", "postgresql", "--intake", "shop")["code"] == 2


def test_a_row_that_was_planted_before_a_batch_ran_commands_is_held(guarded: Guarded) -> None:
    for entity in ("Task", "Later", "Renamed", "Load"):
        guarded.as_("loader", f"INSERT INTO FileProcess (Entity, Data) VALUES ('{entity}', 'touch /tmp/x')")
    assert guarded("task", "enable", "--reason", "chores").returncode == 0
    guarded.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Later')")
    guarded.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
        " SELECT ProcessBatch_id, 10, 'do', ' TASK ' FROM ProcessBatch WHERE ProcessBatchName = 'Later'"
    )
    guarded.sql("UPDATE ProcessBatch SET Entity = 'Renamed' WHERE ProcessBatchName = 'Later'")

    held = "SELECT Entity FROM FileProcess WHERE Status = 'paused' AND Message LIKE '%look at Data%' ORDER BY 1"
    assert guarded.sql(held) == [("Later",), ("Renamed",), ("Task",)]
    shown = json.loads(guarded("status", "--json").stdout)["NotTakenIn"]
    assert {row["Entity"] for row in shown} == {"Later", "Renamed", "Task"}
    assert all(row["Next"] == f"batchctl inbox retry {row['FileProcess_id']} --reason ..." for row in shown)
    guarded("run", "--once")
    assert guarded.sql("SELECT count(*) FROM BatchControl WHERE Data1 LIKE 'touch%' OR Data2 LIKE 'touch%'") == [(0,)]


def test_support_lets_no_row_go_on_whose_data_are_run(guarded: Guarded) -> None:
    for entity in ("Task", "Load"):
        guarded.as_("loader", f"INSERT INTO FileProcess (Entity, Data) VALUES ('{entity}', 'touch by_loader')")
    guarded.sql("UPDATE FileProcess SET Status = 'paused' WHERE Entity = 'Load'")
    assert guarded("task", "enable", "--reason", "chores").returncode == 0
    number = dict(guarded.sql("SELECT Entity, FileProcess_id FROM FileProcess"))
    wish = "INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES ('retry', '{{\"file\": {}}}', 'x')"
    for entity in ("Task", "Load"):
        guarded.as_("anna", wish.format(number[entity]))
    guarded("run", "--once")

    answers = guarded.sql("SELECT Status, Answer FROM OperatorRequest ORDER BY OperatorRequest_id")
    assert [status for status, _ in answers] == ["refused", "done"]
    assert "anna may not let it" in answers[0][1]
    assert guarded.sql("SELECT Status FROM FileProcess WHERE Entity = 'Task'") == [("paused",)]
    assert not (guarded.folder / "by_loader").exists()

    guarded.sql(wish.format(number["Task"]))
    guarded("run", "--once")
    assert (guarded.folder / "by_loader").exists()


def test_what_was_made_of_planted_rows_before_a_batch_ran_commands_waits_for_a_person(guarded: Guarded) -> None:
    for data in ("a", "b", "c", "d"):
        guarded.as_("loader", f"INSERT INTO FileProcess (Entity, Data) VALUES ('Load', 'touch {data}')")
    guarded("create")
    guarded.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE BatchControl_id = 1")
    for number, status in enumerate(("ready", "retry", "failed", "complete"), start=2):
        guarded.sql(f"UPDATE BatchControl SET Status = '{status}' WHERE BatchControl_id = {number}")
    step = (
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data2)"
        " SELECT ProcessBatch_id, {}, 'anything', ' TASK', '{{Data3}}' FROM ProcessBatch WHERE ProcessBatchName = 'Load'"
    )
    guarded.sql(step.format(90))

    stand = "SELECT Status FROM BatchControl ORDER BY BatchControl_id"
    assert guarded.sql(stand) == [("cancelled",), ("paused",), ("paused",), ("failed",), ("complete",)]
    why = "SELECT Target, Action FROM AuditLog WHERE Reason LIKE '%before its batch ran commands%' ORDER BY AuditLog_id"
    assert guarded.sql(why) == [("BatchControl:2", "pause"), ("BatchControl:3", "pause")]
    guarded("run", "--once")
    assert [path.name for path in guarded.folder.iterdir() if path.name in {"a", "b", "c", "d"}] == []
    # What is asked for now was asked for by who may.
    guarded.sql("UPDATE BatchControl SET Status = 'ready' WHERE BatchControl_id = 2")
    guarded.sql(step.format(91))
    guarded.sql("UPDATE ProcessControl SET ProcessType = 'task' WHERE ProcessControlSeq = 90")
    assert guarded.sql(stand)[1] == ("ready",)


@pytest.mark.parametrize(
    "guard", ["TR_ProcessControl_HoldWork ON ProcessControl", "TR_FileProcess_NoTasks ON FileProcess"]
)
def test_doctor_names_a_script_that_is_older(guarded: Guarded, guard: str) -> None:
    assert guarded("task", "enable", "--reason", "chores").returncode == 0
    guarded.sql(f"DROP TRIGGER {guard}")

    (said,) = [one for one in json.loads(guarded("doctor", "--json").stdout) if one["Check"] == "tasks"]
    assert said["Result"] == "WARN"


def test_intake_has_no_way_to_a_batch_that_runs_commands_but_for_the_roles_that_were_given_one(
    guarded: Guarded,
) -> None:
    assert guarded("task", "enable", "--reason", "chores").returncode == 0
    guarded.sql("UPDATE ProcessBatch SET Entity = 'Orders' WHERE ProcessBatchName = 'Load'")
    guarded.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data2)"
        " SELECT ProcessBatch_id, 90, 'anything', 'Task', '{Data3}' FROM ProcessBatch WHERE ProcessBatchName = 'Load'"
    )
    task = "INSERT INTO FileProcess (Entity, Data) VALUES ('Task', 'touch /tmp/x')"

    guarded.refuses("loader", task)
    guarded.refuses("shop", "INSERT INTO Intake_shop (Entity, Data) VALUES ('Orders', 'touch /tmp/x')")
    guarded.as_("loader", "INSERT INTO FileProcess (Entity) VALUES ('Other')")
    guarded.as_("service", task)
    assert guarded("task", "enable", "--role", "loader", "--reason", "they may").returncode == 0
    guarded.as_("loader", task)
    guarded.refuses("shop", "INSERT INTO Intake_shop (Entity, Data) VALUES ('Orders', 'touch /tmp/x')")

    assert guarded.sql("SELECT Entity FROM FileProcess WHERE Data = 'touch /tmp/x'") == [("Task",)] * 2
    (said,) = [one for one in json.loads(guarded("doctor", "--json").stdout) if one["Check"] == "tasks"]
    assert said["Result"] == "OK"
    assert "only these may insert one: the owner, the controller, loader" in said["Message"]


def ask(arguments: str, instance_id: int = 2) -> str:
    """Return the INSERT by which an instance is asked to run again."""
    return (
        "INSERT INTO OperatorRequest (Action, BatchControl_id, Reason, Arguments)"
        f" VALUES ('rerun', {instance_id}, 'again', '{arguments}')"
    )


def test_support_gives_no_data_to_what_runs_whatever_its_data_says(guarded: Guarded) -> None:
    script = roles.script("postgresql", None, ENTITIES)
    assert guarded("task", "enable", "--reason", "chores").returncode == 0
    guarded.sql("INSERT INTO FileProcess (Entity, Data) VALUES ('Task', 'true')")
    guarded("run", "--once")

    for arguments in (
        '{"from": 10, "Data3": "touch by_anna"}',
        '{"\\u0044ata3": "touch by_anna"}',
        '{"from": 10, " DATA3 ": "touch by_anna"}',
    ):
        guarded.refuses("anna", ask(arguments))
    guarded.refuses("anna", ask('{"Data3": "touch by_anna"}', instance_id=3))
    guarded.as_("anna", ask('{ "from": 10 }'))
    guarded.as_("anna", ask('{"Data3": "right"}', instance_id=1))
    guarded("run", "--once")
    guarded.sql(ask('{"from": 10, "Data3": "touch by_owner"}'))
    guarded("run", "--once")

    assert guarded.sql("SELECT Status FROM OperatorRequest") == [("done",)] * 3
    assert (guarded.folder / "by_owner").exists()
    assert not (guarded.folder / "by_anna").exists()
    # What was asked for before the script kept it out is looked at again when it is carried out.
    guarded.sql("DROP TRIGGER TR_OperatorRequest_NoTasks ON OperatorRequest")
    (said,) = [one for one in json.loads(guarded("doctor", "--json").stdout) if one["Check"] == "tasks"]
    assert said["Result"] == "WARN"
    guarded.as_("anna", ask('{"from": 10, "Data3": "touch by_anna"}'))
    assert guarded.server.psql(guarded.name, script).returncode == 0
    guarded("run", "--once")
    ((status, answer),) = guarded.sql("SELECT Status, Answer FROM OperatorRequest WHERE Arguments LIKE '%by_anna%'")
    assert (status, "anna may not say that" in answer) == ("refused", True)
    assert not (guarded.folder / "by_anna").exists()


def test_an_author_makes_a_sql_job_by_one_insert(guarded: Guarded) -> None:
    job = (
        "INSERT INTO vSqlJob (JobName, ConnectionName, ScheduledSql, FirstRunOn)"
        " VALUES ('tidy', 'wh', 'SELECT 1', '2030-01-01 02:00')"
    )
    guarded.refuses("loader", job)
    guarded.as_("author", job)

    assert guarded.as_("author", "SELECT JobName, ScheduledSql, IsEnabled FROM vSqlJob") == [("tidy", "SELECT 1", 1)]


def test_what_limits_work_is_locked_by_the_service_and_that_it_may_not_is_told_everywhere(
    guarded: Guarded, start_batchctl: StartBatchctl
) -> None:
    connections(guarded.folder, "heartbeat_interval = 0.2\norphan_timeout = 5.0\n")
    guarded.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('R', 1)")
    guarded.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    guarded.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', '2')")
    guarded.sql("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES ('default', 2)")
    guarded.sql("UPDATE FileProcess SET Data = 'right'")
    guarded.sql("REVOKE UPDATE (z_updated) ON Pool, Resource, Setting FROM batchctl_service")
    lost = "may not lock rows of Pool, Resource, Setting"
    (told,) = [
        one for one in json.loads(guarded.announced("service", "doctor", "--json").stdout) if lost in one["Message"]
    ]
    as_service = {"BATCHCTL_DATABASE_URL": guarded.url("service")}
    controller = Running(start_batchctl("run", cwd=guarded.folder, env=as_service, stdout=subprocess.DEVNULL))
    try:
        kind = "SELECT Kind FROM Incident WHERE Status = 'open'"
        until(lambda: guarded.sql(kind) == [("controller_trouble",)])
        status, why = guarded.json("status"), guarded.json("why", "file:1")
        (incident,) = guarded.json("incidents")
        printed = guarded("status").stdout
        for wanted in (
            f"GRANT UPDATE (z_updated) ON {name} TO batchctl_service" for name in ("Pool", "Resource", "Setting")
        ):
            guarded.sql(wanted)
        until(lambda: guarded.sql("SELECT Status FROM BatchControl") == [("complete",)])
        until(lambda: guarded.sql("SELECT Trouble FROM Controller") == [(None,)])
        until(lambda: guarded.sql(kind) == [])
    finally:
        assert controller.end() == 0
    assert told["Next"] == "as the tables' owner: GRANT UPDATE (z_updated) ON Pool, Resource, Setting TO service;"
    said = "does not give this role the rights that batchctl needs: permission denied for table"
    assert all(said in text for text in (*status["Troubles"].values(), incident["Message"], " ".join(printed.split())))
    (gate,) = [one for one in why["Gates"] if one["Gate"] == "controller"]
    assert said in gate["Blocked"]
    assert incident["NextStep"].startswith("batchctl doctor")
    assert controller.count("controller.waiting") == 1
    checked = json.loads(guarded.announced("service", "doctor", "--json").stdout)
    assert {one["Result"] for one in checked if one["Check"] == "rights"} == {"OK"}
