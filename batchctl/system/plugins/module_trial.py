"""Trying plugin modules in a child: it shows which would end, crash or hang the program that imports them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from batchctl.domain.text import visible
from batchctl.system.commands.processes import signal_name
from batchctl.system.host.cookies import own_cookie_of
from batchctl.system.host.platform import Tree

LIMIT = timedelta(seconds=10)
"""How long one module may take to be imported."""
LOOKS = 0.1
"""Seconds between two looks how far the child has come."""

_CODE = """
import importlib, json, os, sys, threading
names, paths, place = json.loads(sys.argv[1])
# No one writes into this pipe: it ends when the parent ends, and nothing may be left behind then.
parent = os.dup(0)
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
threading.Thread(target=lambda: (os.read(parent, 1), os._exit(1)), daemon=True).start()
sys.path.extend(entry for entry in paths if entry not in sys.path)
with open(place, "w", encoding="utf-8") as told:
    for name in names:
        print("begins", name, file=told, flush=True)
        try:
            importlib.import_module(name)
        except KeyboardInterrupt:
            print("interrupts", name, file=told, flush=True)
        except BaseException:
            pass  # The program that imports it reports what is wrong with it, and where.
    print("done", file=told, flush=True)
    os._exit(0)
"""


def left_out(
    modules: Sequence[str],
    sys_path: Sequence[str],
    *,
    controller_id: str,
    environment: Mapping[str, str],
    limit: timedelta = LIMIT,
) -> Mapping[str, str]:
    """Return the modules that must not be imported here, each with the reason."""
    found: dict[str, str] = {}
    left = list(modules)
    while left:
        # After one that ended the child, those behind it are tried in another child.
        begun, found_now = _try(left, sys_path, controller_id, environment, limit)
        found |= found_now
        left = left[begun:]
    return found


def _try(
    modules: Sequence[str],
    sys_path: Sequence[str],
    controller_id: str,
    environment: Mapping[str, str],
    limit: timedelta,
) -> tuple[int, dict[str, str]]:
    """Import modules in a child, as far as it comes; return how many were begun, and why which are faulty."""
    with tempfile.TemporaryDirectory(prefix="batchctl-") as folder:
        told = Path(folder) / "told"
        told.touch()
        # This program would also import what it finds on its own path.
        paths = [entry for entry in (*sys.path, *sys_path) if entry]
        argument = json.dumps([list(modules), paths, str(told)])
        tree = Tree(
            [sys.executable, "-P", "-c", _CODE, argument],
            directory=None,
            environment=environment,
            cookie=own_cookie_of(controller_id, "trial"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        hangs = _outlasts(tree, told, limit)
        tree.kill()
        code = tree.reap()
        if tree.process.stdin is not None:
            tree.process.stdin.close()
        lines = [line.split(maxsplit=1) for line in told.read_text(encoding="utf-8").splitlines()]
    begun = [line[1] for line in lines if line[0] == "begins"]
    found = {line[1]: "it raises KeyboardInterrupt when it is imported" for line in lines if line[0] == "interrupts"}
    if lines and lines[-1] == ["done"]:
        return len(modules), found
    if not begun:
        # The child itself could not work, which proves nothing about a module.
        return len(modules), found
    if hangs:
        found[begun[-1]] = f"it was not imported within {limit.total_seconds():g} seconds"
    else:
        how = f"ends the program with exit code {code}" if code >= 0 else f"crashes the program ({signal_name(code)})"
        found[begun[-1]] = f"importing it {how}"
    return len(begun), found


def _outlasts(tree: Tree, announced: Path, limit: timedelta) -> bool:
    """Wait for the end of the child as long as it makes progress; say whether it did not end."""
    seen, until = 0, time.monotonic() + limit.total_seconds()
    while time.monotonic() < until:
        try:
            tree.process.wait(LOOKS)
        except subprocess.TimeoutExpired:
            size = announced.stat().st_size
            if size > seen:
                seen, until = size, time.monotonic() + limit.total_seconds()
            continue
        return False
    return True


def message_of(module: str, reason: str, origin: str | None = None) -> str:
    """Return the message that a module is left out, and its package if it is installed."""
    whose = "" if origin is None else f" of {visible(origin)}"
    return f"plugin module '{visible(module)}'{whose} is left out: {reason}."
