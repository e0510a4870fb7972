"""Nothing happens on import: no socket, no process, no file written, no setting read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.house.source import module_names

# Runs in a process of its own; prints one line for each thing that an import did.
WATCHER = """
import os, sys

sys.dont_write_bytecode = True
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
LOUD = {
    "os.exec", "os.fork", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir", "os.spawn",
    "os.startfile", "os.system", "os.unsetenv", "shutil.rmtree", "signal.pthread_kill", "socket.__new__", "socket.bind",
    "socket.connect", "socket.getaddrinfo", "sqlite3.connect", "subprocess.Popen", "tempfile.mkdtemp",
    "tempfile.mkstemp",
}
module = ""

def report(what):
    print(f"{module}: {what}")

def watch(event, arguments):
    if event in LOUD:
        report(event)
    elif event == "open" and (arguments[2] or 0) & WRITES and arguments[0] != os.devnull:
        report(f"writes {arguments[0]}")

def watched(getitem):
    def read(self, name):
        if name.startswith("BATCHCTL_"):
            report(f"reads {name}")
        return getitem(self, name)
    return read

type(os.environ).__getitem__ = watched(type(os.environ).__getitem__)
sys.addaudithook(watch)
for module in sys.argv[1:]:
    __import__(module)
"""


def noises(*modules: str, path: Path | None = None) -> list[str]:
    """What importing the modules does, one line each."""
    setup = f"import sys; sys.path.insert(0, {str(path)!r})\n" if path else ""
    outcome = subprocess.run(
        [sys.executable, "-c", setup + WATCHER, *modules],
        env=os.environ | {"BATCHCTL_CANARY": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.splitlines()


def test_importing_any_module_does_nothing() -> None:
    assert noises(*module_names()) == []


def test_a_module_that_acts_on_import_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import os, socket, subprocess, sys\n"
        "socket.socket().close()\n"
        "subprocess.run([sys.executable, '-c', ''], check=True)\n"
        f"open({str(tmp_path / 'left')!r}, 'w').close()\n"
        "os.environ.get('BATCHCTL_CONFIG')\n"
        "dict(os.environ)\n",
        encoding="utf-8",
    )

    heard = noises("loud", path=tmp_path)

    assert "loud: socket.__new__" in heard
    assert "loud: subprocess.Popen" in heard
    assert f"loud: writes {tmp_path / 'left'}" in heard
    assert "loud: reads BATCHCTL_CONFIG" in heard
    assert "loud: reads BATCHCTL_CANARY" in heard
