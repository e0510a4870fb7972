"""A look for files tells only what is certain, and waits for no share."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from pathlib import Path

from batchctl.system.glance import AT_ONCE, missing


def test_only_what_is_certainly_not_there_is_missing(tmp_path: Path) -> None:
    here, gone, below = tmp_path / "here.csv", tmp_path / "gone.csv", tmp_path / "here.csv" / "x"
    here.touch()
    dangling = tmp_path / "link"
    dangling.symlink_to(gone)
    paths = [str(path) for path in (here, gone, below, dangling, tmp_path)]

    found = missing([*paths, "gone.csv", "warehouse", "", f"{tmp_path}/a\x00b", f"{tmp_path}/{'x' * 300}"])

    assert found == {str(gone), str(below), str(dangling)}


def test_a_share_that_does_not_answer_keeps_nobody() -> None:
    never = threading.Event()

    def stat(path: str) -> object:
        return never.wait(60) if path.startswith("/share") else os.stat(path)

    shares = [f"/share/{at}" for at in range(AT_ONCE - 1)]
    found = missing(["/nowhere/a", "/nowhere/b", *shares], timedelta(seconds=1), stat)
    nothing = missing(["/share/1"], timedelta(0), stat)
    never.set()

    assert found == {"/nowhere/a", "/nowhere/b"}
    assert nothing == frozenset()


def test_ten_thousand_paths_are_looked_at(tmp_path: Path) -> None:
    paths = {str(tmp_path / f"{at}.csv") for at in range(10_000)}

    assert missing(paths, timedelta(seconds=60)) == paths
