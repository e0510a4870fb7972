"""Steps of type `python`: a registered job, called with arguments.

Data1 is the job's name, Data2 its arguments (`path={Data1}/{Data2}, rows=5`). A row names a job that was registered;
it can never name code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from batchctl.plugin_api import (
    NO_DATA,
    Execution,
    JsonValue,
    Problem,
    Rendered,
    SecretValue,
    Step,
    StepOutcome,
    StepRequest,
    Surroundings,
    did_you_mean,
    parameters_for,
)
from step_handlers._checks import column, parameter_problems, refuse, refuse_value, short, unfit_columns, unused_columns
from step_handlers._shell import heading, shell


class PythonJob:
    """Calls a registered job."""

    process_type: ClassVar[str] = "python"

    def check(self, step: Step, surroundings: Surroundings) -> Sequence[Problem]:
        """Return everything wrong with the row."""
        found = [*_job_problems("Data1", step.data[0], surroundings), *_argument_problems(step, surroundings)]
        if step.on_lost == "verify":
            found += _job_problems("Data6", step.data[5], surroundings)
        if step.max_duration is not None and surroundings.jobs.get(column(step, 1)):
            message = "this job runs inside the controller and cannot be stopped; empty MaxDuration, or register it without in_process"
            found.append(Problem("MaxDuration", message))
        return [*found, *unused_columns(step, {1, 2})]

    def render(self, request: StepRequest) -> Rendered:
        """Fill the arguments."""
        step, around = request.step, request.surroundings
        name = column(step, 1)
        if name not in around.jobs or not _is_sound(step.data[0], step.data[1]):
            refuse(request, _job_problems("Data1", step.data[0], around))
        refuse(request, _secret_problems(step, around))
        arguments: dict[str, JsonValue] = {
            argument: {"secret": value.name} if isinstance(value, SecretValue) else value
            for argument, value in parameters_for(request, 2).items()
        }
        written = json.dumps(arguments, ensure_ascii=True)
        return Rendered(...)
