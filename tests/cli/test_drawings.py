"""Drawings of whatever names people give their batches."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from batchctl.cli.dependencies import graph_terminal
from batchctl.cli.dependencies.graph_lines import lines
from batchctl.cli.dependencies.graph_mermaid import mermaid, quoted
from batchctl.cli.dependencies.graph_svg import svg
from batchctl.domain.dependencies import graph
from batchctl.domain.dependencies.stands import Stand
from batchctl.domain.rows import LONG_AGO, BatchDefinition, BatchId, Dependency, InstanceId
from batchctl.domain.status import FINAL, DependencyMode, InstanceStatus
from batchctl.domain.text import is_invisible, visible
from batchctl.operations.dependencies.forecasting import BatchForecast, OnTheWay
from batchctl.operations.dependencies.graph_words import MARKS, MEANINGS
from batchctl.operations.dependencies.picture import GraphNode, KeyWait, Picture, TargetState
from batchctl.operations.dependencies.replayed_night import Leg, OnItsWay
from tests.counted_work import work_of

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
HOSTILE = (
    "a\"b'c",
    "<script>alert(1)</script>",
    "x]]>&amp;&#x0;",
    "line\nbreak\r\t",
    "\u202egnp.elif \u2066",
    "\x1b[31m\x00\ufffe\ud800",
    '`**bold**` --> b2["x"]; %%{init: {}}%%\nclick b1 call()',
    "😀 Ünïcode \u3000",
    "n" * 200,
    "end",
    "[red]x[/red]",
)
SVG = "{http://www.w3.org/2000/svg}"


def draw(
    names: Sequence[str],
    ways: Sequence[tuple[int, int]] = (),
    *,
    states: Sequence[str] = (),
    waits: Sequence[int] = (),
    forecast: bool = False,
) -> Picture:
    """Return a picture of batches by their places; each way leads from one to another that waits for it."""
    batches = [
        BatchDefinition(
            batch_id=BatchId(at),
            name=name,
            entity=name,
            enabled=at % 3 != 2,
            dependency_mode=DependencyMode.ANY if at % 2 else DependencyMode.ALL,
            dependencies=tuple(
                Dependency(row_id=1, depends_on=BatchId(one), deadline=timedelta(days=1))
                for one, other in ways
                if other == at
            ),
        )
        for at, name in enumerate(names)
    ]
    caught, needed = graph.in_cycle(batches), {other for batch in batches for other in graph.needs(batch)}
    level_of = {one: level for level, those in enumerate(graph.levels(batches)) for one in those}
    nodes = [
        GraphNode(
            batch=batch,
            level=level_of[batch.batch_id],
            stand=_stand(batch, states[batch.batch_id]) if batch.batch_id < len(states) else None,
            counts={},
            waits=(_wait(names),) if batch.batch_id in waits else (),
            in_cycle=batch.batch_id in caught,
            alone=not batch.dependencies and batch.batch_id not in needed,
        )
        for batch in sorted(batches, key=lambda batch: level_of[batch.batch_id])
    ]
    return Picture(
        now=NOW,
        cycle_key=names[0],
        target=batches[-1],
        nodes=tuple(nodes),
        target_state=TargetState(cycle_key=None, is_complete=False, blockers=()) if forecast else None,
    )


def on_its_way(picture: Picture) -> OnItsWay:
    """Return a forecast in which every name occurs."""
    batches = [node.batch for node in picture.nodes]
    legs = tuple(Leg(batch=one, starts=NOW, ends=NOW + timedelta(minutes=1)) for one in batches)
    forecast = BatchForecast(
        batch=batches[-1].name,
        cycle_key="(begun now)",
        median=NOW,
        nearly=None,
        by=None,
        chance=None,
        failing=0.25,
        nights=3,
        replays=200,
        decides=tuple(OnTheWay(what=one.name, share=0.5, seq=10) for one in batches),
        not_known=("p90: 3 nights are known of the step with the fewest, and 20 are needed",),
    )
    return OnItsWay(forecast=forecast, legs=legs)


def _stand(batch: BatchDefinition, status: str) -> Stand:
    return Stand(
        batch_id=batch.batch_id,
        instance_id=InstanceId(7),
        status=InstanceStatus(status),
        last_seq=0,
        cycle_key=batch.name,
        next_run_time=LONG_AGO,
        changed_at=NOW,
    )


def _wait(names: Sequence[str]) -> KeyWait:
    return KeyWait(cycle_key=names[0], has=(names[0],), lacks=(names[1],), since=NOW, is_overdue=True)


def shown(picture: Picture, *, encoding: str = "utf-8", width: int = 100) -> str:
    """Return what a terminal of that encoding gets."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace", newline="\n")
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(stream):
        patched.setenv("COLUMNS", str(width))
        graph_terminal.show(picture, on_its_way(picture) if picture.target_state is not None else None)
    stream.flush()
    return raw.getvalue().decode(encoding)


ALL = [(at, at + 1) for at in range(len(HOSTILE) - 2)] + [(0, 4), (5, 5), (7, 6)]
WHOLE = draw(HOSTILE, ALL, states=[str(status) for status in InstanceStatus], waits=[10], forecast=True)

GRAPHS = st.lists(st.text(max_size=30), min_size=2, max_size=8, unique=True).flatmap(
    lambda names: st.tuples(
        st.just(names),
        st.lists(st.tuples(st.integers(0, len(names) - 1), st.integers(0, len(names) - 1)), unique=True, max_size=12),
        st.lists(st.integers(0, len(names) - 1), unique=True),
    )
)


def test_every_state_has_a_sign_and_a_meaning() -> None:
    assert {*MARKS} == {*MEANINGS} == {status.value for status in InstanceStatus} | {"waits", "idle"}
    assert all(sign.isascii() for _, sign in MARKS.values())
    assert {status.value for status in FINAL} == {"complete", "cancelled"}


def test_an_svg_of_hostile_names_is_one_picture_with_its_title_and_every_name_in_it() -> None:
    root = ET.fromstring(svg(WHOLE))
    titles = [element.text or "" for element in root.iter(f"{SVG}title")]

    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc"
    assert [root[0].get("id"), root[1].get("id")] == ["title", "desc"]
    assert {title.split("\n")[0] for title in titles[1:]} == {visible(name) for name in HOSTILE}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text", "g")
    }, "nothing that does anything, nothing from elsewhere"
    assert "http" not in svg(WHOLE).replace("http://www.w3.org/2000/svg", "")
    assert len(list(root.iter(f"{SVG}path"))) == len(ALL) + 1


@given(GRAPHS)
def test_any_graph_is_a_sound_svg_within_its_bounds(
    graph_of: tuple[list[str], list[tuple[int, int]], list[int]],
) -> None:
    names, ways, waits = graph_of
    root = ET.fromstring(svg(draw(names, ways, waits=waits)))
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))

    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("x")]
    assert len(boxes) == len(names)
    for box in boxes:
        assert 0 <= float(box.get("x", "")) <= width - float(box.get("width", ""))
        assert 0 <= float(box.get("y", "")) <= height - float(box.get("height", ""))


_LINES = re.compile(
    r'flowchart LR|    b\d+\["[^"`<>&]*<br>[^"`<>&]*"\](:::\w+)?|    b\d+ (-->|-\.->) b\d+|    classDef \w+ [\w:#,-]+'
)


@given(GRAPHS)
def test_no_name_means_anything_to_mermaid(graph_of: tuple[list[str], list[tuple[int, int]], list[int]]) -> None:
    names, ways, waits = graph_of

    for drawn in (draw(names, ways, waits=waits), WHOLE):
        written = mermaid(drawn).removesuffix("\n").split("\n")
        assert [line for line in written if not _LINES.fullmatch(line)] == []
        assert len([line for line in written if "[" in line]) == len(drawn.nodes)


def test_what_mermaid_shows_is_the_name() -> None:
    shown_as = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), quoted('a"b <c> #35; `d`'))

    assert shown_as == 'a"b <c> #35; `d`'
    assert quoted('"') == "#34;"


def test_a_terminal_gets_every_name_on_lines_of_its_own_and_nothing_that_acts() -> None:
    drawn = shown(WHOLE, width=300)

    for name in HOSTILE:
        if len(name) < 40:
            assert visible(name) in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_without_anything_but_ascii_gets_signs_that_it_can_show(width: int) -> None:
    names = ["sales", "stock", "merge", "alone"]
    picture = draw(names, [(0, 2), (1, 2)], states=["complete", "failed"], waits=[2])
    drawn = shown(picture, encoding="ascii", width=width)

    assert "\\u" not in drawn
    assert all(
        len(line) <= width for line in drawn.split("\n") if not line.startswith(("These", "Then", "3", "4", "Batch"))
    )
    assert {"x", "+", "~"} <= {*drawn.split()}


_BITS = {
    "│": 5,
    "─": 10,
    "└": 3,
    "┘": 9,
    "┌": 6,
    "┐": 12,
    "├": 7,
    "┤": 13,
    "┬": 14,
    "┴": 11,
    "┼": 15,
    "╵": 1,
    "╷": 4,
}
_MOVES = {1: (-1, 0), 2: (0, 1), 4: (1, 0)}


def followed(drawn: list[str], row: int, x: int) -> set[tuple[int, int]]:
    """Follow a line as a person does, up, down and to the right: where are the heads it gets to?"""
    found, seen, todo = set[tuple[int, int]](), set[tuple[int, int, int]](), [(row, x, 2)]
    while todo:
        row, x, direction = here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        sign = drawn[row][x]
        if sign == "▶":
            found.add((row, x))
            continue
        bits = _BITS[sign]
        # What comes from the left to a line that only goes up and down passes behind it.
        turns = [2] if direction == 2 and not bits & 8 else [move for move in _MOVES if bits & move]
        todo += [
            (row + _MOVES[move][0], x + _MOVES[move][1], move) for move in turns if move != {1: 4, 4: 1}.get(direction)
        ]
    return found


@given(
    st.integers(2, 14).flatmap(
        lambda count: st.lists(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda way: way[0] < way[1]),
            unique=True,
            min_size=1,
            max_size=24,
        )
    )
)
def test_who_follows_a_line_in_characters_gets_to_all_that_waits_and_to_nothing_else(
    ways: list[tuple[int, int]],
) -> None:
    picture = draw([f"b{at}" for at in range(max(other for _, other in ways) + 1)], ways)
    texts = lines(picture.linked, 10_000, ascii_only=False)
    assert texts is not None
    drawn = [text.plain for text in texts]
    wide = max(map(len, drawn))
    drawn = [text.ljust(wide) for text in drawn]
    stands = {
        int(found[1]): (row, found.start())
        for row, text in enumerate(drawn)
        for found in re.finditer(r"b(\d+)\b", text)
    }

    assert sorted(stands) == sorted({one for way in ways for one in way})
    by_head = {(row, x - 2): one for one, (row, x) in stands.items()}
    goals: dict[int, set[int]] = {}
    for one, other in ways:
        goals.setdefault(one, set()).add(other)
    for one, others in goals.items():
        row, x = stands[one]
        begin = re.compile(r"· idle(, disabled)? ").match(drawn[row + 1], x)
        assert begin is not None
        # Lines to the same batch meet before it, and from there on are one.
        met, more = set(others), set[int]()
        while met != more:
            more = set(met)
            met |= {other for theirs in goals.values() if theirs & met for other in theirs}
        reached = {by_head[head] for head in followed(drawn, row + 1, begin.end())}
        assert others <= reached <= met


def test_lines_between_hostile_names_meet_where_they_should() -> None:
    names = [*HOSTILE, "漢字のバッチ"]
    drawn = lines(draw(names, [(at, len(names) - 1) for at in range(len(names) - 1)]).linked, 200, ascii_only=False)

    assert drawn is not None
    plain = [line.plain for line in drawn]
    assert not any(is_invisible(sign) for line in plain for sign in line)
    assert [line.partition("▶ ")[2] for line in plain if "▶" in line] == ["漢字のバッチ"]
    ends = {cell_len(found[0]) for line in plain if (found := re.match(r"  · [a-z, ]+ ─+[┐┤┘]", line))}
    assert len(ends) == 1, "all of them in one line up and down"


def test_lines_are_drawn_where_there_is_room_for_them_and_they_have_a_direction() -> None:
    chain = draw(["sales", "merge", "n" * 60], [(0, 1), (1, 2)], states=["failed"])
    many = draw([f"b{at}" for at in range(41)], [(0, at) for at in range(1, 41)])

    assert "sales     ┌─▶ merge   ┌─▶ nnnnnnnnnnnnnnnnnnnnnnnnnnn…\n" in shown(chain)
    assert "✗ failed ─┘   · idle ─┘   · idle, disabled\n" in shown(chain)
    assert "sales     +-> merge   +-> nnnnnnnnnnnnnnnnnnnnnnnnnn..\n" in shown(chain, encoding="ascii")
    assert "▶" not in shown(chain, width=50)
    assert "▶" not in shown(draw(["a", "b"], [(0, 1), (1, 0)]))
    assert "▶" not in shown(many)


def test_the_levels_follow_each_other_and_say_what_each_waits_for() -> None:
    picture = draw(["sales", "stock", "merge", "all"], [(0, 2), (1, 2), (2, 3), (0, 3)], states=["complete", "failed"])
    _, _, drawn = shown(picture).partition("These wait for no other batch:")

    assert drawn.index("sales") < drawn.index("Then, once") < drawn.index("merge") < drawn.index("Then:")
    assert "← sales ✓, stock ✗" in drawn
    assert "← any of merge ·, sales ✓" in drawn
    assert "  ✗ failed" in drawn


def test_of_a_thousand_that_one_waits_for_only_those_are_named_that_are_not_complete() -> None:
    names = [f"b{at}" for at in range(1000)] + ["last"]
    drawn = shown(draw(names, [(at, 1000) for at in range(1000)], states=["failed", *["complete"] * 999]), width=200)

    assert "1000 batches: 1 failed, 999 complete: b0 ✗" in drawn


def test_a_forecast_says_what_it_does_not_know() -> None:
    drawn = shown(WHOLE, width=200)
    assert "If all of it began now: ready by 2" in drawn
    assert "needs a person in 25% of the nights" in drawn
    assert "Not known: p90: 3 nights are known of the step with the fewest" in drawn

    empty = draw(["a", "b"])
    complete = TargetState(cycle_key="k", is_complete=True, blockers=())
    done = Picture(now=NOW, cycle_key=None, target=None, nodes=empty.nodes, target_state=complete)
    assert "It is complete for CycleKey k." in shown(done)


@pytest.mark.full
def test_twice_as_many_batches_are_little_more_than_twice_the_work() -> None:
    assert _work_of_drawing(500) < 2.5 * _work_of_drawing(250)


def _work_of_drawing(boxes: int) -> int:
    ways = sorted({(other * 7 % at, at) for at in range(30, boxes) for other in range(at % 3 + 1)})
    picture = draw([f"batch {at}" for at in range(boxes)], ways, states=["failed", "complete"] * (boxes // 2))
    drawn = list[str]()
    work = work_of(lambda: drawn.extend((svg(picture), mermaid(picture), shown(picture))))
    assert all(f"batch {boxes - 1}" in each for each in drawn)
    return work
