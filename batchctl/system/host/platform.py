"""The one place that chooses between POSIX and Windows."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from batchctl.system.host.windows import (
        STOP_SIGNAL,
        Tree,
        boot_id,
        end_own_tree,
        find_left_over,
        flush_c_streams,
        has_ended,
        is_folder,
        is_in_use,
        keep_children,
        start_outliving,
        started,
        stop_left_over,
        try_lock,
        unlock,
        user_name,
    )
else:
    from batchctl.system.host.posix import (
        STOP_SIGNAL,
        Tree,
        boot_id,
        end_own_tree,
        find_left_over,
        flush_c_streams,
        has_ended,
        is_folder,
        is_in_use,
        keep_children,
        start_outliving,
        started,
        stop_left_over,
        try_lock,
        unlock,
        user_name,
    )

__all__ = [
    "STOP_SIGNAL",
    "Tree",
    "boot_id",
    "end_own_tree",
    "find_left_over",
    "flush_c_streams",
    "has_ended",
    "is_folder",
    "is_in_use",
    "keep_children",
    "start_outliving",
    "started",
    "stop_left_over",
    "try_lock",
    "unlock",
    "user_name",
]
