"""Real controllers of the installed command, on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import (
    installed_batchctl,
    loaded_batchctl,
    run_batchctl,
    run_installed,
    shared_folder,
    wheel,
)
from tests.acceptance.installation import RunBatchctl
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.faults.site import Site, opened

__all__ = ["installed_batchctl", "loaded_batchctl", "run_batchctl", "run_installed", "shared_folder", "wheel"]


@pytest.fixture
def site(control_database: ControlDatabase, installed_batchctl: Path, run_batchctl: RunBatchctl) -> Iterator[Site]:
    with opened(control_database, installed_batchctl, run_batchctl) as made:
        yield made


@pytest.fixture
def sqlite_site(sqlite_database: SqliteControl, installed_batchctl: Path, run_batchctl: RunBatchctl) -> Iterator[Site]:
    with opened(sqlite_database, installed_batchctl, run_batchctl) as made:
        yield made


@pytest.fixture
def postgres_site(
    postgres_database: PostgresControl, installed_batchctl: Path, run_batchctl: RunBatchctl
) -> Iterator[Site]:
    with opened(postgres_database, installed_batchctl, run_batchctl) as made:
        yield made
