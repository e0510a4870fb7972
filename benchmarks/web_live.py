"""200 open tabs beside a controller that works: what they cost it, and the console.

A real console (`batchctl web`) and the tabs are processes of their own; the controller works in this one, on `noop` steps
with eight slots. One tab in ten shows what is happening now, the others one instance that is over. Rounds with and without
them take turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks import web_pages

TABS = 200


@dataclass
class Cost:
    """What a round with tabs has cost the console."""

    looks: float = 0.0
    """A second."""
    others: float = 0.0
    """Other statements a second: of pages that were asked for again."""
    pages: float = 0.0
    """Asked for again, a second."""
    busy: float = 0.0
    """How much of a processor the console takes, in per cent."""
    mb: float = 0.0
    """Memory of the console, by the tab."""

    @classmethod
    def median(cls, rounds: Sequence[Cost]) -> Cost:
        """Return of each figure the median of the rounds."""
        return cls(*(statistics.median(getattr(one, each.name) for one in rounds) for each in fields(cls)))

    def __str__(self) -> str:
        """Show it within a line."""
        return (
            f"{TABS} tabs cost {self.looks:.2f} looks and {self.others:.1f} other statements a second for"
            f" {self.pages:.1f} pages, {self.busy:.1f} % of a processor, {self.mb:.2f} MB each"
        )


@contextmanager
def tabs(file: Path, cost: Cost) -> Iterator[None]:
    """Open a console and its tabs beside a controller at work, and note what they cost."""
    counts = file.parent / "statements.json"
    program = [sys.executable, "-m", "benchmarks.counted_console", str(counts)]
    begun = time.perf_counter()
    with web_pages.console(file, program) as (port, cookie, process):
        before = _memory(process)
        command = [sys.executable, "-m", "benchmarks.open_tabs", str(port), cookie, str(TABS)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as browser:
            assert browser.stdin is not None
            assert browser.stdout is not None
            assert browser.stdout.readline().strip() == "open"
            opened, computed = time.perf_counter(), _computed(process)
            yield
            took = time.perf_counter() - opened
            cost.busy = 100 * (_computed(process) - computed) / took
            cost.mb = (_memory(process) - before) / TABS / 1e6
            browser.stdin.close()
            cost.pages = json.loads(browser.stdout.readline())["pages"] / took
    seconds = time.perf_counter() - begun
    found = json.loads(counts.read_text(encoding="utf-8"))
    cost.looks, cost.others = found.get("looks", 0) / seconds, found.get("others", 0) / seconds


def _memory(process: int) -> int:
    """Return how many bytes of memory a process has."""
    pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _computed(process: int) -> float:
    """Return how many seconds a process has computed."""
    fields_behind_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields_behind_name[11:13])) / os.sysconf("SC_CLK_TCK")
