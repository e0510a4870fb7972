"""When a schedule is due, without what was decided already: a key stays decided, whatever moment it stood for then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

from batchctl.domain.rows import IntakeId
from batchctl.domain.scheduling.catch_up import SINGLY, due_of
from batchctl.domain.scheduling.due import Instant, InstantOutcome, Plan
from batchctl.domain.scheduling.schedules import ScheduleFire
from batchctl.domain.status import FireOutcome
from batchctl.domain.values import value

BUNCH = 500
"""About how many keys are looked up at once."""

_AHEAD = timedelta(days=2)
_TICK = timedelta(milliseconds=1)


@value
class Before:
    """What a key was decided for before."""

    key: str
    outcome: FireOutcome
    due: datetime
    intake_id: IntakeId | None
    """None where it was skipped, and where that row is gone."""
    reason: str | None

    def moved_to(self, instant: Instant) -> str | None:
        """Say that it was decided as the due time of another day; None where it was not."""
        return None if self.key == instant.key else f"due as {self.key} before its calendar was changed"


Decided = TypeVar("Decided", Before, ScheduleFire)
"""A record of how a key was decided."""


def keys_of(instant: Instant) -> Iterator[str]:
    """Yield the keys that decide about an instant: its own, and those of the days that a shift has led over."""
    yield instant.key
    yield from (one.key for one in instant.led_over)


def standing_for(instant: Instant, decided: Mapping[str, Decided | None]) -> tuple[Instant, Decided | None]:
    """Return an instant as it is to start work, and what has decided it, if anything has.

    Work of a shifted one may have been started before the calendar was changed: on a day that was none off then, which
    stood for all days farther away. What is left is due for the rest.
    """
    own = decided.get(instant.key)
    if own is not None or not instant.led_over:
        return instant, own
    fired, rest = None, instant.led_over
    for at, one in enumerate(instant.led_over):
        before = decided.get(one.key)
        if before is not None and before.outcome is FireOutcome.FIRED:
            fired, rest = before, instant.led_over[at + 1 :]
    left = [one.day for one in rest if one.is_stood_for]
    if fired is None or not left:
        return instant, fired
    return replace(instant, business_date=min(left)), None


@dataclass(frozen=True, slots=True)
class Undecided:
    """A plan without the keys that are decided; each key is looked up once."""

    plan: Plan
    ask: Callable[[Sequence[str]], Mapping[str, Before]]
    """Returns those of some keys that are decided."""
    passed: list[tuple[Instant, Before]] = field(default_factory=list)
    """What `next_after` has passed over that was decided as the due time of another moment."""
    _known: dict[str, Before | None] = field(default_factory=dict)

    def instants(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield what is due after one moment and not after another, and is not decided."""
        return (instant for instant, before in self.looked_up(after, until) if before is None)

    def next_after(self, after: datetime) -> Instant | None:
        """Return the first that is neither skipped nor decided."""
        found = self.plan.next_after(after)
        while found is not None and found.due is not None:
            found, before = standing_for(found, self._before([found]))
            if before is None:
                return found
            start = due_of(found)
            for instant, before in self.looked_up(start - _TICK, start + _AHEAD):
                if instant.outcome is InstantOutcome.SKIPPED:
                    continue
                if before is None:
                    return instant
                if before.due != instant.due:
                    self.passed.append((instant, before))
            found = self.plan.next_after(start + _AHEAD)
        return found

    def announced(self) -> Iterator[tuple[str, IntakeId | None]]:
        """Yield the messages about those that `next_after` has passed over, one message if there are many."""
        many = len(self.passed) > SINGLY
        for instant, before in self.passed[-1:] if many else self.passed:
            said = _wording(instant, before)
            yield (
                f"{len(self.passed):,} due times were decided already; of the last: {said}" if many else said,
                before.intake_id,
            )

    def looked_up(self, after: datetime, until: datetime) -> Iterator[tuple[Instant, Before | None]]:
        """Yield what is due after one moment and not after another, with what has decided it."""
        every, size = self.plan.instants(after, until), 8
        while bunch := list(islice(every, size)):
            before = self._before(bunch)
            yield from (standing_for(instant, before) for instant in bunch)
            size = min(size * 4, BUNCH)

    def _before(self, instants: Sequence[Instant]) -> Mapping[str, Before | None]:
        if new := [key for each in instants for key in keys_of(each) if key not in self._known]:
            self._known.update(dict.fromkeys(new) | dict(self.ask(list(dict.fromkeys(new)))))
        return self._known


def _wording(instant: Instant, before: Before) -> str:
    how = before.outcome.value if before.intake_id is None else f"file:{before.intake_id}"
    return ", ".join(filter(None, (f"{instant.key} was decided already as {how}", before.moved_to(instant))))
