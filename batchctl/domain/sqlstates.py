"""The SQLSTATEs that mssql-python replaces by words of its own."""

from __future__ import annotations

import re

_STATES = {
    "Disconnect error": "01002",
    "Client unable to establish connection": "08001",
    "Connection not open": "08003",
    "Connection rejected": "08004",
    "Connection failure during transaction": "08007",
    "Communication link failure": "08S01",
    "Timeout expired": "HYT00",
    "Connection timeout expired": "HYT01",
    "Invalid authorization specification": "28000",
    "Serialization failure": "40001",
    "Syntax error or access violation": "42000",
    "Base table or view not found": "42S02",
}
_UNNAMED = re.compile(r"SQLSTATE code: (\w+)\Z")


def sqlstate_behind(words: str) -> str:
    """Return the SQLSTATE for what mssql-python calls an error, or nothing when it is not known."""
    unnamed = _UNNAMED.search(words)
    return unnamed[1] if unnamed else _STATES.get(words, "")
