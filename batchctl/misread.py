"""What batches say that can be read but not used, while they go on: one evaluator for incidents and every interface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from batchctl.domain import dead_ends
from batchctl.domain.alerting.expectations import Expected, unfit_columns
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.rows import BatchDefinition, MissingPlugin
from batchctl.store import Connection
from batchctl.store.one_look import ask_ahead
from batchctl.store.scheduling import calendars


def of_batch(
    connection: Connection, batch: BatchDefinition, known: Collection[MissingPlugin], now: datetime
) -> tuple[IncidentSign, ...]:
    """Return the findings of one batch, also what it names that is not installed, except what is `known` already."""
    from batchctl.store.alerting import evidence  # noqa: PLC0415 - a caller that looks at all batches needs none of it

    messages = {one.message for one in known}
    missing = [one for one in dead_ends.not_installed(batch, now) if one.message not in messages]
    ask_ahead(connection, (evidence.EXPECTED_OF, {"batch_id": batch.batch_id}), (calendars.NAMES, {}))
    expected = evidence.expected_of(connection, batch.batch_id)
    return (*missing, *of_batches([batch], expected, calendars.names(connection), now))


def of_batches(
    batches: Iterable[BatchDefinition], expected: Iterable[Expected], calendar_names: Collection[str], now: datetime
) -> Iterator[IncidentSign]:
    """Yield a need for more units than there are, a populator's expression, or the time when work is expected."""
    for batch in batches:
        yield from dead_ends.short_of_units(batch, now)
        yield from of_populator(batch, now)
    for one in expected:
        for column, said in unfit_columns(one, calendar_names):
            yield dead_ends.misread_column(one.batch_id, one.name, column, said, now)


def of_populator(batch: BatchDefinition, now: datetime) -> Iterator[IncidentSign]:
    """Yield what is wrong with the arguments of a populator; only our own can be asked here: another may hang."""
    if batch.populator != "pattern" or not (batch.populator_args or batch.populator_on):
        return
    from batchctl.populators.pattern import PATTERN  # noqa: PLC0415 - a command that asks for a row loads no plugin

    for finding in PATTERN.check(batch):
        yield dead_ends.misread_column(batch.batch_id, batch.name, finding.column, finding.message, now)
