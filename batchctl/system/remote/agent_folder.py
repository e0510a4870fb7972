"""Where an agent remembers what it does: a folder of its own, and tokens that all agents of a host share."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from batchctl.system.commands import journal
from batchctl.system.host import platform
from batchctl.system.host.permissions import make_private_folder
from batchctl.system.remote.token_journal import TokenJournal

OLD = 7 * 86400.0
"""Seconds after which a token is not asked for any more: what it lets start is refused as late long before."""
TRIAL = "trial-"
"""What the name of a control database begins with that stands for none: a pool was tried."""
_LOCK = "agent"


class AgentFolder:
    """The folder of one start of an agent, which holds its lock as long as it lives."""

    def __init__(self, state: Path, boot: str) -> None:
        """Make it, and take its lock."""
        self._agents, self._tokens = state / "agents", state / "tokens"
        self._own = self._agents / boot
        make_private_folder(self._own)
        self._lock = (self._own / _LOCK).open("ab")
        platform.try_lock(self._lock.fileno())

    def of(self, database_id: str, pool: str) -> Path:
        """Return where commands of one pool of a control database are remembered."""
        return self._own / f"{database_id}@{hashlib.sha256(pool.encode()).hexdigest()[:12]}"

    def tokens(self, database_id: str) -> TokenJournal:
        """Return what is known of the attempts of one control database."""
        return TokenJournal(self._tokens / database_id)

    def tidy(self) -> None:
        """Remove what agents have left that are gone, once their supervisors have ended, and tokens of long ago."""
        for folder in self._agents.iterdir():
            if folder != self._own:
                _remove_if_gone(folder)
        for token in self._tokens.glob("*/*"):
            with suppress(FileNotFoundError):  # Another agent of this host does the same.
                if token.stat().st_mtime < time.time() - OLD:
                    token.unlink()
        for trial in self._tokens.glob(f"{TRIAL}*"):
            with suppress(OSError):  # It is under way.
                trial.rmdir()

    def close(self) -> None:
        """Give the lock back."""
        self._lock.close()


def _remove_if_gone(folder: Path) -> None:
    with _own_lock(folder) as is_gone:
        if is_gone and not any(journal.is_locked(place) for each in folder.iterdir() for place in journal.places(each)):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _own_lock(folder: Path) -> Iterator[bool]:
    """Yield whether the lock of a folder could be taken; one without a lock is about to be locked."""
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        yield False
        return
    try:
        yield platform.try_lock(descriptor)
    finally:
        os.close(descriptor)
