"""A row that nothing can go by is there: every face names it, its column and what mends it, and none says that it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Table, select

from batchctl.cli.main import run
from batchctl.control.dead_end_watch import OF_WORK
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.status import InstanceStatus
from batchctl.store import reports
from batchctl.store.bounds import bounds
from batchctl.store.conditions import is_number
from batchctl.store.tables import (
    UNREADABLE,
    batch_dependency,
    batch_resource,
    data_trigger,
    file_watch,
    process_batch,
    process_control,
    resource,
    schedule,
)
from batchctl.store.unreadable_columns import RESTORE
from tests.control.alarm import Alarm, rules
from tests.control.world import World
from tests.control_databases import SqliteControl

SAID = "ProcessBatch 1 (Daily) cannot be read: ProcessingMode is 'sheduled', and has to be one of: manual, scheduled, triggered"
MEND = "UPDATE ProcessBatch SET ProcessingMode = ... WHERE ProcessBatch_id = 1;"
_WATCH: dict[str, object] = {"WatchName": "odd", "Entity": "Other", "Folder": "/in"}
_TRIGGER: dict[str, object] = {
    "TriggerName": "odd",
    "Entity": "Other",
    "ConnectionName": "w",
    "TableName": "t",
    "StatusColumn": "s",
    "PendingValue": "0",
    "CreatedColumn": "c",
    "RowThreshold": 1,
}
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def broken(world: World) -> World:
    """Return a database in which somebody has written nonsense into a batch that has an instance."""
    world.batch("Daily")
    world.batch("Other")
    world.submit("Daily")
    world.submit("Other")
    world.create()
    world.submit("Daily")
    world.hand.loosen()
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'sheduled' WHERE ProcessBatch_id = 1")
    return world


@pytest.fixture
def command(broken: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Give a command as a person does."""
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.chdir(broken.directory)

    def give(*args: str) -> tuple[int, str, str]:
        # A command that runs populators takes what may be a secret out of the environment.
        monkeypatch.setenv("BATCHCTL_DATABASE_URL", broken.database.url)
        code = run([*args])
        told = capsys.readouterr()
        return code, told.out, told.err

    return give


@pytest.mark.parametrize(
    "act",
    [
        ("enable", "Daily", "--reason", "r"),
        ("disable", "Daily", "--reason", "r"),
        ("mode", "Daily", "manual", "--reason", "r"),
        ("rerun", "1", "--reason", "r"),
        ("pause", "1", "--reason", "r"),
        ("report", "late", "--batch", "Daily"),
    ],
)
def test_an_act_on_it_is_refused_with_the_row_the_column_and_the_mend(command: Command, act: tuple[str, ...]) -> None:
    code, _, told = command(*act)

    assert code == 4
    assert f"Error: {SAID}. Until that is corrected the batch does nothing.\nNext: {MEND}" in told


@pytest.mark.parametrize("ref", ["1", "batch:Daily", "file:3"])
def test_why_names_it_as_a_gate(command: Command, ref: str) -> None:
    _, told, _ = command("why", ref, "--json")
    gate = next(one for one in json.loads(told)["Gates"] if one["Gate"] == "definition")

    assert (gate["Blocked"], gate["Clear"], gate["Row"]) == (SAID, MEND, "ProcessBatch 1")


def test_lists_show_it_with_what_mends_it(command: Command) -> None:
    _, seen, _ = command("status", "--json")
    _, listed, _ = command("batches", "--json")
    _, shown, _ = command("status")
    unreadable = {
        "TableName": "ProcessBatch",
        "RowNumber": 1,
        "ColumnName": "ProcessingMode",
        "ProcessBatchName": "Daily",
        "Message": SAID,
        "Next": MEND,
    }

    assert json.loads(seen)["Unreadable"] == [unreadable]
    assert (json.loads(seen)["Waiting"][0]["ProcessBatchName"], json.loads(seen)["Waiting"][0]["Reason"]) == (
        "Daily",
        SAID,
    )
    assert [(one["ProcessBatchName"], one.get("Unreadable")) for one in json.loads(listed)] == [
        ("Other", None),
        ("Daily", SAID),
    ]
    assert f"Next: {MEND}" in shown
    assert "does not exist" not in shown


def test_what_is_shown_of_it_and_drawn_without_it_says_so(command: Command) -> None:
    _, shown, _ = command("show", "1")
    _, drawn, told = command("graph")

    assert f"{SAID}; {MEND}" in " ".join(shown.split())
    assert f"Note: {SAID}, so its batch is left out. {MEND}" in told
    assert "Daily" not in drawn


def test_no_hint_names_an_act_that_is_refused_before_it_is_mended(broken: World, command: Command) -> None:
    broken.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    Alarm(broken, rules(learns_arrivals=False)).duty.finish()
    (failed,) = broken.sql("SELECT NextStep FROM Incident WHERE Kind = 'failed'")
    hints = [
        line for words in (("show", "1"), ("status",)) for told in command(*words)[1:] for line in told.splitlines()
    ]

    assert failed == (MEND,)
    assert hints.count(f"Next: {MEND}") == 2
    assert not any("rerun" in line for line in hints)


@pytest.mark.parametrize("pass_", ["create", "process"])
def test_a_pass_says_which_rows_it_makes_nothing_of(command: Command, pass_: str) -> None:
    _, _, told = command(pass_)

    assert f"Note: FileProcess 3 is no work: {SAID}.\nNext: {MEND}" in told


def test_fsck_is_not_clean(command: Command) -> None:
    code, told, _ = command("fsck", "--json")

    assert code == 6
    (one,) = [each for each in json.loads(told) if each["Law"] == "I90"]
    assert "ProcessingMode is 'sheduled'" in one["Message"]


def test_the_views_name_it_with_a_statement_that_mends_it(broken: World) -> None:
    ((reason, mend),) = broken.sql("SELECT Reason, NextSql FROM vWaiting WHERE BatchControl_id = 1")
    assert reason == "ProcessBatch 1 (Daily) cannot be read: ProcessingMode holds nonsense"
    assert broken.sql("SELECT ProcessBatchName, Status FROM vStatus ORDER BY 1") == [
        ("Daily", "unreadable"),
        ("Other", "waits"),
    ]

    broken.sql(mend)

    assert broken.sql("SELECT Reason FROM vWaiting") == [("nothing holds it back",)] * 2


def test_the_inbox_view_names_a_batch_and_a_row_that_cannot_be_read_with_a_statement_that_mends_it(
    broken: World,
) -> None:
    broken.submit("Other")
    broken.sql("UPDATE FileProcess SET Status = 'odd' WHERE FileProcess_id = 4")
    seen = "SELECT FileProcess_id, Status, Reason, NextSql FROM vInbox ORDER BY FileProcess_id"
    (new, odd) = broken.sql(seen)

    assert new[:3] == (3, "new", "ProcessBatch 1 (Daily) cannot be read: ProcessingMode holds nonsense")
    assert odd[:3] == (4, "unreadable", "FileProcess 4 cannot be read: Status holds nonsense")

    for mend in (new[3], odd[3]):
        broken.sql(mend)

    assert [(row[0], row[1]) for row in broken.sql(seen)] == [(3, "new"), (4, "paused")]
    assert broken.sql(seen)[0][2] == "no controller has looked at it yet"


def test_the_view_of_what_waits_names_an_instance_that_cannot_be_read(broken: World) -> None:
    broken.sql("UPDATE BatchControl SET Status = 'weird' WHERE BatchControl_id = 2")
    seen = "SELECT Status, Reason, NotBeforeTime, NextSql FROM vWaiting WHERE BatchControl_id = 2"
    ((status, reason, not_before, mend),) = broken.sql(seen)

    assert (status, reason, not_before) == ("unreadable", "BatchControl 2 cannot be read: Status holds nonsense", None)
    broken.sql(mend)
    assert broken.sql("SELECT Status FROM vFailed WHERE BatchControl_id = 2") == [("held",)]


@pytest.mark.parametrize(
    ("column", "value", "said"), [("NextRunTime", "soon", "no time"), ("PrevProcessControlSeq", -1, "nonsense")]
)
def test_the_view_of_what_waits_names_a_time_or_a_number_that_is_none(
    sqlite_database: SqliteControl, column: str, value: object, said: str
) -> None:
    world = World(sqlite_database)
    world.batch()
    world.submit()
    world.create()
    world.hand.loosen()
    world.sql(f"UPDATE BatchControl SET {column} = ?", value)
    ((status, reason, not_before, mend),) = world.sql("SELECT Status, Reason, NotBeforeTime, NextSql FROM vWaiting")
    world.sql(mend.replace("...", "0"))
    ((after,),) = world.sql("SELECT Reason FROM vWaiting")
    world.close()

    assert (status, reason, not_before) == ("ready", f"BatchControl 1 cannot be read: {column} holds {said}", None)
    assert after == "nothing holds it back"


@pytest.mark.parametrize("spoilt", ["first", "load"])
def test_the_view_of_what_waits_names_a_batch_between_which_and_another_nothing_passes(
    world: World, spoilt: str
) -> None:
    for name in ("first", "other", "load"):
        world.batch(name, steps=1)
    for upstream in (1, 2):
        world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (3, ?)", upstream)
    world.submit("other")
    world.create()
    world.process()
    world.hand.loosen()
    world.sql("UPDATE ProcessBatch SET OnFailure = 'explode' WHERE ProcessBatchName = ?", spoilt)

    ((reason, mend),) = world.sql("SELECT Reason, NextSql FROM vWaiting WHERE Status = 'dependency'")
    assert f"({spoilt}) cannot be read: OnFailure holds nonsense" in reason
    world.sql(mend)
    assert world.sql("SELECT Reason FROM vWaiting") == [("first has no instance for this CycleKey yet",)]


def incidents(world: World) -> list[Any]:
    return world.sql("SELECT Kind, Subject, Status, Occurrences FROM Incident ORDER BY Incident_id")


def test_one_incident_says_so_and_one_event_until_it_is_corrected(broken: World) -> None:
    alarm = Alarm(broken, rules(learns_arrivals=False))
    for _ in range(3):
        alarm.duty.finish()
    assert incidents(broken) == [("unreadable", "Daily", "open", 1)]
    ((message, next_step),) = broken.sql("SELECT Message, NextStep FROM Incident")
    assert (message, next_step) == (f"{SAID}; until that is corrected its batch does not run", MEND)
    assert [event.name for event in broken.events if event.fields.get("Kind") == "unreadable"] == ["incident.opened"]

    broken.sql("UPDATE ProcessBatch SET ProcessingMode = NULL")
    alarm.duty.finish()
    assert incidents(broken) == [("unreadable", "Daily", "resolved", 1)]


def test_a_step_that_cannot_be_read_is_named_with_its_batch(world: World) -> None:
    world.batch("Daily", steps=1)
    world.hand.loosen()
    world.sql("UPDATE ProcessControl SET OnLost = 'panic'")
    Alarm(world, rules(learns_arrivals=False)).duty.finish()

    assert world.sql("SELECT Subject, Message FROM Incident") == [
        (
            "Daily",
            (
                "ProcessControl 1 (step 10) cannot be read: OnLost is 'panic', and has to be one of: hold, rerun, verify;"
                " until that is corrected its batch does not run"
            ),
        )
    ]


def test_instances_rows_and_triggers_that_cannot_be_read_are_named_too(command: Command, broken: World) -> None:
    broken.sql("UPDATE BatchControl SET Status = 'success?' WHERE BatchControl_id = 2")
    broken.sql("UPDATE FileProcess SET Status = 'redy' WHERE FileProcess_id = 3")
    instance = "BatchControl 2 cannot be read: Status is 'success?', and has to be one of: ready, running, retry"
    intake = "FileProcess 3 cannot be read: Status is 'redy', and has to be one of: ready, paused, complete, rejected, duplicate."

    for asked, said in ((("show", "2"), instance), (("why", "file:3"), intake), (("inbox", "show", "3"), intake)):
        code, _, told = command(*asked)
        assert code == 4
        assert said in told
        assert "There is no" not in told


def dead_ends(world: World) -> dict[str, IncidentSign]:
    """Return what the incidents are about, by their subjects."""
    alarm = Alarm(world, rules(learns_arrivals=False))
    with world.transactions.read() as connection:
        found = alarm.duty.watch.findings.signs(connection, world.clock.now())
    return {one.subject: one for one in found}


def test_a_row_that_was_rejected_is_an_incident_until_somebody_deals_with_it(world: World) -> None:
    world.batch()
    for number in range(3):
        world.submit(Status="rejected", Message=f"the name of file {number} says no day")
    world.submit(Status="rejected", Message="rejected by anna on desk: nobody wants it")

    found = dead_ends(world)["B"]

    assert (
        found.message
        == "FileProcess 3 of entity B was rejected (3 rows; this is the newest): the name of file 2 says no day"
    )
    assert (found.kind, found.next_step, found.evidence) == ("rejected", "batchctl inbox show 3", 3)
    world.sql("UPDATE FileProcess SET Status = 'ready'")
    assert dead_ends(world) == {}


def test_an_entity_that_nobody_takes_is_one_incident_with_all_that_asks_for_it(world: World) -> None:
    world.batch("Orders")
    world.submit("Order")
    world.submit("Order")
    world.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('nightly', 'Order', 'daily', '06:00')"
    )
    world.sql("INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('drop', 'Nothing', '/in')")

    found = dead_ends(world)

    assert found["Order"].message == (
        "No batch takes entity Order, so nothing comes of FileProcess 1 and 1 more, schedule nightly. Did you mean 'Orders'?"
    )
    assert "nothing comes of watch drop" in found["Nothing"].message
    assert {one.kind for one in found.values()} == {"untaken"}


def test_what_should_start_work_and_cannot_is_an_incident(world: World) -> None:
    world.batch("B")
    world.sql(
        "INSERT INTO FileWatch (WatchName, Entity, Folder, UnreachableSince) VALUES ('drop', 'B', '/in', '2026-11-21')"
    )
    world.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows)"
        " VALUES ('orders', 'B', 'wh', 't', 's', '0', 1)"
    )
    world.sql(
        "INSERT INTO SchedulerLog (EventType, Source, Entity, Message) VALUES ('error', 'trigger orders', 'B', 'no table t')"
    )

    found = dead_ends(world)

    assert found["watch drop"].message == "watch drop starts nothing: the folder cannot be listed"
    assert found["trigger orders"].message == "trigger orders starts nothing: no table t"
    assert {one.kind for one in found.values()} == {"not_starting"}


def test_a_batch_without_steps_is_an_incident_once_nobody_is_registering_it_any_more(world: World) -> None:
    world.batch("Fresh", steps=0, z_inserted=f"{world.clock.now():%Y-%m-%d %H:%M:%S}")
    world.batch("Empty", steps=0, z_inserted="2026-01-01 00:00:00")
    world.batch("Off", steps=0, z_inserted="2026-01-01 00:00:00", Enabled=0)

    assert {name: one.kind for name, one in dead_ends(world).items()} == {"Empty": "no_steps"}


def test_a_batch_without_steps_that_work_meets_is_an_incident_at_once_and_until_it_has_one(world: World) -> None:
    batch = world.batch("Fresh", steps=0, z_inserted=f"{world.clock.now():%Y-%m-%d %H:%M:%S}")
    findings = Alarm(world, rules(learns_arrivals=False)).duty.watch.findings

    def found() -> dict[str, str]:
        with world.transactions.read() as connection:
            return {one.subject: one.kind.value for one in findings.signs(connection, world.clock.now())}

    assert found() == {}
    world.submit("Fresh")
    world.create()
    assert found() == {"Fresh": "no_steps"}
    world.step(batch, 10)
    assert found() == {}


def test_a_history_that_grows_without_a_rule_is_an_incident_until_a_rule_is_given(world: World) -> None:
    world.batch(steps=2)
    world.submit()
    world.create()
    world.process()
    assert dead_ends(world) == {}

    world.sql("INSERT INTO Setting (Name, Value) VALUES ('HistoryRows', '1')")
    found = dead_ends(world)["history"]
    assert (found.kind, found.message) == (
        "history_grows",
        "BatchProcessHistory holds more than 1 attempts, and no rule says when any of them go",
    )
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('CompleteDays:B', 'forever')")
    assert dead_ends(world) == {}


@pytest.mark.parametrize(
    ("name", "value", "column", "so"),
    [
        ("CompleteDays", "ninety", "Value", "so no instance is purged at all."),
        ("KeepLast:O'Brien", "3", "Name", "so no instance is purged at all."),
        ("RequestDays:Daily", "30", "Name", "so it has no effect: write RequestDays alone, for all."),
    ],
)
def test_a_rule_of_retention_that_cannot_be_gone_by_is_an_incident_until_it_can(
    world: World, name: str, value: str, column: str, so: str
) -> None:
    world.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, value)

    found = dead_ends(world)[f"Setting {name}"]

    assert (found.kind, found.severity) == ("unreadable", "warning")
    assert found.message.startswith(f"Setting {name} cannot be used: ")
    assert so in found.message
    assert str(found.next_step).startswith(f"correct {column} of that row of Setting; ")
    world.sql("UPDATE Setting SET Name = 'KeepLast', Value = '30' WHERE Name = ?", name)
    assert dead_ends(world) == {}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("MaxConcurent", "There is no such setting, so the row does nothing. Did you mean 'MaxConcurrent'?"),
        ("FailedDays", "Failed instances are never purged"),
    ],
)
def test_a_setting_that_there_is_not_is_an_incident_until_it_is_corrected(world: World, name: str, said: str) -> None:
    world.sql("INSERT INTO Setting (Name, Value) VALUES (?, '3')", name)

    found = dead_ends(world)[f"Setting {name}"]

    assert (found.kind, found.severity) == ("unreadable", "warning")
    assert said in found.message
    world.sql("UPDATE Setting SET Name = 'MaxConcurrent' WHERE Name = ?", name)
    assert dead_ends(world) == {}


NO_CALENDAR = (
    "There is no calendar 'NLX'. Did you mean 'NL'? `batchctl calendar import NLX --country CC --years YYYY` makes one."
)


@pytest.mark.parametrize(
    ("column", "wrong", "said", "right"),
    [
        ("ExpectedCalendar", "NLX", f"{NO_CALENDAR} Until then every day counts as a business day.", "NL"),
        ("PopulatorArgs", "(oops", "'(oops' is not a regular expression: missing )", "(oops)"),
        ("PopulatorArgs", "(?P<Date>.)", "the group 'Date' fills nothing.", "(?P<Data4>.)"),
    ],
)
def test_a_column_that_nothing_can_be_made_of_is_an_incident_until_it_is_corrected(
    world: World, column: str, wrong: str, said: str, right: str
) -> None:
    world.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    world.batch("B")
    world.sql(f"UPDATE ProcessBatch SET {column} = ?", wrong)

    found = dead_ends(world)["B"]

    assert (found.kind, found.severity) == ("unreadable", "warning")
    assert found.message.startswith(f"ProcessBatch (B): {column}: {said}")
    assert str(found.next_step) == f"UPDATE ProcessBatch SET {column} = ... WHERE ProcessBatchName = 'B';"
    world.sql(f"UPDATE ProcessBatch SET {column} = ?", right)
    assert dead_ends(world) == {}


def test_why_of_a_batch_and_status_say_what_nothing_can_be_made_of(broken: World, command: Command) -> None:
    broken.sql("UPDATE ProcessBatch SET PopulatorArgs = '(oops' WHERE ProcessBatchName = 'Other'")
    Alarm(broken, rules(learns_arrivals=False)).duty.finish()
    said = "ProcessBatch (Other): PopulatorArgs: '(oops' is not a regular expression"

    _, why, _ = command("why", "batch:Other", "--json")
    _, status, _ = command("status")

    assert [gate for gate in json.loads(why)["Gates"] if said in (gate["Blocked"] or "")] != []
    assert said in status


def test_what_is_expected_of_a_batch_that_is_disabled_is_no_matter(world: World) -> None:
    world.batch("B", ExpectedCalendar="LN", Enabled=0)

    assert dead_ends(world) == {}


def test_a_row_whose_batch_cannot_be_read_is_said_to_wait_for_that(command: Command) -> None:
    _, _, submitted = command("submit", "Daily")
    _, planned, _ = command("create", "--dry-run")
    waited, seen, _ = command("wait", "file:3", "--json")
    _, listed, _ = command("inbox", "--json")
    _, shown, _ = command("inbox", "show", "3", "--json")
    awaited, (item, *_) = json.loads(seen), json.loads(listed)["Rows"][::-1]
    said = f"{SAID}. Until that is corrected the batch does nothing."

    assert f"Note: {said}\nNext: {MEND}" in submitted
    assert f"{SAID}; {MEND}" in " ".join(planned.split())
    assert (waited, awaited[0]["Message"], awaited[0]["Next"]) == (1, SAID, MEND)
    assert (item["FileProcess_id"], item["State"], item["Because"], item["Next"]) == (3, "new", SAID, MEND)
    assert (json.loads(shown)["Because"], json.loads(shown)["TakenBy"]) == (SAID, ["Daily"])


SPOILT = {
    "FileWatch": ("(WatchName, Entity, Folder) VALUES ('bad', 'Other', '/in')", "DuplicateKey = 'path'", "watch"),
    "DataTrigger": (
        (
            "(TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows)"
            " VALUES ('bad', 'Other', 'wh', 't', 's', '0', 1)"
        ),
        "RowThreshold = -1",
        "trigger",
    ),
    "Schedule": (
        "(ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('bad', 'Other', 'daily', '06:00')",
        "CatchUp = 'huh'",
        "schedule",
    ),
}
"""By table a row that starts work, what makes it unreadable, and the commands that show it."""


@pytest.mark.parametrize("table", SPOILT)
def test_what_starts_work_and_cannot_be_read_stands_in_its_list_and_is_not_said_to_be_missing(
    command: Command, broken: World, table: str
) -> None:
    row, spoilt, kind = SPOILT[table]
    broken.sql(f"INSERT INTO {table} {row}")
    broken.sql(f"UPDATE {table} SET {spoilt}")
    _, listed, _ = command(kind, "list", "--json")
    _, shown, _ = command(kind, "list")
    _, as_csv, _ = command(kind, "list", "--csv")
    code, _, told = command(kind, "test", "bad")
    (one,) = json.loads(listed)

    assert (one["TableName"], one["RowNumber"], one[f"{table}_id"]) == (table, 1, 1)
    assert one["ColumnName"] == spoilt.split()[0]
    assert one["Unreadable"] == one["Message"]
    assert f"Next: {one['Next']}" in shown
    assert one["Next"] in as_csv
    assert code == 4
    assert f"Error: {one['Message']}. Until that is corrected it starts nothing.\nNext: {one['Next']}" in told


GONE = "BatchControl 2 cannot be read: FileProcess_id is 2, and FileProcess 2 is gone"
PUT_BACK = "INSERT INTO FileProcess (FileProcess_id, Entity, FileName, Status) VALUES (2, 'Other', NULL, '{}');"
WITH_ITS_NAME = "   (with its FileName, if you know it)"


@pytest.mark.parametrize(
    "asked",
    [("show", "2"), ("why", "2"), ("wait", "2"), ("rerun", "2", "--reason", "r"), ("cancel", "2", "--reason", "r")],
)
@pytest.mark.parametrize(("stands", "as_it_was"), [("ready", "ready"), ("cancelled", "complete")])
def test_an_instance_whose_row_is_gone_names_that_row_and_the_statement_that_puts_it_back(
    command: Command, broken: World, asked: tuple[str, ...], stands: str, as_it_was: str
) -> None:
    broken.sql("UPDATE BatchControl SET Status = ? WHERE BatchControl_id = 2", stands)
    broken.sql("DELETE FROM FileProcess WHERE FileProcess_id = 2")

    code, _, told = command(*asked)
    _, examined, _ = command("fsck", "--json")

    assert code == 4
    assert f"Error: {GONE}.\nNext: {PUT_BACK.format(as_it_was)}{WITH_ITS_NAME}" in told
    assert [one["Next"] for one in json.loads(examined) if one["Law"] == "I47"] == [RESTORE.format(id=2)]


def test_an_open_instance_whose_row_is_gone_is_an_incident_and_stands_in_every_list_until_the_row_is_back(
    command: Command, broken: World
) -> None:
    broken.sql("DELETE FROM FileProcess WHERE FileProcess_id = 2")
    alarm, mend = Alarm(broken, rules(learns_arrivals=False)), PUT_BACK.format("ready")
    for _ in range(2):
        alarm.duty.finish()
    of_it = "SELECT Status, Occurrences, NextStep FROM Incident WHERE Subject = 'BatchControl 2'"
    unread = json.loads(command("status", "--json")[1])["Unreadable"]
    ((status, reason, shown),) = broken.sql("SELECT Status, Reason, NextSql FROM vWaiting WHERE BatchControl_id = 2")

    assert broken.sql(of_it) == [("open", 1, mend + WITH_ITS_NAME)]
    assert [(one["Message"], one["Next"]) for one in unread if one["RowNumber"] == 2] == [(GONE, mend + WITH_ITS_NAME)]
    assert GONE in command("batches", "--json")[2]
    assert (status, reason) == ("unreadable", "BatchControl 2 cannot be read: FileProcess 2 is gone")
    assert shown == "INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (2, 'Other');"
    for statement in (shown, "DELETE FROM FileProcess WHERE FileProcess_id = 2", mend):
        broken.sql(statement)

    broken.process()
    alarm.duty.finish()
    assert [row[0] for row in broken.sql(of_it)] == ["resolved"]
    for table in ("BatchControl", "FileProcess"):
        assert broken.sql(f"SELECT Status FROM {table} WHERE FileProcess_id = 2") == [("complete",)]


def test_an_instance_whose_batch_is_gone_can_be_cancelled_once_that_is_put_back(
    command: Command, broken: World
) -> None:
    broken.sql("DELETE FROM ProcessBatch WHERE ProcessBatch_id = 2")
    mend = "INSERT INTO ProcessBatch (ProcessBatch_id, ProcessBatchName, Enabled) VALUES (2, '...', 0);"
    code, _, told = command("cancel", "2", "--reason", "r")
    _, why, _ = command("why", "2", "--json")

    assert code == 4
    assert f"and ProcessBatch 2 is gone.\nNext: {mend}" in told
    assert json.loads(why)["Gates"][0]["Clear"].startswith(mend)
    broken.sql(mend)
    assert command("cancel", "2", "--reason", "r")[0] == 0


WEIRD = "BatchControl 2 cannot be read: Status is 'weird', and has to be one of: "
TO_MEND = "UPDATE BatchControl SET Status = ... WHERE BatchControl_id = 2;"


def test_one_instance_that_cannot_be_read_hides_no_other(command: Command, broken: World) -> None:
    broken.sql("UPDATE BatchControl SET Status = 'weird' WHERE BatchControl_id = 2")
    broken.sql("UPDATE FileProcess SET Status = 'odd' WHERE FileProcess_id = 3")

    code, seen, _ = command("status", "--json")
    _, shown, _ = command("status")
    listing, listed, noted = command("batches", "--json")
    _, table, _ = command("batches")
    unread = json.loads(seen)["Unreadable"]

    assert (code, listing) == (0, 0)
    assert [(one["TableName"], one["RowNumber"], one["ColumnName"]) for one in unread] == [
        ("ProcessBatch", 1, "ProcessingMode"),
        ("BatchControl", 2, "Status"),
        ("FileProcess", 3, "Status"),
    ]
    assert unread[1]["Message"].startswith(WEIRD)
    assert unread[1]["Next"] == TO_MEND
    assert [one["BatchControl_id"] for one in json.loads(seen)["Waiting"]] == [1]
    assert TO_MEND in shown
    assert [one["ProcessBatchName"] for one in json.loads(listed)] == ["Other", "Daily"]
    assert f"Note: {WEIRD}" in noted
    assert TO_MEND in table


def test_one_attempt_that_cannot_be_read_hides_no_other(command: Command, broken: World) -> None:
    broken.process()
    broken.sql("UPDATE BatchProcessHistory SET Status = 'weird' WHERE BatchControl_id = 2 AND ProcessControlSeq = 20")
    ((row_id,),) = broken.sql("SELECT BatchProcessHistory_id FROM BatchProcessHistory WHERE Status = 'weird'")
    said = f"BatchProcessHistory {row_id} (step 20) cannot be read: Status is 'weird', and has to be one of: "
    mend = f"UPDATE BatchProcessHistory SET Status = ... WHERE BatchProcessHistory_id = {row_id};"

    for asked in (("history",), ("history", "2"), ("history", "--batch", "Other")):
        code, listed, noted = command(*asked, "--json")
        _, shown, _ = command(*asked)
        assert code == 0
        assert [one["ProcessControlSeq"] for one in json.loads(listed)] == [10]
        assert f"Note: {said}" in noted
        assert mend in shown
    code, shown, _ = command("show", "2")
    assert code == 0
    assert mend in shown
    assert [command(*asked)[0] for asked in (("status",), ("why", "2"), ("wait", "2"))] == [0, 0, 0]


def test_the_inbox_names_a_row_whose_status_is_none(command: Command, broken: World) -> None:
    broken.sql("UPDATE FileProcess SET Status = 'odd' WHERE FileProcess_id = 3")
    mend = "UPDATE FileProcess SET Status = ... WHERE FileProcess_id = 3;"

    _, listed, _ = command("inbox", "--json")
    _, shown, _ = command("inbox")
    _, of_another, _ = command("inbox", "--entity", "Other", "--json")

    (row,) = json.loads(listed)["Unreadable"]
    assert (row["RowNumber"], row["ColumnName"], row["Next"]) == (3, "Status", mend)
    assert mend in shown
    assert json.loads(of_another)["Unreadable"] == []


def test_a_time_that_is_none_is_named_and_not_waited_for(command: Command, broken: World) -> None:
    if broken.database.kind != "sqlite":
        with pytest.raises(Exception, match="invalid input syntax"):  # There the column holds nothing but times.
            broken.sql("UPDATE BatchControl SET NextRunTime = 'soon' WHERE BatchControl_id = 2")
        return
    broken.sql("UPDATE BatchControl SET NextRunTime = 'soon' WHERE BatchControl_id = 2")
    said = "BatchControl 2 cannot be read: NextRunTime holds no time"
    mend = (
        "let it wait no more, or write until when: "
        "UPDATE BatchControl SET NextRunTime = '1900-01-01 00:00:00.000' WHERE BatchControl_id = 2;"
    )

    _, seen, _ = command("status", "--json")
    _, told, _ = command("why", "2", "--json")

    waiting = next(one for one in json.loads(seen)["Waiting"] if one["BatchControl_id"] == 2)
    gate = next(one for one in json.loads(told)["Gates"] if one["Gate"] == "NextRunTime")
    assert (waiting["Reason"], waiting["Next"]) == (said, mend)
    assert (gate["Blocked"], gate["Clear"]) == (said, mend)
    broken.sql(mend.partition(": ")[2])
    _, mended, _ = command("why", "2", "--json")
    assert said not in mended


def spoilt(world: World) -> dict[str, str]:
    """Spoil a row of each table of work; return what is said of each, by the names of the rows."""
    world.sql("UPDATE BatchControl SET Status = 'weird' WHERE BatchControl_id = 2")
    world.sql("UPDATE FileProcess SET Status = 'odd' WHERE FileProcess_id = 3")
    world.sql("UPDATE BatchProcessHistory SET Cause = 'whim' WHERE BatchProcessHistory_id = 2")
    seq = world.one("SELECT ProcessControlSeq FROM BatchProcessHistory WHERE BatchProcessHistory_id = 2")
    said = {
        "BatchControl 2": f"{WEIRD}{', '.join(InstanceStatus)}; until that is corrected the instance does not go on",
        "FileProcess 3": "FileProcess 3 cannot be read: Status is 'odd', and has to be one of: ready, paused, complete,"
        " rejected, duplicate; until that is corrected nothing becomes of the row",
        f"BatchProcessHistory 2 (step {seq})": f"BatchProcessHistory 2 (step {seq}) cannot be read: Cause is 'whim', and has"
        " to be one of: auto, retry, manual, verify; until that is corrected the attempt is ignored",
    }
    if world.database.kind == "sqlite":  # Elsewhere no column takes what is not of its type.
        world.sql("UPDATE BatchControl SET NextRunTime = 'soon' WHERE BatchControl_id = 1")
        said["BatchControl 1"] = (
            "BatchControl 1 cannot be read: NextRunTime is 'soon', which is no time; until that is corrected"
            " the instance does not go on"
        )
    return said


def test_each_row_of_work_that_cannot_be_read_is_one_incident_and_one_event_until_it_is_mended(broken: World) -> None:
    broken.sql("UPDATE ProcessBatch SET ProcessingMode = NULL")
    broken.process()
    said = spoilt(broken)
    alarm = Alarm(broken, rules(learns_arrivals=False))
    for _ in range(3):
        alarm.duty.finish()

    found = broken.sql("SELECT Subject, Message, Kind, Occurrences FROM Incident WHERE ResolvedTime IS NULL")
    assert sorted(found) == sorted((subject, message, "unreadable", 1) for subject, message in said.items())
    opened = [event.fields["Subject"] for event in broken.events if event.name == "incident.opened"]
    assert sorted(map(str, opened)) == sorted(said)
    next_steps = {mend for (mend,) in broken.sql("SELECT NextStep FROM Incident")}
    assert "UPDATE BatchProcessHistory SET Cause = ... WHERE BatchProcessHistory_id = 2;" in next_steps

    broken.sql("UPDATE BatchControl SET Status = 'complete', NextRunTime = '1900-01-01 00:00:00.000'")
    broken.sql("UPDATE FileProcess SET Status = 'complete'")
    broken.sql("UPDATE BatchProcessHistory SET Cause = 'auto'")
    alarm.duty.finish()
    assert broken.sql("SELECT Subject FROM Incident WHERE ResolvedTime IS NULL") == []


def test_work_that_cannot_be_read_is_found_without_reading_any_other(
    broken: World,
) -> None:
    many = 3000
    broken.hand.many("INSERT INTO FileProcess (Entity, Status) VALUES (?, ?)", [("Other", "complete")] * many)
    broken.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status)"
        " SELECT 2, FileProcess_id, 'complete' FROM FileProcess WHERE FileProcess_id > 3"
    )
    broken.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " CommandText, Status, EndTime) SELECT BatchControl_id, 2, 10, 's', 'told', '', 'success', '2026-11-20'"
        " FROM BatchControl"
    )
    broken.sql("UPDATE BatchControl SET Status = 'weird' WHERE BatchControl_id = 2")
    broken.sql("ANALYZE")

    with broken.transactions.read() as connection:
        plans = []
        for table, which in UNREADABLE.items():
            asked = select(table).where(which).order_by(*table.primary_key).limit(OF_WORK)
            said = str(asked.compile(connection, compile_kwargs={"literal_binds": True}))
            explain = "EXPLAIN QUERY PLAN " if broken.database.kind == "sqlite" else "EXPLAIN "
            plans.append([str(row[-1]).lower() for row in connection.exec_driver_sql(explain + said)])
        found = reports.unreadable_work(connection, OF_WORK)

    assert [f"{row.table} {row.row_id}" for row in found] == ["BatchControl 2"]
    for table, plan in zip(UNREADABLE, plans, strict=True):
        (read,) = [line for line in plan if "scan" in line]
        assert f"ix_{table.name}_unreadable".lower() in read
        assert "seq scan" not in read


BREAKS = {
    "BatchControl": ("RetryCount", -1, "RetryCount is -1, and has to be at least 0"),
    "FileProcess": ("Entity", "", "Entity is '', and has to fulfil "),
    "BatchProcessHistory": (
        "EndTime",
        None,
        "EndTime is empty, and has to fulfil (Status ",
    ),
}


@pytest.mark.parametrize("table", BREAKS)
def test_check_names_row_and_column_of_work_that_breaks_any_constraint(
    command: Command, broken: World, table: str
) -> None:
    broken.process()
    column, value, said = BREAKS[table]
    broken.sql(f"UPDATE {table} SET {column} = ? WHERE {table}_id = 2", value)

    _, told, _ = command("check", "--json")

    (found,) = [one for one in json.loads(told) if one["Table"] == table]
    assert (found["Row"], found["Column"]) == ("2", column)
    assert said in found["Message"].replace("lower(Status)", "Status")
    assert found["Next"] == f"UPDATE {table} SET {column} = ... WHERE {table}_id = 2;"
    assert f"constraint failed in {table}" not in told


@pytest.mark.parametrize(
    ("table", "column", "value", "said"),
    [
        ("BatchControl", "NextRunTime", "soon", "NextRunTime is 'soon', which is no time"),
        ("FileProcess", "Data", "a\x00", "Data is 'a\\x00', and has to fulfil"),
        ("FileProcess", "Data", "a" * 5000 + "\x00", "Data is '"),
        ("BatchProcessHistory", "StartTime", "then", "StartTime is 'then', which is no time"),
    ],
)
def test_check_names_what_only_sqlite_lets_stand(
    sqlite_database: SqliteControl, table: str, column: str, value: object, said: str
) -> None:
    world = World(sqlite_database)
    world.batch(steps=1)
    world.submit()
    world.create()
    world.process()
    world.hand.loosen()
    world.sql(f"UPDATE {table} SET {column} = ?", value)
    with world.transactions.read() as connection:
        (row, *others), constraint_findings = reports.constraint_findings(connection)
    world.close()

    assert (row.table, row.column, others, constraint_findings) == (table, column, [], [])
    assert row.wording.startswith(said)
    assert len(row.wording) < 400


def test_check_names_row_and_column_of_work_in_no_known_status(command: Command, broken: World) -> None:
    broken.process()
    broken.sql("UPDATE BatchProcessHistory SET Status = 'weird' WHERE ProcessControlSeq = 20")
    broken.sql("UPDATE BatchControl SET Status = 'weird' WHERE BatchControl_id = 1")
    broken.sql("UPDATE FileProcess SET Status = 'odd' WHERE FileProcess_id = 3")

    code, told, _ = command("check", "--json")

    assert code == 6
    found = [(one["Table"], one["Row"], one["Column"]) for one in json.loads(told)]
    for row in (("BatchControl", "1"), ("FileProcess", "3"), ("BatchProcessHistory", "2")):
        assert (*row, "Status") in found


@pytest.fixture
def starters(broken: World) -> World:
    """Let everything that starts work of itself be of the entity of the batch that cannot be read."""
    broken.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, Enabled, StartDate, DecidedUntil)"
        " VALUES ('nightly', 'Daily', 'daily', '06:00', 1, '2026-01-01', '2026-11-10 00:00:00')"
    )
    broken.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows)"
        " VALUES ('orders', 'Daily', 'wh', 't', 's', '0', 1)"
    )
    (broken.directory / "in").mkdir()
    broken.sql("INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('drop', 'Daily', 'in')")
    return broken


@pytest.mark.parametrize("table", ["Schedule", "DataTrigger", "FileWatch"])
def test_check_says_of_what_starts_its_work_that_the_batch_cannot_be_read_and_not_that_there_is_none(
    command: Command, starters: World, table: str
) -> None:
    _, told, _ = command("check", "--json")

    (found,) = [one for one in json.loads(told) if (one["Table"], one["Column"]) == (table, "Entity")]
    assert found["Message"] == f"{SAID}; until that is corrected nothing comes of it."
    assert found["Next"] == MEND
    assert "o batch takes" not in told


@pytest.mark.parametrize(("kind", "name"), [("schedule", "nightly"), ("trigger", "orders")])
def test_why_of_what_starts_its_work_names_the_row_of_the_batch(
    command: Command, starters: World, kind: str, name: str
) -> None:
    _, told, _ = command("why", f"{kind}:{name}", "--json")

    gate = next(one for one in json.loads(told)["Gates"] if one["Gate"] == "entity")
    assert (gate["Blocked"], gate["Clear"], gate["Row"]) == (
        f"{SAID}: nothing comes of what it starts",
        MEND,
        "ProcessBatch 1",
    )
    assert "o batch takes" not in told


def test_a_trial_and_a_backfill_of_a_schedule_name_the_batch_that_cannot_be_read(
    command: Command, starters: World
) -> None:
    _, tried, _ = command("schedule", "test", "nightly")
    asked = ("backfill", "start", "nightly", "--from", "2026-11-01", "--to", "2026-11-02", "--reason", "r", "--dry-run")
    code, planned, noted = command(*asked)
    everything = " ".join((tried + planned + noted).split())

    assert code == 0, noted
    assert f"{SAID}: nothing comes of what it starts." in everything
    assert f"{SAID}: until that is corrected nothing comes of the rows ({MEND})" in everything
    assert "o batch takes" not in everything


@pytest.mark.parametrize("more", [("--dry-run",), ()])
def test_accepting_a_row_names_the_batch_that_cannot_be_read(
    command: Command, broken: World, more: tuple[str, ...]
) -> None:
    broken.sql("UPDATE FileProcess SET Status = 'rejected' WHERE FileProcess_id = 3")

    _, told, noted = command("accept", "3", "--reason", "r", *more)

    assert f"Note: {SAID}. Until that is corrected the batch does nothing.\nNext: {MEND}" in told + noted
    assert "no batch" not in told + noted


@pytest.mark.parametrize(
    ("column", "value", "least", "most", "mend"),
    [
        ("MaxConcurrent", 0, 1, 1000, 1),
        ("RetryCount", -1, 0, 1000, 0),
        ("RetryCount", 1001, 0, 1000, 0),
        ("RetryWaitMins", -1, 0, 525600, 5),
    ],
)
def test_a_number_that_nothing_can_go_by_is_named_and_no_row_is_rejected_for_it(
    world: World, column: str, value: int, least: int, most: int, mend: int
) -> None:
    world.batch("Daily")
    world.submit("Daily")
    world.hand.loosen()
    world.sql(f"UPDATE ProcessBatch SET {column} = ? WHERE ProcessBatch_id = 1", value)
    world.create()
    Alarm(world, rules(learns_arrivals=False)).duty.finish()

    said = f"ProcessBatch 1 (Daily) cannot be read: {column} is {value}, and has to be between {least} and {most}"
    assert said in world.one("SELECT Message FROM Incident WHERE Kind = 'unreadable'")
    assert world.sql("SELECT Status, Message FROM FileProcess") == [("ready", None)]
    assert world.sql("SELECT Status, NextSql FROM vStatus") == [
        ("unreadable", f"UPDATE ProcessBatch SET {column} = {mend} WHERE ProcessBatch_id = 1;")
    ]


@pytest.mark.parametrize(
    ("kind", "columns", "column", "value", "said"),
    [
        ("FileWatch", _WATCH, "SettleSeconds", -1, "between 0 and 86400"),
        ("FileWatch", _WATCH, "Recursive", 2, "between 0 and 1"),
        ("FileWatch", _WATCH, "Enabled", 7, "between 0 and 1"),
        ("DataTrigger", _TRIGGER, "RowThreshold", -1, "at least 1"),
        ("DataTrigger", _TRIGGER, "IdleMinutes", 0, "between 1 and 525600"),
        ("DataTrigger", _TRIGGER, "OnNewRows", -1, "between 0 and 1"),
        ("DataTrigger", _TRIGGER, "DebounceSeconds", -1, "between 0 and 31536000"),
        ("DataTrigger", _TRIGGER, "Enabled", 7, "between 0 and 1"),
    ],
)
def test_a_number_that_nothing_can_start_by_is_named_by_every_face(
    broken: World, command: Command, kind: str, columns: dict[str, object], column: str, value: int, said: str
) -> None:
    written = {**columns, column: value}
    broken.sql(f"INSERT INTO {kind} ({', '.join(written)}) VALUES ({', '.join('?' * len(written))})", *written.values())
    reason = f"{kind} 1 (odd) cannot be read: {column} is {value}, and has to be {said}"
    mend = f"UPDATE {kind} SET {column} = ... WHERE {kind}_id = 1;"
    Alarm(broken, rules(learns_arrivals=False)).duty.finish()
    starter = "watch" if kind == "FileWatch" else "trigger"
    asked = [command(starter, "test", "odd"), *([command("why", "trigger:odd")] if starter == "trigger" else [])]

    assert broken.sql("SELECT Message, NextStep FROM Incident WHERE Subject LIKE '%(odd)'") == [
        (f"{reason}; until that is corrected it starts nothing", mend)
    ]
    assert mend in [one["Next"] for one in json.loads(command("status", "--json")[1])["Unreadable"]]
    assert [one["Column"] for one in json.loads(command("check", "--json")[1]) if one["Table"] == kind] == [column]
    for code, _, told in asked:
        assert (code, told.splitlines()[:2]) == (
            4,
            [f"Error: {reason}. Until that is corrected it starts nothing.", f"Next: {mend}"],
        )


@pytest.mark.parametrize("limit", ["0", "zork"])
def test_what_keeps_instances_from_starting_for_ever_is_an_incident(world: World, limit: str) -> None:
    world.batch("Daily")
    world.batch("Off", Enabled=0)
    world.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('ftp', 2)")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id, Units) VALUES (1, 1, 9), (2, 1, 9)")
    world.hand.loosen()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', ?)", limit)
    duty = Alarm(world, rules(learns_arrivals=False)).duty
    duty.finish()

    assert world.sql("SELECT Subject, Message FROM Incident WHERE Kind = 'unreadable' ORDER BY 1") == [
        ("Daily", "Batch Daily needs 9 units of 'ftp', and there are 2: its instances wait for ever"),
        ("Setting MaxConcurrent", f"Setting MaxConcurrent is '{limit}': nothing starts anywhere"),
    ]
    number = world.one("SELECT Incident_id FROM Incident WHERE Subject = 'Daily'")
    assert world.sql("SELECT Status, NextSql FROM vStatus WHERE ProcessBatchName = 'Daily'") == [
        ("unreadable", f"SELECT * FROM Incident WHERE Incident_id = {number};")
    ]

    world.submit("Daily")
    world.create()
    world.process()
    assert world.statuses() == ["ready"]
    world.sql("UPDATE BatchControl SET Status = 'failed'")
    assert world.sql("SELECT Status, NextSql FROM vStatus WHERE ProcessBatchName = 'Daily'") == [
        ("failed", "SELECT * FROM vFailed WHERE ProcessBatchName = 'Daily';")
    ], "what has failed is not hidden by it"

    world.sql("UPDATE Resource SET Units = 9")
    world.sql("DELETE FROM Setting WHERE Name = 'MaxConcurrent'")
    duty.finish()

    assert world.sql("SELECT 1 FROM Incident WHERE ResolvedTime IS NULL AND Kind = 'unreadable'") == []


def test_why_names_what_a_populator_is_told_to_search(broken: World, command: Command) -> None:
    broken.sql("UPDATE ProcessBatch SET PopulatorArgs = '(' WHERE ProcessBatchName = 'Other'")
    _, told, _ = command("why", "batch:Other", "--json")
    gate = next(one for one in json.loads(told)["Gates"] if one["Gate"] == "populator")

    assert gate["Blocked"].startswith("ProcessBatch (Other): PopulatorArgs: ")
    assert gate["Clear"] == "UPDATE ProcessBatch SET PopulatorArgs = ... WHERE ProcessBatchName = 'Other';"


_OF_A_BATCH = (process_batch, process_control, batch_dependency, batch_resource, resource)
_STARTERS = (schedule, data_trigger, file_watch)


def test_every_number_and_every_flag_of_what_people_define_has_bounds() -> None:
    """What has none may be any number, or names another row."""
    unbounded = {
        f"{table}.{column.name}"
        for table in (*_OF_A_BATCH, *_STARTERS)
        for column in table.c
        if is_number(column) and not column.primary_key and not column.foreign_keys and column.name not in bounds(table)
    }

    assert unbounded == {"ProcessBatch.Seq"}


@pytest.mark.parametrize("table", _OF_A_BATCH, ids=lambda table: str(table.name))
def test_a_number_out_of_its_bounds_makes_the_batch_unreadable_to_every_face(
    broken: World, command: Command, table: Table
) -> None:
    broken.sql("UPDATE ProcessBatch SET ProcessingMode = NULL")
    broken.sql("INSERT INTO Resource (ResourceName, Units) VALUES ('ftp', 2)")
    broken.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1)")
    broken.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (1, 2)")
    name, alarm = str(table.name), Alarm(broken, rules(learns_arrivals=False))
    for column, (least, _) in bounds(table).items():
        before = broken.one(f"SELECT {column} FROM {name} WHERE {name}_id = 1")
        broken.sql(f"UPDATE {name} SET {column} = ? WHERE {name}_id = 1", least - 1)
        alarm.duty.finish()
        said = (f"{name} 1", f"{column} is {least - 1}, and has to be ", f"UPDATE {name} SET {column} = ")

        ((reason, mend),) = broken.sql("SELECT Reason, NextSql FROM vWaiting WHERE BatchControl_id = 1")
        assert column in reason
        assert mend.startswith(said[2])
        assert broken.one("SELECT Status FROM vStatus WHERE ProcessBatch_id = 1") == "unreadable"
        for words in (
            ("status",),
            ("why", "1"),
            ("why", "batch:Daily"),
            ("batches",),
            *((verb, "Daily", "--reason", "r") for verb in ("enable", "disable")),
            ("mode", "Daily", "manual", "--reason", "r"),
            ("rerun", "1", "--reason", "r"),
        ):
            _, out, err = command(*words, *(["--json"] if words[0] in {"status", "why", "batches"} else []))
            assert [each for each in said if each not in out + err] == [], f"{column}: {' '.join(words)}\n{out}{err}"
        found = [one for one in json.loads(command("check", "--json")[1]) if one["Table"] in {name, "(database)"}]
        assert "(database)" not in {one["Table"] for one in found}
        assert [one["Next"].startswith(said[2]) for one in found if (one["Row"], one["Column"]) == ("1", column)] == [
            True
        ]
        opened = broken.sql("SELECT Message, NextStep FROM Incident WHERE ResolvedTime IS NULL AND Kind = 'unreadable'")
        assert [(said[1] in message, next_step.startswith(said[2])) for message, next_step in opened] == [(True, True)]
        broken.create()
        broken.process()
        assert broken.one("SELECT Status FROM BatchControl WHERE BatchControl_id = 1") == "ready"
        broken.sql(f"UPDATE {name} SET {column} = ? WHERE {name}_id = 1", before)


def test_an_instance_whose_last_step_is_none_does_not_go_on(broken: World, command: Command) -> None:
    broken.sql("UPDATE ProcessBatch SET ProcessingMode = NULL")
    broken.sql("UPDATE BatchControl SET PrevProcessControlSeq = -5 WHERE BatchControl_id = 1")
    broken.process()
    said = "BatchControl 1 cannot be read: PrevProcessControlSeq is -5, and has to be between 0 and 2000000000"
    mend = "UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = 1;"

    assert broken.sql("SELECT Status FROM BatchControl ORDER BY 1") == [("complete",), ("ready",)]
    for words in (("status", "--json"), ("why", "1", "--json")):
        told = command(*words)[1]
        assert (said in told, mend in told) == (True, True), words
    assert broken.sql("SELECT Reason, NextSql FROM vWaiting WHERE BatchControl_id = 1") == [
        ("BatchControl 1 cannot be read: PrevProcessControlSeq holds nonsense", mend)
    ]


def test_such_an_instance_is_an_incident(world: World) -> None:
    world.batch()
    world.submit()
    world.create()
    world.hand.loosen()
    world.sql("UPDATE BatchControl SET PrevProcessControlSeq = -5")
    Alarm(world, rules(learns_arrivals=False)).duty.finish()

    assert world.sql("SELECT Message FROM Incident") == [
        (
            (
                "BatchControl 1 cannot be read: PrevProcessControlSeq is -5, and has to be between 0 and 2000000000;"
                " until that is corrected the instance does not go on"
            ),
        )
    ]


def test_a_schedule_with_a_number_out_of_its_bounds_is_unreadable(broken: World, command: Command) -> None:
    broken.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, IntervalMinutes) VALUES ('odd', 'Other', 'interval', 5)"
    )
    for column, (least, _) in bounds(schedule).items():
        before = broken.one(f"SELECT {column} FROM Schedule")
        broken.sql(f"UPDATE Schedule SET {column} = ?", least - 1)
        mend = f"UPDATE Schedule SET {column} = ... WHERE Schedule_id = 1;"

        assert mend in [one["Next"] for one in json.loads(command("status", "--json")[1])["Unreadable"]]
        ((status, next_sql),) = broken.sql("SELECT Status, NextSql FROM vSchedule")
        assert (status, next_sql.partition(" = ")[0]) == ("unreadable", mend.partition(" = ")[0])
        broken.sql(f"UPDATE Schedule SET {column} = ?", before)


def test_a_day_that_is_no_business_day_and_no_other_makes_its_calendar_unreadable(
    broken: World, command: Command
) -> None:
    broken.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    broken.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate, IsBusinessDay) VALUES (1, '2026-12-25', 7)")
    found = [one for one in json.loads(command("check", "--json")[1]) if "Calendar" in one["Table"]]

    assert {(one["Column"], one["Next"].rstrip(";")) for one in found} == {
        ("IsBusinessDay", "UPDATE CalendarDay SET IsBusinessDay = ... WHERE CalendarDay_id = 1")
    }
    assert "CalendarDay 1 holds '7', where IsBusinessDay has to be 0 or 1" in found[0]["Message"]


@pytest.mark.parametrize(
    ("statement", "table", "row", "column"),
    [
        ("UPDATE ProcessBatch SET ArriveBy = '25:00' WHERE ProcessBatch_id = 2", "ProcessBatch", "Other", "ArriveBy"),
        (
            "UPDATE ProcessBatch SET ProcessBatchName = '' WHERE ProcessBatch_id = 2",
            "ProcessBatch",
            "2",
            "ProcessBatchName",
        ),
        ("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', 'many')", "Setting", "MaxConcurrent", "Value"),
        ("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES ('NL', 'Mo')", "Calendar", "NL", "BusinessDays"),
        ("INSERT INTO Resource (ResourceName) VALUES ('')", "Resource", "1", "ResourceName"),
        (
            "INSERT INTO FileWatch (WatchName, Entity, Folder, Pattern) VALUES ('w', 'Other', '/in', '')",
            *("FileWatch", "1", "Pattern"),
        ),
        (
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('s', 'Other', 'daily', '25:00')",
            *("Schedule", "s", "RunTimes"),
        ),
        (
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, IntervalMinutes) VALUES ('s', 'Other', 'interval', 0)",
            *("Schedule", "1", "IntervalMinutes"),
        ),
        (
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (2, 2)",
            "BatchDependency",
            "1",
            None,
        ),
    ],
)
def test_check_names_row_and_column_of_a_definition_that_breaks_any_constraint_and_never_the_table_alone(
    command: Command, broken: World, statement: str, table: str, row: str, column: str | None
) -> None:
    broken.sql(statement)
    told = json.loads(command("check", "--json")[1])

    assert (row, column or "DependsOnBatch_id") in [
        (one["Row"], one["Column"]) for one in told if one["Table"] == table
    ]
    assert "(database)" not in {one["Table"] for one in told}


def test_a_freeze_that_cannot_be_read_is_listed_with_what_mends_it_and_is_an_incident(
    broken: World, command: Command
) -> None:
    column, value = ("UntilTime", "tomorrow") if broken.database.kind == "sqlite" else ("Reason", "")
    columns = {"ProcessBatchName": "Other", "Reason": "full", "UntilTime": None, column: value}
    broken.sql(f"INSERT INTO BatchFreeze ({', '.join(columns)}) VALUES (?, ?, ?)", *columns.values())
    said = f"BatchFreeze 1 (Other) cannot be read: {column} is '{value}', "
    mend = f"UPDATE BatchFreeze SET {column} = ... WHERE BatchFreeze_id = 1;"
    listed, seen = (command("freezes", *words)[1] for words in ((), ("--json",)))
    Alarm(broken, rules(learns_arrivals=False)).duty.finish()
    ((message, next_step),) = broken.sql("SELECT Message, NextStep FROM Incident WHERE Message LIKE 'BatchFreeze%'")

    assert ("somebody thaws it" in listed, f"Next: {mend}" in listed) == (True, True), listed
    (told,) = json.loads(seen)
    assert (told["BatchFreeze_id"], told["Holds"], told["Next"]) == (1, True, mend)
    assert told["Unreadable"].startswith(said)
    assert message == f"{told['Unreadable']}; until that is corrected it freezes until somebody thaws it"
    assert next_step == mend


@pytest.mark.parametrize(
    ("column", "value"), [("ArriveBy", "25:00"), ("PopulatorArgs", "(?P<Data1"), ("Populator", "gone")]
)
def test_what_nothing_can_be_made_of_is_named_by_every_face_with_the_statement_before_a_controller_has_looked(
    broken: World, command: Command, column: str, value: str
) -> None:
    broken.sql("UPDATE ProcessBatch SET ProcessingMode = NULL")
    broken.sql(
        "INSERT INTO Controller (ControllerName, Status, Host, ProcessTypes, Populators, Jobs)"
        " VALUES ('c0', 'stopped', 'here', 'told', 'pattern', '')"
    )
    broken.sql(f"UPDATE ProcessBatch SET {column} = ? WHERE ProcessBatch_id = 1", value)
    mend = f"UPDATE ProcessBatch SET {column} = ... WHERE "
    broken.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")

    for words in (
        ("why", "1", "--json"),
        ("why", "batch:Daily", "--json"),
        ("batches", "--json"),
        ("mode", "Daily", "manual", "--reason", "r"),
        ("rerun", "1", "--reason", "r", "--dry-run"),
        *((verb, "Daily", "--reason", "r") for verb in ("disable", "enable")),
    ):
        _, out, err = command(*words)
        assert (mend in out + err, "ProcessBatch (Daily)" in out + err) == (True, True), f"{words}: {out}{err}"

    Alarm(broken, rules(learns_arrivals=False)).duty.finish()
    _, told, _ = command("status", "--json")
    seen = broken.sql("SELECT Reason, NextSql FROM vWaiting WHERE ProcessBatchName = 'Daily' AND Status = 'definition'")
    assert (mend in told, "ProcessBatch (Daily)" in told) == (True, True)
    assert [(column in reason, next_sql.startswith(mend)) for reason, next_sql in seen] == [(True, True)]
