"""Commands without the start of an interpreter: a process has loaded batchctl, and forks one that carries a command out.

What a command may do to its process (its folder, environment, signals, modules, exit) ends with it, as in a terminal.
A command that only reads or changes rows leaves a process as it was: one process carries out many of them in turn, for to
fork takes twice as long as most of them do.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from batchctl.cli import main
from tests import compiled_once

# What the product imports only where a command needs it.
ALSO = ("alembic.command", "psycopg", "rich.table", "rich.console", "sqlalchemy.dialects.postgresql.psycopg")
NOT_HERE = ("batchctl.__main__", "batchctl.plugin_host", "batchctl.system.commands.supervisor")
"""Programs of their own."""


WARMING = (
    *("db upgrade", "task enable --reason warm", "check", "task -- true", "create", "run --once", "status", "why 1"),
    *(
        "show 1",
        "history 1",
        "inbox",
        "incidents",
        "schedule list",
        "rerun 1 --reason warm",
        "batches",
        "audit",
        "db verify",
    ),
)
LOOK = ("status", "show", "history", "why", "batches", "versions", "inbox", "incidents", "report", "waits", "impact")
LISTS = ("log", "audit", "controllers", "requests", "freezes", "schedule", "calendar")
ACT = ("rerun", "skip", "pause", "resume", "cancel", "accept", "acknowledge", "snooze", "enable", "disable", "mode")
IN_TURN = frozenset((*LOOK, *LISTS, *ACT, "freeze", "thaw", "submit", "purge"))
"""What starts no process, calls no plugin, and ends by itself."""
BATCHCTL = main.__name__
PATIENCE = 300.0
"""Seconds that a command may take."""
MOST_IN_TURN = 100
"""How many commands one process carries out; each leaves a little more in its memory."""


class LoadedBatchctl:
    """The process that has loaded batchctl, seen from the tests."""

    def __init__(self) -> None:
        """Start it."""
        self._folder = tempfile.TemporaryDirectory(prefix="batchctl-loaded-")
        self._address = str(Path(self._folder.name) / "door")
        ready, done = os.pipe()
        command = [sys.executable, "-Im", "tests.loaded_batchctl", self._address, str(done)]
        self._process = subprocess.Popen(command, pass_fds=[done], stdin=subprocess.DEVNULL)
        os.close(done)
        with os.fdopen(ready, "rb") as door:
            if not door.read():
                message = "batchctl could not be loaded; the reason stands above"
                raise RuntimeError(message)
        self._idle: list[_Line] = []

    def run(
        self,
        *args: str,
        cwd: Path,
        env: Mapping[str, str],
        input: str = "",
        patience: float = PATIENCE,
        program: str = BATCHCTL,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as `subprocess.run` does, or another program: a module with `entry`."""
        stays = program == BATCHCTL and args[:1] != () and args[0] in IN_TURN
        request = {"program": program, "args": args, "cwd": str(cwd), "env": dict(env), "stays": stays}
        with _file() as given, _file() as out, _file() as err:
            given.write(input)
            given.flush()
            given.seek(0)
            line = self._idle.pop() if stays and self._idle else _Line(self._address)
            try:
                line.ask(request, [given.fileno(), out.fileno(), err.fileno()])
                code = line.answer(patience)
            except TimeoutError:
                line.send_signal(signal.SIGKILL)
                line.close()
                raise subprocess.TimeoutExpired(["batchctl", *args], patience) from None
            except BaseException:
                line.close()
                raise
            if line.is_open and line.asked < MOST_IN_TURN:
                self._idle.append(line)
            else:
                line.close()
            said = [_read(stream) for stream in (out, err)]
        return subprocess.CompletedProcess(["batchctl", *args], code, *said)

    def start(
        self, *args: str, cwd: Path, env: Mapping[str, str], stdout: int | IO[str], stderr: int | IO[str]
    ) -> StartedBatchctl:
        """Start a command that goes on, as `subprocess.Popen` does."""
        line = _Line(self._address)
        with ExitStack() as stack, Path(os.devnull).open(encoding="ascii") as given:
            (out, heard_out), (err, heard_err) = (_stream(stack, wanted) for wanted in (stdout, stderr))
            request = {"program": BATCHCTL, "args": args, "cwd": str(cwd), "env": dict(env), "stays": False}
            line.ask(request, [given.fileno(), out, err])
        return StartedBatchctl(line, args, heard_out, heard_err)

    def close(self) -> None:
        """End the process."""
        for line in self._idle:
            line.close()
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()


class StartedBatchctl:
    """A command that goes on, with the parts of `subprocess.Popen` that the tests use."""

    def __init__(self, line: _Line, args: tuple[str, ...], stdout: IO[str] | None, stderr: IO[str] | None) -> None:
        """Keep the line to its process."""
        self.args = ["batchctl", *args]
        self.pid = line.pid
        self.stdout, self.stderr = stdout, stderr
        self.returncode: int | None = None
        self._line = line

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        self._line.send_signal(number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Return its exit code, or None while it goes on."""
        with suppress(TimeoutError):
            self._wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its exit code."""
        try:
            return self._wait(timeout)
        except TimeoutError:
            raise subprocess.TimeoutExpired(self.args, timeout or 0) from None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read all that it says, and wait for its end."""
        heard = ["", ""]
        ears = [
            threading.Thread(target=_hear, args=(stream, heard, at), daemon=True)
            for at, stream in enumerate((self.stdout, self.stderr))
            if stream is not None and not stream.closed
        ]
        for ear in ears:
            ear.start()
        self.wait(timeout)
        for ear in ears:
            ear.join(timeout)
        return heard[0], heard[1]

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self.returncode = self._line.answer(timeout)
            self._line.close()
        return self.returncode


def _hear(stream: IO[str], heard: list[str], at: int) -> None:
    with stream:
        heard[at] = stream.read()


class _Line:
    """A line to a process that carries commands out."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(address)
        self._answers = self._socket.makefile("rb", buffering=0)
        self.pid = int(self._answers.readline())
        # Its number may be another's once it has ended.
        self._process = os.pidfd_open(self.pid)
        self.asked = 0
        self.is_open = True
        """False once the process has ended."""

    def ask(self, request: Mapping[str, Any], streams: list[int]) -> None:
        """Let the process carry a command out."""
        self.asked += 1
        text = json.dumps(request).encode()
        self._socket.settimeout(None)
        socket.send_fds(self._socket, [len(text).to_bytes(8)], streams)
        self._socket.sendall(text)

    def answer(self, patience: float | None) -> int:
        """Wait until the command is carried out; return its exit code."""
        if not select.select([self._socket], [], [], patience)[0]:
            raise TimeoutError
        ended, _, code = self._answers.readline().partition(b" ")
        self.is_open = ended == b"carried-out"
        return int(code)

    def send_signal(self, number: int) -> None:
        """Send the process a signal, unless it has ended."""
        if self._process != -1:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)

    def close(self) -> None:
        self._answers.close()
        self._socket.close()
        os.close(self._process)
        self._process = -1


def _stream(stack: ExitStack, wanted: int | IO[str]) -> tuple[int, IO[str] | None]:
    """Return what a command writes to, open until the stack ends, and what is read of it."""
    if wanted == subprocess.PIPE:
        ours, theirs = os.pipe()
        stack.callback(os.close, theirs)
        return theirs, os.fdopen(ours, encoding="utf-8")
    if wanted == subprocess.DEVNULL:
        return stack.enter_context(Path(os.devnull).open("w", encoding="ascii")).fileno(), None
    return wanted if isinstance(wanted, int) else wanted.fileno(), None


def _file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")


def _read(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


def serve(address: str, ready: int) -> None:
    """Fork for every command that is asked for, and report how it ended."""
    _load()
    _warm()
    gc.freeze()  # what is looked through for garbage is copied for every command
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    lines: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        os.write(ready, b"ready")
        os.close(ready)
        while True:
            called = select.select([door.fileno(), ended], [], [])[0]
            if door.fileno() in called:
                line, _ = door.accept()
                if (pid := os.fork()) == 0:
                    _attend(line)
                lines[pid] = line
                line.sendall(b"%d\n" % pid)
            if ended in called:
                os.read(ended, select.PIPE_BUF)
                _report_ends(lines)


def _report_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with lines.pop(pid) as line, suppress(BrokenPipeError):
            line.sendall(b"ended %d\n" % os.waitstatus_to_exitcode(status))


def _load() -> None:
    for package in ("batchctl", "step_handlers"):
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if module.name not in NOT_HERE:
                importlib.import_module(module.name)
    for name in ALSO:
        importlib.import_module(name)


def _warm() -> None:
    """Carry commands out, so that those that are asked for find compiled what all of them execute."""
    compiled_once.share()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    given, environment, streams = sys.argv, dict(os.environ), (sys.stdout, sys.stderr)
    with tempfile.TemporaryDirectory(prefix="batchctl-warm-") as folder, Path(os.devnull).open("w") as nowhere:
        with contextlib.chdir(folder):
            os.environ["XDG_STATE_HOME"] = folder
            sys.stdout = sys.stderr = nowhere
            for command in WARMING:
                sys.argv = ["batchctl", *command.split()]
                with suppress(SystemExit):
                    main.entry()
        sys.argv, (sys.stdout, sys.stderr) = given, streams
    os.environ.clear()
    os.environ.update(environment)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    if threading.active_count() > 1:
        message = f"a command leaves threads behind: {threading.enumerate()}"
        raise RuntimeError(message)


def _attend(line: socket.socket) -> NoReturn:
    """Carry out the commands that a line asks for, one after the other; the last ends the process."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    path = list(sys.path)
    while True:
        length, streams, _, _ = socket.recv_fds(line, 8, 3)
        if not length:
            os._exit(0)
        with line.makefile("rb") as asked:
            request = json.loads(asked.read(int.from_bytes(length)))
        code = _carry_out(request, streams)
        if not request["stays"] or threading.active_count() > 1:
            _end(code)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.path[:] = path
        _forget_modules_of(request["cwd"])
        line.sendall(b"carried-out %d\n" % code)


def _carry_out(request: dict[str, Any], streams: list[int]) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.argv = ["batchctl", *request["args"]]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            os.fdopen(number, "wb", closefd=False),
            encoding="utf-8",
            errors="strict" if number == 1 else "backslashreplace",
            line_buffering=number == 2 or os.isatty(number),
        )
        for number in (1, 2)
    )
    code: object = 1
    try:
        importlib.import_module(request["program"]).entry()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as an interpreter ends
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 0


def _end(code: int) -> NoReturn:
    """Do what an interpreter does at its end, but for taking apart all that was loaded."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _forget_modules_of(folder: str) -> None:
    """Forget what was imported from a folder of a test: the next one may have modules of the same names."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
    importlib.invalidate_caches()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
