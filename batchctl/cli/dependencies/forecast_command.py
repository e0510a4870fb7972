"""`batchctl forecast`: when the batches of the night will be ready."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.dependencies import forecast_lines
from batchctl.cli.session import CliSession, batch_names, reads_rows
from batchctl.domain.text import typed, visible
from batchctl.operations.dependencies import forecasting

_SUPPOSE = 'Suppose something, such as "LoadOrders.20 *2", "resource \'ftp server\'=5", "arrive Orders=03:30".'


@click.command()
@click.argument("batch", metavar="[BATCH]", required=False, shell_complete=batch_names)
@click.option("--by", metavar="HH:MM", help="Show the chance of being ready by then.  [default: FinishBy]")
@click.option("--cycle-key", metavar="K", help="The instance of this CycleKey.  [default: the one ready first]")
@click.option("--what-if", "what_ifs", metavar="TEXT", multiple=True, help=_SUPPOSE)
@reads_rows
def forecast(
    session: CliSession,
    batch: str | None,
    by: str | None,
    cycle_key: str | None,
    what_ifs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show when BATCH will be ready, with which chance, and what decides; without BATCH, all that comes within 24 hours.

    Past nights are replayed in virtual time by the rules by which controllers start work, from what has happened tonight.
    """
    if batch is None and cycle_key is not None:
        raise click.UsageError("--cycle-key is of one batch: name it.")
    app = session.app
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
    _show(found[0])


def _show(one: forecasting.BatchForecast) -> None:
    output.line(
        f"{visible(one.batch)}{'' if one.cycle_key is None else f' for {visible(one.cycle_key)}'}: {forecast_lines.when(one)}"
    )
    if one.by is not None and one.chance is not None:
        output.line(f"Ready by {one.by:%Y-%m-%d %H:%M} UTC: {one.chance:.0%}")
    for text in forecast_lines.because(one):
        output.line(text)
    output.hints(f"batchctl why batch:{typed(one.batch)}", "batchctl forecast")
