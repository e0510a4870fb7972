"""A console at work, and what a person does first in a browser."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.acceptance.installation import PATIENCE, StartBatchctl, Started
from tests.acceptance.night import Night


@dataclass
class Console:
    """A console at work on a night, and the terminal it was started on."""

    night: Night
    start: StartBatchctl
    worker: Started
    address: str
    code: str

    @classmethod
    def begin(cls, night: Night, start: StartBatchctl, port: int = 0) -> Console:
        worker = start("web", "--port", str(port), cwd=night.folder, env=night.environment)
        assert worker.stdout is not None
        line = worker.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found is not None, line
        return cls(night, start, worker, found[0], worker.stdout.readline().split()[1])

    def enter(self, page: Page, path: str = "/") -> Page:
        """Log in by the code, and go to a page."""
        page.goto(f"{self.address}/login")
        page.get_by_label("Code").fill(self.code)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"{self.address}/")
        self.take_next_code()
        if path != "/":
            page.goto(f"{self.address}{path}")
        return page

    def take_next_code(self) -> None:
        """Read the code that the terminal shows once the last one was used."""
        assert self.worker.stdout is not None
        self.code = self.worker.stdout.readline().split()[1]

    def restart(self) -> None:
        """End it and begin it again at the same address."""
        self.end()
        begun = Console.begin(self.night, self.start, int(self.address.rpartition(":")[2]))
        self.worker, self.code = begun.worker, begun.code

    def end(self) -> None:
        self.worker.send_signal(signal.SIGTERM)
        self.worker.communicate(timeout=PATIENCE)
