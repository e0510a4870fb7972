r"""Steps of type `ssis`: a package of the SSIS catalog, or in a file.

Data1 is the catalog's folder and project (`\SSISDB\folder\project`), a directory, or an `.ispac` file; Data2 the
package; Data3 its parameters (`$Project::Day(String)={Data3}; Rows(Int32)=5`). Data4 is the server of the catalog. When
it names a connection of the configuration, the catalog's procedures are called through that connection, with bound
values; else `dtexec` is run on this host.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, ClassVar

from batchctl.plugin_api import (
    Command,
    CommandEnd,
    Connection,
    Execution,
    Finding,
    JsonValue,
    MalformedTemplate,
    Rendered,
    Step,
    StepContext,
    StepOutcome,
    StepRequest,
    visible,
)
from step_handlers._checks import column, refuse, refuse_value, remembered, short, unfit_columns, unused
from step_handlers._sql_steps import kind_of, lacking
from step_handlers.packages import _catalog, _catalog_run, _dtexec
from step_handlers.packages._catalog import Package
from step_handlers.packages._catalog_run import Run
from step_handlers.packages._catalog_session import OpenSession
from step_handlers.packages._ssis_parameters import Declared, Value, declared, values
from step_handlers.shells._shell import heading, shell
from step_handlers.sqlserver._mssql_driver import open_session

_CATALOG_PATH = re.compile(r"\\SSISDB\\([^\\/\";]{1,128})\\([^\\/\";]{1,128})\Z", re.IGNORECASE)
_PACKAGE = re.compile(r"[^\\/:*?\"<>|;{}]{1,255}\.dtsx\Z", re.IGNORECASE)
_SERVER = re.compile(r"[A-Za-z0-9_.(][A-Za-z0-9_.()\\:,$-]*\Z")
_BARE_SERVER = re.compile(r"[A-Za-z0-9_-]+\Z")
_DIGIT = re.compile(r"[0-9]")
_NEARLY = 0.8
"""How alike, from 0 to 1, a server's and a connection's name are that differ by a letter; hosts also by numbers."""


class _LostStep(Step):
    """The step that asks what became of a lost attempt at it."""

    __slots__ = ()


class Ssis:
    """Runs an Integration Services package."""

    process_type: ClassVar[str] = "ssis"

    def __init__(self, open_session: OpenSession = open_session) -> None:
        """Keep the function that opens a session in the catalog."""
        self._open_session = open_session

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        parsed = _parsed(step, context)
        found = [*parsed.findings, *_verify_findings(step, context)]
        return [*found, *_lacking(parsed.connection, context), *_nearly_a_connection(step, context)]

    def render(self, request: StepRequest) -> Rendered:
        """Fill every parameter on its own."""
        parsed = _parsed(request.step, request.context)
        refuse(request, parsed.findings)
        if isinstance(request.step, _LostStep):
            refuse(request, _verify_findings(request.step, request.context))
            return _rendered_look(request, parsed)
        return _rendered_for_dtexec(request, parsed) if parsed.connection is None else _rendered_run(request, parsed)

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Run the package and wait for its real end."""
        spec: Mapping[str, Any] = rendered.spec
        if self.is_one_command(rendered):
            return self.outcome(rendered, execution.run_command(spec["argv"], directory=spec["directory"]))
        connection = execution.connections.get(spec["connection"])
        if connection is None:
            message = f"connection '{visible(spec['connection'])}' is not in the configuration"
            return StepOutcome(succeeded=False, fatal=True, message=message)
        run = Run(connection, execution, self._open_session)
        package = Package(**spec["package"])
        if "first_lost" in spec:
            return _catalog_run.look(run, package, spec["caller"], spec["first_lost"])
        return run.carry_out(package, [Value(**value) for value in spec["parameters"]], spec["caller"])

    def is_one_command(self, rendered: Rendered) -> bool:
        """Say whether dtexec is called."""
        return "argv" in rendered.spec

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        """Return the call of dtexec."""
        del execution
        spec: Mapping[str, Any] = rendered.spec
        return Command(spec["argv"], spec["directory"])

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        """Return what dtexec's end means."""
        spec: Mapping[str, Any] = rendered.spec
        return _dtexec.outcome(end, in_catalog="/ISSERVER" in spec["argv"][:2])

    def verification(self, step: Step) -> Step:
        """Return the step that finds the lost execution in the catalog."""
        return _LostStep(**{name: getattr(step, name) for name in Step.__dataclass_fields__})

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read what was found; None when the catalog gave no answer."""
        return bool(outcome.value) if outcome.succeeded else None


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A row as it was read, once for its check and all its attempts."""

    package: Package
    connection: Connection | None
    """The one to the catalog; without it dtexec is run."""
    parameters: tuple[Declared, ...]
    findings: list[Finding]
    """What is wrong with it; where there is anything, nothing else of it is of use."""


@remembered
def _parsed(step: Step, context: StepContext) -> _Parsed:
    path = _CATALOG_PATH.match(column(step, 1))
    folder, project = path.groups() if path else ("", "")
    found = [*_place_findings(step, context), *_package_findings(step)]
    parameters: tuple[Declared, ...] = ()
    try:
        parameters = declared(column(step, 3))
    except MalformedTemplate as error:
        found.append(Finding("Data3", str(error)))
    found += [Finding("Data3", fault) for parameter in parameters if (fault := _scope_fault(step, parameter))]
    found += [*unused(step, (5, 6)), *unfit_columns(step)]
    package = Package(folder, project, column(step, 2))
    return _Parsed(package, context.connections.get(column(step, 4)), parameters, found)


def _place_findings(step: Step, context: StepContext) -> list[Finding]:
    place, server = column(step, 1), column(step, 4)
    found = [
        Finding(name, f"'{short(text)}' holds a brace; a value may never choose what is run: write it out")
        for name, text in (("Data1", place), ("Data4", server))
        if "{" in text or "}" in text
    ]
    if not place.strip():
        message = "the place of the package is missing; write \\SSISDB\\folder\\project, a directory, or an .ispac file"
        return [*found, Finding("Data1", message)]
    if not place.upper().startswith("\\SSISDB"):
        return [*found, *_file_findings(place, server)]
    if not _CATALOG_PATH.match(place) or visible(place) != place:
        found.append(Finding("Data1", f"'{short(place)}' is no project of a catalog; write \\SSISDB\\folder\\project"))
    if server in context.connections:
        found += _connection_findings(context.connections[server])
    elif not _SERVER.match(server):
        message = f"'{short(server)}' is neither a connection of the configuration nor a server's name"
        hint = ", ".join(sorted(context.connections)[:8]) or "none"
        found.append(Finding("Data4", f"{message}; write one of them. Connections: {visible(hint)}"))
    return found


def _connection_findings(connection: Connection) -> list[Finding]:
    if connection.dialect != "mssql":
        message = (
            f"connection '{short(connection.name)}' has a {short(connection.dialect)} url; the catalog needs mssql"
        )
        return [Finding("Data4", message)]
    return [*kind_of("Data4", connection).findings]


def _lacking(connection: Connection | None, context: StepContext) -> list[Finding]:
    if connection is None or _connection_findings(connection):
        return []
    return lacking("Data4", connection, context)


def _nearly_a_connection(step: Step, context: StepContext) -> list[Finding]:
    """Return a finding when a server's name looks like a mistyped connection's. Only a check: it may be right."""
    server = column(step, 4)
    if server in context.connections or not _BARE_SERVER.match(server):
        return []
    digits = _DIGIT.findall(server)
    known = {name.lower(): name for name in context.connections if _DIGIT.findall(name) == digits}
    return [
        Finding(
            "Data4",
            f"'{short(server)}' is taken for the name of a server, where dtexec runs the package. Did you mean the "
            f"connection '{short(known[near])}'? If not, write the server with its domain, as in {short(server)}.example.com",
        )
        for near in get_close_matches(server.lower(), known, n=1, cutoff=_NEARLY)
    ]


def _file_findings(place: str, server: str) -> list[Finding]:
    found = []
    if '"' in place or visible(place) != place or place != place.strip():
        found.append(
            Finding("Data1", f"dtexec cannot be given '{short(place)}': it holds a quote or invisible characters")
        )
    elif place.startswith("-"):
        found.append(Finding("Data1", f"'{short(place)}' begins with '-'; write ./ before it"))
    if server:
        message = "a server is only used with a project of a catalog; empty Data4, or write \\SSISDB\\folder\\project in Data1"
        found.append(Finding("Data4", message))
    return found


def _package_findings(step: Step) -> list[Finding]:
    package = column(step, 2)
    if _PACKAGE.match(package) and visible(package) == package and not package.startswith(("-", " ")):
        return []
    return [Finding("Data2", f"'{short(package)}' is no package; write its name with .dtsx, as in Load.dtsx")]


def _scope_fault(step: Step, parameter: Declared) -> str | None:
    title = short(parameter.title)
    if not column(step, 1).upper().startswith("\\SSISDB"):
        if parameter.scope == "$ServerOption":
            return f"{title} is an option of a catalog; a package in a file has none"
        if parameter.scope == "$Project" and not _is_project(step):
            return f"{title}: a package file has no project; name the .ispac file in Data1"
        return None
    if parameter.scope == "User":
        return f"{title}: variables cannot be set in a catalog; give the package a parameter"
    if parameter.scope == "$ServerOption" and parameter.name.upper() in {"SYNCHRONIZED", "CALLER_INFO"}:
        return f"{title} is set by batchctl; take it out"
    return None


def _verify_findings(step: Step, context: StepContext) -> list[Finding]:
    if step.on_lost != "verify" or column(step, 4) in context.connections:
        return []
    message = "a lost execution can only be found through the catalog: name a connection in Data4, or use hold or rerun"
    return [Finding("OnLost", message)]


def _is_project(step: Step) -> bool:
    return column(step, 1).lower().endswith(".ispac")


def _rendered_run(request: StepRequest, parsed: _Parsed) -> Rendered:
    filled = values(request, parsed.parameters)
    caller = _catalog.caller(request)
    spec: dict[str, JsonValue] = {
        "connection": column(request.step, 4),
        "package": asdict(parsed.package),
        "parameters": [asdict(value) for value in filled],
        "caller": caller,
    }
    return Rendered(_for_sqlcmd(request, _catalog.script(parsed.package, filled, caller)), spec)


def _rendered_look(request: StepRequest, parsed: _Parsed) -> Rendered:
    common = _catalog.marker(request)
    spec: dict[str, JsonValue] = {
        "connection": column(request.step, 4),
        "package": asdict(parsed.package),
        "caller": common,
        # Every lost attempt has counted, also one that only looked; a success or a person begins anew.
        "first_lost": request.attempt_no - max(1, request.instance.lost_count),
    }
    return Rendered(_for_sqlcmd(request, _catalog.search(parsed.package, common).in_place()), spec)


def _for_sqlcmd(request: StepRequest, text: str) -> str:
    where = f"-- for sqlcmd or SSMS, on the server of connection {visible(column(request.step, 4))}\n"
    # sqlcmd would fill in a variable even in a comment.
    comment = f"{heading(request, '-- ')}{where}".replace("$(", "$ (")
    return f"{comment}{text}"


def _rendered_for_dtexec(request: StepRequest, parsed: _Parsed) -> Rendered:
    directory = request.context.directory
    filled = values(request, parsed.parameters)
    for value in filled:
        if reason := _dtexec.why_unfit(value.text):
            refuse_value(request, "Data3", f"parameter '{short(value.name)}': {reason}")
    argv = _argv(request.step, directory, filled)
    if reason := shell.too_long(argv):
        refuse_value(request, "Data3", reason)
    line = shell.command_line(argv, directory=directory, environment={}, secrets={})
    spec: dict[str, JsonValue] = {"argv": list(argv), "directory": directory}
    return Rendered(f"{heading(request, shell.COMMENT)}{line}", spec, brief=True)


def _argv(step: Step, directory: str, filled: Sequence[Value]) -> list[str]:
    place, package = column(step, 1), column(step, 2)
    if place.upper().startswith("\\SSISDB"):
        return _dtexec.on_server(f"{place}\\{package}", column(step, 4), filled)
    where = os.path.join(directory, place)  # noqa: PTH118 - Path would change what was written
    if _is_project(step):
        return _dtexec.of_project(where, package, filled)
    return _dtexec.of_file(os.path.join(where, package), filled)  # noqa: PTH118 - Path would change what was written
