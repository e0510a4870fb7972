"""What an examination finds: one reading after the other."""

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
    """One thing that was looked at, what was found, and what to type when it is to be mended."""

    check: str
    result: Result
    message: str
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class MissingRights:
    """Rights that a user does not have on some tables, and what gives them to him."""

    user: str
    privileges: str
    tables: str
    grant: str
