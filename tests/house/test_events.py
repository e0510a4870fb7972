"""An event as a line: whoever reads it by machine gets the same values back."""

from __future__ import annotations

import ast
import json
import re
from datetime import UTC, datetime

import pytest

from batchctl.domain.status import HistoryStatus
from batchctl.logs import Event, Level, LineFormat, line
from tests.house.source import ROOT, place, product_files, strings

NAME = re.compile(r"[a-z]+\.[a-z]+")
NO_EVENTS = (".py", ".toml")
DOCUMENTED = {
    level: re.findall(r"`([a-z]+\.[a-z]+)`", events)
    for level, events in re.findall(
        r"^\| `(error|warning|info)` \| (.*) \|$", (ROOT / "docs/service.md").read_text(encoding="utf-8"), re.MULTILINE
    )
}
AT = datetime(2026, 11, 22, 3, 12, 44, 187000, UTC)


HOSTILE = pytest.mark.parametrize(
    "text",
    [
        'near "selec": syntax error',
        'C:\\in "x"',
        "two words",
        "",
        "naïve",
        "line\nbreak \x1b[31m",
        "a\u202eb",
        '"',
        "\\",
    ],
)


@HOSTILE
def test_a_value_can_be_read_back(text: str) -> None:
    line = str(Event("step.ended", {"BatchControl_id": 7, "Message": text}))

    assert line.isprintable()
    found = re.fullmatch(r"step\.ended BatchControl_id=7 Message=(.*)", line)
    assert found is not None
    assert (json.loads(found[1]) if found[1].startswith('"') else found[1]) == text


@HOSTILE
def test_a_line_of_json_is_one_line_of_ascii_with_the_same_values(text: str) -> None:
    written = line(LineFormat.JSON, AT, "etl1:812:3d3b", Event("step.ended", {"BatchControl_id": 7, "Message": text}))

    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written) == {
        "Time": "2026-11-22T03:12:44.187Z",
        "Level": "error",
        "Event": "step.ended",
        "Controller": "etl1:812:3d3b",
        "BatchControl_id": 7,
        "Message": text,
    }


def test_a_line_of_text_begins_with_the_time_in_utc() -> None:
    assert line(LineFormat.TEXT, AT, "any", Event("controller.started")) == "2026-11-22T03:12:44Z controller.started"


def test_every_event_is_documented_with_its_level() -> None:
    told = {
        text
        for path in product_files()
        if place(path).startswith(("batchctl/control/", "batchctl/node.py", "batchctl/app.py"))
        for _, text in strings(ast.parse(path.read_text(encoding="utf-8")))
        if NAME.fullmatch(text) and not text.endswith(NO_EVENTS)
    }
    documented = {name for names in DOCUMENTED.values() for name in names}

    assert told - documented == set()


@pytest.mark.parametrize("level", Level)
def test_the_levels_are_those_of_the_table(level: Level) -> None:
    events = [Event(name) for name in DOCUMENTED[level]]

    assert {event.name: event.level for event in events} == {event.name: level for event in events}


@pytest.mark.parametrize("status", HistoryStatus)
def test_a_step_that_ended_is_as_grave_as_its_end(status: HistoryStatus) -> None:
    fine = {HistoryStatus.SUCCESS, HistoryStatus.SKIPPED, HistoryStatus.CANCELLED, HistoryStatus.ASKED}

    assert Event("step.ended", {"Status": str(status)}).level is (Level.INFO if status in fine else Level.ERROR)
