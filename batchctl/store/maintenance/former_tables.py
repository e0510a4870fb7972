"""How the revision before the newest defined the tables of SQLite: a hash is enough to recognize each definition."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, text

_DEFINITIONS = text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
_PRINTS = {
    "ProcessBatch": "6e6f4720d6de6842",
    "Resource": "98442cb688bae742",
    "Schedule": "8058c7ae35907e63",
    "Calendar": "f277c5e567c0f38c",
    "DataTrigger": "ab96fe7f6b298958",
    "FileWatch": "1546fc39385ef6a5",
    "Setting": "dcb9a1c2cdc82a75",
    "BatchVersion": "b3488c2e6d866417",
    "AppliedDefinition": "bcaedcecc9716d9d",
    "OperatorRequest": "f48a745fec34c582",
    "BatchFreeze": "c7495ea2f52de6f5",
    "Incident": "43c018c3bf82dcbf",
    "AuditLog": "8d5676d7fabd87f4",
    "AuditSeal": "448d33ba2dee3706",
    "ZoneOffset": "21dbd0c157685ed8",
    "SchedulerLog": "3fa3ea6af3f317c7",
    "FileProcess": "17b882b7b2d8b606",
    "Controller": "7da5e2913d59260c",
    "Leader": "ad5109cbe3b83c8d",
    "NamedLock": "c8ddd87d2f3f875d",
    "ProcessControl": "03a7ba50b10b302d",
    "BatchResource": "1fc00ffc527da694",
    "BatchDependency": "93b3820bc63811ec",
    "CalendarDay": "5411868922f2cceb",
    "AlertDelivery": "692ab9946b645463",
    "FileWatchSeen": "3f571f2065090a18",
    "ScheduleBackfill": "8cde92b2767e8ae0",
    "BatchControl": "a2c757de6c6afbf4",
    "DurationHistory": "05a8f9097d644e88",
    "ScheduleFire": "a4498275ffe47988",
    "BatchProcessHistory": "9a66975df28ca766",
    "BatchCompletion": "0256a269b8779484",
    "batchctl_replaced": "ff43d39a95dad61e",
}


def changed(connection: Connection) -> list[str]:
    """Return the tables of a SQLite database that are missing, or defined otherwise than that revision defined them."""
    found = {str(row.name): _print_of(str(row.sql)) for row in connection.execute(_DEFINITIONS)}
    return [name for name, known in _PRINTS.items() if found.get(name) != known]


def _print_of(definition: str) -> str:
    return hashlib.sha256(" ".join(definition.split()).encode()).hexdigest()[:16]
