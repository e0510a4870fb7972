"""Making a step ready: whatever is wrong with it becomes a refusal of this step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar, NoReturn

import pytest

from batchctl.domain.errors import CannotBegin, NoAnswer, PluginError, StepRefused
from batchctl.domain.outcomes import Finding, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.rows import (
    NOTHING_RENDERED,
    BatchDefinition,
    BatchId,
    HistoryEntry,
    HistoryId,
    InstanceId,
    Step,
)
from batchctl.domain.status import Cause, HistoryStatus
from batchctl.plugin_api import Execution, StepHandler
from batchctl.ports import AskHandler, ask_straight
from batchctl.preparation import Prepared, Preparer
from batchctl.system.plugins.handler_calls import HandlerCalls
from batchctl.testing import FakeClock, a_step, an_instance, context
from step_handlers.os_command import OsCommand
from step_handlers.task import Task
from tests.control.world import ToldHandler

NOW = FakeClock().now()


class Broken:
    """A handler that raises what the test says."""

    process_type: ClassVar[str] = "broken"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        raise self.error

    def render(self, request: StepRequest) -> Rendered:
        raise self.error

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        raise self.error


def prepare(
    handler: StepHandler, *, cause: Cause = Cause.AUTO, name: str = "load", ask: AskHandler = ask_straight
) -> Prepared:
    """Make a step of a handler ready."""
    step = a_step(handler.process_type, name=name, Data1="true")
    batch = BatchDefinition(batch_id=BatchId(1), name="B", entity="B", steps=(step,))
    preparer = Preparer(lambda _: handler, context("/"), "anna", "host1", "test", ask)
    return preparer.prepare(an_instance(), batch, step, attempt_no=3, cause=cause, now=NOW)


def test_a_step_made_ready_holds_its_command_and_its_exact_specification() -> None:
    ready = prepare(ToldHandler())

    assert ready.refused is None
    assert ready.command_text == "step 10 of 42 with None"
    assert ready.command_spec == '{"seq": 10}'


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (StepRefused("Data1 is empty.", next_step="batchctl check"), "Data1 is empty. Next: batchctl check"),
        (PluginError("there is no ProcessType 'x'"), "there is no ProcessType 'x'"),
        (RuntimeError("oops\x00\udcff"), "broke while rendering: RuntimeError: oops\\x00\\udcff"),
        (SystemExit(2), "broke while rendering: SystemExit: 2"),
    ],
)
def test_what_cannot_be_made_ready_says_why(error: BaseException, says: str) -> None:
    refused = prepare(Broken(error))

    assert refused.rendered is None
    assert says in (refused.refused or "")
    assert refused.command_text.startswith("-- not run: ")
    assert "\n" not in refused.command_text


@pytest.mark.parametrize(("error", "put_back"), [(CannotBegin("no such job here"), True), (StepRefused("no"), False)])
def test_only_what_this_host_lacks_is_put_back(error: Exception, put_back: bool) -> None:
    assert prepare(Broken(error)).put_back is put_back


def circular() -> dict[str, Any]:
    """Return what contains itself."""
    made: dict[str, Any] = {}
    made["again"] = made
    return made


def deep() -> dict[str, Any]:
    """Return what contains more than anybody can count."""
    made: dict[str, Any] = {}
    for _ in range(10**5):
        made = {"more": made}
    return made


@pytest.mark.parametrize(
    ("text", "spec", "said"),
    [
        ("true", {"what": object()}, "its spec is no JSON: Object of type object is not JSON serializable"),
        ("true", circular(), "its spec is no JSON: "),
        ("true", deep(), "its spec is no JSON: "),
        ("tr\x00ue", {}, "its command_text: it contains a NUL character"),
        ("tr\udcffue", {}, "its command_text: it contains bytes that are not valid UTF-8"),
        (None, {}, "its command_text is NoneType, not str"),
    ],
)
def test_what_no_table_can_hold_refuses_its_step_before_it_is_recorded(text: Any, spec: Any, said: str) -> None:
    class Unfit(ToldHandler):
        def render(self, request: StepRequest) -> Rendered:
            return Rendered(text, spec)

    refused = prepare(Unfit())

    assert f"What the handler of 'told' rendered cannot be recorded: {said}" in (refused.refused or "")
    assert "correct module tests.control.test_preparation" in (refused.refused or "")
    assert (refused.rendered, refused.put_back, refused.command_spec) == (None, False, NOTHING_RENDERED)


def test_what_is_delegated_stands_in_the_history_as_the_step_that_it_is_of() -> None:
    class Renaming(ToldHandler):
        def delegate(self, request: StepRequest) -> Step:
            return replace(request.step, seq=77, name="another\x00")

    step = prepare(Renaming()).step

    assert (step.seq, step.name) == (10, "load")


def test_a_handler_that_cannot_verify_is_said_to_be_so() -> None:
    refused = prepare(Broken(RuntimeError()), cause=Cause.VERIFY)

    assert "cannot verify" in (refused.refused or "")


def test_the_note_is_one_line_whatever_the_names_hold() -> None:
    notes: list[str] = []

    class Listening(ToldHandler):
        def render(self, request: StepRequest) -> Rendered:
            notes.append(request.note)
            return super().render(request)

    prepare(Listening(), name="two\nlines; rm -rf /")

    what = "BatchControl 42 of batch B, step 10 two\\nlines; rm -rf /, attempt 3 (auto)"
    assert notes == [f"{what}, 2026-11-21 03:00:00 UTC, on host1 as anna"]


def test_what_was_delegated_is_watched_over_as_what_it_is_carried_out_as() -> None:
    known: dict[str, Any] = {"task": Task(), "os_command": OsCommand()}
    preparer = Preparer(known.__getitem__, context("/"), "anna", "host1", "test")
    step = a_step("task", Data1="{Data2}", Data2="{Data3}")
    batch = BatchDefinition(batch_id=BatchId(1), name="Task", entity="Task", steps=(step,))
    instance = an_instance(Data3="sleep 8")
    begun = preparer.prepare(instance, batch, step, attempt_no=1, cause=Cause.AUTO, now=NOW)

    again = preparer.as_begun(step, an_entry(begun))

    assert isinstance(again.handler, OsCommand)
    assert (again.step.process_type, again.command_spec) == ("os_command", begun.command_spec)


def an_entry(begun: Prepared) -> HistoryEntry:
    """Return the row of what was made ready."""
    return HistoryEntry(
        history_id=HistoryId(1),
        instance_id=InstanceId(1),
        batch_id=BatchId(1),
        seq=begun.step.seq,
        step_name=begun.step.name,
        process_type=begun.step.process_type,
        attempt_no=1,
        claim_token=1,
        cause=Cause.AUTO,
        status=HistoryStatus.RUNNING,
        command_text=begun.command_text,
        command_spec=begun.command_spec,
        started_at=NOW,
    )


class Hanging(ToldHandler):
    """A handler that never answers what it is asked."""

    process_type: ClassVar[str] = "hanging"

    def render(self, request: StepRequest) -> Rendered:
        self._hang()

    def verification(self, step: Step) -> Step:
        self._hang()

    def is_done(self, outcome: StepOutcome) -> bool | None:
        self._hang()

    def _hang(self) -> NoReturn:
        while True:
            pass


class HangingDelegate(Hanging):
    """One that hangs before it says what is carried out instead."""

    def delegate(self, request: StepRequest) -> Step:
        self._hang()


@pytest.mark.parametrize(
    ("handler", "cause"),
    [(Hanging(), Cause.AUTO), (Hanging(), Cause.VERIFY), (HangingDelegate(), Cause.AUTO)],
)
def test_a_handler_that_hangs_refuses_its_step_and_is_not_asked_about_the_next(handler: Hanging, cause: Cause) -> None:
    ask = HandlerCalls(timedelta(milliseconds=50)).ask
    first, second = (prepare(handler, cause=cause, ask=ask) for _ in range(2))

    assert (first.rendered, first.put_back) == (None, False)
    assert "did not answer within 0.05 seconds, asked about BatchControl 42 of batch B" in (first.refused or "")
    assert (second.rendered, second.put_back) == (None, True)
    assert "It is not asked again for 30 seconds: " in (second.refused or "")


@pytest.mark.parametrize("cause", [Cause.AUTO, Cause.VERIFY])
def test_a_handler_that_raises_what_ends_programs_refuses_its_step(cause: Cause) -> None:
    class Ending(Broken):
        def verification(self, step: Step) -> Step:
            raise self.error

        def is_done(self, outcome: StepOutcome) -> bool | None:
            raise self.error

    handler, ask = Ending(GeneratorExit()), HandlerCalls().ask
    refused = prepare(handler, cause=cause, ask=ask)
    preparer = Preparer(lambda _: handler, context("/"), "anna", "host1", "test", ask)

    assert "The handler of 'broken' raised GeneratorExit, asked about BatchControl 42" in (refused.refused or "")
    assert preparer.is_done("broken", StepOutcome(succeeded=True)) is None


def test_a_check_that_is_never_read_tells_nothing() -> None:
    ask = HandlerCalls(timedelta(milliseconds=50)).ask
    preparer = Preparer(lambda _: Hanging(), context("/"), "anna", "host1", "test", ask)

    assert preparer.is_done("hanging", StepOutcome(succeeded=True)) is None


@pytest.mark.parametrize("error", [KeyError("n"), ValueError("n"), NoAnswer("no"), CannotBegin("not now")])
def test_whoever_watches_over_a_check_hears_that_its_handler_does_not_say_which(error: Exception) -> None:
    class Upgraded(ToldHandler):
        def verification(self, step: Step) -> Step:
            raise error

    preparer = Preparer(lambda _: Upgraded(), context("/"), "anna", "host1", "test")
    entry = replace(an_entry(prepare(ToldHandler())), cause=Cause.VERIFY)

    with pytest.raises(type(error)):
        preparer.as_begun(a_step("told"), entry)


def test_only_a_handler_of_the_product_is_believed_that_it_takes_no_time_on_the_controllers_thread() -> None:
    class Brief(ToldHandler):
        def render(self, request: StepRequest) -> Rendered:
            return Rendered("it hangs", {}, brief=True)

    foreign, own = prepare(Brief()).rendered, prepare(OsCommand()).rendered

    assert foreign is not None
    assert own is not None
    assert (foreign.brief, own.brief) == (False, True)
