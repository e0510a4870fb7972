"""How much work something is: counted, because a clock tells as much of the machine and its neighbours as of the code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def work_of(act: Callable[[], object]) -> int:
    """Return how many functions are called when it is done, Python's own included: the same on every machine."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return calls
