"""What the drivers for SQL Server raise: the number where it is known, else the SQLSTATE, and what both mean for a step."""

from __future__ import annotations

import re
from dataclasses import dataclass

from batchctl.plugin_api import sqlstate_behind, visible

_FATAL = frozenset(
    {102, 105, 111, 156, 201, 207, 208, 229, 230, 262, 297, 300, 911, 2812, 8144, 8145, 8146, 8162, 15151, 18456, 18452}
)
"""Errors for which trying again is no use: missing names, syntax, parameters that do not fit, rights, logging in."""
_FATAL_STATES = frozenset({"28000", "42S02"})
LOST_STATES = frozenset({"08S01", "08007", "08003", "10054", "01002"})
"""The session is gone, so it is unknown how far the server has come."""
_NUMBER = re.compile(r" ?\((\d+)\) \(SQL\w+\)(?=; \[|\Z)")
_PREFIX = re.compile(r"\A(?:\[[^\]]*\] ?)+")


@dataclass(frozen=True, slots=True)
class ReportedError:
    """An error of the server, as far as it is known."""

    text: str
    number: int | None = None
    state: str = ""
    severity: int | None = None
    inner_state: int | None = None
    """What the server itself calls the state of an error; `state` is the SQLSTATE of the driver."""
    line: int | None = None
    procedure: str | None = None

    @classmethod
    def of(cls, error: Exception) -> ReportedError:
        """Read what a driver raised."""
        words = getattr(error, "driver_error", None)
        if words is not None:
            text = getattr(error, "ddbc_error", "") or words
            return cls(_PREFIX.sub("", text), state=sqlstate_behind(words))
        state, text = map(str, error.args) if len(error.args) == 2 else ("", str(error))
        # The driver adds the number behind the text, in which anything may stand: the value of a row, for instance.
        number = next(reversed(list(_NUMBER.finditer(text))), None)
        if number is None:
            return cls(without_prefix(text), state=state)
        return cls(without_prefix(text[: number.start()]), number=int(number[1]), state=state)

    @property
    def is_fatal(self) -> bool:
        """Say whether trying again cannot help."""
        return self.number in _FATAL or self.state in _FATAL_STATES

    @property
    def code(self) -> str | None:
        """Return the server's number of the error, else the SQLSTATE of the driver."""
        return str(self.number) if self.number is not None else self.state or None

    def own_line(self, lines_before: int) -> int | None:
        """Return the line, counted in a procedure from its own beginning, else from the author's."""
        line = self.line if self.line is None or self.procedure else self.line - lines_before
        return line if line is not None and line > 0 else None

    def wording(self, lines_before: int) -> str:
        """Return all of it on one line; lines count from the first of the author's own."""
        number = f"error {self.number}: " if self.number is not None else ""
        own_line = self.own_line(lines_before)
        place = [
            f"severity {self.severity}" if self.severity is not None else "",
            f"state {self.inner_state}" if self.inner_state is not None else "",
            f"procedure {visible(self.procedure)}" if self.procedure else "",
            f"line {own_line}" if own_line is not None else "",
        ]
        where = ", ".join(part for part in place if part)
        return f"{number}{visible(self.text)}{f' ({where})' if where else ''}"


def without_prefix(text: str) -> str:
    """Leave out the names of driver and server in brackets."""
    return _PREFIX.sub("", text)
