"""What keeps batches from starting anything for a while, whatever their own flags say."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from batchctl.domain.rows import BatchDefinition, Freeze
from batchctl.domain.text import is_invisible, typed, visible


def tags_of(text: str | None) -> tuple[str, ...]:
    """Return the names that stand in `ProcessBatch.Tags`, between commas."""
    return () if text is None else tuple(name for part in text.split(",") if (name := part.strip()))


def tag_problem(text: str | None) -> str | None:
    """Say what is wrong with `ProcessBatch.Tags`; None when nothing is."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",")]
    folded = [name.casefold() for name in names]
    if not all(names):
        return "there is no name between two of its commas, or none at all"
    if any(is_invisible(character) for character in text):
        return "it contains characters that nobody can see"
    return None if len({*folded}) == len(folded) else "it names a tag twice"


def concerns(freeze: Freeze, name: str, tags: Iterable[str]) -> bool:
    """Say whether a freeze is of a batch; names of tags are the same in any letter case."""
    if freeze.tag is not None:
        return freeze.tag.strip().casefold() in {tag.casefold() for tag in tags}
    return freeze.batch is None or freeze.batch == name


def holding(batch: BatchDefinition, now: datetime) -> Freeze | None:
    """Return what freezes a batch at this moment, if anything does: of several the one that lasts longest."""
    if not batch.freezes:
        return None
    found = [freeze for freeze in batch.freezes if freeze.holds(now)]
    endless = (freeze for freeze in found if freeze.until is None)
    ending = max((freeze for freeze in found if freeze.until is not None), key=lambda at: (at.until, 0), default=None)
    return next(endless, ending)


def next_end(batches: Iterable[BatchDefinition], now: datetime) -> datetime | None:
    """Return when the next freeze ends by itself."""
    ends = {freeze.until for batch in batches for freeze in batch.freezes}
    return min((end for end in ends if end is not None and end > now), default=None)


def subject(freeze: Freeze) -> str:
    """Say what is frozen."""
    if freeze.tag is not None:
        return f"every batch with tag '{visible(freeze.tag)}'"
    return "everything" if freeze.batch is None else f"batch {visible(freeze.batch)}"


def said(freeze: Freeze) -> str:
    """Say what is frozen, since when, by whom, why and until when."""
    until = "until somebody thaws it" if freeze.until is None else f"until {freeze.until:%Y-%m-%d %H:%M:%S} UTC"
    since = f"since {freeze.since:%Y-%m-%d %H:%M:%S} UTC, {until}"
    return f"{subject(freeze)} is frozen {since}, by {visible(freeze.actor)}: {visible(freeze.reason)}"


def thawing(freeze: Freeze) -> str:
    """Return the command that ends a freeze."""
    of = ""
    if freeze.tag is not None:
        of = f" --tag {typed(freeze.tag)}"
    elif freeze.batch is not None:
        of = f" --batch {typed(freeze.batch)}"
    return f"batchctl thaw{of} --reason ..."
