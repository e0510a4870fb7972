"""What `ProcessControl.RowsMin` and `RowsMax` hold: a number, or the word that it is to be learned."""

from __future__ import annotations

import re

from batchctl.domain.text import shorten, visible

LEARNED = "learned"
_NUMBER = re.compile(r"\d{1,18}")


def row_bound(column: str, text: str | None) -> int | str | None:
    """Read a bound; raises `ValueError` for anything else than a number from 0 on, or `learned`."""
    if text is None:
        return None
    said = text.strip().lower()
    if said == LEARNED:
        return LEARNED
    if _NUMBER.fullmatch(said):
        return int(said)
    message = (
        f"{column} is '{shorten(visible(text), 40)}', and has to be a number of rows, 0 or more, or the word {LEARNED}"
    )
    raise ValueError(message)


def check_order(least: int | str | None, most: int | str | None) -> None:
    """Raise `ValueError` where no number of rows could ever be right."""
    if isinstance(least, int) and isinstance(most, int) and least > most:
        message = f"RowsMin is {least}, and RowsMax is less: {most}"
        raise ValueError(message)
