"""Watching folders: files are listed again and again until they settle, looked at closer, and taken.

The listing is the truth: a notice that was missed loses nothing, and the database remembers what was taken.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from batchctl.control.intake.taking import CompleteFile, Taken, is_same, take
from batchctl.control.worker import SLICE
from batchctl.domain.arrivals import FileNames, FoundFile, Memory, Sight, age, file_name, is_complete, path_key, seen
from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.domain.rows import FileWatchRow, WatchId
from batchctl.domain.status import DuplicateKey, SchedulerEvent
from batchctl.domain.text import in_short, storable, unfit, visible
from batchctl.domain.values import value
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import (
    Boundary,
    Change,
    Clock,
    FolderPage,
    FolderReport,
    Folders,
    FolderWalk,
    Inspected,
    Transactions,
)
from batchctl.store import Connection, scheduler_log
from batchctl.store.intake import file_watches

PAGE = 100
"""How many files are submitted by one transaction."""
LOOKED_AT = 200
"""How many files of a folder are looked at closer at once."""
MOST = 100_000
"""How many files of a folder are waited for at once; the others follow when these have been taken."""
NOTED = 500
"""How many files are noted as missing by one transaction."""
FRESH = timedelta(seconds=5)
"""For how long a file is believed to be as it was when it was looked at closer."""
PATIENCE = timedelta(seconds=30)
"""After how long without a sign of life of a walk it is reported that the folder does not answer."""
IN_ORDER = timedelta(seconds=5)
"""How long the first files of a folder wait for a walk, or for a look at one of them, that the others may still precede."""
KEPT = timedelta(days=7)
"""For how long a file that is gone is remembered."""
FORGETTING = timedelta(hours=1)
"""How often files that are gone are looked for."""


@value
class WatchMeans:
    """What all watches work with."""

    transactions: Transactions
    clock: Clock
    folders: Folders
    listener: Listener
    poll_interval: timedelta


@dataclass(slots=True)
class FileWatching:
    """The leader's duty to watch folders."""

    means: WatchMeans
    directory: Path
    """Where a relative Folder begins."""
    _watches: dict[WatchId, WatchedFolder] = field(default_factory=dict)
    _keys: int = 0
    _read_at: float = -math.inf

    @property
    def name(self) -> str:
        """Name the duty."""
        return "watch"

    @property
    def is_busy(self) -> bool:
        """Say whether a file is about to be taken; to look again at what is known is no work."""
        return any(watch.is_busy for watch in self._watches.values())

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Go on with every folder for a while; true when rows were inserted."""
        now = self.means.clock.monotonic()
        if now - self._read_at >= self.means.poll_interval.total_seconds():
            # An error while reading them is not met again at once.
            self._read_at = now
            self._read_rows()
        self._hand_out(self.means.folders.collect())
        inserted = False
        for watch_id in list(self._watches):
            # A watch that had no turn for lack of time is the first the next time.
            watch = self._watches[watch_id] = self._watches.pop(watch_id)
            inserted |= self._go_on(watch, now + SLICE)
            if self.means.clock.monotonic() >= now + SLICE:
                break
        return inserted

    def finish(self) -> bool:
        """Look at every folder, whether it is due or not; the duty is busy until what was found has settled."""
        self._read_at = -math.inf
        for watch in self._watches.values():
            watch.hasten()
        return self.look()

    def _read_rows(self) -> None:
        with self.means.transactions.read() as connection:
            rows = {row.watch_id: row for row in file_watches.everyone(connection) if row.enabled}
        for watch_id, watch in list(self._watches.items()):
            if watch_id not in rows or watch.is_stale or not is_same(rows[watch_id], watch.row):
                self.means.folders.leave(watch.key)
                del self._watches[watch_id]
        for watch_id, row in rows.items():
            if watch_id not in self._watches:
                self._keys += 1
                folder = str(self.directory / row.folder)
                self._watches[watch_id] = WatchedFolder(self.means, self._keys, row, folder)

    def _hand_out(self, reports: Sequence[FolderReport]) -> None:
        by_key = {watch.key: watch for watch in self._watches.values()}
        for report in reports:
            if report.key in by_key:
                by_key[report.key].reports.append(report)

    def _go_on(self, watch: WatchedFolder, until: float) -> bool:
        """Go on with one folder; an unforeseen error keeps no other from its turn."""
        try:
            inserted = watch.go_on(until)
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one watch and the next
            watch.rest(in_short(error))
            return False
        if watch.is_stale:
            self._read_at = -math.inf
        return inserted


@dataclass(slots=True)
class WatchedFolder:
    """One `FileWatch` row, and what is known of its folder."""

    means: WatchMeans
    key: int
    row: FileWatchRow
    folder: str
    reports: deque[FolderReport] = field(default_factory=deque)
    """What has been found and not looked at yet."""
    is_stale: bool = False
    """True once somebody has changed the row."""
    _names: FileNames = field(init=False)
    _memory: Memory = field(default_factory=Memory)
    _read_up_to: int | None = 0
    """Up to which row the remembered files were read; None once all of them were."""
    _sights: dict[str, Sight] = field(default_factory=dict)
    """The files that are not taken yet."""
    _pending: set[str] = field(default_factory=set)
    """Those of them that are complete: each stands in one of the next three."""
    _complete: deque[FoundFile] = field(default_factory=deque)
    _is_sorted: bool = True
    _looked_at: float = -math.inf
    """When a closer look at files was last begun."""
    _inspecting: set[str] = field(default_factory=set)
    _arrivals: deque[CompleteFile] = field(default_factory=deque)
    _digests: dict[str, str] = field(default_factory=dict)
    """Digests of files that are looked at closer once more: if they have not changed, neither has their content."""
    _put_aside: set[str] = field(default_factory=set)
    """Files that could not be taken, and were reported."""
    _walk: int = 0
    _is_walking: bool = False
    _has_walked: bool = False
    _begun: float = -math.inf
    """When the last walk was begun, by the clock of the walks."""
    _patient_until: float = -math.inf
    """When every file that was noticed will have settled, unless it is still being written; by the same clock."""
    _due_at: float = -math.inf
    _rests_until: float = -math.inf
    _went_on_at: float = -math.inf
    _known_at: float = -math.inf
    """When this turn began, and the one before it: a report read now may have waited since then to be read."""
    _ordered_at: float = 0.0
    _heard_at: float = 0.0
    _failure: str | None = None
    _is_silent: bool = False
    _is_announced: bool = field(init=False)
    """True while the row says that the folder cannot be listed."""
    _is_locked: bool = False
    _there: set[int] = field(default_factory=set)
    """The rows of the files that this walk has met as they are remembered."""
    _notes: deque[tuple[list[int], Any]] = field(default_factory=deque)
    """Rows that are to be noted as missing since a moment, or as there again."""
    _outdated: deque[list[int]] = field(default_factory=deque)
    """Rows that have been missing for long."""
    _forgot_at: float = -math.inf

    def __post_init__(self) -> None:
        """Begin as the row says."""
        self._names = FileNames(self.row.pattern, self.row.marker_suffix)
        self._is_announced = self.row.unreachable_since is not None

    @property
    def is_busy(self) -> bool:
        """Say whether a file is about to be taken, or may be found to be."""
        if self._is_silent or self._is_resting:
            return bool(self._arrivals) and not self._is_resting
        waits = bool(self._sights) and self._begun < self._patient_until
        return not self._has_walked or waits or bool(self._pending or self.reports)

    def hasten(self) -> None:
        """Let the next walk be due now."""
        self._due_at = -math.inf

    def rest(self, failure: str) -> None:
        """Do nothing for a while, and say why."""
        self._rests_until = self.means.clock.monotonic() + self.means.poll_interval.total_seconds()
        self._tell("watch.trouble", failure)

    @property
    def _is_resting(self) -> bool:
        return self.means.clock.monotonic() < self._rests_until

    def go_on(self, until: float) -> bool:
        """Do what there is to do, for a while; true when rows were inserted."""
        if self._is_resting:
            return False
        self._known_at, self._went_on_at = self._went_on_at, self.means.clock.monotonic()
        try:
            if not self._remember(until):
                return False
            self._take_in(until)
            self._begin_walk()
            self._doubt()
            self._look_closer()
            inserted = self._submit(until)
            self._mind_silence()
            self._note_failure()
            self._note_missing(until)
        except Conflict as error:
            # Somebody keeps a row locked: all of this is done again.
            if not self._is_locked:
                self._tell("watch.locked", error.message)
            self._is_locked = True
            return False
        self._is_locked = False
        return inserted

    def _is_time(self, until: float) -> bool:
        return self.means.clock.monotonic() < until

    def _remember(self, until: float) -> bool:
        """Read what was taken before, once; false while that is not done."""
        while self._read_up_to is not None:
            with self.means.transactions.read() as connection:
                page = file_watches.seen_page(connection, self.row.watch_id, self._read_up_to)
            for each in page.files:
                self._memory.put(each.path_key, each.row_id, each.file)
                if each.missing_since is not None:
                    self._memory.missing[each.row_id] = each.missing_since
            self._read_up_to = None if page.is_last else page.up_to
            if not self._is_time(until):
                break
        return self._read_up_to is None

    def _take_in(self, until: float) -> None:
        while self.reports:
            report = self.reports.popleft()
            self._heard_at = self.means.clock.monotonic()
            self._is_silent = False
            if isinstance(report, FolderPage):
                self._look_at(report)
            else:
                self._have_inspected(report)
            if not self._is_time(until):
                break

    @property
    def _settle_seconds(self) -> float:
        # Where markers are used, they say what is complete.
        return 0 if self.row.marker_suffix is not None else self.row.settle_seconds

    def _look_at(self, page: FolderPage) -> None:
        for file in page.files:
            if file.path in self._pending:
                continue
            before = self._sights.get(file.path)
            sight = self._sights[file.path] = seen(before, file, page.listing)
            if is_complete(sight, page.listing, self._settle_seconds):
                self._pending.add(file.path)
                self._complete.append(file)
                self._is_sorted = False
            elif before is None:
                self._patient_until = max(self._patient_until, page.listing.ended + self._settle_seconds)
        self._there.update(page.remembered)
        if page.is_last:
            self._end_walk(page)

    def _begin_walk(self) -> None:
        now = self.means.clock.monotonic()
        if self._is_walking or now < self._due_at:
            return
        self._walk += 1
        self._there.clear()
        self.means.folders.walk(
            FolderWalk(
                key=self.key,
                number=self._walk,
                folder=self.folder,
                is_recursive=self.row.is_recursive,
                names=self._names,
                row_of=self._memory.row_of,
                most=MOST,
            )
        )
        self._is_walking, self._ordered_at, self._heard_at = True, now, now

    def _end_walk(self, page: FolderPage) -> None:
        now = self.means.clock.monotonic()
        self._is_walking, self._has_walked, self._failure = False, True, page.failure
        self._begun = page.walk_begun
        if page.is_whole:
            self._sights = {
                path: sight
                for path, sight in self._sights.items()
                if sight.last_walk == self._walk or path in self._pending
            }
            self._put_aside &= self._sights.keys()
            if page.entries:
                # A folder that is empty at once may be one whose share is gone.
                self._compare()
        pause = self.means.poll_interval.total_seconds()
        if self._sights and self._begun < self._patient_until:
            # What has settled by then is taken then; a folder that takes long to list is not listed all the time.
            pause = min(pause, max(self._settle_seconds, now - self._ordered_at))
        self._due_at = now + pause

    def _look_closer(self) -> None:
        """Have some files looked at closer, in the order in which they were written."""
        now, patience = self.means.clock.monotonic(), IN_ORDER.total_seconds()
        if self._is_walking and now - self._ordered_at < patience:
            return
        if not self._is_sorted:
            self._complete, self._is_sorted = deque(sorted(self._complete, key=age)), True
        if self._inspecting and now - self._looked_at < patience:
            return
        self._looked_at = now
        while self._complete and len(self._inspecting) < LOOKED_AT:
            file = self._complete.popleft()
            if unfit(file.path) is not None:
                self._arrivals.append(CompleteFile(file, known_at=self._went_on_at))
                continue
            self._inspecting.add(file.path)
            content = self.row.duplicate_key is DuplicateKey.CONTENT and file.path not in self._digests
            self.means.folders.inspect(self.key, self.folder, file, content=content)

    def _have_inspected(self, report: Inspected) -> None:
        path = report.file.path
        self._inspecting.discard(path)
        digest = self._digests.pop(path, report.digest)
        if report.is_changed:
            # The next walk sees what it is now.
            self._pending.discard(path)
        elif report.failure is not None:
            self._leave(report.file, report.failure)
        else:
            self._arrivals.append(CompleteFile(report.file, digest, self._known_at))

    def _doubt(self) -> None:
        """Look once more at what could not be submitted for a while: by now it may be another, or being written."""
        while self._arrivals and self._went_on_at - self._arrivals[0].known_at >= FRESH.total_seconds():
            arrival = self._arrivals.popleft()
            if arrival.digest is not None:
                self._digests[arrival.file.path] = arrival.digest
            self._complete.append(arrival.file)
            self._is_sorted = False

    def _leave(self, file: FoundFile, failure: str) -> None:
        """Try a file again after the next walk; say why, once."""
        self._pending.discard(file.path)
        if file.path in self._put_aside:
            return
        said = f"'{visible(file.path)}' cannot be taken, and is tried again: {failure}"
        self._log(SchedulerEvent.ERROR, said)
        self._put_aside.add(file.path)
        self._tell("watch.trouble", said)

    def _submit(self, until: float) -> bool:
        """Submit what has arrived, a page after the other; the first of them in any case."""
        inserted = False
        if self._inspecting and self.means.clock.monotonic() - self._looked_at < IN_ORDER.total_seconds():
            return False
        if len(self._arrivals) > 1:
            self._arrivals = deque(sorted(self._arrivals, key=lambda each: age(each.file)))
        while self._arrivals and not self.is_stale:
            page = [self._arrivals[at] for at in range(min(PAGE, len(self._arrivals)))]
            inserted |= self._submit_page(page)
            for _ in page:
                self._arrivals.popleft()
            if not self._is_time(until):
                break
        return inserted

    def _submit_page(self, page: Sequence[CompleteFile]) -> bool:
        """Submit some files; an unforeseen error of one of them concerns that one alone."""

        def write(connection: Connection) -> list[Taken] | None:
            return take(connection, self.row, self.folder, page, self.means.clock.now())

        try:
            taken = self.means.transactions.run(frozenset({Boundary.INTAKE}), write, nowait=True)
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one file and the next
            if len(page) == 1:
                self._leave(page[0].file, storable(in_short(error)))
                return False
            return max(list(map(self._submit_page, ([each] for each in page))))
        if taken is None:
            self.is_stale = True
            return False
        for each in taken:
            self._have_taken(each)
        return any(each.intake_id is not None for each in taken)

    def _have_taken(self, taken: Taken) -> None:
        path = taken.file.path
        self._memory.put(path_key(path), taken.row_id, taken.file)
        self._memory.missing.pop(taken.row_id, None)
        self._sights.pop(path, None)
        self._pending.discard(path)
        self._put_aside.discard(path)
        if taken.correction is not None:
            self._tell("watch.corrected", taken.correction)
        if taken.intake_id is not None:
            name = "watch.rejected" if taken.is_rejected else "watch.fired"
            about: dict[str, EventValue] = {"FileProcess_id": taken.intake_id, "Entity": self.row.entity}
            whole = storable(file_name(self.folder, taken.file))
            self.means.listener(Event(name, {**about, "WatchName": self.row.name, "FileName": whole}))

    def _mind_silence(self) -> None:
        """Notice that a walk gives no sign of life; another is not begun."""
        silent_for = timedelta(seconds=self.means.clock.monotonic() - self._heard_at)
        if self._is_walking and not self._is_silent and silent_for >= PATIENCE:
            self._is_silent = True
            since = self.means.clock.now() - silent_for
            self._failure = f"it has not answered since {since:%Y-%m-%d %H:%M:%S} UTC; see whether its share is there"

    def _note_failure(self) -> None:
        """Write on the row, once, that the folder cannot be listed, or can be again."""
        failure = self._failure
        if (failure is not None) is self._is_announced or not (self._has_walked or self._is_silent):
            return

        def write(connection: Connection) -> bool:
            now, watch_id = self.means.clock.now(), self.row.watch_id
            if failure is None:
                is_news = file_watches.set_reachable(connection, watch_id, now)
                event, said = SchedulerEvent.RESCUED, "the folder can be listed again"
            else:
                silent_for = self.means.clock.monotonic() - self._heard_at if self._is_silent else 0
                since = now - timedelta(seconds=silent_for)
                is_news = file_watches.set_unreachable(connection, watch_id, since, now)
                event, said = SchedulerEvent.ERROR, f"the folder cannot be listed: {failure}"
            if is_news:
                scheduler_log.add(connection, event, self.row, now, said)
            return is_news

        is_news = self._run(write)
        self._is_announced = failure is not None
        if is_news:
            name = "watch.reachable" if failure is None else "watch.unreachable"
            self._tell(name, "the folder can be listed again" if failure is None else failure)

    def _compare(self) -> None:
        """See which files are gone, and which are there again."""
        missing = self._memory.missing
        if not self._notes:
            now = self.means.clock.now()
            gone = self._memory.rows_without(self._there) - missing.keys()
            self._notes.extend((rows, now) for rows in _in_pages(sorted(gone)))
            self._notes.extend((rows, None) for rows in _in_pages(sorted(self._there & missing.keys())))
        if self.means.clock.monotonic() - self._forgot_at >= FORGETTING.total_seconds() and not self._outdated:
            self._forgot_at = self.means.clock.monotonic()
            before = self.means.clock.now() - KEPT
            old = [row_id for row_id, since in missing.items() if since < before and row_id not in self._there]
            self._outdated.extend(_in_pages(sorted(old)))

    def _note_missing(self, until: float) -> None:
        while self._notes and self._is_time(until):
            rows, since = self._notes[0]
            self._run(partial(file_watches.set_missing, row_ids=rows, since=since))
            for row_id in rows:
                if since is None:
                    self._memory.missing.pop(row_id, None)
                else:
                    self._memory.missing[row_id] = since
            self._notes.popleft()
        while self._outdated and self._is_time(until):
            before = self.means.clock.now() - KEPT
            self._run(partial(file_watches.forget, row_ids=self._outdated[0], before=before))
            self._memory.forget(self._outdated.popleft())

    def _log(self, event: SchedulerEvent, message: str) -> None:
        def write(connection: Connection) -> None:
            now = self.means.clock.now()
            scheduler_log.add(connection, event, self.row, now, message)

        self._run(write)

    def _run(self, write: Callable[[Connection], Any]) -> Any:
        return self.means.transactions.run(frozenset(), write, nowait=True)

    def _tell(self, name: str, message: str) -> None:
        self.means.listener(Event(name, {"WatchName": self.row.name, "Entity": self.row.entity, "Message": message}))


def _in_pages(rows: list[int]) -> list[list[int]]:
    return [rows[at : at + NOTED] for at in range(0, len(rows), NOTED)]
