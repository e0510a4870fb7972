"""`batchctl service`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.session import CliSession, one_of, pass_session
from batchctl.domain.text import visible
from batchctl.operations.maintenance import service_files
from batchctl.system.commands import command_line

RUNNING = ("run", "agent")
KINDS = ("systemd", "task-scheduler", "sql-agent")


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--kind", type=one_of(KINDS), required=True, help="What is to keep it running.")
@click.option("--name", default="batchctl", show_default=True, help="What to call the service.")
@click.option("--user", metavar="USER", help="As whom it runs; who types this, unless given.")
@click.option("--proxy", metavar="NAME", help="The proxy of SQL Server Agent as whose credential it runs.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[run|agent ...]")
@pass_session
def service(
    session: CliSession, kind: str, name: str, user: str | None, proxy: str | None, command: tuple[str, ...]
) -> None:
    """Print what lets a controller run as a service, or an agent, for change control; nothing is installed.

    What runs stands last, as it is typed: `agent --pool ssis`; without it, `run`. It names the settings file and the
    Python in use now. Secrets are not in it: it says which variables it needs.
    """
    words = command or ("run",)
    _check(click.get_current_context().find_root(), words)
    if proxy is not None and kind != "sql-agent":
        raise click.UsageError("--proxy belongs to --kind sql-agent.")
    described = app.describe_service(session.config, name, user, words)
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


def _check(root: click.Context, words: Sequence[str]) -> None:
    """Refuse what would end at once: a command that does not go on until it is ended, or that does not take its options."""
    found = root.command.get_command(root, words[0]) if isinstance(root.command, click.Group) else None
    if words[0] not in RUNNING or found is None:
        message = f"'{visible(words[0])}' does not run as a service: {' or '.join(RUNNING)}."
        raise click.UsageError(message)
    with found.make_context(words[0], [*words[1:]], parent=root):
        pass
