"""`batchctl trigger`: which data triggers there are, and what one would do now."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.filtering import of_starters, starts
from batchctl.cli.session import CliSession, reads, reads_rows
from batchctl.cli.unreadable_lists import show_unreadable
from batchctl.domain.text import typed
from batchctl.operations.intake import trial


@click.group()
def trigger() -> None:
    """Look at what starts work because rows wait in a staging table."""


@trigger.command("list")
@of_starters
@reads_rows
def list_triggers(session: CliSession, batch: str | None, status: str | None, as_json: bool) -> None:
    """List the triggers, with what they watch and when they fire."""
    app = session.app
    is_wanted = starts(app, batch, status)
    every, broken = trial.everything(app.transactions)
    found = [one for one in every if is_wanted(one.entity, one.enabled)]
    if as_json:
        output.print_list(trial.TRIGGERS, found, broken)
        return
    output.show_list(trial.TRIGGERS, found)
    if broken:
        show_unreadable(broken)
    elif found:
        output.hints(f"batchctl trigger test {typed(found[0].name)}", "batchctl log --source trigger")
    else:
        output.hints("insert a row into DataTrigger, then: batchctl check")


@trigger.command("test")
@click.argument("name")
@reads
def test_trigger(session: CliSession, name: str, as_json: bool) -> None:
    """Say what a trigger would do now: count its rows and evaluate it as the controller does, and start nothing.

    It needs no running controller, and says also what a disabled trigger would find.
    """
    tried = session.app.trigger_bench().try_out(name)
    if as_json:
        output.print_json(tried.columns())
        return
    output.line(f"Trigger {tried.trigger.name}: {_verdict(tried)}", "bold")
    output.properties(_properties(tried))
    for note in tried.notes:
        output.line(note)
    output.hints(*_next(tried))


def _verdict(tried: trial.Trial) -> str:
    if tried.would_fire:
        return "it would fire now"
    if not tried.verdict.fires:
        return "it would not fire now"
    if not tried.trigger.enabled:
        return "its condition is met, but it is disabled"
    if not tried.is_let:
        return "its condition is met, but the ProcessingMode of its batches lets no trigger start them"
    return "its condition is met, but it waits"


def _properties(tried: trial.Trial) -> list[tuple[str, object]]:
    counted = tried.verdict.counted
    return [
        ("state", output.word("enabled" if tried.trigger.enabled else "disabled")),
        ("reason", tried.verdict.reason),
        ("pending rows", counted.pending),
        ("oldest row", counted.oldest),
        ("work under way", "none for its entity" if tried.blocker is None else str(tried.blocker)),
        ("last fired (UTC)", tried.trigger.last_fired),
        ("condition met (UTC)", tried.due or "when more rows come"),
        ("next evaluation (UTC)", _next_look(tried)),
    ]


def _next_look(tried: trial.Trial) -> str:
    if tried.next_look is None:
        lacks = "it is disabled" if not tried.trigger.enabled else "the ProcessingMode of its batches is as it is"
        return f"never, as long as {lacks}"
    every = f"{tried.poll_interval.total_seconds():g} s"
    return f"{tried.next_look:%Y-%m-%d %H:%M:%S} at the latest: every {every} while a controller runs"


def _next(tried: trial.Trial) -> list[str]:
    if tried.blocker is not None and tried.blocker.instance_id is not None:
        return [f"batchctl why {tried.blocker.instance_id}"]
    if tried.blocker is not None:
        return [f"batchctl why file:{tried.blocker.intake_id}"]
    if not tried.trigger.enabled:
        return ["set Enabled of its row in DataTrigger to 1"]
    if not tried.is_let:
        return ["batchctl mode BATCH triggered --reason TEXT"]
    return ["batchctl log --source trigger"]
