"""The leader's duty to watch folders: what settles is taken, once, whatever becomes of the folder and the leader."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from batchctl.control.intake import file_watching
from batchctl.control.intake.taking import CompleteFile, take
from batchctl.control.worker import SLICE
from batchctl.domain.arrivals import FoundFile
from batchctl.domain.errors import Conflict, OutcomeUnknown
from batchctl.store.intake import file_watches
from batchctl.store.transactions import StoreTransactions
from tests.control.shared_folder import Shop
from tests.control.world import World

SETTLED = 10
NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
SEEN = (
    "SELECT FilePath, FileSize, FileNumber, FileProcess_id, MissingSince FROM FileWatchSeen ORDER BY FileWatchSeen_id"
)
DAY = 86_400


@pytest.fixture
def shop(world: World) -> Shop:
    world.batch()
    return Shop(world)


def test_a_file_is_taken_once_it_has_stayed_as_it_is(shop: Shop) -> None:
    shop.watch()
    shop.folder.put("a.csv", size=12, modified_ns=34, number=56)
    shop.turns()
    before = shop.submitted()
    shop.later(SETTLED)

    assert before == []
    columns = "Entity, FileName, Status, Data, CycleKey, Source, Message"
    assert shop.world.sql(f"SELECT {columns} FROM FileProcess") == [
        ("B", "/base/in/a.csv", "ready", "name_size_time:a.csv|12|34", None, "watch w", None)
    ]
    assert shop.world.sql(SEEN) == [("a.csv", 12, "56", 1, None)]
    assert shop.log() == [("fired", "watch w", 1, "file a.csv of 12 bytes")]
    assert shop.world.names() == ["watch.fired"]


def test_it_becomes_work_and_is_never_submitted_again(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.turns()
    for _ in range(3):
        shop.later()
        shop.restart()

    assert shop.world.create().created == 1
    assert shop.submitted() == ["a.csv"]
    assert [remembered for remembered, _ in shop.folder.inspected] == ["a.csv"]


def test_a_file_that_grows_is_left_until_it_does_not(shop: Shop) -> None:
    shop.watch()
    for size in range(5):
        shop.folder.put("a.csv", size=size)
        shop.later(SETTLED)
    grown = shop.submitted()
    shop.later(SETTLED - 1)
    almost = shop.submitted()
    shop.later()

    assert (grown, almost) == ([], [])
    assert shop.world.sql(SEEN) == [("a.csv", 4, "7", 1, None)]


@pytest.mark.parametrize("years", [-60, 400])
def test_no_clock_of_the_share_hastens_or_keeps_a_file(shop: Shop, years: int) -> None:
    shop.watch()
    shop.folder.put("a.csv", modified_ns=years * 365 * DAY * 10**9 // 16)
    shop.turns()
    before = shop.submitted()
    shop.later(SETTLED)

    assert (before, shop.submitted()) == ([], ["a.csv"])


def test_at_once_and_by_a_marker_it_is_taken_at_the_first_walk(shop: Shop) -> None:
    shop.watch("w1", SettleSeconds=0)
    shop.watch("w2", SettleSeconds=3600, MarkerSuffix=".done", Folder="other", DuplicateKey="name")
    shop.folder.put("a.csv")
    shop.turns()

    assert shop.world.sql("SELECT FileName, Data FROM FileProcess ORDER BY Source") == [
        ("/base/in/a.csv", "name_size_time:a.csv|1|5"),
        ("/base/other/a.csv", "name:a.csv"),
    ]


def test_a_changed_file_is_submitted_anew_and_the_duplicate_key_decides_what_becomes_of_it(shop: Shop) -> None:
    shop.watch(SettleSeconds=0, DuplicateKey="name")
    shop.folder.put("a.csv")
    shop.turns()
    shop.folder.put("a.csv", size=2)
    shop.later()
    shop.world.create()

    assert shop.world.sql("SELECT Status, Data, Message FROM FileProcess ORDER BY FileProcess_id") == [
        ("ready", "name:a.csv", None),
        ("duplicate", "name:a.csv", "batch B: same Data as FileProcess 1"),
    ]
    assert shop.world.sql(SEEN) == [("a.csv", 2, "7", 2, None)]


def test_a_file_that_was_replaced_by_one_of_the_same_size_and_time_is_another(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv", number=1)
    shop.turns()
    shop.folder.put("a.csv", number=2)
    shop.later()

    assert shop.submitted() == ["a.csv", "a.csv"]


def test_where_numbers_are_not_known_or_not_any_more_nothing_is_submitted_twice(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    for number in (1, None, 1):
        shop.folder.put("a.csv", number=number)
        shop.later()
        shop.restart()

    assert shop.submitted() == ["a.csv"]


def test_content_is_known_by_its_digest(shop: Shop) -> None:
    shop.watch(SettleSeconds=0, DuplicateKey="content")
    for name in ("a.csv", "b.csv"):
        shop.folder.put(name)
        shop.folder.digests[name] = "ab12"
    shop.turns()
    shop.world.create()

    assert shop.world.sql("SELECT Status, Data FROM FileProcess ORDER BY FileProcess_id") == [
        ("ready", "content:sha256:ab12"),
        ("duplicate", "content:sha256:ab12"),
    ]
    assert shop.folder.inspected == [("a.csv", True), ("b.csv", True)]


def test_what_has_changed_under_a_closer_look_is_not_taken(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.folder.changed.add("a.csv")
    shop.turns()
    before = shop.submitted()
    shop.folder.changed.clear()
    shop.later()

    assert (before, shop.submitted()) == ([], ["a.csv"])


def test_a_file_that_cannot_be_read_is_told_once_and_taken_later(shop: Shop) -> None:
    shop.watch(SettleSeconds=0, DuplicateKey="content")
    shop.folder.put("a\n.csv")
    shop.folder.put("b.csv")
    shop.folder.digests = {"a\n.csv": "a1", "b.csv": "b1"}
    shop.folder.unreadable["a\n.csv"] = "Permission denied"
    for _ in range(3):
        shop.later()
    before = shop.submitted()
    shop.folder.unreadable.clear()
    shop.later()

    said = "'a\\n.csv' cannot be taken, and is tried again: Permission denied"
    assert before == ["b.csv"]
    assert shop.submitted() == ["b.csv", "a\n.csv"]
    assert [row for row in shop.log() if row[0] == "error"] == [("error", "watch w", None, said)]
    assert shop.world.messages("watch.trouble") == [said]


NAMES = ["-rf", "new\nline", "q\"uo'te", "\u202egnp", "blank ", "ä" * 127, "{Data1}", "%s", "a" * 255]


def test_names_of_any_kind_are_stored_as_they_are(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    for name in NAMES:
        shop.folder.put(name)
    shop.turns()
    shop.restart()
    shop.later()

    assert sorted(shop.submitted()) == sorted(NAMES)
    assert sorted(row[0] for row in shop.world.sql(SEEN)) == sorted(NAMES)


def test_a_name_that_is_no_text_is_rejected_once_with_what_to_do(shop: Shop) -> None:
    shop.watch(SettleSeconds=0, DuplicateKey="content")
    shop.folder.put("bad\udcff.csv")
    shop.folder.put("bad\udcfe.csv")
    for _ in range(3):
        shop.later()
        shop.restart()
    shop.world.create()

    rows = shop.world.sql("SELECT FileName, Status, Data, Message FROM FileProcess ORDER BY FileProcess_id")
    assert [row[0] for row in rows] == ["/base/in/bad\\udcfe.csv", "/base/in/bad\\udcff.csv"]
    assert {row[1:3] for row in rows} == {("rejected", None)}
    assert all("Rename the file" in row[3] for row in rows)
    assert [row[:3] for row in shop.log()] == [("error", "watch w", 1), ("error", "watch w", 2)]
    assert shop.folder.inspected == []
    assert shop.world.names().count("watch.rejected") == 2


def test_a_share_that_goes_away_is_told_once_and_brings_no_storm_when_it_comes_back(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.turns()
    shop.folder.failure = "No such file or directory: '/base/in'; mount its share"
    for _ in range(3):
        shop.later()
        shop.restart()
    away = shop.world.one("SELECT UnreachableSince FROM FileWatch")
    shop.folder.failure = None
    shop.folder.put("b.csv")
    for _ in range(2):
        shop.later()

    assert away == "2026-11-21 03:00:15.000"
    assert shop.world.sql("SELECT UnreachableSince FROM FileWatch") == [(None,)]
    assert shop.submitted() == ["a.csv", "b.csv"]
    assert [row[0::3] for row in shop.log()] == [
        ("fired", "file a.csv of 1 bytes"),
        ("error", "the folder cannot be listed: No such file or directory: '/base/in'; mount its share"),
        ("rescued", "the folder can be listed again"),
        ("fired", "file b.csv of 1 bytes"),
    ]
    assert shop.world.names().count("watch.unreachable") == 1
    assert shop.world.names().count("watch.reachable") == 1


def test_a_folder_that_does_not_answer_is_not_asked_again_and_is_told(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.folder.answers = False
    shop.turns()
    busy = shop.duty.is_busy
    for _ in range(4):
        shop.later()
    told = shop.world.one("SELECT UnreachableSince FROM FileWatch")
    still_busy = shop.duty.is_busy

    (asked,) = shop.folder.walks
    shop.folder.answers = True
    shop.folder.reports.extend(shop.folder._pages(asked))
    shop.turns()

    assert (busy, still_busy) == (True, False)
    assert told == "2026-11-21 03:00:00.000"
    assert shop.submitted() == ["a.csv"]
    said = "it has not answered since 2026-11-21 03:00:00 UTC; see whether its share is there"
    assert [row[0::3] for row in shop.log()] == [
        ("error", f"the folder cannot be listed: {said}"),
        ("rescued", "the folder can be listed again"),
        ("fired", "file a.csv of 1 bytes"),
    ]


def test_a_folder_that_hangs_keeps_no_other_waiting(shop: Shop) -> None:
    shop.watch("w1", SettleSeconds=0)
    shop.folder.answers = False
    shop.turns()
    shop.folder.answers = True
    shop.folder.put("a.csv")
    shop.watch("w2", SettleSeconds=0)
    shop.later()

    assert shop.world.sql("SELECT Source FROM FileProcess") == [("watch w2",)]


def test_an_empty_or_broken_listing_makes_nothing_new_and_forgets_nothing(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.folder.put("b.csv")
    shop.turns()
    kept, shop.folder.files = shop.folder.files, {}
    shop.later(8 * DAY)
    shop.folder.files, shop.folder.is_whole = {"a.csv": kept["a.csv"]}, False
    shop.later(8 * DAY)
    missing = [row[4] for row in shop.world.sql(SEEN)]
    shop.folder.files, shop.folder.is_whole = kept, True
    shop.later()

    assert missing == [None, None]
    assert shop.submitted() == ["a.csv", "b.csv"]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_file_is_forgotten_after_seven_days_in_which_it_was_missing(shop: Shop, restarts: bool) -> None:
    shop.watch(SettleSeconds=0)
    for name in ("a.csv", "b.csv", "c.csv"):
        shop.folder.put(name)
    shop.turns()
    kept = dict(shop.folder.files)
    del shop.folder.files["a.csv"], shop.folder.files["b.csv"]
    shop.later()
    noted = [row[4] for row in shop.world.sql(SEEN)]
    for _ in range(7):
        shop.later(DAY)
        if restarts:
            shop.restart()
    almost = [row[0] for row in shop.world.sql(SEEN)]
    shop.folder.files["b.csv"] = kept["b.csv"]
    shop.later()
    shop.later(3601)

    assert noted == ["2026-11-21 03:00:15.000", "2026-11-21 03:00:15.000", None]
    assert almost == ["a.csv", "b.csv", "c.csv"]
    assert [row[0::4] for row in shop.world.sql(SEEN)] == [("b.csv", None), ("c.csv", None)]
    assert shop.submitted() == ["a.csv", "b.csv", "c.csv"]
    shop.folder.files["a.csv"] = kept["a.csv"]
    shop.later()
    assert shop.submitted() == ["a.csv", "b.csv", "c.csv", "a.csv"]


def test_two_leaders_for_a_moment_submit_nothing_twice(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    old, old_transactions = shop.duty, shop.world.open()
    shop.duty = shop.leader(old_transactions)
    shop.folder.put("a.csv")
    shop.folder.put("b.csv")
    old.look()
    shop.duty.look()
    shared = shop.folder.collect()
    # Both have listed the folder before either has submitted anything.
    for duty in (old, shop.duty):
        shop.folder.reports = list(shared)
        for _ in range(3):
            duty.look()

    assert shop.submitted() == ["a.csv", "b.csv"]
    assert [row[0] for row in shop.log()] == ["fired", "fired"]
    assert len(shop.world.sql(SEEN)) == 2


def test_two_watches_of_one_folder_make_duplicates_that_name_the_first(shop: Shop) -> None:
    shop.watch("w1", SettleSeconds=0)
    shop.watch("w2", SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.turns()
    report = shop.world.create()

    assert (report.created, report.duplicates) == (1, 1)


def test_a_commit_whose_answer_was_lost_submits_nothing_twice(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    run = shop.world.transactions.run

    def committed(*what: Any, **how: Any) -> None:
        run(*what, **how)
        raise OutcomeUnknown("gone")

    with monkeypatch.context() as broken:
        broken.setattr(shop.world.transactions, "run", committed)
        with pytest.raises(OutcomeUnknown):
            shop.turns()
    shop.turns()

    assert shop.submitted() == ["a.csv"]


def test_what_is_in_the_way_is_told_once_and_the_file_is_taken_afterwards(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")

    def locked(*what: Any, **how: Any) -> None:
        raise Conflict("locked by another")

    with monkeypatch.context() as broken:
        broken.setattr(shop.world.transactions, "run", locked)
        for _ in range(5):
            shop.duty.look()
    shop.turns()

    assert shop.world.messages("watch.locked") == ["locked by another"]
    assert shop.submitted() == ["a.csv"]


def test_one_file_that_the_database_refuses_keeps_no_other_from_being_taken(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.watch(SettleSeconds=0)
    for name in ("a.csv", "poison", "z.csv"):
        shop.folder.put(name)
    add = file_watches.add_seen

    def refuse(connection: Any, watch_id: Any, taken: Any, now: Any) -> list[int]:
        if any(file.path == "poison" for file, _ in taken):
            raise ValueError("refused")
        return add(connection, watch_id, taken, now)

    with monkeypatch.context() as broken:
        broken.setattr(file_watches, "add_seen", refuse)
        shop.turns()
        shop.later()
    before = shop.submitted()
    shop.later()

    assert before == ["a.csv", "z.csv"]
    assert shop.submitted() == ["a.csv", "z.csv", "poison"]
    assert shop.world.messages("watch.trouble") == ["'poison' cannot be taken, and is tried again: ValueError: refused"]


def test_one_watch_that_breaks_keeps_no_other_from_its_turn(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.watch("w1", SettleSeconds=0, Folder="broken")
    shop.watch("w2", SettleSeconds=0)
    shop.folder.put("a.csv")
    walk = shop.folder.walk

    def break_(wanted: Any) -> None:
        if wanted.folder == "/base/broken":
            raise RuntimeError("can't start new thread")
        walk(wanted)

    monkeypatch.setattr(shop.folder, "walk", break_)
    for _ in range(9):
        shop.duty.look()

    assert shop.submitted() == ["a.csv"]
    assert shop.world.messages("watch.trouble") == ["RuntimeError: can't start new thread"]
    assert not shop.duty.is_busy


CHANGES = ["Enabled = 0", "Entity = 'C'", "Folder = 'other'", "SettleSeconds = 99", "Pattern = '*.x'"]


@pytest.mark.parametrize("change", CHANGES)
def test_a_watch_that_was_changed_takes_nothing_by_its_old_row(shop: Shop, change: str) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.duty.look()
    shop.world.sql(f"UPDATE FileWatch SET {change}")
    for _ in range(3):
        shop.folder.answers = False
        shop.duty.look()

    assert shop.submitted() == []
    assert shop.folder.left == [1]
    assert [walk.folder for walk in shop.folder.walks[1:]] == (
        [] if "Enabled" in change else ["/base/other" if "Folder" in change else "/base/in"]
    )


def test_a_row_that_is_inserted_or_enabled_is_taken_up_without_a_restart(shop: Shop) -> None:
    shop.folder.put("a.csv")
    shop.watch(SettleSeconds=0, Enabled=0)
    shop.turns()
    shop.world.sql("UPDATE FileWatch SET Enabled = 1")
    shop.later()

    assert shop.submitted() == ["a.csv"]


def test_what_batchctl_notes_on_the_row_is_no_change_of_the_watch(shop: Shop) -> None:
    shop.watch()
    shop.folder.put("a.csv")
    shop.turns()
    shop.world.sql("UPDATE FileWatch SET UnreachableSince = '2026-11-21 01:00:00.000'")
    shop.later()

    assert shop.submitted() == ["a.csv"]
    assert len({walk.key for walk in shop.folder.walks}) == 1


def test_who_runs_once_is_busy_until_what_was_there_has_settled_and_no_longer(shop: Shop) -> None:
    shop.watch()
    shop.folder.put("a.csv")
    shop.folder.put("grows.log", size=0)
    shop.duty.finish()
    for second in range(40):
        if not shop.duty.is_busy:
            break
        shop.folder.put("grows.log", size=second)
        shop.world.clock.advance(timedelta(seconds=1))
        shop.turns()

    assert 9 <= second <= 21
    assert shop.submitted() == ["a.csv"]


def test_to_look_again_at_what_is_known_is_no_work(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.turns()
    busy = list[bool]()
    for _ in range(5):
        shop.world.clock.advance(timedelta(seconds=15))
        shop.duty.look()
        busy.append(bool(shop.duty.is_busy and not shop.folder.reports))
        shop.turns()
        busy.append(shop.duty.is_busy)

    assert not any(busy)


class Counted:
    """Counts what is asked of the database."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.transactions = 0
        self.reads = 0

    def run(self, *what: Any, **how: Any) -> Any:
        self.transactions += 1
        return self.world.transactions.run(*what, **how)

    def read(self) -> Any:
        self.reads += 1
        return self.world.transactions.read()


@pytest.mark.full
def test_a_hundred_thousand_files_are_taken_page_by_page_and_remembered_without_asking_again(shop: Shop) -> None:
    files = 100_000
    shop.watch(SettleSeconds=0)
    counted = Counted(shop.world)
    shop.duty = shop.leader(counted)
    for at in range(files):
        shop.folder.put(f"{at:06}.csv", number=at)
    turns = shop.turns(most=10_000)

    assert shop.world.one("SELECT count(*) FROM FileWatchSeen") == files
    assert counted.transactions == files // file_watching.PAGE
    assert turns >= files // file_watching.LOOKED_AT

    # A leader that comes after reads what is remembered once, and nothing of it at later walks.
    before = counted.transactions
    shop.duty = shop.leader(counted)
    counted.reads = 0
    shop.turns()
    first = counted.reads
    for _ in range(3):
        shop.later()

    # The rows of the watches, and what was taken; of that the last page has nothing on it.
    assert first == 1 + files // file_watches.READ_AT_ONCE + 1
    assert counted.reads == first + 3
    assert counted.transactions == before
    assert len(shop.folder.inspected) == files


def test_no_more_files_are_waited_for_at_once_than_there_is_room_for(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watching, "MOST", 10)
    shop.watch()
    for at in range(35):
        shop.folder.put(f"{at}.csv")
    held = list[int]()
    for _ in range(16):
        shop.later(SETTLED)
        held.append(len(next(iter(shop.duty._watches.values()))._sights))

    assert max(held) <= 10
    assert len(shop.submitted()) == 35


def test_between_two_pages_the_steps_have_their_turn(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.watch(SettleSeconds=0)
    for at in range(450):
        shop.folder.put(f"{at}.csv")
    run = shop.world.transactions.run

    def slowly(*what: Any, **how: Any) -> Any:
        shop.world.clock.advance(timedelta(seconds=SLICE))
        return run(*what, **how)

    monkeypatch.setattr(shop.world.transactions, "run", slowly)
    counts = list[int]()
    while not counts or counts[-1] < 450:
        shop.duty.look()
        counts.append(shop.world.one("SELECT count(*) FROM FileProcess"))
        assert len(counts) < 100

    steps = [after - before for before, after in zip([0, *counts], counts, strict=False)]
    assert max(steps) == file_watching.PAGE


def test_a_file_found_by_the_memory_is_the_one_that_was_taken(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv", size=3)
    shop.turns()
    (watch,) = shop.duty._watches.values()

    assert watch._memory.row_of(FoundFile("a.csv", 3, 5, 7)) == 1
    assert watch._memory.row_of(FoundFile("a.csv", 4, 5, 7)) is None


def test_two_who_take_the_same_files_at_the_same_moment_submit_each_once(shop: Shop) -> None:
    shop.watch()
    rounds, files = 15, 7
    start = threading.Barrier(2)

    def lead(transactions: StoreTransactions) -> list[int]:
        submitted = []
        with transactions.read() as connection:
            (watch,) = file_watches.everyone(connection)
        for number in range(rounds):
            page = [CompleteFile(FoundFile(f"{number}/{at}", 1, 5, 7)) for at in range(files)]
            start.wait(timeout=60)
            submitted += until_free(transactions, partial(take, watch=watch, folder="/in", arrivals=page, now=NOW))
        return submitted

    with ThreadPoolExecutor(2) as both:
        one, other = both.map(lead, [shop.world.open(), shop.world.open()])

    assert sorted(one + other) == list(range(1, rounds * files + 1))
    assert len(set(shop.submitted())) == rounds * files
    assert len(shop.world.sql(SEEN)) == rounds * files


def until_free(transactions: StoreTransactions, work: Any) -> list[int]:
    """Take files as soon as nobody else does; return the new rows."""
    for _ in range(1000):
        try:
            taken = transactions.run(frozenset(), work, nowait=True)
        except Conflict:
            continue
        assert taken is not None
        return [each.intake_id for each in taken if each.intake_id is not None]
    raise AssertionError("it is never free")


def test_a_closer_look_that_hangs_is_told_by_the_next_walk_that_does_not_answer(shop: Shop) -> None:
    shop.watch(SettleSeconds=0, DuplicateKey="content")
    shop.folder.put("a.csv")
    shop.folder.inspect = lambda *what, **how: setattr(shop.folder, "answers", False)  # type: ignore[method-assign]
    shop.turns()
    busy = shop.duty.is_busy
    for _ in range(4):
        shop.later()

    assert busy
    assert not shop.duty.is_busy
    assert len(shop.folder.walks) == 2
    assert [row[0] for row in shop.log()] == ["error"]


def test_a_file_that_went_away_begins_anew_when_it_is_back(shop: Shop) -> None:
    shop.watch()
    shop.folder.put("a.csv")
    shop.folder.put("b.csv", size=0)
    shop.turns()
    file = shop.folder.files.pop("a.csv")
    shop.folder.put("b.csv", size=1)
    shop.later()
    (watch,) = shop.duty._watches.values()
    waited_for = list(watch._sights)
    shop.folder.files = {"a.csv": file}
    shop.later()
    back = shop.submitted()
    shop.later()

    assert waited_for == ["b.csv"]
    assert (back, shop.submitted()) == ([], ["a.csv"])


def test_what_changed_while_it_could_not_be_submitted_is_not_taken_as_it_was(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.watch()
    shop.folder.put("a.csv", size=1)
    shop.turns()
    shop.world.clock.advance(timedelta(seconds=SETTLED))
    stand_in_the_way(shop, monkeypatch)
    shop.folder.put("a.csv", size=2)
    shop.folder.changed.add("a.csv")
    shop.later()
    half_written = shop.submitted()
    shop.folder.changed.clear()
    for _ in range(2):
        shop.later()

    assert half_written == []
    assert shop.world.sql("SELECT Data FROM FileProcess") == [("name_size_time:a.csv|2|5",)]


def test_a_leader_who_was_frozen_does_not_submit_what_another_has_taken(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv", size=1)
    stand_in_the_way(shop, monkeypatch)
    frozen = shop.duty
    shop.restart()
    shop.turns()
    shop.folder.put("a.csv", size=2)
    shop.later()
    shop.folder.changed.add("a.csv")
    shop.duty = frozen
    shop.turns()
    shop.folder.changed.clear()
    shop.later()

    sizes = [str(row[0]).split("|")[1] for row in shop.world.sql("SELECT Data FROM FileProcess ORDER BY 1")]
    assert sizes == ["1", "2"]


def test_content_is_not_read_again_because_it_had_to_wait(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.watch(SettleSeconds=0, DuplicateKey="content")
    shop.folder.put("a.csv")
    shop.folder.digests["a.csv"] = "d1"
    stand_in_the_way(shop, monkeypatch)
    shop.later()

    assert shop.folder.inspected == [("a.csv", True), ("a.csv", False)]
    assert shop.world.sql("SELECT Data FROM FileProcess") == [("content:sha256:d1",)]


def stand_in_the_way(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the leader look while somebody keeps it from writing anything."""

    def locked(*what: Any, **how: Any) -> None:
        raise Conflict("locked by another")

    with monkeypatch.context() as broken:
        broken.setattr(shop.world.transactions, "run", locked)
        for _ in range(5):
            shop.duty.look()


def test_a_walk_that_could_not_be_begun_is_begun_later(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")

    def refuse(walk: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(shop.folder, "walk", refuse)
        shop.turns()
    shop.later()

    assert shop.world.messages("watch.trouble") == ["RuntimeError: can't start new thread"]
    assert shop.submitted() == ["a.csv"]


def test_files_are_taken_in_order_of_time_then_path_whatever_order_they_are_listed_in(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    for path, modified_ns in (("c.csv", 2), ("b.csv", 3), ("z.csv", 1), ("a.csv", 3)):
        shop.folder.put(path, modified_ns=modified_ns)
    shop.turns()

    assert shop.submitted() == ["z.csv", "c.csv", "a.csv", "b.csv"]


@pytest.mark.parametrize(
    ("status", "how"),
    [
        ("failed", "once the file is right: batchctl rerun 1 --reason ..."),
        ("held", "once the file is right: batchctl rerun 1 --reason ..."),
        ("paused", "once the file is right: batchctl resume 1"),
        ("retry", "it is tried again by itself"),
    ],
)
def test_a_file_corrected_in_place_while_its_instance_waits_starts_no_second_one(
    shop: Shop, status: str, how: str
) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.turns()
    shop.world.create()
    shop.world.sql(f"UPDATE BatchControl SET Status = '{status}'")
    for _ in range(2):
        shop.folder.put("a.csv", size=2)
        shop.later()
        shop.restart()

    said = f"file a.csv was changed while BatchControl 1, made of it, is {status}: nothing new is started; {how}"
    assert shop.submitted() == ["a.csv"]
    assert shop.log()[1:] == [("skipped", "watch w", 1, said)]
    assert shop.world.sql(SEEN) == [("a.csv", 2, "7", 1, None)]
    assert shop.world.names().count("watch.corrected") == 1


def test_a_file_that_changes_once_its_instance_is_over_is_work_anew(shop: Shop) -> None:
    shop.watch(SettleSeconds=0)
    shop.folder.put("a.csv")
    shop.turns()
    shop.world.create()
    shop.world.sql("UPDATE BatchControl SET Status = 'complete'")
    shop.folder.put("a.csv", size=2)
    shop.later()

    assert shop.submitted() == ["a.csv", "a.csv"]
