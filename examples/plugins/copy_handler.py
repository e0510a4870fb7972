"""A step handler: ProcessType `copy_file` copies the file of Data1 to Data2, and says how many bytes that were."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from batchctl.plugin_api import (
    Execution,
    Finding,
    Rendered,
    Step,
    StepContext,
    StepHandler,
    StepOutcome,
    StepRequest,
    fill,
    findings,
    parse_for,
)


class CopyFile:
    """Both columns may hold placeholders; relative paths begin beside batchctl.toml."""

    process_type: ClassVar[str] = "copy_file"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Both names are needed, and their placeholders have to be known."""
        source, target = step.data[:2]
        missing = [
            Finding(column, "it is needed") for column, text in (("Data1", source), ("Data2", target)) if not text
        ]
        known = context.secrets
        return [*missing, *findings("Data1", source, known), *findings("Data2", target, known)]

    def render(self, request: StepRequest) -> Rendered:
        """Fill in the names. What stands in the history does the same when it is pasted into a shell."""
        source, target = (
            str(Path(request.context.directory, fill(request, parse_for(request, column)))) for column in (1, 2)
        )
        text = f"# {request.note}\ncp -- {shlex.quote(source)} {shlex.quote(target)}"
        return Rendered(text, {"source": source, "target": target})

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Copy. A failure that is to be expected is returned; an exception would say that this handler is broken."""
        del execution  # By it longer work learns that it is to stop, starts commands and connects to databases.
        source, target = str(rendered.spec["source"]), str(rendered.spec["target"])
        try:
            shutil.copyfile(source, target)
        except OSError as error:
            return StepOutcome(succeeded=False, message=f"{error.filename}: {error.strerror}")
        return StepOutcome(succeeded=True, output=f"{Path(target).stat().st_size} bytes copied to {target}")


STEP_HANDLERS: list[type[StepHandler]] = [CopyFile]
