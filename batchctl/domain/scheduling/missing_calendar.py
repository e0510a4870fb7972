"""The message about a calendar that does not exist, wherever a row names one."""

from __future__ import annotations

from collections.abc import Collection

from batchctl.domain.text import did_you_mean, typed, visible


def no_calendar(name: str, known: Collection[str]) -> str:
    """Return the message that there is none of that name, which one may be meant, and how to make one."""
    meant = visible(did_you_mean(name, known))
    return f"There is no calendar '{visible(name)}'.{meant} `{to_import(name)}` makes one."


def to_import(name: str, years: str = "YYYY") -> str:
    """Return what to type to make a calendar of a country's holidays."""
    return f"batchctl calendar import {typed(name)} --country CC --years {years}"
