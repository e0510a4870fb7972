"""`batchctl export`, `plan` and `apply`: definitions as files."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from batchctl.cli import output
from batchctl.cli.session import FINDINGS, CliSession, acts, as_json, reads
from batchctl.domain.definitions.defined_changes import DefinitionChange
from batchctl.domain.errors import ConfigurationError, NotFound
from batchctl.domain.text import nearest, shorten, typed, visible
from batchctl.operations.definitions import definition_files, exporting

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
@click.option("--variables", is_flag=True, help="The variables too, which another installation has of its own.")
@reads
def export(
    session: CliSession,
    batches: tuple[str, ...],
    path: str,
    owns: str | None,
    settings: bool,
    variables: bool,
    as_json: bool,
) -> None:
    """Write the definitions as TOML: batches, steps, what starts them, calendars and resources, by name.

    What has its default is left out. The rows that the code of jobs keeps are not written: their code is their file.
    """
    transactions = session.app.transactions
    found = exporting.export(transactions, batches, with_settings=settings, with_variables=variables)
    if as_json:
        output.print_json(exporting.listed(found))
        return
    text = exporting.text_of(found, owns)
    if path == "-":
        # As bytes: a console of another encoding must not change a file.
        sys.stdout.buffer.write(text.encode())
        return
    save(path, text)
    click.echo(f"{output.counted(len(found), 'definition')} written to {visible(path)}.")
    output.hints(f"batchctl plan {typed(path)}")


def save(path: str, text: str) -> None:
    """Write a file of definitions."""
    try:
        Path(path).write_bytes(text.encode())
    except OSError as error:
        raise ConfigurationError(f"{visible(path)} cannot be written: {error.strerror}.") from error


@click.command()
@_files
@_prune
@_overwrite
@reads
def plan(session: CliSession, paths: tuple[str, ...], prune: bool, overwrite: tuple[str, ...], as_json: bool) -> None:
    """Show what applying files would change; - is standard input. Exit code 6 when it is anything, or anything is wrong.

    It is tried in a transaction that is undone.
    """
    done = _applier(session, dry_run=True).apply(_read(paths), prune=prune, overwrite=overwrite)
    chosen = [*(["--prune"] if prune else []), *(f"--overwrite {typed(name)}" for name in overwrite)]
    applying = " ".join(["batchctl apply", *map(typed, paths), *chosen, "--reason ..."])
    _show(done, applying, as_json=as_json)
    if done.changes or done.findings:
        raise click.exceptions.Exit(FINDINGS)


@click.command()
@_files
@_prune
@_overwrite
@acts(needs_reason=True)
@as_json
def apply(
    session: CliSession,
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
    done = _applier(session, dry_run=dry_run).apply(_read(paths), reason=reason, prune=prune, overwrite=overwrite)
    _show(done, "the same command without --dry-run" if dry_run else None, as_json=as_json)
    if done.findings:
        raise click.exceptions.Exit(FINDINGS)
    if done.conflicts:
        raise click.exceptions.Exit(CONFLICT)


def _applier(session: CliSession, *, dry_run: bool) -> definition_files.Applier:
    app = session.app
    actor = app.actor(dry_run=dry_run)
    return definition_files.Applier(
        actor=actor,
        plugins=app.registry,
        context=app.context,
        timetable=app.timetable(),
        jobs=app.registry,
        ask=app.handler_calls.ask,
    )


def _read(paths: Sequence[str]) -> list[definition_files.File]:
    return [definition_files.File("standard input" if path == "-" else path, _parsed(path)) for path in paths]


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


def _show(done: definition_files.ApplyOutcome, doing: str | None, *, as_json: bool) -> None:
    """Show what was done, or, with the command that would do it, what was only tried."""
    if as_json:
        output.print_json(definition_files.outcome_columns(done))
        return
    for change in done.changes:
        _show_change(change)
    rows = [
        (
            f"{change.kind} {change.name}",
            one.where,
            _short(one.base) if one.is_base_known else "unknown",
            _short(one.before),
            _short(one.after),
        )
        for change, one in done.conflicts
    ]
    headings = ["definition", "column", "applied last", "now", "the file"]
    output.table_if_any("Changed since, and it would be lost", headings, rows)
    found = [(at.table, at.row or None, at.column or None, at.message) for at in done.findings]
    title = output.counted(len(done.findings), "finding")
    output.table_if_any(title, ["table", "row", "column", "what is wrong"], found)
    _conclude(done, doing)


def _conclude(done: definition_files.ApplyOutcome, doing: str | None) -> None:
    counted = output.counted(len(done.changes), "definition")
    same = f"; {done.same} {'is' if done.same == 1 else 'are'} as the file says" if done.same else ""
    if done.findings or done.conflicts:
        output.line(f"Nothing is changed: {counted} would be, and something is in the way.")
        named = dict.fromkeys(change.name for change, _ in done.conflicts)
        hints = [*dict.fromkeys(one.remedy for one in done.findings)]
        hints += [f"take the change over into the file, or have yours: --overwrite {typed(name)}" for name in named]
        output.hints(*hints)
    elif not done.changes:
        output.line("Everything is as the files say.")
    elif doing is not None:
        output.line(f"{counted} would change{same}.")
        output.hints(doing)
    else:
        output.line(f"{counted} changed{same}.")
        output.hints("batchctl check")


def _show_change(change: DefinitionChange) -> None:
    sign, colour = _SIGNS[change.act.value]
    output.line(f"{sign} {change.kind} {change.name}", colour)
    if change.act.value == "remove":
        return
    if change.act.value == "change":
        moved = dict.fromkeys(change.added, "added") | dict.fromkeys(change.removed, "removed")
        for place, said in moved.items():
            output.line(f"    {_called(place)} is {said}")
    for one in change.columns:
        is_new = change.act.value == "add" or one.place in change.added
        if one.place in change.removed or (is_new and one.after is None):
            continue
        said = _short(one.after) if is_new else f"{_short(one.before)} -> {_short(one.after)}"
        output.line(f"    {one.where}: {said}")


def _called(place: str) -> str:
    """Name a row below a definition as people do: `step 10` for `ProcessControl 10`."""
    kind, _, key = place.partition(" ")
    return f"{_ROWS.get(kind, kind)} {key}"


def _short(value: object) -> str:
    """Show a value on one line; a text in quotation marks."""
    if value is None:
        return "-"
    return f"'{shorten(visible(value), SHOWN)}'" if isinstance(value, str) else str(value)
