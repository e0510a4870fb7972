"""An upgrade that is killed leaves what was there, or what it makes, with all rows; the next one makes the rest."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchctl.store import engine
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions
from tests.acceptance.installation import RunBatchctl, StartBatchctl, clean_environment
from tests.control_databases import ControlDatabase
from tests.faults import dying_upgrade
from tests.faults.site import PATIENCE, WAITS, Site
from tests.loaded_batchctl import LoadedBatchctl
from tests.migrations.test_migrations import FILLED, KEPT, spoil

MOMENTS = (1, 3, 8, 20, 60, 120)
"""Before which statement it dies."""


def upgrade_until(loaded: LoadedBatchctl, file: Path, nth: int) -> subprocess.CompletedProcess[str]:
    """Let an upgrade die before its nth statement."""
    return loaded.run(str(file), str(nth), cwd=file.parent, env=clean_environment(), program=dying_upgrade.__name__)


class Old:
    """A folder with a database that holds rows, and whose views and triggers are of an older version."""

    def __init__(self, database: ControlDatabase) -> None:
        """Make it."""
        self.folder = database.directory
        self.file = self.folder / "batchctl.toml"
        self.file.write_text(f'database_url = "{database.url}"\n', encoding="utf-8")
        self.way = StoreTransactions(engine.open_engine(database.url, self.folder, may_create=True))
        self.way.run(frozenset(), schema.upgrade)
        self.hand = database.hand()
        for statement in FILLED.split(";"):
            self.hand.sql(statement)
        self.before = self.rows()
        spoil(self.way)
        self.spoilt = self.differences()

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        """Return what was inserted."""
        return {table: self.hand.sql(f"SELECT * FROM {table} ORDER BY 1") for table in KEPT}

    def differences(self) -> list[str]:
        """Return what is not as this version makes it."""
        with self.way.read() as connection:
            return schema.differences(connection)

    def close(self) -> None:
        self.way.close()
        self.hand.close()


@pytest.fixture
def old(empty_database: ControlDatabase) -> Iterator[Old]:
    made = Old(empty_database)
    yield made
    made.close()


def upgrades_of(database: ControlDatabase) -> StoreTransactions:
    return StoreTransactions(engine.open_engine(database.url, database.directory, may_create=True))


def test_killed_at_six_moments_it_has_changed_nothing_and_the_next_one_does_all(
    old: Old, loaded_batchctl: LoadedBatchctl, run_batchctl: RunBatchctl
) -> None:
    for nth in MOMENTS:
        # It does all where it has fewer.
        assert upgrade_until(loaded_batchctl, old.file, nth).returncode in (0, -signal.SIGKILL)
        assert (old.differences(), old.rows()) in ((old.spoilt, old.before), ([], old.before)), nth
    done = run_batchctl("db", "upgrade", cwd=old.folder)
    assert done.returncode == 0, done.stderr

    assert run_batchctl("db", "verify", cwd=old.folder).returncode == 0
    assert (old.differences(), old.rows()) == ([], old.before)


@pytest.mark.parametrize("nth", MOMENTS)
def test_killed_while_it_makes_a_database_it_has_made_nothing(
    empty_database: ControlDatabase, loaded_batchctl: LoadedBatchctl, run_batchctl: RunBatchctl, nth: int
) -> None:
    file = empty_database.directory / "batchctl.toml"
    file.write_text(f'database_url = "{empty_database.url}"\n', encoding="utf-8")
    died = upgrade_until(loaded_batchctl, file, nth)
    assert died.returncode == -signal.SIGKILL
    with closing(upgrades_of(empty_database)) as way, way.read() as connection:
        assert schema.revision_of(connection) is None

    assert run_batchctl("db", "upgrade", cwd=file.parent).returncode == 0
    assert run_batchctl("db", "verify", cwd=file.parent).returncode == 0


def test_of_four_at_once_one_upgrades_and_all_are_content(
    old: Old, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> None:
    four = [start_batchctl("db", "upgrade", cwd=old.folder) for _ in range(4)]
    said = [one.communicate(timeout=PATIENCE) for one in four]

    assert [one.returncode for one in four] == [0] * 4, said
    assert any("were made anew" in out for out, _ in said)
    assert old.differences() == []
    assert run_batchctl("db", "verify", cwd=old.folder).returncode == 0
    assert old.rows() == old.before


def test_beneath_a_controller_of_the_older_schema_it_is_refused_and_the_next_one_goes_on_with_the_step(
    site: Site, run_batchctl: RunBatchctl
) -> None:
    site.batch("B", site.leaves_a_line(first=WAITS), site.leaves_a_line(2))
    site.submit("B")
    controller = site.control()
    site.hear()
    # It stands still while views and triggers are made as they were for those before it.
    site.freeze(controller.pid)
    with closing(StoreTransactions(engine.open_engine(site.database.url, site.directory))) as way:
        spoil(way)
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
