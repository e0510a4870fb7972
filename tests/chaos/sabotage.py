"""Engines broken on purpose: what the rig must find, to be believed when it finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _forget_on_lost() -> None:
    """A lost step is ready again, whatever its OnLost says."""
    from batchctl.domain import moves, status  # noqa: PLC0415 - only the broken process is to be broken

    def lost(instance: Any, batch: Any, end: Any, now: Any) -> moves.Move:
        del batch, end
        return moves._standing(instance, status.InstanceVerb.RETRY_AT, next_run_time=now)

    moves._after_lost = lost


KINDS: dict[str, Callable[[], None]] = {
    "forgets-on-lost": _forget_on_lost,
}
