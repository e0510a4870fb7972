"""An upgrade that is killed leaves the old schema or the new one, with all rows, and the next one makes the new one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.store import engine, schema
from batchctl.store.transactions import StoreTransactions
from tests.acceptance.installation import ROOT, RunBatchctl, clean_environment
from tests.control_databases import ControlDatabase
from tests.faults.site import PATIENCE, WAITS, Site
from tests.migrations.test_migrations import FILLED, OF_OLD

OLDEST, *_, OLDER, NEWEST = schema.revisions()
MOMENTS = (1, 5, 20, 60, 120, 200)
"""Before which statement it dies."""
DRIVER = Path(__file__).with_name("dying_upgrade.py")


class Old:
    """A folder with a database of the oldest schema that holds rows."""

    def __init__(self, database: ControlDatabase) -> None:
        """Make it."""
        self.folder = database.directory
        self.file = self.folder / "batchctl.toml"
        self.file.write_text(f'database_url = "{database.url}"\n', encoding="utf-8")
        self.way = StoreTransactions(engine.open_engine(database.url, self.folder, may_create=True))
        self.way.run(frozenset(), lambda connection: schema.upgrade(connection, OLDEST))
        self.way.close()
        self.hand = database.hand()
        for statement in FILLED.split(";"):
            self.hand.sql(statement)
        self.before = self.rows()

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        """Return what the oldest schema holds."""
        return {table: self.hand.sql(f"SELECT {columns} FROM {table} ORDER BY 1") for table, columns in OF_OLD.items()}

    def upgrade_until(self, nth: int) -> subprocess.CompletedProcess[str]:
        """Let an upgrade die before its nth statement."""
        return subprocess.run(
            [sys.executable, str(DRIVER), str(self.file), str(nth)],
            cwd=ROOT,
            env=clean_environment({"PYTHONPATH": str(ROOT)}),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    @property
    def revision(self) -> str:
        """What the database says of its schema."""
        ((revision,),) = self.hand.sql("SELECT version_num FROM alembic_version")
        return str(revision)

    def close(self) -> None:
        self.hand.close()


@pytest.fixture
def old(empty_database: ControlDatabase) -> Iterator[Old]:
    made = Old(empty_database)
    yield made
    made.close()


def test_killed_at_six_moments_it_has_changed_nothing_and_the_next_one_does_all(
    old: Old, run_installed: RunBatchctl
) -> None:
    for nth in MOMENTS:
        assert old.upgrade_until(nth).returncode == -signal.SIGKILL, nth
        assert (old.revision, old.rows()) == (OLDEST, old.before)
    done = run_installed("db", "upgrade", cwd=old.folder)
    assert (done.returncode, f"(before: {OLDEST})" in done.stdout) == (0, True), done.stderr

    assert run_installed("db", "verify", cwd=old.folder).returncode == 0
    assert (old.revision, old.rows()) == (NEWEST, old.before)


def test_of_four_at_once_one_upgrades_and_all_are_content(
    old: Old, installed_batchctl: Path, run_batchctl: RunBatchctl
) -> None:
    four = [
        subprocess.Popen(
            [installed_batchctl, "db", "upgrade"],
            cwd=old.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    said = [one.communicate(timeout=PATIENCE) for one in four]

    assert [one.returncode for one in four] == [0] * 4, said
    assert sum(f"(before: {OLDEST})" in out for out, _ in said) == 1
    assert run_batchctl("db", "verify", cwd=old.folder).returncode == 0
    assert old.rows() == old.before


def test_beneath_a_controller_of_the_older_schema_it_is_refused_and_the_next_one_goes_on_with_the_step(
    site: Site, run_batchctl: RunBatchctl
) -> None:
    site.batch("B", site.leaves_a_line(first=WAITS), site.leaves_a_line(2))
    site.submit("B")
    controller = site.control()
    site.hear()
    # It stands still while the schema is made as it was for those before it.
    site.freeze(controller.pid)
    way = StoreTransactions(engine.open_engine(site.database.url, site.directory))
    way.run(frozenset(), lambda connection: schema.downgrade(connection, OLDER))
    way.close()
    refused = site.run("db", "upgrade")
    assert (refused.returncode, f":{controller.pid}:" in refused.stderr) == (5, True), refused.stderr
    controller.end(signal.SIGKILL)

    assert site.run("db", "upgrade").returncode == 0
    after = site.control("--until-idle", "0.5")
    after.hear("step.adopted")
    site.go()
    assert after.wait() == 0
    assert site.attempts() == [(1, 1, 1, "success"), (1, 2, 1, "success")]
    assert site.effects() == {"1/1": 1, "1/2": 1}
    site.check_laws()
