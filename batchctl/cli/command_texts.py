"""Commands as people read them: whole, ready to be pasted, or shortened so that it cannot be taken for a command."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.cli import output
from batchctl.domain.text import shorten

MOST_LINES = 20
LONGEST_LINE = 1000
BAR = "│ "
"""Stands before each line of what is shortened: neither a shell nor an SQL client takes it."""


def show(text: str, *, whole: str | None = None) -> None:
    """Print a command; a long one is shortened when `whole` says where the whole text is."""
    lines = text.split("\n")
    is_long = len(lines) > MOST_LINES or any(len(line) > LONGEST_LINE for line in lines)
    if whole is None or not is_long:
        output.verbatim(text)
        return
    for line in lines[:MOST_LINES]:
        output.verbatim(f"{BAR}{shorten(line, LONGEST_LINE)}")
    left_out = f", {output.counted(len(lines) - MOST_LINES, 'line')} left out" if len(lines) > MOST_LINES else ""
    output.line(f"{BAR}(shortened{left_out}; {whole})", "dim")


def show_each(titled: Iterable[tuple[str, str]]) -> None:
    """Print commands under their titles."""
    for title, text in titled:
        output.line(title, "bold")
        show(text)
        output.line()
