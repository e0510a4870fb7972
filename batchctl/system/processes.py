"""Runs one operating-system command and says exactly how it ended."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from batchctl.domain.text import unfit, visible
from batchctl.plugin_api import CommandEnd
from batchctl.system.following import Follower, follow
from batchctl.system.output import Output
from batchctl.system.platform import Tree
from batchctl.system.stopping import Stop
from batchctl.system.threads import Threads

DRAIN = 0.2
"""Seconds that output may still come in after the command itself has ended."""


def run_command(
    argv: Sequence[str],
    *,
    directory: str,
    environment: Mapping[str, str],
    cookie: str,
    stop: Stop,
    threads: Threads,
    announce: Callable[[Tree], None],
    cap: int,
) -> CommandEnd:
    """Start a command, follow it and everything it starts to the end, and say how it ended."""
    if refusal := _refusal(argv, stop):
        return refusal
    output = Output(cap)
    try:
        tree, follower = _start(argv, directory, environment, cookie, output, threads)
    except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
        return CommandEnd(not_started=why_not_started(error, argv, directory, environment))
    announce(tree)
    with closing(follower):
        with stop.stops(tree):
            follower.wait()
        # The command ends with its leader; whoever else still holds the pipe may not keep the step waiting.
        held_on = not follower.has_ended(DRAIN)
        code = tree.reap()
        left_behind = (held_on or stop.told or tree.has_rest()) and tree.stop_rest(stop.until)
        if held_on and not follower.has_ended(DRAIN):
            left_behind = True
    return CommandEnd(
        exit_code=code if code >= 0 else None,
        signal_name=signal_name(code) if code < 0 else None,
        output=output.text(),
        stopped=stop.told,
        left_behind=left_behind,
    )


def _start(
    argv: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    cookie: str,
    output: Output,
    threads: Threads,
) -> tuple[Tree, Follower]:
    receiving, sending = os.pipe()
    try:
        tree = Tree(
            argv,
            directory=directory,
            # What a shell says after `cd`; the controller's own would lead a command astray.
            environment={**environment, "PWD": _physical(directory)},
            cookie=cookie,
            stdin=subprocess.DEVNULL,
            stdout=sending,
            stderr=sending,
        )
    except BaseException:
        os.close(receiving)
        raise
    finally:
        os.close(sending)
    try:
        # Only now: what it takes to wake a thread goes by while the command is already being loaded.
        return tree, follow(tree, receiving, output.feed, threads)
    except BaseException:
        os.close(receiving)
        tree.kill()
        tree.reap()
        raise


def _physical(directory: str) -> str:
    found = os.stat(directory)
    return _resolved(directory, found.st_dev, found.st_ino)


@lru_cache(maxsize=64)
def _resolved(directory: str, device: int, inode: int) -> str:  # noqa: ARG001 - a link may lead elsewhere one day
    return os.path.realpath(directory)


def signal_name(code: int) -> str:
    """Name the signal of a negative exit code."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _refusal(argv: Sequence[str], stop: Stop) -> CommandEnd | None:
    if stop.told:
        return CommandEnd(not_started="the step was told to stop before the command was started", stopped=True)
    if not argv or not argv[0]:
        return CommandEnd(not_started="the command is empty")
    for at, argument in enumerate(argv):
        if reason := unfit(argument):
            return CommandEnd(not_started=f"argument {at} cannot be passed to a command: {reason}")
    return None


def why_not_started(error: Exception, argv: Sequence[str], directory: str, environment: Mapping[str, str]) -> str:
    """Say in words why a command could not be started."""
    if isinstance(error, ValueError):
        return f"its working directory or its environment cannot be passed on: {error}"
    if not isinstance(error, OSError):
        return f"the system refused to start another process: {error}"
    place = Path(directory)
    if not place.is_dir():
        missing = "is not a directory" if place.exists() else "does not exist"
        return f"the working directory '{visible(directory)}' {missing}"
    match error.errno:
        case errno.ENOENT | errno.EACCES | errno.ENOTDIR | errno.EISDIR:
            return _why_not_found(error, argv[0], place, environment.get("PATH", os.defpath))
        case errno.ENOEXEC:
            return f"'{visible(argv[0])}' is not a program for this system, and has no '#!' line that names one"
        case errno.E2BIG:
            size = sum(len(os.fsencode(argument)) for argument in argv)
            return f"the argument list is too long for this system ({size} bytes)"
        case errno.ETXTBSY:
            return f"'{visible(argv[0])}' is being written by somebody at this moment"
        case _:
            return f"the system refused to start another process: {error.strerror}"


def _why_not_found(error: OSError, program: str, directory: Path, search_path: str) -> str:
    name = visible(program)
    if error.errno == errno.EACCES and not os.access(directory, os.X_OK):
        return f"permission denied for the working directory '{visible(str(directory))}'"
    if os.path.dirname(program):
        file = directory / program
    else:
        found = shutil.which(program, path=search_path) or shutil.which(program, os.F_OK, search_path)
        if found is None:
            return f"command '{name}' not found; searched in PATH: {visible(search_path)}"
        file = directory / found
    if file.is_dir():
        return f"'{name}' is a directory"
    if error.errno == errno.EACCES:
        return f"permission denied: '{name}' may not be executed by this user"
    if file.exists():
        return f"'{name}' names an interpreter that does not exist: {_first_line(file)}"
    return f"command '{name}' not found"


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as script:
            return visible(script.readline(200).decode("utf-8", "backslashreplace").strip())
    except OSError:
        return "its first line cannot be read"
