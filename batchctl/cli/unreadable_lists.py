"""Rows that nothing can go by, as every list shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batchctl.cli import output
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import shown_columns

SO = "nothing goes by these rows until they are corrected"


def unreadable_rows(found: Sequence[UnreadableRow], so: str = SO) -> None:
    """Show the rows that nothing can go by, in every command that shows what it could not read."""
    rows = [(row.called, row.column or None, output.cell(row.wording, "bold red"), row.mend) for row in found]
    output.table_if_any(f"Unreadable: {so}", ["row", "column", "message", "next"], rows)


def show_unreadable(found: Sequence[UnreadableRow], so: str = SO) -> None:
    """Show such rows below the others of a list, and what mends the first."""
    unreadable_rows(found, so)
    output.hints(found[0].mend, "batchctl check")


def with_unreadable(listed: Sequence[Mapping[str, Any]], found: Sequence[UnreadableRow]) -> list[Mapping[str, Any]]:
    """Add such rows to the others of a list, of which they have only the number."""
    nothing = dict.fromkeys(listed[0] if listed else ())
    broken = (
        {**nothing, f"{row.table}_id": row.row_id, **shown_columns.unreadable(row), "Unreadable": row.message}
        for row in found
    )
    return [*listed, *broken]
