"""Submitting inserts the row any program may insert, and says what will become of it."""

from __future__ import annotations

import pytest

from batchctl.domain.errors import Refused
from batchctl.operations.intake.submission import Submission, Submitted, submit
from tests.control.world import World


def send(world: World, submission: Submission, *, dry_run: bool = False) -> Submitted:
    return submit(world.transactions, submission, user="anna", host="host1", dry_run=dry_run)


def test_the_row_holds_what_was_given_and_who_gave_it(world: World) -> None:
    world.batch("one", Entity="E")
    world.batch("two", Entity="E")
    done = send(world, Submission(entity="E", file_name="/in/f", data="d", cycle_key="2026-11"))

    assert (done.intake_id, done.batches, done.hint) == (1, ("one", "two"), None)
    assert world.sql("SELECT Entity, FileName, Data, CycleKey, Source, Status FROM FileProcess") == [
        ("E", "/in/f", "d", "2026-11", "submit by anna@host1", "ready")
    ]


def test_an_entity_nobody_takes_is_inserted_with_a_hint(world: World) -> None:
    world.batch("MyFileType1")
    done = send(world, Submission(entity="MyFileTyp1"))

    assert done.intake_id == 1
    assert done.hint == "No batch takes entity 'MyFileTyp1'. Did you mean 'MyFileType1'?"


def test_a_dry_run_inserts_nothing(world: World) -> None:
    world.batch("B")
    done = send(world, Submission(entity="B"), dry_run=True)

    assert (done.intake_id, done.batches) == (None, ("B",))
    assert world.one("SELECT count(*) FROM FileProcess") == 0


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_is_known_to_be_a_duplicate_is_said_to_be_one(world: World, dry_run: bool) -> None:
    world.batch("one", Entity="E")
    world.batch("every", Entity="E", DuplicateCheck=0)
    first = send(world, Submission(entity="E", data="k"))
    other = send(world, Submission(entity="E", data="k "))
    assert (first.batches, other.batches, first.hint, other.hint) == (("one", "every"), ("one", "every"), None, None)

    again = send(world, Submission(entity="E", data="k"), dry_run=dry_run)
    assert (again.batches, again.next_step) == (("every",), None)
    assert again.hint == "It is a duplicate, of which no instance is made: batch one: same Data as FileProcess 1."
    world.sql("UPDATE ProcessBatch SET Entity = 'X' WHERE ProcessBatchName = 'every'")
    world.create()
    last = send(world, Submission(entity="E", data="k"), dry_run=dry_run)
    assert (last.batches, last.hint) == ((), again.hint)
    assert (last.next_step is None) is dry_run


@pytest.mark.parametrize(
    ("submission", "said"),
    [
        (Submission(entity=""), "Entity cannot be submitted: it is empty"),
        (Submission(entity="E" * 201), "Entity cannot be submitted: it is longer than 200"),
        (Submission(entity="E", cycle_key="K" * 201), "CycleKey cannot be submitted: it is longer than 200"),
        (Submission(entity="E", file_name="a\x00b"), "FileName cannot be submitted: it contains a NUL"),
        (Submission(entity="E", data="\udcff"), "Data cannot be submitted: it contains bytes"),
    ],
)
def test_what_no_row_can_hold_is_refused(world: World, submission: Submission, said: str) -> None:
    with pytest.raises(Refused, match=said):
        send(world, submission)

    assert world.one("SELECT count(*) FROM FileProcess") == 0
