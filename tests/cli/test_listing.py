"""Lists of rows where there is no room for a table."""

from __future__ import annotations

from rich.text import Text

from batchctl.cli.listing import Listing


def test_an_entity_that_is_called_as_what_it_starts_is_said_to_be_one() -> None:
    row = [Text(word) for word in ("backup", "enabled", "backup", "daily at 02:00")]

    first, _ = next(Listing(None, ["name", "state", "entity", "when"], [row]).parts(20))

    assert str(first) == "backup  enabled  entity: backup"
