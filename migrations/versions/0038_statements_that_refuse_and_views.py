"""Make three views anew: none puts three dots into a row; vWaiting tells of completions, vInbox of what was taken again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

USED = "is complete, and that was used before: another instance has to complete"
EARLY = "had completed before the dependency was registered, which does not count"
TAGGED = ("'every batch with tag '''", "z.Tag", "''''")
LINE = " " * 12
UNPOPULATED = """Unpopulated AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(b.ProcessBatch_id) AS ProcessBatch_id
FROM Missing y JOIN {0}ProcessBatch b ON b.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
"""
JOINED = """LEFT JOIN Unfit x ON x.ProcessBatch_id = q.ProcessBatch_id
LEFT JOIN Unpopulated u ON u.Entity = f.Entity
LEFT JOIN Missing y ON y.ProcessBatch_id = u.ProcessBatch_id AND y.ProcessControlSeq = -1
"""
ASKED = "''', ''...''); '"
SAME = "o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs"


def upgrade() -> None:
    """Make the views anew."""
    _load("0023_refused_rows_and_views.py")._make(views(op.get_context().dialect.name, _schema()))


def downgrade() -> None:
    """Make them as they were."""
    _load("0023_refused_rows_and_views.py")._make(_before(op.get_context().dialect.name, _schema()))


def _load(name: str) -> Any:
    return load_python_file(str(Path(__file__).parent), name)


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def _before(dialect: str, schema: str) -> dict[str, str]:
    inbox = _load("0033_rows_that_point_nowhere_and_views.py").views(dialect, schema)
    return {**_load("0034_plugins_and_views.py").views(dialect, schema), "vInbox": inbox["vInbox"]}


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view."""
    s, made = _load("0023_refused_rows_and_views.py").Spoken(dialect, schema), _before(dialect, schema)
    missing = _load("0034_plugins_and_views.py").missing_plugins(s)
    missing, status, waiting, inbox = (
        each.replace("''...'' WHERE ProcessBatch_id", "... WHERE ProcessBatch_id").replace(*_offered(s))
        for each in (missing, *(made[name] for name in ("vStatus", "vWaiting", "vInbox")))
    )
    offered = "u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id"
    complete = f"""CASE WHEN EXISTS (SELECT 1 FROM {s.of}BatchCompletion u WHERE {offered}) THEN '{USED}'
            ELSE '{EARLY}' END"""
    tagged, batch = s.joined(*TAGGED), s.joined("'batch '", "z.ProcessBatchName")
    scope = (
        f"CASE WHEN z.Tag IS NOT NULL THEN {tagged} WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE {batch} END"
    )
    is_frozen, frozen_too = "WHEN z.BatchFreeze_id IS NOT NULL THEN", s.joined("', and '", scope, "' is frozen'")
    enable = f"WHEN d.Enabled <> 1 THEN {s.act_on_batch('enable', 'd.ProcessBatchName')}"
    upstream = "LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id"
    frozen = f"""
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id"""
    waiting = _replaced(
        waiting,
        [
            ("', 10, ''...'', ''...'', ''...'');'", "', 10, ..., ..., ...);'"),
            ("ELSE 'is complete' END", f"WHEN 'complete' THEN {complete} END"),
            (
                "CASE WHEN d.Enabled = 1 THEN '' ELSE ', and the batch is disabled' END",
                f"CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled' {is_frozen} {frozen_too} ELSE '' END",
            ),
            (enable, f"{enable}\n            {is_frozen} {s.thaw('z.BatchFreeze_id')}"),
            (upstream, upstream + frozen),
        ],
    )
    entity = "COALESCE(b.Entity, b.ProcessBatchName)"
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE {entity} = f.Entity)"
    alike = f"{s.word(s.bare(entity))} = {s.word(s.bare('f.Entity'))}"
    named = f"COALESCE((SELECT MIN({entity}) FROM {s.of}ProcessBatch b WHERE {alike}), '...')"
    meant = f"COALESCE((SELECT {s.quoted(f'MIN({entity})')} FROM {s.of}ProcessBatch b WHERE {alike}), '...')"
    said = s.joined(
        "'its file was taken again as FileProcess '", "g.Again_id", "': '", "COALESCE(f.Message, 'no reason was given')"
    )
    look = s.look("FileProcess", "FileProcess_id", "g.Again_id")
    aside = s.among("f.Status", "paused", "rejected", "duplicate")
    again = f"""Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM {s.of}FileProcess f JOIN {s.of}FileWatch w ON f.Source = {s.joined("'watch '", "w.WatchName")}
JOIN {s.of}FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN {s.of}FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN {s.of}FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE {aside} AND (l.FileName = f.FileName OR ({SAME})) GROUP BY f.FileProcess_id
)"""
    head, ends, tail = inbox.partition(f" END AS NextSql\nFROM {s.of}FileProcess f WHERE {aside}\n")
    front, otherwise, last = head.rpartition(" ELSE ")
    if not (ends and otherwise):
        raise ValueError(aside)
    front = _replaced(
        front,
        [
            (
                "CASE WHEN f.Status = 'duplicate'",
                f"CASE WHEN g.Again_id IS NOT NULL THEN {look}\n{LINE}WHEN f.Status = 'duplicate'",
            )
        ],
    )
    inbox = f"""{front} ELSE {last} END AS NextSql
FROM {s.of}FileProcess f LEFT JOIN Again g ON g.FileProcess_id = f.FileProcess_id
WHERE {aside}
{tail}"""
    said_first = f"CASE WHEN g.Again_id IS NOT NULL THEN {said}\n            WHEN f.Message"
    unread = f"{LINE}WHEN {taken} AND f.PopulatorTries >= 3 THEN"
    is_missing = f"{LINE}WHEN y.ProcessBatch_id IS NOT NULL THEN"
    inbox = _replaced(
        inbox,
        [
            (s.quoted(named), meant),
            ("CASE WHEN f.Message", said_first),
            ("VALUES (''...'', ''sql''", "VALUES (..., ''sql''"),
            (ASKED, ASKED.replace("''...''", "...")),
            (", Broken AS (", f", {missing}, {again}, Broken AS ("),
            (f"GROUP BY {entity}\n)\n", f"GROUP BY {entity}\n), {UNPOPULATED.format(s.of)})\n"),
            (unread, f"{is_missing} y.Reason\n{unread}"),
            ("x.Mend\n", f"x.Mend\n{is_missing} y.Mend\n"),
            ("LEFT JOIN Unfit x ON x.ProcessBatch_id = q.ProcessBatch_id\n", JOINED),
        ],
    )
    return {"vStatus": status, "vWaiting": waiting, "vInbox": inbox}


def _offered(s: Any) -> tuple[str, str]:
    """Return what is said of the populators of a controller, and what is said now: only who leads asks them."""
    of_controller = s.tags("k.Populators")
    leads = f"EXISTS (SELECT 1 FROM {s.of}Leader l WHERE l.ControllerName = k.ControllerName)"
    led = f"""EXISTS (SELECT 1 FROM {s.of}Leader l JOIN {s.of}Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running')"""
    of_leader = f"CASE WHEN {leads} OR NOT {led} THEN {of_controller} ELSE '' END"
    return f"{of_controller} AS Populators", f"{of_leader} AS Populators"


def _replaced(text: str, changes: list[tuple[str, str]]) -> str:
    for before, after in changes:
        head, found, tail = text.partition(before)
        if not found:
            raise ValueError(before)
        text = f"{head}{after}{tail}"
    return text
