"""One look: what is asked twice is asked once, and what is written is seen."""

from __future__ import annotations

from sqlalchemy import Connection

from batchctl.ports import Boundary
from batchctl.store import reports
from batchctl.store.intake import intake
from batchctl.store.one_look import Ahead, ask_ahead, once, one_look
from batchctl.store.transactions import StoreTransactions
from tests.hand import Hand

C1 = frozenset({Boundary.INTAKE})
READY: Ahead = (reports.COUNT_OPEN_INTAKE, {})


def ready(connection: Connection) -> int:
    return sum(reports.count_intake(connection, with_over=False)[0].values())


def add(connection: Connection) -> int:
    """Insert a FileProcess row."""
    return intake.add(connection, entity="E", source="test")


def arrive(hand: Hand) -> None:
    hand.sql("INSERT INTO FileProcess (Entity) VALUES ('E')")


def test_within_a_look_a_question_is_asked_once(transactions: StoreTransactions, hand: Hand) -> None:
    with transactions.read() as connection:
        with one_look():
            assert ready(connection) == 0
            arrive(hand)
            with one_look():
                assert ready(connection) == 0
        assert ready(connection) == 1


def test_what_is_asked_ahead_is_not_asked_again(transactions: StoreTransactions, hand: Hand) -> None:
    with one_look(), transactions.read() as connection:
        ask_ahead(connection, READY)
        assert ready(connection) == 0
        arrive(hand)
        assert ready(connection) == 0


def test_without_a_look_nothing_is_asked_ahead(transactions: StoreTransactions, hand: Hand) -> None:
    with transactions.read() as connection:
        ask_ahead(connection, READY)
        arrive(hand)
        assert ready(connection) == 1


def test_other_values_are_another_question(transactions: StoreTransactions, hand: Hand) -> None:
    arrive(hand)
    arrive(hand)
    with one_look(), transactions.read() as connection:
        found = [len(intake.untaken(connection, after, 9)) for after in (0, 1, 2, 0)]

    assert found == [2, 1, 0, 2]


def test_a_transaction_asks_for_itself_and_what_it_has_written_is_seen_afterwards(
    transactions: StoreTransactions, hand: Hand
) -> None:
    def work(connection: Connection) -> tuple[int, int]:
        before = ready(connection)
        add(connection)
        return before, ready(connection)

    with one_look(), transactions.read() as connection:
        assert ready(connection) == 0
        arrive(hand)
        assert transactions.run(C1, work) == (1, 2)
        assert ready(connection) == 2


def test_what_is_made_of_answers_is_made_once_and_rows_may_be_changed_by_who_gets_them(
    transactions: StoreTransactions, hand: Hand
) -> None:
    arrive(hand)
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number

    with one_look(), transactions.read() as connection:
        assert [once(make, 1), once(make, 2), once(make, 1)] == [1, 2, 1]
        reports.COUNT_OPEN_INTAKE(connection).clear()
        assert ready(connection) == 1

    assert made == [1, 2]
