"""What lets a controller, or an agent, run as a service: a unit for systemd, a task for the Task Scheduler of Windows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from batchctl.domain.errors import Refused
from batchctl.domain.text import visible
from batchctl.domain.values import value
from batchctl.store.maintenance.tsql_script import agent_job

_WATCHDOG = 120
"""Seconds without a turn of its loop after which systemd starts a controller anew."""
_TO_END = 15
"""Seconds for what a controller does besides while it ends."""
_OUTLIVING = {
    "controller": "the next one goes on with them",
    "agent": "the next one stops what others may repeat, and lets the rest end",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")


@value
class Service:
    """One controller, or agent, as a service: what is started, where, as whom."""

    name: str
    what: str
    """`controller`, or `agent`."""
    argv: tuple[str, ...]
    directory: str
    user: str
    config: str | None
    """The whole path of the settings file, if there is one."""
    longest_end: float
    """Seconds that it takes at most to let its steps end, or to stop them."""
    variables: tuple[str, ...] = ()
    """The names of the environment variables without which it does not work as here."""


def systemd_unit(service: Service) -> str:
    """Return a unit file."""
    _refuse_unfit(service)
    environment = f"/etc/batchctl/{service.name}.env"
    needed = [f"#   {name}=..." for name in service.variables]
    variables = [
        *(
            ["# It needs these variables, which stand in no unit because everybody may read units:", *needed]
            if needed
            else []
        ),
        f"EnvironmentFile=-{environment}",
    ]
    lines = [
        "[Unit]",
        f"Description=batchctl {service.what} ({_unit_text(service.config or service.directory)})",
        "After=network-online.target",
        "Wants=network-online.target",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        *(["Type=exec"] if service.what == "agent" else ["Type=notify", "NotifyAccess=main"]),
        f"User={service.user}",
        f"WorkingDirectory={_unit_text(service.directory)}",
        *variables,
        f"ExecStart={' '.join(map(_unit_word, service.argv))}",
        "Restart=on-failure",
        "RestartSec=10",
        "# What a configuration lacks, no restart mends.",
        "RestartPreventExitStatus=2",
        *([] if service.what == "agent" else [f"WatchdogSec={_WATCHDOG}"]),
        f"# Running commands outlive the {service.what}: {_OUTLIVING[service.what]}.",
        "KillMode=process",
        f"TimeoutStopSec={service.longest_end + _TO_END:g}",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return "\n".join(lines)


def scheduler_task(service: Service, arguments: str) -> str:
    """Return a task as XML, whatever encoding it is written in; `arguments` is what follows the program."""
    _refuse_unfit(service)
    variables = "".join(f" {name}" for name in service.variables)
    note = f" It needs the system's environment variables{variables}." if variables else ""
    described = f"The {service.what} of batchctl; {service.config or service.directory}.{note}"
    # The second trigger starts what has ended; while it runs, IgnoreNew lets nothing start.
    return f"""\
<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>{escape(described)}</Description>
  </RegistrationInfo>
  <Triggers>
    <BootTrigger>
      <Enabled>true</Enabled>
    </BootTrigger>
    <TimeTrigger>
      <Repetition>
        <Interval>PT1M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>2020-01-01T00:00:00</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{escape(service.user)}</UserId>
      <LogonType>Password</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <AllowStartOnDemand>true</AllowStartOnDemand>
    <Enabled>true</Enabled>
    <Hidden>false</Hidden>
    <RunOnlyIfIdle>false</RunOnlyIfIdle>
    <WakeToRun>false</WakeToRun>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>6</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(service.argv[0])}</Command>
      <Arguments>{escape(arguments)}</Arguments>
      <WorkingDirectory>{escape(service.directory)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>"""


def sql_agent_job(service: Service, command: str, proxy: str | None) -> str:
    """Return T-SQL that makes a job of SQL Server Agent; `command` is the whole command line."""
    _refuse_unfit(service)
    if service.config is None:
        message = "A job of SQL Server Agent begins in a folder of its own, so it needs a settings file to name."
        raise Refused(message, next_step="write a batchctl.toml, then: batchctl service --kind sql-agent")
    if "$(" in command:
        message = f"The command holds '$(', which SQL Server Agent takes for a token: {visible(command)}"
        raise Refused(message, next_step="install batchctl, or put its settings, into a folder without it")
    return agent_job(service.name, command, proxy, service.variables)


def _refuse_unfit(service: Service) -> None:
    """Refuse what none of the three kinds can say."""
    if not _NAME.match(service.name):
        message = (
            f"'{visible(service.name)}' is no name of a service: letters, digits, and any of _ . - after the first."
        )
        raise Refused(message, next_step="batchctl service --kind KIND --name batchctl")
    parts: Sequence[str] = (*service.argv, service.directory, service.user, service.config or "", *service.variables)
    for part in parts:
        if not part.isprintable():
            message = f"'{visible(part)}' holds a control character, which the file of a service cannot."
            raise Refused(message, next_step="move the folder to a path without it")


def _unit_text(text: str) -> str:
    return text.replace("%", "%%")


def _unit_word(word: str) -> str:
    """Write one argument of ExecStart; systemd knows quotes, escapes, `%` and `$`."""
    text = _unit_text(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{text}"' if re.search(r"[\s\"';\\]", text) or not text else text
