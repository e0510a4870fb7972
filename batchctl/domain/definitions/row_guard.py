"""Whether a step has loaded as many rows as it should: within RowsMin and RowsMax, or as many as it usually does."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from statistics import median

from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import Step
from batchctl.domain.rule_texts import LEARNED, ROWS
from batchctl.domain.status import OnRows
from batchctl.domain.text import shorten, visible
from batchctl.domain.values import value

MOST_RUNS, LEAST_RUNS = 60, 10
"""From how many of its last runs a step learns at most, and at least: with fewer it says nothing."""
NEWEST = 5
"""How many of these a message shows."""
WIDTH = 5
"""How many times the median deviation from the median is usual."""
LEAST_PART = 10
"""What is usual in any case: this part of the median, more or less."""
UNUSUAL = "unusual number of rows: "
"""How the message goes on of a step that warns."""
_MARK = "batchctl-rows:"
_NUMBER = re.compile(r"[0-9]{1,18}")
_BUSINESS, _WEEKEND = "Monday to Friday", "Saturdays and Sundays"


@value
class Counts:
    """How many rows the last successes of a step had, newest first, on days like this one."""

    rows: tuple[int, ...]
    days: str


@value
class Band:
    """How many rows are as they should be; None where nothing is said."""

    least: int | None
    most: int | None
    runs: int | None = None
    """From how many runs it was learned, if it was."""

    def covers(self, rows: int) -> bool:
        """Say whether a number is in it."""
        return (self.least is None or rows >= self.least) and (self.most is None or rows <= self.most)

    @property
    def wording(self) -> str:
        """Return it for people."""
        if self.least is None and self.most is None:
            return "any number"
        if self.most is None:
            return f"{self.least} or more"
        return f"{self.most} or fewer" if self.least is None else f"{self.least} to {self.most}"


def days_like(cycle_key: str | None, at: datetime) -> str:
    """Return the class of a day: of the business date that CycleKey is, else of the day in UTC."""
    try:
        day = date.fromisoformat((cycle_key or "")[:10])
    except ValueError:
        day = at.date()
    return _BUSINESS if day.weekday() < 5 else _WEEKEND


def stated_in(output: str | None) -> str | None:
    """Return what stands behind `batchctl-rows:` in the last such line of what a step has written."""
    # Whatever it holds, each character is looked at once or twice: a controller waits for this.
    before, mark, behind = (output or "").rpartition(_MARK)
    while mark:
        if not before.rpartition("\n")[2].strip(" \t"):
            return behind.partition("\n")[0].strip(" \t\r")
        before, mark, behind = before.rpartition(_MARK)
    return None


def counted(outcome: StepOutcome) -> StepOutcome:
    """Return an outcome with the number of rows that the step has written, where nothing else knows it."""
    said = stated_in(outcome.output) if outcome.rows_affected is None else None
    if said is None or not _NUMBER.fullmatch(said):
        return outcome
    return replace(outcome, rows_affected=int(said))


def band_of(step: Step, counts: Counts | None) -> Band | None:
    """Return how many rows a step should have; None where that is to be learned, and too few runs are known."""
    learned = Band(None, None) if counts is None or not step.learns_rows else usual(counts.rows)
    if learned is None:
        return None
    least = step.rows_min if isinstance(step.rows_min, int) else learned.least if step.rows_min == LEARNED else None
    most = step.rows_max if isinstance(step.rows_max, int) else learned.most if step.rows_max == LEARNED else None
    return Band(least, most, learned.runs)


def usual(rows: Sequence[int]) -> Band | None:
    """Return what is usual by the last numbers, whatever single ones of them were; None when there are too few.

    No row at all is unusual where none of them was 0.
    """
    if len(rows) < LEAST_RUNS:
        return None
    known = rows[:MOST_RUNS]
    middle = median(known)
    width = max(WIDTH * median(abs(one - middle) for one in known), middle / LEAST_PART)
    least = max(math.floor(middle - width), 1 if min(known) > 0 else 0)
    return Band(least, math.ceil(middle + width), len(known))


def wrong_number(step: Step, outcome: StepOutcome, counts: Counts | None) -> str | None:
    """Say what is wrong with the number of rows of a step that went well; None where nothing is, or nothing is known."""
    band = band_of(step, counts)
    rows = outcome.rows_affected
    if band is None or (rows is not None and band.covers(rows)):
        return None
    if rows is None:
        said = stated_in(outcome.output)
        what = "it says none" if said is None else f"'batchctl-rows: {shorten(visible(said), 40)}' is no number"
    else:
        what = str(rows)
    return f"{what}, and has to be {band.wording}"


def message(wrong: str, step: Step, counts: Counts) -> str:
    """Return the message about a number of rows: with what it was learned from, and the newest numbers."""
    known = len(counts.rows[:MOST_RUNS])
    learned = f", learned from {known} runs on {counts.days}" if step.learns_rows else ""
    newest = ", ".join(map(str, counts.rows[:NEWEST])) or "none"
    return f"{wrong}{learned} (the newest on {counts.days}: {newest})"


def judged(step: Step, outcome: StepOutcome, wrong: str) -> StepOutcome:
    """Return what becomes of a success with such a number of rows: a failure, or a success that says so."""
    if step.on_rows is OnRows.WARN:
        said = f"{UNUSUAL}{wrong}"
        return replace(outcome, message=said if outcome.message is None else f"{outcome.message}; {said}")
    return replace(outcome, succeeded=False, error_code=ROWS, message=f"wrong number of rows: {wrong}")


def warning_in(message: str | None) -> str | None:
    """Return what the message of a success says about its number of rows, if anything."""
    _, found, said = (message or "").rpartition(UNUSUAL)
    return said if found else None


def expected(step: Step, counts: Counts) -> str:
    """Say how many rows a step should have, or that too few of its runs are known, and what follows else."""
    band = band_of(step, counts)
    if band is None:
        known = f"{len(counts.rows)} of the {LEAST_RUNS} runs on {counts.days} that have to be known"
        return f"nothing is learned yet: {known}"
    learned = "" if band.runs is None else f" (learned from {band.runs} runs on {counts.days})"
    return f"{band.wording}{learned}, else it {'warns' if step.on_rows is OnRows.WARN else 'fails'}"
