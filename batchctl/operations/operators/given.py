"""What people give with their acts, as the tables keep it: why they act, and names."""

from __future__ import annotations

from batchctl.domain.errors import Refused
from batchctl.domain.text import NAME_LIMIT, shorten, storable, unfit


def checked_reason(reason: str | None) -> str | None:
    """Return the reason of an act; refuse one that cannot be stored, or is empty."""
    failure = None if reason is None else unfit(reason)
    if failure is not None:
        raise Refused(f"The reason cannot be kept: {failure}.")
    if reason is not None and not reason.strip():
        raise Refused("The reason is empty; say why, so that others understand it later.")
    return reason


def fitting(text: str) -> str:
    """Return a name as a column of names takes it."""
    return shorten(storable(text), NAME_LIMIT)
