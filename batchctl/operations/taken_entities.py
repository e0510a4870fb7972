"""Whether anything comes of what a schedule or a trigger starts: a batch has to take its entity, and let it do so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from batchctl.domain.gates import Gate
from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import BatchDefinition
from batchctl.domain.scheduling.modes import mode_word, takers_of
from batchctl.domain.status import ProcessingMode
from batchctl.domain.text import typed, visible
from batchctl.domain.unreadable import UnreadableRow, taking
from batchctl.domain.untaken import meant_by


def mode_gate(takers: Sequence[BatchDefinition], *, is_let: bool, what: str, mode: ProcessingMode) -> Gate:
    """Return the gate of `what` starts work for some batches, which lets it pass in a `mode`."""
    if is_let:
        return Gate("mode")
    modes = ", ".join(f"batch {visible(batch.name)} is {mode_word(batch.mode)}" for batch in takers)
    blocked = f"no batch of its entity lets {what} start it: {modes}"
    clear = f"batchctl mode {typed(takers[0].name)} {mode} --reason ..."
    return Gate("mode", blocked, clear, f"ProcessBatch {takers[0].batch_id}")


def entity_gate(entity: str, takers: Collection[BatchDefinition], broken: UnreadableRow | None, row: str) -> Gate:
    """Return the gate of an entity that something starts work for: `broken` is what of its batch cannot be read."""
    so = "nothing comes of what it starts"
    if takers:
        return Gate("entity")
    if broken is not None:
        return Gate("entity", f"{broken.message}: {so}", broken.mend, broken.place)
    return Gate("entity", f"no batch takes entity '{visible(entity)}': {so}", "batchctl batches", row)


def entity_findings(
    entity: str, batches: Collection[BatchDefinition], unreadable: Iterable[UnreadableRow], starter: str
) -> Iterator[Finding]:
    """Yield why nothing comes of what a `starter`, such as a trigger, starts for an entity."""
    takers = takers_of(entity, batches)
    broken = None if takers else taking(entity, unreadable)
    if broken is not None:
        yield Finding("Entity", f"{broken.message}; until that is corrected nothing comes of it.", broken.mend)
    elif not takers:
        meant = meant_by(entity, batches)
        yield Finding("Entity", f"No batch takes entity '{visible(entity)}': nothing comes of it.{meant}")
    for batch in takers:
        if batch.searches_file_name:
            searched = f"PopulatorArgs of batch {visible(batch.name)} search a file name"
            said = f"{searched}, and what {starter} starts has none. Every row would be rejected."
            yield Finding("Entity", said)
