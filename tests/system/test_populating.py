"""Populators: whatever one does, it becomes the reason on its row, and the next one works."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from batchctl.domain.rows import BatchDefinition, BatchId, IntakeId, IntakeRow, Step
from batchctl.domain.status import IntakeStatus
from batchctl.plugin_api import CannotPopulate, Populated
from batchctl.populators.pattern import PatternPopulator
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.plugins.populating import ROOM, ProcessPopulatorRunner

ROW = IntakeRow(
    intake_id=IntakeId(7),
    entity="Flights",
    file_name="/in/flights_2026.csv",
    status=IntakeStatus.READY,
    data="payload",
    cycle_key=None,
    source=None,
    message=None,
    inserted_at=datetime(2026, 11, 21, 4, 5, 6, 789000, tzinfo=UTC),
)
BATCH = BatchDefinition(
    batch_id=BatchId(3),
    name="load flights",
    entity="Flights",
    steps=(Step(batch_id=BatchId(3), seq=10, name="verify", process_type="os_command"),),
)


@pytest.fixture
def populators(plugin_process: Callable[[], PluginProcess]) -> Iterator[ProcessPopulatorRunner]:
    runner = ProcessPopulatorRunner(plugin_process, time_limit=timedelta(seconds=20))
    yield runner
    runner.close()


def reason_of(populators: ProcessPopulatorRunner, what: str, populator: str = "odd") -> str:
    with pytest.raises(CannotPopulate) as refused:
        populators.populate(populator, ROW, replace(BATCH, populator=populator, populator_args=what))
    return str(refused.value)


def next_one_works(populators: ProcessPopulatorRunner) -> bool:
    return populators.populate("echo", ROW, BATCH).cycle_key == "2026-11"


def test_a_populator_sees_row_and_batch_and_its_values_come_back(populators: ProcessPopulatorRunner) -> None:
    populated = populators.populate("echo", ROW, BATCH)

    data = ("/in/flights_2026.csv", "payload", "load flights", "10:verify", None, None)
    assert populated == Populated(data=data, cycle_key="2026-11")


def test_the_built_in_populator_is_found(populators: ProcessPopulatorRunner) -> None:
    populated = populators.populate("pattern", ROW, BATCH)

    assert populated.data == ("/in", "flights_2026.csv", "payload", None, None, None)


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("refuse", "no such cycle"),
        ("raise", "populator 'odd' raised KeyError: 'Data1'"),
        ("exit", "populator 'odd' raised SystemExit: 4"),
        ("die", "populator 'odd' ended its process: exit code 5"),
        ("dict", "the populator returned dict, not Populated"),
        ("nothing", "the populator returned NoneType, not Populated"),
        ("seven", "the populator returned 7 values for Data1 to Data6"),
        ("list", "the populator returned list for Data1 to Data6, not a tuple"),
        ("number", "the populator returned int for Data1, not text"),
        ("nul", "the populator's Data1 cannot be stored: it contains a NUL character"),
        ("surrogate", "the populator's CycleKey cannot be stored: it contains bytes that are not valid UTF-8"),
    ],
)
def test_every_misbehaviour_is_a_reason(populators: ProcessPopulatorRunner, what: str, reason: str) -> None:
    assert reason_of(populators, what) == reason
    assert next_one_works(populators)


def test_ten_megabytes_are_fine(populators: ProcessPopulatorRunner) -> None:
    populated = populators.populate("odd", ROW, replace(BATCH, populator_args="big"))

    assert populated.data[0] == "x" * 10_000_000


def test_what_a_populator_prints_disturbs_nobody(populators: ProcessPopulatorRunner) -> None:
    populated = populators.populate("odd", ROW, replace(BATCH, populator_args="print"))

    assert populated.data[0] == "fine"


def test_a_populator_that_hangs_is_stopped(plugin_process: Callable[[], PluginProcess]) -> None:
    impatient = ProcessPopulatorRunner(plugin_process, time_limit=timedelta(seconds=0.5))

    assert reason_of(impatient, "hang") == "populator 'odd' took longer than 0.5 seconds and was stopped"

    impatient.close()


def test_a_regular_expression_that_explodes_is_stopped(plugin_process: Callable[[], PluginProcess]) -> None:
    impatient = ProcessPopulatorRunner(plugin_process, time_limit=timedelta(seconds=0.5))
    row = replace(ROW, file_name="a" * 40)

    with pytest.raises(CannotPopulate, match=r"took longer than 0\.5 seconds"):
        impatient.populate("pattern", row, replace(BATCH, populator_args="(a+)+b"))

    impatient.close()


def test_an_unknown_populator_is_a_reason_with_a_suggestion(populators: ProcessPopulatorRunner) -> None:
    assert reason_of(populators, "", "paterm") == "Populator 'paterm' is not installed. Did you mean 'pattern'?"


def test_a_process_that_cannot_be_started_is_a_reason() -> None:
    def refuse() -> PluginProcess:
        raise OSError(11, "Resource temporarily unavailable")

    populators = ProcessPopulatorRunner(refuse)

    assert "Resource temporarily unavailable" in reason_of(populators, "")


def test_what_is_harmless_needs_no_process() -> None:
    def refuse() -> PluginProcess:
        raise OSError(11, "Resource temporarily unavailable")

    own = PatternPopulator()
    populators = ProcessPopulatorRunner(refuse, harmless=lambda batch: None if batch.populator_args else own)

    assert populators.populate("pattern", ROW, BATCH).data[:3] == ("/in", "flights_2026.csv", "payload")
    assert "Resource temporarily unavailable" in reason_of(populators, "(a+)+b", "pattern")


def test_what_is_asked_aside_is_answered_in_order_and_wakes_who_asked(
    plugin_process: Callable[[], PluginProcess],
) -> None:
    woken = threading.Semaphore(0)
    runner = ProcessPopulatorRunner(plugin_process, wake=woken.release)
    rows = [replace(ROW, intake_id=IntakeId(number)) for number in (1, 2, 1)]
    batch = replace(BATCH, populator="echo")
    assert [runner.ask(row, batch) for row in rows] == [None, None, None]
    for _ in rows:
        assert woken.acquire(timeout=20)
    answers = runner.answers()
    runner.close()

    assert [answer.row for answer in answers] == rows
    assert (runner.has_answers, [answer.hung for answer in answers]) == (False, [False] * 3)


def test_one_that_hangs_keeps_no_other_populator_waiting(plugin_process: Callable[[], PluginProcess]) -> None:
    woken = threading.Semaphore(0)
    runner = ProcessPopulatorRunner(plugin_process, time_limit=timedelta(seconds=3600), wake=woken.release)
    hangs = replace(BATCH, populator="odd", populator_args="hang")
    runner.ask(ROW, hangs)
    runner.ask(ROW, replace(BATCH, populator="echo"))
    assert woken.acquire(timeout=20)
    (answer,) = runner.answers()
    while not runner.is_stuck(hangs):
        runner.wait()
    assert (runner.is_stuck(replace(BATCH, populator="echo")), runner.has_room(hangs)) == (False, True)
    runner.close()

    assert isinstance(answer.values, Populated)


def test_no_more_is_asked_for_at_once_than_there_is_room(plugin_process: Callable[[], PluginProcess]) -> None:
    runner = ProcessPopulatorRunner(plugin_process, time_limit=timedelta(seconds=3600))
    hangs = replace(BATCH, populator="odd", populator_args="hang")
    asked = 0
    while runner.has_room(hangs):
        runner.ask(replace(ROW, intake_id=IntakeId(asked)), hangs)
        asked += 1
    runner.close()

    assert asked == ROOM


def test_what_took_too_long_says_so_and_the_next_row_is_asked_about(
    plugin_process: Callable[[], PluginProcess],
) -> None:
    woken = threading.Semaphore(0)
    runner = ProcessPopulatorRunner(plugin_process, own_limits={"pattern": timedelta(seconds=0.2)}, wake=woken.release)
    explodes = replace(BATCH, populator_args="(a+)+b")
    for name in ("a" * 60, "aab"):
        runner.ask(replace(ROW, file_name=name), explodes)
        assert woken.acquire(timeout=20)
    first, second = runner.answers()
    runner.close()

    assert (first.hung, first.values) == (True, "populator 'pattern' took longer than 0.2 seconds and was stopped")
    assert (second.hung, isinstance(second.values, Populated)) == (False, True)
