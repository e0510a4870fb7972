"""The Python job of the worked example: a page about the flights of one file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from sqlalchemy import create_engine, text  # noqa: TID251 - the warehouse is this job's own

from batchctl.plugin_api import job

HERE = Path(__file__).resolve().parent

TOTALS = """
SELECT count(*), count(*) - count(DepTime), round(avg(DepDelay), 1), round(avg(ArrDelay), 1)
FROM Flight WHERE DateKey BETWEEN :first_day AND :last_day
"""

BY_CARRIER = """
SELECT Carrier, count(*), count(*) - count(DepTime), round(avg(DepDelay), 1), round(avg(ArrDelay), 1)
FROM Flight WHERE DateKey BETWEEN :first_day AND :last_day
GROUP BY Carrier ORDER BY count(*) DESC, Carrier
"""


@job("monthly_report")
def monthly_report(first_day: str, last_day: str) -> str:
    """Write reports/flights_FIRST_LAST.md and say what stands in it."""
    period = {"first_day": int(first_day), "last_day": int(last_day)}
    with create_engine(warehouse_url()).connect() as warehouse:
        totals = warehouse.execute(text(TOTALS), period).one()
        carriers = warehouse.execute(text(BY_CARRIER), period).all()
    if not carriers:
        message = f"the warehouse holds no flights from {first_day} to {last_day}"
        raise LookupError(message)
    report = HERE / "reports" / f"flights_{first_day}_{last_day}.md"
    report.parent.mkdir(exist_ok=True)
    report.write_text(page(first_day, last_day, [("all", *totals), *carriers]), encoding="utf-8")
    return f"{totals[0]} flights, {totals[1]} of them cancelled: reports/{report.name}"


def warehouse_url() -> str:
    """Return where the configuration says the warehouse is."""
    settings = tomllib.loads((HERE / "batchctl.toml").read_text(encoding="utf-8"))
    url = str(settings["connections"]["warehouse"]["url"])
    return url.replace("sqlite:///", f"sqlite:///{HERE}/")


def page(first_day: str, last_day: str, rows: list[tuple[str | float | None, ...]]) -> str:
    """Lay out the report as Markdown."""
    lines = [
        f"# Flights from New York, {first_day} to {last_day}",
        "",
        "| carrier | flights | cancelled | mean departure delay, min | mean arrival delay, min |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += ["| " + " | ".join("" if value is None else str(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
