"""What a journal says, and what follows from it for whoever comes after the worker: the table of verdicts."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.errors import CannotBegin, ConfigurationError, PluginError
from batchctl.plugin_api import StepOutcome
from batchctl.ports import Trace
from batchctl.system.commands import journal
from batchctl.system.host import platform
from batchctl.system.runner import ThreadStepRunner
from tests.system.stepping import KEY, Does, finished
from tests.system.workers import BRIEF, Shell, entry

START, END = {"start": 1}, {"end": 1, "at": 1.0, "time": "2026-11-21T03:15:00+00:00", "exit_code": 0, "output": ""}
RUNNING = {"running": 1, "pid": 1, "pid_start": "1", "at": 1.0}
SUPERVISOR, ORPHANED, CLOSED = {"supervisor": 1, "pid_start": "1"}, {"orphaned": 1.0}, {"closed": 1.0}


@pytest.fixture
def dead(controller_id: str, state: Path) -> Path:
    """The directory of a worker that is dead."""
    place = journal.place_of(state, f"{controller_id}-dead")
    journal.prepare(place, f"{controller_id}-dead")
    return place


def write(place: Path, *records: dict[str, Any]) -> None:
    with (place / "journal").open("ab") as file:
        file.writelines(journal.line_of(record) for record in records)


def says(place: Path, text: str, instead: str) -> None:
    file = place / "journal"
    file.write_text(file.read_text(encoding="ascii").replace(text, instead), encoding="ascii")


@pytest.mark.parametrize(
    ("held", "records", "same_boot", "verdict"),
    [
        (True, [SUPERVISOR, START], True, Trace.ADOPTABLE),
        (True, [SUPERVISOR, START, RUNNING], True, Trace.ADOPTABLE),
        (True, [SUPERVISOR, START, RUNNING], False, Trace.UNCLEAR),
        (True, [SUPERVISOR, START, END], True, Trace.ADOPTABLE),
        (False, [SUPERVISOR, START, END], True, Trace.ADOPTABLE),
        (False, [SUPERVISOR, START, RUNNING, END, ORPHANED], False, Trace.ADOPTABLE),
        (True, [SUPERVISOR], True, Trace.UNSTARTED),
        (True, [], True, Trace.UNSTARTED),
        (True, [SUPERVISOR, ORPHANED], True, Trace.NEVER_RAN),
        (False, [SUPERVISOR, ORPHANED], True, Trace.NEVER_RAN),
        (False, [SUPERVISOR], True, Trace.NEVER_RAN),
        (False, [], True, Trace.NEVER_RAN),
        (False, [CLOSED], True, Trace.NEVER_RAN),
        (False, [], False, Trace.GONE),
        (False, [SUPERVISOR, START], True, Trace.LEFT_OVER),
        (False, [SUPERVISOR, START, RUNNING, ORPHANED], True, Trace.LEFT_OVER),
        (False, [SUPERVISOR, START, RUNNING], False, Trace.LEFT_OVER),
        (True, [SUPERVISOR, START, SUPERVISOR], True, Trace.LEFT_OVER),
        (True, [SUPERVISOR, {"start": 2}], True, Trace.UNSTARTED),
    ],
)
def test_the_table_of_verdicts(
    runner: ThreadStepRunner,
    controller_id: str,
    dead: Path,
    held: bool,
    records: list[dict[str, Any]],
    same_boot: bool,
    verdict: Trace,
) -> None:
    write(dead, *records)
    if not same_boot:
        says(dead, platform.boot_id() or "", "another boot")

    with ExitStack() as stack:
        if held:
            stack.enter_context(journal.locked(dead))
        assert runner.examine(entry(1, f"{controller_id}-dead"), Shell(""), BRIEF) is verdict


def test_what_came_back_to_its_worker_after_its_supervisor_had_died_is_stopped(
    runner: ThreadStepRunner, controller_id: str, state: Path
) -> None:
    own = entry(1, controller_id)
    write(journal.place_of(state, controller_id), SUPERVISOR, START)

    assert runner.examine(own, Shell(""), BRIEF) is Trace.LEFT_OVER
    assert runner.stop_left_over(own, Shell(""), BRIEF) == []


def test_a_torn_line_was_never_written(runner: ThreadStepRunner, controller_id: str, dead: Path) -> None:
    write(dead, SUPERVISOR, START)
    with (dead / "journal").open("ab") as file:
        file.write(journal.line_of(END)[:-20])

    assert runner.examine(entry(1, f"{controller_id}-dead"), Shell(""), BRIEF) is Trace.LEFT_OVER


def test_an_end_before_the_host_was_started_anew_has_the_time_it_had(
    runner: ThreadStepRunner, controller_id: str, dead: Path
) -> None:
    write(dead, SUPERVISOR, START, END)
    says(dead, platform.boot_id() or "", "another boot")

    runner.adopt(KEY, Shell(""), BRIEF, entry(1, f"{controller_id}-dead"))
    end = finished(runner)

    assert end.ended_at is not None
    assert end.ended_at.isoformat() == END["time"]
    assert end.outcome.succeeded


def test_what_nobody_knows_any_more_cannot_be_adopted(runner: ThreadStepRunner, dead: Path) -> None:
    runner.adopt(KEY, Shell(""), BRIEF, entry(1, "somebody"))

    outcome = finished(runner).outcome

    assert (outcome.lost, outcome.message) == (True, "no journal of this host knows of execution 1")


def test_another_workers_execution_of_the_same_number_is_another_one(
    runner: ThreadStepRunner, controller_id: str, state: Path, dead: Path
) -> None:
    # A database that was restored from a backup gives out its numbers again.
    write(dead, SUPERVISOR, START, RUNNING, END)
    later = f"{controller_id}-later"
    journal.prepare(journal.place_of(state, later), later)

    assert runner.examine(entry(1, later), Shell(""), BRIEF) is Trace.NEVER_RAN
    runner.adopt(KEY, Shell(""), BRIEF, entry(1, later))
    assert finished(runner).outcome.lost


def test_what_was_no_command_is_not_adopted_and_its_own_worker_needs_not_look_for_it(
    runner: ThreadStepRunner, controller_id: str, dead: Path
) -> None:
    handler = Does(lambda execution: StepOutcome(succeeded=True))

    assert runner.examine(entry(1, f"{controller_id}-dead"), handler, BRIEF) is Trace.LEFT_OVER
    assert runner.examine(entry(1, controller_id), handler, BRIEF) is Trace.GONE


class Proves(Does):
    """A handler that says of every execution whether it is alive."""

    def __init__(self, answer: bool | Exception | None) -> None:
        super().__init__(lambda execution: StepOutcome(succeeded=True))
        self._answer = answer

    def is_alive(self, rendered: object, execution: object) -> bool | None:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (True, Trace.UNCLEAR),
        (False, Trace.LEFT_OVER),
        (None, Trace.LEFT_OVER),
        (OSError("no network"), Trace.LEFT_OVER),
        (PluginError("it did not answer"), Trace.UNCLEAR),
        (CannotBegin("it is not asked"), Trace.UNCLEAR),
    ],
)
def test_a_handler_may_prove_that_an_execution_lives(
    runner: ThreadStepRunner, controller_id: str, answer: bool | Exception | None, verdict: Trace
) -> None:
    assert runner.examine(entry(1, f"{controller_id}-dead"), Proves(answer), BRIEF) is verdict


def test_a_journal_is_made_smaller_without_what_nobody_asks_for(dead: Path) -> None:
    writer = journal.Writer(dead)
    for key in range(1, 400):
        writer.write(journal.line_of({"start": key}))
        writer.write(journal.line_of({"end": key, "output": "x" * 200}))

    assert writer.drop(set(range(1, 399)))
    writer.write(journal.line_of(ORPHANED))
    writer.close()

    past = journal.read(dead)
    assert (set(past.begun), set(past.ended), past.is_orphaned) == ({399}, {399}, True)
    assert past.controller_id.endswith("-dead")
    assert (dead / "journal").stat().st_size < 1000


def test_a_journal_that_cannot_be_made_is_told_before_anything_is_begun(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(ConfigurationError, match="cannot be used: Not a directory") as raised:
        ThreadStepRunner(
            controller_id="x",
            plugin_process=None,  # type: ignore[arg-type]
            jobs={},
            connections={},
            secrets=str,
            state_directory=file / "state",
        )

    assert "state_directory" in (raised.value.next_step or "")


def test_nobody_else_may_read_a_journal(dead: Path) -> None:
    assert dead.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o077 == 0 for file in dead.iterdir())


def test_names_of_workers_become_names_of_directories(tmp_path: Path) -> None:
    assert journal.place_of(tmp_path, "a/b:1:../ü").parent == tmp_path


def test_records_of_a_later_version_are_passed_over(dead: Path) -> None:
    write(dead, SUPERVISOR, START, {"resumed": 1}, ["a list"])  # type: ignore[arg-type]

    assert json.dumps(sorted(journal.read(dead).begun)) == "[1]"


@pytest.mark.parametrize("what", ["closed", "removed"])
def test_a_worker_that_was_only_taken_for_dead_runs_commands_once_it_is_heard_of_again(
    runner: ThreadStepRunner, controller_id: str, state: Path, what: str
) -> None:
    place = journal.place_of(state, controller_id)
    if what == "closed":
        assert journal.close(place)
    else:
        journal.remove(place)
    runner.keep_lease(time.monotonic() + 60)

    runner.start(KEY, Shell("echo back again"), BRIEF)
    outcome = finished(runner).outcome

    assert (outcome.succeeded, outcome.output) == (True, "back again\n")


def test_a_worker_whose_journal_is_closed_begins_nothing_before_it_is_heard_of(
    runner: ThreadStepRunner, controller_id: str, state: Path
) -> None:
    assert journal.close(journal.place_of(state, controller_id))
    runner.keep_lease(time.monotonic() - 1)

    runner.start(KEY, Shell("echo too late"), BRIEF)
    end = finished(runner)

    assert end.never_ran
    assert "another worker has taken over the work of this one" in (end.outcome.message or "")
