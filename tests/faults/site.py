"""Where faults are tried: a folder with a control database, real controllers, and steps that leave a line each."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import IO, TypeVar

from tests.acceptance.installation import RunBatchctl, StartBatchctl, Started
from tests.acceptance.test_controller import Shop
from tests.control_databases import ControlDatabase
from tests.standing_still import freeze

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds after which what has not come is not waited for any more."""
EFFECTS = "effects"
WAITS = "echo $$ > fifo; read go < fifo;"
"""What a step does that is heard, and let go on."""


def until(found: Callable[[], T]) -> T:
    """Wait until something is so; return it."""
    pause, give_up = threading.Event(), monotonic() + PATIENCE
    while monotonic() < give_up:
        if thing := found():
            return thing
        pause.wait(0.05)
    raise AssertionError(f"it never came: {found.__code__.co_names}")


class Running:
    """A command that goes on; what it says on standard error is read as it comes."""

    def __init__(self, process: Started) -> None:
        """Listen to it."""
        self.process = process
        self.pid = process.pid
        self.wording: list[str] = []
        self._news = threading.Condition()
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()

    def hear(self, word: str, times: int = 1, seconds: float = PATIENCE) -> None:
        """Wait until it has said a word so often."""
        seen = found = 0

        def is_enough() -> bool:
            nonlocal seen, found
            found += sum(word in line for line in self.wording[seen:])
            seen = len(self.wording)
            return found >= times or not self._ear.is_alive()

        with self._news:
            self._news.wait_for(is_enough, seconds)
        assert found >= times, f"{word} was not said {times} times: {self.wording[-5:]}"

    def count(self, word: str) -> int:
        """Count the lines that hold a word."""
        return sum(word in line for line in self.wording)

    def send(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it, and return its exit code once all that it has said is read."""
        self.send(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end; return its exit code."""
        code = self.process.wait(PATIENCE)
        self._ear.join(PATIENCE)
        return code

    def _listen(self) -> None:
        if self.process.stderr is not None:
            with self.process.stderr as heard:
                for line in heard:
                    with self._news:
                        self.wording.append(line)
                        self._news.notify_all()
        with self._news:
            self._news.notify_all()


class Site(Shop):
    """The folder."""

    def __init__(self, database: ControlDatabase, start: StartBatchctl, run: RunBatchctl) -> None:
        """Make the folder ready."""
        self.running: list[Running] = []
        self.effects_file = database.directory / EFFECTS
        self.effects_file.touch()
        super().__init__(database, start, run)
        if database.kind == "sqlite":
            self.hand.sql(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")

    def configure(self, more: str = "", *, shutdown_grace: int = 1) -> None:
        """Write the configuration."""
        super().configure(f'state_directory = "state"\n{more}', shutdown_grace=shutdown_grace)

    def control(self, *options: str, stderr: int | IO[str] = subprocess.PIPE) -> Running:
        """Start a controller."""
        started = self._start("run", *options, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=stderr)
        return self.keep(Running(started))

    def keep(self, running: Running) -> Running:
        """End a command with the test."""
        self.running.append(running)
        return running

    @staticmethod
    def leaves_a_line(seq: int = 1, first: str = "") -> str:
        """Return a command that leaves a line with its instance and its number, and does something else first."""
        return f"sh -c {shlex.quote(f'{first} echo $0/{seq} >> {EFFECTS}')} {{BatchControl_id}}"

    def hear_all(self) -> list[int]:
        """Wait until a step has begun that names several processes."""
        return [int(pid) for pid in self.fifo.read_text(encoding="ascii").split()]

    def go(self) -> None:
        """Let the step go on that says its process and waits."""
        self.fifo.write_text("go\n", encoding="ascii")

    def submit_many(self, entity: str, names: Sequence[str]) -> None:
        """Drop rows in one transaction."""
        self.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES (?, ?)", [(entity, name) for name in names])

    def effects(self) -> Counter[str]:
        """Return how often each step of each instance left its line."""
        return Counter(self.effects_file.read_text(encoding="ascii").split())

    @property
    def database_file(self) -> Path:
        """The file of a SQLite database."""
        return self.directory / "batchctl.db"

    def wait_for_complete(self, number: int) -> None:
        """Wait until so many instances are complete."""
        until(lambda: self.value("SELECT count(*) FROM BatchControl WHERE Status = 'complete'") == number)

    def freeze(self, *pids: int) -> None:
        """Let processes stand still, but none that keeps others from the database."""
        freeze(self.hand, self.database.kind, *pids)

    def attempts(self) -> list[tuple[object, ...]]:
        """Return instance, step, attempt and status of all attempts."""
        return self.hand.sql(
            "SELECT BatchControl_id, ProcessControlSeq, AttemptNo, Status FROM BatchProcessHistory"
            " ORDER BY BatchProcessHistory_id"
        )

    def check_laws(self) -> None:
        """Let `fsck` look whether every law holds."""
        looked = self.run("fsck")
        assert looked.returncode == 0, looked.stdout + looked.stderr

    def close(self) -> None:
        """End what still runs."""
        for one in self.running:
            one.process.kill()
            one.wait()
        super().close()


@contextmanager
def opened(database: ControlDatabase, start: StartBatchctl, run: RunBatchctl) -> Iterator[Site]:
    """Open a folder, and leave nothing that runs."""
    site = Site(database, start, run)
    try:
        yield site
    finally:
        site.close()


def kill(*pids: int) -> None:
    """Kill processes at once."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def back_up(source: Path, target: Path) -> None:
    """Copy a SQLite database into another as its own backup does, whoever works in either."""
    with closing(sqlite3.connect(source)) as taken, closing(sqlite3.connect(target, timeout=PATIENCE)) as given:
        taken.backup(given)
