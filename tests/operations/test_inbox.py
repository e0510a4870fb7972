"""The inbox: what asked for work and is not work, why, and what a person does about it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batchctl.domain.dead_ends import rejected
from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.locked_rows import failure_of
from batchctl.domain.rows import LARGEST_ID, IntakeId, IntakeRow, Populated
from batchctl.domain.status import InboxState, IntakeStatus
from batchctl.operations.clerk import Clerk
from batchctl.operations.intake import inbox
from batchctl.operations.intake.inbox import InboxReader, Item
from batchctl.operations.intervene import Operator
from batchctl.operations.maintenance import fsck
from batchctl.plugin_api import CannotPopulate
from batchctl.store import controllers
from batchctl.store.intake import intake
from batchctl.store.transactions import StoreTransactions
from tests.control.world import BAD, OK, World
from tests.control_databases import ACTS

WHY = "the table was truncated"
CORRECT_ENTITY = (
    "correct Entity of the row (UPDATE FileProcess SET Entity = ... WHERE FileProcess_id = 4;),"
    " or register a batch that takes it;"
)
CORRECT_FILE = "correct FileName, or Populator and PopulatorArgs of batch Sensor (UPDATE ...), then:"
AMSTERDAM = ZoneInfo("Europe/Amsterdam")
Audited = Callable[[], list[tuple[Any, ...]]]


@dataclass
class Gone:
    """A host on which some files are not."""

    paths: Collection[str] = ()
    asked: list[str] = field(default_factory=list)

    def __call__(self, paths: Collection[str]) -> Collection[str]:
        self.asked += paths
        return {path for path in paths if path in self.paths}


def reader(world: World, *, leader: str | None = None, gone: Collection[str] = ()) -> InboxReader:
    return InboxReader(
        transactions=world.transactions,
        leader=lambda: leader,
        living=controllers.everyone,
        glance=Gone(gone),
    )


def listed(world: World, **wanted: Any) -> dict[int, Item]:
    return {item.row.intake_id: item for item in reader(world).newest(**wanted).items}


def states(world: World, **wanted: Any) -> list[tuple[int, str]]:
    return [(at, item.state.value) for at, item in listed(world, **wanted).items()]


def clerk(world: World, transactions: StoreTransactions | None = None, *, dry_run: bool = False) -> Clerk:
    return Clerk(
        transactions=transactions or world.transactions,
        clock=world.clock,
        zone=AMSTERDAM,
        user="anna",
        host="host1",
        dry_run=dry_run,
    )


def row_of(world: World, intake_id: int) -> tuple[str, str | None]:
    ((status, message),) = world.sql("SELECT Status, Message FROM FileProcess WHERE FileProcess_id = ?", intake_id)
    return status, message


@pytest.fixture
def every_kind(world: World) -> World:
    """Rows 1 to 8: work, a duplicate, rejected, untaken, paused, work in part, new, complete."""

    def only_csv(row: IntakeRow) -> Populated:
        if not (row.file_name or "").endswith(".csv"):
            message = "no csv"
            raise CannotPopulate(message)
        return Populated(data=(None,) * 6)

    world.populators.by_name["only_csv"] = only_csv
    world.batch("B", steps=1)
    world.batch("Sensor", Populator="only_csv")
    world.batch("Once", Entity="Both")
    world.batch("Always", Entity="Both", DuplicateCheck=0)
    world.submit(Data="k")
    world.submit(Data="k")
    world.submit("Sensor", "/in/x.txt")
    world.submit("Sensr")
    world.submit(Status="paused")
    world.submit("Both", Data="k")
    world.create()
    world.sql("UPDATE FileProcess SET Data = 'other' WHERE FileProcess_id = 6")
    world.sql("DELETE FROM BatchControl WHERE FileProcess_id = 6 AND ProcessBatch_id = 3")
    world.submit("B", "/in/new.csv")
    world.submit(Status="complete")
    return world


@pytest.mark.parametrize(
    ("searched", "columns", "correct"),
    [
        ({}, {"FileName": "/in/x.txt", "Data": "k"}, "FileName"),
        ({"PopulatorOn": "filename"}, {"Data": "k"}, "FileName"),
        ({"PopulatorOn": "data"}, {"FileName": "/in/x.txt", "Data": "k"}, "Data"),
        ({"PopulatorOn": "entity"}, {"FileName": "/in/x.txt"}, "Entity"),
        ({"Populator": "only_csv"}, {"Data": "k"}, "Data"),
    ],
)
def test_what_is_to_be_corrected_of_a_rejected_row_is_what_its_populator_goes_by(
    world: World, searched: dict[str, Any], columns: dict[str, str], correct: str
) -> None:
    world.batch("Sensor", PopulatorArgs="^x+$", **searched)
    world.submit("Sensor", columns.get("FileName"), Data=columns.get("Data"), Status="rejected", Message="no match")
    settings = (
        "or Populator and PopulatorArgs of batch Sensor (UPDATE ...), then: batchctl inbox retry 1 --reason ...; "
    )
    settings += "if it is not wanted: batchctl inbox reject 1 --reason ..."

    assert listed(world)[1].clear == f"correct {correct}, {settings}"


@pytest.mark.parametrize(
    ("message", "is_alone"),
    [
        ("s_PopulateBatchControl_P cannot be asked: there is no file procedures/s_PopulateBatchControl_P.sql", False),
        ("connection 'control' has no procedures; set its key procedures to a folder of .sql files", True),
    ],
)
def test_what_a_procedure_lacks_that_fills_instances_is_to_be_made(
    world: World, message: str, *, is_alone: bool
) -> None:
    world.batch("P", Populator="procedure", Entity="Sensor")
    if not is_alone:
        world.batch("Sensor")
    world.submit("Sensor", "/in/x.txt", Status="rejected", Message=message)

    settings = "batchctl inbox retry 1 --reason ...; if it is not wanted: batchctl inbox reject 1 --reason ..."
    assert listed(world)[1].clear == f"make or correct what the reason names, then: {settings}"
    world.sql("UPDATE FileProcess SET Status = 'ready', PopulatorTries = 9")
    assert listed(world)[1].clear == "make or correct what the reason names, then: batchctl accept 1 --reason ..."


def test_every_row_that_is_not_work_is_listed_newest_first_with_why_and_what_to_do(every_kind: World) -> None:
    found = listed(every_kind)

    assert [(at, item.state.value) for at, item in found.items()] == [
        (7, "new"),
        (6, "partial"),
        (5, "paused"),
        (4, "untaken"),
        (3, "rejected"),
        (2, "duplicate"),
    ]
    assert {at: (item.because, item.clear) for at, item in found.items()} == {
        7: (
            "no controller has made its instances yet, and none leads",
            "batchctl run   (or, for one pass: batchctl create)",
        ),
        6: ("batch Once has no instance of it yet", "batchctl why file:6"),
        5: ("somebody inserted or set it as paused", "batchctl inbox retry 5 --reason ..."),
        4: (
            "no batch takes entity 'Sensr'. Did you mean 'Sensor'?",
            f"{CORRECT_ENTITY} if it is not wanted: batchctl inbox reject 4 --reason ...",
        ),
        3: (
            "batch Sensor: no csv",
            f"{CORRECT_FILE} batchctl inbox retry 3 --reason ...; if it is not wanted: batchctl inbox reject 3 --reason ...",
        ),
        2: ("batch B: same Data as FileProcess 1", "batchctl accept 2 --reason ..."),
    }


def test_what_a_leader_will_do_by_itself_is_said(every_kind: World) -> None:
    found = reader(every_kind, leader="host9:1:a").newest(states=[InboxState.NEW])

    assert found.leader == "host9:1:a"
    assert [(item.because, item.clear) for item in found.items] == [
        (
            "no controller has made its instances yet",
            "nothing: controller host9:1:a takes it in by itself; if it lasts: batchctl why file:7",
        )
    ]


def test_only_what_is_asked_for_is_listed(every_kind: World) -> None:
    aside = [InboxState.PAUSED, InboxState.DUPLICATE]

    assert states(every_kind, entity="Sensor") == [(3, "rejected")]
    assert states(every_kind, states=aside) == [(5, "paused"), (2, "duplicate")]
    assert states(every_kind, states=[InboxState.UNTAKEN, InboxState.REJECTED]) == [(4, "untaken"), (3, "rejected")]
    assert states(every_kind, states=aside, entity="Both") == []


def test_it_is_read_page_by_page(every_kind: World) -> None:
    seen, before = [], None
    for _ in range(3):
        page = reader(every_kind).newest(most=2, before=before)
        seen.append([item.row.intake_id for item in page.items])
        before = page.before

    assert seen == [[7, 6], [5, 4], [3, 2]]
    assert before is None


def test_of_many_ready_rows_only_some_are_looked_at_and_it_is_said_which(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "LOOKS", 2)
    monkeypatch.setattr(intake, "LOOKED_AT_ONCE", 5)
    world.submit("nobody")
    world.submit(Status="paused")
    world.batch()
    for _ in range(20):
        world.submit()
    world.create()

    first = reader(world).newest()
    assert [item.row.intake_id for item in first.items] == [2], "what was set aside is listed however far back it is"
    assert first.before == 13
    second = reader(world).newest(before=first.before)
    third = reader(world).newest(before=second.before)
    assert [item.row.intake_id for item in third.items] == [2, 1]
    assert third.before is None


def test_a_file_that_is_not_there_is_a_hint_and_decides_nothing(every_kind: World) -> None:
    found = reader(every_kind, gone={"/in/new.csv"}).newest()

    assert {item.row.intake_id: item.is_file_missing for item in found.items if item.is_file_missing} == {7: True}
    assert every_kind.create().created == 2


def test_a_row_is_shown_with_everything_about_it(every_kind: World) -> None:
    clerk(every_kind).reject(IntakeId(4), reason="a typing error")

    rejected, work = reader(every_kind).show(IntakeId(4)), reader(every_kind).show(IntakeId(1))

    assert rejected.item is not None
    assert (rejected.item.state, rejected.item.because) == ("rejected", "rejected by anna@host1: a typing error")
    assert rejected.item.clear == "nothing; if it is wanted after all: batchctl inbox retry 4 --reason ..."
    assert [(act.action, act.reason) for act in rejected.audit if act.reason is not None] == [
        ("reject", "a typing error")
    ]
    assert work.item is None
    assert [instance.instance_id for instance in work.instances] == [1]
    assert [batch.name for batch in work.takers] == ["B"]
    assert reader(every_kind).show(IntakeId(8)).item is None


def test_the_same_file_arrives_twice_is_sent_again_on_purpose_and_one_that_failed_is_run_again(
    world: World, operator: Operator
) -> None:
    world.batch(steps=1)
    world.submit(file_name="/in/a.csv", Data="a.csv")
    world.create()
    world.runner.script = lambda rendered: BAD
    world.process()

    assert world.statuses() == ["failed"]
    with pytest.raises(Refused, match="BatchControl 1 of it is failed") as refused:
        clerk(world).resend(IntakeId(1), reason=WHY)
    assert refused.value.next_step == "batchctl rerun 1 --reason ..."
    operator.rerun(world.one("SELECT BatchControl_id FROM BatchControl"), reason=WHY)
    world.runner.script = lambda rendered: OK
    world.process()
    assert (world.statuses(), row_of(world, 1)[0]) == (["complete"], "complete")

    world.submit(file_name="/in/a.csv", Data="a.csv")
    assert world.create().duplicates == 1
    assert row_of(world, 2) == ("duplicate", "batch B: same Data as FileProcess 1")

    sent = clerk(world).resend(IntakeId(1), reason=WHY)
    assert (sent.intake_id, sent.first, sent.number) == (3, 1, 2)
    assert world.create().created == 1
    world.process()
    assert world.statuses() == ["complete", "complete"]
    assert [row_of(world, at)[0] for at in (1, 2, 3)] == ["complete", "duplicate", "complete"]
    world.submit(file_name="/in/a.csv", Data="a.csv")
    assert world.create().duplicates == 1, "what is sent again unasked is still a duplicate"
    assert fsck.examine(world.transactions, world.clock, settled_after=timedelta(0)) == ()


def test_what_is_sent_again_is_the_same_numbered_and_audited(world: World, audited: Audited) -> None:
    world.batch()
    world.submit(file_name="/in/a.csv", Data="k", CycleKey="2026-11-01", Status="complete")

    first = clerk(world).resend(IntakeId(1), reason=WHY)
    world.sql("UPDATE FileProcess SET Status = 'complete'")
    second = clerk(world).resend(IntakeId(1), reason="once more")
    world.sql("UPDATE FileProcess SET Status = 'complete'")
    of_second = clerk(world).resend(IntakeId(3), reason="x" * 300)

    assert [(one.intake_id, one.first, one.number) for one in (first, second, of_second)] == [
        (2, 1, 2),
        (3, 1, 3),
        (4, 1, 4),
    ]
    rows = world.sql("SELECT Entity, FileName, Data, CycleKey FROM FileProcess")
    assert set(rows) == {("B", "/in/a.csv", "k", "2026-11-01")}
    sources = [row[0] for row in world.sql("SELECT Source FROM FileProcess ORDER BY FileProcess_id")]
    assert sources[1] == f"resend by anna@host1, submission 2 of FileProcess 1: {WHY}"
    assert sources[3].startswith("resend by anna@host1, submission 4 of FileProcess 1: xxx")
    assert len(sources[3]) == 200
    assert audited()[:2] == [
        (
            "resend",
            "FileProcess:1",
            "anna",
            "host1",
            WHY,
            {"FileProcess_id": 1},
            {"FileProcess_id": 2, "Source": sources[1]},
        ),
        (
            "accept",
            "FileProcess:2",
            "anna",
            "host1",
            WHY,
            {"FileProcess_id": 1},
            {"FileProcess_id": 2, "Source": sources[1]},
        ),
    ]
    assert [(row[0], row[1]) for row in audited()[2:]] == [
        ("resend", "FileProcess:1"),
        ("accept", "FileProcess:3"),
        ("resend", "FileProcess:1"),
        ("accept", "FileProcess:4"),
    ]


def test_what_somebody_wrote_into_the_audit_log_by_hand_stops_nobody(world: World) -> None:
    world.batch()
    world.submit(Data="k", Status="complete")
    world.submit(Data="k", Status="complete")
    by_hand = "INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore) VALUES ('dba', 'h', 'accept', ?, ?)"
    for before in ("nonsense", "[]", '{"FileProcess_id": "x"}', None):
        world.sql(by_hand, "FileProcess:2", before)

    assert clerk(world).resend(IntakeId(2), reason=WHY).first == 2


def test_a_second_run_is_of_the_day_the_first_was_of(world: World) -> None:
    world.batch()
    world.submit(z_inserted="2026-11-01 23:30:00")
    world.create()
    assert world.one("SELECT CycleKey FROM BatchControl") == "2026-11-02"
    world.sql("UPDATE BatchControl SET Status = 'complete'")
    world.sql("UPDATE FileProcess SET Status = 'complete'")

    clerk(world).resend(IntakeId(1), reason=WHY)
    world.create()

    assert world.sql("SELECT CycleKey FROM BatchControl") == [("2026-11-02",)] * 2


def test_the_populator_names_the_day_of_a_second_run_where_it_named_that_of_the_first(world: World) -> None:
    world.populators.by_name["dated"] = lambda row: Populated(data=(None,) * 6, cycle_key="2026-10")
    world.batch(Populator="dated")
    world.submit()
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'complete'")
    world.sql("UPDATE FileProcess SET Status = 'complete'")

    clerk(world).resend(IntakeId(1), reason=WHY)

    assert world.one("SELECT CycleKey FROM FileProcess WHERE FileProcess_id = 2") is None


@pytest.mark.parametrize(
    ("columns", "said", "next_step"),
    [
        ({"Status": "paused"}, "FileProcess 1 is paused", "batchctl inbox retry 1 --reason ..."),
        ({}, "FileProcess 1 is ready, and still to be looked at", "batchctl why file:1"),
        ({"Entity": "nobody", "Status": "complete"}, "no batch takes entity 'nobody'.", "batchctl batches"),
        ({"Entity": "Bb", "Status": "complete"}, "no batch takes entity 'Bb'. Did you mean 'B'?", "batchctl batches"),
    ],
)
def test_what_cannot_be_sent_again_is_refused_with_what_to_do(
    world: World, columns: dict[str, str], said: str, next_step: str
) -> None:
    world.batch()
    world.submit(columns.get("Entity", "B"), Status=columns.get("Status", "ready"))

    for dry_run in (True, False):
        with pytest.raises(Refused, match=said) as refused:
            clerk(world, dry_run=dry_run).resend(IntakeId(1), reason=WHY)
        assert refused.value.next_step == next_step
    assert world.one("SELECT count(*) FROM FileProcess") == 1
    assert world.sql(f"SELECT * FROM AuditLog WHERE {ACTS}") == []


def test_a_row_that_was_corrected_is_looked_at_anew(every_kind: World, audited: Audited) -> None:
    world = every_kind
    again = clerk(world).retry(IntakeId(3), reason="it may go now")
    assert (again.before.status, again.status) == ("rejected", "ready")
    assert row_of(world, 3) == ("ready", None)
    assert world.create().rejected == 1
    assert row_of(world, 3) == ("rejected", "batch Sensor: no csv")

    world.sql("UPDATE FileProcess SET FileName = '/in/x.csv' WHERE FileProcess_id = 3")
    clerk(world).retry(IntakeId(3), reason="corrected")
    assert world.create().created == 1
    assert row_of(world, 3) == ("ready", None)
    assert audited() == [
        (
            "retry",
            "FileProcess:3",
            "anna",
            "host1",
            reason,
            {"Status": "rejected", "Message": "batch Sensor: no csv"},
            {"Status": "ready", "Message": None},
        )
        for reason in ("it may go now", "corrected")
    ]


def test_a_paused_row_goes_on(every_kind: World) -> None:
    clerk(every_kind).retry(IntakeId(5), reason="it is complete now")
    every_kind.create()

    assert every_kind.one("SELECT count(*) FROM BatchControl WHERE FileProcess_id = 5") == 1


def test_a_rejected_row_that_was_corrected_says_so_and_is_only_to_be_looked_at_anew(world: World) -> None:
    world.batch("Sensor", PopulatorArgs="(?P<CycleKey>[0-9]{8})")
    number = world.submit("Sensor", "/in/a.csv", Status="rejected", Message="no match")
    world.sql("UPDATE FileProcess SET FileName = '/in/20261121.csv'")
    right = reader(world).show(IntakeId(number)).item

    assert right is not None
    assert (right.because, listed(world)[number].because) == ("no match (corrected since)",) * 2
    assert (
        right.clear
        == f"batchctl inbox retry {number} --reason ...; if it is not wanted: batchctl inbox reject {number} --reason ..."
    )


def test_a_duplicate_is_looked_at_anew_once_it_is_none_any_more(every_kind: World) -> None:
    world = every_kind
    with pytest.raises(Refused, match="FileProcess 2 still has the same Data as FileProcess 1") as refused:
        clerk(world).retry(IntakeId(2), reason="r")
    assert refused.value.next_step == "batchctl accept 2 --reason ...   (if it is to run all the same)"

    world.sql("UPDATE FileProcess SET Data = 'another' WHERE FileProcess_id = 2")
    clerk(world).retry(IntakeId(2), reason="the key was wrong")
    world.create()
    assert row_of(world, 2) == ("ready", None)
    assert world.one("SELECT count(*) FROM BatchControl WHERE FileProcess_id = 2") == 1


def test_a_row_whose_work_is_all_done_is_complete_when_the_batch_that_rejected_it_takes_it_no_more(
    world: World,
) -> None:
    world.batch("Good", steps=1, Entity="E")
    world.batch("Bad", Entity="E", Populator="none")
    world.submit("E")
    world.create()
    world.process()
    assert (world.statuses(), row_of(world, 1)[0]) == (["complete"], "rejected")
    world.sql("UPDATE ProcessBatch SET Entity = 'F' WHERE ProcessBatchName = 'Bad'")

    assert clerk(world).retry(IntakeId(1), reason="Bad was not meant").status == "complete"
    assert row_of(world, 1) == ("complete", None)
    assert fsck.examine(world.transactions, world.clock, settled_after=timedelta(0)) == ()


def test_what_was_made_ready_again_a_moment_ago_breaks_no_law(world: World) -> None:
    world.batch()
    world.submit(Status="rejected", z_inserted="2026-01-01 00:00:00", z_updated="2026-01-01 00:00:00")
    clerk(world).retry(IntakeId(1), reason="r")

    assert fsck.examine(world.transactions, world.clock) == ()


@pytest.mark.parametrize(
    ("at", "said", "next_step"),
    [
        (1, "FileProcess 1 is ready already", "batchctl why file:1"),
        (8, "FileProcess 8 is complete", "batchctl inbox resend 8 --reason ...   (to run all of it once more)"),
    ],
)
def test_what_needs_no_second_look_is_refused(every_kind: World, at: int, said: str, next_step: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        clerk(every_kind).retry(IntakeId(at), reason="r")
    assert refused.value.next_step == next_step


@pytest.mark.parametrize("at", [3, 4, 5, 7])
def test_a_row_that_nobody_wants_is_rejected_and_nothing_comes_of_it(
    every_kind: World, audited: Audited, at: int
) -> None:
    world = every_kind
    before = world.one("SELECT Status FROM FileProcess WHERE FileProcess_id = ?", at)
    clerk(world).reject(IntakeId(at), reason="sent by mistake")
    world.batch("Sensr")
    world.create()

    assert row_of(world, at) == ("rejected", "rejected by anna@host1: sent by mistake")
    assert world.one("SELECT count(*) FROM BatchControl WHERE FileProcess_id = ?", at) == 0
    ((action, target, *_, after),) = audited()
    assert (action, target, after["Status"]) == ("reject", f"FileProcess:{at}", "rejected")
    assert before == {3: "rejected", 5: "paused"}.get(at, "ready")
    with world.transactions.read() as connection:
        aside = intake.set_aside(connection, (IntakeStatus.REJECTED,), LARGEST_ID, 100)
    assert at not in {finding.evidence for finding in rejected(aside, {"Sensor"})}, "it is no incident any more"
    with pytest.raises(Refused, match="is rejected already"):
        clerk(world).reject(IntakeId(at), reason="again")


@pytest.mark.parametrize(
    ("at", "said", "next_step"),
    [
        (1, r"has become work already: BatchControl 1 \(ready\)", "batchctl cancel 1 --reason ..."),
        (6, "has become work already: BatchControl 3", "batchctl cancel 3 --reason ..."),
        (2, "is duplicate already", "batchctl inbox show 2"),
        (8, "is complete already", "batchctl inbox show 8"),
    ],
)
def test_what_became_work_or_nothing_cannot_be_rejected(every_kind: World, at: int, said: str, next_step: str) -> None:
    dump = every_kind.hand.dump()
    with pytest.raises(Refused, match=said) as refused:
        clerk(every_kind).reject(IntakeId(at), reason="r")
    assert refused.value.next_step == next_step
    assert every_kind.hand.dump() == dump


def test_a_dry_run_decides_and_writes_nothing(every_kind: World) -> None:
    dry, dump = clerk(every_kind, dry_run=True), every_kind.hand.dump()

    assert dry.retry(IntakeId(3), reason="r").status == "ready"
    assert dry.reject(IntakeId(4), reason="r").status == "rejected"
    sent = dry.resend(IntakeId(8), reason="r")
    assert (sent.intake_id, sent.first, sent.number, sent.batches) == (None, 8, 2, ("B",))
    with pytest.raises(Refused):
        dry.retry(IntakeId(2), reason="r")
    assert every_kind.hand.dump() == dump


def test_the_number_of_an_instance_is_told_from_that_of_a_row(world: World) -> None:
    world.batch("A", Entity="E")
    world.batch("B", Entity="E")
    world.submit("E")
    world.create()

    for act in (clerk(world).retry, clerk(world).reject, clerk(world).resend):
        with pytest.raises(NotFound) as missing:
            act(IntakeId(2), reason="r")
        assert missing.value.message == (
            "There is no FileProcess 2. Did you mean BatchControl 2, which was made of FileProcess 1?"
        )
        assert missing.value.next_step == "batchctl inbox show 1"
    with pytest.raises(NotFound, match=r"There is no FileProcess 99\.$"):
        reader(world).show(IntakeId(99))


@pytest.mark.parametrize("reason", ["", "  ", "a\x00b"])
def test_an_act_needs_a_reason_that_can_be_kept(every_kind: World, reason: str) -> None:
    dump = every_kind.hand.dump()
    for act, at in ((clerk(every_kind).retry, 3), (clerk(every_kind).reject, 4), (clerk(every_kind).resend, 8)):
        with pytest.raises(Refused, match="reason"):
            act(IntakeId(at), reason=reason)
    assert every_kind.hand.dump() == dump


def test_who_keeps_a_row_locked_is_said_in_the_list_and_of_the_row(world: World) -> None:
    world.batch("A", steps=1)
    for _ in range(3):
        world.submit("A")
    world.sql("UPDATE FileProcess SET Status = 'paused' WHERE FileProcess_id = 2")
    session = "the row, or its batch, is locked by session 7"
    failure = failure_of({f"FileProcess {at}": f"{session}; to end it: SELECT 7" for at in (1, 2)})
    world.sql("INSERT INTO Controller (ControllerName, Host, Trouble) VALUES ('c1', 'h', ?)", failure)
    shown = reader(world, leader="c1").show(IntakeId(1)).item

    found = {at: item.because.partition(": ")[2] == session for at, item in listed(world).items()}
    assert found == {1: True, 2: False, 3: False}
    assert shown is not None
    assert (shown.because, shown.clear) == (f"FileProcess 1: {session}", "SELECT 7")
