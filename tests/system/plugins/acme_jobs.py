"""Jobs that behave and jobs that do not."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

from batchctl.plugin_api import FatalError, Stopped, job, stopping


@job("add")
def add(one: int, two: int = 1) -> int:
    return one + two


@job("add_here", in_process=True)
def add_here(one: int, two: int = 1) -> int:
    return one + two


@job("whoami")
def whoami() -> int:
    return os.getpid()


@job("give")
def give(what: str) -> Any:
    class Unspeakable:
        def __repr__(self) -> str:
            raise ValueError

    values: dict[str, Any] = {
        "list": [1, "two"],
        "nothing": None,
        "truth": True,
        "number": 1.5,
        "huge number": 10**5000,
        "long text": "x" * 200_000,
        "unspeakable": Unspeakable(),
        "hostile text": "\ud800\x00‮",
    }
    return values[what]


@job("raise")
def raise_something(what: str) -> NoReturn:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    errors: dict[str, BaseException] = {
        "error": ValueError("no such\nflight"),
        "fatal": FatalError("never again"),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "memory": MemoryError(),
        "mute": Mute(),
        "type": TypeError("raised inside"),
    }
    raise errors[what]


@job("end_process")
def end_process(how: str) -> None:
    print("last words")
    match how:
        case "exit":
            os._exit(7)
        case "segfault":
            ctypes.string_at(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            os.closerange(0, 64)


@job("print")
def print_something(what: str) -> None:
    match what:
        case "everywhere":
            print("python out")
            print("python err", file=sys.stderr)
            ctypes.CDLL(None).puts(b"c library")
            subprocess.run(["sh", "-c", "echo child out; echo child err >&2"], check=True)
        case "a lot":
            for _ in range(50):
                sys.stdout.write("0123456789abcde\n" * 65536)
        case "not utf-8":
            sys.stdout.buffer.write(b"caf\xe9 \x00 end\n")
        case _:
            print("\ud800")


@job("spoil_streams")
def spoil_streams(how: str) -> None:
    match how:
        case "close":
            sys.stdout.close()
            sys.stderr.close()
        case "close descriptors":
            os.close(1)
            os.close(2)
        case "replace":
            sys.stdout = None  # as some programs do
        case "directory":
            os.chdir("/")
        case _:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


@job("read_input")
def read_input() -> str:
    return sys.stdin.read()


@job("where")
def where() -> str:
    return os.getcwd()


@job("environment")
def environment(name: str) -> str | None:
    return os.environ.get(name)


@job("hang")
def hang(say: str, how: str = "politely") -> None:
    """Say where it is, then never return."""
    if how == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        Path(say).write_text(f"{os.getpid()}\n", encoding="ascii")
        threading.Event().wait()
    finally:
        print("cleaned up")


@job("ask")
def ask(say: str, how: str) -> str | None:
    """Say where it is, go on until it is told to stop, and end in some way."""
    assert not stopping()
    Path(say).write_text(f"{os.getpid()}\n", encoding="ascii")
    if how == "thread":
        asker = threading.Thread(target=stopping, args=(60,))
        asker.start()
        asker.join()
    while how != "thread" and not stopping(60):
        pass
    match how:
        case "stops":
            raise Stopped("after 3 of 10 files")
        case "raises":
            raise RuntimeError("cannot go on")
        case "deaf":
            threading.Event().wait()
        case _:
            pass
    return "3 files"


@job("ask_here", in_process=True)
def ask_here(say: str) -> None:
    """Say where it is, and go on until it is told to stop."""
    Path(say).write_text(f"{os.getpid()}\n", encoding="ascii")
    while not stopping(60):
        pass


@job("ask_nobody")
def ask_nobody() -> bool:
    """Ask, and end in good time."""
    return stopping()


@job("start_others")
def start_others(say: str) -> None:
    """Start a process that goes on in a session of its own, and hang."""
    script = f"echo $$ > '{say}'; exec sleep 600"
    subprocess.Popen(["sh", "-c", script], start_new_session=True)
    threading.Event().wait()


@job("fork_and_die")
def fork_and_die() -> None:
    """Leave a copy behind that holds every pipe open."""
    if os.fork() == 0:
        threading.Event().wait()
    os._exit(9)


@job("fork_and_return")
def fork_and_return() -> str:
    """Let both copies come back, as code does that forgot where it is."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return "parent" if child else "child"


@job("tell")
def tell(password: str) -> str:
    print(f"connecting with {password}")
    raise ConnectionError(f"refused: {password}")
