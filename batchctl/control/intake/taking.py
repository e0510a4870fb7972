"""Files that have arrived become `FileProcess` rows: each once, also when others watch the same folder now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from batchctl.domain.arrivals import FoundFile, duplicate_key, file_name, path_key
from batchctl.domain.intake.corrected_files import GOING_ON
from batchctl.domain.rows import BatchInstance, FileWatchRow, IntakeId, SeenFile
from batchctl.domain.status import IntakeStatus, SchedulerEvent
from batchctl.domain.text import NAME_LIMIT, shorten, storable, unfit, visible
from batchctl.domain.values import value
from batchctl.store import Connection, reports, scheduler_log
from batchctl.store.intake import file_watches, intake

NO_TEXT = (
    "The name of the file is not valid UTF-8, so no database can hold it; it is written with escapes here."
    " Rename the file: it is taken under its new name."
)


@value
class CompleteFile:
    """A file that is complete, with the digest of its content where that is wanted."""

    file: FoundFile
    digest: str | None = None
    known_at: float = 0.0
    """When, by this program's clock, it was known at the earliest that the file stands as it is."""


@value
class Taken:
    """What became of an arrival: the row that remembers it, and the new `FileProcess` row if it had not been taken before."""

    file: FoundFile
    row_id: int
    intake_id: IntakeId | None = None
    correction: str | None = None
    """The message about a file that was corrected in place while its instance waits."""

    @property
    def is_rejected(self) -> bool:
        """Say whether its name kept it from becoming work."""
        return unfit(self.file.path) is not None


def take(
    connection: Connection, watch: FileWatchRow, folder: str, arrivals: Sequence[CompleteFile], now: datetime
) -> list[Taken] | None:
    """Submit the arrivals that were not taken before; None when somebody has changed the watch."""
    found = file_watches.load_locked(connection, watch.watch_id)
    if found is None or not is_same(found, watch):
        return None
    # No other connection takes files of this watch now: what is remembered is all there is.
    before = file_watches.seen_of(connection, watch.watch_id, [path_key(each.file.path) for each in arrivals])
    taken, fresh = list[Taken](), list[CompleteFile]()
    for arrival in arrivals:
        seen = before.get(path_key(arrival.file.path))
        if seen is not None and seen.file.is_as(arrival.file):
            taken.append(Taken(arrival.file, seen.row_id))
        elif seen is not None and (waiting := _waiting_of(connection, seen)) is not None:
            taken.append(_correct(connection, watch, arrival, seen, waiting, now))
        else:
            fresh.append(arrival)
    rejected = [each for each in fresh if unfit(each.file.path) is not None]
    ready = [each for each in fresh if unfit(each.file.path) is None]
    submitted = [*_submit(connection, watch, folder, ready), *_reject(connection, watch, folder, rejected)]
    taken += _remember(connection, watch, submitted, before, now)
    _log(connection, watch, submitted, now)
    return taken


def _waiting_of(connection: Connection, seen: SeenFile) -> BatchInstance | None:
    """Return an instance of a file that has failed, is held or is paused, and reads the file anew once it goes on."""
    made = () if seen.intake_id is None else reports.instances_of_intake(connection, seen.intake_id)
    return next((one for one in made if one.status in GOING_ON), None)


def _correct(
    connection: Connection,
    watch: FileWatchRow,
    arrival: CompleteFile,
    seen: SeenFile,
    waiting: BatchInstance,
    now: datetime,
) -> Taken:
    """Remember a file as it is now, and start nothing: work that stands already is about to read it."""
    at = waiting.instance_id
    said = (
        f"file {shorten(visible(arrival.file.path), NAME_LIMIT)} was changed while BatchControl {at}, made of it, is"
        f" {waiting.status}: nothing new is started; {GOING_ON[waiting.status].format(id=at)}"
    )
    intake_id = IntakeId(waiting.intake_id)
    file_watches.replace_seen(connection, [(seen, arrival.file, intake_id)], now)
    scheduler_log.add(connection, SchedulerEvent.SKIPPED, watch, now, said, intake_id=intake_id, instance_id=at)
    return Taken(arrival.file, seen.row_id, correction=said)


def is_same(one: FileWatchRow, other: FileWatchRow) -> bool:
    """Say whether a watch still is as it was read, but for what batchctl itself notes on it."""
    return replace(one, unreachable_since=other.unreachable_since) == other


def _submit(
    connection: Connection, watch: FileWatchRow, folder: str, arrivals: Sequence[CompleteFile]
) -> list[tuple[FoundFile, IntakeId]]:
    rows = [
        {
            "Entity": watch.entity,
            "FileName": file_name(folder, each.file),
            "Data": duplicate_key(watch.duplicate_key, each.file, each.digest),
            "Source": watch.source[:NAME_LIMIT],
        }
        for each in arrivals
    ]
    return _numbered(arrivals, intake.add_all(connection, rows))


def _reject(
    connection: Connection, watch: FileWatchRow, folder: str, arrivals: Sequence[CompleteFile]
) -> list[tuple[FoundFile, IntakeId]]:
    rows = [
        {
            "Entity": watch.entity,
            "FileName": storable(file_name(folder, each.file)),
            "Source": watch.source[:NAME_LIMIT],
            "Status": IntakeStatus.REJECTED.value,
            "Message": NO_TEXT,
        }
        for each in arrivals
    ]
    return _numbered(arrivals, intake.add_all(connection, rows))


def _numbered(arrivals: Sequence[CompleteFile], intake_ids: Sequence[IntakeId]) -> list[tuple[FoundFile, IntakeId]]:
    return [(each.file, intake_id) for each, intake_id in zip(arrivals, intake_ids, strict=True)]


def _remember(
    connection: Connection,
    watch: FileWatchRow,
    submitted: Sequence[tuple[FoundFile, IntakeId]],
    before: dict[bytes, SeenFile],
    now: datetime,
) -> list[Taken]:
    new = [(file, intake_id) for file, intake_id in submitted if path_key(file.path) not in before]
    changed = [
        (before[path_key(file.path)], file, intake_id) for file, intake_id in submitted if path_key(file.path) in before
    ]
    row_ids = file_watches.add_seen(connection, watch.watch_id, new, now)
    file_watches.replace_seen(connection, changed, now)
    return [
        *(Taken(file, row_id, intake_id) for (file, intake_id), row_id in zip(new, row_ids, strict=True)),
        *(Taken(file, seen.row_id, intake_id) for seen, file, intake_id in changed),
    ]


def _log(
    connection: Connection, watch: FileWatchRow, submitted: Sequence[tuple[FoundFile, IntakeId]], now: datetime
) -> None:
    said = {intake_id: _wording(file) for file, intake_id in submitted if unfit(file.path) is None}
    scheduler_log.add_all(connection, SchedulerEvent.FIRED, watch, now, said.items())
    refused = [(intake_id, NO_TEXT) for file, intake_id in submitted if unfit(file.path) is not None]
    scheduler_log.add_all(connection, SchedulerEvent.ERROR, watch, now, refused)


def _wording(file: FoundFile) -> str:
    return f"file {shorten(visible(file.path), NAME_LIMIT)} of {file.size} bytes"
