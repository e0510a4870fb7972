"""A watched file that was rejected because of its name and is renamed: nothing that is hinted at loads it twice."""

from __future__ import annotations

import pytest

from tests.cli.shop import Shop
from tests.cli.test_next_steps import nexts

HINT = (
    "rename the file, which watch w takes then under its new name, and: batchctl inbox reject 1 --reason ...;"
    " or correct Populator and PopulatorArgs of batch Load (UPDATE ...), then: batchctl inbox retry 1 --reason ..."
)
RIGHT, WRONG = "orders_20261101.csv", "ordrs_20261101.csv"


@pytest.fixture
def misnamed(shop: Shop) -> Shop:
    """A file with a name that its populator rejects."""
    shop.batch("Load", "test -e {FileName}", PopulatorArgs=r"orders_(?P<CycleKey>\d+)\.csv")
    shop.sql("INSERT INTO FileWatch (WatchName, Entity, Folder, SettleSeconds) VALUES ('w', 'Load', 'in', 0)")
    (shop.folder / "in").mkdir()
    (shop.folder / "in" / WRONG).write_text("1", encoding="utf-8")
    shop("run", "--once")
    return shop


def rename(shop: Shop) -> None:
    """Do what the hint says, and let the watch take the file."""
    (shop.folder / "in" / WRONG).rename(shop.folder / "in" / RIGHT)
    shop("run", "--once")
    assert shop.sql("SELECT Status FROM FileProcess ORDER BY FileProcess_id") == [("rejected",), ("complete",)]


def test_the_hint_is_to_rename_the_file_and_leads_to_one_load(misnamed: Shop) -> None:
    assert misnamed.json("inbox")["Rows"][0]["Next"] == HINT
    assert misnamed.json("status")["NotTakenIn"][0]["Next"] == HINT
    rename(misnamed)
    assert misnamed("inbox", "reject", "1", "--reason", "renamed") == 0
    misnamed("run", "--once")

    assert misnamed.sql("SELECT count(*) FROM BatchControl") == [(1,)]


@pytest.mark.parametrize("words", [("inbox", "retry"), ("inbox", "resend"), ("accept",)], ids=" ".join)
@pytest.mark.parametrize("name", [WRONG, RIGHT])
def test_the_first_row_of_a_renamed_file_does_not_become_work_once_more(
    misnamed: Shop, words: tuple[str, ...], name: str
) -> None:
    rename(misnamed)
    misnamed.sql("UPDATE FileProcess SET FileName = ? WHERE FileProcess_id = 1", str(misnamed.folder / "in" / name))

    assert misnamed(*words, "1", "--reason", "x") == 4
    assert f"FileProcess 1 is of the file that was taken again as FileProcess 2, as {RIGHT}" in misnamed.err
    assert nexts(misnamed.err)[0] == "batchctl inbox reject 1 --reason ...   (nothing more is to come of it)"
    assert misnamed("inbox", "reject", "1", "--reason", "x") == 0


@pytest.mark.parametrize("words", [("inbox", "retry"), ("accept",)], ids=" ".join)
def test_a_file_that_is_renamed_after_its_row_was_corrected_and_retried_is_loaded_once(
    misnamed: Shop, words: tuple[str, ...]
) -> None:
    misnamed.sql("UPDATE FileProcess SET FileName = ?", str(misnamed.folder / "in" / RIGHT))
    assert misnamed(*words, "1", "--reason", "x") == 0
    (misnamed.folder / "in" / WRONG).rename(misnamed.folder / "in" / RIGHT)
    misnamed("run", "--once")

    assert misnamed.sql("SELECT FileProcess_id, Status FROM FileProcess") == [(1, "complete")]
    (misnamed.folder / "in" / RIGHT).write_text("another file", encoding="utf-8")
    misnamed("run", "--once")
    assert misnamed.sql("SELECT count(*) FROM FileProcess") == [(2,)]


def test_a_copy_under_the_name_that_the_row_is_corrected_to_is_that_file(misnamed: Shop) -> None:
    (misnamed.folder / "in" / RIGHT).write_text("another number and time", encoding="utf-8")
    misnamed("run", "--once")
    misnamed.sql("UPDATE FileProcess SET FileName = ? WHERE FileProcess_id = 1", str(misnamed.folder / "in" / RIGHT))

    assert misnamed("inbox", "retry", "1", "--reason", "x") == 4
    assert "as FileProcess 2" in misnamed.err


def test_another_file_that_was_taken_later_is_in_nobodys_way(misnamed: Shop) -> None:
    (misnamed.folder / "in" / RIGHT).write_text("another file", encoding="utf-8")
    misnamed("run", "--once")
    misnamed.sql("UPDATE ProcessBatch SET PopulatorArgs = ?", r"(?P<CycleKey>\d+)\.csv")

    assert misnamed("inbox", "retry", "1", "--reason", "x") == 0


def test_once_it_was_renamed_every_hint_about_the_first_row_is_to_close_it(misnamed: Shop) -> None:
    rename(misnamed)
    close = f"batchctl inbox reject 1 --reason ...   (it was taken again as FileProcess 2, as {RIGHT})"

    assert misnamed.json("inbox")["Rows"][0]["Next"] == close
    assert misnamed.json("status")["NotTakenIn"][0]["Next"] == close
    assert next(gate["Clear"] for gate in misnamed.json("why", "file:1")["Gates"] if gate["Blocked"]) == close
    assert misnamed("inbox", "show", "1") == 0
    assert nexts(misnamed.out)[0] == close
    ((reason, statement),) = misnamed.sql("SELECT Reason, NextSql FROM vInbox")
    assert reason.startswith("its file was taken again as FileProcess 2: ")
    assert statement == "SELECT * FROM FileProcess WHERE FileProcess_id = 2;"
    assert misnamed("inbox", "reject", "1", "--reason", "renamed") == 0
    assert misnamed.json("inbox")["Rows"][0]["Next"] == f"nothing; it was taken again as FileProcess 2, as {RIGHT}"


def test_a_file_that_was_changed_in_place_and_taken_again_is_not_loaded_by_its_first_row_too(misnamed: Shop) -> None:
    misnamed.sql("UPDATE ProcessBatch SET PopulatorArgs = '(?P<CycleKey>\\d+)\\.csv'")
    misnamed.sql("UPDATE ProcessControl SET Data1 = 'false'")
    (misnamed.folder / "in" / WRONG).write_text("corrected in place", encoding="utf-8")
    misnamed("run", "--once")
    assert misnamed.sql("SELECT Status FROM FileProcess ORDER BY FileProcess_id") == [("rejected",), ("ready",)]

    assert misnamed("inbox", "retry", "1", "--reason", "x") == 4
    assert f"FileProcess 1 is of the file that was taken again as FileProcess 2, as {WRONG}" in misnamed.err
    assert "batchctl inbox reject 1" in misnamed.json("inbox")["Rows"][0]["Next"]
    misnamed.sql("UPDATE ProcessControl SET Data1 = 'true'")
    assert misnamed("rerun", "1", "--reason", "x") == 0
    misnamed("run", "--once")
    assert misnamed.sql("SELECT Status FROM BatchControl") == [("complete",)]


@pytest.mark.parametrize(("status", "words"), [("duplicate", ("accept",)), ("paused", ("inbox", "retry"))])
def test_what_was_set_aside_and_whose_file_was_taken_again_does_not_load_it_too(
    shop: Shop, status: str, words: tuple[str, ...]
) -> None:
    shop.batch("Load")
    shop.sql("INSERT INTO FileWatch (WatchName, Entity, Folder, SettleSeconds) VALUES ('w', 'Load', 'in', 0)")
    (shop.folder / "in").mkdir()
    file = shop.folder / "in" / RIGHT
    shop.sql(
        "INSERT INTO FileProcess (Entity, FileName, Source, Status) VALUES ('Load', ?, 'watch w', ?)", str(file), status
    )
    file.write_text("what is there now", encoding="utf-8")
    shop("run", "--once")
    assert shop.sql("SELECT Status FROM FileProcess ORDER BY FileProcess_id") == [(status,), ("complete",)]

    assert shop(*words, "1", "--reason", "x") == 4
    assert "it would be loaded twice" in shop.err
    shown = shop.json("inbox")["Rows"][0]["Next"]
    assert f"(it was taken again as FileProcess 2, as {RIGHT})" in shown
    assert [reason.partition(":")[0] for (reason,) in shop.sql("SELECT Reason FROM vInbox")] == [
        "its file was taken again as FileProcess 2"
    ]
