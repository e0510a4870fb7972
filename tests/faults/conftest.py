"""Real controllers of the installed command, on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.faults.site import Site, opened


@pytest.fixture
def site(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Site]:
    with opened(control_database, start_batchctl, run_batchctl) as made:
        yield made


@pytest.fixture
def sqlite_site(
    sqlite_database: SqliteControl, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Site]:
    with opened(sqlite_database, start_batchctl, run_batchctl) as made:
        yield made


@pytest.fixture
def postgres_site(
    postgres_database: PostgresControl, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Site]:
    with opened(postgres_database, start_batchctl, run_batchctl) as made:
        yield made
