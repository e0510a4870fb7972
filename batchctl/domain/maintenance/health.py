"""What an examination finds: one finding after the other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """How grave it is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One thing that was looked at, what was found, and what to type to correct it."""

    check: str
    result: Result
    message: str
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class MissingRights:
    """Rights that a user does not have on some tables, and the statements that grant them."""

    user: str
    privileges: str
    tables: str
    grant: str
