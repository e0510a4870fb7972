"""`batchctl output`: what an attempt has written, so far or in all."""

from __future__ import annotations

import pytest

from batchctl.cli import output_command
from tests.cli.shop import Shop


@pytest.fixture
def ended(shop: Shop) -> Shop:
    """Return a shop where one instance has run."""
    shop.batch("Night", "printf 'one\\ntwo\\n'")
    shop.arrive("Night")
    assert shop("run", "--once") in {0, 2} or shop("create") == shop("process") == 0
    return shop


def running(shop: Shop) -> None:
    """Let the attempt stand as one under way that has written two parts."""
    shop.sql("UPDATE BatchProcessHistory SET Status = 'running', EndTime = NULL, Output = NULL")
    for number, text in ((1, "so "), (2, "far\x1b[31m\n")):
        shop.sql("INSERT INTO StepOutput (BatchProcessHistory_id, Number, Text) VALUES (1, ?, ?)", number, text)


def test_of_an_attempt_that_has_ended_it_is_what_was_recorded(ended: Shop) -> None:
    assert (ended("output", "1"), ended.out) == (0, "one\ntwo\n")
    assert ended.json("output", "1")["Output"] == "one\ntwo\n"
    assert (ended("output", "1", "--follow"), ended.out) == (0, "one\ntwo\n")


def test_of_one_that_runs_it_is_what_was_written_so_far(ended: Shop) -> None:
    running(ended)

    assert (ended("output", "1"), ended.out) == (0, "so far\x1b[31m\n")
    assert "batchctl output 1 --follow" in ended.err
    found = ended.json("output", "1", "--step", "10", "--attempt", "1")
    assert (found["Status"], found["Output"], found["EndTime"]) == ("running", "so far\x1b[31m\n", None)
    assert ended.sql("SELECT LastOutput FROM vRunning") == [("far\x1b[31m\n",)]


def test_to_follow_ends_with_the_attempt(ended: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    running(ended)

    class Ending:
        def __call__(self, *_: object) -> object:
            ended.sql("DELETE FROM StepOutput")
            ended.sql("UPDATE BatchProcessHistory SET Status = 'success', EndTime = StartTime, Output = 'all of it'")
            return lambda: None

    monkeypatch.setattr(output_command, "partial", Ending())

    assert (ended("output", "1", "--follow"), ended.out) == (
        0,
        "so far\x1b[31m\n[... it has ended; all that is recorded follows ...]\nall of it",
    )


@pytest.mark.parametrize("words", [("99",), ("1", "--step", "20"), ("1", "--attempt", "7")])
def test_what_is_not_there_is_not_found(ended: Shop, words: tuple[str, ...]) -> None:
    assert ended("output", *words) == 3
    assert "Next: batchctl" in ended.err


def test_to_follow_in_json_is_refused(ended: Shop) -> None:
    assert ended("output", "1", "--follow", "--json") == 2
