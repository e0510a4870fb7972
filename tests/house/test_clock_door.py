"""Time, chance, processes and the environment come in through ports; the linter bans every other door."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tests.house.source import ROOT

DOORS = """\
from __future__ import annotations
import datetime
import os
import sqlalchemy
import asyncio
import multiprocessing
import random
import secrets
import socket
import subprocess
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from os import environ
from time import sleep
a = datetime.datetime.now()
b = datetime.datetime.utcnow()
c = datetime.datetime.today()
d = datetime.date.today()
e = os.environ["HOME"]
f = os.getenv("HOME")
g = os.fork()
h = os.system("true")
i = os.urandom(8)
j = sqlalchemy.text("SELECT 1")
"""
OPEN_LINES = {1, 2, 3, 4}
EVERY_DOOR = set(range(1, DOORS.count("\n") + 1)) - OPEN_LINES
TEXT_DOOR = {DOORS.count("\n")}


def banned_lines(place: str) -> set[int]:
    """The lines of DOORS that the ban refuses in a file of that place."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251", "--output-format", "concise"]
    report = subprocess.run(
        [*command, "--stdin-filename", place, "-"],
        input=DOORS,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.stderr == ""
    return {int(line.split(":")[1]) for line in report.stdout.splitlines() if "TID251" in line}


@pytest.mark.parametrize(
    ("place", "banned"),
    [
        ("batchctl/control/scratch.py", EVERY_DOOR),
        ("batchctl/domain/scratch.py", EVERY_DOOR),
        ("batchctl/operations/scratch.py", EVERY_DOOR),
        ("batchctl/cli/scratch.py", EVERY_DOOR),
        ("batchctl/store/scratch.py", EVERY_DOOR - TEXT_DOOR),
        ("batchctl/store/dialects/scratch.py", EVERY_DOOR - TEXT_DOOR),
        ("step_handlers/scratch.py", EVERY_DOOR),
        ("batchctl/system/scratch.py", set()),
    ],
)
def test_the_linter_bans_every_door_but_the_ports(place: str, banned: set[int]) -> None:
    assert banned_lines(place) == banned


def test_the_store_may_use_sql_text_and_nothing_else_more_than_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    store = tomllib.loads((ROOT / "batchctl/store/ruff.toml").read_text(encoding="utf-8"))
    everywhere = project["lint"]["flake8-tidy-imports"]["banned-api"]
    del everywhere["sqlalchemy.text"]

    assert store["lint"]["flake8-tidy-imports"]["banned-api"] == everywhere
