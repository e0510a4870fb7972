"""What the numbers of a row may be: the constraints of its table say so, and each reader of the row checks it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import CheckConstraint, Table

_FLAG = re.compile(r"(\w+) IN \((0), (1)\)")
_BETWEEN = re.compile(r"(\w+) BETWEEN (-?\d+) AND (\d+)")
_AT_LEAST = re.compile(r"(\w+) >= (\d+)()")

Bounds = tuple[int, int | None]
"""The least and the most; None where there is no most."""


@lru_cache
def bounds(table: Table) -> Mapping[str, Bounds]:
    """Return what each number of a table may be, where its constraints say so."""
    said = [str(getattr(made.sqltext, "text", "")) for made in table.constraints if isinstance(made, CheckConstraint)]
    written = (form.fullmatch(each) for each in sorted(said) for form in (_FLAG, _BETWEEN, _AT_LEAST))
    found = (each.groups() for each in written if each is not None)
    return {column: (int(least), int(most) if most else None) for column, least, most in found}


def hold(table: Table, row: Any) -> None:
    """Raise `ValueError` when a number of a row breaks a constraint, which somebody must have switched off."""
    for column in bounds(table):
        if (said := beyond(table, column, getattr(row, column))) is not None:
            raise ValueError(said)


def beyond(table: Table, column: str, value: Any) -> str | None:
    """Say what is wrong with a number of a column; None where nothing is."""
    allowed = bounds(table).get(column)
    if allowed is None or (value is None and table.c[column].nullable):
        return None
    least, most = allowed
    if least <= int(str(value)) and (most is None or int(value) <= most):
        return None
    return f"{column} is {value}, and has to be " + (
        f"at least {least}" if most is None else f"between {least} and {most}"
    )
