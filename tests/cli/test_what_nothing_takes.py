"""What cannot be meant so, and rows that a hand has rejected: every face names the reason and what to do."""

from __future__ import annotations

import pytest

from tests.cli.shop import Shop

UNTAKEN = "no reason was given; no batch takes entity 'Martians'. Known: Load."


@pytest.fixture
def rejected(shop: Shop) -> Shop:
    """A row of an entity that no batch takes, rejected by hand."""
    shop.batch("Load")
    shop.arrive("Martians", FileName="/in/a.csv")
    shop.sql("UPDATE FileProcess SET Status = 'rejected'")
    return shop


def test_a_row_rejected_by_hand_is_said_to_be_of_no_batch(rejected: Shop) -> None:
    (item,) = rejected.json("inbox")["Rows"]
    assert item["Because"] == UNTAKEN
    assert item["Next"].startswith("correct Entity of the row")
    for look in ("status", "inbox show 1"):
        rejected(*look.split())
        assert UNTAKEN in " ".join(rejected.out.split()), look


def test_why_says_once_what_to_do_about_it(rejected: Shop) -> None:
    rejected("why", "file:1")

    assert rejected.out.rpartition("\nNext: ")[2].count("correct Entity") == 1


def test_its_incident_says_it_too(rejected: Shop) -> None:
    rejected("run", "--once")

    (said,) = [one["Message"] for one in rejected.json("incidents") if one["Kind"] == "rejected"]
    assert said.endswith("was rejected: no reason was given; no batch takes that entity")


def test_a_row_of_a_batch_that_cannot_be_read_is_taken_by_it(rejected: Shop) -> None:
    hand = rejected.hand()
    try:
        hand.loosen()
        hand.sql("UPDATE ProcessBatch SET ProcessBatchName = 'Martians', ProcessingMode = 'sheduled'")
    finally:
        hand.close()

    (item,) = rejected.json("inbox")["Rows"]
    assert item["Because"] == "no reason was given"


def test_batches_name_what_cannot_be_meant_so(shop: Shop) -> None:
    shop.batch("Load", PopulatorArgs="(", ExpectedCalendar="Mars")
    shop.batch("Other")

    found = {one["ProcessBatchName"]: one["Misread"] for one in shop.json("batches")}
    assert found["Other"] == []
    assert [one["Message"].split(": ")[1] for one in found["Load"]] == ["PopulatorArgs", "ExpectedCalendar"]
    shop("batches")
    assert "ProcessBatch (Load): PopulatorArgs: '(' is not a regular expression" in " ".join(shop.out.split())
    assert "There is no calendar 'Mars'" in " ".join(shop.out.split())
    assert "Next: UPDATE ProcessBatch SET PopulatorArgs = ... WHERE ProcessBatchName = " in shop.out


def test_status_says_of_a_ready_row_which_entity_may_be_meant(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("load")
    for _ in range(2):
        shop("status")
        assert "no batch takes entity 'load'. Did you mean 'Load'?" in " ".join(shop.out.split())
        shop("run", "--once")


def test_the_inbox_names_the_command_that_accepts(shop: Shop) -> None:
    assert shop("inbox", "accept", "1") == 2
    assert "Did you mean 'batchctl accept'?" in shop.err


def test_status_names_a_row_whose_populator_is_not_installed(shop: Shop) -> None:
    shop.batch("Load", Populator="acme")
    shop.arrive("Load")
    shop("run", "--once")

    (item,) = shop.json("inbox")["Rows"]
    (told,) = shop.json("status")["Stuck"]
    assert (told["FileProcess_id"], told["Because"], told["Next"]) == (1, item["Because"], item["Next"])
    shop("status")
    assert item["Because"] in " ".join(shop.out.split())
    assert f"\nNext: {item['Next']}" in shop.out
