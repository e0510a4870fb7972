"""The watched folders as a person sees them: the read models behind `watch list`, `watch test` and `check`."""

from __future__ import annotations

import fnmatch
from bisect import insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from batchctl.domain.arrivals import FileNames, FoundFile, age, duplicate_key, has_open_bracket, path_key
from batchctl.domain.errors import NotFound
from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import FileWatchRow, IntakeId, SeenFile
from batchctl.domain.status import DuplicateKey
from batchctl.domain.text import did_you_mean, unfit, visible
from batchctl.domain.unreadable import UnreadableRow, taking
from batchctl.domain.untaken import meant_by
from batchctl.domain.values import value
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList, by_row_id, is_enabled, record
from batchctl.operations.intake import file_correction
from batchctl.ports import FolderPage, Folders, FolderWalk, Transactions
from batchctl.store import Connection
from batchctl.store.definitions.definitions import Definitions
from batchctl.store.intake import file_watches
from batchctl.store.intake.file_watches import WatchTally

MOST = 100_000
"""How many files the test of a watch looks at that were not taken yet."""
PATIENCE = timedelta(seconds=30)
A_WHILE = timedelta(seconds=1)
OUTCOMES = ("complete", "settling", "rejected", "taken", "passed over")
"""What may be said of an entry of a folder, in the order in which it is shown."""
TO_FOLDER = "see to the folder, or correct FileWatch.Folder"


@value
class WatchStanding:
    """A watch, and what was taken from its folder."""

    watch: FileWatchRow
    tally: WatchTally


WATCHES = ColumnList[WatchStanding](
    "Watched folders",
    record(WatchStanding),
    {
        "name": "WatchName",
        "state": is_enabled(lambda one: one.watch.enabled),
        "entity": "Entity",
        "folder": "Folder",
        "pattern": "Pattern",
        "unreachable since (UTC)": "UnreachableSince",
        "taken#": "Taken",
        "of them gone#": "Missing",
        "last FileProcess#": "LastFileProcess_id",
        "submitted (UTC)": "LastSubmitted",
    },
    by_row_id,
)


def everyone(transactions: Transactions) -> tuple[tuple[WatchStanding, ...], list[UnreadableRow]]:
    """Return the watches in order of their making, and those that cannot be read."""
    with transactions.read() as connection:
        rows, broken = file_watches.everyone(connection), file_watches.unreadable(connection)
        tallies = file_watches.tallies(connection)
    return tuple(WatchStanding(row, tallies.get(row.watch_id, WatchTally())) for row in rows), broken


@value
class EntryVerdict:
    """What would happen to an entry of a folder now, and why."""

    path: str
    outcome: str
    reason: str
    file: FoundFile | None = None
    intake_id: IntakeId | None = None
    data: str | None = None


@value
class FolderRehearsal:
    """What one walk through a folder has found."""

    watch: FileWatchRow
    folder: str
    totals: Mapping[str, int]
    verdicts: Sequence[EntryVerdict]
    """The first of each outcome."""
    failure: str | None

    @property
    def announced(self) -> tuple[str, str]:
        """Return what was wrong, and what to do about it, which stands at the end of `failure`."""
        said, _, to_do = (self.failure or "").rpartition("; ")
        return (said, to_do) if said else (to_do, TO_FOLDER)


class _Rehearsed:
    """Sorts what a walk finds, and keeps the first of each kind."""

    def __init__(self, watch: FileWatchRow, folder: str, seen: Mapping[bytes, SeenFile], most: int) -> None:
        self.totals: Counter[str] = Counter()
        self._watch, self._folder, self._seen, self._most = watch, folder, seen, most
        self._rows = {each.row_id: each for each in seen.values()}
        self._kept: dict[str, list[EntryVerdict]] = {outcome: [] for outcome in OUTCOMES}

    def row_of(self, file: FoundFile) -> int | None:
        """Return the row of a file that stands as it was taken."""
        found = self._seen.get(path_key(file.path))
        return found.row_id if found is not None and found.file.is_as(file) else None

    def take_in(self, page: FolderPage) -> None:
        """Judge what was found on a part of the walk."""
        for file in page.files:
            self._keep(self._judged(file))
        for row_id in page.remembered:
            seen = self._rows[row_id]
            # Its row may have been purged.
            as_row = "" if seen.intake_id is None else f", as FileProcess {seen.intake_id}"
            reason = f"taken already{as_row}"
            self._keep(EntryVerdict(seen.file.path, "taken", reason, seen.file, seen.intake_id))
        for path, reason in page.passed_over:
            self._keep(EntryVerdict(path, "passed over", reason))

    def verdicts(self) -> list[EntryVerdict]:
        """Return the first of each kind."""
        return [verdict for outcome in OUTCOMES for verdict in self._kept[outcome]]

    def _judged(self, file: FoundFile) -> EntryVerdict:
        watch = self._watch
        before = self._seen.get(path_key(file.path))
        as_row = "" if before is None or before.intake_id is None else f" as FileProcess {before.intake_id}"
        changed = "" if before is None else f"; it has changed since it was taken{as_row}"
        if unfit(file.path) is not None:
            return EntryVerdict(file.path, "rejected", f"{unfit(file.path)}: rename it", file)
        if watch.marker_suffix is None and watch.settle_seconds > 0:
            wait = f"it is taken once it has stayed as it is for {watch.settle_seconds} s, in two walks{changed}"
            return EntryVerdict(file.path, "settling", wait, file)
        reason = "its marker stands beside it" if watch.marker_suffix is not None else "SettleSeconds is 0"
        is_known = watch.duplicate_key is not DuplicateKey.CONTENT
        data = duplicate_key(watch.duplicate_key, file, None) if is_known else None
        return EntryVerdict(file.path, "complete", f"{reason}{changed}", file, data=data)

    def _keep(self, verdict: EntryVerdict) -> None:
        self.totals[verdict.outcome] += 1
        kept = self._kept[verdict.outcome]
        insort(kept, verdict, key=_in_order)
        del kept[self._most :]


def _in_order(verdict: EntryVerdict) -> tuple[int, str]:
    """Return what is shown in order of: as files are taken, and what is none by its path."""
    return (0, verdict.path) if verdict.file is None else age(verdict.file)


def rehearse(transactions: Transactions, folders: Folders, directory: Path, name: str, most: int) -> FolderRehearsal:
    """Walk once through the folder of a watch and say what would happen to each entry; nothing is submitted."""
    with transactions.read() as connection:
        unknown.refuse_start(file_watches.unreadable(connection), name)
        watches = {row.name: row for row in file_watches.everyone(connection)}
        watch = watches.get(name)
        if watch is None:
            meant = visible(did_you_mean(name, watches))
            raise NotFound(f"There is no FileWatch '{visible(name)}'.{meant}", next_step="batchctl watch list")
        seen = dict[bytes, SeenFile]()
        after, is_last = 0, False
        while not is_last:
            page = file_watches.seen_page(connection, watch.watch_id, after)
            seen |= {each.path_key: each for each in page.files}
            after, is_last = page.up_to, page.is_last
    folder = str(directory / watch.folder)
    found = _Rehearsed(watch, folder, seen, most)
    names = FileNames(watch.pattern, watch.marker_suffix)
    folders.walk(FolderWalk(0, 1, folder, watch.is_recursive, names, found.row_of, MOST, tells_all=True))
    failure = _walk(folders, found)
    with transactions.read() as connection:
        verdicts = [_corrected(connection, verdict) for verdict in found.verdicts()]
    return FolderRehearsal(watch, folder, found.totals, verdicts, failure)


def _corrected(connection: Connection, verdict: EntryVerdict) -> EntryVerdict:
    """Say of a file that was taken and corrected in place what has not read it since."""
    if verdict.outcome != "taken" or verdict.intake_id is None:
        return verdict
    found = file_correction.of_intake(connection, verdict.intake_id)
    return replace(verdict, reason="; ".join([verdict.reason, *(f"{one.wording}: {one.clear}" for one in found)]))


def _walk(folders: Folders, found: _Rehearsed) -> str | None:
    """Take in all of a walk; return what was wrong with it, if anything."""
    silent_for = timedelta(0)
    while silent_for < PATIENCE:
        reports = folders.collect(A_WHILE)
        silent_for = timedelta(0) if reports else silent_for + A_WHILE
        for report in reports:
            if isinstance(report, FolderPage):
                found.take_in(report)
                if report.is_last:
                    return report.failure
    return f"it has not answered for {PATIENCE.total_seconds():g} s; see whether its share is there"


def findings(
    watches: Sequence[FileWatchRow], defined: Definitions, directory: Path, folders: Folders | None
) -> Iterator[tuple[FileWatchRow, Finding]]:
    """Yield what is wrong with the watches; of the folders only what can be said on this host, if they may be looked at."""
    wanted = {str(directory / watch.folder) for watch in watches if watch.enabled}
    failures = {} if folders is None else folders.failures_with(wanted, PATIENCE)
    enabled = [watch for watch in watches if watch.enabled]
    entities = {batch.entity for batch in defined.batches}
    for watch in watches:
        broken = None if watch.entity in entities else taking(watch.entity, defined.unreadable)
        if broken is not None:
            said = f"{broken.message}; until that is corrected nothing comes of it."
            yield watch, Finding("Entity", said, broken.mend)
        elif watch.entity not in entities:
            meant = meant_by(watch.entity, defined.batches)
            yield watch, Finding("Entity", f"No batch takes entity '{visible(watch.entity)}'.{meant}")
        if not watch.folder:
            yield watch, Finding("Folder", "It is empty, which is the directory of the configuration itself.")
        if "/" in watch.pattern:
            message = "A pattern is for the file's name without its folders, so one with '/' never matches."
            yield watch, Finding("Pattern", f"{message} Write the folder into Folder, or Recursive = 1.")
        if has_open_bracket(watch.pattern):
            message = "A '[' that no ']' closes stands for itself, so only names with that character match."
            yield watch, Finding("Pattern", f"{message} Close it, or write [[] if that is meant.")
    for watch in enabled:
        failure = failures.get(str(directory / watch.folder))
        if failure is not None:
            message = f"It cannot be listed on this host: {failure}. The leading controller may run on another."
            yield watch, Finding("Folder", message, TO_FOLDER)
    for at, watch in enumerate(enabled):
        for other in enabled[:at]:
            if _overlap(watch, other, directory):
                message = f"Watch '{visible(other.name)}' submits the same files for the same entity: disable one."
                yield watch, Finding("Folder", message)


def _overlap(one: FileWatchRow, other: FileWatchRow, directory: Path) -> bool:
    """Say whether two watches are seen to take the same files; patterns that only might have some in common pass."""
    same = (one.entity, directory / one.folder) == (other.entity, directory / other.folder)
    return same and (fnmatch.fnmatchcase(one.pattern, other.pattern) or fnmatch.fnmatchcase(other.pattern, one.pattern))
