"""What all commands share: the global options, the application, and the options that acts have in common."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import click

from batchctl.cli.lazily import lazily
from batchctl.domain.text import nearest, typed, visible

with lazily():
    from batchctl import app as application
    from batchctl.operations import inspection

Command = TypeVar("Command", bound=Callable[..., Any])
Function = Callable[..., Any]
"""What becomes a command."""

LARGEST_ID = 2**63 - 1
"""As in `domain/rows`, which help does not load."""
FAILED, FINDINGS = 1, 6
"""Exit codes of commands that did what was asked: of work that failed, and of anything found wrong."""

ONLY_LOOKS = "(dry run)"
"""The reason of a dry run that was given none: it is not kept."""
YES = "Accepted for scripts; this command never asks."


class WholeNumber(click.IntRange):
    """A number from a range; what does not fit is refused in plain words."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number."""
        try:
            number: int = super().convert(value, param, ctx)
        except click.BadParameter:
            upto = "up" if self.max is None or self.max >= LARGEST_ID else f"to {self.max}"
            self.fail(f"'{visible(str(value))}' is not a whole number from {self.min} {upto}.", param, ctx)
        return number


class OneWord(click.Choice[Any]):
    """One of some words, in any letter case; the error about a misspelt one names the nearest."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002 - click's hook
        """Say in one line which words there are."""
        return f"One of {', '.join(map(str, self.choices))}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            words = [str(word) for word in self.choices]
            near = nearest(str(value), words)
            meant = "" if near is None else f" Did you mean '{near}'?"
            self.fail(f"'{visible(str(value))}' is not one of {', '.join(words)}.{meant}", param, ctx)


def one_of(words: Iterable[str]) -> OneWord:
    """Return the type of what is one of some words."""
    return OneWord([str(word) for word in words], case_sensitive=False)


def no_time(value: object, such_as: str, what: str = "a time") -> str:
    """Say that a text is no time or no day, and why where there is no such day."""
    from batchctl.domain.scheduling.column_text import no_such_day  # noqa: PLC0415 - slow, and only an error needs it

    text = str(value)
    why = no_such_day(text)
    return f"'{visible(text)}' is not {what}{'' if why is None else f': {why}'}; write one {such_as}."


class InstanceNumber(WholeNumber):
    """The number of an instance; the error about a batch or a FileProcess row says where the numbers are."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number."""
        if isinstance(value, str):
            value = without_name(value, ctx)
        text = str(value).strip()
        if isinstance(value, str) and not text.lstrip("+-").isdecimal():
            known = text if text.startswith(("batch:", "file:")) else f"batch:{text}"
            where = f"Which instances there are: batchctl why {typed(known)}"
            if known.startswith("batch:"):
                where += f"; which have run: batchctl history --batch {typed(known.removeprefix('batch:'))}"
            self.fail(f"'{visible(text)}' is not the number of an instance (BatchControl_id). {where}", param, ctx)
        return super().convert(value, param, ctx)


def without_name(text: str, ctx: click.Context | None) -> str:
    """Return the 42 of `LoadOrders#42`; whether it is one of LoadOrders is checked once the database is open."""
    name, mark, number = text.rpartition("#")
    session = None if ctx is None else ctx.find_object(CliSession)
    if not mark or not name or not number.isdecimal() or session is None:
        return text
    session.named.append((name, int(number)))
    return number


class Ref(click.ParamType[str]):
    """A reference in words; the number of an instance may have the name of its batch before it."""

    name = "ref"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Drop the name of the batch."""
        del param
        return without_name(str(value), ctx)


class IntakeNumber(WholeNumber):
    """The number of a FileProcess row, also written as `why` and `wait` want it: file:17."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number."""
        return super().convert(value.removeprefix("file:") if isinstance(value, str) else value, param, ctx)


class Seconds(click.FloatRange):
    """A length of time in seconds."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a length of time."""
        try:
            length: float = super().convert(value, param, ctx)
        except click.BadParameter:
            length = math.nan
        if math.isnan(length):
            said = f"'{visible(str(value))}' is not a number of seconds from {self.min} to {self.max}."
            self.fail(said, param, ctx)
        return length


ROW_ID = WholeNumber(1, LARGEST_ID)
INSTANCE_ID = InstanceNumber(1, LARGEST_ID)
"""The type of an argument that is a row's id."""
INTAKE_ID = IntakeNumber(1, LARGEST_ID)
"""The same of a FileProcess row."""


@dataclass
class CliSession:
    """The global options, and what works by them."""

    config: str | None
    debug: bool
    named: list[tuple[str, int]] = field(default_factory=list)
    """Instances that were named with their batches."""

    @cached_property
    def app(self) -> application.App:
        """The application: opened at first use, because help does not need it, and closed when the command has ended."""
        app = application.open_app(self.config)
        click.get_current_context().find_root().call_on_close(app.close)
        if self.named:
            inspection.check_named(app.transactions, self.named)
        return app


pass_session = click.make_pass_decorator(CliSession)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, with column names, for programs.")
CSV = "csv"
_ROWS_AS_JSON = click.option(
    "--json", "as_json", flag_value="json", help="Print JSON, with column names, for programs."
)
_ROWS_AS_CSV = click.option("--csv", "as_json", flag_value=CSV, help="Print the same as CSV, for spreadsheets.")


def as_rows(command: Command) -> Command:
    """Give a command that lists rows the options of what programs read."""
    return _ROWS_AS_JSON(_ROWS_AS_CSV(command))


def batch_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Return the batches whose names begin so, for a shell that completes what is typed.

    A database that cannot be asked yields none: pressing a key must not print an error.
    """
    del param
    with suppress(Exception), closing(application.open_app(ctx.find_root().params.get("config"))) as app:
        return [name for name in inspection.batch_names(app.transactions) if name.startswith(incomplete)]
    return []


_DRY_RUN = click.option("--dry-run", is_flag=True, is_eager=True, help="Only show what would be done.")
"""Read before the reason, which a dry run does not need."""


def dry_run(command: Command) -> Command:
    """Give a command the options of everything that writes."""
    shown = _DRY_RUN(command)
    return click.option("--yes", "_yes", is_flag=True, expose_value=False, help=YES)(shown)


def sure(command: Command) -> Command:
    """Give a command the options of what writes and asks on a terminal, before it does."""
    shown = _DRY_RUN(command)
    return click.option("--yes", is_flag=True, help="Do not ask.")(shown)


def can_ask() -> bool:
    """Say whether standard input and standard error are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def reason(*, required: bool) -> Callable[[Command], Command]:
    """Give a command the option that says why."""
    said = "Why; kept in the audit log." if required else "Why; kept in the audit log  [optional]."
    return click.option("--reason", metavar="TEXT", callback=_why if required else None, help=said)


def reads(command: Function) -> Function:
    """Give a command that only looks its session, and the option of what programs read."""
    return as_json(pass_session(command))


def reads_rows(command: Function) -> Function:
    """Give a command that lists rows its session, and the options of what programs read."""
    return as_rows(pass_session(command))


def writes(command: Function) -> Function:
    """Give a command that writes its session, and the options of everything that does."""
    return dry_run(pass_session(command))


def acts(*, needs_reason: bool) -> Callable[[Function], Function]:
    """Give a command that does something for a person its session, and the options of everything that does so."""
    return lambda command: reason(required=needs_reason)(writes(command))


def _why(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None and not ctx.params.get("dry_run") and not ctx.resilient_parsing:
        raise click.MissingParameter(ctx=ctx, param=param)
    return ONLY_LOOKS if value is None else value
