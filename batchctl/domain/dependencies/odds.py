"""What many replays of a night say together: by when, with which chance, and how far to trust that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

from batchctl.domain.values import value

MEDIAN, NEARLY = 0.5, 0.9
"""The levels at which a forecast says when: as often later as earlier, and one night in ten later."""
ENOUGH = 20
"""Of how many past nights a forecast knows at least that says `NEARLY`."""

Moment = TypeVar("Moment", int, float)


def at_rank(ends: Sequence[Moment | None], level: float, nights: int | None = None) -> Moment | None:
    """Return the end that a share of nights does not exceed; None where that takes a person, or more nights.

    Of n nights it is the one at rank ceil((n + 1) * level): a quantile of the few that there are would be exceeded too often.
    `nights` says how many there are where the ends are of replays, which are more but know no more. Ends that are None
    are those of nights that do not end by themselves: they are later than all others.
    """
    many = nights or len(ends)
    if not many:
        return None
    rank = math.ceil(math.ceil((many + 1) * level) * len(ends) / many)
    known = sorted(end for end in ends if end is not None)
    return known[rank - 1] if 0 < rank <= len(known) else None


def share_by(ends: Sequence[Moment | None], by: Moment) -> float | None:
    """Return in which share of nights it is done by a moment; None where there is no night."""
    return sum(end is not None and end <= by for end in ends) / len(ends) if ends else None


def pinball(level: float, stated: float, came: float) -> float:
    """Return what a forecast at a level costs: each second too early `level`, each too late the rest."""
    return (came - stated) * level if came >= stated else (stated - came) * (1 - level)


@value
class Score:
    """How forecasts at one level have done."""

    many: int
    covered: int
    """How many ended no later than was stated."""
    loss: float
    """The mean pinball loss, in seconds."""

    @property
    def coverage(self) -> float:
        """Return the share that ended no later than was stated."""
        return self.covered / self.many


def score(level: float, pairs: Iterable[tuple[float, float]]) -> Score | None:
    """Score what was stated and what came; None where there is nothing to score."""
    made = list(pairs)
    if not made:
        return None
    loss = sum(pinball(level, stated, came) for stated, came in made) / len(made)
    return Score(len(made), sum(came <= stated for stated, came in made), loss)
