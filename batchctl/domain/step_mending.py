"""What to correct first of a step that is refused before it begins, and the command that runs its instance again."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.outcomes import StepRequest
from batchctl.domain.text import typed, visible


def correct_step(request: StepRequest, columns: str, *around: str) -> str:
    """Return what to do where columns of the step's row are wrong, or what lies around it."""
    row = f"step {request.step.seq} of batch {visible(request.batch_name)}"
    correct = [f"correct {columns} of {row} (UPDATE ProcessControl ...; batchctl check)"] if columns else []
    return f"{', or '.join([*correct, *around])}, then: {_rerun(request)}"


def correct_values(request: StepRequest, names: Iterable[str]) -> str:
    """Return what gives an instance other values; what its FileProcess row brings can only be asked for anew."""
    names = sorted(names)
    data = [f" --set {name}=..." for name in names if name.startswith("Data")]
    if data:
        return _rerun(request, *data)
    cycle_key = " --cycle-key KEY" if "CycleKey" in names else ""
    again = f"batchctl submit {typed(request.instance.entity)} --file FILE{cycle_key}"
    return f"{again}   (asks for it anew), then: batchctl cancel {request.instance.instance_id} --reason ..."


def _rerun(request: StepRequest, *options: str) -> str:
    return f"batchctl rerun {request.instance.instance_id}{''.join(options)} --reason ..."
