"""What batches say and nothing can be made of, though they can be read and go on: one evaluator for incidents and every face."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from batchctl.domain import dead_ends
from batchctl.domain.alerting.expectations import Expected, unfit_columns
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.rows import BatchDefinition, MissingPlugin
from batchctl.store.scheduling import calendars


def of_batch(
    connection: Any, batch: BatchDefinition, known: Collection[MissingPlugin], now: datetime
) -> tuple[IncidentSign, ...]:
    """Return it of one batch, and what it names that is not installed, but for what is `known` already."""
    from batchctl.store.alerting import evidence  # noqa: PLC0415 - who looks at no single batch loads none of its statements

    messages = {one.message for one in known}
    missing = [one for one in dead_ends.not_installed(batch, now) if one.message not in messages]
    expected = evidence.expected_of(connection, batch.batch_id)
    return (*missing, *of_batches([batch], expected, calendars.names(connection), now))


def of_batches(
    batches: Iterable[BatchDefinition], expected: Iterable[Expected], calendar_names: Collection[str], now: datetime
) -> Iterator[IncidentSign]:
    """Yield what is needed of more units than there are, a populator's expression, or when work is expected."""
    for batch in batches:
        yield from dead_ends.short_of_units(batch, now)
        yield from of_populator(batch, now)
    for one in expected:
        for column, said in unfit_columns(one, calendar_names):
            yield dead_ends.misread_column(one.batch_id, one.name, column, said, now)


def of_populator(batch: BatchDefinition, now: datetime) -> Iterator[IncidentSign]:
    """Yield what is wrong with what a batch tells its populator; only of our own it can be asked here: another may hang."""
    if batch.populator != "pattern" or not (batch.populator_args or batch.populator_on):
        return
    from batchctl.populators.pattern import PATTERN  # noqa: PLC0415 - who asks for a row loads no plugin

    for finding in PATTERN.check(batch):
        yield dead_ends.misread_column(batch.batch_id, batch.name, finding.column, finding.message, now)
