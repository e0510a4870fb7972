"""Definitions are applied from files: all of it or nothing, and nothing that somebody has changed since is lost."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.outcomes import Connection
from batchctl.operations.definitions import batch_history, exporting
from batchctl.operations.definitions.definition_files import Applier, ApplyOutcome, File
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import context
from tests.control.world import BAD, OK, World
from tests.operations.test_checking import Plugins

GOLDEN = Path(__file__).parent / "golden" / "definitions.toml"
BATCH = """
[[ProcessBatch]]
ProcessBatchName = "B"
[[ProcessBatch.ProcessControl]]
ProcessControlSeq = 10
ProcessName = "one"
ProcessType = "told"
Data1 = "was"
[[ProcessBatch.ProcessControl]]
ProcessControlSeq = 20
ProcessName = "two"
ProcessType = "told"
"""
BURST = """
[[Pool]]
PoolName = "burst"
Kind = "dask"

[[ProcessBatch]]
ProcessBatchName = "B"

[[ProcessBatch.ProcessControl]]
ProcessControlSeq = 10
ProcessName = "one"
ProcessType = "told"
Pool = "burst"
Needs = "GPU=1"
"""
THIRD = """
[[ProcessBatch.ProcessControl]]
ProcessControlSeq = 30
ProcessName = "three"
ProcessType = "told"
"""
DAILY = """
[[Schedule]]
ScheduleName = "nightly"
Entity = "B"
ScheduleType = "daily"
RunTimes = "06:00"
"""
Apply = Callable[..., ApplyOutcome]


@pytest.fixture
def apply(world: World, anywhere: StoreTransactions) -> Apply:
    """Apply texts as files, as Anna."""

    def applied(*texts: str, dry_run: bool = False, **more: Any) -> ApplyOutcome:
        actor = Actor(transactions=anywhere, clock=world.clock, user="anna", host="host1", dry_run=dry_run)
        table = Timetable(transactions=anywhere, clock=world.clock, zone="UTC", grace=timedelta(minutes=5))
        schedule_context = context(str(world.directory), connections={"wh": Connection("wh", "sqlite:///wh.db")})
        applier = Applier(actor=actor, plugins=Plugins(), context=schedule_context, timetable=table)
        files = [File(f"f{at}.toml", tomllib.loads(text)) for at, text in enumerate(texts)]
        return applier.apply(files, reason="the new release", **more)

    return applied


def exported(transactions: StoreTransactions, *batches: str, owner: str | None = None) -> str:
    return exporting.text_of(exporting.export(transactions, batches), owner)


def acts(outcome: ApplyOutcome) -> list[tuple[str, str, str]]:
    return [(change.act.value, change.kind, change.name) for change in outcome.changes]


def changed(outcome: ApplyOutcome) -> list[tuple[str, Any, Any]]:
    return [(one.where, one.before, one.after) for change in outcome.changes for one in change.columns]


def conflicts(outcome: ApplyOutcome) -> list[tuple[str, str, Any, Any, Any]]:
    return [(change.name, one.where, one.base, one.before, one.after) for change, one in outcome.conflicts]


def findings(outcome: ApplyOutcome) -> list[tuple[str, str, str]]:
    return [(one.table, one.row, one.column) for one in outcome.findings]


def data(world: World) -> list[Any]:
    return [row[0] for row in world.sql("SELECT Data1 FROM ProcessControl ORDER BY ProcessControlSeq")]


def test_the_same_file_comes_back_from_every_database(apply: Apply, anywhere: StoreTransactions) -> None:
    golden = GOLDEN.read_text(encoding="utf-8")

    done = apply(golden)

    assert (done.is_applied, done.findings) == (True, ())
    assert exported(anywhere, owner="sales") == golden
    again = apply(golden)
    assert (again.changes, again.same, again.is_applied) == ((), 7, True)


def test_what_is_planned_is_not_done(world: World, apply: Apply) -> None:
    before = world.hand.dump()

    done = apply(BATCH, DAILY, dry_run=True)

    assert acts(done) == [("add", "ProcessBatch", "B"), ("add", "Schedule", "nightly")]
    assert not done.findings
    assert world.hand.dump() == before


def test_what_has_waited_is_not_let_go_by_a_file(world: World, apply: Apply) -> None:
    enabled = BATCH.replace('Name = "B"', 'Name = "B"\nEnabled = 1')
    apply(enabled.replace("Enabled = 1", "Enabled = 0"))
    for _ in range(2):
        world.submit("B")
    world.create()

    planned, done = apply(enabled, dry_run=True), apply(enabled)

    assert findings(planned) == findings(done) == [("ProcessBatch", "B", "Enabled")]
    assert done.findings[0].message.startswith("This will start 2 instances")
    assert not done.is_applied
    assert world.one("SELECT Enabled FROM ProcessBatch") == 0
    world.sql("UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = 1")
    assert apply(enabled).is_applied


def test_a_change_is_audited_column_by_column(world: World, apply: Apply, audited: Callable[[], list[Any]]) -> None:
    apply(BATCH)

    done = apply(BATCH.replace("was", "new").replace('"two"', '"three"'))

    assert changed(done) == [
        ("ProcessControl 10.Data1", "was", "new"),
        ("ProcessControl 20.ProcessName", "two", "three"),
    ]
    assert data(world) == ["new", None]
    last = audited()[-1]
    assert last[:5] == ("apply change", "ProcessBatch:B", "anna", "host1", "the new release")
    assert last[5] == {"ProcessControl 10.Data1": "was", "ProcessControl 20.ProcessName": "two"}
    assert last[6] == {"ProcessControl 10.Data1": "new", "ProcessControl 20.ProcessName": "three"}


def test_a_change_by_hand_is_a_conflict_until_it_is_settled(world: World, apply: Apply) -> None:
    apply(BATCH)
    world.sql("UPDATE ProcessControl SET Data1 = 'by hand' WHERE ProcessControlSeq = 10")
    yours = BATCH.replace("was", "new")
    before = world.hand.dump()

    refused = apply(yours)

    assert conflicts(refused) == [("B", "ProcessControl 10.Data1", "was", "by hand", "new")]
    assert (refused.is_applied, world.hand.dump()) == (False, before)
    assert apply(yours, overwrite=["B"]).is_applied
    assert data(world) == ["new", None]
    assert apply(yours.replace("new", "newer")).is_applied, "from then on it is in step again"


@pytest.mark.parametrize("name", ["b", "ProcessBatch:b", "Schedule:B"])
def test_a_misspelt_name_to_overwrite_is_refused(world: World, apply: Apply, name: str) -> None:
    apply(BATCH)
    before = world.hand.dump()

    with pytest.raises(NotFound, match=f"The files say nothing of '{name}'"):
        apply(BATCH.replace("was", "new"), overwrite=["B", name])

    assert world.hand.dump() == before


def test_a_change_by_hand_that_the_file_takes_over_is_none(world: World, apply: Apply) -> None:
    apply(BATCH)
    world.sql("UPDATE ProcessControl SET Data1 = 'by hand' WHERE ProcessControlSeq = 10")

    done = apply(BATCH.replace("was", "by hand").replace('"two"', '"three"'))

    assert (done.is_applied, changed(done)) == (True, [("ProcessControl 20.ProcessName", "two", "three")])


@pytest.mark.parametrize(
    ("by_hand", "where"),
    [
        ("UPDATE ProcessBatch SET Seq = 7", "Seq"),
        ("DELETE FROM ProcessControl WHERE ProcessControlSeq = 20", "ProcessControl 20.ProcessName"),
        (
            "INSERT INTO BatchResource (ProcessBatch_id, Resource_id) SELECT 1, Resource_id FROM Resource",
            "BatchResource R.Units",
        ),
    ],
)
def test_whatever_is_changed_by_hand_would_be_lost(world: World, apply: Apply, by_hand: str, where: str) -> None:
    world.sql("INSERT INTO Resource (ResourceName) VALUES ('R')")
    apply(BATCH)
    world.sql(by_hand)

    done = apply(BATCH)

    assert where in [one.where for _, one in done.conflicts]
    assert not done.is_applied


def test_what_was_deleted_by_hand_does_not_come_back_unasked(world: World, apply: Apply) -> None:
    apply(BATCH, DAILY)
    world.sql("DELETE FROM Schedule")

    assert conflicts(apply(BATCH, DAILY)) == [("nightly", "ScheduleName", "nightly", None, "nightly")]
    assert apply(BATCH, DAILY, overwrite=["Schedule:nightly"]).is_applied
    assert world.one("SELECT count(*) FROM Schedule") == 1


def test_an_exported_file_knows_what_it_was_made_of(world: World, apply: Apply, anywhere: StoreTransactions) -> None:
    world.batch(steps=1, Seq=5)
    file = exported(anywhere)
    apply_this = file.replace("Seq = 5", "Seq = 6", 1)
    assert apply(apply_this).is_applied
    world.sql("UPDATE ProcessBatch SET Seq = 5")

    stale = apply(file.replace("Seq = 5", "Seq = 8", 1))
    anew = apply(exported(anywhere).replace("Seq = 5", "Seq = 8", 1))

    assert conflicts(stale) == [("B", "Seq", 6, 5, 8)], "it was in step with the file before that was applied"
    assert not anew.is_applied, "the very same export as before"
    world.sql("UPDATE ProcessBatch SET Seq = 4")
    assert apply(exported(anywhere).replace("Seq = 4", "Seq = 8", 1)).is_applied


def test_of_what_was_never_applied_nobody_knows_what_would_be_lost(world: World, apply: Apply) -> None:
    world.batch(steps=0, Seq=5)

    done = apply('[[ProcessBatch]]\nProcessBatchName = "B"\nSeq = 6')

    ((_, one),) = done.conflicts
    assert (one.where, one.is_base_known, one.before, one.after) == ("Seq", False, 5, 6)


def test_whether_it_is_enabled_is_an_operators_unless_the_file_says_it(world: World, apply: Apply) -> None:
    apply(BATCH, DAILY)
    world.sql("UPDATE ProcessBatch SET Enabled = 0")
    world.sql("UPDATE Schedule SET Enabled = 0, NextRunTime = NULL")

    assert apply(BATCH, DAILY).changes == ()
    apply(BATCH.replace("was", "new"), DAILY.replace("06:00", "07:00"))
    assert (world.one("SELECT Enabled FROM ProcessBatch"), world.one("SELECT Enabled FROM Schedule")) == (0, 0)
    apply(BATCH.replace("was", "new"), f"{DAILY}Enabled = true")
    assert world.sql("SELECT Enabled FROM Schedule") == [(1,)]
    assert world.one("SELECT NextRunTime FROM Schedule") is not None


def test_schedules_are_armed_as_by_every_command(world: World, apply: Apply) -> None:
    apply(BATCH, DAILY)
    assert world.one("SELECT NextRunTime FROM Schedule") == "2026-11-21 06:00:00.000"

    apply(BATCH, DAILY.replace("06:00", "05:30"))

    assert world.one("SELECT NextRunTime FROM Schedule") == "2026-11-21 05:30:00.000"


def test_everything_that_would_be_wrong_is_said_at_once_and_nothing_done(world: World, apply: Apply) -> None:
    world.batch("Wrong", steps=0)
    before = world.hand.dump()
    text = """
    [[ProcessBatch]]
    ProcessBatchName = "Late"
    RetryCount = 5000
    [[ProcessBatch]]
    ProcessBatchName = "Early"
    BatchDependency = [ { DependsOnBatchName = "Nobody" } ]
    [[ProcessBatch]]
    ProcessBatchName = "Typo"
    [[ProcessBatch.ProcessControl]]
    ProcessControlSeq = 10
    ProcessNam = "one"
    ProcessType = "told"
    """

    done = apply(BATCH.replace('"told"', '"tld"', 1), DAILY.replace("06:00", "26:00"), text)

    assert findings(done) == [
        ("ProcessControl", "Typo, 10", "ProcessNam"),
        ("ProcessControl", "Typo, 10", "ProcessName"),
        ("ProcessBatch", "Late", "RetryCount"),
        ("Schedule", "nightly", "RunTimes"),
        ("ProcessBatch", "Early", ""),
        ("ProcessControl", "B, step 10 'one'", "ProcessType"),
        ("ProcessBatch", "Early", ""),
    ]
    assert {one.remedy.partition(",")[0] for one in done.findings} == {"correct the file"}
    assert [one.message for one in done.findings if one.column == "RunTimes"] == [
        "'26:00' is no time of day: write it as HH:MM, from 00:00 to 23:59."
    ]
    assert world.hand.dump() == before, "what was wrong before is not held against the file"


def test_what_stands_below_a_batch_is_what_the_file_says_and_others_are_left_alone(world: World, apply: Apply) -> None:
    world.batch("Other")
    apply(BATCH, DAILY)
    without = BATCH.partition("[[ProcessBatch.ProcessControl]]\nProcessControlSeq = 20")[0]

    done = apply(without)

    assert changed(done) == [
        (f"ProcessControl 20.{column}", before, None)
        for column, before in {"ProcessName": "two", "ProcessType": "told", "OnLost": "hold", "MaxLost": 3}.items()
    ]
    assert world.one("SELECT count(*) FROM ProcessBatch") == 2
    assert world.one("SELECT count(*) FROM Schedule") == 1


def test_what_files_hold_by_name_goes_with_them(world: World, apply: Apply) -> None:
    world.batch("Other")
    ours = 'Owns = "sales"\n'
    apply(ours + BATCH + DAILY)
    with pytest.raises(Refused, match="do not say what they hold"):
        apply(BATCH, prune=True)
    assert findings(apply(BATCH)) == [("ProcessBatch", "B", "Owns")]
    for name in ("B", "ProcessBatch:B"):
        assert findings(apply(BATCH, overwrite=[name], dry_run=True)) == []

    assert apply(ours + BATCH).changes == ()
    done = apply(ours + BATCH, prune=True)

    assert acts(done) == [("remove", "Schedule", "nightly")]
    assert (world.one("SELECT count(*) FROM Schedule"), world.one("SELECT count(*) FROM ProcessBatch")) == (0, 2)
    assert apply(ours + BATCH, prune=True).changes == ()


def test_a_batch_that_anything_tells_of_is_not_removed(world: World, apply: Apply) -> None:
    ours = 'Owns = "sales"\n'
    apply(ours + BATCH + DAILY)
    world.submit()
    world.create()
    world.process()

    done = apply(f"{ours}{DAILY}", prune=True)

    assert ("ProcessBatch", "B", "") in findings(done)
    assert world.one("SELECT count(*) FROM ProcessBatch") == 1


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        (BATCH.replace("Seq = 10", "Seq = 12"), True),
        (BATCH.replace("Seq = 10", "Seq = 5").replace("one", "before"), True),
        (BATCH.replace("Seq = 20", "Seq = 22"), True),
        (BATCH.replace("was", "new"), False),
        (f"{BATCH}{THIRD}", False),
    ],
)
def test_no_instance_is_left_between_steps_that_are_others_now(
    world: World, apply: Apply, text: str, is_refused: bool
) -> None:
    apply(BATCH)
    outcomes = iter([OK, BAD])
    world.runner.script = lambda rendered: next(outcomes)
    world.submit()
    world.create()
    world.process()
    assert world.sql("SELECT Status, PrevProcessControlSeq FROM BatchControl") == [("failed", 10)]

    done = apply(text)

    assert [(one.table, one.row) for one in done.findings] == ([("BatchControl", "1")] if is_refused else [])
    assert done.is_applied is not is_refused


def test_an_instance_that_has_done_nothing_takes_any_steps(world: World, apply: Apply) -> None:
    apply(BATCH)
    world.submit()
    world.create()

    assert apply(BATCH.replace("Seq = 10", "Seq = 12")).is_applied


def test_what_the_code_of_a_job_keeps_is_not_written_by_files(
    world: World, apply: Apply, anywhere: StoreTransactions
) -> None:
    world.batch(Origin="job shop.jobs")

    assert "ProcessBatchName" not in exported(anywhere)
    assert findings(apply(BATCH))[0] == ("ProcessBatch", "B", "Origin")


def test_the_same_definition_twice_is_refused(apply: Apply) -> None:
    assert findings(apply(DAILY, DAILY))[0] == ("Schedule", "nightly", "")
    assert findings(apply('Owns = "a"', 'Owns = "b"')) == [("", "", "Owns")]


def test_one_batch_comes_with_what_starts_it(apply: Apply, anywhere: StoreTransactions) -> None:
    apply(GOLDEN.read_text(encoding="utf-8"))

    kinds = tomllib.loads(exported(anywhere, "Load"))

    assert [one["ProcessBatchName"] for one in kinds["ProcessBatch"]] == ["Load"]
    assert {kind: len(kinds[kind]) for kind in kinds if kind != "Exported"} == {
        **dict.fromkeys(("Calendar", "Resource", "ProcessBatch", "Schedule", "DataTrigger", "FileWatch"), 1),
    }
    with pytest.raises(NotFound, match="Did you mean 'Load'"):
        exported(anywhere, "Lod")


def test_settings_are_written_when_they_are_asked_for(world: World, apply: Apply, anywhere: StoreTransactions) -> None:
    apply('[[Setting]]\nName = "MaxConcurrent"\nValue = "3"')

    assert "[[Setting]]" not in exported(anywhere)
    found = exporting.export(anywhere, with_settings=True)
    assert [(one.kind, one.name) for one in found] == [("Setting", "MaxConcurrent")]
    assert findings(apply('[[Setting]]\nName = "DatabaseId"\nValue = "mine"')) == [("Setting", "DatabaseId", "")]


def test_the_versions_of_a_batch_say_what_changed(world: World, apply: Apply, anywhere: StoreTransactions) -> None:
    apply(BATCH)
    world.submit()
    world.create()
    apply(BATCH.replace("was", "new"))

    first, now = batch_history.versions(anywhere, "B")

    assert (first.number, now.number) == (1, None)
    assert [(one.where, one.before, one.after) for one in now.changes] == [("ProcessControl 10.Data1", "was", "new")]
    assert json.loads(first.content)["ProcessControl"][0]["Data1"] == "was"


def test_what_a_step_needs_of_its_host_goes_through_files_audit_and_versions(
    world: World, apply: Apply, anywhere: StoreTransactions
) -> None:
    assert apply(BURST).is_applied
    assert BURST.strip() in exported(anywhere)
    assert BURST.strip() in exported(anywhere, "B"), "with the pool that it names"
    world.submit()
    world.create()
    planned = apply(BURST.replace("GPU=1", "GPU=2"))

    assert changed(planned) == [("ProcessControl 10.Needs", "GPU=1", "GPU=2")]
    first, now = batch_history.versions(anywhere, "B")
    assert (first.number, now.number) == (1, None)
    assert [(one.where, one.before, one.after) for one in now.changes] == [
        ("ProcessControl 10.Needs", "GPU=1", "GPU=2")
    ]
    world.sql("UPDATE ProcessControl SET Needs = NULL")
    world.sql("UPDATE Pool SET Kind = 'agents'")
    step, pool = [
        (json.loads(before), json.loads(after))
        for before, after in world.sql("SELECT ValuesBefore, ValuesAfter FROM AuditLog ORDER BY AuditLog_id DESC")[
            1::-1
        ]
    ]
    assert step == ({"Needs": "GPU=2"}, {"Needs": None})
    assert pool == ({"Kind": "dask"}, {"Kind": "agents"})


def test_a_file_with_needs_that_cannot_be_read_is_refused(world: World, apply: Apply) -> None:
    done = apply(BURST.replace("GPU=1", "GPU 1"))

    assert not done.is_applied
    assert [(table, column) for table, _, column in findings(done)] == [("ProcessControl", "Needs")]
    assert world.sql("SELECT * FROM ProcessControl") == []
