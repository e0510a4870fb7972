"""What others keep locked, as a controller writes it with its sign of life, and as `why` reads it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice

from batchctl.domain.errors import in_one_line, without_next_step
from batchctl.domain.rows import BatchDefinition, BatchInstance

TO_END_IT = "; to end it: "
"""Separates who keeps something locked from the statement that ends it."""
MOST = 20
"""At most so many locks are named."""
SO = "somebody keeps rows locked: "
"""How the `Trouble` of a controller begins that is kept from work by locks."""
BETWEEN = " | "
"""Separates the parts about one lock and the next."""
ESCAPED = "|", ":"
"""Characters that a name may hold only escaped: they would end one part, or begin another."""
LEAD = "Leader 1"
"""The name of the row that holds the lead."""
_CULPRIT = re.compile(r"session (\d+) \(.*?transaction open since ([\d:.\- ]+) UTC")
"""Which transaction of which session keeps something locked, as the databases name it."""
ESCAPE = "\\"
"""Stands before an escaped character."""


def failure_of(locked: Mapping[str, str]) -> str | None:
    """Return the failure for these locks, by the name of what is locked: the messages, and what ends it."""
    if not locked:
        return None
    named = [f"{as_announced(what)}: {_without_marks(said)}" for what, said in islice(locked.items(), MOST)]
    more = [] if len(locked) <= MOST else [f"{len(locked) - MOST} more"]
    end, *others = {parted(said)[1] for said in locked.values()}
    # Of several sessions none is to be ended for what another one keeps.
    next_step = "batchctl status" if others or end is None else end
    return in_one_line(f"{SO}{BETWEEN.join([*named, *more])}", next_step)


def as_announced(name: str) -> str:
    """Escape a name so that nothing in it is taken for a separator; the views do the same."""
    for mark in ESCAPED:
        name = name.replace(mark, f"{ESCAPE}{mark}")
    return name


def _without_marks(wording: str) -> str:
    """Escape a message, part of which a session may choose, so that only the ending statement follows the mark."""
    who, end = parted(wording)
    plain = who.replace("|", f"{ESCAPE}|").replace(TO_END_IT, as_announced(TO_END_IT))
    return f"{plain}{TO_END_IT}{end}" if end else plain


def parted(wording: str) -> tuple[str, str | None]:
    """Return who keeps something locked, and the statement that ends it."""
    who, mark, end = wording.rpartition(TO_END_IT)
    return (who, end) if mark else (wording, None)


def is_of_locks(failure: str | None) -> bool:
    """Say whether a controller's failure is that somebody keeps rows locked: what these do not concern goes on."""
    return (failure or "").startswith(SO)


def message_about(failure: str | None, names: Collection[str]) -> tuple[str, str | None] | None:
    """Return what such a failure says of anything with one of some names, and the statement that ends it."""
    if failure is None or not is_of_locks(failure):
        return None
    entries = without_next_step(failure).removeprefix(SO).split(BETWEEN)
    begins = tuple(f"{as_announced(name)}: " for name in names)
    return next((parted(entry) for entry in entries if entry.startswith(begins)), None)


def culprits(failure: str | None) -> frozenset[tuple[str, str]]:
    """Return the transactions that such a failure names."""
    return frozenset(_CULPRIT.findall(failure or ""))


def names_of(instance: BatchInstance, batch: BatchDefinition) -> tuple[str, ...]:
    """Return the names under which a lock may be listed that keeps an instance from starting."""
    return f"BatchControl {instance.instance_id}", f"batch {batch.name}", f"FileProcess {instance.intake_id}"
