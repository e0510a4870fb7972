"""Where tests keep their files: in memory where there is room, for they write thousands of databases to disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_ROOM = 10 * 1024**3


def quick_folder() -> str | None:
    """Return a folder in memory that has room and lets programs be executed; None where there is none."""
    in_memory = Path("/dev/shm")
    if not in_memory.is_dir() or shutil.disk_usage(in_memory).free < _ROOM:
        return None
    return None if os.statvfs(in_memory).f_flag & os.ST_NOEXEC else str(in_memory)
