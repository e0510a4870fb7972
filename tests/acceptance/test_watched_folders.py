"""Watched folders from outside: real files, real processes, and what `batchctl watch` and `check` say of them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import dying_controller
from tests.acceptance.dying_controller import DEATH
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started, clean_environment
from tests.control_databases import ControlDatabase, SqliteControl
from tests.loaded_batchctl import LoadedBatchctl
from tests.system.watching import Ear

SLOW_WRITER = """
import sys, time
with open(sys.argv[1], "wb", buffering=0) as file:
    for _ in range(30):
        file.write(b"x" * 1000)
        time.sleep(0.1)
"""


class Shop:
    """A folder with a database, a batch, and a watched folder `in`."""

    def __init__(self, database: ControlDatabase, start: StartBatchctl, run: RunBatchctl) -> None:
        directory = self.directory = database.directory
        self._start, self._run = start, run
        self.folder = directory / "in"
        self.folder.mkdir()
        settings = f'database_url = "{database.url}"\npoll_interval = 0.3\nstop_grace = 1\nstate_directory = "state"\n'
        (directory / "batchctl.toml").write_text(settings, encoding="utf-8")
        self.hand = database.hand()
        self.ear = Ear(directory / "ear")
        self.processes: list[Started] = []

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return self._run(*args, cwd=self.directory)

    def json(self, *args: str) -> Any:
        """Run a command that reads, and return what it says."""
        return json.loads(self.run(*args, "--json").stdout)

    def start(self, *args: str) -> Started:
        """Start a command that goes on."""
        quiet = subprocess.DEVNULL
        return self.keep(self._start(*args, cwd=self.directory, stdout=quiet, stderr=quiet))

    def keep(self, process: Started) -> Started:
        """End a process with the test."""
        self.processes.append(process)
        return process

    def batch(self, command: str | None = None, name: str = "B") -> None:
        """Register a batch of one step; without a command it is disabled."""
        enabled = int(command is not None)
        self.hand.sql("INSERT INTO ProcessBatch (ProcessBatchName, Enabled) VALUES (?, ?)", name, enabled)
        self.hand.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, 10, 'step', 'os_command', ? FROM ProcessBatch WHERE ProcessBatchName = ?",
            command or "true",
            name,
        )

    def watch(self, name: str = "w", **columns: object) -> None:
        """Register a watch by a row."""
        values = {"WatchName": name, "Entity": "B", "Folder": "in", **columns}
        marks = ", ".join("?" * len(values))
        self.hand.sql(f"INSERT INTO FileWatch ({', '.join(values)}) VALUES ({marks})", *values.values())

    def submitted(self) -> list[str]:
        """Return the names of what was submitted."""
        found = self.hand.sql("SELECT FileName FROM FileProcess ORDER BY FileProcess_id")
        return sorted(str(row[0]).removeprefix(f"{self.folder}/") for row in found)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.ear.close()
        self.hand.close()


def shell(script: str) -> str:
    """Return a command that hands the file to a script as $0."""
    return f"sh -c {shlex.quote(script)} {{FileName}}"


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


@pytest.fixture
def sqlite_shop(
    sqlite_database: SqliteControl, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl
) -> Iterator[Shop]:
    made = Shop(sqlite_database, start_batchctl, run_batchctl)
    yield made
    made.close()


def test_a_slow_writer_is_waited_for_and_a_killed_controller_takes_nothing_twice(shop: Shop) -> None:
    shop.batch(shell('wc -c < "$0" > ear'))
    shop.watch(SettleSeconds=2)
    writer = shop.keep(subprocess.Popen([sys.executable, "-c", SLOW_WRITER, shop.folder / "a.csv"], text=True))
    controller = shop.start("run")
    size = int(shop.ear.hear())
    controller.send_signal(signal.SIGKILL)
    controller.wait()

    assert writer.wait(PATIENCE) == 0
    assert size == 30_000
    assert shop.run("run", "--once").returncode == 0
    assert shop.submitted() == ["a.csv"]
    assert shop.hand.sql("SELECT Status FROM BatchControl") == [("complete",)]


@pytest.mark.parametrize(("when", "nth"), [("before", 1), ("after", 1), ("before", 2), ("after", 2)])
def test_whenever_a_controller_dies_each_file_is_submitted_once(
    sqlite_shop: Shop, loaded_batchctl: LoadedBatchctl, when: str, nth: int
) -> None:
    shop = sqlite_shop
    shop.batch()
    shop.watch(SettleSeconds=0)
    names = [f"{at:03}.csv" for at in range(150)]
    for name in names:
        (shop.folder / name).touch()
    words = [str(shop.directory / "batchctl.toml"), "C1", when, str(nth), "leads"]
    program = dying_controller.__name__
    died = loaded_batchctl.run(*words, cwd=shop.directory, env=clean_environment(), program=program)
    before = len(shop.submitted())
    ran = shop.run("run", "--once")

    assert died.returncode == DEATH
    assert ran.returncode == 0
    assert (before == 0) is ((when, nth) == ("before", 1))
    assert shop.submitted() == names
    fired = shop.hand.sql("SELECT FileProcess_id FROM SchedulerLog WHERE EventType = 'fired' ORDER BY FileProcess_id")
    assert [row[0] for row in fired] == list(range(1, 151))
    assert shop.hand.sql("SELECT count(*) FROM BatchControl") == [(150,)]


def test_thousands_of_real_files_are_taken_once_across_restarts(shop: Shop) -> None:
    shop.batch()
    shop.watch(Recursive=1, SettleSeconds=1)
    for at in range(3000):
        place = shop.folder / f"{at % 7}"
        place.mkdir(exist_ok=True)
        (place / f"{at}.csv").write_text(str(at), encoding="utf-8")
    for _ in range(2):
        assert shop.run("run", "--once").returncode == 0
    (row,) = shop.json("watch", "list")

    assert len(shop.submitted()) == len(set(shop.submitted())) == 3000
    assert (row["Taken"], row["Missing"], row["LastFileProcess_id"]) == (3000, 0, 3000)
    assert row["LastSubmitted"].endswith("Z")


def test_a_folder_that_goes_away_and_comes_back(shop: Shop) -> None:
    shop.batch()
    shop.watch(SettleSeconds=0)
    (shop.folder / "a.csv").touch()
    shop.run("run", "--once")
    shop.folder.rename(shop.directory / "away")
    codes = [shop.run("run", "--once").returncode]
    shop.folder.touch()
    codes.append(shop.run("run", "--once").returncode)
    away = shop.json("watch", "list")[0]["UnreachableSince"]
    tested, checked = shop.run("watch", "test", "w"), shop.run("check")
    shop.folder.unlink()
    (shop.directory / "away").rename(shop.folder)
    (shop.folder / "b.csv").touch()
    shop.run("run", "--once")

    assert codes == [0, 0]
    assert away is not None
    assert (tested.returncode, checked.returncode) == (4, 6)
    assert tested.stdout == ""
    assert tested.stderr.splitlines() == [
        f"Error: the folder cannot be listed: Not a directory: '{shop.folder}'",
        "Next: correct FileWatch.Folder",
        "Code: BC1209",
    ]
    assert "It cannot be listed on this host" in " ".join(checked.stdout.split())
    assert shop.submitted() == ["a.csv", "b.csv"]
    assert shop.json("watch", "list")[0]["UnreachableSince"] is None
    events = [row[0] for row in shop.hand.sql("SELECT EventType FROM SchedulerLog ORDER BY SchedulerLog_id")]
    assert events == ["fired", "error", "rescued", "fired"]
    assert shop.run("check").returncode == 0


def test_names_and_special_files_are_handled_by_rule_and_the_test_of_a_watch_says_which(shop: Shop) -> None:
    shop.batch(shell('cat "$0"'))
    shop.watch(SettleSeconds=0, MarkerSuffix=".done")
    strange = ["-rf", "new\nline", "blank ", "\u202egnp", "$(touch x)", "ä" * 127]
    for name in strange:
        (shop.folder / name).write_text(name, encoding="utf-8")
    raw = os.fsencode(shop.folder)
    for given in [*map(os.fsencode, strange), b"bad\xff"]:
        # 255 bytes are all a name may have, and its marker has some more.
        if len(given) < 250:
            Path(os.fsdecode(raw + b"/" + given + b".done")).touch()
    Path(os.fsdecode(raw + b"/bad\xff")).touch()
    (shop.folder / "waits").touch()
    (shop.folder / "x.part").touch()
    (shop.folder / ".hidden").touch()
    (shop.folder / "link").symlink_to("waits")
    os.mkfifo(shop.folder / "fifo")
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(shop.folder / "socket"))

    before = {each["FilePath"]: each for each in shop.json("watch", "test", "w")["Files"]}
    nothing = shop.submitted()
    shop.run("run", "--once")
    after = {each["FilePath"]: each for each in shop.json("watch", "test", "w")["Files"]}
    shown = shop.run("watch", "test", "w")

    markable = [name for name in strange if len(os.fsencode(name)) < 250]
    assert nothing == []
    assert shop.submitted() == sorted([*markable, "bad\\udcff"])
    assert {name: before[name]["Outcome"] for name in markable} == dict.fromkeys(markable, "complete")
    assert before["-rf"]["Data"].startswith("name_size_time:-rf|3|")
    assert before["bad\\udcff"]["Outcome"] == "rejected"
    assert {after[name]["Outcome"] for name in [*markable, "bad\\udcff"]} == {"taken"}
    assert after["-rf"]["Reason"] == f"taken already, as FileProcess {after['-rf']['FileProcess_id']}"
    reasons = {
        name: after[name]["Reason"] for name in ("waits", "x.part", ".hidden", "link", "fifo", "socket", "-rf.done")
    }
    assert reasons == {
        "waits": "its marker is missing: 'waits.done'",
        "x.part": "its name ends as that of a file which is still being written, and the pattern does not end so",
        ".hidden": "it is hidden, and the pattern does not begin with a dot",
        "link": "it is no regular file but a link",
        "fifo": "it is no regular file but a FIFO",
        "socket": "it is no regular file but a socket",
        "-rf.done": "it is a marker itself",
    }
    assert shown.returncode == 0
    assert "new\\nline" in shown.stdout
    assert "Nothing was submitted." in shown.stdout
    outputs = {row[0] for row in shop.hand.sql("SELECT Output FROM BatchProcessHistory WHERE Status = 'success'")}
    assert outputs == set(markable)
    rejected = shop.hand.sql("SELECT Status, Message FROM FileProcess WHERE Status = 'rejected'")
    assert len(rejected) == 1
    assert "Rename the file" in rejected[0][1]


def test_check_finds_what_is_wrong_with_watches(shop: Shop) -> None:
    shop.batch(name="Orders")
    shop.watch("typo", Entity="Order")
    shop.watch("first", Entity="Orders")
    shop.watch("second", Entity="Orders", Pattern="*.csv", Folder="./in")
    shop.watch("apart", Entity="Orders", Folder="gone", Pattern="x/*.csv")
    shop.watch("open", Entity="Orders", Pattern="[a.csv", Enabled=0)
    shop.watch("closed", Entity="Orders", Pattern="[[][]]x[!]a]y[a-c].csv", Enabled=0)
    found = [(each["Row"], each["Column"], each["Message"]) for each in shop.json("check")]

    assert [each[:2] for each in found] == [
        ("typo", "Entity"),
        ("apart", "Pattern"),
        ("open", "Pattern"),
        ("apart", "Folder"),
        ("second", "Folder"),
    ]
    assert found[0][2] == "No batch takes entity 'Order'. Did you mean 'Orders'?"
    assert found[2][2].startswith("A '[' that no ']' closes stands for itself")
    assert found[3][2].startswith("It cannot be listed on this host: No such file or directory")
    assert found[4][2] == "Watch 'first' submits the same files for the same entity: disable one."


def test_a_watch_that_is_not_there(shop: Shop) -> None:
    shop.watch("orders")
    answer = shop.run("watch", "test", "order")

    assert answer.returncode == 3
    assert "There is no FileWatch 'order'. Did you mean 'orders'?" in answer.stderr
    assert "batchctl watch list" in answer.stderr
    assert "orders" in shop.run("watch", "list").stdout
