"""Verify that a file of flights has arrived whole; a work item of the worked example, plain Python without batchctl."""

from __future__ import annotations

import argparse
import re
import sys
from datetime import datetime
from pathlib import Path

HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,"
    "origin,dest,air_time,distance,hour,minute,time_hour"
)
CONTROL = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f]")


def main() -> int:
    """Print what was found; 0 when the file may be loaded, 1 when it may not."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--file", required=True, type=Path)
    asked.add_argument("--from", required=True, dest="first_day")
    asked.add_argument("--to", required=True, dest="last_day")
    given = asked.parse_args()
    try:
        lines = verify(given.file, given.first_day, given.last_day)
    except (OSError, ValueError) as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 1
    print(f"{given.file.name}: {lines} lines, {given.file.stat().st_size} bytes, complete")
    return 0


def verify(file: Path, first_day: str, last_day: str) -> int:
    """Return the number of lines behind the header; raises ValueError with what is wrong."""
    if day(first_day) > day(last_day):
        raise ValueError(f"the period ends ({last_day}) before it begins ({first_day})")
    text = file.read_bytes().decode("utf-8")
    if not text:
        raise ValueError("the file is empty")
    if not text.endswith("\n"):
        raise ValueError("the last line is not complete: the transfer was probably cut off")
    if control := CONTROL.search(text):
        raise ValueError(f"line {text.count(chr(10), 0, control.start()) + 1} holds a control character")
    header, *lines = text.splitlines()
    if header != HEADER:
        raise ValueError(f"the first line is not the header of a file of flights: {header[:80]}")
    if not lines:
        raise ValueError("nothing stands below the header")
    return len(lines)


def day(text: str) -> datetime:
    """Read yyyymmdd."""
    return datetime.strptime(text, "%Y%m%d")  # noqa: DTZ007 - a day has no zone


if __name__ == "__main__":
    sys.exit(main())
