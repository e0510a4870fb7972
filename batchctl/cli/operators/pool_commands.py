"""`batchctl pools, drain, undrain`: where steps run, and letting nothing new begin there."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, acts, as_json, reads_rows
from batchctl.domain.operators.pools import Place, Pools, to_serve, to_test, undraining, wording
from batchctl.domain.text import visible
from batchctl.operations import pool_standing, shown_columns
from batchctl.operations.operators import pooling

_name = click.argument("name", metavar="[HOST|POOL]", required=False)
_host = click.option("--host", metavar="HOST", help="This host, also where no controller has run on it yet.")
_pool = click.option("--pool", metavar="POOL", help="This pool, also where a host has the same name.")


@click.command()
@reads_rows
def pools(session: CliSession, as_json: bool) -> None:
    """List the pools: who serves each, how many steps are under way in it, and how many instances wait for it."""
    app = session.app
    found = pool_standing.everything(app.transactions, app.clock, app.presence)
    if as_json:
        output.print_list(pool_standing.POOLS, found)
        return
    output.show_list(pool_standing.for_people(found), found)
    for one in found:
        if one.held_by is not None:
            output.say(f"Note: {wording(one.held_by)}.")
    without = next((one for one in found if one.waiting and not one.serving), None)
    agentless = next((one for one in found if one.waiting and one.agents is not None and not one.agents.agents), None)
    drained = next((one.held_by for one in found if one.held_by is not None), None)
    if drained is not None:
        output.hints(undraining(drained))
    elif without is not None:
        output.hints(to_serve(without.name, without.pool))
    elif agentless is not None:
        output.hints(to_test(agentless.name))
    else:
        output.hints("batchctl controllers")


def tell_unserved(session: CliSession) -> bool:
    """Say after a pass for which pools something waits that nothing carries; say whether there are any."""
    app = session.app
    found = pool_standing.everything(app.transactions, app.clock, app.presence)
    left = [one for one in found if one.waiting and not one.serving and one.held_by is None]
    known = Pools({one.name: one.pool for one in left if one.pool is not None})
    served = known.servable(app.pools, app.settings.agent_pools)
    unserved = [one for one in left if one.name not in served]
    agentless = [one for one in left if one.name in served and one.name in app.settings.agent_pools]
    for one in unserved:
        output.say(f"Note: neither this controller nor another one serves pool {visible(one.name)}; {_in_line(one)}.")
    for one in agentless:
        output.say(f"Note: no agent of pool {visible(one.name)} takes more now; {_in_line(one)}.")
    for mend in dict.fromkeys(
        [*(to_serve(one.name, one.pool) for one in unserved), *(to_test(one.name) for one in agentless)]
    ):
        output.say(f"Next: {mend}")
    return bool(unserved or agentless)


def _in_line(pool: pool_standing.PoolStanding) -> str:
    return f"in line: {output.counted(pool.waiting, 'instance')}"


@click.command()
@_name
@_host
@_pool
@acts(needs_reason=True)
@as_json
def drain(
    session: CliSession,
    name: str | None,
    host: str | None,
    pool: str | None,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Let nothing new begin on a host, or in a pool, until it is undrained; what runs there ends.

    An instance goes on elsewhere with its next step. `batchctl wait --drained HOST|POOL` returns once nothing runs there.
    """
    done = pooling.Drainer(session.app.actor(dry_run=dry_run)).drain(name, _place(name, host, pool), reason=reason)
    if as_json:
        output.print_json({**shown_columns.of(done.drain), "New": done.is_new, "UnderWay": done.under_way})
        return
    if not done.is_new:
        click.echo(f"It is drained already: {wording(done.drain)}.")
    else:
        click.echo(f"{'Would be drained' if done.dry_run else 'Drained'}: {done.drain.place}.")
    if done.unknown_host is not None:
        output.say(f"Note: {done.unknown_host}")
    many = f"{done.under_way} instance{'' if done.under_way == 1 else 's'}"
    output.say(f"Nothing new begins there; {many} {'has' if done.under_way == 1 else 'have'} a step under way there.")
    output.say(
        "Next: the same without --dry-run"
        if done.dry_run and done.is_new
        else f"Next: batchctl wait --drained {done.drain.place.name}; then {undraining(done.drain)}"
    )


@click.command()
@_name
@_host
@_pool
@acts(needs_reason=True)
@as_json
def undrain(
    session: CliSession,
    name: str | None,
    host: str | None,
    pool: str | None,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """End the drain of a host or a pool: steps begin there again."""
    done = pooling.Drainer(session.app.actor(dry_run=dry_run)).undrain(name, _place(name, host, pool), reason=reason)
    if as_json:
        output.print_json({"Undrained": [shown_columns.of(one) for one in done.drains]})
        return
    if not done.drains:
        click.echo(f"The {done.place} is not drained: there is nothing to end.")
        return
    what, verb = ("Would be undrained", "is") if done.dry_run else ("Undrained", "was")
    for one in done.drains:
        click.echo(f"{what}: {wording(one, verb)}.")
    output.say("Next: the same without --dry-run" if done.dry_run else "Next: batchctl pools")


def _place(name: str | None, host: str | None, pool: str | None) -> Place | None:
    """Return what the options name; None where the name alone says it."""
    if sum(each is not None for each in (name, host, pool)) != 1:
        raise click.UsageError("Name one host or one pool: HOST, POOL, --host HOST or --pool POOL.")
    return None if name is not None else Place(host, pool)
