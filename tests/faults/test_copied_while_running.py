"""Copies that are taken while a controller works are sound, and run nothing until a person adopts them."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.control_databases import SqliteControl
from tests.faults.site import Site, back_up, opened

COPIES = 6
BATCHES, ROWS = 3, 200
REFUSED = 4


def copy_files(site: Site, folder: Path) -> None:
    """Copy the file and what lies beside it, while nobody writes: a copier of files knows nothing of transactions."""
    site.hand.begin_writing()
    # A process of its own: one that closes the file it has open itself gives up all locks upon it.
    subprocess.run(["cp", *site.directory.glob("batchctl.db*"), folder], check=True)
    site.hand.sql("ROLLBACK")


def copy_by_backup(site: Site, folder: Path) -> None:
    """Copy it as SQLite itself does, beside whoever writes."""
    back_up(site.database_file, folder / site.database_file.name)


@pytest.mark.parametrize("copy", [copy_by_backup, copy_files])
def test_a_copy_is_sound_and_runs_nothing_until_it_is_adopted(
    sqlite_site: Site,
    copy: Callable[[Site, Path], None],
    start_batchctl: StartBatchctl,
    run_batchctl: RunBatchctl,
    tmp_path: Path,
) -> None:
    site = sqlite_site
    for batch in range(BATCHES):
        site.batch(f"B{batch}", site.leaves_a_line(1), site.leaves_a_line(2))
        site.submit_many(f"B{batch}", [str(row) for row in range(ROWS)])
    controller = site.control("--slots", "2")
    copies = [tmp_path / f"copy {number}" for number in range(COPIES)]
    for number, folder in enumerate(copies):
        controller.hear("step.ended", 1 + 10 * number)
        folder.mkdir()
        copy(site, folder)
    assert controller.end() == 0
    for folder in copies:
        with closing(sqlite3.connect(folder / "batchctl.db")) as looked:
            assert looked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        with opened(SqliteControl(folder), start_batchctl, run_batchctl) as other:
            check_that_nothing_runs(other)
            if folder == copies[-1]:
                check_that_it_runs_once_adopted(other)
    assert set(site.effects().values()) == {1}
    site.check_laws()


def check_that_nothing_runs(copied: Site) -> None:
    """Try all that carries out work."""
    before = copied.attempts()
    for words in (("run", "--once"), ("process",), ("create",)):
        refused = copied.run(*words)
        assert (refused.returncode, "is a copy of" in refused.stderr) == (REFUSED, True), refused.stderr
    assert copied.attempts() == before
    assert copied.effects() == {}


def check_that_it_runs_once_adopted(copied: Site) -> None:
    """Let it work apart; what the other controller was at when it was copied waits for that one."""
    done = [row[:2] for row in copied.attempts()]
    assert copied.run("db", "adopt", "--apart", "--reason", "to try something").returncode == 0
    assert copied.run("run", "--once", "--slots", "2").returncode == 0
    assert set(copied.effects().values()) == {1}
    assert copied.effects().keys().isdisjoint(f"{instance}/{seq}" for instance, seq in done)
