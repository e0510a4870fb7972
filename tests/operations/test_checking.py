"""Every problem of every definition row at once, whatever a plugin does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from batchctl.domain.errors import PluginError
from batchctl.domain.outcomes import Problem, Surroundings
from batchctl.domain.rows import Step
from batchctl.operations import checking
from batchctl.operations.checking import Finding
from batchctl.testing import surroundings
from tests.control.world import ToldHandler, World


class Strict(ToldHandler):
    """Finds two things wrong with every step that has no Data1."""

    process_type = "strict"

    def check(self, step: Step, around: Surroundings) -> Sequence[Problem]:
        return [] if step.data[0] else [Problem("Data1", "is needed"), Problem("Data2", "is needed")]


class Broken(ToldHandler):
    """Breaks while it checks."""

    process_type = "broken"

    def check(self, step: Step, around: Surroundings) -> Sequence[Problem]:
        raise RuntimeError("\x1b[31mno\x1b[0m")


class Unverifiable:
    """Has no check command."""

    def check(self, step: Step, around: Surroundings) -> Sequence[Problem]:
        return []


class Populates:
    """Refuses PopulatorArgs `wrong`, breaks on `break`."""

    def check(self, batch: Any) -> Sequence[Problem]:
        if batch.populator_args == "break":
            raise RuntimeError("broke")
        return [Problem("PopulatorArgs", "is wrong")] if batch.populator_args == "wrong" else []


class Plugins:
    """The plugins of these tests."""

    def __init__(self, *problems: str) -> None:
        self._problems = list(problems)
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

    def problems(self) -> list[str]:
        return self._problems


def check(world: World, *plugin_problems: str) -> list[Finding]:
    plugins = Plugins(*plugin_problems)
    return list(checking.check(world.transactions, plugins, surroundings(str(world.directory))))


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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0", "It says '0', so nothing starts."),
        ("-1", "It says '-1', which is no number, so it limits nothing."),
        ("twenty", "It says 'twenty', which is no number, so it limits nothing."),
        ("\u0663", "It says '\u0663', which is no number, so it limits nothing."),
        (" 3 ", None),
    ],
)
def test_a_limit_of_everything_that_is_no_number_or_lets_nothing_start_is_named(
    world: World, value: str, message: str | None
) -> None:
    world.batch()
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', ?)", value)

    assert check(world) == ([] if message is None else [Finding("Setting", "MaxConcurrent", "Value", message)])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MaxConcurent", "Did you mean 'MaxConcurrent'?"),
        ("maxconcurrent", "Did you mean 'MaxConcurrent'?"),
        ("Retries\x1b", "Known: DatabaseId, MaxConcurrent."),
    ],
)
def test_a_setting_that_there_is_none_of_is_named(world: World, name: str, meant: str) -> None:
    world.batch()
    world.sql("INSERT INTO Setting (Name, Value) VALUES (?, '3')", name)

    message = f"There is no such setting, so the row does nothing. {meant}"
    assert check(world) == [Finding("Setting", name.replace("\x1b", "\\x1b"), "Name", message)]


def test_watches_that_take_nothing_or_hold_nonsense_are_findings(world: World) -> None:
    world.batch()
    world.sql(
        "INSERT INTO FileWatch (WatchName, Entity, Folder, Pattern) VALUES"
        " ('sound', 'B', 'in', '*.csv'), ('apart', 'B', 'in', '*.xml'), (' blank', 'B', '', 'x/*'),"
        " ('nobody', 'C', 'out', '*'), ('same', 'B', './in', 'a.csv')"
    )
    world.hand.loosen()
    world.sql("INSERT INTO FileWatch (WatchName, Entity, Folder, DuplicateKey) VALUES ('odd', 'B', 'in', 'size')")

    assert found(world)[-6:] == [
        ("FileWatch", "6", ""),
        ("FileWatch", " blank", "WatchName"),
        ("FileWatch", " blank", "Folder"),
        ("FileWatch", " blank", "Pattern"),
        ("FileWatch", "nobody", "Entity"),
        ("FileWatch", "same", "Folder"),
    ]
