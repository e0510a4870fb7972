"""`batchctl output`."""

from __future__ import annotations

import click

from batchctl.cli import output as printing
from batchctl.cli.session import INSTANCE_ID, LARGEST_ID, CliSession, WholeNumber, reads
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import HistoryStatus
from batchctl.operations import output_reading


@click.command()
@click.argument("instance_id", metavar="ID", type=INSTANCE_ID)
@click.option("--follow", is_flag=True, help="Go on until the attempt has ended.")
@click.option("--step", "seq", type=WholeNumber(0, LARGEST_ID), metavar="SEQ", help="The last attempt at this step.")
@click.option("--attempt", type=WholeNumber(1, LARGEST_ID), metavar="N", help="This attempt, by its AttemptNo.")
@reads
def output(
    session: CliSession, instance_id: int, follow: bool, seq: int | None, attempt: int | None, as_json: bool
) -> None:
    """Print what the current or last attempt of an instance has written: ID is a BatchControl id.

    While it runs, that is the newest 64 kB, at most about 3 seconds old, wherever it runs. A control database that
    cannot be reached meanwhile is waited for, up to 5 minutes.
    """
    if follow and as_json:
        raise click.UsageError("--follow prints the text as it comes; it does not go with --json.")
    transactions = session.app.transactions
    found = output_reading.of_instance(transactions, InstanceId(instance_id), seq, attempt)
    if as_json:
        printing.print_json(output_reading.as_json(found))
        return
    if follow:
        following = output_reading.Following(transactions, session.app.clock, _say_failure)
        for text in following.texts(found):
            printing.piece(text)
        return
    printing.piece(found.text)
    if found.entry.status is HistoryStatus.ASKED:
        printing.say(f"It waits for the answer of a person. Next: batchctl show {instance_id}")
    elif found.is_running:
        printing.say(f"It is running still. Next: batchctl output {instance_id} --follow")
    elif not found.text:
        printing.say("That attempt has written nothing.")


def _say_failure(message: str) -> None:
    printing.say(f"Note: still following, although: {message}")
