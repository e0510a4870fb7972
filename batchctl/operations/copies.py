"""A copy of a control database runs nothing: the work of the original would be done twice."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from batchctl.domain.errors import Refused
from batchctl.domain.text import visible
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection, identity, leading
from batchctl.store.dialects import dialect_of
from batchctl.store.one_look import once

ADOPT = "adopt"
_LEFT_LOG = " If {log} of an earlier file lay here when it was copied, remove that log and copy the file once more."


def original_of(connection: Connection) -> str | None:
    """Return where the original of this database is; None when this is no copy, or its place is not known."""
    kept, here = leading.load(connection).place, _whereabouts(connection)
    if kept is None or here is None or is_same(kept, here):
        return None
    original = described(kept)
    # For example a backup that was restored in the place of the original.
    return f"what was {original} before" if original == described(here) else original


def _whereabouts(connection: Connection) -> str | None:
    return once(dialect_of(connection).whereabouts, connection)


def refused_on(connection: Connection) -> Refused | None:
    """Say that nothing runs on this database, where it is a copy."""
    original = original_of(connection)
    return None if original is None else refused(original, file_at(_whereabouts(connection)))


def settle(transactions: Transactions, clock: Clock) -> None:
    """Refuse to work on a copy; record the place of a database for which none is recorded yet."""
    with transactions.read() as connection:
        refused = refused_on(connection)
    if refused is not None:
        raise refused
    remember(transactions, clock)


def remember(transactions: Transactions, clock: Clock) -> None:
    """Record where a database is, unless that is recorded: a copy that is made from now on is seen to be one."""
    with transactions.read() as connection:
        is_settled = leading.load(connection).place is not None
        here = _whereabouts(connection)
    if is_settled or here is None:
        return

    def write(connection: Connection) -> None:
        leading.load_or_make(connection)
        leading.settle(connection, here, clock.now())

    transactions.run(frozenset({Boundary.HEARTBEAT}), write)


def refused(original: str, file: str | None) -> Refused:
    """Say that nothing runs on a copy, and what to do; of a `file` also what may have lain beside it."""
    log = "" if file is None else _LEFT_LOG.format(log=f"{visible(file)}-wal")
    message = (
        f"This control database is a copy of {visible(original)}, or was moved from there."
        f" Nothing runs on it, because the other one would do the same work.{log}"
    )
    next_step = (
        "batchctl db adopt --reason ...   (once the other one works no more; with --apart where both are to work)"
    )
    return Refused(message, next_step=next_step)


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was adopted: where it was, and its name."""

    original: str | None
    database_id: str


def adopt(actor: Actor, *, reason: str | None, apart: bool) -> Adopted:
    """Let controllers work on this database where it is now; with a name of its own where it is to work `apart`."""
    if not actor.dry_run:
        reason = checked_reason(reason)

    def work(connection: Connection) -> Adopted:
        original, name = original_of(connection), identity.database_id(connection)
        if actor.dry_run:
            return Adopted(original, name)
        here, before = _whereabouts(connection), leading.load_or_make(connection)
        if here is not None:
            leading.settle(connection, here, actor.clock.now())
        if apart:
            identity.rename(connection, actor.clock.now())
        renamed = identity.database_id(connection)
        was, now = {"Place": before.place, "DatabaseId": name}, {"Place": here, "DatabaseId": renamed}
        actor.note(connection, ADOPT, "Leader:1", reason, was, now)
        return Adopted(original, renamed)

    return actor.act(work)


def is_same(kept: str, here: str) -> bool:
    """Say whether a database is where it was.

    A file is known by its number, as long as it keeps its path or its disk: disks are numbered anew when a host starts, and
    numbers of files repeat on other disks. A server's database is known by the number that the server gave it.
    """
    before, now = _read(kept), _read(here)
    if "oid" in now:
        return bool(before.get("oid") == now["oid"])
    is_same_file = before.get("inode") == now.get("inode")
    return is_same_file and any(before.get(key) == now.get(key) for key in ("path", "device"))


def described(kept: str) -> str:
    """Name the place to people."""
    place = _read(kept)
    return str(place.get("path") or place.get("database") or kept)


def file_at(here: str | None) -> str | None:
    """Return the path of a database that is a file."""
    path = _read(here).get("path") if here is not None else None
    return None if path is None else str(path)


def _read(place: str) -> dict[str, Any]:
    try:
        found = json.loads(place)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
