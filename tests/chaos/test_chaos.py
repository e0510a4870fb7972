"""Whatever dies, nothing is lost, nothing runs twice unasked, nothing stays stuck: 200 kills on real databases."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.chaos.campaign import Campaign, Options, Outcome
from tests.chaos.hosts import may_be_made
from tests.chaos.report import figures, findings
from tests.chaos.scene import staged
from tests.chaos.shop import Place
from tests.control_databases import SqliteControl


def campaign(kills: int, database: str, *, pools: bool = False, dask: bool = False, agents: bool = False) -> Outcome:
    """Run one in a folder that stays when something was found."""
    directory = Path(tempfile.mkdtemp(prefix=f"batchctl-chaos-{database}-"))
    outcome = Campaign(Options(kills, 1, database, pools=pools, dask=dask, agents=agents), directory).run()
    if not outcome.constraint_findings:
        shutil.rmtree(directory)
    return outcome


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_kills_lose_and_double_nothing(database: str) -> None:
    outcome = campaign(100, database)
    print(figures(outcome))

    assert not outcome.constraint_findings, findings(outcome)
    assert outcome.kills >= 100


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_on_three_hosts_nothing_runs_outside_its_pool(database: str) -> None:
    # Only root gives the machine other names; elsewhere all are one host, where each step may run.
    outcome = campaign(25, database, pools=may_be_made())
    print(figures(outcome))

    assert not outcome.constraint_findings, findings(outcome)
    assert outcome.kills >= 25


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_in_a_cluster_that_is_killed_as_well_nothing_is_lost_or_doubled(database: str) -> None:
    outcome = campaign(10, database, dask=True)
    print(figures(outcome))

    assert not outcome.constraint_findings, findings(outcome)
    assert outcome.kills >= 10


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_with_agents_and_a_console_that_are_killed_as_well_nothing_is_lost_or_doubled(database: str) -> None:
    outcome = campaign(10, database, agents=True)
    print(figures(outcome))

    assert not outcome.constraint_findings, findings(outcome)
    assert outcome.kills >= 10


@pytest.mark.parametrize("kind", ["forgets-on-lost", "believes-nothing-ran"])
def test_the_rig_finds_what_a_broken_engine_doubles(kind: str, sqlite_database: SqliteControl) -> None:
    with staged(Place(sqlite_database), sqlite_database.directory, sabotage=kind) as scene:
        scene.hand_in("hold_many", "long.ok.ok", times=2)
        dying = scene.worker()
        scene.until(lambda: len(scene.wording("B")) == 2)
        scene.kill(dying)
        scene.kill_all("supervisor")
        other = scene.worker()
        scene.until_over()
        scene.end(other)

        assert "doubled: a step that may have run was started again unasked" in scene.constraint_findings()
