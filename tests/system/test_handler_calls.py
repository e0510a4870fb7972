"""Step handlers of plugins are asked within a time limit, whatever their code does; one that hangs is left alone."""

from __future__ import annotations

import re
import signal
import threading
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from time import sleep  # noqa: TID251 - plugins do

import pytest

from batchctl.domain.errors import BatchctlError, CannotBegin, PluginError, StepRefused
from batchctl.domain.rows import InstanceId
from batchctl.system.plugins.handler_calls import HandlerCalls
from step_handlers.os_command import OsCommand

SOON, LONG, NEVER = timedelta(milliseconds=50), timedelta(seconds=30), timedelta(0)
HERE: ContextVar[str] = ContextVar("here", default="nowhere")


class Foreign:
    """A handler that comes from a plugin; what it does, the question says."""

    process_type = "foreign"


class Other(Foreign):
    """Another one."""


def loop() -> None:
    while True:
        pass


def catch_everything() -> None:
    while True:
        try:
            sleep(10**6)
        except BaseException:  # noqa: BLE001 - as some plugins do
            sleep(0.01)


@pytest.mark.parametrize(
    "question",
    [
        loop,
        lambda: sleep(10**6),
        lambda: re.match("^(a+)+$", "a" * 60 + "!"),
        lambda: threading.Event().wait(),
    ],
)
def test_whatever_it_hangs_in_is_interrupted_and_said(question: Callable[[], object]) -> None:
    calls = HandlerCalls(SOON)
    with pytest.raises(PluginError) as said:
        calls.ask(Foreign(), "step 10 of batch B", question, of=InstanceId(7))

    expected = "The handler of 'foreign' did not answer within 0.05 seconds, asked about step 10 of batch B."
    assert said.value.message == expected
    assert "tests.system.test_handler_calls" in (said.value.next_step or "")
    assert said.value.code == "BC1264"
    assert [(hang.error, hang.of) for hang in calls.hangs] == [(said.value, 7)]


def test_one_that_hung_is_left_alone_for_a_while_and_others_are_asked() -> None:
    calls = HandlerCalls(SOON, rest=LONG)
    with pytest.raises(PluginError):
        calls.ask(Foreign(), "step 10", loop)
    asked = list[str]()
    with pytest.raises(CannotBegin, match=r"It is not asked again for 30 seconds: .* asked about step 10"):
        calls.ask(Foreign(), "step 20", lambda: asked.append("too soon"))

    assert asked == []
    assert calls.ask(Other(), "step 30", lambda: "answer") == "answer"
    assert calls.hangs


def test_what_it_answers_after_its_rest_ends_what_is_said_of_it() -> None:
    calls = HandlerCalls(SOON, rest=NEVER)
    with pytest.raises(PluginError):
        calls.ask(Foreign(), "step 10", loop)
    with pytest.raises(ZeroDivisionError):
        calls.ask(Foreign(), "step 20", lambda: 1 // 0)

    assert not calls.hangs


def on_a_thread_of_its_own(work: Callable[[], None]) -> None:
    """Do what an alarm cannot interrupt."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_where_there_is_no_alarm_it_is_left_alone_until_it_has_answered() -> None:
    calls, goes_on = HandlerCalls(SOON), threading.Event()
    said = list[str]()

    def ask() -> None:
        with pytest.raises(PluginError):
            calls.ask(Foreign(), "step 10", goes_on.wait)
        with pytest.raises(CannotBegin, match="It is not asked again before it has answered: "):
            calls.ask(Foreign(), "step 20", lambda: said.append("too soon"))
        assert calls.hangs
        goes_on.set()
        while calls.hangs:
            with suppress(CannotBegin):
                calls.ask(Foreign(), "step 30", lambda: said.append("answer"))

    on_a_thread_of_its_own(ask)
    assert said == ["answer"]


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("error", [ValueError("no"), StepRefused("Data1 is empty."), CannotBegin("no such job here")])
def test_answers_errors_and_context_are_as_without_a_limit(elsewhere: bool, error: Exception) -> None:
    calls, found = HandlerCalls(LONG), list[object]()

    def fail() -> None:
        raise error

    def ask() -> None:
        HERE.set("in the controller")
        found.append(calls.ask(Foreign(), "step 10", HERE.get))
        with pytest.raises(type(error)) as raised:
            calls.ask(Foreign(), "step 10", fail)
        found.append(raised.value)

    on_a_thread_of_its_own(ask) if elsewhere else ask()
    assert found == ["in the controller", error]
    assert not calls.hangs


@pytest.fixture
def heard_signals() -> Iterator[None]:
    """Hear of Ctrl-C as a controller does."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_signals")
@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(2), "SystemExit: 2"),
        (CancelledError(), "CancelledError"),
        (GeneratorExit(), "GeneratorExit"),
        (KeyboardInterrupt("a plugin's\nown"), r"KeyboardInterrupt: a plugin's\nown"),
    ],
)
def test_what_would_end_the_program_is_said_of_its_handler(elsewhere: bool, error: BaseException, said: str) -> None:
    calls, found = HandlerCalls(LONG), list[BatchctlError]()

    def fail() -> None:
        raise error

    def ask() -> None:
        with pytest.raises(PluginError) as raised:
            calls.ask(Foreign(), "step 10", fail)
        found.append(raised.value)

    on_a_thread_of_its_own(ask) if elsewhere else ask()
    assert found[0].message == f"The handler of 'foreign' raised {said}, asked about step 10."
    assert "tests.system.test_handler_calls" in (found[0].next_step or "")
    assert found[0].code == "BC1290"


def test_ctrl_c_of_a_person_is_passed_on() -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    # Whoever runs the tests in the background has switched it off.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            HandlerCalls(LONG).ask(Foreign(), "step 10", fail)
    finally:
        signal.signal(signal.SIGINT, before)


def test_one_that_catches_the_interruption_is_interrupted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchctl.system.plugins.handler_calls.AGAIN", 0.003)
    with pytest.raises(PluginError, match="did not answer"):
        HandlerCalls(SOON).ask(Foreign(), "step 10", catch_everything)


def test_an_alarm_that_comes_too_early_interrupts_nothing() -> None:
    def alarmed() -> str:
        signal.raise_signal(signal.SIGALRM)
        return "answer"

    calls = HandlerCalls(LONG)

    assert calls.ask(Foreign(), "step 10", alarmed) == "answer"
    assert not calls.hangs


def test_where_no_thread_can_be_begun_the_step_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(work: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    calls, said = HandlerCalls(LONG), list[str]()
    monkeypatch.setattr(calls._threads, "run", refuse)

    def ask() -> None:
        with pytest.raises(CannotBegin) as error:
            calls.ask(Foreign(), "step 10", lambda: None)
        said.append(error.value.message)

    on_a_thread_of_its_own(ask)
    assert said == ["The system refused to start another thread: can't start new thread."]


def test_a_handler_of_the_product_is_asked_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = HandlerCalls(LONG)
    monkeypatch.delattr(HandlerCalls, "_within_limit")

    assert calls.ask(OsCommand(), "step 10", threading.current_thread) is threading.current_thread()
