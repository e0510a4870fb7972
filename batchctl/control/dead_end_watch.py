"""Reading dead ends: once in a while, for they come and go by what people write."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from batchctl import misread
from batchctl.domain import dead_ends
from batchctl.domain.alerting.expectations import Expected
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.maintenance.retention import overgrown
from batchctl.domain.rows import LARGEST_ID, BatchId
from batchctl.domain.status import IntakeStatus
from batchctl.store import Connection, dead_end_rows, leading, limits, reports, unknown_settings
from batchctl.store.alerting import incident_rows
from batchctl.store.definitions.definitions import Definitions
from batchctl.store.intake import intake
from batchctl.store.maintenance import purging
from batchctl.store.operators import freeze_rows
from batchctl.store.scheduling import calendars

MOST = 1000
"""Rows looked at that were rejected, or that no batch takes."""
OF_WORK = 100
"""Unreadable rows of each table of work that are announced at once: as they are corrected, others follow."""
REGISTERING = timedelta(minutes=1)
"""How long a person may take to register a batch, and then its steps."""


def read(
    connection: Connection,
    defined: Definitions,
    expected: Collection[Expected],
    stepless: Collection[BatchId],
    now: datetime,
) -> list[IncidentSign]:
    """Return all dead ends; `stepless` are batches without steps that have work already."""
    batches = defined.batches
    known = {one.batch_id for one in expected if one.registered_at <= now - REGISTERING}.union(stepless)
    entities = {batch.entity for batch in batches} | {
        row.entity for row in defined.unreadable if row.entity is not None
    }
    strange = [*defined.unreadable, *dead_end_rows.unreadable(connection), *freeze_rows.unreadable(connection)]
    strange += [*incident_rows.unreadable(connection), *leading.unreadable(connection)]
    strange += reports.unreadable_work(connection, OF_WORK)
    found = [dead_ends.unreadable(row, now) for row in strange]
    enabled = [batch for batch in batches if batch.enabled]
    awaited = [one for one in expected if one.enabled]
    found += [sign for batch in enabled for sign in dead_ends.not_installed(batch, now)]
    found += misread.of_batches(enabled, awaited, calendars.names(connection), now)
    found += dead_ends.without_steps(enabled, known, now)
    found += dead_ends.nothing_starts(limits.overall(connection), limits.overall_as_written(connection), now)
    found += dead_ends.rejected(intake.set_aside(connection, (IntakeStatus.REJECTED,), LARGEST_ID, MOST), entities)
    waiting = intake.untaken(connection, 0, MOST)
    found += dead_ends.untaken(waiting, dead_end_rows.starts(connection), entities, batches, now)
    found += [dead_ends.misread_rule(one, now) for one in purging.rules(connection).findings]
    found += [dead_ends.unknown_setting(one.name, one.message, now) for one in unknown_settings.read(connection)]
    grown = overgrown(purging.settings(connection), purging.attempts(connection))
    found += [] if grown is None else [dead_ends.history_grows(grown, now)]
    found += [dead_ends.not_starting(one) for one in dead_end_rows.dead_end_starts(connection)]
    return found
