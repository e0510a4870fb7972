"""How the revisions before the newest defined the tables of SQLite: a hash is enough to recognize each definition."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, text

REVISIONS = ("0045", "0046")
"""The revisions of databases that the only one which there is now takes, oldest first."""
_DEFINITIONS = text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
_PRINTS = {
    "ProcessBatch": ("6e6f4720d6de6842", "8aede334e0073079"),
    "Resource": ("98442cb688bae742", "935c772cfc32fdc7"),
    "Schedule": ("8058c7ae35907e63", "5b2ffcfad67db9e9"),
    "Calendar": ("f277c5e567c0f38c", "23529c16c127b7c6"),
    "DataTrigger": ("ab96fe7f6b298958", "be5118fadd6b1839"),
    "FileWatch": ("1546fc39385ef6a5", "c3f1df217894b221"),
    "Setting": ("dcb9a1c2cdc82a75", "4279dc10519d5b80"),
    "BatchVersion": ("b3488c2e6d866417", "cd8f7019d2e4616f"),
    "AppliedDefinition": ("bcaedcecc9716d9d", "7c9f8bf4cbc86fce"),
    "OperatorRequest": ("f48a745fec34c582", "8687040017cc90bc"),
    "BatchFreeze": ("c7495ea2f52de6f5", "4fee5a1105c34ba8"),
    "Incident": ("43c018c3bf82dcbf", "c959206cee046fd3"),
    "AuditLog": ("8d5676d7fabd87f4", "9edc1abf38ad59d5"),
    "AuditSeal": ("448d33ba2dee3706", "ca17c81adcb84ba1"),
    "ZoneOffset": ("21dbd0c157685ed8", "30f18dc2951e5758"),
    "SchedulerLog": ("3fa3ea6af3f317c7", "25cefac0e142c22d"),
    "FileProcess": ("17b882b7b2d8b606", "9d69c9f8af4fe8ae"),
    "Controller": ("7da5e2913d59260c", "839fafb288f4c7d0"),
    "Leader": ("ad5109cbe3b83c8d", "e164e344ae104de5"),
    "NamedLock": ("c8ddd87d2f3f875d", "efee7c85d4a2fab5"),
    "ProcessControl": ("03a7ba50b10b302d", "755a9ac48179f3c9"),
    "BatchResource": ("1fc00ffc527da694", "e25128357e30a931"),
    "BatchDependency": ("93b3820bc63811ec", "8ce1e7bbf571a4b1"),
    "CalendarDay": ("5411868922f2cceb", "5f27d65675d286f1"),
    "AlertDelivery": ("692ab9946b645463", "3f1be27f82c63d0b"),
    "FileWatchSeen": ("3f571f2065090a18", "129cef8287463fcd"),
    "ScheduleBackfill": ("8cde92b2767e8ae0", "6cf1cbbb5dd4722c"),
    "BatchControl": ("a2c757de6c6afbf4", "ccb433339c10b285"),
    "DurationHistory": ("05a8f9097d644e88", "c5675d6f387c5058"),
    "ScheduleFire": ("a4498275ffe47988", "638e237ecfe8d76e"),
    "BatchProcessHistory": ("9a66975df28ca766", "ba2d35e077c157fe"),
    "BatchCompletion": ("0256a269b8779484", "d5cb4935418c4c1b"),
    "batchctl_replaced": ("ff43d39a95dad61e", "edebec0af73919ef"),
}


def changed(connection: Connection, revision: str) -> list[str]:
    """Return the tables of a SQLite database that are missing, or defined otherwise than a revision defined them."""
    found = {str(row.name): _prints(str(row.sql)) for row in connection.execute(_DEFINITIONS)}
    at = REVISIONS.index(revision)
    return [name for name, known in _PRINTS.items() if known[at] not in found.get(name, ())]


def _prints(definition: str) -> set[str]:
    """Return the hash of a definition as it stands; and in any order: 0046 left the columns of older databases in theirs."""
    lines = sorted(line.strip().rstrip(",") for line in definition.splitlines())
    texts = (" ".join(definition.split()), " ".join(lines))
    return {hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts}
