"""When a schedule is due, without what was decided already: a key stays decided, whatever moment it stood for then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from batchctl.domain.catch_up import SINGLY
from batchctl.domain.due import Instant, InstantOutcome, Plan
from batchctl.domain.rows import IntakeId
from batchctl.domain.values import value

BUNCH = 500
"""About how many keys are asked at once."""

_AHEAD = timedelta(days=2)
_TICK = timedelta(milliseconds=1)


@value
class Before:
    """What a key was decided for before."""

    due: datetime
    intake_id: IntakeId | None
    """None where it was skipped."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A plan that passes over the keys that are decided; what is asked once is remembered."""

    plan: Plan
    ask: Callable[[Sequence[str]], Mapping[str, Before]]
    """Returns those of some keys that are decided."""
    passed: list[tuple[Instant, Before]] = field(default_factory=list)
    """What `next_after` has passed over that was decided as the due time of another moment."""
    _known: dict[str, Before | None] = field(default_factory=dict)

    def instants(self, after: datetime, until: datetime) -> Iterator[Instant]:
        """Yield what is due after one moment and not after another, and is not decided."""
        return (instant for instant, before in self._looked_up(after, until) if before is None)

    def next_after(self, after: datetime) -> Instant | None:
        """Return the first that is neither skipped nor decided."""
        found = self.plan.next_after(after)
        while found is not None and found.due is not None and self._before([found])[found.key] is not None:
            start = found.due
            for instant, before in self._looked_up(start - _TICK, start + _AHEAD):
                if instant.outcome is InstantOutcome.SKIPPED:
                    continue
                if before is None:
                    return instant
                if before.due != instant.due:
                    self.passed.append((instant, before))
            found = self.plan.next_after(start + _AHEAD)
        return found

    def told(self) -> Iterator[tuple[str, IntakeId | None]]:
        """Yield what is to be said of those that `next_after` has passed over, of many only one thing."""
        many = len(self.passed) > SINGLY
        for instant, before in self.passed[-1:] if many else self.passed:
            how = "skipped" if before.intake_id is None else f"file:{before.intake_id}"
            said = f"{instant.key} was decided already as {how}"
            yield (
                f"{len(self.passed):,} due times were decided already; of the last: {said}" if many else said,
                before.intake_id,
            )

    def _looked_up(self, after: datetime, until: datetime) -> Iterator[tuple[Instant, Before | None]]:
        every, size = self.plan.instants(after, until), 8
        while bunch := list(islice(every, size)):
            before = self._before(bunch)
            yield from ((instant, before[instant.key]) for instant in bunch)
            size = min(size * 4, BUNCH)

    def _before(self, instants: Sequence[Instant]) -> Mapping[str, Before | None]:
        if new := [each.key for each in instants if each.key not in self._known]:
            self._known.update(dict.fromkeys(new) | dict(self.ask(new)))
        return self._known
