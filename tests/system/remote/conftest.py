"""What the tests of agents share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.system.remote.agent import Agent
from tests.leftovers import end_supervisors
from tests.system.remote.agents import Asking, an_agent

WARM_UP = 1000


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    made = an_agent(tmp_path / "state")
    yield made
    made.close()
    end_supervisors(tmp_path)


@pytest.fixture
def asking(agent: Agent, controller_id: str) -> Asking:
    """One whose supervisor is up, so that short leases begin with their steps."""
    made = Asking(agent, controller_id)
    made.start(WARM_UP, "true", within=1.0)
    made.end_of(WARM_UP)
    made.news(made.heard, recorded=[WARM_UP])
    made.said.clear()
    return made
