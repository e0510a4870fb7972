"""Definitions become a text and come back as they were, whatever stands in them."""

from __future__ import annotations

import tomllib

from hypothesis import example, given
from hypothesis import strategies as st

from batchctl.domain.definitions import defined
from batchctl.domain.definitions.defined import Columns, ColumnShape, Defined, Shape
from batchctl.operations.definitions.exporting import quoted, written
from tests.step_handlers.hostile import HOSTILE

TEXT, NUMBER = ColumnShape(is_number=False), ColumnShape(is_number=True, default=5)
NEEDED = ColumnShape(is_number=False, is_needed=True)
STEP = Shape("Step", "Seq", {"Seq": ColumnShape(is_number=True, is_needed=True), "Data1": TEXT})
DAY = Shape("Day", "Date", {"Date": NEEDED, "Said": TEXT}, is_short=True)
BATCH = Shape("Batch", "Name", {"Name": NEEDED, "Entity": TEXT, "Most": NUMBER}, (DAY, STEP))
names = HOSTILE.filter(bool)
rows = st.dictionaries(st.integers(1, 99), HOSTILE, max_size=3)
days = st.dictionaries(names, HOSTILE, max_size=3)


def parsed(text: str) -> list[Defined]:
    content = defined.read([BATCH], tomllib.loads(text), "file")
    found, findings = content.found, content.findings
    assert findings == []
    return found


@given(names, HOSTILE, rows, days)
@example('"""', "a\n'''\\", {10: 'SELECT "\\"\nFROM t\r\n"""'}, {"\x1b[31m": "\u202e\n"})
def test_whatever_stands_in_a_row_comes_back(
    name: str, entity: str, steps: dict[int, str], said: dict[str, str]
) -> None:
    parts: dict[str, dict[str | int, Columns]] = {
        "Day": {key: {"Said": said[key]} for key in sorted(said)},
        "Step": {seq: {"Data1": steps[seq]} for seq in sorted(steps)},
    }
    given_parts = {kind: below for kind, below in parts.items() if below}
    one = Defined("Batch", name, {"Entity": entity, "Most": 7}, given_parts)

    text = written([BATCH], [one], f"of {name}")

    assert parsed(text) == [one]
    assert tomllib.loads(text)["Owns"] == f"of {name}"
    assert tomllib.loads(text)["Exported"]["Batch"] == {name: defined.fingerprint(BATCH, one)}
    assert "\x1b" not in text


@given(HOSTILE)
def test_a_text_on_one_line_is_one(text: str) -> None:
    said = quoted(text)

    assert "\n" not in said
    assert tomllib.loads(f"x = {{ y = {said} }}") == {"x": {"y": text}}


def test_sql_stands_there_as_it_was_written() -> None:
    sql = "SELECT 'a', \"b\"\nFROM t\nWHERE x LIKE '\\_%'\n"
    step: dict[str, dict[str | int, Columns]] = {"Step": {10: {"Data1": sql}, 20: {"Data1": "C:\\dir"}}}

    text = written([BATCH], [Defined("Batch", "B", {}, step)], None)

    assert f"Data1 = '''\n{sql}'''" in text
    assert "Data1 = 'C:\\dir'" in text


def test_what_cannot_be_a_definition_is_said_all_at_once() -> None:
    text = """
    [[Bach]]
    [[Batch]]
    Name = "B"
    Entty = "x"
    Most = "five"
    [[Batch.Step]]
    Seq = 10
    [[Batch.Step]]
    Seq = 10
    [[Batch.Step]]
    Data1 = 3
    [[Batch]]
    Most = 3
    """
    findings = defined.read([BATCH], tomllib.loads(text), "f.toml").findings

    assert [(one.table, one.row, one.column) for one in findings] == [
        ("f.toml", "Bach", ""),
        ("Batch", "B", "Entty"),
        ("Batch", "B", "Most"),
        ("Step", "B, 10", "Seq"),
        ("Step", "B, None", "Data1"),
        ("Step", "B, None", "Seq"),
        ("Batch", "", "Name"),
    ]
    assert findings[0].message.endswith("Did you mean 'Batch'?")


def test_a_day_needs_no_quotation_marks() -> None:
    (one,) = parsed('[[Batch]]\nName = "B"\nMost = 5\nEntity = 2026-12-25\n')

    assert one.columns == {"Entity": "2026-12-25"}
