"""What `rerun, skip, pause, resume, cancel` have in common: the instances that a filter finds, instead of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import click

from batchctl.cli import output
from batchctl.cli.log_command import Moment
from batchctl.cli.session import FAILED, Command, batch_names, can_ask, one_of
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import typed
from batchctl.operations import decisions, intervene, many


def many_options(usual: str | None) -> Callable[[Command], Command]:
    """Give a command the options of a filter; `usual` is the status that is meant where none is given."""
    told = f"Those in this status  [default with --batch or --since: {usual}]." if usual else "Those in this status."

    def given(command: Command) -> Command:
        since = click.option("--since", type=Moment(), help="Those that have stood so since then or later, in UTC.")
        status = click.option("--status", type=one_of(InstanceStatus), help=told)
        batch = click.option(
            "--batch", metavar="NAME", shell_complete=batch_names, help="Instead of ID: all of this batch in a status."
        )
        return batch(status(since(command)))

    return given


def is_of_many(instance_id: int | None, many: Mapping[str, Any]) -> bool:
    """Say whether a filter was given instead of a number."""
    is_filtered = any(value is not None for value in many.values())
    if is_filtered == (instance_id is not None):
        raise click.UsageError("Say either which instance, by its number, or which ones: --batch, --status, --since.")
    return is_filtered


def act_on_many(
    operator: intervene.Operator,
    verb: str,
    act: Callable[..., object],
    given: Mapping[str, Any],
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Show what was found, have it confirmed by --yes or on a terminal, and act; exit code 1 when any refused it."""
    wanted = _filter(decisions.Action(verb), **given)
    selection = many.select(operator.transactions, decisions.Action(verb), wanted)
    if dry_run:
        _show_selection(selection, as_json=as_json)
        return
    is_sure = yes
    if selection.ids and not yes and can_ask():
        click.echo(selection.wording, err=True)
        is_sure = click.confirm("Is that meant?", abort=True, err=True)
    many.check_sure(selection, sure=is_sure)
    done = many.act_on(operator, selection, act)
    output.warn_of_lost(done.lost)
    if as_json:
        output.print_json(done.columns())
    else:
        _show_outcome(done)
    if done.refused:
        raise click.exceptions.Exit(FAILED)


def _filter(action: Any, batch: str | None, status: Any, since: datetime | None) -> Any:
    meant = many.USUAL.get(action) if status is None else InstanceStatus(str(status))
    if meant is None:
        of = "" if batch is None else f" --batch {typed(batch)}"
        then = "" if since is None else f" --since '{since:%Y-%m-%d %H:%M:%S}'"
        raise click.UsageError(f"Say which are meant: batchctl {action}{of}{then} --status STATUS --reason ...")
    return many.InstanceFilter(status=meant, batch=batch, since=since)


def _show_selection(selection: many.Selection, *, as_json: bool) -> None:
    if as_json:
        output.print_json(many.ManyOutcome(selection=selection, done=(), refused=()).columns())
        return
    click.echo(selection.wording)
    if selection.ids:
        listed = ", ".join(map(str, selection.ids[: many.LISTED]))
        click.echo(f"BatchControl {listed}{', ...' if len(selection.ids) > many.LISTED else ''}.")
        output.say("Next: the same command without --dry-run")


def _show_outcome(done: many.ManyOutcome) -> None:
    if not done.selection.ids:
        click.echo(done.selection.wording)
        return
    what = f"{done.selection.action}: {output.counted(len(done.done), 'instance')} of {len(done.selection.ids)}."
    click.echo(what)
    rows = [(one, said) for one, said in done.refused]
    output.table_if_any("Refused", ["id#", "because"], rows)
    corrected = [(one.instance.instance_id, one.wording, one.clear) for one in done.corrected]
    output.table_if_any("Corrected files that no step has read", ["id#", "because", "next"], corrected)
    output.hints("batchctl status")
