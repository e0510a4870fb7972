"""`batchctl agent`: carries steps of pools, and polls a console for them."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from contextlib import closing

import click

from batchctl.cli import output
from batchctl.cli.engine_commands import signals_to
from batchctl.cli.lazily import lazily
from batchctl.cli.main import INTERRUPTED
from batchctl.cli.session import CliSession, WholeNumber, pass_session

with lazily():
    from batchctl import agent_node, config
    from batchctl.domain import rule_texts


@click.command()
@click.option("--server", metavar="URL", help="The console; without it, what [agent] server of batchctl.toml says.")
@click.option(
    "--pool", "pools", multiple=True, required=True, metavar="NAME", help="Carry steps of this pool; may be repeated."
)
@click.option("--slots", type=WholeNumber(1, 64), metavar="N", help="Steps at once; 1, or the setting, unless given.")
@click.option("--resources", metavar="TEXT", help="What this host has for Needs of steps, such as GPU=1,MEMORY=8e9.")
@pass_session
def agent(
    session: CliSession, server: str | None, pools: tuple[str, ...], slots: int | None, resources: str | None
) -> None:
    """Carry steps of pools for controllers: poll a console for what they ask, and answer, until interrupted.

    It needs no login to the control database, and nothing connects to it. [agent] of batchctl.toml says which token it
    shows. The first Ctrl-C or SIGTERM takes nothing new and waits for the running steps; a second one waits no longer.
    """
    settings = config.load(session.config)
    has = {} if resources is None else _read(resources)
    linked = agent_node.linked_agent(settings, server, pools, slots or settings.slots, has, output.say)
    with closing(linked.agent), signals_to(linked.stop) as received:
        linked.run()
    if len(received) > 1 and signal.SIGINT in received:
        raise click.exceptions.Exit(INTERRUPTED)


def _read(resources: str) -> Mapping[str, float]:
    try:
        return rule_texts.needs_of(resources)
    except ValueError as error:
        message = str(error).replace("Needs", "--resources", 1)
        raise click.UsageError(f"{message}.") from None
