"""What is left of a command whose supervisor is gone."""

from __future__ import annotations

from collections.abc import Sequence

from batchctl.domain.commands import Identity
from batchctl.system.commands.journal import JournalPast
from batchctl.system.host import platform
from batchctl.system.host.cookies import cookie_of


def find_rest(past: JournalPast, key: int) -> Sequence[int]:
    """Find what is left of a command, wherever it has gone; return the process ids."""
    return platform.find_left_over(cookie_of(past.controller_id, key), _identity(past, key))


def stop_rest(past: JournalPast, key: int, grace: float) -> Sequence[int]:
    """Stop what is left of a command, wherever it has gone; return the process ids found alive."""
    return platform.stop_left_over(cookie_of(past.controller_id, key), _identity(past, key), grace)


def _identity(past: JournalPast, key: int) -> Identity:
    begun = past.begun.get(key, {})
    return Identity(pid=begun.get("pid"), pid_start=begun.get("pid_start"), boot_id=past.boot_id)
