"""The chain of the audit log: each sealed row has a hash over itself and over the hash before it.

To change, remove or move a row breaks the chain behind it; to make all of it anew ends with another hash than the
one that was kept elsewhere, the anchor.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated

from batchctl.domain.rows import AuditEntry
from batchctl.domain.text import visible

BEGINNING = "0" * 64
"""The hash before the first seal."""
PURGE, LOG = "purge", "AuditLog"
"""Action and target of an entry that lists which rows of the log itself were purged because of their age."""
NUMBERS = "AuditLog_id"
"""The name under which they are listed, as pairs of the first and the last."""
_LONGEST = 1_000_000
LATE = timedelta(hours=1)
"""How long a row may be under way before it is sealed behind others."""
TO_RESTORE = "restore a backup beside this database, and compare AuditLog and AuditSeal"


@dataclass(frozen=True, slots=True)
class Seal:
    """An `AuditSeal` row: that a row of the audit log is in the chain, at which place, and with which hash."""

    number: Annotated[int, "SealNo"]
    audit_id: Annotated[int, "AuditLog_id"]
    previous: Annotated[str, "PrevHash"]
    digest: Annotated[str, "RecordHash"]
    made_at: Annotated[datetime, "z_inserted"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """How far the chain reached at some time, to be kept where those who can change the database cannot change it."""

    number: int
    digest: str

    def __str__(self) -> str:
        """Write it as `audit verify` reads it."""
        return f"{self.number}:{self.digest}"


@dataclass(frozen=True, slots=True)
class ChainFinding:
    """A finding that acts alone cannot have caused."""

    audit_id: int | None
    number: int | None
    message: str
    next_step: str = TO_RESTORE


@dataclass(frozen=True, slots=True)
class PurgeEntry:
    """An entry that lists which rows of the log itself were purged because of their age."""

    audit_id: int
    at: datetime
    spans: tuple[tuple[int, int], ...]
    """The numbers of those rows, from where to where."""
    allowed: timedelta | None
    """How long a row had to have been sealed to be purged; None when none was to be purged at all."""

    def tells_of(self, audit_id: int) -> bool:
        """Say whether a row is one of those."""
        return any(first <= audit_id <= last for first, last in self.spans)


def allowed_at(audit_id: int, changes: Sequence[AuditEntry], now: str | None) -> timedelta | None:
    """Return the value of `AuditLogDays` when a row of the log was written.

    `changes` are the log's entries about that setting, oldest first; `now` is its value today.
    """
    before = [one.after for one in changes if one.audit_id < audit_id]
    behind = [one.before for one in changes if one.audit_id > audit_id]
    said = _value_in(before[-1]) if before else _value_in(behind[0]) if behind else now
    text = (said or "").strip()
    is_days = text.isascii() and text.isdecimal() and 0 < int(text) < _LONGEST
    return timedelta(days=int(text)) if is_days else None


def _value_in(values: str | None) -> str | None:
    try:
        found = json.loads(values or "{}").get("Value")
    except (ValueError, AttributeError):
        return None
    return None if found is None else str(found)


def digest_of(number: int, previous: str, entry: AuditEntry) -> str:
    """Return the hash that seals a row at a place of the chain."""
    at = entry.at.astimezone(UTC).isoformat(timespec="milliseconds")
    said = [number, previous, entry.audit_id, at, entry.actor, entry.host, entry.action, entry.target]
    said += [entry.reason, entry.before, entry.after]
    # ASCII can represent even a text of broken bytes.
    return sha256(json.dumps(said, ensure_ascii=True).encode("ascii")).hexdigest()


def anchor_of(text: str) -> Anchor | None:
    """Read an anchor; None for any other text."""
    number, _, digest = text.strip().lower().partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) <= 18
    is_hash = len(digest) == len(BEGINNING) and not set(digest) - set("0123456789abcdef")
    return Anchor(int(number), digest) if is_number and is_hash else None


def in_spans(numbers: Iterable[int]) -> list[list[int]]:
    """Return numbers as pairs of the first and the last of those that follow each other."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return spans


def purged_by(entry: AuditEntry) -> Iterator[tuple[int, int]]:
    """Yield the spans of rows that a purge deleted, if an entry is a purge and lists them."""
    if (entry.action, entry.target) != (PURGE, LOG):
        return
    try:
        spans = json.loads(entry.before or "{}")[NUMBERS]
        yield from [(int(first), int(last)) for first, last in spans]
    except (ValueError, TypeError, KeyError):
        # Of an older version, or no purge at all.
        return


class Verifier:
    """Walks along the chain and finds where it does not hold."""

    def __init__(self, anchors: Collection[Anchor] = ()) -> None:
        """Begin before the first seal."""
        self._anchors = anchors
        self.head: Anchor | None = None
        self.findings: list[ChainFinding] = []
        self._missing: list[Seal] = []
        self.gone = 0
        """Seals whose rows were purged: only their hashes are left, and hold the chain together."""
        self._last: Seal | None = None
        self._met: set[Anchor] = set()
        self._recent: deque[datetime] = deque()
        """When seals were made within the last hour, and when the last ones before that."""
        self._settled: datetime | None = None

    def look(self, seal: Seal, entry: AuditEntry | None) -> None:
        """Look at the next seal, and at its row if that is still there."""
        last = self._last
        number, digest = (last.number, last.digest) if last else (0, BEGINNING)
        if seal.number != number + 1:
            self._found(seal, f"seals {number + 1} to {seal.number - 1} are missing")
        elif seal.previous != digest:
            self._found(seal, f"it does not follow seal {number}: one of the two was changed, or another was there")
        if entry is None:
            self._missing.append(seal)
        elif digest_of(seal.number, seal.previous, entry) != seal.digest:
            self._found(seal, "the row is not as it was when it was sealed")
        elif self._had_been_sealed(entry.at, seal.made_at):
            self._found(seal, f"the row says it is of {entry.at:%Y-%m-%d %H:%M} UTC, and was inserted afterwards")
        elif _earlier(entry.at) > seal.made_at:
            # The age of a row, and so whether it may be purged, counts from the newest one.
            self._found(seal, f"the row says it is of {entry.at:%Y-%m-%d %H:%M} UTC, and was sealed before that")
        for anchor in self._anchors:
            if anchor.number == seal.number and anchor.digest == seal.digest:
                self._met.add(anchor)
        self._last = seal
        self.head = Anchor(seal.number, seal.digest)

    def finish(self, now: datetime, purges: Collection[PurgeEntry] = ()) -> None:
        """Look for the rows that are missing, and for the anchors that were not met.

        `purges` list the rows that were deleted because of their age, and are read after all else: one may be under
        way. The chain does not protect a purge without a seal, so check of each whether it may have been genuine.
        """
        for seal in self._missing:
            self._look_for(seal, now, purges)
        self.findings.sort(key=lambda finding: finding.number or 0)
        for anchor in self._anchors:
            if anchor not in self._met:
                reached = 0 if self.head is None else self.head.number
                how = (
                    f"the chain ends at seal {reached}: its end was cut off"
                    if anchor.number > reached
                    else "another hash stands there: everything before it may have been made anew"
                )
                self.findings.append(ChainFinding(None, anchor.number, f"the anchor is not met: {how}"))

    def _had_been_sealed(self, at: datetime, now: datetime) -> bool:
        """Say whether everything up to a time had been sealed, long before what is sealed `now`.

        What is sealed after a night without a leader, or all at once at first, is old too.
        """
        while self._recent and self._recent[0] < _earlier(now):
            self._settled = self._recent.popleft()
        if not self._recent or self._recent[-1] < now:
            self._recent.append(now)
        return self._settled is not None and at < _earlier(self._settled)

    def _look_for(self, seal: Seal, now: datetime, purges: Collection[PurgeEntry]) -> None:
        telling = [purge for purge in purges if purge.tells_of(seal.audit_id)]
        if not telling:
            self._found(seal, "the row is missing, and no purge tells of it")
            return
        self.gone += 1
        reasons = [_why_not_allowed(purge, seal, now) for purge in telling]
        if reasons[0] is not None and None not in reasons:
            told = telling[0].audit_id
            message = f"the row is missing, and the purge that tells of it (AuditLog {told}) {reasons[0]}"
            next_step = f"see who inserted that purge: batchctl audit --before {told + 1} --limit 1; then {TO_RESTORE}"
            self.findings.append(ChainFinding(seal.audit_id, seal.number, visible(message), next_step))

    def _found(self, seal: Seal, message: str) -> None:
        self.findings.append(ChainFinding(seal.audit_id, seal.number, visible(message)))


def _why_not_allowed(purge: PurgeEntry, seal: Seal, now: datetime) -> str | None:
    """Return why a purge may not have deleted a row; None when it may.

    The row's age can no longer be known; but a purge deletes nothing that was not sealed for long enough.
    """
    if _earlier(purge.at) > now:
        return f"says it is of {purge.at:%Y-%m-%d %H:%M} UTC, which is still to come"
    if purge.allowed is None:
        return "was not allowed: no AuditLogDays was set"
    if purge.at - seal.made_at < purge.allowed - LATE:
        days = (purge.at - seal.made_at) / timedelta(days=1)
        return (
            f"was not allowed: the row had been sealed for {days:.1f} days, and AuditLogDays said {purge.allowed.days}"
        )
    return None


def _earlier(at: datetime) -> datetime:
    """Return a moment well before a time, which may have been written by hand."""
    first = datetime.min.replace(tzinfo=UTC)
    return at - LATE if at - first > LATE else first
