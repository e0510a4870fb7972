"""Commands as people read them: the statements that matter, with the set-up of the session folded away.

What stands in CommandText is never changed by this, and a command shown alone is shown whole, ready to be pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from batchctl.cli import output

if TYPE_CHECKING:
    from rich.console import Console

_COMMENT = re.compile(r"--|#")
_SETS_UP = re.compile(
    r"\\|-- before you |SET |USE |GO\Z|IF DB_ID\(|THEN set_config\(|SELECT count\(CASE WHEN current_setting\(|SELECT .*\\gset\b"
)
"""How a line begins that prepares a session of psql or sqlcmd. No statement of an author's stands among them."""
_TIDIES_UP = re.compile(r"\\|GO\Z|IF @@TRANCOUNT > 0 BEGIN ROLLBACK")
_WORTH_FOLDING = 5
"""Fewer lines of set-up, as for the sqlite3 shell, are shorter than what would be said in their place."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command's text in its parts; every part may be empty."""

    comments: tuple[str, ...]
    set_up: tuple[str, ...]
    statements: tuple[str, ...]
    tidying: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Command:
        """Cut a text."""
        lines = text.split("\n")
        begin = _how_many(lines, _COMMENT)
        at = begin + _how_many(lines[begin:], _SETS_UP)
        end = len(lines) - _how_many(lines[:at:-1], _TIDIES_UP)
        if at - begin < _WORTH_FOLDING or at >= end:
            return cls(tuple(lines[:begin]), (), tuple(lines[begin:]), ())
        return cls(tuple(lines[:begin]), tuple(lines[begin:at]), tuple(lines[at:end]), tuple(lines[end:]))


def _how_many(lines: Sequence[str], like: re.Pattern[str]) -> int:
    """Count the lines at the beginning that are alike."""
    return sum(1 for _ in takewhile(like.match, lines))


def show(out: Console, text: str, *, whole: str | None = None) -> None:
    """Print a command; with its set-up folded when `whole` says where the whole text is."""
    command = Command.of(text)
    if whole is None or not command.set_up:
        output.verbatim(text)
        return
    folded = output.counted(len(command.set_up) + len(command.tidying), "line")
    for line in command.comments:
        output.verbatim(line)
    out.print(output.cell(f"... {folded} of set-up; {whole}", "dim"), soft_wrap=True)
    for line in command.statements:
        output.verbatim(line)


def show_each(out: Console, titled: Iterable[tuple[str, str]]) -> None:
    """Print commands under their titles; a set-up that stands above already is not repeated."""
    shown = set[tuple[str, ...]]()
    for title, text in titled:
        set_up = Command.of(text).set_up
        out.print(output.cell(title, "bold"), soft_wrap=True)
        show(out, text, whole="the same as above" if set_up in shown else None)
        out.print()
        shown.add(set_up)
