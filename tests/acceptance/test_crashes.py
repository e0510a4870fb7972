"""A crash never loses work and never runs a step twice unasked: real processes, killed at every commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from batchctl import config
from batchctl.app import App
from batchctl.node import Node
from tests.acceptance import dying_controller
from tests.acceptance.dying_controller import DEATH
from tests.acceptance.installation import clean_environment
from tests.control_databases import ControlDatabase, SqliteControl
from tests.loaded_batchctl import LoadedBatchctl

APPEND = 'printf "%s\\n" "$1" >> effects'


class Shop:
    """A folder with a database, a batch of three steps that leave a line each, and two files to process."""

    def __init__(self, database: ControlDatabase, loaded: LoadedBatchctl, on_lost: str, retries: int) -> None:
        directory = self.directory = database.directory
        self.loaded = loaded
        self.file = directory / "batchctl.toml"
        self.file.write_text(
            f'database_url = "{database.url}"\nstop_grace = 1\nstate_directory = "state"\n', encoding="utf-8"
        )
        (directory / "effects").touch()
        (directory / "append.sh").write_text(APPEND, encoding="utf-8")
        self.hand = database.hand()
        self.hand.sql(
            "INSERT INTO ProcessBatch (ProcessBatchName, RetryCount, RetryWaitMins) VALUES ('B', ?, 0)", retries
        )
        for seq in (10, 20, 30):
            command = f"sh append.sh {{BatchControl_id}}/{seq}"
            self.hand.sql(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, OnLost)"
                " SELECT ProcessBatch_id, ?, 'append', 'os_command', ?, ? FROM ProcessBatch WHERE ProcessBatchName = 'B'",
                seq,
                command,
                on_lost,
            )
        self.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', ?)", [("1",), ("2",)])

    def die(self, boundary: str, when: str, nth: int) -> int:
        """Run a controller that dies there; return its exit code."""
        words = [str(self.file), boundary, when, str(nth)]
        done = self.loaded.run(*words, cwd=self.directory, env=clean_environment(), program=dying_controller.__name__)
        return done.returncode

    def go_on(self) -> None:
        """Let controllers that live finish whatever may be finished without a person."""
        app = App(config.load(str(self.file)))
        node = Node(app)
        node.create()
        node.process()
        app.close()

    def effects(self) -> Counter[str]:
        """Return how often each step of each instance left its line."""
        return Counter((self.directory / "effects").read_text(encoding="utf-8").split())


DEATHS = [
    (boundary, when, nth)
    for boundary, times in (("C2", (1, 2)), ("C3", (1, 2)), ("C4", (1, 2, 4)), ("C7", (1, 2, 4)))
    for when in ("before", "after")
    for nth in times
]


@pytest.fixture
def open_shop(sqlite_database: SqliteControl, loaded_batchctl: LoadedBatchctl) -> Iterator[Callable[..., Shop]]:
    """Opens the shop, and closes it in the end. Servers are for the kill rig, which cuts at the same points."""
    with ExitStack() as stack:

        def opened(on_lost: str, retries: int = 0) -> Shop:
            shop = Shop(sqlite_database, loaded_batchctl, on_lost, retries)
            stack.callback(shop.hand.close)
            return shop

        yield opened


@pytest.mark.parametrize(("boundary", "when", "nth"), DEATHS)
def test_with_hold_nothing_runs_twice_and_nothing_is_forgotten(
    open_shop: Callable[..., Shop], boundary: str, when: str, nth: int
) -> None:
    shop = open_shop("hold")
    died = shop.die(boundary, when, nth)
    shop.go_on()

    assert died == DEATH
    assert shop.hand.sql("SELECT Status FROM BatchControl") == [("complete",), ("complete",)]
    # The supervisor knows what became of each step: nobody has to ask a person.
    assert shop.effects() == Counter(["1/10", "1/20", "1/30", "2/10", "2/20", "2/30"])


@pytest.mark.parametrize(("boundary", "when", "nth"), [("C4", "after", 2), ("C7", "before", 2), ("C7", "after", 3)])
def test_with_rerun_the_next_controller_goes_on_by_itself(
    open_shop: Callable[..., Shop], boundary: str, when: str, nth: int
) -> None:
    shop = open_shop("rerun", retries=2)
    assert shop.die(boundary, when, nth) == DEATH
    shop.go_on()

    assert shop.hand.sql("SELECT Status FROM BatchControl") == [("complete",), ("complete",)]
    assert sorted(shop.effects()) == ["1/10", "1/20", "1/30", "2/10", "2/20", "2/30"]
