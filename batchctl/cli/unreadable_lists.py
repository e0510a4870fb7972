"""Rows that nothing can go by, as every list shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from batchctl.cli.listing import Listing
    from batchctl.domain.unreadable import UnreadableRow


SO = "nothing goes by these rows until they are corrected"


def unreadable_rows(found: Sequence[UnreadableRow], so: str = SO) -> Listing:
    """Return the list of rows that nothing can go by, for every command that shows what it could not read."""
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell

    rows = [
        (cell(row.called), cell(row.column or None), cell(row.wording, "bold red"), cell(row.mend)) for row in found
    ]
    return Listing(f"Unreadable: {so}", ["row", "column", "message", "next"], rows)


def show_unreadable(out: Console, found: Sequence[UnreadableRow], so: str = SO) -> None:
    """Show such rows below the others of a list, and what mends the first."""
    from batchctl.cli import output

    output.section(out, unreadable_rows(found, so))
    output.hints(out, found[0].mend, "batchctl check")


def with_unreadable(listed: Sequence[Mapping[str, Any]], found: Sequence[UnreadableRow]) -> list[Mapping[str, Any]]:
    """Add such rows to the others of a list, of which they have only the number."""
    from batchctl.operations import shown_columns

    nothing = dict.fromkeys(listed[0] if listed else ())
    broken = (
        {**nothing, f"{row.table}_id": row.row_id, **shown_columns.unreadable(row), "Unreadable": row.message}
        for row in found
    )
    return [*listed, *broken]
