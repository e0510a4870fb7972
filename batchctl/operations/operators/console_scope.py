"""A user of the console may be let act on the batches with one tag only."""

from __future__ import annotations

from batchctl.domain.errors import Refused
from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.domain.text import visible
from batchctl.operations import unknown
from batchctl.ports import Transactions
from batchctl.store import Connection, instances
from batchctl.store.alerting import incident_rows
from batchctl.store.definitions import definitions


def check(
    transactions: Transactions,
    tag: str,
    *,
    batch: str | None = None,
    instance_id: InstanceId | None = None,
    incident_id: IncidentId | None = None,
) -> None:
    """Refuse an act on what does not belong to a batch with the tag; what is not there is refused elsewhere."""
    with transactions.read() as connection:
        batches = definitions.all_batches(connection)
        batch_id = _batch_id(connection, instance_id, incident_id)
        found = next((one for one in batches if one.batch_id == batch_id), None)
        if batch is not None:
            found = unknown.named(connection, batches, batch)
    if found is None or tag.casefold() not in {one.casefold() for one in found.tags}:
        of = "this act is about no such batch" if found is None else f"batch {visible(found.name)} is none of them"
        message = f"You act only on batches with the tag {visible(tag)}, and {of}."
        raise Refused(message, next_step="ask somebody without a tag; batchctl web user list shows the tags")


def _batch_id(connection: Connection, instance_id: InstanceId | None, incident_id: IncidentId | None) -> BatchId | None:
    if instance_id is not None:
        instance = instances.load(connection, instance_id)
        return None if instance is None else instance.batch_id
    if incident_id is not None:
        incident = incident_rows.load(connection, incident_id)
        return None if incident is None else incident.batch_id
    return None
