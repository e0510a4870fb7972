"""Notes: what people write about an instance, an incident or a batch."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.domain.text import unfit
from batchctl.domain.values import named_value

LONGEST = 4000
"""Characters of a note: it is read on a terminal at night."""


@named_value
class Note:
    """A `Note` row; it is about exactly one of the three."""

    note_id: Annotated[int, "Note_id"]
    instance_id: InstanceId | None
    incident_id: Annotated[IncidentId | None, "Incident_id"]
    batch_id: BatchId | None
    text: str
    actor: str
    at: Annotated[datetime, "z_inserted"]


@named_value
class NoteSubject:
    """What a note is about: exactly one of the three."""

    instance_id: InstanceId | None = None
    incident_id: IncidentId | None = None
    batch: str | None = None


def unfit_text(text: str) -> str | None:
    """Say why a text is no note; None when it is one."""
    if not text.strip():
        return "it says nothing"
    if (failure := unfit(text)) is not None:
        return failure
    if len(text) > LONGEST:
        return f"it has {len(text)} characters, and {LONGEST} are the most; write the rest elsewhere, and here where"
    return None
