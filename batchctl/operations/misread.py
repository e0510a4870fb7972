"""What a batch says and nothing can be made of, though it can be read and goes on: the incidents tell it to every face."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from batchctl.domain.incidents import Incident
from batchctl.domain.rows import BatchId, MissingPlugin
from batchctl.store import incidents


def of_batch(connection: Any, batch_id: BatchId, said: Iterable[MissingPlugin]) -> tuple[Incident, ...]:
    """Return the incidents about a batch, but for those of what is said otherwise not to be installed."""
    return unsaid(incidents.misread(connection, batch_id), said)


def unsaid(found: Iterable[Incident], said: Iterable[MissingPlugin]) -> tuple[Incident, ...]:
    """Leave out what is said otherwise not to be installed."""
    messages = {one.message for one in said}
    return tuple(one for one in found if one.message not in messages)
