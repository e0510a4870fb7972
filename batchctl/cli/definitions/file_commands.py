"""`batchctl export`, `plan` and `apply`: definitions as files."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batchctl.cli.session import CliSession, as_json, dry_run, pass_session, reason
from batchctl.domain.errors import ConfigurationError, NotFound
from batchctl.domain.text import nearest, shorten, typed, visible

if TYPE_CHECKING:
    from rich.console import Console

    from batchctl.domain.definitions.defined_changes import DefinitionChange
    from batchctl.operations.definitions.definition_files import Applier, ApplyOutcome, File

FINDINGS = 6
CONFLICT = 5
SHOWN = 70
"""How much of a value is shown."""
_ROWS = {"ProcessControl": "step", "BatchDependency": "dependency on"}
_SIGNS = {"add": ("+", "green"), "change": ("~", "yellow"), "remove": ("-", "red")}

_files = click.argument("paths", metavar="FILE...", nargs=-1, required=True)
_prune = click.option(
    "--prune", is_flag=True, help="Remove what was applied under the name of Owns and is not in the files any more."
)
_overwrite = click.option(
    "--overwrite",
    metavar="NAME",
    multiple=True,
    help="Write this definition though somebody has changed it since; may be repeated.",
)


@click.command()
@click.option(
    "--batch", "batches", metavar="NAME", multiple=True, help="Only this batch, with what starts it; repeatable."
)
@click.option(
    "--output", "path", metavar="FILE", default="-", show_default=True, help="Where to; - is standard output."
)
@click.option(
    "--owns", metavar="NAME", help="Under which name the file holds them, so that apply --prune may remove them."
)
@click.option("--settings", is_flag=True, help="The rows of Setting too; never the name of the database.")
@as_json
@pass_session
def export(
    session: CliSession, batches: tuple[str, ...], path: str, owns: str | None, settings: bool, as_json: bool
) -> None:
    """Write the definitions as TOML: batches, steps, what starts them, calendars and resources, by name.

    What has its default is left out. The rows that the code of jobs keeps are not written: their code is their file.
    """
    from batchctl.cli import output
    from batchctl.operations.definitions import exporting

    with session.app() as app:
        found = exporting.export(app.transactions, batches, with_settings=settings)
    if as_json:
        output.print_json(exporting.listed(found))
        return
    text = exporting.text_of(found, owns)
    if path == "-":
        # As bytes: a console of another encoding must not change a file.
        sys.stdout.buffer.write(text.encode())
        return
    try:
        Path(path).write_bytes(text.encode())
    except OSError as error:
        message = f"{visible(path)} cannot be written: {error.strerror}."
        raise ConfigurationError(message) from error
    click.echo(f"{output.counted(len(found), 'definition')} written to {visible(path)}.")
    output.hints(output.console(), f"batchctl plan {typed(path)}")


@click.command()
@_files
@_prune
@_overwrite
@as_json
@click.pass_context
def plan(ctx: click.Context, paths: tuple[str, ...], prune: bool, overwrite: tuple[str, ...], as_json: bool) -> None:
    """Show what applying files would change; - is standard input. Exit code 6 when it is anything, or anything is wrong.

    It is tried in a transaction that is undone.
    """
    with _applier(ctx.obj, dry_run=True) as applier:
        done = applier.apply(_read(paths), prune=prune, overwrite=overwrite)
    chosen = [*(["--prune"] if prune else []), *(f"--overwrite {typed(name)}" for name in overwrite)]
    applying = " ".join(["batchctl apply", *map(typed, paths), *chosen, "--reason ..."])
    _show(done, applying, as_json=as_json)
    if done.changes or done.findings:
        ctx.exit(FINDINGS)


@click.command()
@_files
@_prune
@_overwrite
@reason(required=True)
@dry_run
@as_json
@click.pass_context
def apply(
    ctx: click.Context,
    paths: tuple[str, ...],
    prune: bool,
    overwrite: tuple[str, ...],
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the definitions what files say, all in one transaction; - is standard input.

    Definitions that no file names are left alone; what stands below one that is named, such as its steps, is what the
    file says. Exit code 6 and nothing done when anything is wrong, 5 when it would overwrite what somebody has changed.
    """
    with _applier(ctx.obj, dry_run=dry_run) as applier:
        done = applier.apply(_read(paths), reason=reason, prune=prune, overwrite=overwrite)
    _show(done, "the same command without --dry-run" if dry_run else None, as_json=as_json)
    if done.findings:
        ctx.exit(FINDINGS)
    if done.conflicts:
        ctx.exit(CONFLICT)


@contextmanager
def _applier(session: CliSession, *, dry_run: bool) -> Iterator[Applier]:
    from batchctl.operations.definitions.definition_files import Applier
    from batchctl.operations.operators.acts import Actor

    with session.app() as app:
        user, host = app.ids.user(), app.ids.host()
        actor = Actor(transactions=app.transactions, clock=app.clock, user=user, host=host, dry_run=dry_run)
        yield Applier(
            actor=actor,
            plugins=app.registry,
            context=app.context,
            timetable=app.timetable(),
            jobs=app.registry,
            ask=app.handler_calls.ask,
        )


def _read(paths: Sequence[str]) -> list[File]:
    from batchctl.operations.definitions.definition_files import File

    return [File("standard input" if path == "-" else path, _parsed(path)) for path in paths]


def _parsed(path: str) -> dict[str, Any]:
    called = "Standard input" if path == "-" else visible(path)
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return tomllib.loads(content.decode())
    except FileNotFoundError as error:
        near = nearest(Path(path).name, (file.name for file in Path(path).parent.glob("*.toml")))
        meant = "" if near is None else f" Did you mean '{visible(str(Path(path).with_name(near)))}'?"
        message = f"There is no file {called}.{meant}"
        raise NotFound(message, next_step=f"batchctl export --output {typed(path)}") from error
    except OSError as error:
        raise ConfigurationError(f"{called} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{called} is not written in UTF-8.", next_step="save it in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{called} is no TOML: {error}.", next_step="correct the file") from error
    except RecursionError as error:
        message = f"{called} is nested too deeply to be read."
        raise ConfigurationError(message, next_step="write a value with fewer brackets in brackets") from error


def _show(done: ApplyOutcome, doing: str | None, *, as_json: bool) -> None:
    """Show what was done, or, with the command that would do it, what was only tried."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell
    from batchctl.operations.definitions.definition_files import outcome_columns

    if as_json:
        output.print_json(outcome_columns(done))
        return
    out = output.console()
    for change in done.changes:
        _show_change(out, change)
    if done.conflicts:
        rows = [
            (
                cell(f"{change.kind} {change.name}"),
                cell(one.where),
                cell(_short(one.base) if one.is_base_known else "unknown"),
                cell(_short(one.before)),
                cell(_short(one.after)),
            )
            for change, one in done.conflicts
        ]
        headings = ["definition", "column", "applied last", "now", "the file"]
        output.section(out, Listing("Changed since, and it would be lost", headings, rows))
    if done.findings:
        found = [
            (cell(at.table), cell(at.row or None), cell(at.column or None), cell(at.message)) for at in done.findings
        ]
        title = output.counted(len(done.findings), "finding")
        output.section(out, Listing(title, ["table", "row", "column", "what is wrong"], found))
    _conclude(out, done, doing)


def _conclude(out: Console, done: ApplyOutcome, doing: str | None) -> None:
    from batchctl.cli import output

    counted = output.counted(len(done.changes), "definition")
    same = f"; {done.same} {'is' if done.same == 1 else 'are'} as the file says" if done.same else ""
    if done.findings or done.conflicts:
        out.print(f"Nothing is changed: {counted} would be, and something is in the way.")
        named = dict.fromkeys(change.name for change, _ in done.conflicts)
        hints = [*dict.fromkeys(one.remedy for one in done.findings)]
        hints += [f"take the change over into the file, or have yours: --overwrite {typed(name)}" for name in named]
        output.hints(out, *hints)
    elif not done.changes:
        out.print("Everything is as the files say.")
    elif doing is not None:
        out.print(f"{counted} would change{same}.")
        output.hints(out, doing)
    else:
        out.print(f"{counted} changed{same}.")
        output.hints(out, "batchctl check")


def _show_change(out: Console, change: DefinitionChange) -> None:
    from batchctl.cli.output import cell

    sign, colour = _SIGNS[change.act.value]
    out.print(cell(f"{sign} {change.kind} {change.name}", colour), soft_wrap=True)
    if change.act.value == "remove":
        return
    if change.act.value == "change":
        moved = dict.fromkeys(change.added, "added") | dict.fromkeys(change.removed, "removed")
        for place, said in moved.items():
            out.print(cell(f"    {_called(place)} is {said}"), soft_wrap=True)
    for one in change.columns:
        is_new = change.act.value == "add" or one.place in change.added
        if one.place in change.removed or (is_new and one.after is None):
            continue
        said = _short(one.after) if is_new else f"{_short(one.before)} -> {_short(one.after)}"
        out.print(cell(f"    {one.where}: {said}"), soft_wrap=True)


def _called(place: str) -> str:
    """Name a row below a definition as people do: `step 10` for `ProcessControl 10`."""
    kind, _, key = place.partition(" ")
    return f"{_ROWS.get(kind, kind)} {key}"


def _short(value: object) -> str:
    """Show a value on one line; a text in quotation marks."""
    if value is None:
        return "-"
    return f"'{shorten(visible(value), SHOWN)}'" if isinstance(value, str) else str(value)
