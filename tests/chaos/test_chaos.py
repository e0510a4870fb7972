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


@pytest.mark.parametrize("kind", ["forgets-on-lost", "believes-nothing-ran"])
def test_the_rig_finds_what_a_broken_engine_doubles(kind: str) -> None:
    outcome = campaign(15, "sqlite", sabotage=kind)

    assert [found for found in outcome.violations if found.promise.startswith("doubled")], figures(outcome)
