"""By what the others know who leads."""

from __future__ import annotations

from batchctl.domain.text import visible
from batchctl.domain.values import value

LABEL_LENGTH = 43
"""What every server keeps: PostgreSQL's application_name holds 63 bytes, of which `batchctl controller ` takes 20."""
_END_LENGTH = 21
"""Room for the process and the random part of `host:process:random`, which no two controllers have in common."""
_GAP = ".."


def label_of(controller: str) -> str:
    """Return what stands for a controller where a name has little room: a long one lacks some of its middle.

    A server may write anything but ASCII differently, and cut off the end: what is different in each name.
    """
    plain = visible(controller).encode("ascii", "backslashreplace").decode("ascii")
    if len(plain) <= LABEL_LENGTH:
        return plain
    return f"{plain[: LABEL_LENGTH - _END_LENGTH - len(_GAP)]}{_GAP}{plain[-_END_LENGTH:]}"


@value
class Holder:
    """Who has the leader's lock: by name or label, and by the number of the session, where it is a session's."""

    name: str
    session: int | None = None

    def is_called(self, controller: str) -> bool:
        """Say whether a controller is the one that has the lock."""
        return label_of(self.name) == label_of(controller)
