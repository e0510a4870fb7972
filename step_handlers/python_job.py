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
    Execution,
    Finding,
    JobEnd,
    JobSignature,
    JsonValue,
    MalformedTemplate,
    Rendered,
    SecretValue,
    Step,
    StepOutcome,
    StepRequest,
    Surroundings,
    did_you_mean,
    parameters_for,
    parse_parameters,
)
from step_handlers._checks import (
    column,
    parameter_findings,
    put_back,
    refuse,
    remembered,
    short,
    unfit_columns,
    unset_secrets,
    unused_columns,
)
from step_handlers._shell import heading, shell

_SHOWN = 500
"""Characters of a returned value that the history shows."""

_WHERE_TO_LOOK = "correct Data1 of the step, or name the module of the job in [jobs] modules"


class PythonJob:
    """Calls a registered job."""

    process_type: ClassVar[str] = "python"

    def check(self, step: Step, surroundings: Surroundings) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        found = [*_findings(step, surroundings), *unused_columns(step, {1, 2})]
        found += _argument_findings("Data2", step, column(step, 1), surroundings)
        found += unset_secrets("Data2", step.data[1], surroundings)
        if step.on_lost == "verify" and column(step, 6).strip():
            found += _job_findings(step, 6, surroundings)
            found += _argument_findings("Data6", step, column(step, 6), surroundings)
        if step.max_duration is not None and surroundings.jobs.get(column(step, 1), JobSignature()).in_process:
            message = (
                "this job runs inside the controller and cannot be stopped; empty MaxDuration, or register the job"
            )
            found.append(Finding("MaxDuration", f"{message} without in_process"))
        return found

    def render(self, request: StepRequest) -> Rendered:
        """Fill the arguments."""
        step, around = request.step, request.surroundings
        findings, name = _findings(step, around), column(step, 1)
        if len(findings) == 1 and name and name not in around.jobs:
            # Its module may be mended, or be on another host: no person has to run again what a typo would have failed.
            put_back(request, findings[0], f"{findings[0].remedy or _WHERE_TO_LOOK}, then restart the controller")
        refuse(request, findings)
        arguments: dict[str, JsonValue] = {
            argument: {"secret": value.name} if isinstance(value, SecretValue) else value
            for argument, value in parameters_for(request, 2).items()
        }
        given = json.dumps(arguments) if arguments else "{}"
        line = _command_line(around.batchctl_command, name, given, around.directory)
        text = f"{heading(request, shell.COMMENT)}{line}"
        return Rendered(text, {"job": name, "arguments": arguments}, brief=around.jobs[name].in_process)

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Call the job and wait for it."""
        spec: Mapping[str, Any] = rendered.spec
        end = execution.run_job(spec["job"], spec["arguments"])
        return StepOutcome(
            succeeded=end.succeeded,
            message=_said(end, execution),
            output=end.output or None,
            value=end.value,
            fatal=end.fatal,
            stopped=end.stopped,
            never_ran=end.never_ran,
        )

    def verification(self, step: Step) -> Step:
        """Return a call of the job of Data6, with the same arguments, as a step."""
        return replace(step, data=(step.data[5], step.data[1], None, None, None, None))

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """A job that returns something true means done."""
        return bool(outcome.value) if outcome.succeeded else None


def _said(end: JobEnd, execution: Execution) -> str | None:
    """Return the message, or for a success without one the value it returned."""
    if end.message is not None or not end.succeeded or end.value is None:
        return end.message
    return short(execution.masked(str(end.value)), _SHOWN)


@remembered
def _findings(step: Step, surroundings: Surroundings) -> list[Finding]:
    return [
        *_job_findings(step, 1, surroundings),
        *parameter_findings("Data2", step.data[1], surroundings.secrets),
        *unfit_columns(step),
    ]


def _job_findings(step: Step, number: int, surroundings: Surroundings) -> list[Finding]:
    name = column(step, number)
    if name in surroundings.jobs:
        return []
    known = did_you_mean(name[:60], surroundings.jobs)
    if not name:
        return [Finding(f"Data{number}", f"the name of a job is missing.{known}")]
    # One of these modules may be the job's: then nothing is wrong with the row.
    unloaded = "".join(f" {finding}" for finding in surroundings.unloaded)
    remedy = "; ".join(dict.fromkeys(surroundings.unloaded.values())) or None
    return [Finding(f"Data{number}", f"job '{short(name)}' is not registered.{known}{unloaded}", remedy)]


def _argument_findings(name: str, step: Step, job: str, surroundings: Surroundings) -> list[Finding]:
    """Compare the arguments with the function. Only a check: a running controller may know an older function."""
    signature = surroundings.jobs.get(job, JobSignature())
    try:
        given = {parameter.name for parameter in parse_parameters(step.data[1])}
    except MalformedTemplate:
        return []
    surplus = set() if signature.takes_any else given - signature.accepted
    return [
        *(
            Finding(name, f"argument '{missing}' of job '{short(job)}' is missing")
            for missing in sorted(signature.required - given)
        ),
        *(
            Finding(
                name, f"job '{short(job)}' has no argument '{short(other)}'.{did_you_mean(other, signature.accepted)}"
            )
            for other in sorted(surplus)
        ),
    ]


@lru_cache(maxsize=256)
def _command_line(batchctl: tuple[str, ...], job: str, arguments: str, directory: str) -> str:
    # A name may begin as an option does.
    call = [*batchctl, "job", "call", "--arguments", arguments, "--", job]
    return shell.command_line(call, directory=directory, environment={}, secrets={})
