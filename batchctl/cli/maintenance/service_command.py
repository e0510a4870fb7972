"""`batchctl service`."""

from __future__ import annotations

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.session import CliSession, one_of, pass_session
from batchctl.operations.maintenance import service_files
from batchctl.system.commands import command_line

KINDS = ("systemd", "task-scheduler", "sql-agent")


@click.command()
@click.option("--kind", type=one_of(KINDS), required=True, help="What is to keep the controller running.")
@click.option("--name", default="batchctl", show_default=True, help="What to call the service.")
@click.option("--user", metavar="USER", help="As whom it runs; who types this, unless given.")
@click.option("--proxy", metavar="NAME", help="The proxy of SQL Server Agent as whose credential it runs.")
@pass_session
def service(session: CliSession, kind: str, name: str, user: str | None, proxy: str | None) -> None:
    """Print what lets a controller run as a service, for change control; nothing is installed.

    It names the settings file and the Python in use now. Secrets are not in it: it says which variables it needs.
    """
    if proxy is not None and kind != "sql-agent":
        raise click.UsageError("--proxy belongs to --kind sql-agent.")
    described = app.describe_service(session.config, name, user)
    match kind:
        case "systemd":
            text = service_files.systemd_unit(described)
            path = f"/etc/systemd/system/{name}.service"
            next_step = f"save it as {path}, then: systemctl daemon-reload && systemctl enable --now {name}"
        case "task-scheduler":
            text = service_files.scheduler_task(described, command_line.for_windows(described.argv[1:]))
            next_step = (
                f"save it as {name}.xml, then: schtasks /create /tn {name} /xml {name}.xml /ru {described.user} /rp *"
            )
        case _:
            text = service_files.sql_agent_job(described, command_line.for_windows(described.argv), proxy)
            next_step = f"save it as {name}.sql, then: sqlcmd -S SERVER -b -i {name}.sql"
    output.verbatim(text)
    output.say(f"Next: {next_step}")
