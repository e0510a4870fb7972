"""Which due times a backfill starts work for, whatever was decided before and however little room there is."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.scheduling.backfill_turns import TICK, Fate, Stretch, fate_of, next_turn
from batchctl.domain.scheduling.due import Instant, InstantOutcome
from batchctl.domain.scheduling.undecided import Before
from batchctl.domain.status import FireOutcome

START = datetime(2026, 11, 1, tzinfo=UTC)
END = START + timedelta(hours=20)


def at(hour: int, minute: int = 0, outcome: InstantOutcome = InstantOutcome.FIRES) -> Instant:
    """Return a due time; its key tells those of one moment apart."""
    key = f"{hour:02}:{minute:02}"
    return Instant(
        key=key, due=START + timedelta(hours=hour), local=key, business_date=date(2026, 11, 1), outcome=outcome
    )


def before(instant: Instant) -> Before:
    """Return that a due time was decided."""
    return Before(instant.key, FireOutcome.SKIPPED, START, None, None)


HOURS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 2)), unique=True, max_size=30).map(sorted)


@given(
    HOURS,
    st.sets(st.integers(0, 29)),
    st.sets(st.integers(0, 29)),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(2, 9),
)
def test_turn_by_turn_each_is_fired_once_and_in_order(
    hours: list[tuple[int, int]], decided: set[int], skipped: set[int], room: int, at_once: int, page: int
) -> None:
    """Three of one moment always fit on a page here, as any number that a change of clocks brings together does."""
    page = max(page, 4)
    instants = [
        at(hour, minute, InstantOutcome.SKIPPED if index in skipped else InstantOutcome.FIRES)
        for index, (hour, minute) in enumerate(hours)
    ]
    keys = {instants[index].key for index in decided if index < len(instants)}
    wanted = [each.key for each in instants if each.outcome is not InstantOutcome.SKIPPED and each.key not in keys]
    fired, done_until = list[str](), START - TICK

    for _ in range(200):
        left = [each for each in instants if each.due is not None and each.due > done_until]
        turn = next_turn(
            [(each, before(each) if each.key in keys | set(fired) else None) for each in left[:page]],
            (),
            missed=False,
            room=room,
            at_once=at_once,
            done_until=done_until,
            until=END,
            more_follow=len(left) > page,
        )
        assert len(turn.fires) <= min(room, at_once)
        assert turn.done_until >= done_until
        fired += [each.key for each in turn.fires]
        done_until = turn.done_until
        if turn.is_complete:
            break

    assert fired == wanted
    assert done_until == END


def test_without_room_nothing_is_fired_and_nothing_forgotten() -> None:
    turn = next_turn(
        [(at(1), None), (at(2), None)],
        (),
        missed=False,
        room=0,
        at_once=20,
        done_until=START,
        until=END,
        more_follow=False,
    )

    assert (turn.fires, turn.is_complete, turn.has_room) == ((), False, False)
    assert turn.done_until < START + timedelta(hours=1)


def test_what_lies_in_a_stretch_was_missed_and_its_own_key_counts_more() -> None:
    stretches = [Stretch(START + timedelta(hours=1), START + timedelta(hours=3))]
    looked_up = [(at(hour), before(at(hour)) if hour == 2 else None) for hour in range(5)]

    assert [fate_of(*each, stretches, missed=False) for each in looked_up] == [
        *(Fate.FIRE, Fate.MISSED, Fate.DECIDED, Fate.MISSED, Fate.FIRE)
    ]
    assert [fate_of(*each, stretches, missed=True) for each in looked_up[1:3]] == [Fate.FIRE, Fate.DECIDED]
