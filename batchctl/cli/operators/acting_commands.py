"""`batchctl rerun, pause, resume, cancel, skip, enable, disable`: acts, each with its row in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import click

from batchctl.cli import command_texts, output, selecting
from batchctl.cli.operators import release_options
from batchctl.cli.selecting import many_options
from batchctl.cli.session import (
    INSTANCE_ID,
    CliSession,
    WholeNumber,
    acts,
    as_json,
    batch_names,
    can_ask,
    pass_session,
    reason,
    sure,
)
from batchctl.domain.rows import LONG_AGO, BatchInstance, InstanceId
from batchctl.domain.text import did_you_mean, typed, visible
from batchctl.operations import intervene, restart_card, shown_columns
from batchctl.plugin_api import JsonValue

_COLUMNS = {f"data{at}": f"Data{at}" for at in range(1, 7)}

_instance = click.argument("instance_id", metavar="[ID]", required=False, type=INSTANCE_ID)


def _verb(of_many: str | None, *own: Callable[[Any], Any], needs_reason: bool) -> Callable[[Any], click.Command]:
    """Make a command that acts on one instance, or on all that a filter finds; it may have options of its own."""
    common = (many_options(of_many), reason(required=needs_reason), sure, as_json, pass_session)
    options: Sequence[Callable[[Any], Any]] = (_instance, *own, *common)

    def made(function: Any) -> click.Command:
        return click.command()(reduce(lambda inner, option: option(inner), reversed(options), function))

    return made


@_verb(
    "failed",
    click.option("--from", "from_seq", type=WholeNumber(1, 2_000_000_000), metavar="SEQ", help="Begin with this step."),
    click.option(
        "--set", "corrections", multiple=True, metavar="Data3=VALUE", help="Correct a value; may be repeated."
    ),
    needs_reason=True,
)
def rerun(
    session: CliSession,
    /,
    instance_id: int | None,
    from_seq: int | None,
    corrections: Sequence[str],
    reason: str,
    **how: Any,
) -> None:
    """Run an instance again, from the step that failed or from the one --from names; or all that a filter finds.

    ID is a BatchControl id. With --dry-run a card is shown: which steps count as done, the exact commands that would run,
    what is passed over, and what would block it all the same. On a terminal it is shown, and asked about, before anything
    is done.
    """
    values = dict(_correction(text) for text in corrections)

    def act(operator: intervene.Operator, at: InstanceId, seen: BatchInstance | None = None) -> intervene.Intervention:
        as_shown = intervene.ANYHOW if seen is None else intervene.AsShown(mark=seen.mark)
        return operator.rerun(at, reason=reason, from_seq=from_seq, corrections=values, seen=as_shown)

    _do(session, "rerun", act, instance_id, **how)


@_verb(None, needs_reason=False)
def pause(session: CliSession, /, instance_id: int | None, reason: str | None, **how: Any) -> None:
    """Let nothing more of an instance start, or of all that a filter finds; a step that runs ends first."""
    _do(session, "pause", lambda operator, at: operator.pause(at, reason=reason), instance_id, **how)


@_verb("paused", needs_reason=False)
def resume(session: CliSession, /, instance_id: int | None, reason: str | None, **how: Any) -> None:
    """Let a paused instance go on where it stood, or all that a filter finds."""
    _do(session, "resume", lambda operator, at: operator.resume(at, reason=reason), instance_id, **how)


@_verb(None, needs_reason=True)
def cancel(session: CliSession, /, instance_id: int | None, reason: str, **how: Any) -> None:
    """Give an instance up, or all that a filter finds; a step that runs is stopped.

    On a terminal it asks before it stops one.
    """
    _do(session, "cancel", lambda operator, at: operator.cancel(at, reason=reason), instance_id, **how)


@_verb("failed", needs_reason=True)
def skip(session: CliSession, /, instance_id: int | None, reason: str, **how: Any) -> None:
    """Go on without the step that is next, of one instance or of all that a filter finds; the history keeps who and why."""
    _do(session, "skip", lambda operator, at: operator.skip(at, reason=reason), instance_id, **how)


_QUESTIONS = {"rerun": "Run it again so?", "cancel": "A step of it is running. Stop that, and give the instance up?"}
"""What is asked on a terminal before it is done."""


def _do(
    session: CliSession,
    verb: str,
    act: Callable[..., intervene.Intervention],
    instance_id: int | None,
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    **many: Any,
) -> None:
    """Act on the one instance that is named, or on those that a filter finds."""
    if selecting.is_of_many(instance_id, many):
        operator = session.app.operator(dry_run=False)
        selecting.act_on_many(operator, verb, act, many, yes=yes, dry_run=dry_run, as_json=as_json)
        return
    at, seen = InstanceId(instance_id or 0), {}
    if verb in _QUESTIONS and can_ask() and not (yes or dry_run or as_json):
        planned = act(session.app.operator(dry_run=True), at)
        if verb == "rerun":
            seen = {"seen": planned.before}
        # To give up what waits takes nothing back that has begun.
        if verb == "rerun" or planned.before.status.is_claimed:
            show(planned, asking=True)
            click.confirm(_QUESTIONS[verb], abort=True, err=True)
    # Who has seen the card knows.
    is_unseen = verb == "rerun" and not (seen or dry_run)
    operator = session.app.operator(dry_run=dry_run)
    done = act(operator, at, **seen)
    refused = operator.refused(done) if is_unseen else ()
    if done.at_work_still is not None and is_unseen:
        output.say(f"Warning: {done.at_work_still}. Next: batchctl history {at}")
    for one in refused:
        output.say(f"Warning: step {one.seq} would not run: {one.refused}")
    if as_json:
        output.warn_of_missing(done.missing)
        output.warn_of_misread(done.misread)
        output.print_json(done.columns())
    else:
        show(done)


@click.command()
@click.argument("batch", shell_complete=batch_names)
@release_options.release_options
@reason(required=False)
@sure
@pass_session
def enable(
    session: CliSession,
    batch: str,
    release: str | None,
    throttle: int | None,
    reason: str | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Switch a batch on: its instances may start.

    Where more than one has waited, it says so first and, on a terminal, asks what is to become of them; elsewhere --release,
    --throttle or --yes (all of them) has to say it.
    """
    chosen = release_options.chosen(release, throttle, yes=yes)
    if release_options.should_ask(chosen, dry_run=dry_run):
        planned = session.app.operator(dry_run=True).set_enabled(batch, enabled=True, reason=reason)
        chosen = release_options.asked(planned.released)
    operator = session.app.operator(dry_run=dry_run)
    _show_switching(operator.set_enabled(batch, enabled=True, reason=reason, choice=chosen))


@click.command()
@click.argument("batch", shell_complete=batch_names)
@acts(needs_reason=False)
def disable(session: CliSession, batch: str, reason: str | None, dry_run: bool) -> None:
    """Switch a batch off: its instances are created and wait; a step that runs ends first."""
    _show_switching(session.app.operator(dry_run=dry_run).set_enabled(batch, enabled=False, reason=reason))


def _correction(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    column = _COLUMNS.get(name.strip().lower())
    if not equals:
        raise click.BadParameter(f"'{visible(text)}' has no '='; write Data3=VALUE.", param_hint="--set")
    if column is None:
        meant = did_you_mean(name, _COLUMNS.values())
        raise click.BadParameter(f"An instance has no '{visible(name)}'.{meant}", param_hint="--set")
    return column, value


def show(done: intervene.Intervention, *, asking: bool = False) -> None:
    """Show what an act has made of an instance, or would, and what to type next."""
    at = done.before.instance_id
    would = "would become" if done.dry_run else "is now"
    subject = f"BatchControl {at} of batch {done.batch} {would} {done.after.status}"
    output.line(f"{subject} (it was {done.before.status}).")
    for step in done.skipped:
        skipped = "would be skipped: it would count as done" if done.dry_run else "is skipped: it counts as done"
        output.line(f"Step {step.seq} '{visible(step.name)}' {skipped}.")
    if done.under_way is not None:
        output.line(f"Step {done.under_way.seq} '{visible(done.under_way.name)}' is under way and goes on.")
    before, after = shown_columns.changes(shown_columns.of(done.before), shown_columns.of(done.after))
    rows = [(name, _wording(before[name]), _wording(after[name])) for name in before if name != "Status"]
    if rows:
        output.table(None, ["column", "before", "after"], rows)
    if done.in_vain is not None:
        output.say(f"Note: {done.in_vain}")
    output.warn_of_missing(done.missing)
    output.warn_of_misread(done.misread)
    if done.corrected is not None:
        output.say(f"Note: {done.corrected.wording}.")
    if done.card is not None:
        _show_card(done.card)
    if done.dry_run:
        titled = ((f"{at.title}:", at.text) for at in done.commands)
        command_texts.show_each(titled)
        for one in done.commands:
            if one.refused is not None:
                output.line(f"Step {one.seq} would not run: {one.refused}", "bold red")
        if not asking:
            output.hints(*_after_looking(done))
        return
    output.hints(*_next(done))


def _after_looking(done: intervene.Intervention) -> list[str]:
    """Return what to type after a dry run; a file that is wrong is not put right by a value that nothing uses."""
    same = "the same command without --dry-run"
    if not done.unused:
        return [same]
    in_vain = f"{same}   (what is left runs as if {' and '.join(done.unused)} were not corrected)"
    if not done.uses_file_name:
        return [in_vain]
    right = f"batchctl submit {typed(done.before.entity)} --file FILE"
    give_up = f"batchctl cancel {done.before.instance_id} --reason ..."
    return [f"{right}, then: {give_up}   (if FileName is wrong)", in_vain]


def _wording(value: JsonValue) -> object:
    """Return a value in words where it is a time that is long over, before which nothing starts."""
    return "at once" if value == shown_columns.moment(LONG_AGO) else value


def _show_card(card: restart_card.Card) -> None:
    if card.assumed:
        output.line("These steps count as done:", "bold")
        for one in card.assumed:
            output.line(f"  {one.seq} {one.name}: {one.wording}")
    if card.bypassed:
        output.line("This is passed over:", "bold")
        for said in card.bypassed:
            output.line(f"  {said}")
    for gate in card.blocking:
        clear = "" if gate.clear is None else f": {gate.clear}"
        output.line(f"It will not start yet ({gate.name}): {gate.blocked}{clear}", "bold red")


def _next(done: intervene.Intervention) -> list[str]:
    at, corrected = done.after.instance_id, [] if done.corrected is None else [done.corrected.clear]
    match done.after.status.value:
        case "ready" | "retry":
            return [f"batchctl why {at}   (a running controller goes on by itself; without one: batchctl process)"]
        case "paused":
            return [f"batchctl resume {at}"]
        case "cancelled":
            return [*corrected, f"batchctl rerun {at} --reason ...   (if it is wanted after all)"]
        case "cancelling":
            return [f"batchctl show {at}   (a running controller stops the step; without one: batchctl run --once)"]
        case "complete":
            return [*corrected, f"batchctl history {at}"]
        case _:
            return [f"batchctl show {at}"]


def _show_switching(done: intervene.Switching) -> None:
    word = "enabled" if done.enabled else "disabled"
    if done.enabled_before is done.enabled:
        click.echo(f"Batch {visible(done.batch)} is {word} already.")
    else:
        click.echo(f"Batch {visible(done.batch)} {'would be' if done.dry_run else 'is now'} {word}.")
    output.warn_of_missing(done.missing)
    output.warn_of_misread(done.misread)
    said = release_options.announced(done.released)
    if said is not None:
        click.echo(said)
    is_planned = done.dry_run and done.enabled_before is not done.enabled
    shown = "the same command without --dry-run" if is_planned else f"batchctl why batch:{typed(done.batch)}"
    output.hints(shown)
