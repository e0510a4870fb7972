"""Which other users of this host have access to a file or a folder of ours."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import grp
    import pwd


@dataclass(frozen=True, slots=True)
class Others:
    """What other users may do: `read`, `change`, `read and change`, or nothing."""

    everybody: str = ""
    group: str = ""
    group_name: str = ""


NO_OTHERS = Others()


def make_private_folder(folder: Path) -> None:
    """Make a folder, with those above it that are missing, for this user alone."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


def others_at(path: Path) -> Others:
    """Return what others may do with a file or a folder; nothing if it does not exist, and on Windows."""
    if sys.platform == "win32":
        return NO_OTHERS
    try:
        found, above = os.stat(path), [os.stat(folder) for folder in path.absolute().parents]
    except OSError:
        return NO_OTHERS
    shares = bool(_others_in(found.st_gid, found.st_uid))
    return Others(
        everybody="" if any(not folder.st_mode & stat.S_IXOTH for folder in above) else _rights(found, above[0], 0),
        group=_rights(found, above[0], 3) if shares and _leads(above, found.st_gid) else "",
        group_name=_group_name(found.st_gid) if shares else "",
    )


def _rights(found: os.stat_result, folder: os.stat_result, shift: int) -> str:
    """Name the rights of one of the threes of bits: 0 of all others, 3 of the group."""
    reads, writes, enters = (bit << shift for bit in (stat.S_IROTH, stat.S_IWOTH, stat.S_IXOTH))
    may_read = found.st_mode & (reads | enters if stat.S_ISDIR(found.st_mode) else reads)
    # A user who may write to the folder may put another file in its place, unless it is sticky.
    is_replaceable = folder.st_mode & writes and not folder.st_mode & stat.S_ISVTX
    if shift and folder.st_gid != found.st_gid:
        is_replaceable = False
    may_change = found.st_mode & writes or is_replaceable
    return " and ".join(word for word, may in (("read", may_read), ("change", may_change)) if may)


def _leads(above: list[os.stat_result], group: int) -> bool:
    """Say whether all folders on the way may be entered by the members of a group."""
    return all(one.st_mode & (stat.S_IXGRP if one.st_gid == group else stat.S_IXOTH) for one in above)


def _others_in(group: int, owner: int) -> set[str]:
    """Return who belongs to a group besides the owner: most users have a group of their own alone."""
    if sys.platform == "win32":
        return set()
    named = set(_members(group)) | {user.pw_name for user in pwd.getpwall() if user.pw_gid == group}
    return named - {user.pw_name for user in pwd.getpwall() if user.pw_uid == owner}


def _members(group: int) -> Iterator[str]:
    if sys.platform != "win32":
        try:
            yield from grp.getgrgid(group).gr_mem
        except KeyError:
            return


def _group_name(group: int) -> str:
    if sys.platform == "win32":
        return str(group)
    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)
