"""Jobs of a small warehouse: functions with decorators, and nothing else to write."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from batchctl.plugin_api import Stopped, daily, every, job, monthly, monthly_dow, retry, stopping, weekly

WAREHOUSE = Path(__file__).with_name("warehouse.db")


@job("nightly_cleanup", category="Ops")
@daily("03:15", time_zone="Europe/Amsterdam")
@retry(attempts=3, interval_seconds=60)
def nightly_cleanup() -> str:
    """Delete visits that are older than a month."""
    with closing(sqlite3.connect(WAREHOUSE)) as warehouse, warehouse:
        warehouse.execute("CREATE TABLE IF NOT EXISTS Visit (At text NOT NULL)")
        gone = warehouse.execute("DELETE FROM Visit WHERE At < date('now', '-1 month')").rowcount
    return f"{gone} visits deleted"


@every(5, "minutes", between="09:00-17:00", days="Mon-Fri")
def exchange_rates() -> str:
    """Fetch the rates while the market is open."""
    return "fetched"


@job("sales_report", category="Reports", arguments="day={CycleKey}")
@weekly("Mon", "06:00")
@monthly("last", "18:00")
@monthly_dow("first", "Tue", "07:30", months="Jan,Jul")
def sales_report(day: str) -> str:
    """Write the report of a day."""
    return f"report of {day}"


@job("export", category="Reports", entity="Export")
def export(parts: int = 1000) -> str:
    """Export everything, on demand; may be cancelled between two parts."""
    for done in range(parts):
        if stopping(0.05):
            raise Stopped(f"after {done} of {parts} parts")
    return f"{parts} parts"
