"""The drivers that users install, as the tests have them: Microsoft's ODBC driver out of its wheel, and mssql-python."""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

NEEDED = {"libodbc.so.2": "unixodbc", "libltdl.so.7": "unixodbc"}


def odbc_driver() -> Path:
    """Return the library of Microsoft's ODBC driver for this machine."""
    spec = find_spec("mssql_python_odbc")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("mssql-python-odbc is not installed: python3 dev.py test installs it")
    folder = Path(spec.submodule_search_locations[0]) / "libs" / "linux" / "debian_ubuntu"
    return next(folder.rglob("libmsodbcsql-18*"))


def url(module: str, port: int) -> str:
    """Return the URL of a server on loopback, with a user and a database that it does not look at."""
    where = f"sa:geheim@127.0.0.1:{port}/walk"
    if module == "pyodbc":
        return f"mssql+pyodbc://{where}?driver={quote(str(odbc_driver()), safe='')}&Encrypt=no"
    return f"mssql+mssqlpython://{where}?Encrypt=no"


def missing_libraries() -> list[str]:
    """Return the packages of Debian that hold what the drivers need and this machine has not."""
    if sys.platform != "linux":
        return []
    return sorted({package for name, package in NEEDED.items() if not _is_there(name)})


def _is_there(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
