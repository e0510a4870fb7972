"""The file of events: shared by processes, put aside when it has grown, and never in the way of the work."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from batchctl.system.event_file import EventFile

WRITER = """
import sys
from pathlib import Path
from batchctl.system.event_file import EventFile

path, name = Path(sys.argv[1]), sys.argv[2]
file = EventFile(path, most_bytes=400, kept=500, warn=lambda said: sys.exit(said))
for number in range(200):
    file.add(f"{name} {number}")
file.close()
"""


def lines_of(folder: Path) -> list[str]:
    return [line for file in folder.glob("events.log*") for line in file.read_text(encoding="utf-8").splitlines()]


def test_several_processes_share_it_and_no_line_is_lost_or_torn(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("a", "b", "c")]

    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    wanted = Counter(f"{name} {number}" for name in ("a", "b", "c") for number in range(200))
    assert Counter(lines_of(tmp_path)) == wanted
    assert list(tmp_path.glob("events.log.*[0-9]")), "how often depends on who meets whom"


def test_only_so_many_old_ones_are_kept(tmp_path: Path) -> None:
    file = EventFile(tmp_path / "events.log", most_bytes=20, kept=2, warn=lambda said: None)
    for number in range(50):
        file.add(f"line {number}")
    file.close()

    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "events.log",
        "events.log.1",
        "events.log.2",
        "events.log.lock",
    ]
    assert "line 49" in (tmp_path / "events.log").read_text(encoding="utf-8")


def test_what_somebody_else_has_put_aside_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    file = EventFile(path, most_bytes=10_000, kept=2, warn=lambda said: None)
    file.add("first")
    path.rename(tmp_path / "taken away")
    file.add("second")
    file.close()

    assert path.read_text(encoding="utf-8") == "second\n"


def test_a_folder_that_is_missing_is_told_once_and_written_to_when_it_is_there(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "later"
    file = EventFile(folder / "events.log", most_bytes=1000, kept=2, warn=said.append)
    file.add("lost")
    file.add("lost, too")
    assert said == ["No such file or directory"]

    folder.mkdir()
    file.add("kept")
    file.close()
    assert (folder / "events.log").read_text(encoding="utf-8") == "kept\n"


def test_on_a_full_disk_it_is_told_once_and_closed_nonetheless() -> None:
    said: list[str] = []
    file = EventFile(Path("/dev/full"), most_bytes=1000, kept=2, warn=said.append)
    file.add("lost")
    file.add("lost, too")
    file.close()

    assert said == ["No space left on device"]
