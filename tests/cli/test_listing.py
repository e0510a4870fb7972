"""Lists of rows where there is no room for a table."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from batchctl.cli.listing import Listing


def test_an_entity_that_is_called_as_what_it_starts_is_said_to_be_one() -> None:
    row = [Text(word) for word in ("backup", "enabled", "backup", "daily at 02:00")]

    first, _ = next(Listing(None, ["name", "state", "entity", "when"], [row]).parts(20))

    assert str(first) == "backup  enabled  entity: backup"


def lines(listing: Listing, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    for part, wraps in listing.parts(width):
        console.print(part, soft_wrap=wraps)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_messages_that_there_are_not_turn_no_table_into_blocks() -> None:
    row = [Text(word) for word in ("07:00", "06:00", "-")]
    heading, _, shown = lines(Listing(None, ["local", "due", "reason"], [row]), 80)

    assert (heading.split(), shown.split()) == (["local", "due", "reason"], ["07:00", "06:00", "-"])


def test_a_block_begins_with_its_first_value_where_none_says_which_row_it_is() -> None:
    row = [Text(word) for word in ("07:00", "06:00", "a day off")]

    assert lines(Listing(None, ["local", "due", "reason"], [row]), 80) == [
        "07:00",
        "    due: 06:00",
        "    reason: a day off",
    ]
