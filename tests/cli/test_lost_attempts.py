"""An attempt that was lost may be at work still: whoever runs its step again without a card is warned."""

from __future__ import annotations

import json

import pytest

from tests.cli.shop import Shop

MANY = (
    "Warning: an attempt of BatchControl 1 was lost: look whether anything of it is at work still."
    " Next: batchctl history 1"
)
WARNING = (
    "Warning: an attempt was lost: look whether anything of it is at work still (process 7 on etl9)."
    " Next: batchctl history 1"
)
RERUN = ("rerun", "1", "--reason", "x")


@pytest.fixture
def given_up(shop: Shop) -> Shop:
    """An instance that was cancelled after an attempt of it was lost."""
    shop.batch("Load", "false", RetryCount=0)
    shop.arrive("Load")
    shop("run", "--once")
    shop.sql("UPDATE BatchProcessHistory SET Status = 'lost', Spawned = StartTime, Host = 'etl9', Pid = 7")
    shop.sql("UPDATE BatchControl SET Status = 'cancelled'")
    return shop


@pytest.mark.parametrize("how", [(), ("--yes",), ("--json",)])
def test_rerun_warns_where_no_card_is_shown(given_up: Shop, how: tuple[str, ...]) -> None:
    assert given_up(*RERUN, *how) == 0
    assert given_up.err.count(WARNING) == 1
    if how == ("--json",):
        assert json.loads(given_up.out)["After"]["Status"] == "ready"


def test_with_a_card_it_says_so_there(given_up: Shop) -> None:
    assert given_up(*RERUN, "--dry-run") == 0
    assert "an attempt was lost: look whether anything of it is at work still" in given_up.out
    assert WARNING not in given_up.err


def test_what_has_failed_is_run_again_without_a_warning(given_up: Shop) -> None:
    given_up.sql("UPDATE BatchProcessHistory SET Status = 'failed'")
    assert given_up(*RERUN) == 0
    assert WARNING not in given_up.err


def test_rerun_of_many_names_what_was_lost(given_up: Shop) -> None:
    assert given_up("rerun", "--status", "cancelled", "--yes", "--reason", "x") == 0
    assert given_up.err.count(MANY) == 1


def test_what_is_asked_for_by_a_row_is_answered_with_it(given_up: Shop) -> None:
    given_up.sql("INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES ('rerun', 1, 'x')")
    given_up("run", "--once")

    ((answer,),) = given_up.sql("SELECT Answer FROM OperatorRequest")
    assert answer.endswith("An attempt was lost: look whether anything of it is at work still (process 7 on etl9).")
