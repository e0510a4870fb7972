"""Who did what, and whether what the audit log says of it is still what was written: the read model behind `audit`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from batchctl.domain.errors import InvalidInput
from batchctl.domain.maintenance.audit_chain import Anchor, ChainFinding, PurgeEntry, Verifier, allowed_at, purged_by
from batchctl.domain.maintenance.retention import AUDIT_DAYS
from batchctl.domain.rows import AuditEntry, AuditFilter, InstanceId, IntakeId
from batchctl.domain.text import fitting, visible
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, instances
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake
from batchctl.store.maintenance import audit_entries, audit_seals, purging
from batchctl.store.views.same_lists import Targets

AT_ONCE = 1000
"""How many rows are looked at by one statement."""
KINDS = {
    "batch": ("ProcessBatch", "ProcessControl", "BatchDependency", "BatchResource"),
    "file": ("FileProcess",),
    "incident": ("Incident",),
    "freeze": ("BatchFreeze",),
    "schedule": ("Schedule",),
    "trigger": ("DataTrigger",),
    "watch": ("FileWatch",),
    "calendar": ("Calendar", "CalendarDay"),
    "resource": ("Resource",),
    "setting": ("Setting",),
    "backfill": ("ScheduleBackfill",),
}
"""What a person calls rows, and the tables of these and of what belongs to them."""


def _shown(values: str | None, entry: AuditEntry) -> str | None:
    """Return the columns as people read them; of a row that was made or deleted, those that hold anything."""
    try:
        found = json.loads(values or "")
    except ValueError:
        return values
    if not isinstance(found, dict):
        return values
    is_whole = entry.before is None or entry.after is None
    return json.dumps({name: at for name, at in found.items() if not is_whole or at is not None}, ensure_ascii=False)


ACTS = ColumnList[AuditEntry](
    "Acts",
    record(AuditEntry),
    {
        "id": "AuditLog_id",
        "at (UTC)": "z_inserted",
        "who": "Actor",
        "host": "Host",
        "action": "Action",
        "target": "Target",
        "reason": "Reason",
        "before": lambda one: _shown(one.before, one),
        "after": lambda one: _shown(one.after, one),
    },
)


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """What a check of the whole chain has found."""

    head: Anchor | None
    findings: tuple[ChainFinding, ...]
    gone: int
    """How many rows have been purged since; their hashes are kept."""
    unsealed: int


def page(transactions: Transactions, wanted: AuditFilter, most: int) -> tuple[AuditEntry, ...]:
    """Return the newest acts, newest first."""
    targets, beginnings = _meant(wanted.ref) if wanted.ref is not None else ((), ())
    with transactions.read() as connection:
        found = audit_entries.page(connection, wanted, most, targets, beginnings)
        if not found and wanted.ref is not None:
            _refuse_unknown(connection, wanted.ref)
    return tuple(found)


def verify(transactions: Transactions, clock: Clock, anchors: tuple[Anchor, ...] = ()) -> ChainVerdict:
    """Look at every seal and at the row that it is of; what is written meanwhile is not waited for."""
    verifier = Verifier(anchors)
    after = 0
    while True:
        with transactions.read() as connection:
            found = audit_seals.following(connection, after, AT_ONCE)
        for seal, entry in found:
            verifier.look(seal, entry)
        if len(found) < AT_ONCE:
            break
        after = found[-1][0].number
    purges = tuple(_purges(transactions))
    verifier.finish(clock.now(), purges)
    with transactions.read() as connection:
        unsealed = audit_seals.unsealed(connection)
    return ChainVerdict(verifier.head, tuple(verifier.findings), verifier.gone, unsealed)


def anchor(transactions: Transactions) -> Anchor | None:
    """Return how far the chain reaches."""
    with transactions.read() as connection:
        last = audit_seals.head(connection)
    return None if last is None else Anchor(last.number, last.digest)


def _purges(transactions: Transactions) -> Iterator[PurgeEntry]:
    after, found = 0, list[AuditEntry]()
    with transactions.read() as connection:
        changes = audit_entries.of_target(connection, f"Setting:{AUDIT_DAYS}")
        now = purging.settings(connection).get(AUDIT_DAYS)
    while not after or len(found) == AT_ONCE:
        with transactions.read() as connection:
            found = audit_seals.purges(connection, after, AT_ONCE)
        for entry in found:
            after = entry.audit_id
            allowed = allowed_at(entry.audit_id, changes, now)
            yield PurgeEntry(entry.audit_id, entry.at, tuple(purged_by(entry)), allowed)
        if not found:
            return


def _refuse_unknown(connection: Connection, ref: str) -> None:
    """Say that there is no such row, and that the log names none: the name or number may be misspelt."""
    kind, name = ref.split(":", 1) if ":" in ref else ("", ref)
    number = int(name) if re.fullmatch(r"[0-9]{1,18}", name) else None
    if kind == "" and number is not None and instances.load(connection, InstanceId(number)) is None:
        raise unknown.instance(connection, number, "audit")
    if kind == "file" and number is not None and intake.load(connection, IntakeId(number)) is None:
        raise unknown.intake_row(connection, number)
    if kind == "batch":
        defined = definitions.read(connection)
        if all(name != row.batch for row in defined.unreadable):
            unknown.named(connection, defined.batches, name)


def targets_of(ref: str | None) -> Targets:
    """Return what a person means by a reference, for a statement that is shown."""
    return Targets() if ref is None else Targets(*_meant(ref))


def _meant(ref: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the targets that a person means, and how those begin that belong to them."""
    if ref.isascii() and ref.isdecimal():
        return (f"BatchControl:{int(ref)}",), ()
    kind, colon, name = ref.partition(":")
    if not colon:
        message = f"'{visible(ref)}' is neither a BatchControl id such as 42, nor such as batch:NAME or file:17."
        raise InvalidInput(message, next_step=f"write one of: 42, {', '.join(f'{each}:...' for each in KINDS)}")
    # A target may also be given as it stands in the log.
    table, *belonging = KINDS.get(kind, (kind,))
    return (fitting(f"{table}:{name}"),), tuple(fitting(f"{each}:{name}:") for each in belonging)
