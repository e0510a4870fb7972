"""`batchctl forecast`: when the batches of the night will be ready."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import click

from batchctl.cli import output
from batchctl.cli.dependencies import forecast_lines
from batchctl.cli.session import CliSession, batch_names, reads_rows
from batchctl.domain.text import typed, visible
from batchctl.operations.dependencies import forecast_check, forecasting, ready_times

_SUPPOSE = 'Suppose something, such as "LoadOrders.20 *2", "resource \'ftp server\'=5", "arrive Orders=03:30".'


@click.command()
@click.argument("batch", metavar="[BATCH]", required=False, shell_complete=batch_names)
@click.option("--by", metavar="HH:MM", help="Show the chance of being ready by then.  [default: FinishBy]")
@click.option("--cycle-key", metavar="K", help="The instance of this CycleKey.  [default: the one ready first]")
@click.option("--what-if", "what_ifs", metavar="TEXT", multiple=True, help=_SUPPOSE)
@click.option("--check", "is_check", is_flag=True, help="Show what came of the forecasts that were kept.")
@reads_rows
def forecast(
    session: CliSession,
    batch: str | None,
    by: str | None,
    cycle_key: str | None,
    what_ifs: tuple[str, ...],
    is_check: bool,
    as_json: bool,
) -> None:
    """Show when BATCH will be ready, with which chance, and what decides; without BATCH, all that comes within 24 hours.

    Past nights are replayed in virtual time by the rules by which controllers start work, from what has happened tonight.
    """
    if batch is None and cycle_key is not None:
        raise click.UsageError("--cycle-key is of one batch: name it.")
    app = session.app
    if is_check:
        if by is not None or cycle_key is not None or what_ifs:
            raise click.UsageError("--check goes with no other option: it shows what came of forecasts.")
        _check(session, batch, as_json)
        return
    forecaster = forecasting.Forecaster(app.timetable(), app.presence, what_ifs, by)
    found = forecaster.everything() if batch is None else (forecaster.of(batch, cycle_key),)
    if as_json:
        output.print_list(forecasting.FORECASTS, found)
        return
    if batch is None:
        output.show_list(forecasting.FORECASTS, found, if_any=True)
        if not found:
            output.line("Nothing is open, and nothing comes within 24 hours.")
        output.hints(
            *([f"batchctl forecast {typed(found[0].batch)}   (what decides)"] if found else ["batchctl status"])
        )
        return
    _show(found[0], ready_times.helps(app.transactions, batch, found[0].cycle_key), app.settings.zone)


def _check(session: CliSession, batch: str | None, as_json: bool) -> None:
    found = forecast_check.checked(session.app.transactions, batch)
    if as_json:
        output.print_list(forecast_check.CHECKED, found)
        return
    output.show_list(forecast_check.CHECKED, found, if_any=True)
    if not found:
        output.line("Nothing has come yet of a forecast that was kept.")
    output.hints("batchctl forecast")


def _show(one: forecasting.BatchForecast, helps: str | None, zone: ZoneInfo) -> None:
    output.line(
        f"{visible(one.batch)}{'' if one.cycle_key is None else f' for {visible(one.cycle_key)}'}: {forecast_lines.when(one)}"
    )
    if one.by is not None and one.chance is not None:
        output.line(f"Ready by {one.by:%Y-%m-%d %H:%M} UTC{_local(one.by, zone)}: {one.chance:.0%}")
    for text in forecast_lines.because(one):
        output.line(text)
    if helps is not None:
        output.line(f"What would help: {visible(helps)}")
    stand = [f"batchctl show {each.instance_id}   (it is {each.status})" for each in one.standing[:1]]
    output.hints(*stand, f"batchctl why batch:{typed(one.batch)}", "batchctl forecast")


def _local(by: datetime, zone: ZoneInfo) -> str:
    """Say which time the clocks of the business show then, where they are not those of UTC."""
    return "" if zone.key == "UTC" else f" ({by.astimezone(zone):%H:%M} {visible(zone.key)})"
