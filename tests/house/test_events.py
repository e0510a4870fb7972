"""An event as a line: whoever reads it by machine gets the same values back."""

from __future__ import annotations

import json
import re

import pytest

from batchctl.logs import Event


@pytest.mark.parametrize(
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
def test_a_value_can_be_read_back(text: str) -> None:
    line = str(Event("step.ended", {"BatchControl_id": 7, "Message": text}))

    assert line.isprintable()
    found = re.fullmatch(r"step\.ended BatchControl_id=7 Message=(.*)", line)
    assert found is not None
    assert (json.loads(found[1]) if found[1].startswith('"') else found[1]) == text
