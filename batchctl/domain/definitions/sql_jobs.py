"""SQL that runs once, or daily, at a time that a person names: the rows it stands for, decided purely."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.status import CatchUp, OnFailure, ScheduleType
from batchctl.domain.text import NAME_LIMIT, typed, unfit, visible
from batchctl.domain.values import named_value

ORIGIN = "sql"
"""The `Origin` of the rows that such a job consists of."""
PROCESS_TYPE = "sql"
SEQ = 10
OPTIONS = {"Data1": "--connection", "Data2": "--sql"}
"""The options that give the columns of its step."""

_CORRECT_STEP = re.compile(
    r"correct (Data[12]) of step \d+ of batch .* \(UPDATE ProcessControl \.\.\.; batchctl check\)"
)

_WALL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)")


@named_value
class SqlJob:
    """What a person wants to have carried out, and when."""

    name: str
    connection: str
    sql: str
    at: datetime
    """Wall time in its zone, of the only run or of the first."""
    zone: str
    is_daily: bool = False
    retries: int = 0
    catch_up: CatchUp = CatchUp.LATEST
    """By default a job that was missed while no controller worked runs when one works again."""
    enabled: bool = True

    @property
    def timing(self) -> Timing:
        """Return when it is due: a day of 23 or 25 hours has its time of day like any other."""
        if not self.is_daily:
            return Timing(schedule_type=ScheduleType.ONCE, run_at=shown(self.at), time_zone=self.zone)
        return Timing(
            schedule_type=ScheduleType.DAILY,
            run_times=f"{self.at:%H:%M}",
            start_date=self.at.date().isoformat(),
            time_zone=self.zone,
        )

    @property
    def batch_columns(self) -> dict[str, object]:
        """Return the columns of its batch: a run that failed keeps no other run waiting, its own or others'."""
        return {
            "ProcessBatchName": self.name,
            "RetryCount": self.retries,
            "OnFailure": OnFailure.CONTINUE.value,
            "Origin": ORIGIN,
        }

    @property
    def step_columns(self) -> dict[str, object]:
        """Return the columns of its only step."""
        return {
            "ProcessControlSeq": SEQ,
            "ProcessName": self.name,
            "ProcessType": PROCESS_TYPE,
            "Data1": literal(self.connection),
            "Data2": literal(self.sql),
        }

    @property
    def schedule_columns(self) -> dict[str, object]:
        """Return the columns of its schedule, except those that say where it stands."""
        timing = self.timing
        return {
            "ScheduleName": self.name,
            "Entity": self.name,
            "ScheduleType": timing.schedule_type.value,
            "RunTimes": timing.run_times,
            "StartDate": timing.start_date,
            "RunAt": timing.run_at,
            "TimeZone": timing.time_zone,
            "CatchUp": self.catch_up.value,
            "Enabled": int(self.enabled),
            "Origin": ORIGIN,
        }


def correcting(name: str, column: str = "Data2") -> str:
    """Return the command that corrects the SQL of a job, or another column of its step."""
    option = OPTIONS.get(column, OPTIONS["Data2"])
    return f"batchctl schedule set-sql {typed(name)} {option} ... --reason ..."


def correcting_job(name: str, mend: str) -> str:
    """Return what corrects a step, as a command for a job that was made by options."""
    return _CORRECT_STEP.sub(lambda found: correcting(name, found[1]), mend)


def literal(text: str) -> str:
    """Write a text so that nothing in it is a placeholder."""
    return text.replace("{", "{{").replace("}", "}}")


def wall_time(text: str) -> datetime | None:
    """Read a wall time such as 2026-12-01 02:00, perhaps with seconds; None where it is none."""
    found = _WALL.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}")
    except ValueError:
        return None


def shown(wall: datetime) -> str:
    """Write a wall time as people do."""
    return wall.isoformat(" ", "seconds" if wall.second else "minutes")


def local_now(now: datetime, zone: str) -> str:
    """Return what the clocks of a zone show at a moment, with its name."""
    return f"{now.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S}"


def comes_twice(wall: datetime, zone: str) -> bool:
    """Say whether clocks show a wall time twice, because they are put back."""
    first, second = (wall.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset() for fold in (0, 1))
    return first is not None and second is not None and first > second


def unfit_name(name: str) -> str | None:
    """Return why a name cannot be that of a batch and a schedule."""
    if not name.strip():
        return "it is empty"
    if name != name.strip():
        return "it begins or ends with a blank"
    if (reason := unfit(name)) is not None:
        return reason
    if visible(name) != name:
        return f"it holds invisible characters: '{visible(name)}'"
    return f"it is longer than {NAME_LIMIT} characters" if len(name) > NAME_LIMIT else None


def unfit_time(at: datetime, *, is_daily: bool) -> str | None:
    """Return why a job cannot begin at a wall time."""
    if is_daily and at.second:
        return f"a daily job begins at a whole minute: write {shown(_next_minute(at))}, or leave out --daily"
    return None


def _next_minute(at: datetime) -> datetime:
    return at.replace(second=0) + timedelta(minutes=1)
