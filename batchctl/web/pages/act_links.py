"""Which acts the page of a row leads to."""

from __future__ import annotations

from batchctl.web.act_table import ACTS
from batchctl.web.wishes import Subject


def acts_about(subject: Subject, *without: str) -> list[str]:
    """Return the names of the acts about a row, but for those that make no sense now."""
    return [
        verb.name
        for verb in ACTS.values()
        if verb.subject is subject and not verb.makes_row and verb.name not in without
    ]
