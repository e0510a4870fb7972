"""A controller that dies, as if its power were cut, at a named commit: its arguments are `CONFIG C7 before 2 [leads]`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from batchctl import config
from batchctl.app import App
from batchctl.node import Node
from batchctl.ports import Boundary

DEATH = 86
"""The exit code of a controller that died where it should."""


def entry() -> None:
    """Process, with the leader's other duties or without, and die before or after the nth transaction of the boundary."""
    _, file, boundary, when, nth, *more = sys.argv
    app = App(config.load(file))
    run = app.transactions.run
    left = int(nth)

    def cut(boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        nonlocal left
        left -= boundary in boundaries
        dies = boundary in boundaries and left == 0
        if dies and when == "before":
            os._exit(DEATH)
        result = run(boundaries, work, nowait=nowait)
        if dies:
            os._exit(DEATH)
        return result

    app.transactions.run = cut  # type: ignore[method-assign] # the cut is the test
    node = Node(app)
    if "leads" in more:
        node.run(once=True)
    else:
        node.create()
        node.process()
