"""When batches will probably be ready, as it was said last."""

from __future__ import annotations

from batchctl.store.tables import NEWEST_FORECAST
from batchctl.store.views.view_dialect import ViewDialect


def forecast(s: ViewDialect) -> str:
    """Return the newest forecast of each batch, and in how many minutes it has to be ready."""
    return f"""
SELECT b.ProcessBatchName, k.CycleKey, {s.twin("k.P50", "P50")}, {s.twin("k.P90", "P90")},
       {s.twin("k.FinishBy", "FinishBy")}, {s.minutes(s.now, "k.FinishBy")} AS DueInMinutes, k.Chance, k.NeedsPerson, k.Nights,
       k.Decides, k.Helps, {s.twin("k.MadeOn", "MadeOn")},
       {s.look("vStatus", "ProcessBatchName", s.quoted("b.ProcessBatchName"))} AS NextSql
FROM {s.of}KeptForecast k
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = k.ProcessBatch_id
WHERE k.{NEWEST_FORECAST}"""
