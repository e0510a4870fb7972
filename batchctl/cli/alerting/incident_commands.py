"""`batchctl incidents, acknowledge, snooze`: what needs a person, and who takes care of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from batchctl import node
from batchctl.cli import output
from batchctl.cli.filtering import filters
from batchctl.cli.session import INSTANCE_ID, ROW_ID, CliSession, acts, reads_rows
from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.domain.status import IncidentStatus
from batchctl.domain.text import visible
from batchctl.operations.alerting import incident_desk
from batchctl.operations.operators import noting


class LengthParameter(click.ParamType[Any]):
    """A length of time, such as 30m or 2h."""

    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read a length of time."""
        length = length_of(str(value))
        if length is None:
            self.fail(f"'{visible(str(value))}' is no length of time; write for example 30m, 2h or 1d.", param, ctx)
        return length


_incident = click.argument("incident_id", metavar="ID", type=ROW_ID, required=False)
_of_instance = click.option(
    "--instance", "instance_id", type=INSTANCE_ID, metavar="ID", help="All about a BatchControl id."
)


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also those that are over, newest first.")
@filters(IncidentStatus, "was opened")
@reads_rows
def incidents(
    session: CliSession, everything: bool, batch: str | None, status: str | None, since: datetime | None, as_json: bool
) -> None:
    """List the problems that people have to know of, since when, and what to type."""
    stands = None if status is None else IncidentStatus(status)
    everything = everything or stands is IncidentStatus.RESOLVED
    app = session.app
    found = incident_desk.listed(app.transactions, everything=everything, batch=batch, status=stands, since=since)
    now = app.clock.now()
    if as_json:
        output.print_list(incident_desk.incidents_at(now), found)
        return
    if found:
        output.show_list(incident_desk.incidents_at(now), found)
    else:
        output.line("No incident stands." if not everything else "There was no incident so far.")
    output.show_list(noting.NOTES, [note for one in found for note in one.notes], if_any=True)
    unknown = [one for one in found if one.status is IncidentStatus.OPEN]
    output.hints(f"batchctl acknowledge {unknown[0].incident_id} --reason ..." if unknown else "batchctl status")


@click.command()
@_incident
@_of_instance
@acts(needs_reason=True)
def acknowledge(
    session: CliSession, incident_id: int | None, instance_id: int | None, reason: str, dry_run: bool
) -> None:
    """Take care of an incident: no more reminders of it are sent. The message that it is over still is."""
    which = _which(incident_id, instance_id)
    _show(node.Node(session.app).incident_desk(dry_run=dry_run).acknowledge(which, reason=reason), dry_run=dry_run)


@click.command()
@_incident
@_of_instance
@click.option("--for", "length", type=LengthParameter(), required=True, metavar="LENGTH", help="Such as 30m, 2h or 1d.")
@acts(needs_reason=True)
def snooze(
    session: CliSession, incident_id: int | None, instance_id: int | None, length: timedelta, reason: str, dry_run: bool
) -> None:
    """Send no reminders of an incident for a while."""
    which = _which(incident_id, instance_id)
    _show(node.Node(session.app).incident_desk(dry_run=dry_run).snooze(which, length, reason=reason), dry_run=dry_run)


def _which(incident_id: int | None, instance_id: int | None) -> incident_desk.Which:
    if (incident_id is None) == (instance_id is None):
        raise click.UsageError("Name an incident, or with --instance the BatchControl id that it is about.")
    if incident_id is not None:
        return incident_desk.Which(incident_id=IncidentId(incident_id))
    return incident_desk.Which(instance_id=InstanceId(instance_id or 0))


def _show(done: Sequence[incident_desk.LookedAfter], *, dry_run: bool) -> None:
    for one in done:
        click.echo(one.wording)
    following = done[0].incident.next_step or "batchctl incidents"
    output.hints("the same command without --dry-run" if dry_run else following)
