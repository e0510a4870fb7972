"""What a look asks of a file goes as one statement: all that was asked before the first answer is wanted, as a server has it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import ref

from batchctl.store.one_look import Look

_IS_CUT = re.compile(r"\bLIMIT\b[^()]*\Z", re.IGNORECASE)
_WIDTHS: dict[str, int] = {}
"""How many columns the rows of a statement have, once it was executed."""


@dataclass(slots=True)
class JoinedStatement:
    """A statement that was asked; to call it returns its rows."""

    joined: JoinedStatements
    text: str
    values: Sequence[object]
    rows: Sequence[Any] | None = None

    def __call__(self) -> Sequence[Any]:
        """Return the rows; what waits beside it is asked with it."""
        if self.rows is None:
            self.joined.go(self)
        return () if self.rows is None else self.rows

    def ask_alone(self, connection: sqlite3.Connection) -> None:
        """Ask for its rows and nothing else."""
        cursor = connection.execute(self.text, self.values)
        _WIDTHS[self.text] = len(cursor.description or ())
        self.rows = cursor.fetchall()


class JoinedStatements:
    """The statements of one connection that wait for the first answer."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Keep the connection from nothing: it is closed with the last who has it."""
        self._connection = ref(connection)
        self._look: Look | None = None
        self._waiting: list[JoinedStatement] = []

    def ask(self, text: str, values: Sequence[object], look: Look) -> JoinedStatement:
        """Ask for the rows of a statement that reads; what an earlier look never wanted is not asked for any more."""
        if look is not self._look:
            self._look, self._waiting = look, []
        asked = JoinedStatement(self, text, values)
        self._waiting.append(asked)
        return asked

    def go(self, wanted: JoinedStatement) -> None:
        """Ask what waits: as one statement, but for what was never asked before; where that fails, only what is wanted."""
        waiting, self._waiting = self._waiting, []
        known = [one for one in waiting if one.text in _WIDTHS]
        try:
            self._ask(known)
        except sqlite3.Error:
            # Which of them it is shows when each is wanted.
            self._waiting = [one for one in known if one is not wanted]
        self._waiting += [one for one in waiting if one.text not in _WIDTHS and one is not wanted]
        if wanted.rows is None:
            wanted.ask_alone(self._open())

    def _open(self) -> sqlite3.Connection:
        connection = self._connection()
        if connection is None:
            message = "the connection that was asked is closed"
            raise sqlite3.ProgrammingError(message)
        return connection

    def _ask(self, asked: Sequence[JoinedStatement]) -> None:
        if not asked:
            return
        if len(asked) == 1:
            asked[0].ask_alone(self._open())
            return
        widths = [_WIDTHS[one.text] for one in asked]
        values = [value for one in asked for value in one.values]
        found: list[list[Any]] = [[] for _ in asked]
        for row in self._open().execute(_joined(tuple(one.text for one in asked), tuple(widths)), values):
            number = row[0]
            found[number].append(row[1 : 1 + widths[number]])
        for one, rows in zip(asked, found, strict=True):
            one.rows = rows


@lru_cache(maxsize=256)
def _joined(texts: tuple[str, ...], widths: tuple[int, ...]) -> str:
    """Return one statement whose rows begin with the number of the one that they are of."""
    most = max(widths)
    parts = []
    for number, (text, width) in enumerate(zip(texts, widths, strict=True)):
        # Without a limit the order of a subquery may be lost.
        whole = text if _IS_CUT.search(text) else f"{text} LIMIT -1"
        padding = ", NULL" * (most - width)
        parts.append(f"SELECT {number}, one.*{padding} FROM ({whole}) AS one")  # noqa: S608 - statements of the store
    return " UNION ALL ".join(parts)
