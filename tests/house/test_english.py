"""Texts say who does what: docs/glossary.md lists words that leave it open, and no text for people holds one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import ROOT, place

GLOSSARY = ROOT / "docs" / "glossary.md"
HEADING = "## Words that texts do not hold"
PLACES = ("batchctl", "step_handlers", "migrations", "docs", "examples", "README.md", "CONTRIBUTING.md")
ENDINGS = {".py", ".sql", ".mako", ".md", ".svg", ".toml"}


def test_no_text_holds_a_word_that_the_glossary_excludes() -> None:
    words = _words()
    found = [f"{place(path)}:{line}: {word}" for path in _files() for line, word in _found(_text(path), words)]

    assert found == [], "docs/glossary.md says what to write instead:\n" + "\n".join(found)


def test_an_excluded_word_is_seen_in_any_case_and_over_lines_but_not_in_a_name() -> None:
    text = "# Nobody\n_nobody_leads, NOBODY_LEADS\n# (noqa) - as\n# above; whoever"

    assert sorted(_found(text, _words())) == [(1, "nobody"), (3, "as above"), (4, "whoever")]


def _words() -> list[str]:
    table = GLOSSARY.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]
    words = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(words) >= 4
    return words


def _files() -> list[Path]:
    found = [one for name in PLACES for one in [ROOT / name, *(ROOT / name).rglob("*")]]
    return sorted(path for path in found if path.suffix in ENDINGS and path.is_file())


def _text(path: Path) -> str:
    """Return what a file holds; the glossary without the table of the words, with as many lines."""
    text = path.read_text(encoding="utf-8")
    if path != GLOSSARY:
        return text
    before, _, rest = text.partition(HEADING)
    table, _, after = rest.partition("\n## ")
    return before + "\n" * (table.count("\n") + 1) + after


def _found(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """Yield lines and words; a part of a longer name is no word of a text."""
    for word in words:
        pattern = r"\b" + r"[\s#]+".join(word.split()) + r"\b"
        for found in re.finditer(pattern, text, re.IGNORECASE):
            yield text.count("\n", 0, found.start()) + 1, word
