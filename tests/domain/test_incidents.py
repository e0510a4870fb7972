"""What becomes of incidents: the same problem is one, it is over when it is put right, and never before."""

from __future__ import annotations

import pytest

from batchctl.domain.alerting.incidents import InstanceUnderWay, review, signature
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.domain.status import IncidentKind, InstanceStatus
from tests.domain.incident_values import a_problem, an_incident

S = InstanceStatus


def standing_at(status: InstanceStatus, last_seq: int = 0) -> dict[InstanceId, InstanceUnderWay]:
    return {InstanceId(42): InstanceUnderWay(status, last_seq)}


def test_a_new_problem_opens_an_incident_and_the_same_one_none() -> None:
    found = review([a_problem(), a_problem()], [], {})
    assert [one.key for one in found.opened] == ["failed 1 10 it broke"]

    again = review([a_problem()], [an_incident()], standing_at(S.FAILED))
    assert (again.opened, again.changed, again.resolved) == ([], [], [])


@pytest.mark.parametrize("news", [{"evidence": 6}, {"message": "another word"}, {"instance_id": InstanceId(43)}])
def test_what_happens_once_more_is_written_on_the_incident(news: dict[str, object]) -> None:
    finding = a_problem(**news)
    found = review([finding], [an_incident()], standing_at(S.FAILED))

    assert found.changed == [(an_incident(), finding)]
    assert not found.opened


@pytest.mark.parametrize("status", [S.READY, S.RUNNING, S.RETRY, S.PAUSED, S.CANCELLING])
def test_while_an_instance_is_run_again_its_incident_stands_and_nobody_is_reminded(status: InstanceStatus) -> None:
    found = review([], [an_incident()], standing_at(status))

    assert not found.resolved
    assert found.quiet == {7}


@pytest.mark.parametrize(
    ("status", "last_seq"), [(S.COMPLETE, 20), (S.CANCELLED, 0), (S.RUNNING, 10), (S.READY, 10), (S.FAILED, 10)]
)
def test_it_is_over_when_the_instance_is_or_has_come_past_the_step(status: InstanceStatus, last_seq: int) -> None:
    found = review([], [an_incident()], standing_at(status, last_seq))

    assert found.resolved == [an_incident()]
    assert not found.quiet


@pytest.mark.parametrize(
    ("status", "last_seq", "is_over"),
    [(S.READY, 0, False), (S.RUNNING, 0, False), (S.RUNNING, 10, True), (S.COMPLETE, 20, True), (S.FAILED, 0, True)],
)
def test_it_is_over_when_all_that_had_failed_alike_are(status: InstanceStatus, last_seq: int, *, is_over: bool) -> None:
    stand = {InstanceId(42): InstanceUnderWay(S.COMPLETE, 20), InstanceId(43): InstanceUnderWay(status, last_seq)}
    found = review([], [an_incident()], stand, others={IncidentId(7): {InstanceId(42), InstanceId(43)}})

    assert (found.resolved == [an_incident()], found.quiet == {7}) == (is_over, not is_over)


def test_an_instance_that_is_gone_needs_nobody() -> None:
    assert review([], [an_incident()], {}).resolved == [an_incident()]


def test_another_error_at_the_same_step_takes_the_place_of_the_first_without_a_recovery() -> None:
    other = a_problem(about=(1, 10, "the disk is full"))
    found = review([other], [an_incident()], standing_at(S.FAILED))

    assert (found.opened, found.superseded, found.resolved) == ([other], [an_incident()], [])


def test_a_failure_that_is_held_later_is_no_other_trouble_of_the_step() -> None:
    held = a_problem(kind=IncidentKind.HELD, about=(1, 10))
    found = review([held], [an_incident()], standing_at(S.HELD))

    assert (found.opened, found.superseded, found.resolved) == ([held], [an_incident()], [])


def test_what_is_no_instance_is_over_as_soon_as_nobody_sees_it() -> None:
    late = an_incident(kind=IncidentKind.TOO_LONG, key="too_long 42 10")

    assert review([], [late], standing_at(S.RUNNING)).resolved == [late]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ORA-00942 at line 17", "ORA-00942 at line 4"),
        ("row 12 of 13 is broken\nand more", "row 1 of 99 is broken"),
        ("session 0x7ffc01 is gone", "session 0x1 is gone"),
    ],
)
def test_errors_that_differ_in_numbers_only_are_the_same(one: str, other: str) -> None:
    assert signature(one) == signature(other) != signature("it broke")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exited with 1; it wrote last: ERROR ORA-00942", "exited with 1; it wrote last: ERROR ORA-00001"),
        ("ERROR 1205 deadlock", "ERROR 547 deadlock"),
        ("it broke (code: 7)", "it broke (code: 8)"),
        ("SQL0204N is undefined", "SQL0205N is undefined"),
        ("exited with 3", "exited with 4"),
        ("BC1042: it broke", "BC1043: it broke"),
        ("ABC12: it broke", "ABC13: it broke"),
        ("exited with 1; it wrote last: ABC12: it broke", "exited with 1; it wrote last: ABC13: it broke"),
        ("[HY000] it broke", "[HY001] it broke"),
        ("SQLSTATE 42000", "SQLSTATE 42001"),
    ],
)
def test_errors_whose_own_numbers_differ_are_others(one: str, other: str) -> None:
    assert signature(one) != signature(other)


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ("exited with 1; it wrote last: cannot load INV{:04}.csv: no such customer", ()),
        ("cannot load order INV{:04}: no such customer", ()),
        ("INV{:04}: no such customer", ("/in/INV{:04}.csv",)),
        ("AB{:04}-x: no such customer", ("AB{:04}-x",)),
        ("cannot load C:\\in\\customers_{:c}.csv", ("C:\\in\\customers_{:c}.csv",)),
    ],
)
def test_the_same_error_of_many_files_is_one(said: str, own: tuple[str, ...]) -> None:
    made = {signature(said.format(at), [each.format(at) for each in own]) for at in range(65, 90)}
    assert len(made) == 1, made


def test_a_plain_word_of_the_row_stays_in_the_error() -> None:
    assert signature("cannot load it", ("load", "it", "x")) == "cannot load it"


def test_a_key_is_never_longer_than_its_column_nor_invisible() -> None:
    key = a_problem(about=(1, 10, "\x1b[31m" + "x" * 500)).key

    assert len(key) == 200
    assert key.isprintable()


def test_without_any_message_there_is_a_signature_too() -> None:
    assert signature(None) == signature("") == signature("\n  \n") == ""
