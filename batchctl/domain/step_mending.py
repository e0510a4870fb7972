"""What to correct first of a step that is refused, or fails again for the same reason, and how to run it again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from batchctl.domain.definitions.variables import variable_in
from batchctl.domain.outcomes import StepRequest
from batchctl.domain.rows import HistoryEntry, InstanceId
from batchctl.domain.text import typed, visible

_OF_THE_ROW = {
    re.compile(
        r"not started: (?:command '.*' not found|'.*' (?:is a directory|is not a program|names an interpreter))"
    ): ("Data1", "install its program where the controllers run"),
    re.compile(r"not started: the working directory '.*' (?:does not exist|is not a directory)"): (
        "Data2",
        "make that directory where the controllers run",
    ),
    re.compile(r"job '.*' cannot be called so: "): ("Data2", "the function of the job"),
}
"""Messages of attempts that were begun, and what is wrong in their step's row, or in what it refers to."""


def correct_step(request: StepRequest, columns: str, *besides: str) -> str:
    """Return what to do where columns of the step's row are wrong, or what they refer to."""
    correct = [_correct(request.step.seq, request.batch_name, columns)] if columns else []
    return f"{', or '.join([*correct, *besides])}, then: {_rerun(request.instance.instance_id)}"


def correct_failed(entry: HistoryEntry, batch_name: str) -> str | None:
    """Return what to do first about an attempt that would fail again the same way; None if its message is no such."""
    for said, (columns, besides) in _OF_THE_ROW.items():
        if said.match(entry.message or ""):
            correct = _correct(entry.seq, batch_name, columns)
            return f"{correct}, or {besides}, then: {_rerun(entry.instance_id)}"
    return None


def correct_values(request: StepRequest, names: Iterable[str]) -> str:
    """Return what gives an instance other values; what its FileProcess row brings can only be asked for anew."""
    names = sorted(names)
    data = [f" --set {name}=..." for name in names if name.startswith("Data")]
    if data:
        return _rerun(request.instance.instance_id, *data)
    variables = [variable for name in names if (variable := variable_in(name)) is not None]
    if variables:
        setting = ", then: ".join(f"batchctl variable set {typed(one)} VALUE --reason ..." for one in variables)
        return f"{setting}, then: {_rerun(request.instance.instance_id)}"
    cycle_key = " --cycle-key KEY" if "CycleKey" in names else ""
    again = f"batchctl submit {typed(request.instance.entity)} --file FILE{cycle_key}"
    return f"{again}   (asks for it anew), then: batchctl cancel {request.instance.instance_id} --reason ..."


def _correct(seq: int, batch_name: str, columns: str) -> str:
    return f"correct {columns} of step {seq} of batch {visible(batch_name)} (UPDATE ProcessControl ...; batchctl check)"


def _rerun(instance_id: InstanceId, *options: str) -> str:
    return f"batchctl rerun {instance_id}{''.join(options)} --reason ..."
