"""`batchctl trigger`: which data triggers there are, and what one would do now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batchctl.cli.filtering import of_starters, starts
from batchctl.cli.session import CliSession, as_json, as_rows, pass_session

if TYPE_CHECKING:
    from rich.console import RenderableType

    from batchctl.operations.intake.trial import Trial


@click.group()
def trigger() -> None:
    """Look at what starts work because rows wait in a staging table."""


@trigger.command("list")
@of_starters
@as_rows
@pass_session
def list_triggers(session: CliSession, batch: str | None, status: str | None, as_json: bool) -> None:
    """List the triggers, with what they watch and when they fire."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time, word
    from batchctl.cli.unreadable_lists import show_unreadable, with_unreadable
    from batchctl.domain.intake.triggers import conditions_of
    from batchctl.domain.text import typed
    from batchctl.operations import shown_columns
    from batchctl.operations.intake import trial

    with session.app() as app:
        is_wanted = starts(app, batch, status)
        every, broken = trial.everything(app.transactions)
        found = [one for one in every if is_wanted(one.entity, one.enabled)]
    if as_json:
        output.print_json(with_unreadable([shown_columns.of(one) for one in found], broken))
        return
    rows = [
        (
            cell(one.name),
            word("enabled" if one.enabled else "disabled"),
            cell(one.entity),
            cell(f"{one.table} on {one.connection}"),
            cell(f"{one.status_column} = {one.pending_value}"),
            cell(conditions_of(one)),
            time(one.last_fired),
        )
        for one in found
    ]
    out = output.console()
    headings = ["name", "state", "entity", "table", "pending", "fires at", "last fired (UTC)"]
    output.section(out, Listing("Data triggers", headings, rows))
    if broken:
        show_unreadable(out, broken)
    elif found:
        output.hints(out, f"batchctl trigger test {typed(found[0].name)}", "batchctl log --source trigger")
    else:
        output.hints(out, "insert a row into DataTrigger, then: batchctl check")


@trigger.command("test")
@click.argument("name")
@as_json
@pass_session
def test_trigger(session: CliSession, name: str, as_json: bool) -> None:
    """Say what a trigger would do now: count its rows and evaluate it as the controller does, and start nothing.

    It needs no running controller, and says also what a disabled trigger would find.
    """
    from batchctl.cli import output

    with session.app() as app:
        tried = app.trigger_bench().try_out(name)
    if as_json:
        output.print_json(tried.columns())
        return
    out = output.console()
    out.print(output.cell(f"Trigger {tried.trigger.name}: {_verdict(tried)}", "bold"), soft_wrap=True)
    output.section(out, output.properties(_properties(tried)))
    for note in tried.notes:
        out.print(output.cell(note), soft_wrap=True)
    output.hints(out, *_next(tried))


def _verdict(tried: Trial) -> str:
    if tried.would_fire:
        return "it would fire now"
    if not tried.verdict.fires:
        return "it would not fire now"
    if not tried.trigger.enabled:
        return "its condition is met, but it is disabled"
    if not tried.is_let:
        return "its condition is met, but the ProcessingMode of its batches lets no trigger start them"
    return "its condition is met, but it waits"


def _properties(tried: Trial) -> list[tuple[str, RenderableType]]:
    from batchctl.cli.output import cell, duration, time, word

    counted = tried.verdict.counted
    return [
        ("state", word("enabled" if tried.trigger.enabled else "disabled")),
        ("reason", cell(tried.verdict.reason)),
        ("pending rows", cell(counted.pending)),
        ("oldest row", duration(counted.oldest)),
        ("work under way", cell("none for its entity" if tried.blocker is None else str(tried.blocker))),
        ("last fired (UTC)", time(tried.trigger.last_fired)),
        ("condition met (UTC)", time(tried.due) if tried.due is not None else cell("when more rows come")),
        ("next evaluation (UTC)", _next_look(tried)),
    ]


def _next_look(tried: Trial) -> RenderableType:
    from batchctl.cli.output import cell

    if tried.next_look is None:
        lacks = "it is disabled" if not tried.trigger.enabled else "the ProcessingMode of its batches is as it is"
        return cell(f"never, as long as {lacks}")
    every = f"{tried.poll_interval.total_seconds():g} s"
    return cell(f"{tried.next_look:%Y-%m-%d %H:%M:%S} at the latest: every {every} while a controller runs")


def _next(tried: Trial) -> list[str]:
    if tried.blocker is not None and tried.blocker.instance_id is not None:
        return [f"batchctl why {tried.blocker.instance_id}"]
    if tried.blocker is not None:
        return [f"batchctl why file:{tried.blocker.intake_id}"]
    if not tried.trigger.enabled:
        return ["set Enabled of its row in DataTrigger to 1"]
    if not tried.is_let:
        return ["batchctl mode BATCH triggered --reason TEXT"]
    return ["batchctl log --source trigger"]
