"""A process that holds Microsoft's T-SQL parser, ScriptDom, and answers one JSON line with another.

The wheel `mssql-cli` carries ScriptDom together with a .NET runtime of its own. That runtime takes over signals of its
process and does not survive a fork, so it never lives in a process that runs tests.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LIBRARY = {"win32": "coreclr.dll", "darwin": "libcoreclr.dylib"}.get(sys.platform, "libcoreclr.so")
PARSERS = {2017: "TSql140Parser", 2019: "TSql150Parser"}
PLACES = ("ScriptTokenStream", "StartOffset", "FragmentLength", "StartLine", "StartColumn")
TOKENS = ("FirstTokenIndex", "LastTokenIndex")


def folder_of(package: str) -> Path:
    """Return where a package lies, without importing it: mssql-cli would want much that nobody needs here."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed: python3 dev.py test installs it")
    return Path(spec.submodule_search_locations[0])


def start_runtime() -> None:
    """Start .NET in this process, and Python.NET in it."""
    assemblies = folder_of("mssqlcli") / "mssqltoolsservice" / "bin"
    bridge = folder_of("pythonnet") / "runtime" / "Python.Runtime.dll"
    known = [str(path) for path in assemblies.glob("*.dll")]
    settings = {
        "TRUSTED_PLATFORM_ASSEMBLIES": os.pathsep.join([*known, str(bridge)]),
        "NATIVE_DLL_SEARCH_DIRECTORIES": f"{assemblies}{os.sep}",
        "APP_PATHS": str(assemblies),
        "System.Globalization.Invariant": "true",  # as the environment says, for a machine without ICU
    }
    names = (ctypes.c_char_p * len(settings))(*(name.encode() for name in settings))
    values = (ctypes.c_char_p * len(settings))(*(value.encode() for value in settings.values()))
    runtime = ctypes.CDLL(str(assemblies / LIBRARY))
    host, domain, entry = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_void_p()
    program = str(Path(sys.executable)).encode()
    done = runtime.coreclr_initialize(
        program, b"tests", len(settings), names, values, ctypes.byref(host), ctypes.byref(domain)
    )
    if done == 0:
        place = (b"Python.Runtime", b"Python.Runtime.Loader", b"Initialize")
        done = runtime.coreclr_create_delegate(host, domain, *place, ctypes.byref(entry))
    if done != 0 or entry.value is None:
        raise SystemExit(f".NET could not be started: {done & 0xFFFFFFFF:#010x}")
    if ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int)(entry.value)(b"", 0) != 0:
        raise SystemExit("Python.NET could not be started")


@cache
def parser(grammar: int, *, quoted: bool) -> Any:
    """Return the parser of a version, with QUOTED_IDENTIFIER on or off."""
    from Microsoft.SqlServer.TransactSql import ScriptDom  # type: ignore[import-not-found] # noqa: PLC0415

    return getattr(ScriptDom, PARSERS[grammar])(quoted)


@cache
def readers(kind: Any, without: frozenset[str]) -> list[tuple[str, Any]]:
    """Return the properties of a kind of fragment that are part of the tree."""
    found = [one for one in kind.GetProperties() if one.Name not in {*PLACES, *TOKENS, *without}]
    return [(one.Name, one) for one in found if len(one.GetIndexParameters()) == 0]


def as_tree(fragment: Any, without: frozenset[str]) -> Any:
    """Return a fragment as JSON: its kind under "is", its line under "line", and what it is made of."""
    kind = fragment.GetType()
    tree: dict[str, Any] = {"is": kind.Name, "line": fragment.StartLine}
    for name, reader in readers(kind, without):
        value = plain(reader.GetValue(fragment), without)
        if value not in (None, []):
            tree[name] = value
    return tree


def plain(value: Any, without: frozenset[str]) -> Any:
    """Return the value of a property: a fragment, a list of them, or a word."""
    from System.Collections import IEnumerable  # type: ignore[import-not-found] # noqa: PLC0415

    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "ScriptTokenStream"):
        return as_tree(value, without)
    if isinstance(value, IEnumerable):
        return [plain(each, without) for each in value]
    return str(value)


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Parse a text; return the errors, and the tree if it was asked for."""
    from System.IO import StringReader  # type: ignore[import-not-found] # noqa: PLC0415

    found, errors = parser(asked["grammar"], quoted=asked["quoted"]).Parse(StringReader(asked["sql"]), None)
    told = [[one.Number, one.Line, one.Column, str(one.Message)] for one in errors]
    return {"errors": told, "tree": as_tree(found, frozenset(asked["without"])) if asked["tree"] and not told else None}


def main() -> None:
    """Answer until nobody asks any more."""
    start_runtime()
    import clr  # type: ignore[import-untyped] # noqa: PLC0415

    clr.AddReference("Microsoft.SqlServer.TransactSql.ScriptDom")
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
