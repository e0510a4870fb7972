"""What has changed between two looks at the database, as far as pages of the console go by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from batchctl.domain.rows import BatchId, InstanceId

_INSTANCE = "BatchControl:"


class InstanceTrace(NamedTuple):
    """That an instance is under way, was made, or has got an attempt; the mark tells one such time from another."""

    instance_id: InstanceId
    batch_id: BatchId
    mark: int


@dataclass(frozen=True, slots=True)
class Traces:
    """What one look finds."""

    claimed: frozenset[InstanceTrace] = frozenset()
    """Of the instances under way."""
    newest: frozenset[InstanceTrace] = frozenset()
    """Of the newest instances and attempts."""
    acts: frozenset[tuple[int, str]] = frozenset()
    """The newest rows of the audit log, and what they are about."""
    marks: frozenset[tuple[str, int]] = frozenset()
    """What stands for everything else."""
    is_whole: bool = True
    """Whether all that is new was found: one look reads so much and no more."""


@dataclass(frozen=True, slots=True)
class News:
    """What has changed: in which instances of which batches, or what may concern any of them."""

    instances: frozenset[InstanceId] = frozenset()
    batches: frozenset[BatchId] = frozenset()
    has_acts: bool = False
    """Whether people have acted on instances: it is not known of which batches these are."""
    is_at_large: bool = False
    """Whether it may concern any instance and any batch."""
    is_elsewhere: bool = False
    """Whether something has changed that is in no instance."""

    def __bool__(self) -> bool:
        """Say whether anything has changed."""
        return bool(self.instances or self.is_at_large or self.is_elsewhere)


ANYTHING = News(is_at_large=True)


@dataclass(frozen=True, slots=True)
class Followed:
    """What a page goes by: all news, or those of one instance, or those of one batch."""

    instance_id: InstanceId | None = None
    batch_id: BatchId | None = None

    def hears(self, news: News) -> bool:
        """Say whether news concern the page."""
        if news.is_at_large:
            return True
        if self.instance_id is not None:
            return self.instance_id in news.instances
        if self.batch_id is not None:
            return self.batch_id in news.batches or news.has_acts
        return bool(news)


EVERYTHING = Followed()


def news_between(before: Traces | None, now: Traces) -> News:
    """Return what has changed since the look before; at the first look that may be anything."""
    if before is None or not now.is_whole:
        return ANYTHING
    changed = (before.claimed ^ now.claimed) | (now.newest - before.newest)
    about = {target for _, target in now.acts - before.acts}
    acted_on = {target for target in about if target.startswith(_INSTANCE)}
    numbers = (target.removeprefix(_INSTANCE) for target in acted_on)
    return News(
        instances=frozenset(one.instance_id for one in changed).union(
            InstanceId(int(at)) for at in numbers if at.isdecimal()
        ),
        batches=frozenset(one.batch_id for one in changed),
        has_acts=bool(acted_on),
        is_at_large=about != acted_on,
        is_elsewhere=now.marks != before.marks,
    )
