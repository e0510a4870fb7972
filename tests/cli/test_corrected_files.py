"""A watched file that was corrected while its instance waited: whoever gives that up is told what loads the file."""

from __future__ import annotations

import json

import pytest

from tests.cli.shop import Shop
from tests.cli.test_next_steps import nexts

SAID = "while BatchControl 1 waited; no step has read it since, and nothing loads it by itself"
RESEND = "batchctl inbox resend 1 --reason ...   (loads the corrected file)"


@pytest.fixture
def corrected(shop: Shop) -> Shop:
    """A batch that has failed of a file, and the file as it is corrected then."""
    shop.batch("Load", "grep -q good -- {FileName}")
    shop.sql("INSERT INTO FileWatch (WatchName, Entity, Folder, SettleSeconds) VALUES ('w', 'Load', 'in', 0)")
    write(shop, "bad")
    shop("run", "--once")
    write(shop, "good news")
    shop("run", "--once")
    assert shop.sql("SELECT Status FROM BatchControl") == [("failed",)]
    return shop


def write(shop: Shop, text: str) -> None:
    """Write the file."""
    (shop.folder / "in").mkdir(exist_ok=True)
    (shop.folder / "in" / "a.csv").write_text(text, encoding="utf-8")


def test_cancel_names_a_corrected_file_that_nothing_has_read_and_what_loads_it(corrected: Shop) -> None:
    assert corrected("cancel", "1", "--reason", "x", "--dry-run") == 0
    assert SAID in corrected.err
    assert corrected("cancel", "1", "--reason", "x") == 0
    assert SAID in corrected.err
    assert nexts(corrected.out) == [RESEND, "batchctl rerun 1 --reason ...   (if it is wanted after all)"]

    told = f"{SAID}: {RESEND}"
    assert corrected.json("why", "1")["Notes"][-1].endswith(told)
    assert corrected.json("why", "file:1")["Notes"][-1].endswith(told)
    assert corrected.json("watch", "test", "w")["Files"][0]["Reason"].endswith(told)
    corrected("show", "1")
    assert SAID in corrected.err
    assert nexts(corrected.out)[0] == RESEND
    assert corrected.json("show", "1")["CorrectedFile"]["Next"] == RESEND


def test_once_the_corrected_file_is_loaded_nobody_speaks_of_it(corrected: Shop) -> None:
    corrected("cancel", "1", "--reason", "x")
    assert corrected("inbox", "resend", "1", "--reason", "x") == 0
    corrected("run", "--once")

    assert corrected.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [("cancelled",), ("complete",)]
    assert [corrected.json("show", number)["CorrectedFile"] for number in ("1", "2")] == [None, None]
    assert corrected.json("watch", "test", "w")["Files"][0]["Reason"] == "taken already, as FileProcess 2"


def test_what_has_read_the_corrected_file_says_nothing_of_it(corrected: Shop) -> None:
    waiting = corrected.json("show", "1")["CorrectedFile"]
    assert waiting["Message"].endswith("while BatchControl 1 waited: that reads it as it is now")
    assert waiting["Next"] == "once the file is right: batchctl rerun 1 --reason ..."
    corrected("rerun", "1", "--reason", "x", "--yes")
    corrected("run", "--once")

    assert corrected.sql("SELECT Status FROM BatchControl") == [("complete",)]
    assert corrected.json("show", "1")["CorrectedFile"] is None


def test_the_file_of_what_is_skipped_to_its_end_was_not_read(corrected: Shop) -> None:
    assert corrected("skip", "1", "--reason", "x") == 0

    assert nexts(corrected.out) == [RESEND, "batchctl history 1"]


def test_who_cancels_many_is_told_of_each_corrected_file(corrected: Shop) -> None:
    assert corrected("cancel", "--status", "failed", "--reason", "x", "--yes", "--json") == 0

    assert [one["Next"] for one in json.loads(corrected.out)["CorrectedFiles"]] == [RESEND]


def test_while_another_batch_still_works_on_the_row_the_instance_itself_is_run_again(corrected: Shop) -> None:
    corrected.batch("Other", Entity="Load", Enabled=0)
    corrected("create")
    assert corrected("cancel", "1", "--reason", "x") == 0

    assert nexts(corrected.out)[0] == "batchctl rerun 1 --reason ...   (reads the corrected file)"


def test_one_that_is_cancelled_without_a_correction_is_told_nothing(shop: Shop) -> None:
    shop.batch("Load", "false")
    shop.sql("INSERT INTO FileWatch (WatchName, Entity, Folder, SettleSeconds) VALUES ('w', 'Load', 'in', 0)")
    write(shop, "bad")
    shop("run", "--once")
    assert shop("cancel", "1", "--reason", "x") == 0

    assert nexts(shop.out) == ["batchctl rerun 1 --reason ...   (if it is wanted after all)"]


def test_a_corrected_file_that_is_renamed_and_loaded_under_its_new_name_is_spoken_of_no_more(corrected: Shop) -> None:
    corrected("cancel", "1", "--reason", "x")
    (corrected.folder / "in" / "a.csv").rename(corrected.folder / "in" / "b.csv")
    corrected("run", "--once")

    assert corrected.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [("cancelled",), ("complete",)]
    assert corrected.json("show", "1")["CorrectedFile"] is None
    assert not [note for note in corrected.json("why", "file:1")["Notes"] if "corrected" in note]
