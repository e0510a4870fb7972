"""The few files that are read besides the databases."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


class SystemFiles:
    """Files of this host."""

    def read_text(self, path: str) -> str:
        """Read a UTF-8 file as it stands, with or without a byte order mark."""
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            return file.read()

    def exists(self, path: str) -> bool:
        """Say whether a regular file is there."""
        return Path(path).is_file()


def is_the_same(one: Path, other: Path) -> bool:
    """Say whether two paths lead to one file, also by links."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def in_the_way_of_writing(directory: Path) -> Path | None:
    """Return what keeps this user from writing into a directory, which may have to be made first; None when nothing does."""
    found = next(each for each in (directory, *directory.parents) if os.path.lexists(each))
    return None if found.is_dir() and os.access(found, os.W_OK | os.X_OK) else found


def in_the_way_of_appending(file: Path) -> Path | None:
    """Return the file itself if this user cannot append to it; None when nothing keeps him from it."""
    return None if file.is_file() and os.access(file, os.W_OK) else file


def disk_of(place: Path) -> tuple[int, int]:
    """Return which disk something lies on, or is to lie on, and how many bytes this user may still write there."""
    found = next(each for each in (place, *place.absolute().parents) if os.path.lexists(each))
    return os.stat(found).st_dev, shutil.disk_usage(found).free
