"""Runs one operating-system command and says exactly how it ended."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from batchctl.domain.commands import Command, CommandEnd
from batchctl.domain.text import unfit, visible
from batchctl.system.commands.kept_output import Output
from batchctl.system.concurrency.following import Follower, follow
from batchctl.system.concurrency.stopping import Stop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.host.platform import Tree

DRAIN = 0.2
"""Seconds that output may still come in after the command itself has ended."""


_MEANS = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class LacksMeans(Exception):
    """The system had no more processes, descriptors or memory to give, so nothing was started."""

    def __init__(self, error: OSError) -> None:
        """Keep the system's message."""
        super().__init__(str(error))
        self.error = error


class CommandRun:
    """A command under way, with everything it has started."""

    def __init__(
        self,
        command: Command,
        *,
        environment: Mapping[str, str],
        cookie: str,
        stop: Stop,
        threads: Threads,
        announce: Callable[[Tree], None],
        cap: int,
        spawn: type[Tree] = Tree,
    ) -> None:
        """Start it in an environment; its end says whether that was possible."""
        self._stop = stop
        self._output = Output(cap)
        self._refused = _refused(command.argv, stop)
        self._code: int | None = None
        self._has_rest = False
        self.lacked_means = False
        """True when it was not started because the system had no more processes, descriptors or memory to give."""
        if self._refused is not None:
            return
        whole = {**environment, **command.environment}
        try:
            self._tree, self._follower = _start(command, whole, cookie, self._output, threads, spawn)
        except LacksMeans as lack:
            self.lacked_means = True
            self._refused = CommandEnd(not_started=why_not_started(lack.error, command, whole))
            return
        except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
            self._refused = CommandEnd(not_started=why_not_started(error, command, whole))
            return
        announce(self._tree)
        self._guard = stop.guard(self._tree)

    @property
    def follower(self) -> Follower | None:
        """What follows it without waiting for it; None when it was not started."""
        return None if self._refused is not None else self._follower

    @property
    def output(self) -> Output:
        """What it has written so far."""
        return self._output

    @property
    def leaves_nothing(self) -> bool:
        """Say of a command that has ended whether there is nothing left that `end` would have to wait for."""
        if self._stop.announced or not self._follower.has_ended(0):
            return False
        self._reap()
        return not self._has_rest

    def end(self) -> CommandEnd:
        """Follow it and everything it has started to the end, and say how it ended."""
        if self._refused is not None:
            return self._refused
        with closing(self._follower), self._guard:
            if self._code is None:
                self._follower.wait()
            # The command ends with its leader; other processes that still hold the pipe may not keep the step waiting.
            held_on = not self._follower.has_ended(DRAIN)
            code = self._reap()
            stopped = self._guard.came_in_time
            left_behind = False
            if held_on or stopped:
                left_behind = self._tree.stop_rest(self._stop.until, escaped=True)
            elif self._has_rest:
                # A process on its way to become a daemon is given the time to leave; what has left is left alone.
                left_behind = self._tree.stop_rest(time.monotonic() + DRAIN, escaped=False)
            out_of_reach = held_on and not self._follower.has_ended(DRAIN)
        return CommandEnd(
            exit_code=code if code >= 0 else None,
            signal_name=signal_name(code) if code < 0 else None,
            output=self._output.text(),
            stopped=stopped,
            left_behind=left_behind,
            out_of_reach=out_of_reach,
        )

    def _reap(self) -> int:
        if self._code is None:
            self._guard.release()
            self._code = self._tree.reap()
            self._has_rest = self._tree.has_rest()
        return self._code


def _start(
    command: Command, environment: Mapping[str, str], cookie: str, output: Output, threads: Threads, spawn: type[Tree]
) -> tuple[Tree, Follower]:
    try:
        receiving, sending = os.pipe()
    except OSError as error:
        raise _lack_or(error) from error
    try:
        tree = spawn(
            command.argv,
            directory=command.directory,
            # What a shell sets after `cd`; the controller's own value would lead a command astray.
            environment={**environment, "PWD": _physical(command.directory)},
            cookie=cookie,
            stdin=subprocess.DEVNULL,
            stdout=sending,
            stderr=sending,
        )
    except OSError as error:
        os.close(receiving)
        raise _lack_or(error) from error
    except BaseException:
        os.close(receiving)
        raise
    finally:
        os.close(sending)
    try:
        # Only now: the time it takes to wake a thread passes while the command is already being loaded.
        return tree, follow(tree, receiving, output.feed, threads)
    except BaseException:
        os.close(receiving)
        tree.kill()
        tree.reap()
        raise


def _lack_or(error: OSError) -> Exception:
    return LacksMeans(error) if error.errno in _MEANS else error


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


def _refused(argv: Sequence[str], stop: Stop) -> CommandEnd | None:
    if stop.announced:
        return CommandEnd(not_started="the step was told to stop before the command was started", stopped=True)
    if not argv or not argv[0]:
        return CommandEnd(not_started="the command is empty")
    for at, argument in enumerate(argv):
        if reason := unfit(argument):
            return CommandEnd(not_started=f"argument {at} cannot be passed to a command: {reason}")
    return None


def why_not_started(error: Exception, command: Command, environment: Mapping[str, str]) -> str:
    """Say in words why a command could not be started."""
    argv, directory = command.argv, command.directory
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
