"""Lists folders on threads. Links are never followed, and nothing but a regular file is ever opened."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hashlib import sha256
from itertools import count
from queue import Empty, PriorityQueue, SimpleQueue
from typing import Any

from batchctl.domain.arrivals import FolderListing, FoundFile
from batchctl.domain.text import visible
from batchctl.ports import FolderPage, FolderReport, FolderWalk, Inspected
from batchctl.system.concurrency.time_limits import all_within
from batchctl.system.host import shares
from batchctl.system.host.platform import is_folder, is_in_use

PAGE = 1000
"""How many files are reported together at most."""
BEAT = 1.0
"""Seconds after which a walk reports what it has, so that it is seen to go on."""
SLICE = 0.5
"""Seconds for which one file is read before the next has its turn."""
_CHUNK = 1 << 20
_LARGEST = 2**63 - 1
_FIRST, _NEXT = 0, 1
_OPENING = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _OPENING |= getattr(os, _flag, 0)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}
_REMEDIES = {
    errno.ENOENT: "make the folder, mount its share, or correct FileWatch.Folder",
    errno.ENOTDIR: "correct FileWatch.Folder",
    errno.EACCES: "give the controller's user the right to read it",
    errno.EPERM: "give the controller's user the right to read it",
}
_ELSE = "see whether its share is there"

Post = Callable[[FolderReport], None]
Job = Callable[[], "Job | None"]
"""Something to do, which returns what is left of it."""


class ThreadFolders:
    """The `Folders` of the product."""

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        """Start nothing yet; `wake` is called whenever there is something to collect."""
        self._wake = wake
        self._reports: SimpleQueue[FolderReport] = SimpleQueue()
        self._walkers: dict[int, _Walker] = {}

    def walk(self, walk: FolderWalk) -> None:
        """Begin a walk."""
        self._walker(walk.key).do(_FIRST, _Walk(walk, self._post).go)

    def inspect(self, key: int, folder: str, file: FoundFile, *, content: bool) -> None:
        """Look closer at a file."""
        path = os.path.join(folder, *file.path.split("/"))
        reading = _Reading(key, path, file, self._post) if content else None
        self._walker(key).do(_NEXT, partial(_look, key, path, file, reading, self._post))

    def collect(self, wait: timedelta = timedelta(0)) -> Sequence[FolderReport]:
        """Return what has been reported."""
        found: list[FolderReport] = []
        if wait:
            try:
                found.append(self._reports.get(timeout=wait.total_seconds()))
            except Empty:
                return found
        while not self._reports.empty():
            found.append(self._reports.get())
        return found

    def failures_with(self, folders: Collection[str], within: timedelta) -> Mapping[str, str]:
        """Say why folders cannot be listed on this host."""
        silent = f"it has not answered for {within.total_seconds():g} s; {_ELSE}"
        said = all_within(within, {folder: partial(_failure_with, folder) for folder in folders})
        found = {folder: said.get(folder, silent) for folder in folders}
        return {folder: failure for folder, failure in found.items() if failure is not None}

    def leave(self, key: int) -> None:
        """Let a thread end once it has finished its current work."""
        walker = self._walkers.pop(key, None)
        if walker is not None:
            walker.close()

    def close(self) -> None:
        """Let all of them end."""
        for key in list(self._walkers):
            self.leave(key)

    def _walker(self, key: int) -> _Walker:
        if key not in self._walkers:
            self._walkers[key] = _Walker()
        return self._walkers[key]

    def _post(self, report: FolderReport) -> None:
        self._reports.put(report)
        self._wake()


class _Walker:
    """One thread: a long job gives way to the others, and walks go first."""

    def __init__(self) -> None:
        self._jobs: PriorityQueue[tuple[int, int, Job | None]] = PriorityQueue()
        self._numbers = count()
        self._is_closed = False
        threading.Thread(target=self._serve, name="batchctl-folder", daemon=True).start()

    def do(self, priority: int, job: Job | None) -> None:
        self._jobs.put((priority, next(self._numbers), job))

    def close(self) -> None:
        self._is_closed = True
        self.do(_FIRST, None)

    def _serve(self) -> None:
        while (job := self._jobs.get()[2]) is not None and not self._is_closed:
            rest = job()
            if rest is not None:
                self.do(_NEXT, rest)


@dataclass(slots=True)
class _Page:
    """What was found since the last report."""

    begun: float
    files: list[FoundFile] = field(default_factory=list)
    remembered: list[int] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)


class _Walk:
    """One walk through a folder."""

    def __init__(self, walk: FolderWalk, post: Post) -> None:
        self._walk = walk
        self._post = post
        self._numbers = False
        self._entries = 0
        self._returned = 0
        self._failure: str | None = None
        self._is_whole = True
        self._begun = 0.0
        self._page = _Page(0.0)

    def go(self) -> None:
        self._begun = time.monotonic()
        self._page = _Page(self._begun)
        try:
            self._numbers = shares.keeps_numbers(os.path.realpath(self._walk.folder))
            self._go()
        except Exception as error:  # noqa: BLE001 - the end of the walk has to be reported whatever happens
            self._give_up(f"{type(error).__name__}: {error}")
        self._report(is_last=True)

    def _go(self) -> None:
        places = [""]
        while places:
            place = places.pop()
            here = os.path.join(self._walk.folder, place) if place else self._walk.folder
            try:
                with os.scandir(here) as entries:
                    for entry in entries:
                        if self._meet(entry, place):
                            places.append(f"{place}{entry.name}/")
                        if len(self._page.files) >= PAGE or time.monotonic() - self._page.begun >= BEAT:
                            self._report()
            except OSError as error:
                if place and isinstance(error, FileNotFoundError):
                    # Somebody has removed it meanwhile.
                    self._is_whole = False
                else:
                    self._give_up(_wording(error, here))

    def _meet(self, entry: os.DirEntry[str], place: str) -> bool:
        """Look at an entry; true when it is a folder to be entered."""
        self._entries += 1
        path = place + entry.name
        try:
            if self._walk.is_recursive and is_folder(entry):
                return True
            reason = self._walk.names.why_not(entry.name) or self._consider(entry, path)
        except FileNotFoundError:
            self._is_whole = False
            reason = "it has just gone"
        except OSError as error:
            self._give_up(_wording(error, entry.path))
            reason = "it cannot be looked at"
        if reason is not None and self._walk.tells_all:
            self._page.passed_over.append((path, reason))
        return False

    def _consider(self, entry: os.DirEntry[str], path: str) -> str | None:
        """Return a file that is not remembered; report why one is not returned, unless it is remembered."""
        if not entry.is_file(follow_symlinks=False):
            return f"it is no regular file but {_kind(entry)}"
        file = self._found(path, entry.stat(follow_symlinks=False))
        row_id = self._walk.row_of(file)
        if row_id is not None:
            self._page.remembered.append(row_id)
            return None
        marker = self._walk.names.marker_of(entry.path)
        if marker is not None:
            if not _is_regular(marker):
                return f"its marker is missing: '{visible(os.path.basename(marker))}'"
            # An earlier sight of the file, before the marker was there, may have been of an incomplete one.
            file = self._found(path, os.lstat(entry.path))
        if self._returned >= self._walk.most:
            self._is_whole = False
            return "it is left to a later walk: too many others come first"
        self._returned += 1
        self._page.files.append(file)
        return None

    def _found(self, path: str, status: os.stat_result) -> FoundFile:
        return _found(path, status, numbers=self._numbers)

    def _give_up(self, failure: str) -> None:
        self._failure = self._failure or failure
        self._is_whole = False

    def _report(self, *, is_last: bool = False) -> None:
        page, now = self._page, time.monotonic()
        self._post(
            FolderPage(
                key=self._walk.key,
                listing=FolderListing(self._walk.number, page.begun, now),
                files=page.files,
                remembered=page.remembered,
                passed_over=page.passed_over,
                entries=self._entries,
                walk_begun=self._begun,
                is_last=is_last,
                failure=self._failure if is_last else None,
                is_whole=is_last and self._is_whole,
            )
        )
        self._page = _Page(now)


@dataclass(slots=True)
class _Reading:
    """A file that is read for its digest, a slice at a time; it is open only meanwhile."""

    key: int
    path: str
    file: FoundFile
    post: Post
    at: int = 0
    digest: Any = field(default_factory=sha256)

    def go_on(self) -> Job | None:
        """Read for a while; return what is left to do."""
        until = time.monotonic() + SLICE
        descriptor = os.open(self.path, _OPENING)
        with open(descriptor, "rb", buffering=0) as opened:
            if not _is_as_listed(self.file, os.fstat(descriptor)):
                self._end(is_changed=True)
                return None
            opened.seek(self.at)
            while chunk := opened.read(_CHUNK):
                self.digest.update(chunk)
                self.at += len(chunk)
                if time.monotonic() >= until:
                    return partial(_guarded, self.key, self.path, self.file, self.go_on, self.post)
            is_same = self.at == self.file.size and _is_as_listed(self.file, os.fstat(descriptor))
        self._end(is_changed=not is_same)
        return None

    def _end(self, *, is_changed: bool) -> None:
        self.post(Inspected(self.key, self.file, None if is_changed else self.digest.hexdigest(), is_changed))


def _look(key: int, path: str, file: FoundFile, reading: _Reading | None, post: Post) -> Job | None:
    def look() -> Job | None:
        if not _is_as_listed(file, os.lstat(path)) or is_in_use(path):
            post(Inspected(key, file, is_changed=True))
            return None
        if reading is not None:
            return reading.go_on()
        post(Inspected(key, file))
        return None

    return _guarded(key, path, file, look, post)


def _guarded(key: int, path: str, file: FoundFile, work: Job, post: Post) -> Job | None:
    try:
        return work()
    except FileNotFoundError:
        post(Inspected(key, file, is_changed=True))
    except OSError as error:
        post(Inspected(key, file, failure=_wording(error, path)))
    return None


def _found(path: str, status: os.stat_result, *, numbers: bool) -> FoundFile:
    # No column holds more than that, and a file may have any year.
    modified = max(-_LARGEST, min(status.st_mtime_ns, _LARGEST))
    return FoundFile(path, status.st_size, modified, (status.st_ino or None) if numbers else None)


def _is_as_listed(file: FoundFile, status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and file.is_as(_found(file.path, status, numbers=True))


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError as error:
        # A name that is too long with a marker's ending has none.
        if error.errno in {errno.ENOENT, errno.ENAMETOOLONG}:
            return False
        raise


def _kind(entry: os.DirEntry[str]) -> str:
    return _KINDS.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), "something else")


def _failure_with(folder: str) -> str | None:
    try:
        with os.scandir(folder) as entries:
            next(iter(entries), None)
    except OSError as error:
        return _wording(error, folder)
    return None


def _wording(error: OSError, path: str) -> str:
    remedy = _REMEDIES.get(error.errno or 0, _ELSE)
    return f"{error.strerror or error}: '{visible(path)}'; {remedy}"
