"""How the revisions before the newest defined the tables of SQLite: a hash is enough to recognize each definition."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, text

REVISIONS = ("0045", "0046", "0047", "0048", "0049", "0050")
"""The revisions of databases that the only one which there is now takes, oldest first."""
SINCE = ("0047", "0048", "0049", "0050")
"""Those after which tables of servers were changed: each has a script of that, which takes databases up to it."""
_DEFINITIONS = text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
_ADDED_COLUMN = re.compile(r"ALTER TABLE (\w+) ADD (?:COLUMN )?(?!CONSTRAINT )(\w+) ")
_ADDED_CONSTRAINT = re.compile(r'(?:ADD CONSTRAINT|CREATE (?:UNIQUE )?INDEX) ["\[](\w+)')
_PRINTS = {
    "ProcessBatch": {
        "0045": "6e6f4720d6de6842",
        "0046": "8aede334e0073079",
        "0047": "33da457799698098",
        "0048": "c94ddaddcb31b47b",
    },
    "Resource": {"0045": "98442cb688bae742", "0046": "935c772cfc32fdc7", "0047": "3ce75e8a90c8575d"},
    "Schedule": {"0045": "8058c7ae35907e63", "0046": "5b2ffcfad67db9e9", "0047": "226405ee81314fc8"},
    "Calendar": {"0045": "f277c5e567c0f38c", "0046": "23529c16c127b7c6", "0047": "0f315f4e10ab1470"},
    "DataTrigger": {"0045": "ab96fe7f6b298958", "0046": "be5118fadd6b1839", "0047": "8f6649cc0419be7a"},
    "FileWatch": {"0045": "1546fc39385ef6a5", "0046": "c3f1df217894b221", "0047": "d214197d00cc9551"},
    "Setting": {"0045": "dcb9a1c2cdc82a75", "0046": "4279dc10519d5b80", "0047": "896af9091a0330dd"},
    "BatchVersion": {"0045": "b3488c2e6d866417", "0046": "cd8f7019d2e4616f", "0047": "9c1913c7dc597ce3"},
    "AppliedDefinition": {"0045": "bcaedcecc9716d9d", "0046": "7c9f8bf4cbc86fce", "0047": "f6a501f07c259e87"},
    "OperatorRequest": {
        "0045": "f48a745fec34c582",
        "0046": "8687040017cc90bc",
        "0047": "2a0e713628988c97",
        "0048": "e455a0b112c80645",
    },
    "BatchFreeze": {"0045": "c7495ea2f52de6f5", "0046": "4fee5a1105c34ba8", "0047": "7a7075b4bc48bd0e"},
    "Incident": {
        "0045": "43c018c3bf82dcbf",
        "0046": "c959206cee046fd3",
        "0047": "041d38a39a65757f",
        "0048": "598f822dc82951cb",
        "0049": "ad7e0379cfb4c0ae",
    },
    "AuditLog": {"0045": "8d5676d7fabd87f4", "0046": "9edc1abf38ad59d5", "0047": "0a6ec690c4c9ef49"},
    "AuditSeal": {"0045": "448d33ba2dee3706", "0046": "ca17c81adcb84ba1", "0047": "77e08a53e86f0ceb"},
    "ZoneOffset": {"0045": "21dbd0c157685ed8", "0046": "30f18dc2951e5758", "0047": "709c42557e170c6b"},
    "SchedulerLog": {"0045": "3fa3ea6af3f317c7", "0046": "25cefac0e142c22d", "0047": "6aa241d1254496b1"},
    "FileProcess": {"0045": "17b882b7b2d8b606", "0046": "9d69c9f8af4fe8ae"},
    "Controller": {"0045": "7da5e2913d59260c", "0046": "839fafb288f4c7d0", "0047": "9992d9db48a3a878"},
    "Leader": {"0045": "ad5109cbe3b83c8d", "0046": "e164e344ae104de5", "0047": "8df5c88bce9507e7"},
    "NamedLock": {"0045": "c8ddd87d2f3f875d", "0046": "efee7c85d4a2fab5"},
    "ProcessControl": {
        "0045": "03a7ba50b10b302d",
        "0046": "755a9ac48179f3c9",
        "0047": "6bcf403c4a111b5d",
        "0048": "5dbd1fb328eb8dd5",
        "0050": "22a163ea9dbd7fc1",
    },
    "BatchResource": {"0045": "1fc00ffc527da694", "0046": "e25128357e30a931", "0047": "7c0c8c3b4788c0b1"},
    "BatchDependency": {"0045": "93b3820bc63811ec", "0046": "8ce1e7bbf571a4b1", "0047": "88ec8792761da6c6"},
    "CalendarDay": {"0045": "5411868922f2cceb", "0046": "5f27d65675d286f1", "0047": "86438c6fe7928533"},
    "AlertDelivery": {"0045": "692ab9946b645463", "0046": "3f1be27f82c63d0b", "0047": "ade4b8ee2772341f"},
    "FileWatchSeen": {"0045": "3f571f2065090a18", "0046": "129cef8287463fcd", "0047": "df2a98eb9bb26792"},
    "ScheduleBackfill": {"0045": "8cde92b2767e8ae0", "0046": "6cf1cbbb5dd4722c", "0047": "7d7f356532a072fe"},
    "BatchControl": {"0045": "a2c757de6c6afbf4", "0046": "ccb433339c10b285", "0048": "a54eafd489e2262d"},
    "DurationHistory": {"0045": "05a8f9097d644e88", "0046": "c5675d6f387c5058", "0047": "3d8c8284ccbb2597"},
    "ScheduleFire": {"0045": "a4498275ffe47988", "0046": "638e237ecfe8d76e", "0047": "d1d9029ddc00e1a2"},
    "BatchProcessHistory": {"0045": "9a66975df28ca766", "0046": "ba2d35e077c157fe", "0048": "e8eb3d05b20f900c"},
    "BatchCompletion": {"0045": "0256a269b8779484", "0046": "d5cb4935418c4c1b", "0047": "1045bb28e0aae191"},
    "batchctl_replaced": {"0045": "ff43d39a95dad61e", "0046": "edebec0af73919ef"},
    "Pool": {"0048": "0db7caade1e08764", "0050": "125d05db90364489"},
    "Variable": {"0048": "6d38a3727b79b943"},
    "Drain": {"0048": "464e06489b2f6b59"},
    "ControllerPool": {"0048": "a6de67a1a9230e18", "0050": "0c3e949756fcb9e0"},
    "Confirmation": {"0048": "9ce56b9ce138e750"},
    "Note": {"0048": "94a52966d16988a6"},
    "WebUser": {"0048": "92181c4287356584"},
    "WebSession": {"0048": "7a01ae52d9b25957"},
    "ApiToken": {"0048": "e1c94f89faadda26"},
    "LoginBackOff": {"0048": "1bcb064552fd05e1"},
    "WebRequest": {"0048": "12370392512411d3"},
    "StepOutput": {"0048": "a763444f45e5f9d3"},
    "KeptForecast": {"0049": "ee355dc0e2521898"},
}
"""By table, the hash of its definition from a revision on; before the first of these there was no such table."""


def changed(connection: Connection, revision: str) -> list[str]:
    """Return the tables of a SQLite database that are missing, or defined otherwise than a revision defined them."""
    found = {str(row.name): _prints(str(row.sql)) for row in connection.execute(_DEFINITIONS)}
    known = {name: one for name in _PRINTS if (one := _print_at(name, revision)) is not None}
    return [name for name, one in known.items() if one not in found.get(name, ())]


def new_tables(tables: Sequence[str], revision: str) -> list[str]:
    """Return those of the newest tables that a former revision had not."""
    return [name for name in tables if _print_at(name, revision) is None]


def new_since(script: str, tables: Sequence[str], revision: str) -> Callable[[str], bool]:
    """Return what says whether a column, a constraint or an index is new: `script` adds it, or it is of a new table."""
    added = {f"{table}.{column}" for table, column in _ADDED_COLUMN.findall(script)}
    added = {name.lower() for name in (*added, *_ADDED_CONSTRAINT.findall(script))}
    of_new = re.compile(rf"(?i)(?:(?:CK|FK|PK|UQ|IX|UX)_)?(?:{'|'.join(new_tables(tables, revision))})(?:[._]|$)")
    return lambda name: name.lower() in added or of_new.match(name) is not None


def _print_at(table: str, revision: str) -> str | None:
    """Return the hash of a table's definition at a revision; None where there was no such table."""
    since = [first for first in _PRINTS.get(table, ()) if first <= revision]
    return _PRINTS[table][max(since)] if since else None


def _prints(definition: str) -> set[str]:
    """Return the hash of a definition as it stands; and in any order: an upgrade leaves the columns of older tables in theirs."""
    lines = sorted(line.strip().rstrip(",") for line in definition.splitlines())
    texts = (" ".join(definition.split()), " ".join(lines))
    return {hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts}
