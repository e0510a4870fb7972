"""What two looks at the database tell apart, and which pages that concerns."""

from __future__ import annotations

from batchctl.domain.operators.news import ANYTHING, EVERYTHING, Followed, InstanceTrace, News, Traces, news_between
from batchctl.domain.rows import BatchId, InstanceId

ONE, TWO = InstanceId(1), InstanceId(2)
LOADS, SENDS = BatchId(10), BatchId(20)
FIRST = Traces(claimed=frozenset({InstanceTrace(ONE, LOADS, 1)}), marks=frozenset({("incident", 3)}))


def after(
    *,
    claimed: frozenset[InstanceTrace] = FIRST.claimed,
    acts: frozenset[tuple[int, str]] = FIRST.acts,
    marks: frozenset[tuple[str, int]] = FIRST.marks,
) -> News:
    return news_between(FIRST, Traces(claimed=claimed, acts=acts, marks=marks))


def hearers(news: News) -> set[str]:
    pages = {
        "all": EVERYTHING,
        "one": Followed(instance_id=ONE),
        "two": Followed(instance_id=TWO),
        "loads": Followed(batch_id=LOADS),
        "sends": Followed(batch_id=SENDS),
    }
    return {name for name, page in pages.items() if page.hears(news)}


def test_where_nothing_has_changed_no_page_hears_of_it() -> None:
    assert hearers(after()) == set()


def test_an_instance_that_is_claimed_or_done_concerns_itself_and_its_batch() -> None:
    assert hearers(after(claimed=frozenset())) == {"all", "one", "loads"}
    assert hearers(after(claimed=FIRST.claimed | {InstanceTrace(TWO, SENDS, 5)})) == {"all", "two", "sends"}
    assert hearers(after(claimed=frozenset({InstanceTrace(ONE, LOADS, 2)}))) == {"all", "one", "loads"}


def test_an_attempt_concerns_its_instance_and_its_batch_once() -> None:
    begun = frozenset({InstanceTrace(TWO, SENDS, 9)})
    now = Traces(claimed=FIRST.claimed, marks=FIRST.marks, newest=begun)
    assert hearers(news_between(FIRST, now)) == {"all", "two", "sends"}
    assert hearers(news_between(now, now)) == set()
    assert hearers(news_between(now, FIRST)) == set()


def test_an_act_on_an_instance_concerns_it_and_every_batch() -> None:
    assert hearers(after(acts=frozenset({(1, "BatchControl:2")}))) == {"all", "two", "loads", "sends"}


def test_an_act_on_anything_else_may_concern_all() -> None:
    for target in ("ProcessBatch:Loads", "BatchControlX", "BatchFreeze:1"):
        assert hearers(after(acts=frozenset({(1, target)}))) == {"all", "one", "two", "loads", "sends"}, target


def test_what_is_in_no_instance_concerns_the_pages_that_show_all() -> None:
    assert hearers(after(marks=frozenset({("incident", 4)}))) == {"all"}


def test_the_first_look_and_one_that_found_too_much_may_concern_all() -> None:
    assert news_between(None, FIRST) == ANYTHING
    assert news_between(FIRST, Traces(is_whole=False)) == ANYTHING
    assert len(hearers(ANYTHING)) == 5
