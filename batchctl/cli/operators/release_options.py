"""What `enable` and `thaw` have in common: saying, or being asked, what is to become of what has waited."""

from __future__ import annotations

import click

from batchctl.cli.session import Command, WholeNumber, can_ask, one_of
from batchctl.domain.operators.release import MEANINGS, MOST_PER_MINUTE, MOST_UNASKED, Choice, Release
from batchctl.operations.operators import releasing


def release_options(command: Command) -> Command:
    """Give a command the options that say what is to become of what has waited."""
    said = "What becomes of those that wait: latest cancels the older ones, none pauses all, throttle needs --throttle."
    throttled = click.option(
        "--throttle", type=WholeNumber(1, MOST_PER_MINUTE), metavar="N", help="Let at most N of them start a minute."
    )(command)
    return click.option("--release", type=one_of(Release), help=said)(throttled)


def chosen(release: str | None, throttle: int | None, *, yes: bool) -> Choice | None:
    """Return what was chosen by options; None where nothing was."""
    if throttle is not None or release == Release.THROTTLE:
        if throttle is None or release not in {None, Release.THROTTLE}:
            raise click.UsageError("A throttle is --throttle N, and no other --release than that.")
        return Choice(release=Release.THROTTLE, per_minute=throttle)
    if release is not None:
        return Choice(release=Release(release))
    return Choice(release=Release.ALL) if yes else None


def should_ask(choice: Choice | None, *, dry_run: bool) -> bool:
    """Say whether a person has to be asked, and can be."""
    return choice is None and not dry_run and can_ask()


def asked(found: releasing.Released | None) -> Choice | None:
    """Show what would start and ask what is to become of it; do not ask about a single instance."""
    if found is None or found.backlog.total <= MOST_UNASKED:
        return None
    click.echo(found.backlog.wording, err=True)
    if found.backlog.new:
        click.echo("For another choice than all, quit, and first: batchctl create", err=True)
    choices = [Release.ALL] if found.backlog.new else list(Release)
    for release in choices:
        click.echo(f"  {release.value:<8}  {MEANINGS[release]}", err=True)
    # No word that is a verb here: to cancel would give the instances up.
    answer = click.prompt(
        "What is to become of them? (quit leaves all as it is)", type=one_of([*choices, "quit"]), err=True
    )
    if answer == "quit":
        raise click.Abort
    per_minute = (
        click.prompt("How many a minute", type=WholeNumber(1, MOST_PER_MINUTE), err=True)
        if answer == Release.THROTTLE
        else None
    )
    return Choice(release=Release(answer), per_minute=per_minute, seen=found.backlog.ids)


def announced(found: releasing.Released | None) -> str | None:
    """Say what would start, or what becomes of it where a choice was made; None where nothing has waited."""
    if found is None or not found.backlog.total:
        return None
    starts_all = found.choice is None or (found.dry_run and found.choice.release == Release.ALL)
    return found.backlog.wording if starts_all else found.wording
