"""Steps of type `os_command`: a program with its arguments, started without a shell.

Data1 is split into words before anything is filled in, so a value is always one argument or a part of one. Data2 is
the working directory, Data3 the exit codes that mean success, Data4 environment variables (`NAME={Data1}, LANG='C'`),
which is the only place for a secret: argument lists can be read by everybody on the machine.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from batchctl.plugin_api import (
    Command,
    CommandEnd,
    Execution,
    Finding,
    JsonValue,
    Literal,
    Parameter,
    Placeholder,
    Rendered,
    SecretReference,
    Step,
    StepContext,
    StepOutcome,
    StepRequest,
    Template,
    fill,
    fit_value,
)
from step_handlers._checks import (
    column,
    has_secret,
    last_line,
    parameters_of,
    refuse,
    refuse_value,
    remembered,
    short,
    template_of,
    unfit_columns,
    unset_secrets,
    unused_columns,
    what_outlived,
)
from step_handlers.shells._script_text import batch_file, scripts
from step_handlers.shells._shell import heading, shell
from step_handlers.shells._windows_words import acts_in_cmd, changes_in_cmd, is_doubled_for_cmd

_CODES = re.compile(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*)?\Z")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_HIGHEST_CODE = 2**32 - 1
_BY_CMD = (
    "which cmd.exe would interpret: it carries out batch files, and no quoting is safe from it. "
    "Call the program itself, or a PowerShell script: powershell -File load.ps1 ..."
)
_LONGEST = 50_000
"""Characters of a command as written; a longer one would only keep the splitting busy."""


class OsCommand:
    """Runs a program."""

    process_type: ClassVar[str] = "os_command"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        found = [*_parsed(step, context).findings, *unused_columns(step, {1, 2, 3, 4})]
        found += unset_secrets("Data4", step.data[3], context)
        found += [Finding("Data1", message) for message in _meant_for_a_shell(column(step, 1)[:_LONGEST])]
        if step.on_lost == "verify" and column(step, 6).strip():
            found += _words("Data6", column(step, 6))[1]
        return found

    def render(self, request: StepRequest) -> Rendered:
        """Fill every argument on its own."""
        context, parsed = request.context, _parsed(request.step, request.context)
        refuse(request, parsed.findings)
        directory = _below(context, fill(request, parsed.directory))
        argv = _filled(request, parsed, directory)
        plain, secret = _environment(request, parsed.environment)
        environment: dict[str, JsonValue] = {**plain, **{name: {"secret": of} for name, of in secret.items()}}
        sources = {name: _place(context, of) for name, of in secret.items()}
        line = shell.command_line(argv, directory=directory, environment=plain, secrets=sources)
        spec: dict[str, JsonValue] = {
            "argv": list(argv),
            "directory": directory,
            "success": [[low, high] for low, high in parsed.success],
            "environment": environment,
        }
        # To read a secret may take long.
        return Rendered(f"{heading(request, shell.COMMENT)}{line}", spec, brief=not secret)

    def is_one_command(self, rendered: Rendered) -> bool:
        """Return true: it always is one."""
        del rendered
        return True

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        """Return the program with its arguments and its environment."""
        spec: Mapping[str, Any] = rendered.spec
        environment = {
            name: execution.secret(value["secret"]) if isinstance(value, dict) else value
            for name, value in spec["environment"].items()
        }
        return Command(spec["argv"], spec["directory"], environment)

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        """Compare the exit code with those that mean success."""
        spec: Mapping[str, Any] = rendered.spec
        return _outcome(end, spec["success"])

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Start the program and wait for it."""
        command = self.command(rendered, execution)
        end = execution.run_command(command.argv, directory=command.directory, environment=command.environment)
        return self.outcome(rendered, end)

    def verification(self, step: Step) -> Step:
        """Return the check command of Data6 as a step."""
        _, directory, _, environment, _, check = step.data
        return replace(step, data=(check, directory, None, environment, None, None))

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Exit code 0 means done, 1 not done, anything else is no answer."""
        return {0: True, 1: False}.get(_code(outcome)) if not outcome.stopped else None


def _code(outcome: StepOutcome) -> int:
    return -1 if outcome.return_code is None else outcome.return_code


def _meant_for_a_shell(text: str) -> Iterator[str]:
    """Return which parts of a command only a shell would carry out or fill in."""
    words, values = sorted(shell.shell_words(text)), sorted(shell.shell_values(text))
    unseen = "no shell sees this command, so"
    if words:
        listed = " ".join(words)
        yield f"{unseen} {listed} would be an argument; put it in quotes if it is meant as one, or call a script"
    if values:
        listed = " ".join(values)
        yield f"{unseen} nothing is filled in for {listed}; write it out, or put it in quotes if it is meant as it stands"
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    if first == "cd":
        yield f"{unseen} cd is no program that changes anything; name the folder in Data2"
    elif _ASSIGNMENT.match(first):
        yield f"{unseen} {short(first)} would be the program; write it in Data4"


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A row as it was read, once for its check and all its attempts."""

    words: tuple[Template, ...]
    directory: Template
    success: Sequence[tuple[int, int]]
    environment: Sequence[Parameter]
    findings: list[Finding]
    """What is wrong with it; where there is anything, nothing else of it is of use."""


@remembered
def _parsed(step: Step, context: StepContext) -> _Parsed:
    directory, found = template_of("Data2", column(step, 2))
    words, faults = _words("Data1", column(step, 1))
    found += [*faults, *_batch_directory_findings(words, directory)]
    if has_secret(directory):
        found.append(Finding("Data2", "a secret in a directory name would be stored in the history"))
    success: Sequence[tuple[int, int]] = ()
    try:
        success = _codes(column(step, 3).strip() or "0")
    except ValueError as error:
        found.append(Finding("Data3", str(error)))
    environment, faults = parameters_of("Data4", step.data[3], context.secrets)
    found += faults or _null_findings(environment or ())
    return _Parsed(words, directory, success, environment or (), found + unfit_columns(step))


def _null_findings(environment: Sequence[Parameter]) -> list[Finding]:
    return [
        Finding("Data4", f"environment variable {parameter.name} cannot be NULL; write '' for empty text")
        for parameter in environment
        if not parameter.is_text and parameter.template == (Literal("NULL"),)
    ]


def _words(name: str, text: str) -> tuple[tuple[Template, ...], list[Finding]]:
    """Split the command of a column into words, each a template; no value is filled in yet."""
    if len(text) > _LONGEST:
        message = f"the command has {len(text)} characters; write at most {_LONGEST}, and the rest in a file"
        return (), [Finding(name, message)]
    try:
        words = shell.split_words(text)
    except ValueError as error:
        return (), [Finding(name, f"the command cannot be split into words: {str(error).lower()}")]
    read = [template_of(name, word) for word in words]
    templates = tuple(template for template, _ in read)
    found = [finding for _, findings in read for finding in findings]
    faults = [*_program_findings(words, templates), *_argument_findings(templates)]
    return templates, found + [Finding(name, message) for message in faults]


def _program_findings(words: Sequence[str], templates: Sequence[Template]) -> list[str]:
    if not words:
        return ["there is no command; write a program and its arguments"]
    match templates[0]:
        case (Literal(program),) if not program.startswith("-"):
            return []
        case (Literal(program),):
            return [f"the program '{short(program)}' begins with '-'; write ./ before it"]
        case ():
            return [] if words[0] else ["the program has no name"]
        case _:
            return ["the program must be written out: a value may never choose what is run"]


def _argument_findings(templates: Sequence[Template]) -> list[str]:
    found = []
    if any(has_secret(template) for template in templates):
        found.append(
            "everybody on the machine can read the arguments of a command; give the secret in Data4 as NAME={secret:name}"
        )
    for at, program, way in scripts(templates):
        if any(isinstance(part, Placeholder) for part in templates[at]):
            found.append(f"argument {at} is program text for {program}, where a value would become code; {way}")
    return found + _batch_file_findings(templates)


def _batch_file_findings(templates: Sequence[Template]) -> list[str]:
    """Return what is wrong with the arguments of a batch file as they are written, before any value is in them."""
    called = batch_file(templates)
    if called is None:
        return []
    found = []
    for at, template in enumerate(templates[called + 1 :], start=called + 1):
        acting = acts_in_cmd(_written(template))
        if acting is not None:
            found.append(f"argument {at} holds '{acting}', {_BY_CMD}")
    return found


def _batch_directory_findings(templates: Sequence[Template], directory: Template) -> list[Finding]:
    """Return what is wrong with a working directory that will stand before a batch file's name."""
    program = _written(templates[0]) if templates else ""
    if batch_file(templates) != 0 or shell.located(program, r"X:\directory") == program:
        return []
    # Windows' own folders have names with round brackets, and blanks that bring quotes around them.
    acting = acts_in_cmd(re.sub("[()]", "", _written(directory)))
    return [] if acting is None else [Finding("Data2", f"the directory holds '{acting}', {_BY_CMD}")]


def _written(template: Template) -> str:
    return "".join(part.text for part in template if isinstance(part, Literal))


def _codes(text: str) -> tuple[tuple[int, int], ...]:
    codes = []
    for part in text.split(","):
        code = _CODES.match(part)
        if code is None:
            raise ValueError(f"'{short(part)}' is no exit code; write codes and ranges such as 0,1,3-5")
        low, high = int(code.group(1)), int(code.group(2) or code.group(1))
        if low > high or high > _HIGHEST_CODE:
            raise ValueError(f"'{short(part)}' is no range of exit codes; write the lower one first, as in 3-5")
        codes.append((low, high))
    return tuple(codes)


def _filled(request: StepRequest, parsed: _Parsed, directory: str) -> list[str]:
    argv: list[str] = []
    options_ended = False
    called = batch_file(parsed.words)
    for at, template in enumerate(parsed.words):
        argument = fill(request, template)
        if called is not None and at > called:
            _refuse_what_cmd_changes(request, "Data1", template)
            _refuse_what_is_doubled(request, at, argument)
        if argument.startswith("-") and not options_ended and isinstance(template[0], Placeholder):
            refuse_value(request, "Data1", _as_option(request, template))
        options_ended = options_ended or template == (Literal("--"),)
        argv.append(argument)
    program, argv[0] = argv[0], shell.located(argv[0], directory)
    if called == 0 and argv[0] != program:
        # The working directory stands before the program then, and cmd reads it too.
        _refuse_what_cmd_changes(request, "Data2", parsed.directory)
    reason = shell.too_long(argv)
    if reason is not None:
        refuse_value(request, "Data1", reason)
    return argv


def _refuse_what_cmd_changes(request: StepRequest, where: str, template: Template) -> None:
    for part in template:
        changing = changes_in_cmd(fit_value(request, part.name) or "") if isinstance(part, Placeholder) else None
        if isinstance(part, Placeholder) and changing is not None:
            refuse_value(request, where, f"the value of {{{part.name}}} holds '{changing}', {_BY_CMD}")


def _refuse_what_is_doubled(request: StepRequest, at: int, argument: str) -> None:
    if is_doubled_for_cmd(argument):
        message = f"argument {at} needs quotes and ends with a backslash, which a batch file would get twice"
        refuse_value(request, "Data1", f"{message}; leave the backslash off")


def _as_option(request: StepRequest, template: Template) -> str:
    culprit = next(
        part.name for part in template if isinstance(part, Placeholder) and (fit_value(request, part.name) or "")
    )
    return (
        f"the value of {{{culprit}}} begins with '-', so the program would take it for an option; "
        f"put the argument -- before it, or write ./{{{culprit}}} if it is a file's name"
    )


def _environment(request: StepRequest, parameters: Iterable[Parameter]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables with their values, and those whose value is a secret with its name."""
    plain: dict[str, str] = {}
    secret: dict[str, str] = {}
    for parameter in parameters:
        match parameter.template:
            case (SecretReference(name),):
                secret[parameter.name] = name
            case template:
                plain[parameter.name] = fill(request, template)
    return plain, secret


def _place(context: StepContext, secret: str) -> str:
    kind, _, place = context.secrets[secret].partition(":")
    return f"{kind}:{place}" if kind == "env" else f"{kind}:{_below(context, place)}"


def _below(context: StepContext, path: str) -> str:
    if not path:
        return context.directory
    return os.path.join(context.directory, path)  # noqa: PTH118 - Path would change what was written


def _outcome(end: CommandEnd, success: Sequence[Sequence[int]]) -> StepOutcome:
    succeeded = end.exit_code is not None and any(low <= end.exit_code <= high for low, high in success)
    said = [] if succeeded and not end.stopped else [_how(end, success)]
    last = last_line(end.output)
    if last and not succeeded and not end.stopped:
        said.append(f"it wrote last: {last}")
    said += what_outlived(end)
    return StepOutcome(
        succeeded=succeeded and not end.stopped,
        message="; ".join(said) or None,
        return_code=end.exit_code,
        output=end.output or None,
        stopped=end.stopped,
    )


def _how(end: CommandEnd, success: Sequence[Sequence[int]]) -> str:
    if end.not_started is not None:
        return f"not started: {end.not_started}"
    stopped = "was told to stop and " if end.stopped else ""
    if end.signal_name is not None:
        return f"{stopped}was ended by signal {end.signal_name}"
    codes = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in success)
    return f"{stopped}exited with {end.exit_code}" + ("" if stopped else f"; success is {codes}")
