"""The chain of the audit log: whatever is changed, removed, put in or moved breaks it, and what is left as it was does not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.maintenance.audit_chain import (
    BEGINNING,
    Anchor,
    PurgeEntry,
    Seal,
    Verifier,
    allowed_at,
    anchor_of,
    digest_of,
    in_spans,
    purged_by,
)
from batchctl.domain.rows import AuditEntry

NOW = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
Link = tuple[Seal, AuditEntry | None]
ANY = st.text(st.characters(codec=None), max_size=20)


def act(number: int, **given: object) -> AuditEntry:
    """Return an act."""
    made = AuditEntry(
        audit_id=number,
        at=NOW,
        actor="anna",
        host="host1",
        action="rerun",
        target=f"BatchControl:{number}",
        reason="late",
        before="{}",
        after='{"a": 1}',
    )
    return replace(made, **given)  # type: ignore[arg-type] # columns of it


def chain(acts: Sequence[AuditEntry], times: Sequence[datetime] = ()) -> list[Link]:
    """Seal acts one after the other, all at once or each at its time."""
    made, previous = list[Link](), BEGINNING
    for number, each in enumerate(acts, start=1):
        digest = digest_of(number, previous, each)
        at = times[number - 1] if times else NOW
        made.append((Seal(number, each.audit_id, previous, digest, at), each))
        previous = digest
    return made


def findings(
    links: Sequence[Link],
    anchors: Collection[Anchor] = (),
    spans: Collection[tuple[int, int]] = (),
    purges: Collection[PurgeEntry] = (),
) -> list[tuple[int | None, str]]:
    """Return what is found wrong, by the act's number."""
    verifier = Verifier(anchors)
    for seal, entry in links:
        verifier.look(seal, entry)
    later = NOW + timedelta(days=500)
    verifier.finish(later, [PurgeEntry(99, later, tuple(spans), timedelta(days=30))] if spans else purges)
    return [(one.audit_id, one.message) for one in verifier.findings]


FIVE = chain([act(number) for number in (1, 2, 4, 3, 5)])


def test_what_is_as_it_was_sealed_is_sound_whatever_its_numbers() -> None:
    assert findings(FIVE) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"at": NOW + timedelta(milliseconds=1)},
        {"actor": "boss"},
        {"host": "host2"},
        {"action": "skip"},
        {"target": "BatchControl:7"},
        {"reason": None},
        {"reason": ""},
        {"before": None},
        {"after": '{"a":1}'},
    ],
)
def test_any_column_that_was_changed_is_found(changed: dict[str, object]) -> None:
    seal, entry = FIVE[2]
    assert entry is not None
    links = [*FIVE[:2], (seal, replace(entry, **changed)), *FIVE[3:]]  # type: ignore[arg-type] # columns of it

    assert findings(links) == [(4, "the row is not as it was when it was sealed")]


def test_a_row_that_was_deleted_is_found_unless_a_purge_tells_of_it() -> None:
    links: list[Link] = [*FIVE[:1], (FIVE[1][0], None), *FIVE[2:]]

    assert findings(links) == [(2, "the row is missing, and no purge tells of it")]
    assert findings(links, spans=[(1, 2)]) == []


def test_a_row_of_the_future_is_found_because_others_look_old_beside_it() -> None:
    soon, later = NOW + timedelta(minutes=50), NOW + timedelta(days=3650)

    assert findings(chain([act(1), act(2, at=soon)])) == []
    assert findings(chain([act(1), act(2, at=later)])) == [
        (2, f"the row says it is of {later:%Y-%m-%d %H:%M} UTC, and was sealed before that")
    ]


def test_a_row_that_was_deleted_with_its_seal_is_found() -> None:
    assert findings([*FIVE[:2], *FIVE[3:]]) == [(3, "seals 3 to 3 are missing")]


def test_rows_whose_places_were_exchanged_are_found() -> None:
    (first, one), (second, other) = FIVE[0], FIVE[1]
    assert one is not None
    assert other is not None
    moved: list[Link] = [(replace(first, audit_id=2), other), (replace(second, audit_id=1), one), *FIVE[2:]]

    assert [audit_id for audit_id, _ in findings(moved)] == [2, 1]


def test_a_row_that_was_changed_and_sealed_again_breaks_what_follows() -> None:
    seal, entry = FIVE[2]
    assert entry is not None
    forged = replace(entry, actor="boss")
    links = [*FIVE[:2], (replace(seal, digest=digest_of(3, seal.previous, forged)), forged), *FIVE[3:]]

    assert findings(links) == [(3, "it does not follow seal 3: one of the two was changed, or another was there")]


def test_a_row_that_was_inserted_into_the_past_is_found() -> None:
    def at(hour: int, number: int, made: int) -> tuple[AuditEntry, datetime]:
        return act(number, at=NOW + timedelta(hours=hour)), NOW + timedelta(hours=made)

    nights = [at(0, 1, 0), at(1, 2, 1), at(5, 3, 20), at(19, 4, 20)]

    assert findings(chain([each for each, _ in nights], [made for _, made in nights])) == [], "nobody led for a while"
    nights.append(at(4, 5, 24))
    assert findings(chain([each for each, _ in nights], [made for _, made in nights])) == [
        (5, "the row says it is of 2026-11-22 07:00 UTC, and was inserted afterwards")
    ]


def test_what_stood_in_the_log_before_there_were_seals_is_sealed_all_at_once() -> None:
    old = [act(number, at=NOW - timedelta(days=100 - number)) for number in range(1, 50)]

    assert findings(chain(old)) == []


def test_times_that_a_hand_has_written_are_looked_at_like_others() -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)

    assert findings(chain([act(1, at=first), act(2, at=last)], [first, last])) == []


def test_an_end_that_was_cut_off_shows_against_an_anchor_alone() -> None:
    last = FIVE[-1][0]
    anchor = Anchor(last.number, last.digest)

    assert findings(FIVE[:4]) == []
    assert findings(FIVE[:4], anchors=[anchor]) == [
        (None, "the anchor is not met: the chain ends at seal 4: its end was cut off")
    ]
    assert findings(FIVE, anchors=[anchor, Anchor(2, FIVE[1][0].digest)]) == []


def test_a_chain_that_was_made_anew_shows_against_an_anchor_alone() -> None:
    forged = chain([act(number, actor="boss") for number in (1, 2, 4, 3, 5)])

    assert findings(forged) == []
    ((_, said),) = findings(forged, anchors=[Anchor(3, FIVE[2][0].digest)])
    assert "another hash stands there" in said


@given(st.lists(st.tuples(ANY, ANY, st.none() | ANY, st.none() | ANY), max_size=5))
def test_no_two_rows_have_the_same_hash_whatever_they_hold(
    texts: list[tuple[str, str, str | None, str | None]],
) -> None:
    acts = [act(1, actor=actor, host=host, reason=why, before=was) for actor, host, why, was in texts]

    assert len({digest_of(1, BEGINNING, each) for each in acts}) == len(set(acts))


@given(st.sets(st.integers(1, 60)))
def test_spans_hold_the_very_numbers(numbers: set[int]) -> None:
    spans = in_spans(numbers)

    assert {each for first, last in spans for each in range(first, last + 1)} == numbers
    assert all(one[1] + 1 < other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize(
    ("before", "spans"),
    [
        ('{"Rows": 3, "AuditLog_id": [[1, 2], [5, 5]]}', [(1, 2), (5, 5)]),
        ('{"Rows": 3, "AuditLog_id": 9}', []),
        ('{"AuditLog_id": [[1]]}', []),
        ("[]", []),
        ("no JSON", []),
        (None, []),
    ],
)
def test_only_an_act_of_a_purge_tells_of_one(before: str | None, spans: list[tuple[int, int]]) -> None:
    assert list(purged_by(act(1, action="purge", target="AuditLog", before=before))) == spans
    assert list(purged_by(act(1, before=before))) == []


@pytest.mark.parametrize(
    "text", ["", "1", "1:", f"x:{BEGINNING}", f"1:{BEGINNING[1:]}", f"1:{'g' * 64}", f"-1:{BEGINNING}"]
)
def test_what_is_no_anchor_is_refused(text: str) -> None:
    assert anchor_of(text) is None
    assert anchor_of(f" 17:{'AB' * 32}\n") == Anchor(17, "ab" * 32)


def taken(age: timedelta, allowed: timedelta | None, at: int = 3) -> list[tuple[int | None, str]]:
    """Look at a chain of one row a day, of which one went by a purge when it was so old."""
    times = [NOW + timedelta(days=number) for number in range(5)]
    acts = [act(number, at=made) for number, made in enumerate(times, start=1)]
    links = [(seal, None if seal.number == at else entry) for seal, entry in chain(acts, times)]
    return findings(links, purges=[PurgeEntry(9, times[at - 1] + age, ((at, at),), allowed)])


def test_a_purge_of_what_was_old_enough_is_allowed() -> None:
    assert taken(timedelta(days=30), timedelta(days=30)) == []


def test_a_purge_without_a_rule_is_none() -> None:
    said = "the row is missing, and the purge that tells of it (AuditLog 9) was not allowed: no AuditLogDays was set"
    assert taken(timedelta(days=400), None) == [(3, said)]


def test_a_purge_of_what_was_not_old_enough_is_told_with_the_age_and_the_rule() -> None:
    said = (
        "the row is missing, and the purge that tells of it (AuditLog 9) was not allowed: the row had been sealed for"
        " 1.0 days, and AuditLogDays said 30"
    )
    assert taken(timedelta(days=1), timedelta(days=30)) == [(3, said)]


def test_of_what_was_sealed_first_it_counts_like_of_all_else_for_how_long_it_has_been() -> None:
    ((_, said),) = taken(timedelta(minutes=50), timedelta(days=30), at=1)

    assert "(AuditLog 9) was not allowed: the row had been sealed for 0.0 days" in said
    assert taken(timedelta(days=30), timedelta(days=30), at=1) == []


def test_a_purge_of_the_future_is_not_believed() -> None:
    said = (
        "the row is missing, and the purge that tells of it (AuditLog 9) says it is of 2200-01-01 00:00 UTC, which is"
    )
    after = datetime(2200, 1, 1, tzinfo=UTC) - (NOW + timedelta(days=2))

    assert taken(after, timedelta(days=30)) == [(3, f"{said} still to come")]


def test_a_purge_that_is_not_believed_is_named_with_who_to_ask_for() -> None:
    verifier = Verifier()
    for seal, _ in FIVE[:1]:
        verifier.look(seal, None)
    verifier.finish(NOW, [PurgeEntry(9, NOW, ((1, 1),), timedelta(days=1))])

    ((finding),) = verifier.findings
    assert finding.next_step.startswith(
        "see who inserted that purge: batchctl audit --before 10 --limit 1; then restore"
    )


@pytest.mark.parametrize(
    ("number", "now", "days"),
    [(5, None, None), (15, None, 30), (25, None, 7), (35, "90", None), (5, "90", None), (15, "x", 30)],
)
def test_what_the_rule_said_then_the_log_tells(number: int, now: str | None, days: int | None) -> None:
    changes = [
        act(10, target="Setting:AuditLogDays", before=None, after='{"Name": "AuditLogDays", "Value": "30"}'),
        act(20, target="Setting:AuditLogDays", before='{"Value": "30"}', after='{"Value": "7"}'),
        act(30, target="Setting:AuditLogDays", before='{"Name": "AuditLogDays", "Value": "7"}', after=None),
    ]
    assert allowed_at(number, changes, now) == (None if days is None else timedelta(days=days))


@pytest.mark.parametrize(
    ("now", "days"), [("90", 90), (" 7 ", 7), (None, None), ("0", None), ("-1", None), ("²", None)]
)
def test_where_the_log_tells_nothing_the_rule_of_now_counts(now: str | None, days: int | None) -> None:
    assert allowed_at(5, [], now) == (None if days is None else timedelta(days=days))
