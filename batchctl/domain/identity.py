"""Which process, or which session of a database, carries an execution."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What proves later whether an execution is still alive."""

    pid: int | None = None
    pid_start: str | None = None
    boot_id: str | None = None
    db_session: str | None = None
    spawned_at: datetime | None = None
