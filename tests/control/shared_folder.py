"""A folder as the engine's port shows it: the test says what lies in it, and when it answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from batchctl.control.intake.file_watching import FileWatching, WatchMeans
from batchctl.domain.arrivals import FolderListing, FoundFile
from batchctl.ports import Clock, FolderPage, FolderReport, FolderWalk, Inspected
from tests.control.world import World

POLL = timedelta(seconds=15)
PAGE = 1000


@dataclass
class SharedFolder:
    """A `Folders` with one folder for everybody."""

    clock: Clock
    files: dict[str, FoundFile] = field(default_factory=dict)
    failure: str | None = None
    is_whole: bool = True
    answers: bool = True
    walks: list[FolderWalk] = field(default_factory=list)
    pages: int = 0
    inspected: list[tuple[str, bool]] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    """Files that are not as they were listed when they are looked at closer."""
    unreadable: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    reports: list[FolderReport] = field(default_factory=list)

    def put(self, path: str, size: int = 1, modified_ns: int = 5, number: int | None = 7) -> None:
        """Put a file there, or change it."""
        self.files[path] = FoundFile(path, size, modified_ns, number)

    def walk(self, walk: FolderWalk) -> None:
        """Answer at once, if it answers."""
        self.walks.append(walk)
        if self.answers:
            self.reports.extend(self._pages(walk))

    def _pages(self, walk: FolderWalk) -> Iterator[FolderPage]:
        files = [] if self.failure else [*self.files.values()]
        now = self.clock.monotonic()
        last = max(0, len(files) - 1) // PAGE
        left = walk.most
        for at in range(last + 1):
            page = files[at * PAGE : (at + 1) * PAGE]
            rows = [walk.row_of(file) for file in page]
            new = [file for file, row in zip(page, rows, strict=True) if row is None][:left]
            left -= len(new)
            self.pages += 1
            is_last = at == last
            yield FolderPage(
                key=walk.key,
                listing=FolderListing(walk.number, now, now),
                files=new,
                remembered=[row for row in rows if row is not None],
                passed_over=[],
                entries=len(files),
                walk_begun=now,
                is_last=is_last,
                failure=self.failure if is_last else None,
                is_whole=is_last and self.is_whole and self.failure is None and left > 0,
            )

    def inspect(self, key: int, folder: str, file: FoundFile, *, content: bool) -> None:
        """Say what the test says of it."""
        self.inspected.append((file.path, content))
        failure = self.unreadable.get(file.path)
        digest = self.digests.get(file.path) if content else None
        self.reports.append(Inspected(key, file, digest, file.path in self.changed, failure))

    def collect(self, wait: timedelta = timedelta(0)) -> Sequence[FolderReport]:
        """Return what has been reported."""
        found, self.reports = self.reports, []
        return found

    def failures_with(self, folders: Collection[str], within: timedelta) -> Mapping[str, str]:
        """Nobody asks here."""
        raise AssertionError(folders, within)

    def leave(self, key: int) -> None:
        """Note who is gone."""
        self.left.append(key)

    def close(self) -> None:
        """Nothing to end."""


class Shop:
    """A world with a batch, a watched folder, and the leader who watches it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = SharedFolder(world.clock)
        self.duty = self.leader()

    def leader(self, transactions: Any = None) -> FileWatching:
        """Return the duty of a controller that knows nothing yet."""
        world = self.world
        means = WatchMeans(transactions or world.transactions, world.clock, self.folder, world.events.append, POLL)
        return FileWatching(means, Path("/base"))

    def watch(self, name: str = "w", **columns: object) -> None:
        """Register a watch by a row."""
        self.world._insert("FileWatch", {"WatchName": name, "Entity": "B", "Folder": "in", **columns})

    def restart(self) -> None:
        """Lose everything that is only in memory."""
        self.duty = self.leader()

    def turns(self, most: int = 50) -> int:
        """Let the leader look until nothing more is under way at this moment; return how often that was."""
        for turn in range(most):
            self.duty.look()
            if not self.folder.reports and not any(watch._arrivals for watch in self.duty._watches.values()):
                return turn
        raise AssertionError("it does not come to rest")

    def later(self, seconds: float = POLL.total_seconds()) -> None:
        """Let time pass, and the leader look."""
        self.world.clock.advance(timedelta(seconds=seconds))
        self.turns()

    def submitted(self) -> list[str]:
        """Return what was submitted, in order."""
        found = self.world.sql("SELECT FileName FROM FileProcess ORDER BY FileProcess_id")
        return [str(row[0]).removeprefix("/base/in/") for row in found]

    def log(self) -> list[tuple[Any, ...]]:
        """Return what the log says."""
        return self.world.sql(
            "SELECT EventType, Source, FileProcess_id, Message FROM SchedulerLog ORDER BY SchedulerLog_id"
        )
