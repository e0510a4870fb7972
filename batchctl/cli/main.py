"""The `batchctl` command: its options, its commands by name, and what becomes of errors."""

from __future__ import annotations

import errno
import gc
import importlib
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TextIO

import click

import batchctl
from batchctl.cli import standard_error
from batchctl.cli.lazily import lazily
from batchctl.cli.session import CliSession
from batchctl.cli.standard_error import tell
from batchctl.domain.error_codes import INSIDE, TYPED
from batchctl.domain.errors import BatchctlError, Refused
from batchctl.domain.text import did_you_mean, in_short, typed, visible

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INTERRUPTED = 130
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
GLOBAL_OPTIONS = {"--config": "--config FILE", "--debug": "--debug"}

# Without importing any of them: the list of commands is shown at once.
COMMANDS: dict[str, tuple[str, str]] = {
    "status": ("status_command", "Show what is happening and what needs a person."),
    "why": ("why_command", "Explain why something does not run: every gate, passed or blocking."),
    "show": ("instance_commands", "Show one instance in full."),
    "history": ("instance_commands", "Show attempts with their exact commands."),
    "output": ("output_command", "Print what the current or last attempt has written."),
    "batches": ("definitions.definition_commands", "List the batches with their steps and instances."),
    "versions": (
        "definitions.version_commands",
        "List the versions of a batch, and what changed from one to the next.",
    ),
    "incidents": ("alerting.incident_commands", "List the problems that people have to know of, and what to type."),
    "inbox": (
        "intake.inbox_commands",
        "List the FileProcess rows that did not become work; resend, retry or reject them.",
    ),
    "report": ("report_command", "Show what is due, what is late, and how long steps take."),
    "waits": ("dependencies.waits_commands", "List the batches that wait for others to complete, and why."),
    "graph": ("dependencies.graph_commands", "Draw the batches, what they wait for and how each stands."),
    "forecast": (
        "dependencies.forecast_command",
        "Forecast when the batches of the night will be ready, and what decides.",
    ),
    "impact": ("dependencies.graph_commands", "Show what the failure of a batch would hold back."),
    "log": ("log_command", "Show what started work by itself, and what came of it."),
    "audit": (
        "maintenance.audit_commands",
        "List who did what, with before and after; verify that nothing of it was changed.",
    ),
    "web": ("web_command", "Show the night in a browser, and act on it there."),
    "controllers": ("controller_commands", "List the controllers and the last sign of life of each."),
    "pools": ("operators.pool_commands", "List the pools, who serves each, and what waits for them."),
    "pool": ("operators.pool_test_command", "Try the agents of a pool: what each has, and whether a step runs there."),
    "agent": ("operators.agent_command", "Carry steps of pools for controllers, on a host without a database login."),
    "freezes": ("operators.freeze_commands", "List what is frozen, why and until when."),
    "requests": ("operators.request_commands", "List what was asked for by rows of OperatorRequest, with the answers."),
    "rerun": ("operators.acting_commands", "Run an instance again from the step that failed, or from another."),
    "skip": ("operators.acting_commands", "Go on without the next step."),
    "pause": ("operators.acting_commands", "Start nothing more of an instance."),
    "resume": ("operators.acting_commands", "Let a paused instance go on."),
    "confirm": ("operators.confirm_commands", "Answer yes to what a step asks: the instance goes on."),
    "refuse": ("operators.confirm_commands", "Answer no to what a step asks: the step has failed."),
    "cancel": ("operators.acting_commands", "Give an instance up; stop a running step."),
    "accept": ("intake.intake_commands", "Take in a rejected or duplicate FileProcess row."),
    "acknowledge": ("alerting.incident_commands", "Acknowledge an incident: no more reminders."),
    "snooze": ("alerting.incident_commands", "Send no reminders of an incident for a while."),
    "note": ("operators.note_command", "Write a note about an instance, an incident or a batch."),
    "enable": ("operators.acting_commands", "Switch a batch on."),
    "disable": ("operators.acting_commands", "Switch a batch off; its instances wait."),
    "mode": ("scheduling.mode_command", "Set what starts a batch: schedules, triggers or only people."),
    "freeze": ("operators.freeze_commands", "Start nothing new: in a batch, in those with a tag, or anywhere."),
    "thaw": ("operators.freeze_commands", "End a freeze; what has waited may start."),
    "drain": ("operators.pool_commands", "Let nothing new begin on a host or in a pool; what runs ends."),
    "undrain": ("operators.pool_commands", "End the drain of a host or a pool."),
    "submit": ("intake.intake_commands", "Insert a FileProcess row and print its id."),
    "task": ("task_commands", "Queue one command, or one piece of SQL, to be run as it stands."),
    "backfill": ("scheduling.backfill_commands", "Start the work of past due times of a schedule."),
    "wait": ("task_commands", "Wait until instances are done or need a person."),
    "create": ("intake.intake_commands", "Make instances of the FileProcess rows (one creation pass)."),
    "process": ("engine_commands", "Walk every enabled batch until nothing more may start now."),
    "run": ("engine_commands", "Be the controller: create and process, again and again."),
    "schedule": ("scheduling.schedule_commands", "List the schedules, see when they run, add and change them."),
    "calendar": ("scheduling.calendar_commands", "Keep the calendars of holidays and business days."),
    "trigger": ("intake.trigger_commands", "List the data triggers, or see what one would do."),
    "watch": ("intake.watch_commands", "List the folders that are watched, and test what would be taken from one."),
    "job": ("definitions.job_commands", "List decorated Python jobs, run or cancel one, see its history."),
    "variable": ("definitions.variable_commands", "List the variables that definitions name; set and remove them."),
    "import": ("definitions.import_commands", "Read the jobs of another scheduler as definitions."),
    "export": ("definitions.file_commands", "Write the definitions to a file that people read, edit and keep."),
    "plan": ("definitions.file_commands", "Show what applying files would change, and what is wrong with them."),
    "apply": ("definitions.file_commands", "Make the definitions what files say, in one transaction."),
    "check": (
        "definitions.definition_commands",
        "Check every definition row, placeholder, plugin and connection name.",
    ),
    "doctor": ("maintenance.doctor_command", "Examine the databases, the connections and this host."),
    "fsck": ("maintenance.fsck_command", "Check whether the tables obey every law of the engine."),
    "alert": ("alerting.alert_commands", "List the channels for alerts, try them, look whether a controller works."),
    "purge": ("maintenance.purge_command", "Delete what is older than the table Setting says."),
    "demo": ("maintenance.demo_command", "Run the worked example in a fresh folder and show what it made."),
    "db": ("maintenance.database_commands", "Create, upgrade or verify the control database."),
    "service": (
        "maintenance.service_command",
        "Print what lets a controller run as a service: systemd, Task Scheduler, SQL Agent.",
    ),
    "completion": ("completion_command", "Print what makes a shell complete commands and names of batches."),
}

GROUPS: dict[str, dict[str, str]] = {
    "Look": {
        "status, web": "Show what is happening, here or in a browser.",
        "why": "Explain why something does not run.",
        "show, history, output": "Show an instance; its attempts; what they write.",
        "batches, versions": "List batches and steps; how they changed.",
        "incidents, inbox": "List problems; rows that did not become work.",
        "report, forecast": "Show what is due or late; when it will be ready.",
        "graph, waits, impact": "Draw dependencies; what waits; what a failure holds.",
        "log, audit": "Show what started by itself; who did what.",
        "controllers, requests": "List controllers; what was asked for by rows.",
    },
    "Act": {
        "rerun, skip": "Run an instance again; go on without its next step.",
        "pause, resume, cancel": "Hold an instance; let it go on; give it up.",
        "confirm, refuse, note": "Answer what a step asks people; write a note.",
        "acknowledge, snooze": "Stop or delay the reminders of an incident.",
        "enable, disable, mode": "Switch a batch on or off; set what starts it.",
        "freeze, thaw, freezes": "Start nothing new; end that; list freezes.",
    },
    "Start work": {
        "submit, accept, task": "Insert a row, or take it in; queue one command.",
        "backfill, wait": "Start work of past due times; wait for its end.",
        "create, process, run": "Make instances; walk once; be the controller.",
        "agent": "Carry steps for controllers behind a firewall.",
    },
    "Define": {
        "schedule, calendar": "Keep schedules; business days and holidays.",
        "trigger, watch": "See data triggers and watched folders; test them.",
        "job, variable": "Decorated Python jobs; variables of definitions.",
        "export, plan, apply": "Write definitions to a file; compare; apply.",
    },
    "Operate": {
        "check, doctor, fsck": "Check the definitions; this host; the tables.",
        "pools, drain, undrain": "List pools; begin nothing new in one, or on a host.",
        "pool, alert, purge": "Try agents, alert channels; delete what is old.",
    },
    "Set up": {
        "demo": "Run the worked example in a fresh folder.",
        "db, import": "Create or verify the database; read others' jobs.",
        "service, completion": "Print a service definition; shell completion.",
    },
}
"""What `batchctl --help` shows: commands that belong together share a line."""


CALLED_ELSEWHERE = {
    **dict.fromkeys(["restart", "retry", "redo"], "rerun"),
    **dict.fromkeys(["kill", "stop", "abort", "terminate"], "cancel"),
    **dict.fromkeys(["hold", "suspend"], "pause"),
    **dict.fromkeys(["unpause", "release", "continue"], "resume"),
    **dict.fromkeys(["unfreeze", "melt"], "thaw"),
    **dict.fromkeys(["cordon", "quiesce"], "drain"),
    **dict.fromkeys(["uncordon"], "undrain"),
    **dict.fromkeys(["ps", "failed", "failures", "errors", "running"], "status"),
    **dict.fromkeys(["ls", "list"], "batches"),
    **dict.fromkeys(["alerts", "problems"], "incidents"),
    **dict.fromkeys(["ack", "mute"], "acknowledge"),
    **dict.fromkeys(["explain", "reason"], "why"),
    **dict.fromkeys(["logs", "tail", "stdout"], "output"),
    **dict.fromkeys(["start", "daemon"], "run"),
    "help": "--help",
    "version": "--version",
}
"""Words of other programs, and what they are here: the nearest spelling of a command here may do the opposite."""


class ReaderGoneError(Exception):
    """The reader of what is printed has gone. No `OSError`: click itself would end the program on one, with 1."""


@contextmanager
def _seeing_the_reader_go() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


class CommandsByName(click.Group):
    """Imports a command only when it is used: help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        with lazily():
            module = importlib.import_module(f"batchctl.cli.{COMMANDS[cmd_name][0]}")
            command: click.Command = getattr(module, f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the options, which may already print help."""
        with _seeing_the_reader_go():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Carry a command out."""
        with _seeing_the_reader_go():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which one may have been meant."""
        if args[0] in COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        meant = CALLED_ELSEWHERE.get(args[0].lower())
        hint = did_you_mean(args[0], COMMANDS) if meant is None else f" Did you mean '{meant}'?"
        raise click.UsageError(f"There is no command '{visible(args[0])}'.{hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete the name of a command from the table, without importing any of them."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only a shell that completes needs it

        named = [CompletionItem(name, help=said) for name, (_, said) in COMMANDS.items() if name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups from their table, without a line between them: all of it fits on a screen."""
        del ctx
        widest = max(len(names) for group in GROUPS.values() for names in group)
        formatter.write("\n")
        for group, lines in GROUPS.items():
            formatter.write(f"{group}:\n")
            with formatter.indentation():
                formatter.write_dl([(names.ljust(widest), text) for names, text in lines.items()], col_max=widest)


@click.group(cls=CommandsByName, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", metavar="FILE", help="Settings file [$BATCHCTL_CONFIG, else ./batchctl.toml].")
@click.option("--debug", is_flag=True, help="Show a traceback when something goes wrong.")
@click.version_option(batchctl.__version__, prog_name="batchctl", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, config: str | None, debug: bool) -> None:
    """Batch control in which everything is a row. Begin with: batchctl demo."""
    ctx.obj = CliSession(config=config, debug=debug)


def entry() -> None:
    """Be the console script."""
    code = run()
    # Otherwise Python looks through all that was loaded once more before it ends, a fifth of what `status` takes.
    gc.freeze()
    sys.exit(code)


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_print(stream)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        code = 0  # The reader of the output has seen enough.
        standard_error.empty(sys.stdout)
    except OSError as error:
        code = _tell_unwritten(error, debug="--debug" in arguments)
    standard_error.empty(sys.stderr)
    return code


def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments
    try:
        result = cli.main(args=arguments, prog_name="batchctl", standalone_mode=False)
    except click.ClickException as error:
        with standard_error.unless_full():
            _placed(error).show()
        if isinstance(error, click.MissingParameter) and error.ctx is not None:
            tell(visible(f"Next: {_with_what_lacks(error, error.ctx)}"))
        tell(f"Code: BC{TYPED}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        # click turns a Ctrl-C into an Abort too; a person who was asked and answers no has interrupted nothing.
        was_asked = isinstance(error, click.Abort) and not isinstance(error.__cause__, KeyboardInterrupt)
        tell("Nothing was done." if was_asked else "Interrupted.")
        return INTERRUPTED
    except (BrokenPipeError, ReaderGoneError):
        raise
    except BatchctlError as error:
        _show(error, debug=debug)
        return error.exit_code
    except PermissionError as error:
        _show(_forbidden(error), debug=debug)
        return Refused.exit_code
    except OSError as error:
        if error.errno not in _NO_ROOM:
            _show_unexpected(error, debug=debug)
            return 1
        return _tell_unwritten(error, debug=debug)
    except Exception as error:  # noqa: BLE001 - the last boundary: a person gets one line, not a traceback
        _show_unexpected(error, debug=debug)
        return 1
    return result if isinstance(result, int) else 0


def _tell_unwritten(error: OSError, *, debug: bool) -> int:
    """Say that what is printed does not reach its reader, and try no more of it."""
    _show(_unwritten(error), debug=debug)
    standard_error.empty(sys.stdout)
    return BatchctlError.exit_code


def _unwritten(error: OSError) -> BatchctlError:
    where = "what is printed" if error.filename is None else f"'{error.filename}'"
    message = f"There is no way to write {where}: {error.strerror or error}."
    return BatchctlError(message, next_step="make room where the output goes; what the command does besides is done")


def _forbidden(error: PermissionError) -> Refused:
    place = "something that is needed" if error.filename is None else f"'{error.filename}'"
    message = f"This user may not use {place}: {error.strerror or error}."
    return Refused(message, next_step="let this user read and write there, or act as the user who runs the controller")


def _placed(error: click.ClickException) -> click.ClickException:
    """Say where an option of `batchctl` itself stands when it was given to a command."""
    if isinstance(error, click.NoSuchOption) and error.option_name in GLOBAL_OPTIONS:
        given = GLOBAL_OPTIONS[error.option_name]
        path = error.ctx.command_path if error.ctx is not None else "batchctl COMMAND"
        message = f"{error.option_name} stands before the command: batchctl {given} {path.partition(' ')[2]}"
        return click.UsageError(message, error.ctx)
    if isinstance(error, click.UsageError) and error.ctx is not None and error.ctx.info_name in {"freeze", "thaw"}:
        found, verb = _EXTRA.match(error.message), error.ctx.info_name
        if found is not None:
            name = typed(found[1])
            message = f"A batch or a tag is named by an option: batchctl {verb} --batch {name}, or --tag {name}."
            return click.UsageError(message, error.ctx)
    return error


def _with_what_lacks(error: click.MissingParameter, ctx: click.Context) -> str:
    """Name all that has to be given and was not, and nothing that was: a value of `--set` may be a secret."""
    lacking = [one for one in ctx.command.params if one is error.param or (one.required and one.name not in ctx.params)]
    added = [
        f"{max(one.opts, key=len)} ..." if isinstance(one, click.Option) else one.human_readable_name for one in lacking
    ]
    return f"the same command with {' '.join(added)}"


_EXTRA = re.compile(r"Got unexpected extra argument \((.*)\)")


def _show(error: BatchctlError, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    tell("\n".join(visible(line) for line in f"Error: {error.message}".split("\n")))
    if error.next_step:
        tell(visible(f"Next: {error.next_step}"))
    tell(f"Code: {error.code}")


def _show_unexpected(error: Exception, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    tell(f"Error: something went wrong inside batchctl: {in_short(error)}")
    if not debug:
        tell("Next: the same command with --debug shows where (batchctl --debug ...)")
    tell(f"Code: BC{INSIDE}")


def _never_fail_to_print(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
