"""Files that arrive in a watched folder: which of them count, when one is complete, and by what it is known again.

Decided by what is seen to change, by the watcher's own clock: the times that a share writes on its files are compared
with each other, never with any clock.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection
from datetime import datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Annotated

from batchctl.domain.records import Kept
from batchctl.domain.status import DuplicateKey
from batchctl.domain.values import value

IN_PROGRESS = (".tmp", ".part", ".filepart", ".inprogress", ".crdownload")
"""What programs write at the end of a name until the file is there in full."""


@value
class FoundFile:
    """A regular file as it was listed."""

    path: Annotated[str, "FilePath"]
    """Where it is below the watched folder, with `/` between folders."""
    size: Annotated[int, "FileSize"]
    modified_ns: int
    number: Annotated[int | None, "FileNumber", Kept(lambda number: None if number is None else int(number), str)]
    """What tells it from another file of its name, where the file system reliably has such a number."""

    def is_as(self, other: FoundFile) -> bool:
        """Say whether both are the same file in the same state, as far as can be known."""
        known = self.number is not None and other.number is not None
        same = (self.size, self.modified_ns) == (other.size, other.modified_ns)
        return same and (not known or self.number == other.number)


class FileNames:
    """The names that a watch takes."""

    def __init__(self, pattern: str, marker_suffix: str | None = None) -> None:
        """Keep the pattern, which is for the file's name without its folders, letter case as written."""
        self._pattern = pattern
        self._matches = re.compile(fnmatch.translate(pattern)).match
        self._marker_suffix = marker_suffix
        # A pattern that has such an ending means those very files.
        self._unwanted = tuple(each for each in IN_PROGRESS if not pattern.lower().endswith(each))

    def why_not(self, name: str) -> str | None:
        """Return why a file of a name does not count; None when it does."""
        if self._marker_suffix is not None and name.endswith(self._marker_suffix):
            return "it is a marker itself"
        if not self._matches(name):
            return "its name does not match the pattern"
        if name.startswith(".") and not self._pattern.startswith("."):
            return "it is hidden, and the pattern does not begin with a dot"
        if name.lower().endswith(self._unwanted):
            return "its name ends as that of a file which is still being written, and the pattern does not end so"
        return None

    def marker_of(self, name: str) -> str | None:
        """Return the name of the marker that shows a file to be complete, if the watch takes one."""
        return None if self._marker_suffix is None else name + self._marker_suffix


def has_open_bracket(pattern: str) -> bool:
    """Say whether a bracket that begins a set of characters is never closed, so that it stands for itself."""
    return "[" in re.sub(r"\[!?\]?[^\]]*\]", "", pattern)


@value
class FolderListing:
    """Part of a walk through a folder: its number among the walks, and when it was made by the watcher's clock."""

    walk: int
    begun: float
    ended: float


@value
class Sight:
    """A file that is not complete yet, and for how long it has been as it is."""

    file: FoundFile
    walk: int
    since: float
    """In which walk, and at the latest when, it was first seen as it is."""
    last_walk: int


def seen(before: Sight | None, file: FoundFile, listing: FolderListing) -> Sight:
    """Return the sight of a file after this listing."""
    if before is not None and before.file.is_as(file):
        return Sight(before.file, before.walk, before.since, listing.walk)
    return Sight(file, listing.walk, listing.ended, listing.walk)


def is_complete(sight: Sight, listing: FolderListing, settle_seconds: float) -> bool:
    """Say whether a file has been as it is for long enough, and in two walks; 0 takes it as it is first found."""
    if settle_seconds <= 0:
        return True
    return listing.walk > sight.walk and listing.begun - sight.since >= settle_seconds


def duplicate_key(kind: DuplicateKey, file: FoundFile, digest: str | None) -> str:
    """Return what two rows of the same entity have in common when their files count as the same."""
    match kind:
        case DuplicateKey.NAME:
            return f"name:{file.path}"
        case DuplicateKey.NAME_SIZE_TIME:
            return f"name_size_time:{file.path}|{file.size}|{file.modified_ns}"
        case DuplicateKey.CONTENT:
            return f"content:sha256:{digest}"


def age(file: FoundFile) -> tuple[int, str]:
    """Return the order in which files are taken: when they were written, then their paths."""
    return file.modified_ns, file.path


def file_name(folder: str, file: FoundFile) -> str:
    """Return the whole path of a file."""
    return str(PurePath(folder, *file.path.split("/")))


def path_key(path: str) -> bytes:
    """Return what tells a path from any other, whatever its length and whether its bytes are text or not."""
    return sha256(path.encode("utf-8", "surrogatepass")).digest()


class Memory:
    """The files that were taken from a folder, each as it was then, in little memory; other threads may ask it."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._rows: dict[bytes, tuple[int, int, int, int | None]] = {}
        self.missing: dict[int, datetime] = {}
        """The rows of those that are not there any more, and since when."""

    def put(self, key: bytes, row_id: int, file: FoundFile) -> None:
        """Remember a file, whose path has a key, by its row."""
        self._rows[key] = (row_id, file.size, file.modified_ns, file.number)

    def row_of(self, file: FoundFile) -> int | None:
        """Return the row of a file that stands as it was taken."""
        found = self._rows.get(path_key(file.path))
        if found is None:
            return None
        row_id, size, modified_ns, number = found
        return row_id if file.is_as(FoundFile(file.path, size, modified_ns, number)) else None

    def rows_without(self, row_ids: Collection[int]) -> set[int]:
        """Return all rows but those given."""
        return {row_id for row_id, *_ in self._rows.values()} - set(row_ids)

    def forget(self, row_ids: Collection[int]) -> None:
        """Forget those rows."""
        forgotten = set(row_ids)
        self._rows = {key: row for key, row in self._rows.items() if row[0] not in forgotten}
        self.missing = {row_id: since for row_id, since in self.missing.items() if row_id not in forgotten}
