"""What is hinted at in each state of an instance is done: no hint names a command that refuses there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from batchctl.cli.main import cli
from batchctl.cli.session import CliSession
from tests.cli.shop import Shop

STATES = ["ready", "retry", "failed", "held", "pausing", "paused", "cancelling", "cancelled", "complete", "running"]
LOOKS = [
    "show 1",
    "why 1",
    "why file:1",
    "why batch:Load",
    "status",
    "history 1",
    "inbox show 1",
    "batches",
    "incidents",
]
ACTS = ["rerun 1", "skip 1", "pause 1", "resume 1", "cancel 1"]
COMMAND = re.compile(r"batchctl ((?:[\w:./-]+|\.\.\.|'[^']*')(?: (?:[\w:./=-]+|\.\.\.|'[^']*'))*)")
LATER = re.compile(r"then|first|once|when|changes")


@pytest.fixture
def loaded(shop: Shop) -> Shop:
    """An instance of two steps, the first of which has failed once."""
    shop.batch("Load", "false")
    shop.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        " VALUES (1, 20, 'more', 'os_command', 'true')"
    )
    shop.arrive("Load", FileName="/in/a.csv")
    shop("run", "--once")
    assert shop.sql("SELECT Status FROM BatchControl") == [("failed",)]
    return shop


def stand(shop: Shop, state: str) -> None:
    """Let the instance stand so, and its row with it."""
    seq = 20 if state == "complete" else 0
    shop.sql("UPDATE BatchControl SET Status = ?, PrevProcessControlSeq = ?", state, seq)
    is_over = state in {"complete", "cancelled"}
    shop.sql("UPDATE FileProcess SET Status = ?", "complete" if is_over else "ready")
    if state not in {"failed", "held"}:
        shop.sql("DELETE FROM AlertDelivery")
        shop.sql("DELETE FROM Incident")


def named(printed: str) -> Iterator[list[str]]:
    """Yield every command that is hinted at and can be done at once, with what is left out filled in."""
    for line in printed.splitlines():
        for part in re.split(r"; |   \(|, then|(?<=\.\.\.)   or: ", line):
            found = COMMAND.search(part)
            if found is None or LATER.search(part[: found.start()].replace("Next", "")):
                continue
            words = found[1].replace("--reason ...", "--reason x").replace("SEQ", "10").rstrip(".,:").split("=...")
            yield shlex.split(words[0])


def only_looking(words: list[str]) -> list[str]:
    """Return the option with which a command does nothing, if it does anything."""
    context = click.Context(cli, obj=CliSession(config=None, debug=False))
    command = cli.get_command(context, words[0])
    if isinstance(command, click.Group) and len(words) > 1:
        command = command.get_command(context, words[1])
    assert command is not None, words
    acts = any("--dry-run" in one.opts for one in command.params)
    return ["--dry-run"] if acts and "--dry-run" not in words else []


def refused(shop: Shop, printed: str) -> list[str]:
    """Return which of the commands that a text names refuse."""
    found = []
    for words in named(printed):
        if words[0] in {"run", "create", "process", "wait"} or "--help" in words:
            continue
        if shop(*words, *only_looking(words)) not in {0, 6}:
            found.append(f"{shlex.join(words)}: {shop.err.strip()}")
    return found


@pytest.mark.parametrize(
    "state", [state if state == "failed" else pytest.param(state, marks=pytest.mark.full) for state in STATES]
)
def test_no_command_refuses_that_is_hinted_at_for_who_looks(loaded: Shop, state: str) -> None:
    stand(loaded, state)
    found = {}
    for look in LOOKS:
        loaded(*look.split())
        found[look] = refused(loaded, loaded.out + loaded.err)

    assert {look: said for look, said in found.items() if said} == {}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.full
def test_no_command_refuses_that_is_hinted_at_for_who_acts(loaded: Shop, state: str, act: str) -> None:
    stand(loaded, state)
    loaded(*act.split(), "--reason", "x", "--yes")

    assert refused(loaded, loaded.out + loaded.err) == []
