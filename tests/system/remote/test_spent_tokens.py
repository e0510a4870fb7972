"""How long an agent remembers what it was told to start."""

from __future__ import annotations

from batchctl.domain.rows import HistoryId
from batchctl.system.remote.spent_tokens import APART, SpentTokens
from batchctl.system.remote.wire import AgentToken

DATABASE = "database-of-the-test"
FIRST, SECOND = HistoryId(1), HistoryId(2)


def test_what_is_recorded_is_forgotten_once_it_is_too_late_to_start_it() -> None:
    now = [100.0]
    spent = SpentTokens(lambda: now[0])
    spent.begun(AgentToken(DATABASE, FIRST, 1), until=130.0)
    assert spent.recorded(DATABASE, [FIRST]) == set()

    now[0] = 130.0 + APART - 0.1
    assert spent.recorded(DATABASE, []) == set()
    now[0] = 130.0 + APART
    assert spent.recorded(DATABASE, []) == {(DATABASE, FIRST)}
    assert spent.recorded(DATABASE, []) == set()


def test_what_was_begun_by_an_agent_before_is_forgotten_as_soon_as_it_is_recorded() -> None:
    spent = SpentTokens(lambda: 100.0)

    assert spent.recorded(DATABASE, [FIRST, SECOND]) == {(DATABASE, FIRST), (DATABASE, SECOND)}


def test_what_has_not_been_recorded_is_kept() -> None:
    now = [100.0]
    spent = SpentTokens(lambda: now[0])
    spent.begun(AgentToken(DATABASE, FIRST, 1), until=130.0)

    now[0] = 1000.0
    assert spent.recorded(DATABASE, []) == set()
    assert spent.recorded(DATABASE, [FIRST]) == {(DATABASE, FIRST)}
