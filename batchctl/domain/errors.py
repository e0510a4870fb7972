"""The error tree.

BatchctlError
├── ConfigurationError      a setting is missing or wrong                              exit 2
├── Unreadable              what was typed, or asked for, says nothing                 exit 2
├── NotFound                no such row, batch, step, file                             exit 3
├── Refused                 the act is not allowed in the state found                  exit 4
│   ├── StatusChanged       the row is in another status than the verb needs
│   └── SchemaMismatch      the database has another schema version, or none
├── DatabaseUnusable        missing, read-only, not a database                         exit 4
│   └── DatabaseUnreachable the connection is lost, or cannot be made
│       └── OutcomeUnknown  it was lost during a commit
├── Conflict                another transaction was in the way; the whole is run again
├── Busy                    another controller, or a lock that does not end            exit 5
├── StepRefused             a step cannot be rendered; no retry can help
│   └── CannotBegin         not by this host, or not yet: the step is put back
│       └── NoFreeSlot      no agent has a slot for it now: it waits in line
└── PluginError             a plugin is broken or missing
    └── NoAnswer            a handler did not answer what it was asked

Every message tells what happened, to which row, and what to do next.
"""

from __future__ import annotations

import inspect
import signal
from copy import copy
from typing import ClassVar, Self

from batchctl.domain.error_codes import code_at


class BatchctlError(Exception):
    """Base of everything batchctl raises on purpose. `next_step` is what to type next, if anything."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        """Keep what happened and what to do next."""
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self._place = _place()

    @property
    def code(self) -> str:
        """Return the code that documentation can be searched for: it does not change with the message."""
        return code_at(self._place)

    def reworded(self, message: str, next_step: str | None) -> Self:
        """Return the error in other words, under its own code."""
        made = copy(self)
        made.args, made.message, made.next_step = (message,), message, next_step
        return made

    @property
    def in_full(self) -> str:
        """Return on one line what happened and what to do next, where there is no line of its own for that."""
        return in_one_line(self.message, self.next_step)


NEXT = " Next: "
"""The words between what happened and what to do next."""


def in_one_line(message: str, next_step: str | None = None) -> str:
    """Join what happened and what to do next so that `next_step_in` finds the latter, whatever the message contains."""
    said = message.replace(" Next:", " 'Next:'")
    return said if next_step is None else f"{said}{NEXT}{next_step}"


def without_next_step(line: str) -> str:
    """Return the part of such a line that tells what happened."""
    return line.partition(NEXT)[0]


def next_step_in(line: str) -> str | None:
    """Return the part of such a line that tells what to do next."""
    return line.partition(NEXT)[2] or None


def is_typed(error: BaseException) -> bool:
    """Say whether an error may be Ctrl-C: where a program handles SIGINT otherwise, only code raises it."""
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _place() -> str:
    """Return which function has made an error: its module and its name."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    if frame is None:
        return ""
    # A comprehension counts as the function around it.
    return f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname.partition('.<locals>.<')[0]}"


class ConfigurationError(BatchctlError):
    """A setting is missing or wrong; the message names file, line and key."""

    exit_code = 2


class InvalidInput(BatchctlError):
    """What was typed, or stands in a request, has no meaning."""

    exit_code = 2


class NotFound(BatchctlError):
    """The row, batch, step or file that was asked for does not exist."""

    exit_code = 3


class Refused(BatchctlError):
    """The act is not allowed in the state found."""

    exit_code = 4


class StatusChanged(Refused):
    """The row is not in a status the verb may find."""

    def __init__(self, row: str, found: str, verb: str, *, next_step: str | None = None) -> None:
        """Name the row, the status found and the verb that does not fit it."""
        super().__init__(f"{row} is {found}: '{verb}' is not possible there.", next_step=next_step)
        self.row, self.found, self.verb = row, found, verb


class SchemaMismatch(Refused):
    """The database's schema is not the one this version works with."""


class DatabaseRefused(BatchctlError):
    """The control database is missing, read-only, corrupt or not a database."""

    exit_code = 4


class DatabaseUnreachable(DatabaseRefused):
    """The connection to the control database is lost, for a moment or longer; nothing is known against the database."""


class OutcomeUnknown(DatabaseUnreachable):
    """The connection was lost during a commit: it was made, or it was not."""


class Conflict(BatchctlError):
    """Another transaction was in the way; only the whole transaction can be run again."""


class Busy(BatchctlError):
    """Somebody else holds what is needed."""

    exit_code = 5


class NotLeading(BatchctlError):
    """Another controller leads by now: what only the leader may write was not written."""


class StepRefused(BatchctlError):
    """A step cannot be made ready to run; trying again without a correction cannot help."""


class CannotBegin(StepRefused):
    """This host lacks what a step needs, which another may have, or this one later: the step is put back."""


class NoFreeSlot(CannotBegin):
    """The agents that could carry a step have no slot for it now: it waits in line, and nothing was tried."""


class PluginError(BatchctlError):
    """A plugin cannot be loaded, is missing, or broke its contract."""


class NoAnswer(PluginError):
    """A step handler took too long to answer, or raised what ends a program."""
