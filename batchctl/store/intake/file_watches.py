"""`FileWatch` and `FileWatchSeen`: the folders that are watched, and every file that was taken from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath, PurePosixPath
from typing import Annotated, Any

from sqlalchemy import Connection, and_, bindparam, delete, func, select, update

from batchctl.domain.arrivals import FoundFile, path_key
from batchctl.domain.definitions import variables
from batchctl.domain.errors import Conflict
from batchctl.domain.rows import FileWatchRow, IntakeId, IntakeRow, SeenFile, WatchId
from batchctl.domain.text import storable
from batchctl.domain.unreadable import UnreadableRow
from batchctl.domain.values import value
from batchctl.store.columns import readable
from batchctl.store.definitions import variable_rows
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate, update_all
from batchctl.store.tables import file_process, file_watch, file_watch_seen
from batchctl.store.unreadable_columns import sorted_out

READ_AT_ONCE = 2000
"""How many files are remembered by one statement."""

_w, _s, _f = file_watch.c, file_watch_seen.c, file_process.c
_watch, _seen = Reader(FileWatchRow, file_watch), Reader(SeenFile)

WATCHES = RowSelect(select(file_watch).order_by(_w.FileWatch_id))
_LOAD = RowSelect(select(file_watch).where(_w.FileWatch_id == bindparam("watch_id")))
_SEEN = RowSelect(
    select(file_watch_seen)
    .where(_s.FileWatch_id == bindparam("watch_id"), _s.FileWatchSeen_id > bindparam("after"))
    .order_by(_s.FileWatchSeen_id)
    .limit(bindparam("most"))
)
_THESE = select(file_watch_seen).where(
    _s.FileWatch_id == bindparam("watch_id"), _s.PathKey.in_(bindparam("keys", expanding=True))
)
TAKEN_AS = RowSelect(
    select(file_watch_seen)
    .where(_s.FileProcess_id == bindparam("intake_id"), _s.MissingSince.is_(None))
    .order_by(_s.z_updated.desc(), _s.FileWatchSeen_id)
    .limit(bindparam("most"))
)
_FIRST_OF = RowSelect(
    select(file_watch_seen)
    .where(_s.FileProcess_id == bindparam("intake_id"))
    .order_by(_s.FileWatchSeen_id)
    .limit(bindparam("most"))
)
_FIRST = file_watch_seen.alias("first_taken")
_RENAMED = (
    select(_FIRST.c.FileProcess_id.label("first_id"), _s.FilePath, _s.z_updated, _s.FileProcess_id)
    .join(
        _FIRST,
        and_(
            _FIRST.c.FileWatch_id == _s.FileWatch_id,
            _s.FileNumber == _FIRST.c.FileNumber,
            _s.FileSize == _FIRST.c.FileSize,
            _s.ModifiedNs == _FIRST.c.ModifiedNs,
            _s.FileProcess_id > _FIRST.c.FileProcess_id,
        ),
    )
    .where(_FIRST.c.FileProcess_id.in_(bindparam("intake_ids", expanding=True)))
    .order_by(_s.FileProcess_id)
)
_UNDER_THESE_NAMES = (
    select(_s.FilePath, _s.z_updated, _s.FileProcess_id, _s.FileWatch_id, _f.FileName)
    .join(file_process, _f.FileProcess_id == _s.FileProcess_id)
    .where(
        _s.FileWatch_id.in_(bindparam("watch_ids", expanding=True)), _s.PathKey.in_(bindparam("keys", expanding=True))
    )
    .order_by(_s.FileProcess_id)
)
_HAND_OVER = (
    update(file_watch_seen).where(_s.FileProcess_id == bindparam("before")).values(FileProcess_id=bindparam("after"))
)
_ADD = RowInsert(file_watch_seen)
_REPLACE = RowUpdate(
    file_watch_seen,
    _s.FileWatchSeen_id == bindparam("row_id"),
    _s.FileSize == bindparam("size_before"),
    _s.ModifiedNs == bindparam("modified_before"),
)
_MISS = (
    update(file_watch_seen)
    .where(_s.FileWatchSeen_id.in_(bindparam("row_ids", expanding=True)))
    .values(MissingSince=bindparam("since"))
)
_FORGET = delete(file_watch_seen).where(
    _s.FileWatchSeen_id.in_(bindparam("row_ids", expanding=True)), _s.MissingSince < bindparam("before")
)
_SET_UNREACHABLE = (
    update(file_watch)
    .where(_w.FileWatch_id == bindparam("watch_id"), _w.UnreachableSince.is_(None))
    .values(UnreachableSince=bindparam("since"), z_updated=bindparam("now"))
)
_SET_REACHABLE = (
    update(file_watch)
    .where(_w.FileWatch_id == bindparam("watch_id"), _w.UnreachableSince.is_not(None))
    .values(UnreachableSince=None, z_updated=bindparam("now"))
)
_COUNTED = (
    select(
        _s.FileWatch_id,
        func.count().label("Taken"),
        func.count(_s.MissingSince).label("Missing"),
        func.max(_s.FileProcess_id).label("FileProcess_id"),
    )
    .group_by(_s.FileWatch_id)
    .subquery("counted")
)
_TALLIES = select(_COUNTED, _f.z_inserted).join(
    file_process, _f.FileProcess_id == _COUNTED.c.FileProcess_id, isouter=True
)


def everyone(connection: Connection) -> list[FileWatchRow]:
    """Return the watches in order of their making, but for those that hold nonsense; `check` names them."""
    return _in_full(connection, readable(WATCHES(connection), _watch))


def load_locked(connection: Connection, watch_id: WatchId) -> FileWatchRow | None:
    """Return a watch, locked until the end of the transaction: no other connection takes its files meanwhile."""
    dialect_of(connection).lock_row(connection, "FileWatch", watch_id)
    return next(iter(_in_full(connection, readable(_LOAD(connection, watch_id=watch_id), _watch))), None)


def _in_full(connection: Connection, watches: list[FileWatchRow]) -> list[FileWatchRow]:
    """Return the watches with the variables of their folders filled in; they are only asked for where one is named."""
    if not any(variables.names_in(watch.folder) for watch in watches):
        return watches
    values = variable_rows.values(connection)
    return [replace(watch, folder=variables.filled(watch.folder, values)) for watch in watches]


@value
class SeenPage:
    """Some of the files that were taken."""

    files: list[SeenFile]
    up_to: int
    """The last row that was read."""
    is_last: bool


def seen_page(connection: Connection, watch_id: WatchId, after: int) -> SeenPage:
    """Return the next files behind `after` that were taken."""
    rows = _SEEN(connection, watch_id=watch_id, after=after, most=READ_AT_ONCE)
    up_to = rows[-1].FileWatchSeen_id if rows else after
    return SeenPage(readable(rows, _seen), up_to, len(rows) < READ_AT_ONCE)


def seen_of(connection: Connection, watch_id: WatchId, keys: Collection[bytes]) -> dict[bytes, SeenFile]:
    """Return what was taken under some paths."""
    wanted = {"watch_id": watch_id, "keys": [key.hex() for key in keys]}
    found = readable(connection.execute(_THESE, wanted), _seen)
    return {seen.path_key: seen for seen in found}


@value
class TakenFile:
    """A file that stands for a `FileProcess` row, and when it was found to be as it is."""

    path: str
    at: datetime
    intake_id: IntakeId


def taken_as(connection: Connection, intake_id: IntakeId) -> TakenFile | None:
    """Return the file of a row; None when no watch has taken it, or has found it gone since."""
    for row in TAKEN_AS(connection, intake_id=intake_id, most=1):
        return _taken(row)
    return None


def taken_again(connection: Connection, rows: Sequence[IntakeRow]) -> dict[IntakeId, TakenFile]:
    """Return by row what its watch has taken later and is the same file: under another name, or the one that the row bears."""
    by_source = (
        {watch.source: watch.watch_id for watch in everyone(connection)} if any(row.source for row in rows) else {}
    )
    of_watches = {row.intake_id: by_source[row.source] for row in rows if row.source in by_source}
    if not of_watches:
        return {}
    renamed = connection.execute(_RENAMED, {"intake_ids": [*of_watches]}).all()
    found = {IntakeId(row.first_id): _taken(row) for row in renamed}
    names = {row.intake_id: row.file_name for row in rows if row.intake_id in of_watches and row.file_name}
    keys = {key for name in names.values() for key in _possible_keys(name)}
    later = connection.execute(_UNDER_THESE_NAMES, {"watch_ids": [*{*of_watches.values()}], "keys": [*keys]}).all()
    taken_as = {(row.FileWatch_id, str(row.FileName)): _taken(row) for row in later}
    for intake_id, name in names.items():
        taken = taken_as.get((of_watches[intake_id], name))
        if taken is not None and taken.intake_id > intake_id:
            found[intake_id] = taken
    return found


def _possible_keys(file_name: str) -> Iterator[str]:
    """Yield the key of a file in each folder above it that may be the watched one."""
    parts = PurePath(file_name).parts
    yield from (path_key("/".join(parts[at:])).hex() for at in range(len(parts)))


def _taken(row: Any) -> TakenFile:
    return TakenFile(str(row.FilePath), row.z_updated, IntakeId(row.FileProcess_id))


def hand_over(connection: Connection, before: IntakeId, after: IntakeId) -> None:
    """Let the file of a row stand for another row, which was made of the same file."""
    connection.execute(_HAND_OVER, {"before": before, "after": after})


def expect_renamed(connection: Connection, row: IntakeRow) -> None:
    """Remember the file of a row under the name that the row was corrected to: renamed to that, it is no other file."""
    name = PurePath(row.file_name or "").name
    for taken in _FIRST_OF(connection, intake_id=row.intake_id, most=1) if name else ():
        watch_id, seen = WatchId(taken.FileWatch_id), _seen(taken)
        renamed = replace(seen.file, path=PurePosixPath(seen.file.path).with_name(name).as_posix())
        if not seen_of(connection, watch_id, [path_key(renamed.path)]):
            add_seen(connection, watch_id, [(renamed, row.intake_id)], taken.z_updated)


def add_seen(
    connection: Connection, watch_id: WatchId, taken: Sequence[tuple[FoundFile, IntakeId]], now: datetime
) -> list[int]:
    """Remember files that were taken for the first time; return their rows in the same order."""
    if not taken:
        return []
    rows = [{"FileWatch_id": watch_id, **_as_taken(file, intake_id, now)} for file, intake_id in taken]
    for row, (file, _) in zip(rows, taken, strict=True):
        row |= {"PathKey": path_key(file.path).hex(), "FilePath": storable(file.path)}
    return _ADD.rows(connection, (*rows[0],), [(*row.values(),) for row in rows]).insert(connection)


def replace_seen(connection: Connection, taken: Sequence[tuple[SeenFile, FoundFile, IntakeId]], now: datetime) -> None:
    """Remember files anew that have changed since they were taken, each if its row is still as it was read."""
    rows = []
    for before, file, intake_id in taken:
        changes = {**_as_taken(file, intake_id, now), "MissingSince": None}
        found_by = before.row_id, before.file.size, before.file.modified_ns
        rows.append(((*changes,), (*changes.values(), *found_by)))
    met = update_all(connection, _REPLACE.rows(connection, ("row_id", "size_before", "modified_before"), rows))
    if met < len(rows):
        message = "Somebody else has written FileWatchSeen."
        raise Conflict(message)


def set_missing(connection: Connection, row_ids: Collection[int], since: datetime | None) -> None:
    """Note since when files are missing, or that they are there again."""
    connection.execute(_MISS, {"row_ids": list(row_ids), "since": since})


def forget(connection: Connection, row_ids: Collection[int], before: datetime) -> None:
    """Forget those of some files that have been missing since before a moment."""
    connection.execute(_FORGET, {"row_ids": list(row_ids), "before": before})


def set_unreachable(connection: Connection, watch_id: WatchId, since: datetime, now: datetime) -> bool:
    """Note since when a folder cannot be listed; false when that was noted already."""
    values = {"watch_id": watch_id, "since": since, "now": now}
    return bool(connection.execute(_SET_UNREACHABLE, values).rowcount)


def set_reachable(connection: Connection, watch_id: WatchId, now: datetime) -> bool:
    """Note that a folder can be listed; false when nothing else was noted."""
    return bool(connection.execute(_SET_REACHABLE, {"watch_id": watch_id, "now": now}).rowcount)


@value
class WatchTally:
    """How many files of a watch are remembered, how many of them are gone, and the last that was submitted."""

    taken: int = 0
    missing: int = 0
    last_intake: Annotated[IntakeId | None, "LastFileProcess_id"] = None
    last_at: Annotated[datetime | None, "LastSubmitted"] = None


def tallies(connection: Connection) -> Mapping[WatchId, WatchTally]:
    """Count the remembered files of every watch that has any."""
    return {
        watch_id: WatchTally(taken, missing, last, at)
        for watch_id, taken, missing, last, at in connection.execute(_TALLIES)
    }


def unreadable(connection: Connection) -> list[UnreadableRow]:
    """Return the watches that hold nonsense, which only somebody who switched the constraints off can leave."""
    return sorted_out(connection, file_watch, WATCHES(connection), _watch)[1]


def _as_taken(file: FoundFile, intake_id: IntakeId, now: datetime) -> dict[str, object]:
    return {
        "FileSize": file.size,
        "ModifiedNs": file.modified_ns,
        "FileNumber": None if file.number is None else str(file.number),
        "FileProcess_id": intake_id,
        "z_updated": now,
    }
