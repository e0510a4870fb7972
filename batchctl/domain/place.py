"""Where a control database is: what distinguishes it from its copies."""

from __future__ import annotations

import json
from typing import Any


def is_same(kept: str, here: str) -> bool:
    """Say whether a database is where it was.

    A file is known by its number, as long as it keeps its path or its disk: disks are numbered anew when a host starts, and
    numbers of files repeat on other disks. A server's database is known by the number that the server gave it.
    """
    before, now = _read(kept), _read(here)
    if "oid" in now:
        return bool(before.get("oid") == now["oid"])
    is_same_file = before.get("inode") == now.get("inode")
    return is_same_file and any(before.get(key) == now.get(key) for key in ("path", "device"))


def described(kept: str) -> str:
    """Name the place to people."""
    place = _read(kept)
    return str(place.get("path") or place.get("database") or kept)


def file_at(here: str | None) -> str | None:
    """Return the path of a database that is a file."""
    path = _read(here).get("path") if here is not None else None
    return None if path is None else str(path)


def _read(place: str) -> dict[str, Any]:
    try:
        found = json.loads(place)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
