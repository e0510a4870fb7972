"""`batchctl agent`: carries steps of pools, and polls a console for them."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from batchctl.cli import output
from batchctl.cli.interrupts import signals_to
from batchctl.cli.lazily import lazily
from batchctl.cli.main import INTERRUPTED
from batchctl.cli.session import FINDINGS, CliSession, WholeNumber, as_json, pass_session

with lazily():
    from batchctl import agent_node, config
    from batchctl.domain import rule_texts
    from batchctl.domain.text import typed

if TYPE_CHECKING:
    from batchctl.system.remote.agent_link import AgentLink


@click.command()
@click.option("--server", metavar="URL", help="The console; without it, what [agent] server of batchctl.toml says.")
@click.option(
    "--pool", "pools", multiple=True, required=True, metavar="NAME", help="Carry steps of this pool; may be repeated."
)
@click.option("--slots", type=WholeNumber(1, 64), metavar="N", help="Steps at once; 1, or the setting, unless given.")
@click.option("--resources", metavar="TEXT", help="What this host has for Needs of steps, such as GPU=1,MEMORY=8e9.")
@click.option(
    "--check", "checks_only", is_flag=True, help="Begin nothing: look whether the console and all secrets are there."
)
@as_json
@pass_session
def agent(
    session: CliSession,
    server: str | None,
    pools: tuple[str, ...],
    slots: int | None,
    resources: str | None,
    checks_only: bool,
    as_json: bool,
) -> None:
    """Carry steps of pools for controllers: poll a console for what they ask, and answer, until interrupted.

    It needs no login to the control database, and nothing connects to it. [agent] of batchctl.toml says which token it
    shows. The first Ctrl-C or SIGTERM takes nothing new and waits for the running steps; a second one waits no longer.
    --check ends with exit code 6 where something is missing.
    """
    if as_json and not checks_only:
        message = "--json goes with --check."
        raise click.UsageError(message)
    named = [*dict.fromkeys(one.strip().lower() for one in pools)]
    if "" in named:
        message = "--pool '' names no pool."
        raise click.UsageError(message)
    settings = config.load(session.config)
    has = {} if resources is None else _read(resources)
    linked = agent_node.linked_agent(settings, server, named, slots or settings.slots, has, output.say)
    if checks_only:
        with closing(linked.agent):
            _check(settings, linked, named, has, as_json=as_json)
        return
    with closing(linked.agent), signals_to(linked.stop) as received:
        linked.run()
    if len(received) > 1 and signal.SIGINT in received:
        raise click.exceptions.Exit(INTERRUPTED)


def _check(
    settings: config.Settings,
    linked: AgentLink,
    pools: Sequence[str],
    resources: Mapping[str, float],
    *,
    as_json: bool,
) -> None:
    """Show what the agent of this host has, and what fails there."""
    facts = linked.agent.facts
    shown = {
        "Console": linked.client.server,
        "Pools": [*pools],
        "Slots": facts.slots,
        "Resources": [f"{name}={amount:g}" for name, amount in resources.items()],
        "Host": facts.host,
        "User": facts.user,
        "Directory": facts.directory,
        "Version": facts.version,
        "Handlers": [*facts.process_types],
    }
    found = [*agent_node.failures(settings, linked)]
    if as_json:
        output.print_json({**shown, "Findings": [{"Message": message, "Next": mend} for message, mend in found]})
    else:
        joined = ((name, ", ".join(has) if isinstance(has, list) else has) for name, has in shown.items())
        output.properties((name, has or None) for name, has in joined)
        for message, mend in found:
            output.say(f"Error: {message} Next: {mend}")
    if found:
        raise click.exceptions.Exit(FINDINGS)
    if as_json:
        return
    output.line("The console takes the token for these pools.")
    output.hints(f"batchctl agent --pool {typed(pools[0])} ...   (the same without --check)")


def _read(resources: str) -> Mapping[str, float]:
    try:
        return rule_texts.needs_of(resources)
    except ValueError as error:
        message = str(error).replace("Needs", "--resources", 1)
        raise click.UsageError(f"{message}.") from None
