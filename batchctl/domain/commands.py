"""Operating-system commands: what is to be run, how it ended, and what tells whether an execution still runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Command:
    """An operating-system command: a program with its arguments, started without a shell."""

    argv: Sequence[str]
    directory: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables besides those that the controller has itself; may hold secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnd:
    """How an operating-system command ended. Exactly one of exit_code, signal_name, not_started is set."""

    exit_code: int | None = None
    signal_name: str | None = None
    not_started: str | None = None
    """Why the command could not be started, in words."""
    output: str = ""
    """Standard output and error as one text, decoded leniently, capped: both ends are kept, and the cut is noted."""
    stopped: bool = False
    """True when it was told to stop."""
    left_behind: bool = False
    """True when processes it had started outlived it and were stopped."""
    out_of_reach: bool = False
    """True when something it had started still holds its output, and could not be found to be stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What proves later whether an execution is still alive."""

    pid: int | None = None
    pid_start: str | None = None
    boot_id: str | None = None
    db_session: str | None = None
    spawned_at: datetime | None = None
