"""Files that steps name are read as a whole; what might never end is refused. What is written is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batchctl.domain.errors import StepRefused
from batchctl.system import files
from batchctl.system.files import read_text
from batchctl.system.plugins.targets import read_below


def refused(directory: Path, name: str) -> str:
    """Return why a file below a directory is not read."""
    with pytest.raises(StepRefused) as refused:
        read_below(directory, (), name)
    return refused.value.message


def test_a_text_is_read_as_it_stands_but_for_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_bytes("\ufeffSELECT '\u00e4';\r\n".encode())

    assert read_below(tmp_path, (), "q.sql") == "SELECT '\u00e4';\r\n"


def test_a_pipe_is_refused_and_nobody_waits_for_who_writes_into_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "q.sql")

    assert refused(tmp_path, "q.sql") == "'q.sql' cannot be read: it is no regular file."


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device: str) -> None:
    with pytest.raises(OSError, match="it is no regular file"):
        read_text(device)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.sql").mkdir()

    assert "Is a directory" in refused(tmp_path, "q.sql")


def test_what_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_READ", 8)
    (tmp_path / "q.sql").write_bytes(b"SELECT 1")
    assert read_below(tmp_path, (), "q.sql") == "SELECT 1"
    (tmp_path / "q.sql").write_bytes(b"SELECT 12")

    assert refused(tmp_path, "q.sql") == "'q.sql' cannot be read: it has more than 8 bytes."


def test_a_file_is_written_whole_where_one_stood_and_where_none_did(tmp_path: Path) -> None:
    file, link = tmp_path / "page.html", tmp_path / "link.html"
    link.symlink_to(file)
    files.write_whole(link, "one")
    file.chmod(0o640)
    (tmp_path / f".page.html.{os.getpid()}.part").write_text("left over", encoding="utf-8")

    files.write_whole(link, "two €")

    assert file.read_text(encoding="utf-8") == "two €"
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.html", "page.html"]


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    file.write_text("as it was", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="full"):
        files.write_whole(file, "new")

    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert file.read_text(encoding="utf-8") == "as it was"
    with pytest.raises(OSError, match="directory"):
        files.write_whole(tmp_path, "new")


def test_what_is_no_file_is_written_as_it_is() -> None:
    files.write_whole(Path(os.devnull), "gone")

    assert not Path(os.devnull).is_file()
