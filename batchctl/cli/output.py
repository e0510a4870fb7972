"""How things look: tables for people, JSON for programs. Whatever stands in a row is shown, never interpreted."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NoReturn, TypeAlias

import click
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from batchctl.cli.listing import Listing
from batchctl.cli.session import CSV, ONLY_LOOKS
from batchctl.cli.standard_error import tell
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.alerting.performance import spark
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import LONG_AGO, MissingPlugin
from batchctl.domain.text import visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations.column_lists import Alarming, ColumnList, Curve, Row, StatusWord, in_csv

Listed: TypeAlias = tuple[ColumnList[Any], Iterable[Any]]
"""A column list and its rows."""
WIDTH_WITHOUT_TERMINAL = 160
LIST = "List"
"""The first column where a command shows several lists: which of them a row is of, as `--json` names it."""

_STYLES = {
    **dict.fromkeys(["complete", "success", "done", "passed", "completed", "OK"], "green"),
    "running": "cyan",
    **dict.fromkeys(["ready", "fired"], "blue"),
    ", frozen": "bold cyan",
    **dict.fromkeys(["retry", "paused", "pausing", "duplicate", "disabled", "cancelling", "WARN"], "yellow"),
    **dict.fromkeys(["held", "lost", "rescued"], "magenta"),
    **dict.fromkeys(["failed", "timeout", "rejected", "blocked", "error", "FAIL"], "bold red"),
    **dict.fromkeys(["cancelled", "skipped", "over"], "dim"),
}


class PipeConsole(Console):
    """A console that raises when the pipe is broken: `main` alone deals with that."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise."""
        raise BrokenPipeError


def console(*, err: bool = False) -> Console:
    """Return a console for standard output or error that takes every text as it is."""
    stream = sys.stderr if err else sys.stdout
    width = None
    if not stream.isatty():
        width = shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 25)).columns
    made = PipeConsole(file=stream, width=width, markup=False, highlight=False, emoji=False)
    if not made.no_color:
        return made
    # NO_COLOR asks for plain text, and rich would leave bold and dim in.
    return PipeConsole(file=stream, width=width, markup=False, highlight=False, emoji=False, color_system=None)


def print_json(value: Any) -> None:
    """Print a value as JSON in plain ASCII, which every terminal and every program reads."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True))


def print_list(columns: ColumnList[Row], rows: Iterable[Row], broken: Iterable[UnreadableRow] = ()) -> None:
    """Print the rows of a list for programs, also those that cannot be read: as JSON, or as CSV where that is asked for."""
    print_rows(columns.as_json(rows, broken), columns.header)


def print_lists(whole: Mapping[str, JsonValue | Listed]) -> None:
    """Print lists of several kinds for programs, and what is said beside them; in CSV each row begins with its list."""
    lists = {name: value for name, value in whole.items() if isinstance(value, tuple)}
    found = {name: value[0].as_json(value[1]) if isinstance(value, tuple) else value for name, value in whole.items()}
    header = [LIST, *(name for columns, _ in lists.values() for name in columns.header)]
    print_rows(found, list(dict.fromkeys(header)))


def print_rows(found: Any, header: list[str]) -> None:
    """Print rows, or an object with lists of rows, as JSON; the rows alone as CSV where that is asked for."""
    if click.get_current_context().params["as_json"] == CSV:
        _print_csv(found, header)
    else:
        print_json(found)


def _typed_name(ctx: click.Context) -> str:
    """Return the words of a command, without the name of the program."""
    return " ".join(reversed([str(at.info_name) for at in _upwards(ctx)]))


def _upwards(ctx: click.Context) -> Iterator[click.Context]:
    while ctx.parent is not None:
        yield ctx
        ctx = ctx.parent


def _print_csv(value: Any, header: list[str]) -> None:
    """Print rows under the names of their columns, also where there is no row; a list or an object in one is JSON."""
    rows = list(_rows_of(value)) if isinstance(value, dict) else value
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([in_csv(row.get(name)) for name in header] for row in rows)
    click.echo(text.getvalue(), nl=False)


def _rows_of(lists: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of all lists that stand in an object, each with the name of its list."""
    for name, rows in lists.items():
        if isinstance(rows, list):
            yield from ({LIST: name, **row} for row in rows if isinstance(row, dict))


def say(message: str) -> None:
    """Print a message for people, apart from what programs read."""
    tell(visible(_with_reason(message)))


def warn_of_missing(plugins: Sequence[MissingPlugin]) -> None:
    """Say on one line that something cannot run as it stands, because controllers lack a plugin."""
    if plugins:
        first, others = plugins[0], len(plugins) - 1
        more = f" ({others} more; batchctl check)" if others else ""
        say(f"Warning: {first.message}, so it does not start{more}. Next: {first.mend}")


def warn_of_misread(found: Sequence[IncidentSign]) -> None:
    """Print a line for each thing that a batch's rows say and that cannot be meant so."""
    for one in found:
        say(f"Warning: {visible(one.message).rstrip('.')}. Next: {visible(one.next_step or 'batchctl check')}")


def warn_of_lost(instance_ids: Sequence[int]) -> None:
    """Say on one line that instances are run again of which an attempt was lost."""
    if instance_ids:
        listed = ", ".join(map(str, instance_ids))
        say(
            f"Warning: an attempt of BatchControl {listed} was lost: look whether anything of it is at work still."
            f" Next: batchctl history {instance_ids[0]}"
        )


def warn(message: str, code: int | str, next_step: str | None = None) -> None:
    """Say what is wrong where a command goes on all the same, or ends by itself."""
    say(f"Error: {message}")
    if next_step:
        say(f"Next: {next_step}")
    say(f"Code: {code if isinstance(code, str) else f'BC{code}'}")


def verbatim(text: str) -> None:
    """Print a text exactly, so that it can be copied: nothing is cut, wrapped or coloured.

    On a terminal, characters that it would obey are shown as escapes; a file or a pipe gets every character.
    """
    if not sys.stdout.isatty():
        # Else click leaves out what looks like colours.
        click.echo(text, color=True)
        return
    shown = "".join(each if each in "\n\t" else visible(each) for each in text)
    click.echo(shown)
    if shown != text:
        say("What a terminal would obey is shown as an escape; with --json, or in a file, it stands as it is.")


def piece(text: str) -> None:
    """Print the next piece of a text at once, with nothing after it; on a terminal what it would obey is an escape."""
    if sys.stdout.isatty():
        text = "".join(each if each in "\n\t" else visible(each) for each in text)
    if text:
        click.echo(text, nl=False, color=True)


def cell(value: object, style: str | None = None) -> Text:
    """Return what a cell shows: one line, nothing invisible, nothing interpreted."""
    if value is None:
        return Text("-", style="dim")
    return Text(visible(str(value)), style=style or "")


def word(status: str) -> Text:
    """Return a status in its colour."""
    return Text(status, style=_STYLES.get(status, ""))


def counted(count: int, what: str) -> str:
    """Return a number of things."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def table(title: str | None, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under headings, each value as its type wants it, apart from what follows."""
    out = console()
    for part, soft_wrap in Listing(title, headings, [[shown(value) for value in row] for row in rows]).parts(out.width):
        _put(out, part, soft_wrap=soft_wrap)
    out.print()


def show_list(columns: ColumnList[Row], rows: Iterable[Row], *, title: str | None = None, if_any: bool = False) -> None:
    """Print the rows of a list for people; with `if_any` nothing at all where there is no row."""
    if (found := columns.cells(rows)) or not if_any:
        table(title or columns.title, [*columns.headings], found)


def table_if_any(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under headings; nothing at all where there is no row."""
    if found := [*rows]:
        table(title, headings, found)


def properties(pairs: Iterable[tuple[str, object]], *, apart: bool = True) -> None:
    """Print names and values in two columns, apart from what follows or close to it."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(name, shown(value))
    put(made, apart=apart)


def put(part: RenderableType, *, apart: bool = True) -> None:
    """Print something, apart from what follows or close to it."""
    out = console()
    _put(out, part)
    if apart:
        out.print()


def _put(out: Console, part: RenderableType, *, soft_wrap: bool = False) -> None:
    """Print something; what no terminal shows has no blanks at the ends of its lines."""
    if out.is_terminal:
        out.print(part, soft_wrap=soft_wrap)
        return
    with out.capture() as captured:
        out.print(part, soft_wrap=soft_wrap)
    for line_of_it in captured.get().removesuffix("\n").split("\n"):
        click.echo(line_of_it.rstrip(), file=out.file)


def line(value: object = "", style: str | None = None) -> None:
    """Print one line, which a terminal breaks by itself."""
    console().print(value if isinstance(value, Text) else cell(value, style), soft_wrap=True)


def hints(*commands: str) -> None:
    """End with what one can do next."""
    for at, command in enumerate(dict.fromkeys(commands)):
        hint = visible(_with_reason(command))
        line(Text.assemble(("Next: " if at == 0 else "      ", "dim"), hint))


def _with_reason(hint: str) -> str:
    """Return a hint that also names --reason, where a dry run was given none."""
    ctx = click.get_current_context(silent=True)
    if ctx is None or ctx.params.get("reason") != ONLY_LOOKS:
        return hint
    return hint.replace("without --dry-run", "with --reason ... and without --dry-run")


def shown(value: object) -> Text:
    """Return what a cell shows of a value: a moment in UTC, a length of time the way people say it, else its text."""
    match value:
        case Text():
            return value
        case datetime():
            # Long ago means that nothing is waited for.
            return cell(None if value <= LONG_AGO else f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}")
        case timedelta():
            return cell(for_people(value))
        case StrEnum():
            return word(value.value)
        case StatusWord():
            return word(value.text)
        case Curve():
            return cell(spark(value.points, ascii_only=console().options.ascii_only))
        case Alarming():
            return cell(value.text, "bold red")
        case tuple():
            return Text().join(shown(part) for part in value)
        case _:
            return cell(value)
