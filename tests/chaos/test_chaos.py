"""Whatever dies, nothing is lost, nothing runs twice unasked, nothing stays stuck: 200 kills on real databases."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.chaos.campaign import Campaign, Options, Outcome
from tests.chaos.report import figures, findings


def campaign(kills: int, database: str, sabotage: str | None = None) -> Outcome:
    """Run one in a folder that stays when something was found."""
    directory = Path(tempfile.mkdtemp(prefix=f"batchctl-chaos-{database}-"))
    outcome = Campaign(Options(kills, 1, database, sabotage), directory).run()
    if not outcome.violations or sabotage is not None:
        shutil.rmtree(directory)
    return outcome


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_kills_lose_and_double_nothing(database: str) -> None:
    outcome = campaign(100, database)
    print(figures(outcome))

    assert not outcome.violations, findings(outcome)
    assert outcome.kills >= 100


def test_the_rig_finds_an_engine_that_forgets_what_on_lost_says() -> None:
    outcome = campaign(40, "sqlite", sabotage="forgets-on-lost")

    assert "doubled: a step that may have run was started again unasked" in {
        found.promise for found in outcome.violations
    }
