"""A durable PostgreSQL server, on a disk and not in memory, that counts what it does."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.leftovers import children_of
from tests.strict_postgres import StrictServer

ON_DISK = "/var/tmp"
"""A folder that is not in memory, as /tmp and /dev/shm are on many machines."""

LOOK_EVERY = 0.05
"""Seconds between two looks at what sessions wait for."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a server has done for one database so far, or between two moments."""

    at: float = 0.0
    """Seconds, by the server's clock."""
    statements: int = 0
    commits: int = 0
    wal_bytes: int = 0
    wal_syncs: int = 0
    notifies: int = 0
    """Commits of controllers that notify the others."""
    lock_tries: int = 0
    """How often a controller has asked for the lock of a batch."""
    locks: int = 0
    """How often it got it."""
    computed: float = 0.0
    """Seconds of a processor, by all processes of the server."""

    def since(self, before: Counted) -> Counted:
        """Return what was done since then."""
        return Counted(*(getattr(self, one.name) - getattr(before, one.name) for one in fields(Counted)))


class CountingServer(StrictServer):
    """The strict server with `pg_stat_statements`."""

    def __init__(self) -> None:
        """Make the data; nothing runs yet."""
        super().__init__(ON_DISK)
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write("shared_preload_libraries = 'pg_stat_statements'\n")

    def new_database(self, template: str = "template1") -> str:
        """Create a database in which statements can be counted; return its name."""
        name = super().new_database(template)
        self.rows(name, "CREATE EXTENSION pg_stat_statements")
        return name

    def rows(self, database: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Execute a statement; return its rows, if it has any."""
        with self.connect(database) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def counted(self, database: str) -> Counted:
        """Return what it has done so far."""
        (counts,) = self.rows(database, _COUNTED)
        return Counted(*counts, *[sum(map(computed, self._processes()))])

    def sizes(self, database: str) -> dict[str, float]:
        """Return how many MB each of the largest tables takes with its indexes."""
        return {name: size / 1e6 for name, size in self.rows(database, _SIZES)}

    @contextmanager
    def watched(self, database: str) -> Iterator[Counter[str]]:
        """Lend the counts of what active sessions of controllers were seen at, by what they waited for."""
        seen, is_over = Counter[str](), threading.Event()

        def look() -> None:
            with self.connect(database) as connection:
                while not is_over.wait(LOOK_EVERY):
                    seen.update(dict[str, int](connection.execute(_WAITS).fetchall()))  # type: ignore[arg-type]

        looking = threading.Thread(target=look)
        looking.start()
        try:
            yield seen
        finally:
            is_over.set()
            looking.join()

    def _processes(self) -> list[int]:
        postmaster = int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        return [postmaster, *children_of(postmaster)]


_COUNTED = """
WITH counted AS (
    SELECT calls, rows, query LIKE '%pg_notify(%' AS notifies,
           query LIKE 'SELECT ProcessBatch_id FROM ProcessBatch %SKIP LOCKED' AS locks
    FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
)
SELECT extract(epoch FROM clock_timestamp())::float8,
       (SELECT coalesce(sum(calls), 0)::bigint FROM counted),
       (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
       (pg_current_wal_lsn() - '0/0')::bigint,
       (SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal'),
       (SELECT coalesce(sum(calls), 0)::bigint FROM counted WHERE notifies),
       (SELECT coalesce(sum(calls), 0)::bigint FROM counted WHERE locks),
       (SELECT coalesce(sum(rows), 0)::bigint FROM counted WHERE locks)
"""
_WAITS = """
SELECT coalesce(wait_event_type || ':' || wait_event, 'computing'), count(*) FROM pg_stat_activity
WHERE application_name LIKE 'batchctl%' AND state = 'active' AND datname = current_database() GROUP BY 1
"""
_SIZES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
ORDER BY 2 DESC LIMIT 3
"""


def computed(process: int) -> float:
    """Return how many seconds a process has computed, with its children that it has seen end."""
    with suppress(OSError):
        behind_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(map(int, behind_name[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0
