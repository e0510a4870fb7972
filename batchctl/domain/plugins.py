"""The plugins that controllers have, and those that a batch names and none of them has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from batchctl.domain.rows import BatchDefinition, MissingPlugin, Step
from batchctl.domain.text import nearest, visible
from batchctl.domain.unreadable import correcting
from batchctl.domain.values import named_value

SEPARATOR = ","
"""Separates names in a column: a name that contains it can never be reported as missing."""
_PYTHON = "python"
"""The ProcessType whose Data1 names a job."""


@named_value
class Plugins:
    """What is installed where a controller runs."""

    process_types: frozenset[str]
    populators: frozenset[str]
    jobs: frozenset[str]
    left_out: str | None = None
    """The message about the modules that are missing: it is unknown what they would announce."""

    def missing_for(self, batch: BatchDefinition) -> tuple[MissingPlugin, ...]:
        """Return what a batch and its steps name and is not installed here."""
        return tuple(self._missing(batch))

    def can_populate(self, batch: BatchDefinition) -> bool:
        """Say whether the populator of a batch is here."""
        return not _is_missing(batch.populator, self.populators)

    def can_begin(self, step: Step) -> bool:
        """Say whether the plugin that carries a step out is here."""
        return not (self._lacks_type(step) or self._lacks_job(step))

    def _lacks_type(self, step: Step) -> bool:
        return _is_missing(step.process_type, self.process_types)

    def _lacks_job(self, step: Step) -> bool:
        return step.process_type == _PYTHON and bool(step.data[0]) and _is_missing(step.data[0] or "", self.jobs)

    def _missing(self, batch: BatchDefinition) -> Iterator[MissingPlugin]:
        if not self.can_populate(batch):
            yield self._because(_of_batch(batch, self.populators))
        for step in batch.steps:
            job = step.data[0] or ""
            if self._lacks_type(step):
                named = f"ProcessType '{visible(step.process_type)}'"
                near = nearest(step.process_type, self.process_types)
                yield self._because(_of_step(batch, step, "ProcessType", named, near))
            elif self._lacks_job(step):
                named = f"job '{visible(job)}' of Data1"
                yield self._because(_of_step(batch, step, "Data1", named, nearest(job, self.jobs)))

    def _because(self, missing: MissingPlugin) -> MissingPlugin:
        if self.left_out is None:
            return missing
        mend = f"if that module should have it: correct it, then restart the controllers; else {missing.mend}"
        return replace(missing, message=f"{missing.message}; {visible(self.left_out)}", mend=mend)


def _is_missing(name: str, known: frozenset[str]) -> bool:
    return name not in known and SEPARATOR not in name


def _of_batch(batch: BatchDefinition, known: frozenset[str]) -> MissingPlugin:
    return MissingPlugin(
        column="Populator",
        message=f"ProcessBatch ({visible(batch.name)}): Populator '{visible(batch.populator)}' is not installed"
        + _near(nearest(batch.populator, known)),
        mend=_mend("ProcessBatch", "Populator", f"ProcessBatch_id = {batch.batch_id}"),
        row=f"ProcessBatch {batch.batch_id}",
    )


def _of_step(batch: BatchDefinition, step: Step, column: str, named: str, near: str | None) -> MissingPlugin:
    where = f"ProcessBatch_id = {batch.batch_id} AND ProcessControlSeq = {step.seq}"
    return MissingPlugin(
        column=column,
        message=f"ProcessControl ({visible(batch.name)}, step {step.seq}): {named} is not installed" + _near(near),
        mend=_mend("ProcessControl", column, where),
        row=f"ProcessBatch {batch.batch_id}, ProcessControlSeq {step.seq}",
        seq=step.seq,
    )


def _near(name: str | None) -> str:
    # It may be no typo: the controller that has it may just be away, and another plugin would do other work.
    return "" if name is None else f" (did you mean '{visible(name)}'?)"


def _mend(table: str, column: str, where: str) -> str:
    do = "name its module in [jobs] modules" if column == "Data1" else "install it"
    install = f"{do} where the controllers run and restart them"
    return correcting(table, column, where, f"{install}, or: ")
