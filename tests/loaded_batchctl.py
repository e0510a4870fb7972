"""Commands without the start of an interpreter: a process has loaded batchctl, and forks one that carries a command out.

What a command may do to its process (its folder, environment, signals, modules, exit) ends with it, as in a terminal.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from batchctl.cli import main
from tests import compiled_once

# What the product imports only where a command needs it.
ALSO = ("alembic.command", "psycopg", "rich.table", "rich.console", "sqlalchemy.dialects.postgresql.psycopg")
NOT_HERE = ("batchctl.__main__", "batchctl.plugin_host", "batchctl.system.supervisor")
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

    def run(
        self, *args: str, cwd: Path, env: Mapping[str, str], input: str, patience: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as `subprocess.run` does."""
        with _file() as given, _file() as out, _file() as err:
            given.write(input)
            given.flush()
            given.seek(0)
            request = json.dumps({"args": args, "cwd": str(cwd), "env": dict(env)}).encode()
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(patience)
                line.connect(self._address)
                socket.send_fds(line, [len(request).to_bytes(8)], [given.fileno(), out.fileno(), err.fileno()])
                line.sendall(request)
                code = self._outcome(line, args, patience)
            said = [_read(stream) for stream in (out, err)]
        return subprocess.CompletedProcess(["batchctl", *args], code, *said)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    @staticmethod
    def _outcome(line: socket.socket, args: tuple[str, ...], patience: float) -> int:
        pid = None
        try:
            with line.makefile("rb") as answer:
                pid = int(answer.readline())
                return int(answer.readline())
        except TimeoutError:
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["batchctl", *args], patience) from None


def _file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")


def _read(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


def serve(address: str, ready: int) -> None:
    """Fork for every command that is asked for."""
    _load()
    _warm()
    gc.freeze()  # what is looked through for garbage is copied for every command
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who is forked here waits for nobody
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        os.write(ready, b"ready")
        os.close(ready)
        while True:
            line, _ = door.accept()
            if os.fork() == 0:
                door.close()
                _attend(line)
            line.close()


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
    """Wait for a command and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, _, _ = socket.recv_fds(line, 8, 3)
    with line, line.makefile("rb") as asked:
        request = json.loads(asked.read(int.from_bytes(length)))
        pid = os.fork()
        if pid == 0:
            line.detach()
            _carry_out(request, streams)
        line.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _carry_out(request: dict[str, Any], streams: list[int]) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.argv = ["batchctl", *request["args"]]
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False) for number in range(3)
    )
    code: object = 1
    try:
        main.entry()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as an interpreter ends
        traceback.print_exc()
    # What an interpreter does at its end, but for taking apart all that was loaded.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
