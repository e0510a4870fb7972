"""Whoever silences a checker in product code says why, on the same line."""

from __future__ import annotations

import io
import re
import tokenize

from tests.house.source import place, product_files

SILENCERS = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[^\]]*\])?|noqa(?::\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?|fmt:\s*\w+)"
)
LEAST_REASON = len("as above")


def silenced_without_reason(source: str) -> list[int]:
    """Lines with a silencer and no reason worth the name beside it."""
    comments = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    return [
        comment.start[0]
        for comment in comments
        if SILENCERS.search(comment.string) and len(SILENCERS.sub("", comment.string).strip(" #-:")) < LEAST_REASON
    ]


def test_no_checker_is_silenced_without_a_reason() -> None:
    found = [
        f"{place(path)}:{line}"
        for path in product_files()
        for line in silenced_without_reason(path.read_text(encoding="utf-8"))
    ]

    assert found == [], "say on the same line why the checker is wrong here:\n" + "\n".join(found)


def test_a_bare_silencer_is_noticed_and_a_reasoned_one_is_not() -> None:
    source = """
a = 1  # type: ignore
b = 1  # type: ignore[attr-defined]
c = 1  # noqa: BLE001
d = 1  # noqa: BLE001, S608 - ok
e = 1  # noqa: BLE001 - a plugin may raise anything, and must not stop the others
f = 1  # type: ignore[attr-defined]  # the stub lacks what the driver has
g = "# type: ignore"
"""

    assert silenced_without_reason(source) == [2, 3, 4, 5]
