"""What a person reads ends with what to type next, and that is of use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from batchctl.operations import first_failed
from tests.cli.shop import Shop


def nexts(printed: str) -> list[str]:
    """Return what stands behind `Next:`, and on the lines below it."""
    _, found, rest = printed.partition("Next: ")
    return [line.strip() for line in rest.splitlines()] if found else []


def failing(shop: Shop, count: int) -> None:
    """Let batches fail one after the other."""
    for at in range(1, count + 1):
        shop.batch(f"B{at}", "false")
        shop.arrive(f"B{at}")
        shop("run", "--once")


def test_status_shows_the_newest_that_nobody_has_acknowledged_and_names_the_rest(shop: Shop) -> None:
    failing(shop, 7)
    for number in ("6", "7"):
        assert shop("acknowledge", number, "--reason", "mine") == 0
    seen = shop.json("status")
    shop("status")

    assert [one["Incident_id"] for one in seen["Incidents"]] == [5, 4, 3, 2, 1]
    assert (seen["IncidentCount"], seen["AcknowledgedCount"]) == (7, 2)
    assert "7 open, 2 of them acknowledged; 5 of them below" in shop.out
    assert "batchctl incidents   (all 7 that are open)" in nexts(shop.out)

    assert shop("acknowledge", "4", "--reason", "mine") == 0
    assert [one["Incident_id"] for one in shop.json("status")["Incidents"]] == [5, 3, 2, 1, 7]
    assert [one["Incident_id"] for one in shop.json("incidents")] == [1, 2, 3, 4, 5, 6, 7]


def test_status_that_shows_every_incident_names_no_list_of_them(shop: Shop) -> None:
    failing(shop, 1)
    shop("status")

    assert "Incidents    1 open\n" in shop.out
    assert not [said for said in nexts(shop.out) if said.startswith("batchctl incidents")]


@pytest.mark.parametrize(
    ("words", "added"),
    [
        (("cancel", "7"), "--reason ..."),
        (("rerun", "7", "--set", "Data3=geheim"), "--reason ..."),
        (("inbox", "retry", "--reason", "a b"), "FILEPROCESS_ID..."),
        (("schedule", "add-sql", "x"), "--connection ... --at ..."),
    ],
)
def test_what_lacks_something_is_told_with_it(shop: Shop, words: Sequence[str], added: str) -> None:
    assert shop(*words) == 2

    assert nexts(shop.err) == [f"the same command with {added}", "Code: BC1001"]
    assert "geheim" not in shop.err


def test_a_row_of_a_misspelt_entity_is_told_so_by_a_retry(shop: Shop) -> None:
    shop.batch("Loads")
    shop.arrive("Laods")
    said = "no batch takes entity 'Laods'. Did you mean 'Loads'?"

    assert shop("inbox", "retry", "1", "--reason", "x") == 4
    assert f"Error: FileProcess 1 is ready already: {said}" in shop.err
    assert nexts(shop.err)[0].startswith(
        "correct Entity of the row (UPDATE FileProcess SET Entity = ... WHERE FileProcess_id = "
    )
    assert shop("inbox", "reject", "1", "--reason", "x") == 0
    assert nexts(shop.err) == ["batchctl inbox retry 1 --reason ...   (if it is wanted after all)"]
    assert shop("inbox", "retry", "1", "--reason", "x") == 0
    assert f"Note: {said}" in shop.err


def test_a_paused_row_is_listed_with_what_releases_it(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("Load", Status="paused", Message="look at Data")
    shop.arrive("Load", Status="paused")
    release = "batchctl inbox retry 1 --reason ..."

    assert [row["Next"] for row in shop.json("status")["NotTakenIn"]][1] == release
    assert shop.json("inbox")["Rows"][1]["Next"] == release
    shop("status")
    assert release in shop.out
    assert "somebody inserted or set it as paused" in shop.out
    assert shop("inbox", "retry", "1", "--reason", "x") == 0
    assert shop("inbox", "reject", "2", "--reason", "x") == 0


def test_a_schedule_that_is_removed_leaves_the_list_of_the_others(shop: Shop) -> None:
    shop.batch("Load")
    shop.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('n', 'Load', 'daily', '06:00')"
    )

    assert shop("schedule", "remove", "n", "--reason", "x") == 0
    assert nexts(shop.out) == ["batchctl schedule list"]


@pytest.mark.parametrize(
    ("command", "first"),
    [
        (
            "wc -l -- {FileName}",
            ["batchctl submit Count --file FILE, then: batchctl cancel 1 --reason ...   (if FileName is wrong)"],
        ),
        ("false", []),
    ],
)
def test_a_correction_that_changes_nothing_is_not_offered_as_if_it_did(
    shop: Shop, command: str, first: list[str]
) -> None:
    shop.batch("Count", command)
    shop.arrive("Count", FileName="/nowhere/orders.csv")
    shop("run", "--once")

    assert shop("rerun", "1", "--set", "Data2=other.csv", "--reason", "x", "--dry-run") == 0
    in_vain = "the same command without --dry-run   (what is left runs as if Data2 were not corrected)"
    assert nexts(shop.out) == [*first, in_vain]
    assert shop("rerun", "1", "--reason", "x", "--dry-run") == 0
    assert nexts(shop.out) == ["the same command without --dry-run"]


def test_at_the_end_of_a_run_the_one_to_look_at_is_one_that_stands_failed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = first_failed.first

    def cancelled_meanwhile(*given: Any) -> Any:
        shop.sql("UPDATE BatchControl SET Status = 'cancelled' WHERE BatchControl_id = 1")
        return first(*given)

    for at in (1, 2):
        shop.batch(f"B{at}", "false", RetryCount=0)
        shop.arrive(f"B{at}")
    monkeypatch.setattr(first_failed, "first", cancelled_meanwhile)

    assert shop("run", "--once") == 1
    assert shop.err.endswith("Next: batchctl show 2\n")
