"""What only the target databases know of the definitions: whether they answer, and have the procedures that steps call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

from batchctl import config
from batchctl.config import Settings
from batchctl.domain import urls
from batchctl.domain.errors import BatchctlError
from batchctl.domain.outcomes import RowFinding
from batchctl.domain.rows import BatchDefinition, Step
from batchctl.domain.text import in_short, visible
from batchctl.operations.definitions.checking import lacks_procedure
from batchctl.ports import Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.maintenance import examination
from batchctl.system.concurrency.time_limits import all_within

CALLS = "stored_procedure"
LIMIT = timedelta(seconds=20)
"""How long all of them may take; an attempt to connect is given up after 10 seconds."""
_SEE = "see that the server is there, and that the url of [connections.{name}] fits"

Call = tuple[BatchDefinition, Step]


def findings(transactions: Transactions, settings: Settings) -> tuple[RowFinding, ...]:
    """Ask every connection that steps name, all at once; one that is not configured is reported by other checks."""
    with transactions.read() as connection:
        batches = definitions.all_batches(connection)
    calls: dict[str, list[Call]] = {}
    for batch in batches:
        for step in batch.steps:
            if step.data[0] in settings.connections:
                calls.setdefault(str(step.data[0]), []).append((batch, step))
    asking: dict[str, list[BatchDefinition]] = {}
    for batch in batches:
        name = (batch.populator_args or "").strip()
        if batch.populating_procedure and name in settings.connections:
            asking.setdefault(name, []).append(batch)
    names = list(dict.fromkeys([*calls, *asking]))
    asked = {name: partial(_of, settings, name, calls.get(name, []), asking.get(name, [])) for name in names}
    found = all_within(LIMIT, asked)
    return tuple(one for name in names for one in found.get(name, [_silent(name)]))


def _of(settings: Settings, name: str, calls: Sequence[Call], asking: Sequence[BatchDefinition]) -> list[RowFinding]:
    try:
        opened = examination.open_target(config.connection_url(settings, name), settings.directory)
        with examination.looking_at(opened, name) as connection:
            lacking = [finding for batch in asking if (finding := lacks_procedure(connection, batch))]
            return [*_missing(connection, name, calls), *lacking]
    except BatchctlError as error:
        return [_failure(name, error.message, error.next_step)]
    except Exception as error:  # noqa: BLE001 - drivers raise anything, and one must not hide what the others say
        passwords = [*config.known_secrets(settings)]
        return [_failure(name, urls.redacted(in_short(error), passwords), None)]


def _missing(connection: Connection, name: str, calls: Sequence[Call]) -> Iterator[RowFinding]:
    known: dict[str, bool] = {}
    for batch, step in calls:
        procedure = step.data[1]
        if step.process_type != CALLS or not procedure:
            continue
        if procedure not in known:
            known[procedure] = examination.has_procedure(connection, procedure)
        if not known[procedure]:
            row = f"{visible(batch.name)}, step {step.seq} '{visible(step.name)}'"
            message = f"Connection '{visible(name)}' has no procedure '{visible(procedure)}' that its user can call so."
            remedy = "make the procedure, or correct the row"
            yield RowFinding("ProcessControl", row, "Data2", message, remedy)


def _failure(name: str, wording: str, next_step: str | None) -> RowFinding:
    message = f"It cannot be connected to: {visible(wording)}"
    return RowFinding(
        "(configuration)", f"connections.{visible(name)}", "", message, next_step or _SEE.format(name=name)
    )


def _silent(name: str) -> RowFinding:
    return _failure(name, f"it did not answer within {LIMIT.total_seconds():g} seconds.", None)
