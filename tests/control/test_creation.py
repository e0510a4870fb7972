"""Law 1: intake."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from batchctl.control.creation import CreationReport
from batchctl.domain.errors import NotFound, StatusChanged
from batchctl.domain.rows import IntakeId, IntakeRow, Populated
from batchctl.plugin_api import CannotPopulate
from batchctl.store.intake import intake
from tests.control.world import World
from tests.control_databases import ACTS


def status_of(world: World, intake_id: int) -> str:
    """Return what stands on a FileProcess row."""
    return str(world.one("SELECT Status FROM FileProcess WHERE FileProcess_id = ?", intake_id))


def message_of(world: World, intake_id: int) -> str:
    """Return the reason on a FileProcess row."""
    return str(world.one("SELECT Message FROM FileProcess WHERE FileProcess_id = ?", intake_id))


def test_every_batch_of_the_entity_gets_its_instance_disabled_ones_too(world: World) -> None:
    world.batch("first", Entity="E", RetryCount=4)
    world.batch("second", Entity="E", Enabled=0)
    world.batch("E")
    world.batch("other")
    world.submit("E")

    assert world.create() == CreationReport(created=3)
    names = "SELECT b.ProcessBatchName, c.RetryCount FROM BatchControl c JOIN ProcessBatch b USING (ProcessBatch_id)"
    assert world.sql(f"{names} ORDER BY 1") == [("E", 0), ("first", 4), ("second", 0)]


def test_creating_twice_creates_nothing_twice(world: World) -> None:
    world.batch()
    world.submit()
    world.create()

    assert world.create() == CreationReport()
    assert world.one("SELECT count(*) FROM BatchControl") == 1


def test_status_is_read_in_any_letter_case(world: World) -> None:
    world.batch()
    world.submit(Status="Ready")

    assert world.create().created == 1


def test_a_batch_registered_later_takes_the_rows_that_wait_for_it(world: World) -> None:
    intake_id = world.submit("MyFileTipe1")
    assert world.create() == CreationReport(untaken=1)
    world.batch("MyFileType1")
    world.create()
    assert message_of(world, intake_id) == "no batch takes entity 'MyFileTipe1'. Did you mean 'MyFileType1'?"

    world.batch("MyFileTipe1")
    assert world.create().created == 1
    assert world.one("SELECT Message FROM FileProcess") is None


def test_what_a_sender_has_to_say_stays_on_the_row(world: World) -> None:
    world.batch()
    intake_id = world.submit(Message="500 rows (threshold 500)")

    assert world.create().created == 1
    assert message_of(world, intake_id) == "500 rows (threshold 500)"


def test_an_untaken_row_stays_ready_and_is_told_once(world: World) -> None:
    intake_id = world.submit("nobody")
    world.create()
    world.create()

    assert status_of(world, intake_id) == "ready"
    assert world.names() == ["intake.untaken"]


def test_paused_rows_wait(world: World) -> None:
    world.batch()
    world.submit(Status="paused")

    assert world.create() == CreationReport()


def test_a_second_row_with_the_same_data_is_a_duplicate_that_names_the_first(world: World) -> None:
    world.batch()
    first = world.submit(Data="k")
    second = world.submit(Data="k")
    different = world.submit(Data="K")
    world.submit(Data=None)
    world.submit(Data=None)

    assert world.create() == CreationReport(created=4, duplicates=1)
    assert status_of(world, second) == "duplicate"
    assert f"same Data as FileProcess {first}" in message_of(world, second)
    assert status_of(world, different) == "ready"


def test_a_duplicate_is_found_long_after_the_first_is_complete(world: World) -> None:
    world.batch()
    world.submit(Data="k")
    world.create()
    world.process()
    second = world.submit(Data="k")
    world.create()

    assert status_of(world, second) == "duplicate"


def test_duplicates_count_for_batches_that_check_them_only(world: World) -> None:
    world.batch("strict", Entity="E", Seq=1)
    world.batch("lax", Entity="E", Seq=2, DuplicateCheck=0)
    world.submit("E", Data="k")
    second = world.submit("E", Data="k")

    assert world.create() == CreationReport(created=3)
    assert status_of(world, second) == "ready"
    assert "batch strict: same Data as FileProcess 1" in message_of(world, second)


def test_the_same_data_of_another_entity_is_no_duplicate(world: World) -> None:
    world.batch("A")
    world.batch("B")
    world.submit("A", Data="k")
    world.submit("B", Data="k")

    assert world.create().created == 2


def test_blanks_at_the_end_tell_texts_apart(world: World) -> None:
    world.batch("A")
    taken = world.submit("A", Data="k")
    other = world.submit("A", Data="k ")
    untaken = world.submit("A ", Data="k")

    assert world.create().created == 2
    assert [status_of(world, row) for row in (taken, other, untaken)] == ["ready"] * 3
    assert "duplicate" not in (message_of(world, other) or "")
    assert "no batch" in message_of(world, untaken).lower()


def test_a_row_that_replaces_a_rejected_one_is_no_duplicate(world: World) -> None:
    world.batch(Populator="none")
    rejected = world.submit(Data="k")
    world.create()
    assert status_of(world, rejected) == "rejected"

    world.sql("UPDATE ProcessBatch SET Populator = 'pattern'")
    world.submit(Data="k")
    assert world.create() == CreationReport(created=1)


def test_a_populator_that_refuses_rejects_that_row_with_the_reason_and_no_other(world: World) -> None:
    def picky(row: IntakeRow) -> Populated:
        if row.file_name == "poison":
            message = "this file is poison"
            raise CannotPopulate(message)
        return Populated(data=(row.file_name, None, None, None, None, None))

    world.populators.by_name["picky"] = picky
    world.batch(Populator="picky")
    rows = [world.submit(file_name="poison" if number == 3 else f"f{number}") for number in range(6)]

    assert world.create() == CreationReport(created=5, rejected=1)
    assert status_of(world, rows[3]) == "rejected"
    assert "batch B: this file is poison" in message_of(world, rows[3])


def test_one_batch_rejecting_a_row_does_not_keep_another_from_taking_it(world: World) -> None:
    world.batch("sound", Entity="E", Seq=1)
    world.batch("broken", Entity="E", Seq=2, Populator="none")
    intake_id = world.submit("E")

    assert world.create() == CreationReport(created=1, rejected=1)
    world.process()
    assert world.statuses() == ["complete"]
    assert status_of(world, intake_id) == "rejected"


def test_nonsense_that_reaches_the_database_rejects_the_row_alone(world: World) -> None:
    world.populators.by_name["odd"] = lambda row: Populated(data=(row.file_name, None, None, None, None, 1j))  # type: ignore[arg-type] # nonsense on purpose
    world.batch("odd", Populator="odd", Seq=1)
    world.batch("sound", Seq=2)
    odd = world.submit("odd")
    world.submit("sound")

    assert world.create() == CreationReport(created=1, rejected=1)
    assert status_of(world, odd) == "rejected"


def test_bytes_that_are_no_text_reject_the_row_alone(sqlite_world: World) -> None:
    world = sqlite_world
    world.batch()
    for column in ("FileName", "Data", "CycleKey"):
        world.sql(f"INSERT INTO FileProcess (Entity, {column}) VALUES ('B', CAST(x'ff6f' AS TEXT))")
    world.sql("INSERT INTO FileProcess (Entity) VALUES (CAST(x'ff6f' AS TEXT))")
    world.submit()

    assert world.create() == CreationReport(created=1, rejected=3, untaken=1)
    assert [row[0] for row in world.sql("SELECT Message FROM FileProcess WHERE Status = 'rejected'")] == [
        f"batch B: {column} cannot be used: it contains bytes that are not valid UTF-8"
        for column in ("FileName", "Data", "CycleKey")
    ]


def test_the_cycle_key_is_the_rows_the_populators_or_the_business_date(world: World) -> None:
    world.populators.by_name["keyed"] = lambda row: Populated(cycle_key="from populator")
    world.batch("plain")
    world.batch("keyed", Populator="keyed")
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC).strftime("%Y-%m-%d %H:%M:%S")
    world.submit("plain", z_inserted=late)
    world.submit("plain", CycleKey="given", Data="2")
    world.submit("keyed")
    world.submit("keyed", CycleKey="given", Data="2")
    world.create()

    keys = [row[0] for row in world.sql("SELECT CycleKey FROM BatchControl ORDER BY FileProcess_id")]
    assert keys == ["2026-11-22", "given", "from populator", "given"]


def test_a_thousand_waiting_rows_are_created_in_order(world: World) -> None:
    world.batch()
    world.hand.many("INSERT INTO FileProcess (Entity, FileName) VALUES ('B', ?)", [(str(n),) for n in range(1000)])

    assert world.create().created == 1000
    assert world.one("SELECT count(*) FROM BatchControl WHERE BatchControl_id <> FileProcess_id") == 0


def test_a_row_that_more_batches_take_than_are_read_at_once_gets_them_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "LOOKED_AT_ONCE", 2)
    for name in "ABCDE":
        world.batch(name, Entity="E")
    world.batch("other")
    for entity in ("E", "other", "other", "E"):
        world.submit(entity)

    assert world.create() == CreationReport(created=12)
    assert world.sql("SELECT FileProcess_id, count(*) FROM BatchControl GROUP BY FileProcess_id ORDER BY 1") == [
        (1, 5),
        (2, 1),
        (3, 1),
        (4, 5),
    ]


def test_accepting_takes_a_duplicate_in_on_purpose_and_is_audited(world: World) -> None:
    world.batch()
    world.submit(Data="k")
    second = world.submit(Data="k")
    world.create()
    report = world.creator().accept(IntakeId(second), actor="anna", host="h", reason="sent again, corrected")

    assert report == CreationReport(created=1)
    assert status_of(world, second) == "ready"
    assert world.create() == CreationReport()
    assert world.sql(f"SELECT Actor, Action, Target, Reason FROM AuditLog WHERE {ACTS}") == [
        ("anna", "accept", f"FileProcess:{second}", "sent again, corrected")
    ]


def test_accepting_what_cannot_be_populated_rejects_it_again(world: World) -> None:
    world.batch(Populator="none")
    row = world.submit()
    world.create()

    assert world.creator().accept(IntakeId(row), actor="a", host="h", reason="r") == CreationReport(rejected=1)
    assert status_of(world, row) == "rejected"


def test_only_rejected_and_duplicate_rows_can_be_accepted(world: World) -> None:
    row = world.submit()
    with pytest.raises(StatusChanged, match="FileProcess 1 is ready"):
        world.creator().accept(IntakeId(row), actor="a", host="h", reason="r")
    with pytest.raises(NotFound):
        world.creator().accept(IntakeId(99), actor="a", host="h", reason="r")
