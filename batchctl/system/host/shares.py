"""Network shares, on which the locks of a database file cannot be trusted."""

from __future__ import annotations

import re

_SHARES = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "9p", "fuse.sshfs", "fuse.s3fs"}
)
_NUMBERED = frozenset({"nfs", "nfs4", "afs"})
"""Shares on which a file keeps its number as long as it lives; on others it may get a new one with every mount."""
_MOUNTS = "/proc/self/mounts"


def share_of(path: str) -> str | None:
    """Name the kind of network share a path lies on; None when it is on none, or that cannot be known."""
    if path.startswith("\\\\"):
        return "a share of Windows"
    kind = _kind_of(path)
    return kind if kind in _SHARES else None


def keeps_numbers(path: str) -> bool:
    """Say whether the number of a file tells it from others for good where a path lies."""
    if path.startswith("\\\\"):
        return False
    kind = _kind_of(path) or ""
    return kind in _NUMBERED or not (kind in _SHARES or kind.startswith("fuse"))


def _kind_of(path: str) -> str | None:
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as listed:
            return file_system_of(path, listed.read())
    except OSError:
        return None


def file_system_of(path: str, mounts: str) -> str | None:
    """Return the kind of file system that a path lies on, by the system's list of what is mounted where."""
    found, kind_found = "", None
    for line in mounts.splitlines():
        _, place, kind, *_ = line.split(" ")
        place = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), place).rstrip("/")
        # The innermost counts, and of two at one place the last: it lies on top.
        if len(place) >= len(found) and f"{path}/".startswith(f"{place}/"):
            found, kind_found = place, kind
    return kind_found
