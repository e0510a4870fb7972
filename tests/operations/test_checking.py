"""Every problem of every definition row at once, whatever a plugin does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.errors import PluginError
from batchctl.domain.outcomes import Connection, Finding, RowFinding, StepContext
from batchctl.domain.rows import Step
from batchctl.operations.definitions import checking
from batchctl.store.definitions import definitions
from batchctl.system.plugins.handler_calls import HandlerCalls
from batchctl.testing import context
from tests.control.world import ToldHandler, World
from tests.control_databases import ControlDatabase, SqliteControl


class Strict(ToldHandler):
    """Finds two things wrong with every step that has no Data1."""

    process_type = "strict"

    def check(self, step: Step, schedule_context: StepContext) -> Sequence[Finding]:
        return [] if step.data[0] else [Finding("Data1", "is needed"), Finding("Data2", "is needed")]


class Broken(ToldHandler):
    """Breaks while it checks."""

    process_type = "broken"

    def check(self, step: Step, schedule_context: StepContext) -> Sequence[Finding]:
        raise RuntimeError("\x1b[31mno\x1b[0m")


class Unverifiable:
    """Has no check command."""

    def check(self, step: Step, schedule_context: StepContext) -> Sequence[Finding]:
        return []


class Populates:
    """Refuses PopulatorArgs `wrong`, breaks on `break`."""

    def check(self, batch: Any) -> Sequence[Finding]:
        if batch.populator_args == "break":
            raise RuntimeError("broke")
        return [Finding("PopulatorArgs", "is wrong")] if batch.populator_args == "wrong" else []


class Plugins:
    """The plugins of these tests."""

    def __init__(self, *findings: str) -> None:
        self._findings = list(findings)
        self._handlers: dict[str, Any] = {
            "told": ToldHandler(),
            "strict": Strict(),
            "broken": Broken(),
            "unverifiable": Unverifiable(),
        }

    def handler(self, process_type: str) -> Any:
        if process_type not in self._handlers:
            raise PluginError(f"ProcessType '{process_type}' is not installed. Did you mean 'told'?")
        return self._handlers[process_type]

    def populator(self, name: str) -> Any:
        if name != "pattern":
            raise PluginError(f"Populator '{name}' is not installed. Did you mean 'pattern'?")
        return Populates()

    def findings(self) -> list[str]:
        return self._findings


def check(world: World, *plugin_problems: str) -> list[RowFinding]:
    plugins = Plugins(*plugin_problems)
    return list(checking.check(world.transactions, plugins, context(str(world.directory))))


def found(world: World, *plugin_problems: str) -> list[tuple[str, str, str]]:
    return [(finding.table, finding.row, finding.column) for finding in check(world, *plugin_problems)]


def test_sound_definitions_have_no_findings(world: World) -> None:
    world.batch("one")
    world.batch("two", Entity="one")

    assert check(world) == []


def test_all_problems_are_found_at_once(world: World) -> None:
    world.batch("empty", steps=0)
    world.batch("args", PopulatorArgs="wrong")
    world.batch("populator", Populator="patern")
    steps = world.batch("steps", steps=0)
    world.step(steps, 10, ProcessType="tolld")
    world.step(steps, 20, ProcessType="strict")
    world.step(steps, 30, AlarmDuration=60, MaxDuration=30, ExpectedDuration=31)
    world.step(steps, 40, ProcessType="unverifiable", OnLost="verify")

    assert found(world, "plugin x is broken") == [
        ("(plugin)", "", ""),
        ("ProcessBatch", "empty", ""),
        ("ProcessBatch", "args", "PopulatorArgs"),
        ("ProcessBatch", "populator", "Populator"),
        ("ProcessControl", "steps, step 10 'step 10'", "ProcessType"),
        ("ProcessControl", "steps, step 20 'step 20'", "Data1"),
        ("ProcessControl", "steps, step 20 'step 20'", "Data2"),
        ("ProcessControl", "steps, step 30 'step 30'", "AlarmDuration"),
        ("ProcessControl", "steps, step 30 'step 30'", "ExpectedDuration"),
        ("ProcessControl", "steps, step 40 'step 40'", "OnLost"),
    ]


def test_a_plugin_that_breaks_while_it_checks_is_a_finding_and_not_a_crash(world: World) -> None:
    batch_id = world.batch(steps=0, PopulatorArgs="break")
    world.step(batch_id, 10, ProcessType="broken")
    messages = [finding.message for finding in check(world)]

    assert messages == [
        "The populator broke while checking: RuntimeError: broke",
        "The handler broke while checking: RuntimeError: \\x1b[31mno\\x1b[0m",
    ]


class Silent(ToldHandler):
    """Never ends its check."""

    process_type = "silent"

    def check(self, step: Step, schedule_context: StepContext) -> Sequence[Finding]:
        while True:
            pass


class Rambling(ToldHandler):
    """Answers nonsense."""

    process_type = "rambling"

    def check(self, step: Step, schedule_context: StepContext) -> Any:
        return ["it looks fine"]


def test_a_plugin_that_does_not_answer_or_answers_nonsense_is_a_finding(world: World) -> None:
    plugins = Plugins()
    plugins._handlers |= {"silent": Silent(), "rambling": Rambling()}
    batch_id = world.batch(steps=0)
    for seq, process_type in ((10, "silent"), (20, "silent"), (30, "rambling")):
        world.step(batch_id, seq, ProcessType=process_type)
    ask = HandlerCalls(timedelta(milliseconds=50)).ask
    said = checking.check(world.transactions, plugins, context(str(world.directory)), ask=ask)

    hung = "The handler of 'silent' did not answer within 0.05 seconds, asked about the check of step 10."
    assert [finding.message for finding in said] == [
        hung,
        f"It is not asked again for 30 seconds: {hung}",
        "The handler broke while checking: TypeError: its check returned str, not Problem",
    ]
    assert "module tests.operations.test_checking" in said[0].remedy


def test_names_nobody_can_type_are_findings(world: World) -> None:
    world.batch("a\u200bb")
    world.batch("c ")
    world.batch("d", Entity="\u202ee")

    assert [(finding.column, finding.message) for finding in check(world)] == [
        ("ProcessBatchName", "It holds an invisible character: a\\u200bb"),
        ("Entity", "It holds an invisible character: a\\u200bb"),
        ("ProcessBatchName", "It begins or ends with a blank: 'c '"),
        ("Entity", "It begins or ends with a blank: 'c '"),
        ("Entity", "It holds an invisible character: \\u202ee"),
    ]


def test_entities_that_are_nearly_the_same_are_a_finding(world: World) -> None:
    world.batch("one", Entity="MyFileType1")
    world.batch("two", Entity="myfiletype1")

    ((message),) = [finding.message for finding in check(world)]
    assert "nearly 'MyFileType1'" in message


def test_rows_written_with_foreign_keys_switched_off_are_findings(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.hand.loosen()
    world.step(99, 10)
    world.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (98, 1), (1, 97)")
    world.sql("INSERT INTO Resource (ResourceName) VALUES ('there')")
    world.sql("INSERT INTO BatchResource (ProcessBatch_id, Resource_id) VALUES (1, 1), (1, 96), (95, 1)")

    assert found(world) == [
        ("ProcessControl", "step 10 'step 10'", "ProcessBatch_id"),
        ("BatchResource", "2", "Resource_id"),
        ("BatchResource", "3", "ProcessBatch_id"),
        ("BatchControl", "2", "ProcessBatch_id"),
        ("BatchControl", "3", "FileProcess_id"),
    ]


def test_freezes_of_nothing_and_tags_that_cannot_be_meant_so_are_findings(world: World) -> None:
    world.batch("Load", Tags="nightly,, Slow", steps=1)
    for columns in ("'Lod', NULL", "NULL, 'nightli'", "NULL, 'slow'", "'Load', NULL", "NULL, NULL"):
        world.sql(f"INSERT INTO BatchFreeze (ProcessBatchName, Tag, Reason) VALUES ({columns}, 'x')")

    tags, batch, tag = (one for one in check(world) if one.table != "ProcessControl")

    assert (tags.row, tags.column) == ("Load", "Tags")
    assert "'nightly,, Slow' cannot be meant so" in tags.message
    assert (batch.row, batch.column, batch.remedy) == ("1", "ProcessBatchName", "batchctl thaw 1 --reason ...")
    assert batch.message.endswith("Did you mean 'Load'?")
    assert (tag.row, tag.column) == ("2", "Tag")
    assert tag.message.endswith("Did you mean 'nightly'?")


def depend(world: World, batch_id: int, *others: int) -> None:
    for other in others:
        world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)", batch_id, other)


def test_dependencies_of_any_mode_are_sound_and_so_is_a_mode_without_any(world: World) -> None:
    world.batch("first")
    world.batch("second")
    depend(world, world.batch("all"), 1, 2)
    depend(world, world.batch("any", DependencyMode="any"), 1, 3)
    world.batch("none", DependencyMode="any")

    assert check(world) == []


def test_every_cycle_is_named_whole(world: World) -> None:
    for name in ("a", "b\x1b", "c", "d", "itself"):
        world.batch(name, Entity=name[0])
    world.hand.loosen()
    depend(world, 1, 2)
    depend(world, 2, 3, 4)
    depend(world, 3, 1)
    depend(world, 4, 2)
    depend(world, 5, 5, 1)

    assert [(one.row, one.message) for one in check(world) if one.table == "BatchDependency" and one.row != "6"] == [
        ("itself", "It depends on itself, so no dependency ever starts it."),
        ("a", "a waits for b\\x1b, b\\x1b for c, c for a: no dependency ever starts any of them."),
        ("b\\x1b", "b\\x1b waits for d, d for b\\x1b: no dependency ever starts any of them."),
    ]


def test_of_many_cycles_among_the_same_batches_one_is_named_and_that_there_are_more(world: World) -> None:
    for number in range(1, 8):
        world.batch(f"b{number}")
    for number in range(1, 8):
        depend(world, number, *(other for other in range(1, 8) if other != number))

    ((message),) = [finding.message for finding in check(world)]
    assert message.startswith("b1 waits for b2, b2 for b1: ")
    assert message.endswith("They wait for each other in many more ways.")


def test_what_would_be_started_beside_a_dependent_batch_is_named(world: World) -> None:
    world.batch("first")
    depend(world, world.batch("load", Entity="Sales"), 1)
    world.batch("beside", Entity="Sales")
    world.batch("as well", Entity="Sales")

    ((finding),) = check(world)
    assert (finding.table, finding.row, finding.column) == ("ProcessBatch", "load", "Entity")
    assert "'Sales' is taken by beside, as well too" in finding.message


def test_a_dependency_on_a_disabled_batch_is_named_unless_nothing_waits(world: World) -> None:
    world.batch("off", Enabled=0)
    depend(world, world.batch("waits"), 1)
    depend(world, world.batch("off too", Enabled=0), 1)

    ((finding),) = check(world)
    assert (finding.table, finding.row) == ("BatchDependency", "waits, off")
    assert finding.remedy == "batchctl enable off --reason ..."


def test_a_thousand_batches_that_one_waits_for_are_sound(world: World) -> None:
    world.batch("last")
    many = range(2, 1002)
    world.hand.many("INSERT INTO ProcessBatch (ProcessBatchName) VALUES (?)", [(f"b{at}",) for at in many])
    world.hand.many(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
        " VALUES (?, 10, 'step', 'told')",
        [(at,) for at in many],
    )
    world.hand.many(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (1, ?)", [(at,) for at in many]
    )

    assert check(world) == []


def test_dependencies_of_or_on_nothing_are_findings(world: World) -> None:
    world.batch()
    world.hand.loosen()
    depend(world, 1, 99)
    depend(world, 98, 1)
    depend(world, 97, 96)

    assert [(one.row, one.column, one.message.partition(":")[0]) for one in check(world)] == [
        ("1", "DependsOnBatch_id", "ProcessBatch 99 does not exist"),
        ("2", "ProcessBatch_id", "ProcessBatch 98 does not exist"),
        ("3", "ProcessBatch_id", "ProcessBatch 97 does not exist"),
    ]


def test_a_dependency_that_holds_nonsense_is_a_finding_and_leaves_out_only_its_batch(
    sqlite_database: SqliteControl,
) -> None:
    world = World(sqlite_database)
    for name in "abc":
        world.batch(name)
    world.hand.loosen()
    depend(world, 3, 1)
    world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id, DeadlineMins) VALUES (2, 1, 0)")
    with world.transactions.read() as connection:
        left = [batch.name for batch in definitions.all_batches(connection)]

    assert ("BatchDependency", "2", "DeadlineMins") in found(world)
    assert left == ["a", "c"]
    world.close()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0", "It says '0', so nothing starts."),
        ("-1", "It says '-1', so nothing starts."),
        ("twenty", "It says 'twenty', so nothing starts."),
        ("\u0663", "It says '\u0663', so nothing starts."),
        (" 3 ", None),
    ],
)
def test_a_limit_of_everything_that_is_no_number_or_lets_nothing_start_is_named(
    world: World, value: str, message: str | None
) -> None:
    world.batch()
    world.hand.loosen()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', ?)", value)

    assert check(world) == ([] if message is None else [RowFinding("Setting", "MaxConcurrent", "Value", message)])


KNOWN = (
    "Known: AuditLogDays, CancelledDays, CompleteDays, DatabaseId, HistoryRows, InboxDays, IncidentDays, KeepLast,"
    " ... (12 in all)."
)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MaxConcurent", "Did you mean 'MaxConcurrent'?"),
        ("maxconcurrent", "Did you mean 'MaxConcurrent'?"),
        ("Retries\x1b", KNOWN),
        ("FailedDays", "Failed instances are never purged: somebody has to rerun or cancel them."),
        ("FailedDays:B", "Failed instances are never purged: somebody has to rerun or cancel them."),
    ],
)
def test_a_setting_that_there_is_none_of_is_named(world: World, name: str, meant: str) -> None:
    world.batch()
    world.sql("INSERT INTO Setting (Name, Value) VALUES (?, '3')", name)

    message = f"There is no such setting, so the row does nothing. {meant}"
    assert check(world) == [RowFinding("Setting", name.replace("\x1b", "\\x1b"), "Name", message)]


@pytest.mark.parametrize(
    ("name", "value", "column", "message"),
    [
        ("SchedulerLogDays", "0", "Value", ("It says '0', which is not a whole number of days from 1 to 36500, or forever,"
         " so nothing is purged by it.")),
        ("CompleteDays:Lod", "30", "Name", "There is no batch 'Lod', so no instance is purged at all. Did you mean 'Load'?"),
        ("KeepLast:Load", "all", "Value", ("It says 'all', which is not a whole number from 0 to 10000,"
         " so no instance is purged at all.")),
        ("CancelledDays", "", "Value", ("It says '', which is not a whole number of days from 1 to 36500, or forever,"
         " so no instance is purged at all.")),
    ],
)  # fmt: skip
def test_a_rule_of_retention_that_cannot_be_meant_so_is_named(
    world: World, name: str, value: str, column: str, message: str
) -> None:
    world.batch("Load")
    world.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, value)

    assert check(world) == [RowFinding("Setting", name, column, message)]


def test_rules_of_retention_that_can_be_meant_so_are_no_findings(world: World) -> None:
    world.batch("Load")
    for name, value in (("CompleteDays:Load", " 30 "), ("KeepLast", "0"), ("InboxDays", "Forever")):
        world.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, value)

    assert check(world) == []


def a_trigger(world: World, name: str, **columns: object) -> None:
    usual = {"TriggerName": name, "Entity": "B", "ConnectionName": "wh", "TableName": "t", "StatusColumn": "s"}
    world._insert("DataTrigger", {**usual, "PendingValue": "0", **columns})


def trigger_findings(world: World) -> list[tuple[str, str, str]]:
    schedule_context = context(str(world.directory), connections={"wh": Connection("wh", "sqlite:///wh.db")})
    found = checking.check(world.transactions, Plugins(), schedule_context)
    return [(one.row, one.column, one.message) for one in found if one.table == "DataTrigger"]


def test_a_sound_trigger_has_no_findings(world: World) -> None:
    world.batch()
    a_trigger(world, "sound", CreatedColumn="c", RowThreshold=500, IdleMinutes=30, OnNewRows=1)

    assert trigger_findings(world) == []


def test_what_keeps_a_trigger_from_starting_anything_is_found(world: World) -> None:
    world.batch("MyBatch", Entity="Orders")
    a_trigger(world, "a", Entity="Order", ConnectionName="whx", RowThreshold=1)
    a_trigger(world, "b ", Entity="Orders", RowThreshold=1)

    assert trigger_findings(world) == [
        ("a", "ConnectionName", "Connection 'whx' is not in the configuration. Did you mean 'wh'?"),
        ("a", "Entity", "No batch takes entity 'Order': nothing comes of it. Did you mean 'Orders'?"),
        ("b ", "TriggerName", "It holds an invisible character or a blank at an end: 'b '."),
    ]


def test_a_batch_that_wants_a_file_name_cannot_be_started_by_a_trigger(world: World) -> None:
    world.batch(PopulatorArgs="(?P<Data4>x)")
    a_trigger(world, "a", RowThreshold=1)

    ((row, column, message),) = trigger_findings(world)

    assert (row, column) == ("a", "Entity")
    assert message.startswith("PopulatorArgs of batch B search a file name, and what a trigger starts has none.")


def test_conditions_that_make_each_other_idle_are_found(world: World) -> None:
    world.batch()
    a_trigger(world, "a", CreatedColumn="c", RowThreshold=1, OnNewRows=1)
    a_trigger(world, "b", OnNewRows=1, DebounceSeconds=0)
    a_trigger(world, "c", CreatedColumn="c", OnNewRows=1, DebounceSeconds=300, IdleMinutes=5)

    assert [found[:2] for found in trigger_findings(world)] == [
        ("a", "RowThreshold"),
        ("b", "DebounceSeconds"),
        ("c", "IdleMinutes"),
    ]


def test_a_trigger_that_cannot_be_read_is_found(sqlite_database: ControlDatabase) -> None:
    world = World(sqlite_database)
    world.hand.loosen()
    a_trigger(world, "a", RowThreshold=0)

    ((row, column, message),) = trigger_findings(world)
    world.close()

    assert (row, column) == ("1", "RowThreshold")
    assert message.startswith("The row holds nonsense, so it starts nothing: ")


def test_watches_that_take_nothing_or_hold_nonsense_are_findings(world: World) -> None:
    world.batch()
    world.hand.loosen()
    world.sql(
        "INSERT INTO FileWatch (WatchName, Entity, Folder, Pattern) VALUES"
        " ('sound', 'B', 'in', '*.csv'), ('apart', 'B', 'in', '*.xml'), (' blank', 'B', '', 'x/*'),"
        " ('nobody', 'C', 'out', '*'), ('same', 'B', './in', 'a.csv')"
    )
    world.sql("INSERT INTO FileWatch (WatchName, Entity, Folder, DuplicateKey) VALUES ('odd', 'B', 'in', 'size')")

    assert [one for one in found(world) if one[0] == "FileWatch"] == [
        ("FileWatch", "6", "DuplicateKey"),
        ("FileWatch", " blank", "WatchName"),
        ("FileWatch", " blank", "Folder"),
        ("FileWatch", " blank", "Pattern"),
        ("FileWatch", "nobody", "Entity"),
        ("FileWatch", "same", "Folder"),
    ]
