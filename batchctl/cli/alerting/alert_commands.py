"""`batchctl alert`: the channels through which people get alerts, and whether they, and a controller, work."""

from __future__ import annotations

import click

from batchctl.cli import output, progress
from batchctl.cli.lazily import load_all
from batchctl.cli.session import FAILED, FINDINGS, CliSession, pass_session, reads_rows
from batchctl.domain.error_codes import NOT_SENT
from batchctl.domain.text import visible
from batchctl.operations.alerting import alert_channels


@click.group()
def alert() -> None:
    """See the channels for alerts, try them, or look from outside whether a controller works."""


@alert.command("list")
@reads_rows
def list_channels(session: CliSession, as_json: bool) -> None:
    """List the channels of the configuration, what is wrong with each, and its last message."""
    app = session.app
    found = alert_channels.channels(app.transactions, app.settings)
    if as_json:
        output.print_list(alert_channels.CHANNELS, found)
        return
    if not found:
        output.line("No channel is configured: incidents are listed, and no alert is sent.")
        output.hints("batchctl incidents   (docs/alerts.md says how a channel is configured)")
        return
    output.show_list(alert_channels.CHANNELS, found)
    broken = [one for one in found if one.finding is not None]
    output.hints(broken[0].remedy if broken else "batchctl alert test")


@alert.command()
@click.argument("channel", required=False)
@pass_session
def test(session: CliSession, channel: str | None) -> None:
    """Send a test message now, through CHANNEL or through all of them; exit 1 when one cannot be sent."""
    load_all()
    app = session.app
    outcomes = alert_channels.try_out(app.settings, app.send_alert, app.ids, channel)
    for name, failure in outcomes.items():
        said = "a test message was sent" if failure is None else failure
        click.echo(f"{visible(name)}: {visible(said)}", err=failure is not None)
    silent = [visible(name) for name, failure in outcomes.items() if failure is not None]
    if silent:
        output.warn(f"a test message could not be sent through {', '.join(silent)}", NOT_SENT, "batchctl alert list")
        raise click.exceptions.Exit(FAILED)


@alert.command()
@click.option("--once", "_once", is_flag=True, expose_value=False, help="Accepted; it always looks once.")
@pass_session
def watch(session: CliSession) -> None:
    """Look once whether a controller works, and alert people if none does. For cron: exit code 6 when none works.

    If none works, this command also looks after all other incidents, and sends the alerts that wait.
    """
    with progress.watched(session) as node:
        living = node.look_for_nobody()
    if not living:
        click.echo("No controller works.", err=True)
        click.echo("Next: batchctl run   (batchctl incidents lists what needs a person)", err=True)
        raise click.exceptions.Exit(FINDINGS)
    click.echo(f"{visible(', '.join(living))} {'works' if len(living) == 1 else 'work'}.")
