"""What keeps batches from starting anything for a while, whatever their own flags say."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.rows import NEVER, BatchDefinition, Freeze
from batchctl.domain.text import is_invisible, typed, visible
from batchctl.domain.values import named_value


def tag_finding(text: str | None) -> str | None:
    """Return what is wrong with `ProcessBatch.Tags`; None when nothing is."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",")]
    folded = [name.casefold() for name in names]
    if not all(names):
        return "there is no name between two of its commas, or none at all"
    if any(is_invisible(character) for character in text):
        return "it contains invisible characters"
    return None if len({*folded}) == len(folded) else "it names a tag twice"


@named_value
class Scope:
    """What is frozen: a batch, the batches with a tag, or, without either, everything. Tags ignore letter case."""

    batch: str | None = None
    tag: str | None = None

    def covers(self, name: str, tags: Iterable[str]) -> bool:
        """Say whether a batch is part of it."""
        if self.tag is not None:
            return self.tag.strip().casefold() in {tag.casefold() for tag in tags}
        return self.batch is None or self.batch == name

    def is_of(self, freeze: Freeze) -> bool:
        """Say whether a freeze has just that scope."""
        if self.tag is None or freeze.tag is None:
            return (self.batch, self.tag) == (freeze.batch, freeze.tag)
        return self.tag.strip().casefold() == freeze.tag.strip().casefold()

    def __str__(self) -> str:
        """Name it as the subject of a sentence."""
        if self.tag is not None:
            return f"every batch with tag '{visible(self.tag)}'"
        return "everything" if self.batch is None else f"batch {visible(self.batch)}"


def scope_of(freeze: Freeze) -> Scope:
    """Return what is frozen."""
    return Scope(batch=freeze.batch, tag=freeze.tag)


def holding(batch: BatchDefinition, now: datetime) -> Freeze | None:
    """Return what freezes a batch at this moment, if anything does: of several the one that lasts longest."""
    if not batch.freezes:
        return None
    return longest(freeze for freeze in batch.freezes if freeze.holds(now))


def longest(found: Iterable[Freeze]) -> Freeze | None:
    """Return the one that lasts longest; the oldest of several."""
    best: Freeze | None = None
    for freeze in found:
        if best is None or ends_later(freeze, best):
            best = freeze
    return best


def ends_later(one: Freeze, other: Freeze) -> bool:
    """Say whether one freeze lasts longer than another."""
    return other.until is not None and (one.until is None or one.until > other.until)


def end_of(text: str, now: datetime) -> datetime | None:
    """Read when a freeze is to end, as a length of time from now or as a time, in UTC unless it says its zone."""
    written = text.strip()
    if (length := length_of(written)) is not None:
        return now + length
    try:
        at = datetime.fromisoformat(written)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def next_end(batches: Iterable[BatchDefinition], now: datetime) -> datetime | None:
    """Return when the next freeze ends by itself."""
    ends = {freeze.until for batch in batches for freeze in batch.freezes}
    return min((end for end in ends if end is not None and end > now), default=None)


def wording(freeze: Freeze, verb: str = "is") -> str:
    """Describe what is frozen, since when, by whom, why and until when."""
    since = f"since {freeze.since:%Y-%m-%d %H:%M:%S} UTC, {_until(freeze)}"
    return f"{scope_of(freeze)} {verb} frozen {since}, by {visible(freeze.actor)}: {visible(freeze.reason)}"


def planned(freeze: Freeze) -> str:
    """Describe what would be frozen, and until when."""
    return f"{scope_of(freeze)}, {_until(freeze)}"


def _until(freeze: Freeze) -> str:
    if freeze.until == NEVER:
        return "until somebody thaws it, for its UntilTime holds no time"
    return "until somebody thaws it" if freeze.until is None else f"until {freeze.until:%Y-%m-%d %H:%M:%S} UTC"


def thawing(freeze: Freeze) -> str:
    """Return the command that ends a freeze."""
    of = ""
    if freeze.tag is not None:
        of = f" --tag {typed(freeze.tag)}"
    elif freeze.batch is not None:
        of = f" --batch {typed(freeze.batch)}"
    return f"batchctl thaw{of} --reason ..."
