"""What becomes of instances that have waited while their batch was disabled or frozen, once they might all start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from batchctl.domain.rows import InstanceId
from batchctl.domain.values import named_value

MOST_UNASKED = 1
"""How many may start without a person having chosen what becomes of them."""
MOST_PER_MINUTE = 10_000
"""How many a throttle may let start a minute."""


class Release(StrEnum):
    """What is to become of them: they start, the older ones are cancelled, they are paused, or they start slowly."""

    ALL = "all"
    LATEST = "latest"
    NONE = "none"
    THROTTLE = "throttle"


MEANINGS: Mapping[str, str] = {
    Release.ALL: "all of them start, in their order",
    Release.LATEST: "only the newest of each batch starts; the older ones are cancelled",
    Release.NONE: "none starts: they are paused until somebody resumes them",
    Release.THROTTLE: "all of them start, only so many a minute",
}
"""What each means, for people who choose."""


@named_value
class Choice:
    """What a person has chosen; `per_minute` is for a throttle."""

    release: Release
    per_minute: int | None = None
    most: int | None = None
    """How many may be changed at most, for a caller with other work to do meanwhile."""
    seen: frozenset[InstanceId] | None = None
    """What the person who chose was shown: more than that must not start."""


def staggered(count: int, per_minute: int, now: datetime) -> Iterator[datetime]:
    """Yield when each may start, so that never more than so many become due within a minute."""
    pause = timedelta(minutes=1) / per_minute
    return (now + at * pause for at in range(count))


def superseded(line: Sequence[InstanceId]) -> frozenset[InstanceId]:
    """Return all of a line but the newest."""
    return frozenset(line[:-1])
