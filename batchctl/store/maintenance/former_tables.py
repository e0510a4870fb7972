"""How the revisions before the newest defined the tables of SQLite: a hash is enough to recognize each definition."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, text

REVISIONS = ("0045", "0046", "0047", "0048")
"""The revisions of databases that the only one which there is now takes, oldest first."""
SINCE = ("0047", "0048")
"""Those after which tables of servers were changed: each has a script of that, which takes databases up to it."""
_DEFINITIONS = text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
_ADDED_COLUMN = re.compile(r"ALTER TABLE (\w+) ADD (?:COLUMN )?(?!CONSTRAINT )(\w+) ")
_ADDED_CONSTRAINT = re.compile(r'(?:ADD CONSTRAINT|CREATE (?:UNIQUE )?INDEX) ["\[](\w+)')
_PRINTS = {
    "ProcessBatch": ("6e6f4720d6de6842", "8aede334e0073079", "33da457799698098", "c94ddaddcb31b47b"),
    "Resource": ("98442cb688bae742", "935c772cfc32fdc7", "3ce75e8a90c8575d", "3ce75e8a90c8575d"),
    "Schedule": ("8058c7ae35907e63", "5b2ffcfad67db9e9", "226405ee81314fc8", "226405ee81314fc8"),
    "Calendar": ("f277c5e567c0f38c", "23529c16c127b7c6", "0f315f4e10ab1470", "0f315f4e10ab1470"),
    "DataTrigger": ("ab96fe7f6b298958", "be5118fadd6b1839", "8f6649cc0419be7a", "8f6649cc0419be7a"),
    "FileWatch": ("1546fc39385ef6a5", "c3f1df217894b221", "d214197d00cc9551", "d214197d00cc9551"),
    "Setting": ("dcb9a1c2cdc82a75", "4279dc10519d5b80", "896af9091a0330dd", "896af9091a0330dd"),
    "BatchVersion": ("b3488c2e6d866417", "cd8f7019d2e4616f", "9c1913c7dc597ce3", "9c1913c7dc597ce3"),
    "AppliedDefinition": ("bcaedcecc9716d9d", "7c9f8bf4cbc86fce", "f6a501f07c259e87", "f6a501f07c259e87"),
    "OperatorRequest": ("f48a745fec34c582", "8687040017cc90bc", "2a0e713628988c97", "e455a0b112c80645"),
    "BatchFreeze": ("c7495ea2f52de6f5", "4fee5a1105c34ba8", "7a7075b4bc48bd0e", "7a7075b4bc48bd0e"),
    "Incident": ("43c018c3bf82dcbf", "c959206cee046fd3", "041d38a39a65757f", "598f822dc82951cb"),
    "AuditLog": ("8d5676d7fabd87f4", "9edc1abf38ad59d5", "0a6ec690c4c9ef49", "0a6ec690c4c9ef49"),
    "AuditSeal": ("448d33ba2dee3706", "ca17c81adcb84ba1", "77e08a53e86f0ceb", "77e08a53e86f0ceb"),
    "ZoneOffset": ("21dbd0c157685ed8", "30f18dc2951e5758", "709c42557e170c6b", "709c42557e170c6b"),
    "SchedulerLog": ("3fa3ea6af3f317c7", "25cefac0e142c22d", "6aa241d1254496b1", "6aa241d1254496b1"),
    "FileProcess": ("17b882b7b2d8b606", "9d69c9f8af4fe8ae", "9d69c9f8af4fe8ae", "9d69c9f8af4fe8ae"),
    "Controller": ("7da5e2913d59260c", "839fafb288f4c7d0", "9992d9db48a3a878", "9992d9db48a3a878"),
    "Leader": ("ad5109cbe3b83c8d", "e164e344ae104de5", "8df5c88bce9507e7", "8df5c88bce9507e7"),
    "NamedLock": ("c8ddd87d2f3f875d", "efee7c85d4a2fab5", "efee7c85d4a2fab5", "efee7c85d4a2fab5"),
    "ProcessControl": ("03a7ba50b10b302d", "755a9ac48179f3c9", "6bcf403c4a111b5d", "5dbd1fb328eb8dd5"),
    "BatchResource": ("1fc00ffc527da694", "e25128357e30a931", "7c0c8c3b4788c0b1", "7c0c8c3b4788c0b1"),
    "BatchDependency": ("93b3820bc63811ec", "8ce1e7bbf571a4b1", "88ec8792761da6c6", "88ec8792761da6c6"),
    "CalendarDay": ("5411868922f2cceb", "5f27d65675d286f1", "86438c6fe7928533", "86438c6fe7928533"),
    "AlertDelivery": ("692ab9946b645463", "3f1be27f82c63d0b", "ade4b8ee2772341f", "ade4b8ee2772341f"),
    "FileWatchSeen": ("3f571f2065090a18", "129cef8287463fcd", "df2a98eb9bb26792", "df2a98eb9bb26792"),
    "ScheduleBackfill": ("8cde92b2767e8ae0", "6cf1cbbb5dd4722c", "7d7f356532a072fe", "7d7f356532a072fe"),
    "BatchControl": ("a2c757de6c6afbf4", "ccb433339c10b285", "ccb433339c10b285", "a54eafd489e2262d"),
    "DurationHistory": ("05a8f9097d644e88", "c5675d6f387c5058", "3d8c8284ccbb2597", "3d8c8284ccbb2597"),
    "ScheduleFire": ("a4498275ffe47988", "638e237ecfe8d76e", "d1d9029ddc00e1a2", "d1d9029ddc00e1a2"),
    "BatchProcessHistory": ("9a66975df28ca766", "ba2d35e077c157fe", "ba2d35e077c157fe", "e8eb3d05b20f900c"),
    "BatchCompletion": ("0256a269b8779484", "d5cb4935418c4c1b", "1045bb28e0aae191", "1045bb28e0aae191"),
    "batchctl_replaced": ("ff43d39a95dad61e", "edebec0af73919ef", "edebec0af73919ef", "edebec0af73919ef"),
    "Pool": ("", "", "", "0db7caade1e08764"),
    "Variable": ("", "", "", "6d38a3727b79b943"),
    "Drain": ("", "", "", "464e06489b2f6b59"),
    "ControllerPool": ("", "", "", "a6de67a1a9230e18"),
    "Confirmation": ("", "", "", "9ce56b9ce138e750"),
    "Note": ("", "", "", "94a52966d16988a6"),
    "WebUser": ("", "", "", "92181c4287356584"),
    "WebSession": ("", "", "", "7a01ae52d9b25957"),
    "ApiToken": ("", "", "", "e1c94f89faadda26"),
    "LoginBackOff": ("", "", "", "1bcb064552fd05e1"),
    "WebRequest": ("", "", "", "12370392512411d3"),
    "StepOutput": ("", "", "", "a763444f45e5f9d3"),
}
"""By table, the hash at each of these revisions; empty where there was no such table."""


def changed(connection: Connection, revision: str) -> list[str]:
    """Return the tables of a SQLite database that are missing, or defined otherwise than a revision defined them."""
    found = {str(row.name): _prints(str(row.sql)) for row in connection.execute(_DEFINITIONS)}
    at = REVISIONS.index(revision)
    return [name for name, known in _PRINTS.items() if known[at] and known[at] not in found.get(name, ())]


def new_tables(tables: Sequence[str], revision: str) -> list[str]:
    """Return those of the newest tables that a former revision had not."""
    at = REVISIONS.index(revision)
    return [name for name in tables if name not in _PRINTS or not _PRINTS[name][at]]


def new_since(script: str, tables: Sequence[str], revision: str) -> Callable[[str], bool]:
    """Return what says whether a column, a constraint or an index is new: `script` adds it, or it is of a new table."""
    added = {f"{table}.{column}" for table, column in _ADDED_COLUMN.findall(script)}
    added = {name.lower() for name in (*added, *_ADDED_CONSTRAINT.findall(script))}
    of_new = re.compile(rf"(?i)(?:(?:CK|FK|PK|UQ|IX|UX)_)?(?:{'|'.join(new_tables(tables, revision))})(?:[._]|$)")
    return lambda name: name.lower() in added or of_new.match(name) is not None


def _prints(definition: str) -> set[str]:
    """Return the hash of a definition as it stands; and in any order: an upgrade leaves the columns of older tables in theirs."""
    lines = sorted(line.strip().rstrip(",") for line in definition.splitlines())
    texts = (" ".join(definition.split()), " ".join(lines))
    return {hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts}
