"""Where a real command dies, or stands still, at a named commit: `C7:after:2`. Nothing of it is in the product."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from batchctl.ports import Boundary

SPAWN = "spawn"
"""Not a commit: the moment between the commit of a step's beginning and its process."""

OF_WORKERS = ("C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C12", "C15", "C16", SPAWN)
OF_INTAKE = ("C1",)
OF_PEOPLE = ("C11",)


@dataclass(frozen=True, slots=True)
class Cut:
    """A moment: before, inside or after the nth transaction that crosses a boundary; inside is before its COMMIT."""

    boundary: str
    when: str
    nth: int
    stops: bool = False
    """True when the process is to be stopped there, not killed."""

    @classmethod
    def read(cls, text: str) -> Self:
        boundary, when, nth, *rest = text.split(":")
        return cls(boundary, when, int(nth), rest == ["stop"])

    def __str__(self) -> str:
        return f"{self.point}:{self.nth}{':stop' if self.stops else ''}"

    @property
    def point(self) -> str:
        """Name the moment, whichever time it comes."""
        return f"{self.boundary}:{self.when}"


def points(boundaries: tuple[str, ...]) -> Iterator[str]:
    """Yield every moment there is at some boundaries."""
    for boundary in boundaries:
        for when in ("before", "after") if boundary == SPAWN else ("before", "inside", "after"):
            yield f"{boundary}:{when}"


def install(cut: Cut) -> None:
    """Let this process die there."""
    times = 0

    def reach(when: str) -> None:
        if times == cut.nth and when == cut.when:
            os.write(2, f"cut at {cut}\n".encode())
            os.kill(os.getpid(), signal.SIGSTOP if cut.stops else signal.SIGKILL)

    def context(act: Callable[[], Any]) -> Any:
        nonlocal times
        times += 1
        reach("before")
        result = act()
        reach("after")
        return result

    if cut.boundary == SPAWN:
        _cut_starts(context)
    else:
        _cut_commits(Boundary(cut.boundary), context, reach)


def _cut_commits(boundary: Boundary, context: Callable[[Callable[[], Any]], Any], reach: Callable[[str], None]) -> None:
    from batchctl.store.transactions import StoreTransactions  # noqa: PLC0415 - the rig itself has no use for it

    run = StoreTransactions.run

    def cut(
        self: StoreTransactions, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False
    ) -> Any:
        if boundary not in boundaries:
            return run(self, boundaries, work, nowait=nowait)

        def worked(connection: Any) -> Any:
            result = work(connection)
            reach("inside")
            return result

        return context(lambda: run(self, boundaries, worked, nowait=nowait))

    StoreTransactions.run = cut  # type: ignore[method-assign] # the cut is the test


def _cut_starts(context: Callable[[Callable[[], Any]], Any]) -> None:
    from batchctl.system.runner import ThreadStepRunner  # noqa: PLC0415 - the rig itself has no use for it

    start = ThreadStepRunner.start

    def cut(self: ThreadStepRunner, *given: Any, **named: Any) -> None:
        context(lambda: start(self, *given, **named))

    ThreadStepRunner.start = cut  # type: ignore[method-assign] # the cut is the test
