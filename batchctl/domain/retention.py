"""How long what is over is kept: as rows of `Setting` say it, and else for ever, but for the scheduler log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from batchctl.domain.text import visible

LOG_DAYS, AUDIT_DAYS = "SchedulerLogDays", "AuditLogDays"
NAMES = (LOG_DAYS, AUDIT_DAYS)
"""The names in `Setting`."""
FOREVER = "forever"
LONGEST = 36_500
"""Days, after which nobody will ask any more."""
LOG_USUALLY = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A setting that cannot be meant so: because of it nothing goes, rather than too much."""

    name: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """For how long everything is kept; None: for ever."""

    scheduler_log: timedelta | None
    audit_log: timedelta | None
    mistakes: tuple[Mistake, ...] = ()


def rules_of(written: Mapping[str, str]) -> Rules:
    """Read the rules from the settings, by name."""
    mistakes: list[Mistake] = []

    def age(name: str, usually: timedelta | None = None) -> timedelta | None:
        said = written.get(name)
        if said is None:
            return usually
        length = _age(said)
        if isinstance(length, str):
            mistakes.append(Mistake(name, length))
            return None
        return length

    return Rules(scheduler_log=age(LOG_DAYS, LOG_USUALLY), audit_log=age(AUDIT_DAYS), mistakes=tuple(mistakes))


def _age(said: str) -> timedelta | str | None:
    """Return an age, None for an endless one, or what is wrong with what somebody has written."""
    said = said.strip()
    if said.lower() == FOREVER:
        return None
    days = int(said) if said.isascii() and said.isdecimal() and len(said) <= len(str(LONGEST)) else 0
    if 1 <= days <= LONGEST:
        return timedelta(days=days)
    wanted = f"a whole number of days from 1 to {LONGEST}, or {FOREVER}"
    return f"It says '{visible(said)}', which is not {wanted}, so nothing is purged by it."
