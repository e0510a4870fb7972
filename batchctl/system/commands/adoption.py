"""What becomes of the commands of a worker that is gone: found out from its journal and from what is alive."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path

from batchctl.domain.commands import Identity
from batchctl.ports import Trace
from batchctl.system.commands import journal
from batchctl.system.commands.journal import JournalPast
from batchctl.system.commands.left_over import stop_rest
from batchctl.system.host import platform
from batchctl.system.host.cookies import cookie_of

_LOOK_AT_LOCK = 1.0
"""Seconds after which to ask again whether a silent supervisor lives."""


def watch(state: Path, claimed_by: str, key: int) -> CommandWatch | None:
    """Return what watches a command, if the journal of the worker that began it knows of it."""
    place = journal.place_of(state, claimed_by)
    found = _look(place)
    return CommandWatch(place, key) if found is not None and found[0].knows(key) else None


def examine(state: Path, claimed_by: str, key: int, recorded: Identity, *, is_own: bool = False) -> Trace:
    """Return what has become of a command that a worker may have begun: another one, unless it `is_own`.

    Only that worker's journal is asked: a database that was restored gives out its numbers again, and another
    worker's journal may know an execution of the same number. Without that journal, which may be in another directory
    or another user's, there is only what is seen alive, and the process that the history has `recorded`.
    """
    own = journal.place_of(state, claimed_by)
    found = _look(own)
    if found is not None and found[0].knows(key):
        return _trace_of(*found, key)
    if is_own:
        # Its end was recorded, and forgotten here, before an older database was restored.
        return Trace.UNCLEAR if seen_alive(claimed_by, key, recorded) else Trace.GONE
    if found is None:
        return Trace.UNCLEAR if seen_alive(claimed_by, key, recorded) else Trace.UNSEEN
    past, lives = found
    # After a loss of power a journal may lack what was written last.
    if past.boot_id is None or past.boot_id != platform.boot_id():
        return Trace.GONE
    if lives:
        return Trace.NEVER_RAN if past.is_orphaned else Trace.UNSTARTED
    return Trace.NEVER_RAN if past.is_closed or journal.close(own) else Trace.UNCLEAR


def seen_alive(claimed_by: str, key: int, recorded: Identity) -> Sequence[int]:
    """Return the process ids of what is seen alive of a command: the recorded one, and whatever carries its cookie."""
    return platform.find_left_over(cookie_of(claimed_by, key), recorded)


def stop_left_over(state: Path, claimed_by: str, key: int, grace: float) -> Sequence[int]:
    """Stop what is left of a command that has no watcher; return the process ids found alive."""
    found = _look(journal.place_of(state, claimed_by))
    return () if found is None else stop_rest(found[0], key, grace)


def tidy(state: Path, living: Collection[str], live: Collection[int]) -> None:
    """Remove the journals of workers that are gone, unless they hold what is not recorded yet.

    A worker that is not entered as living need not be gone: it may be about to enter itself.
    """
    for place in journal.places(state) - {journal.place_of(state, name) for name in living}:
        journal.remove_if(place, lambda past: _is_over(past, live))


def _is_over(past: JournalPast, live: Collection[int]) -> bool:
    if past.pid is not None and past.boot_id == platform.boot_id() and platform.started(past.pid) == past.pid_start:
        return False
    return (past.begun.keys() | past.ended.keys()).isdisjoint(live)


class CommandWatch:
    """Looks now and then how a command of another worker is doing."""

    def __init__(self, place: Path, key: int) -> None:
        """Look for the first time."""
        self.key = key
        self.place = place
        self.past = JournalPast()
        self.is_lost = False
        self._seen = (0, 0)
        self._looked_at = float("-inf")
        self.look()

    def look(self) -> None:
        """Bring `past` and `is_lost` up to date."""
        try:
            seen, now = journal.state_of(self.place), time.monotonic()
            if seen == self._seen and now < self._looked_at + _LOOK_AT_LOCK:
                return
            lives = journal.is_locked(self.place)
            self._seen, self._looked_at = seen, now
            self.past = journal.read(self.place)
        except OSError:
            lives = False
        self.is_lost = not lives and self.key not in self.past.ended


def _look(place: Path) -> tuple[JournalPast, bool] | None:
    """Read a journal, and look whether its supervisor lives. None when there is no journal."""
    try:
        # In this order: a supervisor that has ended by then has written everything.
        lives = journal.is_locked(place)
        past = journal.read(place)
        return past, lives or journal.is_locked(place)
    except OSError:
        return None


def _trace_of(past: JournalPast, lives: bool, key: int) -> Trace:  # noqa: FBT001 - as `_look` returns it
    if key in past.ended:
        return Trace.ADOPTABLE
    if lives and key not in past.abandoned:
        # Where process ids mean other processes, it could not be stopped.
        return Trace.ADOPTABLE if past.boot_id == platform.boot_id() else Trace.UNCLEAR
    return Trace.LEFT_OVER
