"""Questions on threads: a few at once, each with its answer, and none that hangs keeps anybody waiting."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from batchctl.system.plugins.inquiries import ThreadInquiries

LONG = timedelta(seconds=30)


def all_answers(inquiries: ThreadInquiries) -> dict[int, object]:
    found: dict[int, object] = {}
    while inquiries.is_busy:
        inquiries.wait()
        found |= {answer.key: answer.found or answer.error for answer in inquiries.answers()}
    return found


def test_every_question_is_answered_and_what_it_raises_is_its_answer() -> None:
    inquiries = ThreadInquiries(LONG)
    broken = ValueError("no")

    def fail() -> None:
        raise broken

    assert inquiries.ask(1, lambda: "one")
    assert inquiries.ask(2, fail)

    assert all_answers(inquiries) == {1: "one", 2: broken}
    assert not inquiries.is_busy


def test_no_more_than_a_few_are_asked_at_once() -> None:
    together = threading.Barrier(2)
    at_once, most, lock = [0], [0], threading.Lock()

    def question() -> bool:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        together.wait(30)
        with lock:
            at_once[0] -= 1
        return True

    inquiries = ThreadInquiries(LONG, at_once=2)
    for key in range(6):
        assert inquiries.ask(key, question)

    assert all_answers(inquiries) == dict.fromkeys(range(6), True)
    assert most == [2]


def test_the_same_is_not_asked_twice_at_the_same_time() -> None:
    goes_on = threading.Event()
    inquiries = ThreadInquiries(LONG, at_once=1)
    inquiries.ask(1, lambda: goes_on.wait(30))
    inquiries.ask(2, lambda: True)

    assert not inquiries.ask(1, lambda: False)
    assert not inquiries.ask(2, lambda: False)
    goes_on.set()

    assert all_answers(inquiries) == {1: True, 2: True}
    assert inquiries.ask(1, lambda: True)


def test_one_that_hangs_is_told_once_gives_its_place_up_and_is_not_asked_again_until_it_ends() -> None:
    goes_on, ended = threading.Event(), threading.Event()

    def hang() -> str:
        goes_on.wait(30)
        return "late"

    inquiries = ThreadInquiries(timedelta(milliseconds=50), ended.set, at_once=1)
    inquiries.ask(1, hang)
    found = all_answers(inquiries)
    assert str(found[1]) == "There was no answer within 0.05 seconds."
    assert not inquiries.ask(1, lambda: "again")
    inquiries.ask(2, lambda: "another")
    assert all_answers(inquiries) == {2: "another"}
    ended.clear()

    goes_on.set()
    assert ended.wait(30)
    assert inquiries.answers() == []
    assert inquiries.ask(1, lambda: "again")
    assert all_answers(inquiries) == {1: "again"}


def test_whoever_waits_elsewhere_is_woken() -> None:
    woken = threading.Event()
    inquiries = ThreadInquiries(LONG, woken.set)
    inquiries.ask(1, lambda: True)

    assert woken.wait(30)
    assert [answer.found for answer in inquiries.answers()] == [True]


def test_where_no_thread_can_be_begun_the_same_may_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    inquiries = ThreadInquiries(LONG)
    none_left = RuntimeError("can't start new thread")

    def refuse(thread: threading.Thread) -> None:
        raise none_left

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        assert inquiries.ask(1, lambda: "one")
        assert all_answers(inquiries) == {1: none_left}
    assert inquiries.ask(1, lambda: "one")
    assert all_answers(inquiries) == {1: "one"}


def test_who_waits_for_a_while_only_is_not_kept_by_one_that_hangs() -> None:
    goes_on = threading.Event()
    inquiries = ThreadInquiries(LONG)
    assert inquiries.ask(1, lambda: goes_on.wait(30))
    inquiries.wait(timedelta(milliseconds=10))

    assert inquiries.answers() == []
    goes_on.set()
    assert all_answers(inquiries) == {1: True}
