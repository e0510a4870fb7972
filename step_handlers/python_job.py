"""Steps of type `python`: a registered job, called with arguments.

Data1 is the job's name, Data2 its arguments (`path={Data1}/{Data2}, rows=5`). A row names a job that was registered;
it can never name code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from batchctl.plugin_api import (
    Execution,
    Finding,
    JobEnd,
    JobSignature,
    Parameter,
    Rendered,
    Step,
    StepContext,
    StepOutcome,
    StepRequest,
    did_you_mean,
)
from step_handlers._checks import (
    bound_parameters,
    column,
    parameters_of,
    put_back,
    refuse,
    remembered,
    short,
    unfit_columns,
    unset_secrets,
    unused_columns,
)
from step_handlers.shells._shell import heading, shell

_SHOWN = 500
"""Characters of a returned value that the history shows."""

_WHERE_TO_LOOK = "correct Data1 of the step, or name the module of the job in [jobs] modules"


class PythonJob:
    """Calls a registered job."""

    process_type: ClassVar[str] = "python"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        parsed = _parsed(step, context)
        found = [*parsed.findings, *unused_columns(step, {1, 2})]
        found += _argument_findings("Data2", parsed.arguments, column(step, 1), context)
        found += unset_secrets("Data2", step.data[1], context)
        if step.on_lost == "verify" and column(step, 6).strip():
            found += _job_findings(step, 6, context)
            found += _argument_findings("Data6", parsed.arguments, column(step, 6), context)
        if step.max_duration is not None and context.jobs.get(column(step, 1), JobSignature()).in_process:
            message = (
                "this job runs inside the controller and cannot be stopped; empty MaxDuration, or register the job"
            )
            found.append(Finding("MaxDuration", f"{message} without in_process"))
        return found

    def render(self, request: StepRequest) -> Rendered:
        """Fill the arguments."""
        step, context = request.step, request.context
        findings, name = _parsed(step, context).findings, column(step, 1)
        if len(findings) == 1 and name and name not in context.jobs:
            # Its module may be corrected, or be on another host: so a typo fails nothing that a person must run again.
            put_back(request, findings[0], f"{findings[0].remedy or _WHERE_TO_LOOK}, then restart the controller")
        refuse(request, findings)
        arguments = bound_parameters(request, 2)
        given = json.dumps(arguments) if arguments else "{}"
        line = _command_line(context.batchctl_command, name, given, context.directory)
        text = f"{heading(request, shell.COMMENT)}{line}"
        return Rendered(text, {"job": name, "arguments": arguments}, brief=context.jobs[name].in_process)

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Call the job and wait for it."""
        spec: Mapping[str, Any] = rendered.spec
        end = execution.run_job(spec["job"], spec["arguments"])
        return StepOutcome(
            succeeded=end.succeeded,
            message=_wording(end, execution),
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


def _wording(end: JobEnd, execution: Execution) -> str | None:
    """Return the message, or for a success without one the value it returned."""
    if end.message is not None or not end.succeeded or end.value is None:
        return end.message
    return short(execution.masked(str(end.value)), _SHOWN)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A row as it was read, once for its check and all its attempts."""

    arguments: Sequence[Parameter] | None
    """None where they are malformed."""
    findings: list[Finding]


@remembered
def _parsed(step: Step, context: StepContext) -> _Parsed:
    arguments, found = parameters_of("Data2", step.data[1], context.secrets)
    return _Parsed(arguments, [*_job_findings(step, 1, context), *found, *unfit_columns(step)])


def _job_findings(step: Step, number: int, context: StepContext) -> list[Finding]:
    name = column(step, number)
    if name in context.jobs:
        return []
    known = did_you_mean(name[:60], context.jobs)
    if not name:
        return [Finding(f"Data{number}", f"the name of a job is missing.{known}")]
    # One of these modules may be the job's: then nothing is wrong with the row.
    unloaded = "".join(f" {finding}" for finding in context.unloaded)
    remedy = "; ".join(dict.fromkeys(context.unloaded.values())) or None
    return [Finding(f"Data{number}", f"job '{short(name)}' is not registered.{known}{unloaded}", remedy)]


def _argument_findings(
    name: str, arguments: Sequence[Parameter] | None, job: str, context: StepContext
) -> list[Finding]:
    """Compare the arguments with the function. Only a check: a running controller may know an older function."""
    if arguments is None:
        return []
    signature = context.jobs.get(job, JobSignature())
    given = {argument.name for argument in arguments}
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
