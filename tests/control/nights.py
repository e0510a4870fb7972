"""Past nights in the tables, and the duty that makes forecasts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from batchctl.control.dependencies.forecast_keeping import ForecastKeeping
from batchctl.domain.liveness import Rhythm
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.operations.dependencies.foretelling import Foretelling
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import Timetable
from tests.control.world import World

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


@dataclass
class Nights:
    """Batches with a past: each night Orders comes, and Report waits for it."""

    world: World
    ids: dict[str, int] = field(default_factory=dict)

    def register(self, **report: object) -> None:
        """Register Orders with two steps, and Report, which depends on it."""
        self.ids["Orders"] = self.world.batch("Orders", steps=2)
        self.ids["Report"] = self.world.batch("Report", steps=1, **report)
        self.world.sql("UPDATE ProcessBatch SET z_inserted = '2026-01-01 00:00:00'")
        self.world.sql(
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)",
            *(self.ids["Report"], self.ids["Orders"]),
        )

    def pass_one(self, came: datetime, orders: Sequence[float], report: float) -> datetime:
        """Let a night pass, with so many minutes for each step; return when Report was ready."""
        at = self.ran("Orders", came, came, orders)
        return self.ran("Report", at, at, [report])

    def ran(self, batch: str, came: datetime, at: datetime, minutes: Sequence[float]) -> datetime:
        """Let an instance have come and run; return when it was complete."""
        sql, key = self.world.sql, f"{came:%Y-%m-%d}"
        sql("INSERT INTO FileProcess (Entity, FileName, Status, CycleKey) VALUES (?, 'f', 'complete', ?)", batch, key)
        intake = self.world.one("SELECT max(FileProcess_id) FROM FileProcess")
        ended = at + sum((timedelta(minutes=each) for each in minutes), timedelta())
        sql(
            "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, CycleKey, PrevProcessControlSeq, z_inserted,"
            " z_updated) VALUES (?, ?, 'complete', ?, 99, ?, ?)",
            *(self.ids[batch], intake, key, written(came), written(ended)),
        )
        instance = self.world.one("SELECT max(BatchControl_id) FROM BatchControl")
        for number, each in enumerate(minutes, start=1):
            end = at + timedelta(minutes=each)
            sql(
                "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, AttemptNo,"
                " ProcessName, ProcessType, CommandText, Status, StartTime, EndTime)"
                " VALUES (?, ?, ?, 1, 'step', 'told', '', 'success', ?, ?)",
                *(instance, self.ids[batch], 10 * number, written(at), written(end)),
            )
            at = end
        return at

    def keeping(self, **given: Any) -> ForecastKeeping:
        """Return the duty."""
        world = self.world
        table = Timetable(transactions=world.transactions, clock=world.clock, zone="UTC", grace=5 * MINUTE)
        wanted: dict[str, Any] = {
            "make": Foretelling(table, Presence(Rhythm(), lambda row: False)).pieces,
            "interval": 10 * MINUTE,
            "hours": (18 * 60, 0, 3 * 60),
            "wake": lambda: None,
        }
        return ForecastKeeping(
            transactions=world.transactions, clock=world.clock, wall_clock=clock_of("UTC"), **(wanted | given)
        )


def written(moment: datetime) -> str:
    """Write a moment as rows have it."""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"
