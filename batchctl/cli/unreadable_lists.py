"""Rows that nothing can go by, as every list shows them."""

from __future__ import annotations

from collections.abc import Sequence

from batchctl.cli import output
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations.column_lists import UNREADABLE, UNTIL_CORRECTED


def unreadable_rows(found: Sequence[UnreadableRow], so: str = UNTIL_CORRECTED) -> None:
    """Show the rows that nothing can go by, in every command that shows what it could not read."""
    output.show_list(UNREADABLE, found, title=f"Unreadable: {so}", if_any=True)


def show_unreadable(found: Sequence[UnreadableRow], so: str = UNTIL_CORRECTED) -> None:
    """Show such rows below the others of a list, and what mends the first."""
    unreadable_rows(found, so)
    output.hints(found[0].mend, "batchctl check")
