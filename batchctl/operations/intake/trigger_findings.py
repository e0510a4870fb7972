"""What is wrong with a trigger's row, as far as the control database and the configuration can tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from batchctl.domain.configuring import how_to_add_connection
from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import BatchDefinition, DataTrigger
from batchctl.domain.text import did_you_mean, is_invisible, visible
from batchctl.domain.unreadable import UnreadableRow, taking
from batchctl.domain.untaken import meant_by


def trigger_findings(
    trigger: DataTrigger,
    batches: Sequence[BatchDefinition],
    connections: Collection[str],
    unreadable: Iterable[UnreadableRow] = (),
) -> Iterator[Finding]:
    """Yield what keeps a trigger from starting work, or makes it start more than anybody can mean."""
    if trigger.name != trigger.name.strip() or any(map(is_invisible, trigger.name)):
        said = f"It holds an invisible character or a blank at an end: '{visible(trigger.name)}'."
        yield Finding("TriggerName", said)
    if trigger.connection not in connections:
        meant = visible(did_you_mean(trigger.connection, connections))
        said = f"Connection '{visible(trigger.connection)}' is not in the configuration.{meant}"
        yield Finding("ConnectionName", said, f"correct the row, or {how_to_add_connection(trigger.connection)}")
    yield from _of_entity(trigger, batches, unreadable)
    yield from _of_conditions(trigger)


def _of_entity(
    trigger: DataTrigger, batches: Sequence[BatchDefinition], unreadable: Iterable[UnreadableRow]
) -> Iterator[Finding]:
    takers = [batch for batch in batches if batch.entity == trigger.entity]
    broken = None if takers else taking(trigger.entity, unreadable)
    if broken is not None:
        yield Finding("Entity", f"{broken.message}; until that is corrected nothing comes of it.", broken.mend)
    elif not takers:
        meant = meant_by(trigger.entity, batches)
        yield Finding("Entity", f"No batch takes entity '{visible(trigger.entity)}': nothing comes of it.{meant}")
    for batch in takers:
        if batch.searches_file_name:
            said = (
                f"PopulatorArgs of batch {visible(batch.name)} search a file name, and what a trigger starts has none."
            )
            yield Finding("Entity", f"{said} Every row would be rejected.")


def _of_conditions(trigger: DataTrigger) -> Iterator[Finding]:
    if trigger.on_new_rows and trigger.row_threshold == 1:
        yield Finding("RowThreshold", "1 is met by the first row, so OnNewRows and its DebounceSeconds change nothing.")
    if trigger.on_new_rows and trigger.created_column is None and not trigger.debounce:
        said = "0 without a CreatedColumn starts work again at once, as long as the batch leaves any row pending."
        yield Finding("DebounceSeconds", said)
    if trigger.on_new_rows and trigger.idle is not None and trigger.idle <= trigger.debounce:
        said = "It is over before DebounceSeconds are, so OnNewRows changes nothing."
        yield Finding("IdleMinutes", said)
