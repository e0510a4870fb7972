"""Processes that stand still, but not in the middle of what would keep everybody else waiting."""

from __future__ import annotations

import os
import signal

from tests.hand import Hand

_IN_THE_MIDDLE = (
    # What others do is over in far less.
    "SELECT 1 FROM pg_sleep(0.3), pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    " AND xact_start < clock_timestamp() - INTERVAL '0.2 seconds'"
)


def freeze(hand: Hand, kind: str, *pids: int) -> None:
    """Stop processes that work on a database, none of which keeps its file, or rows of it, then."""
    if kind == "sqlite":
        hand.begin_writing()
        _send(signal.SIGSTOP, pids)
        hand.sql("ROLLBACK")
        return
    _send(signal.SIGSTOP, pids)
    while hand.sql(_IN_THE_MIDDLE):
        _send(signal.SIGCONT, pids)
        hand.sql("SELECT pg_sleep(0.05)")
        _send(signal.SIGSTOP, pids)


def _send(number: int, pids: tuple[int, ...]) -> None:
    for pid in pids:
        os.kill(pid, number)
