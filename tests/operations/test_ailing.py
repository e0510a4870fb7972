"""What should start work and cannot is seen where everybody looks first."""

from __future__ import annotations

from batchctl.store.dead_end_rows import dead_end_starts
from tests.control.world import World

TRIGGER = (
    "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold, Enabled)"
    " VALUES (?, 'B', 'wh', 't', 's', '0', 1, ?)"
)
LOGGED = "INSERT INTO SchedulerLog (EventType, Source, Entity, Message, EventTime) VALUES (?, ?, 'B', ?, '2026-11-21 03:15:00')"
WATCH = "INSERT INTO FileWatch (WatchName, Entity, Folder, UnreachableSince, Enabled) VALUES (?, 'B', '/in', ?, ?)"
SINCE = "2026-11-21 02:14:00"


def seen(world: World) -> list[tuple[str, str, str, str]]:
    """Return what ails."""
    with world.transactions.read() as connection:
        return [(one.source, f"{one.since:%H:%M}", one.message, one.next_step) for one in dead_end_starts(connection)]


def test_a_trigger_ails_while_its_last_word_was_an_error(world: World) -> None:
    world.sql(TRIGGER, "orders", 1)
    assert seen(world) == []
    world.sql(LOGGED, "error", "trigger orders", "there is no table")
    assert seen(world) == [("trigger orders", "03:15", "there is no table", "batchctl trigger test orders")]
    said = "Table 't' has no column 's'. Next: correct StatusColumn of the trigger"
    world.sql(LOGGED, "error", "trigger orders", said)
    mend = "correct StatusColumn of the trigger   (then: batchctl trigger test orders)"
    assert seen(world) == [("trigger orders", "03:15", said, mend)]
    world.sql(LOGGED, "fired", "trigger orders", "5 rows")
    assert seen(world) == []


def test_a_watch_ails_while_its_folder_cannot_be_listed(world: World) -> None:
    world.sql(WATCH, "files", SINCE, 1)
    said = ("watch files", "02:14", "the folder cannot be listed", "batchctl watch test files")
    assert seen(world) == [said]
    world.sql(LOGGED, "error", "watch files", "No such file or directory")
    assert seen(world) == [(*said[:2], "No such file or directory", said[3])]
    gone = "the folder cannot be listed: no such directory; make the folder"
    world.sql(LOGGED, "error", "watch files", gone)
    assert seen(world) == [(*said[:2], gone, "make the folder   (then: batchctl watch test files)")]
    world.sql("UPDATE FileWatch SET UnreachableSince = NULL")
    assert seen(world) == []


def test_what_is_disabled_ails_nobody(world: World) -> None:
    world.sql(TRIGGER, "orders", 0)
    world.sql(LOGGED, "error", "trigger orders", "there is no table")
    world.sql(WATCH, "files", SINCE, 0)
    assert seen(world) == []
