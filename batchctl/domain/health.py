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
class Reading:
    """One thing that was looked at, what was found, and what to type when it is to be mended."""

    check: str
    result: Result
    message: str
    next_step: str | None = None
