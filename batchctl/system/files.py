"""The few files that are read besides the databases."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

MOST_READ = 16 * 1024 * 1024
"""How many bytes a file may have that is read as a whole."""


def read_text(path: str) -> str:
    """Read a UTF-8 file as it stands, with or without a byte order mark; raises `OSError` for what might never end."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no regular file")
        found = file.read(MOST_READ + 1)
    if len(found) > MOST_READ:
        raise OSError(f"it has more than {MOST_READ} bytes")
    return found.decode("utf-8-sig")


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; do not wait for a writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def is_the_same(one: Path, other: Path) -> bool:
    """Say whether two paths lead to one file, also by links."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def in_the_way_of_writing(directory: Path) -> Path | None:
    """Return what keeps this user from writing into a directory, which may not exist yet; None if nothing does."""
    found = next(each for each in (directory, *directory.parents) if os.path.lexists(each))
    return None if found.is_dir() and os.access(found, os.W_OK | os.X_OK) else found


def in_the_way_of_appending(file: Path) -> Path | None:
    """Return the file itself if this user cannot append to it; None if nothing prevents that."""
    return None if file.is_file() and os.access(file, os.W_OK) else file


def disk_of(place: Path) -> tuple[int, int]:
    """Return which disk something lies on, or is to lie on, and how many bytes this user may still write there."""
    found = next(each for each in (place, *place.absolute().parents) if os.path.lexists(each))
    return os.stat(found).st_dev, shutil.disk_usage(found).free


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all: what stands there is replaced by the finished file, and stays as it was until then.

    A device or a pipe is written as it is. Raises `OSError`.
    """
    # A link stays, and leads to the new file.
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    made = path.with_name(f".{path.name}.{os.getpid()}.part")
    # No program that lives has this number: it is left over.
    made.unlink(missing_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(made, path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
