"""Several things at once, and no longer than agreed."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

from batchctl.system.concurrency.time_limits import all_within
from batchctl.system.host.shares import share_of


def test_what_ends_in_time_is_returned_and_what_does_not_is_left_behind() -> None:
    never = threading.Event()
    found = all_within(timedelta(seconds=0.5), {"quick": lambda: True, "slow": lambda: never.wait(60)})
    never.set()

    assert found == {"quick": True}


def test_they_are_done_at_the_same_time() -> None:
    meeting = threading.Barrier(3)
    works = {name: lambda: meeting.wait(60) >= 0 for name in "abc"}

    assert all_within(timedelta(seconds=60), works) == {"a": True, "b": True, "c": True}


def test_a_share_of_windows_is_told_by_its_name_and_a_folder_of_this_host_is_none(tmp_path: Path) -> None:
    assert share_of(r"\\server\share\batchctl.db") == "a share of Windows"
    assert share_of(str(tmp_path)) is None
