"""Jobs of SQL Server Agent as batches: what each says goes into a column, or a person is told about it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from batchctl.domain.definitions.agent_schedules import Unmappable, columns_of
from batchctl.domain.definitions.agent_scripts import Literal, ProcedureCall, ScriptVariable, only_call
from batchctl.domain.definitions.defined import Columns, Defined, Value
from batchctl.domain.definitions.foreign_jobs import ForeignJob, Mapped, braced, distinct
from batchctl.domain.text import fitting, shorten, visible
from batchctl.domain.values import named_value

SEQ = 10
"""Between the numbers of two steps."""
_SHOWN = 60
_UNCATEGORIZED = re.compile(r"\[Uncategorized.*\]\Z")
_NO_DESCRIPTION = "No description available."
_LOCAL = {"", "(local)", ".", "@@servername"}
_TOKEN = re.compile(r"\$\([A-Za-z_]+\(?[A-Za-z_0-9]*\)?\)|\$\(")
_FOR_A_SHELL = re.compile(r"[|<>&^%]")
_NEXT, _QUIT_WELL, _QUIT_BADLY = 3, 1, 2
_OWNER = "a step runs as the user of its controller, with the login of its connection"
_ALERTS = "who is to hear of a failure is said in [alerts] of batchctl.toml"
_KEYS = {"job_id", "schedule_id"}
_TO_BE_RECKONED = "a server would have to reckon it: read the job from msdb"
_IN_DATABASE = {"sql", "stored_procedure"}
_SILENT = {"step_uid", "schedule_uid", "job_id", "schedule_id", "os_run_priority", "flags", "version_number"}
"""What says nothing that batchctl has to know."""


@dataclass(frozen=True, slots=True)
class AgentJob:
    """What a script says of one job."""

    line: int
    job: dict[str, Literal | ScriptVariable]
    steps: list[ProcedureCall] = field(default_factory=list)
    schedules: list[ProcedureCall] = field(default_factory=list)
    others: list[ProcedureCall] = field(default_factory=list)
    reckoned: dict[str, str] = field(default_factory=dict)


def jobs_of(calls: Iterable[ProcedureCall], source: str, *, zone: str | None, taken: Sequence[str]) -> list[ForeignJob]:
    """Return the jobs that calls of msdb's procedures make; what belongs to none is one of its own, and unmapped."""
    found, strangers = _gathered(calls)
    names, made = [*taken], list[ForeignJob]()
    for one in found:
        name = distinct(shorten(visible(str(one.job.get("job_name") or "job")), 100), names)
        names.append(name)
        made.append(_Reading(one, name, source, zone).job())
    for call in strangers:
        mapped = [*_reckoned(call), Mapped(call.procedure, _written(call), None, "it belongs to no job of this file")]
        made.append(ForeignJob(where=f"{source}:{call.line}", name="", mapped=tuple(mapped)))
    return made


def _gathered(calls: Iterable[ProcedureCall]) -> tuple[list[AgentJob], list[ProcedureCall]]:
    """Put together what calls say of each job."""
    jobs, by_name, by_key = list[AgentJob](), dict[str, AgentJob](), dict[str, AgentJob]()
    shared, strangers = dict[str, ProcedureCall](), list[ProcedureCall]()
    for call in calls:
        given = call.arguments
        match call.procedure:
            case "sp_add_job":
                job = AgentJob(call.line, dict(given), reckoned=dict(call.reckoned))
                jobs.append(job)
                by_name[str(given.get("job_name")).lower()] = job
                own = call.outputs.get("job_id") or given.get("job_id")
                if isinstance(own, str):
                    by_key[own.lower()] = job
            case "sp_add_schedule":
                shared[str(given.get("schedule_name")).lower()] = call
                if (variable := call.outputs.get("schedule_id")) is not None:
                    shared[variable] = call
            case "sp_add_category" | "sp_detach_schedule" | "sp_update_schedule":
                # A job names its category itself; what a script changes or takes away before is what it makes.
                continue
            case _ if call.procedure.startswith("sp_delete_"):
                continue
            case _ if call.procedure.startswith("sp_") and ("job_id" in given or "job_name" in given):
                found = _meant(given, by_name, by_key)
                if found is None:
                    strangers.append(call)
                else:
                    _add(found, call, shared)
            case _ if call.procedure.startswith("sp_add_"):
                strangers.append(call)
            case _:
                pass
    attached = [id(call) for job in jobs for call in job.schedules]
    return jobs, [*strangers, *{id(call): call for call in shared.values() if id(call) not in attached}.values()]


def _meant(
    given: Mapping[str, Literal | ScriptVariable], by_name: Mapping[str, AgentJob], by_key: Mapping[str, AgentJob]
) -> AgentJob | None:
    """Return which job is meant: by its name, its id, or the variable that holds that."""
    name, key = given.get("job_name"), given.get("job_id")
    if isinstance(name, str):
        return by_name.get(name.lower())
    return by_key.get(key.name if isinstance(key, ScriptVariable) else str(key).lower())


def _add(job: AgentJob, call: ProcedureCall, shared: Mapping[str, ProcedureCall]) -> None:
    match call.procedure:
        case "sp_add_jobstep":
            job.steps.append(call)
        case "sp_add_jobschedule":
            job.schedules.append(call)
        case "sp_attach_schedule":
            key = call.arguments.get("schedule_name", call.arguments.get("schedule_id"))
            found = shared.get(key.name if isinstance(key, ScriptVariable) else str(key).lower())
            (job.others if found is None else job.schedules).append(call if found is None else found)
        case "sp_update_job":
            own = {"job_id", "job_name", "new_name"}
            job.job.update({name: value for name, value in call.arguments.items() if name not in own})
        case _:
            job.others.append(call)


@named_value
class _StepText:
    """What a step does, as columns say it, and what a person has to know of that."""

    columns: Columns
    finding: str | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads one job, and accounts for everything that it says."""

    of: AgentJob
    name: str
    source: str
    zone: str | None
    mapped: list[Mapped] = field(default_factory=list)

    def job(self) -> ForeignJob:
        """Return what became of it."""
        batch: dict[str, Value] = {"Enabled": 0, "OnFailure": "continue"}
        for parameter, value in self.of.job.items():
            self._of_job(parameter, value, batch)
        for parameter, text in self.of.reckoned.items():
            self._note(parameter, text, None, _TO_BE_RECKONED)
        steps = dict(self._steps())
        schedules = [*self._schedules()]
        for call in self.of.others:
            self._of_another(call)
        where = f"{self.source}:{self.of.line}"
        if not steps or None in steps.values():
            return ForeignJob(where=where, name=self.name, mapped=tuple(self.mapped))
        made: dict[str | int, Columns] = {number: step for number, step in steps.items() if step is not None}
        batch.setdefault("Description", f"of {where}")
        defined = (Defined("ProcessBatch", self.name, batch, {"ProcessControl": made}), *schedules)
        return ForeignJob(where=where, name=self.name, mapped=tuple(self.mapped), defined=defined)

    def _note(self, parameter: str, value: object, became: str | None = None, finding: str | None = None) -> None:
        self.mapped.append(Mapped(parameter, shorten(visible(str(value)), _SHOWN), became, finding))

    def _of_job(self, parameter: str, value: Literal | ScriptVariable, batch: dict[str, Value]) -> None:
        match parameter:
            case "job_name":
                self._note(parameter, value, "ProcessBatch.ProcessBatchName")
            case "description":
                if value and value != _NO_DESCRIPTION:
                    batch["Description"] = fitting(str(value))
                self._note(parameter, value, "ProcessBatch.Description")
            case "category_name":
                if value and not _UNCATEGORIZED.match(str(value)):
                    batch["Tags"] = str(value).replace(",", " ")
                self._note(parameter, value, "ProcessBatch.Tags")
            case "enabled":
                self._note(parameter, value, "ProcessBatch.Enabled")
            case "owner_login_name":
                self.mapped.append(Mapped(parameter, visible(str(value)), note=_OWNER))
            case "start_step_id":
                finding = None if value in {0, 1, None} else f"it begins with step {value}: leave out those before it"
                self._note(parameter, value, None, finding)
            case "delete_level":
                self._note(parameter, value, None, "nothing deletes a batch that has run" if value else None)
            case _ if parameter.startswith("notify_"):
                is_operator = "operator" in parameter and bool(value)
                self.mapped.append(Mapped(parameter, visible(str(value)), note=_ALERTS if is_operator else None))
            case _ if parameter in _SILENT:
                self._note(parameter, value)
            case _:
                self._note(parameter, value, None, "it has no column")

    def _steps(self) -> Iterator[tuple[int, Columns | None]]:
        ordered = sorted(self.of.steps, key=lambda call: _whole(call.arguments.get("step_id"), 0))
        for place, call in enumerate(ordered, start=1):
            number = _whole(call.arguments.get("step_id"), place)
            yield number * SEQ, self._step(call, number, is_last=place == len(ordered))

    def _step(self, call: ProcedureCall, number: int, *, is_last: bool) -> Columns | None:
        given, prefix = call.arguments, f"step {number} "
        name = fitting(str(given.get("step_name") or f"step {number}"))
        text = _text_of(given)
        step: dict[str, Value] = {"ProcessName": name, **({} if text is None else text.columns)}
        for parameter, value in given.items():
            became, finding = _of_step(parameter, value, given, is_last=is_last)
            if parameter == "command" and text is not None:
                finding = text.finding
            if isinstance(value, ScriptVariable) and parameter not in _KEYS:
                finding = _TO_BE_RECKONED
            if parameter == "subsystem" and text is None:
                finding = "no step of batchctl does what it does"
            if parameter == "database_name" and str(step.get("ProcessType")) in _IN_DATABASE:
                needed = f"it needs [connections.{step['Data1']}] in batchctl.toml"
                self.mapped.append(Mapped("database_name", visible(str(value)), became, note=needed))
                continue
            if parameter == "retry_attempts" and value:
                step["RetryCount"] = _whole(value, 0)
            if parameter == "retry_interval" and value and given.get("retry_attempts"):
                step["RetryWaitSecs"] = _whole(value, 0) * 60
            if parameter == "on_fail_action" and value == _NEXT and not is_last:
                step["OnStepFailure"] = "continue"
            if parameter == "cmdexec_success_code" and value and step.get("ProcessType") == "os_command":
                step["Data3"] = str(value)
            self._note(prefix + parameter, "" if value is None else value, became, finding)
        for parameter, reckoned in call.reckoned.items():
            self._note(prefix + parameter, reckoned, None, _TO_BE_RECKONED)
        return None if text is None or call.reckoned else step

    def _schedules(self) -> Iterator[Defined]:
        for call in self.of.schedules:
            given = call.arguments
            own = str(given.get("name") or given.get("schedule_name") or "")
            name = self.name if len(self.of.schedules) == 1 else fitting(f"{self.name}: {visible(own)}")
            unknown = {
                name: one.name for name, one in given.items() if isinstance(one, ScriptVariable) and name not in _KEYS
            }
            for parameter, text in {**unknown, **call.reckoned}.items():
                self._note(f"schedule {parameter}", text, None, _TO_BE_RECKONED)
            columns = Unmappable.UNKNOWN if unknown or call.reckoned else columns_of(given)
            is_mapped = not isinstance(columns, Unmappable)
            for parameter, value in given.items():
                if parameter in unknown:
                    continue
                is_key = parameter == "freq_type" and not unknown and not call.reckoned
                finding = str(columns) if isinstance(columns, Unmappable) and is_key else None
                is_timing = parameter.startswith(("freq_", "active_")) or parameter in {
                    "name",
                    "schedule_name",
                    "enabled",
                }
                self._note(f"schedule {parameter}", value, "Schedule" if is_mapped and is_timing else None, finding)
            if not isinstance(columns, Unmappable):
                zoned = {} if self.zone is None else {"TimeZone": self.zone}
                yield Defined("Schedule", name, {"Entity": self.name, **columns, **zoned, "Enabled": 0}, {})

    def _of_another(self, call: ProcedureCall) -> None:
        if call.procedure == "sp_add_jobserver":
            given = call.arguments.get("server_name")
            server = given.name if isinstance(given, ScriptVariable) else str(given or "")
            finding = None if server.lower() in _LOCAL else "it ran on that server: write its pool, or its connections"
            self._note("server_name", server, None, finding)
        else:
            self._note(call.procedure, _written(call), None, "nothing of this kind is read")


def _of_step(
    parameter: str, value: Literal | ScriptVariable, given: Mapping[str, Literal | ScriptVariable], *, is_last: bool
) -> tuple[str | None, str | None]:
    """Return what became of a parameter of a step, and what a person has to know of it."""
    match parameter:
        case "step_name" | "step_id" | "subsystem" | "command" | "retry_attempts" | "retry_interval":
            return "ProcessControl", None
        case "database_name":
            return "ProcessControl.Data1", None
        case "cmdexec_success_code":
            return "ProcessControl.Data3", None
        case "on_success_action":
            goes_on = value == _NEXT or (is_last and value == _QUIT_WELL)
            return None, None if goes_on else "after its success the job did not go on with the next step: here it does"
        case "on_fail_action":
            if value == _NEXT:
                return "ProcessControl.OnStepFailure", None
            stops = value in {_QUIT_BADLY, 0, None}
            return None, None if stops else "after its failure the job went on elsewhere, or ended well: here it stops"
        case "on_success_step_id" | "on_fail_step_id":
            of = given.get(parameter.replace("step_id", "action"))
            return None, None if not value or of != 4 else f"it went to step {value}"
        case "output_file_name":
            return None, "its output is in the history, and in no file" if value else None
        case "database_user_name" | "proxy_name":
            return None, f"it ran as {visible(str(value))}; {_OWNER}" if value else None
        case "server" | "additional_parameters":
            return None, "it has no column" if value else None
        case "job_id" | "job_name":
            return None, None
        case _ if parameter in _SILENT:
            return None, None
        case _:
            return None, "it has no column"


def _text_of(given: Mapping[str, Literal | ScriptVariable]) -> _StepText | None:
    """Return what a step does; None where no step of batchctl does that."""
    command, subsystem = given.get("command"), str(given.get("subsystem") or "TSQL").upper()
    if not isinstance(command, str):
        return None
    tokens = "it holds tokens of SQL Server Agent, which nothing fills in" if _TOKEN.search(command) else None
    written = braced(command.strip())
    match subsystem:
        case "TSQL":
            database = str(given.get("database_name") or "master")
            columns: dict[str, Value] = {"ProcessType": "sql", "Data1": _connection_of(database), "Data2": written}
            if (call := only_call(command)) is not None:
                columns |= {"ProcessType": "stored_procedure", "Data2": braced(call.name)}
                columns |= {"Data3": braced(_arguments(call))} if call.arguments else {}
            return _StepText(columns=columns, finding=tokens or _in_one_transaction(command))
        case "CMDEXEC":
            if not _FOR_A_SHELL.search(command) and "\n" not in command.strip():
                return _StepText(columns={"ProcessType": "os_command", "Data1": written}, finding=tokens)
            said = "it is run by cmd, which reads signs such as | and > by rules of its own"
            line = f"cmd /c {braced(shlex.quote(command.strip()))}"
            return _StepText(columns={"ProcessType": "os_command", "Data1": line}, finding=tokens or said)
        case "POWERSHELL":
            columns = {
                "ProcessType": "os_command",
                "Data1": f"pwsh -NoProfile -Command {braced(shlex.quote(command))}",
            }
            return _StepText(columns=columns, finding=tokens)
        case _:
            return None


def _arguments(call: ProcedureCall) -> str:
    def literal(value: object) -> str:
        if value is None:
            return "NULL"
        return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"

    return ", ".join(f"@{name}={literal(value)}" for name, value in call.arguments.items())


def _in_one_transaction(command: str) -> str | None:
    if re.search(r"^\s*GO\s*$", command, re.IGNORECASE | re.MULTILINE):
        return "a step is one batch: take GO out, or make several steps"
    return None


def _connection_of(database: str) -> str:
    """Return what to call the connection of a database."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", database).strip("_").lower() or "database"


def _whole(value: object, usual: int) -> int:
    return value if isinstance(value, int) else usual


def _written(call: ProcedureCall) -> str:
    named = (f"@{name} = {'' if value is None else value}" for name, value in call.arguments.items())
    return shorten(visible(", ".join(named)), _SHOWN)


def _reckoned(call: ProcedureCall) -> Iterator[Mapped]:
    for parameter, text in call.reckoned.items():
        yield Mapped(parameter, shorten(visible(text), _SHOWN), None, _TO_BE_RECKONED)
