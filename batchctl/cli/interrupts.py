"""Signals that end what runs until it is interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def signals_to(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM call `stop`; yield the list of what was received."""
    received: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        del frame
        received.append(number)
        stop()

    heard = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, hear) for number in heard]
    try:
        yield received
    finally:
        for number, handler in zip(heard, before, strict=True):
            signal.signal(number, handler)
