"""`batchctl pool test`: whether the agents of a pool can carry steps."""

from __future__ import annotations

import click

from batchctl import pool_trial
from batchctl.cli import output
from batchctl.cli.session import FAILED, CliSession, reads_rows
from batchctl.domain.status import PoolKind
from batchctl.domain.text import typed


@click.group()
def pool() -> None:
    """Try pools whose steps agents carry: `[pools.NAME]` of batchctl.toml says how they are reached."""


@pool.command()
@click.argument("name", metavar="POOL")
@reads_rows
def test(session: CliSession, name: str, as_json: bool) -> None:
    """Try each agent of POOL: what it has, how far its clock is off, and a step that does nothing.

    Exit code 1 when no step runs on one of them, or there is none.
    """
    found = pool_trial.try_pool(session.app, name)
    if as_json:
        output.print_list(pool_trial.AGENTS, found)
    else:
        _show(name, found, is_dask=session.app.settings.agent_pools[name.strip().lower()].kind == PoolKind.DASK.value)
    if not found or any(one.failure for one in found):
        raise click.exceptions.Exit(FAILED)


def _show(name: str, found: tuple[pool_trial.AgentTrial, ...], *, is_dask: bool) -> None:
    if not found:
        why = "its cluster has no worker" if is_dask else "no batchctl agent polls for it"
        output.say(f"Pool {name} has no agent: {why}.")
        output.hints("dask worker ADDRESS" if is_dask else f"batchctl agent --pool {typed(name)}   (on its host)")
        return
    output.show_list(pool_trial.AGENTS, found)
    for one in found:
        for note in one.notes:
            output.say(f"Note: {note}")
    output.hints("batchctl run", "batchctl pools")
