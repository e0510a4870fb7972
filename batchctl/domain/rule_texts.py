"""What the texts of `ProcessControl` say of retries, rows and hosts: RetryOn, RowsMin, RowsMax and Needs, each read once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from batchctl.domain.text import shorten, visible

TIMEOUT, ROWS = "timeout", "rows"
"""What stands there for failures that have no code: the step ran longer than MaxDuration; its rows are not as they should be."""
NO_RETRY = "no retry: RetryOn"
"""How a message goes on that says why the retries are skipped."""
_HOW = "exit codes (3, or 10-19), SQLSTATEs (40001), error numbers (1205), names (SQLITE_BUSY), timeout, rows"
_RANGE = re.compile(r"(-?\d{1,10})(?:\s*-\s*(-?\d{1,10}))?")
_NAME = re.compile(r"(?=.*[0-9])[0-9a-z]{5}|sqlite_[a-z_]+|timeout|rows")
LEARNED = "learned"
_ROWS = re.compile(r"\d{1,18}")
_NEED = re.compile(r"([A-Za-z0-9_-]+)\s*=\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_NEEDS = "between commas, names (letters, digits, _ and -) with how much is needed of each: GPU=1, MEMORY=8e9"
_ROUNDING = 1e-9
"""What was taken and given back as floating-point numbers does not always add up to what there was."""


@dataclass(frozen=True, slots=True)
class RetryOn:
    """The codes after which a step is tried again; everything else is final."""

    text: str
    ranges: tuple[tuple[int, int], ...]
    names: frozenset[str]

    def covers(self, *codes: int | str | None) -> bool:
        """Say whether one of the codes of a failure stands there."""
        return any(self._covers(str(code).strip().lower()) for code in codes if code is not None)

    def _covers(self, code: str) -> bool:
        if code in self.names:
            return True
        number = int(code) if re.fullmatch(r"-?\d{1,19}", code) else None
        return number is not None and any(first <= number <= last for first, last in self.ranges)


@lru_cache(maxsize=512)
def retry_on(text: str | None) -> RetryOn | None:
    """Read what stands in RetryOn; raises `ValueError` for anything else than codes between commas."""
    if text is None:
        return None
    ranges, names = list[tuple[int, int]](), set[str]()
    for part in text.split(","):
        code = part.strip().lower()
        span = _RANGE.fullmatch(code)
        if span is not None and int(span[1]) <= int(span[2] or span[1]):
            ranges.append((int(span[1]), int(span[2] or span[1])))
        elif span is None and _NAME.fullmatch(code):
            names.add(code)
        else:
            shown = shorten(visible(part.strip()), 40)
            message = f"RetryOn has '{shown}', and takes, between commas: {_HOW}"
            raise ValueError(message)
    return RetryOn(text.strip(), tuple(ranges), frozenset(names))


def row_bound(column: str, text: str | None) -> int | str | None:
    """Read a bound; raises `ValueError` for anything else than a number from 0 on, or `learned`."""
    if text is None:
        return None
    said = text.strip().lower()
    if said == LEARNED:
        return LEARNED
    if _ROWS.fullmatch(said):
        return int(said)
    message = (
        f"{column} is '{shorten(visible(text), 40)}', and has to be a number of rows, 0 or more, or the word {LEARNED}"
    )
    raise ValueError(message)


def check_order(least: int | str | None, most: int | str | None) -> None:
    """Raise `ValueError` where no number of rows could ever be right."""
    if isinstance(least, int) and isinstance(most, int) and least > most:
        message = f"RowsMin is {least}, and RowsMax is less: {most}"
        raise ValueError(message)


def needs_of(text: str) -> Mapping[str, float]:
    """Read what is needed, by name; raises `ValueError` for anything else than names with numbers above 0."""
    found: dict[str, float] = {}
    for part in text.split(","):
        shown = shorten(visible(part.strip()), 40)
        read = _NEED.fullmatch(part.strip())
        if read is None:
            message = f"Needs has '{shown}', and takes, {_NEEDS}"
            raise ValueError(message)
        name, amount = read[1], float(read[2])
        if not 0 < amount < math.inf:
            message = f"Needs has '{shown}': that has to be a number above 0, and not endless"
            raise ValueError(message)
        if name in found:
            message = f"Needs names {shorten(name, 40)} twice"
            raise ValueError(message)
        found[name] = amount
    return found


MOST_TIMES = 1_000_000
"""As many as no agent has slots for: a cluster may give a resource without an end."""


@dataclass(frozen=True, slots=True)
class HostNeeds:
    """What a step needs of the agent that carries it."""

    text: str
    amounts: Mapping[str, float] = field(hash=False)

    def are_met(self, left: Mapping[str, float]) -> bool:
        """Say whether what an agent has left is enough; of what it does not name it has nothing."""
        return all(left.get(name, 0) >= amount * (1 - _ROUNDING) for name, amount in self.amounts.items())

    def times(self, left: Mapping[str, float]) -> int:
        """Return for how many such steps what an agent has left is enough."""
        enough = (left.get(name, 0) / (amount * (1 - _ROUNDING)) for name, amount in self.amounts.items())
        return int(min(MOST_TIMES, *enough))


def taken_by(needs: Iterable[HostNeeds | None]) -> dict[str, float]:
    """Return what several steps take together."""
    found: dict[str, float] = {}
    for one in needs:
        if one is not None:
            found |= {name: found.get(name, 0) + amount for name, amount in one.amounts.items()}
    return found


@lru_cache(maxsize=512)
def host_needs(text: str | None) -> HostNeeds | None:
    """Read what stands in Needs; raises `ValueError` where that is no list of needs."""
    return None if text is None else HostNeeds(text.strip(), needs_of(text))
