"""Whether SQL Server takes a text: its parser and what no parser sees, against the tables of the newest schema."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from tests.sqlserver.catalog import control_database
from tests.sqlserver.lint import all_refused
from tests.sqlserver.parser import read

SENT: list[str] = []
"""What the test that runs had sent, or would have sent to SQL Server, and nobody has looked at yet."""


@cache
def refused(sql: str, *, by_any_client: bool = False, of_ours: bool = False) -> tuple[str, ...]:
    """Return why a batch would be refused; nothing where it is taken."""
    tree, found = read(sql)
    if found:
        return tuple(found)
    return tuple(all_refused(tree, control_database(), by_any_client=by_any_client, of_ours=of_ours))


def assert_taken(sql: str, *, by_any_client: bool = False, of_ours: bool = False) -> None:
    """Fail with what SQL Server would say of a batch.

    `Any client` has to be told what drivers are by themselves; one `of ours` names no table of somebody else.
    """
    found = "\n".join(refused(sql, by_any_client=by_any_client, of_ours=of_ours))
    assert not found, f"SQL Server would refuse this:\n{found}\n\n{sql}"


class Ledger:
    """What processes of this test run have found to be taken, so that none looks at what another has looked at."""

    def __init__(self, path: Path) -> None:
        """Share the file `path`."""
        self._path = path
        self._known: set[bytes] = set()
        self._read = 0

    def __contains__(self, sql: str) -> bool:
        """Say whether a statement is known to be taken."""
        with self._path.open("rb") as file:
            file.seek(self._read)
            digests = file.read()
        self._read += len(digests)
        self._known.update(digests[at : at + _DIGEST] for at in range(0, len(digests), _DIGEST))
        return _digest(sql) in self._known

    def add(self, sql: str) -> None:
        """Note that a statement is taken."""
        with self._path.open("ab", buffering=0) as file:
            file.write(_digest(sql))


_DIGEST = sha256().digest_size


def _digest(sql: str) -> bytes:
    return sha256(sql.encode()).digest()


def look_at_what_was_sent(ledger: Ledger) -> None:
    """Fail with what SQL Server would say of the first that it refuses."""
    sent, SENT[:] = list(SENT), []
    for sql in sent:
        if sql not in ledger:
            assert_taken(sql)
            ledger.add(sql)
