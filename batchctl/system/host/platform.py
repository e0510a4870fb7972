"""The one place that chooses between POSIX and Windows."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from batchctl.system.host import windows as twin
else:
    from batchctl.system.host import posix as twin

STOP_SIGNAL = twin.STOP_SIGNAL
Tree = twin.Tree

start_outliving = twin.start_outliving
find_left_over, stop_left_over = twin.find_left_over, twin.stop_left_over
boot_id, started, has_ended = twin.boot_id, twin.started, twin.has_ended
keep_children, end_own_tree, flush_c_streams = twin.keep_children, twin.end_own_tree, twin.flush_c_streams
try_lock, unlock = twin.try_lock, twin.unlock
is_folder, is_in_use = twin.is_folder, twin.is_in_use
user_name = twin.user_name
most_files = twin.most_files
