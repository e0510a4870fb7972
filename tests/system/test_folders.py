"""Folders on a real file system: what is found, what is passed over, what is never opened, and what hangs alone."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.arrivals import FileNames, FoundFile
from batchctl.ports import FolderPage, FolderReport, FolderWalk, Inspected
from batchctl.system import folders as folders_module
from batchctl.system.folders import ThreadFolders
from batchctl.system.host import shares

LONG = timedelta(seconds=20)


class Watcher:
    """Somebody who waits for what threads find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folders = ThreadFolders()
        self.walks = 0

    def order(self, key: int = 1, pattern: str = "*", marker: str | None = None, **more: Any) -> None:
        """Let a walk begin."""
        self.walks += 1
        wanted = {"folder": str(self.folder), "is_recursive": False, "row_of": lambda file: None, "most": 100, **more}
        names = FileNames(pattern, marker)
        self.folders.walk(FolderWalk(key=key, number=self.walks, names=names, **wanted))

    def next(self) -> FolderReport:
        """Wait for a report."""
        (report,) = self.folders.collect(LONG)
        return report

    def pages(self) -> list[FolderPage]:
        """Wait for the end of a walk."""
        found: list[FolderPage] = []
        while not found or not found[-1].is_last:
            reports = self.folders.collect(LONG)
            assert reports, "the walk does not end"
            found += [report for report in reports if isinstance(report, FolderPage)]
        return found

    def walk(self, **how: Any) -> FolderPage:
        """Walk through few files."""
        self.order(**how)
        (page,) = self.pages()
        return page

    def names(self, **how: Any) -> list[str]:
        """Return what a walk finds."""
        return sorted(file.path for file in self.walk(**how).files)

    def inspect(self, name: str, *, content: bool = True, file: FoundFile | None = None) -> Inspected:
        """Look closer at a file that is as it was listed."""
        found = file or next(each for each in self.walk().files if each.path == name)
        self.folders.inspect(1, str(self.folder), found, content=content)
        report = self.next()
        assert isinstance(report, Inspected)
        return report


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    folder = tmp_path / "in"
    folder.mkdir()
    made = Watcher(folder)
    yield made
    made.folders.close()


NAMES = ["a.csv", "-rf", "new\nline", "blank ", "quo\"te'$(x)", "\u202egnp.exe", "ä" * 127, "x" * 255, "a\\b", "*?[a]"]


def test_a_name_of_any_kind_is_taken_as_it_is(watcher: Watcher) -> None:
    for name in NAMES:
        (watcher.folder / name).write_text(name, encoding="utf-8")

    page = watcher.walk()

    assert sorted(file.path for file in page.files) == sorted(NAMES)
    assert {file.path: file.size for file in page.files} == {name: len(name.encode()) for name in NAMES}
    assert (page.entries, page.is_whole, page.failure) == (len(NAMES), True, None)
    for file in page.files:
        status = os.lstat(watcher.folder / file.path)
        assert (file.modified_ns, file.number) == (status.st_mtime_ns, status.st_ino)


def test_bytes_that_are_no_text_arrive_as_they_are(watcher: Watcher) -> None:
    Path(os.fsdecode(os.fsencode(watcher.folder) + b"/bad\xff")).touch()

    assert watcher.names() == ["bad\udcff"]


@pytest.fixture
def zoo(watcher: Watcher) -> Watcher:
    """A folder with one of everything."""
    (watcher.folder / "file").write_text("x", encoding="utf-8")
    (watcher.folder / "link").symlink_to("file")
    (watcher.folder / "nowhere").symlink_to("gone")
    os.mkfifo(watcher.folder / "fifo")
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(watcher.folder / "socket"))
    (watcher.folder / "folder").mkdir()
    (watcher.folder / "folder" / "inner").touch()
    (watcher.folder / "folder" / "up").symlink_to("..")
    return watcher


def test_only_regular_files_are_ever_taken_or_opened(zoo: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[str]()
    with monkeypatch.context() as watching:
        watching.setattr(os, "open", lambda path, *rest: opened.append(path))
        page = zoo.walk(tells_all=True)

    assert [file.path for file in page.files] == ["file"]
    assert dict(page.passed_over) == {
        "link": "it is no regular file but a link",
        "nowhere": "it is no regular file but a link",
        "fifo": "it is no regular file but a FIFO",
        "socket": "it is no regular file but a socket",
        "folder": "it is no regular file but a folder",
    }
    assert opened == []


def test_a_walk_goes_into_folders_but_never_through_links(zoo: Watcher) -> None:
    assert zoo.names(is_recursive=True) == ["file", "folder/inner"]


@pytest.mark.parametrize("kind", ["link", "fifo", "socket", "folder"])
def test_what_has_become_another_thing_meanwhile_is_not_read(zoo: Watcher, kind: str) -> None:
    (found,) = zoo.walk().files
    (zoo.folder / "file").unlink()
    (zoo.folder / kind).rename(zoo.folder / "file")

    assert zoo.inspect("file", file=found).is_changed


def test_a_link_that_is_put_there_while_it_is_looked_at_is_not_followed(zoo: Watcher) -> None:
    with pytest.raises(OSError, match="symbolic links") as refused:
        os.close(os.open(zoo.folder / "link", folders_module._OPENING))

    assert refused.value.errno == errno.ELOOP


def test_what_is_remembered_is_not_returned_but_by_its_row(watcher: Watcher) -> None:
    for name in "abc":
        (watcher.folder / name).touch()

    page = watcher.walk(row_of=lambda file: {"a": 1, "c": 3}.get(file.path))

    assert [file.path for file in page.files] == ["b"]
    assert sorted(page.remembered) == [1, 3]


def test_no_more_is_returned_than_is_wanted_and_that_is_said(watcher: Watcher) -> None:
    for name in "abc":
        (watcher.folder / name).touch()

    page = watcher.walk(most=2)

    assert len(page.files) == 2
    assert (page.entries, page.is_whole, page.failure) == (3, False, None)


def test_a_walk_reports_page_by_page(watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders_module, "PAGE", 3)
    for at in range(8):
        (watcher.folder / f"{at}").touch()

    watcher.order()
    pages = watcher.pages()

    assert [len(page.files) for page in pages] == [3, 3, 2]
    assert [page.is_last for page in pages] == [False, False, True]
    assert len({page.walk_begun for page in pages}) == 1
    assert pages[0].walk_begun == pages[0].listing.begun <= pages[0].listing.ended <= pages[1].listing.begun


def test_a_file_with_a_marker_is_looked_at_after_its_marker_was_seen(watcher: Watcher) -> None:
    longest = "x" * 255
    for name in ("a", "b", "b.done", "c", "d", longest):
        (watcher.folder / name).touch()
    (watcher.folder / "c.done").mkdir()
    (watcher.folder / "d.done").symlink_to("a")

    def write_more(file: FoundFile) -> None:
        (watcher.folder / file.path).write_text("more", encoding="utf-8")

    page = watcher.walk(marker=".done", row_of=write_more, tells_all=True)

    assert [(file.path, file.size) for file in page.files] == [("b", 4)]
    assert page.failure is None
    missing = {path: reason for path, reason in page.passed_over if not path.endswith(".done")}
    assert missing == {name: f"its marker is missing: '{name}.done'" for name in ("a", "c", "d", longest)}


@pytest.mark.parametrize("year", [1, 1969, 2446])
def test_a_time_that_no_column_can_hold_is_always_the_same(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    (watcher.folder / "a").touch()
    wanted = (year - 1970) * 31_556_952 * 10**9
    monkeypatch.setattr(folders_module, "_LARGEST", 2**40)
    os.utime(watcher.folder / "a", ns=(wanted, wanted))

    (file,) = watcher.walk().files

    assert abs(file.modified_ns) <= 2**40
    assert not watcher.inspect("a", file=file).is_changed


def test_the_content_is_believed_when_the_file_has_stayed_as_it_is(watcher: Watcher) -> None:
    (watcher.folder / "a").write_bytes(b"x" * 3_000_000)

    report = watcher.inspect("a")

    assert report.digest == sha256(b"x" * 3_000_000).hexdigest()
    assert not report.is_changed


@pytest.mark.parametrize("content", [True, False])
def test_a_file_that_has_changed_or_gone_is_not_believed(watcher: Watcher, content: bool) -> None:
    for name in "abc":
        (watcher.folder / name).write_text("x", encoding="utf-8")
    listed = {file.path: file for file in watcher.walk().files}
    (watcher.folder / "a").write_text("longer", encoding="utf-8")
    (watcher.folder / "b").unlink()
    (watcher.folder / "new").write_text("y", encoding="utf-8")
    os.utime(watcher.folder / "new", ns=(listed["c"].modified_ns,) * 2)
    (watcher.folder / "new").rename(watcher.folder / "c")

    for name in "abc":
        report = watcher.inspect(name, file=listed[name], content=content)
        assert report.is_changed, name
        assert report.digest is None


def test_a_file_that_is_written_while_it_is_read_is_not_believed(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders_module, "SLICE", 0.0)
    monkeypatch.setattr(folders_module, "_CHUNK", 1)
    (watcher.folder / "a").write_text("abc", encoding="utf-8")
    (file,) = watcher.walk().files
    turns = list[int]()
    looked = folders_module._is_as_listed

    def write_between(found: FoundFile, status: os.stat_result) -> bool:
        turns.append(1)
        if len(turns) == 3:
            (watcher.folder / "a").write_text("abcd", encoding="utf-8")
        return looked(found, status)

    monkeypatch.setattr(folders_module, "_is_as_listed", write_between)

    assert watcher.inspect("a", file=file).is_changed
    assert len(turns) >= 3


def test_a_huge_file_keeps_the_others_waiting_for_a_moment_only(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders_module, "SLICE", 0.0)
    monkeypatch.setattr(folders_module, "_CHUNK", 1)
    (watcher.folder / "huge").write_bytes(b"h" * 200)
    (watcher.folder / "small").write_bytes(b"s")
    files = {file.path: file for file in watcher.walk().files}

    for name in ("huge", "small"):
        watcher.folders.inspect(1, str(watcher.folder), files[name], content=True)
    watcher.order()
    order = list[str]()
    while len(order) < 3:
        for report in watcher.folders.collect(LONG):
            order.append("walk" if isinstance(report, FolderPage) else report.file.path)

    assert order[-1] == "huge"
    assert set(order) == {"walk", "small", "huge"}


def test_a_file_that_cannot_be_read_says_so(watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    (watcher.folder / "a").touch()
    (file,) = watcher.walk().files

    def forbidden(path: str, flags: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    with monkeypatch.context() as forbidding:
        forbidding.setattr(os, "open", forbidden)
        report = watcher.inspect("a", file=file)

    assert report.failure is not None
    assert report.failure.startswith("Permission denied: ")
    assert report.failure.endswith("; give the controller's user the right to read it")


def vanish(folder: Path) -> None:
    folder.rename(folder.with_name("away"))


def become_a_file(folder: Path) -> None:
    vanish(folder)
    folder.touch()


@pytest.mark.parametrize("accident", [vanish, become_a_file])
def test_a_folder_that_cannot_be_listed_is_trouble_with_something_to_do(
    watcher: Watcher, accident: Callable[[Path], None]
) -> None:
    (watcher.folder / "a").touch()
    accident(watcher.folder)

    page = watcher.walk()
    said = watcher.folders.failures_with([str(watcher.folder), "/"], LONG)

    assert page.failure is not None
    assert "correct FileWatch.Folder" in page.failure
    assert (page.files, page.is_whole, page.is_last) == ([], False, True)
    assert said == {str(watcher.folder): page.failure}


def test_a_folder_below_that_cannot_be_listed_hides_nothing_else(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("x", "y"):
        (watcher.folder / place).mkdir()
        (watcher.folder / place / "file").touch()
    scan = os.scandir

    def forbidden(path: str) -> Any:
        if path.endswith("x/"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    with monkeypatch.context() as forbidding:
        forbidding.setattr(os, "scandir", forbidden)
        page = watcher.walk(is_recursive=True)

    assert [file.path for file in page.files] == ["y/file"]
    assert page.failure is not None
    assert "Permission denied" in page.failure
    assert not page.is_whole


def test_a_folder_that_is_removed_under_the_walk_is_no_trouble_but_the_walk_is_not_whole(watcher: Watcher) -> None:
    (watcher.folder / "x").mkdir()
    (watcher.folder / "a").touch()

    def remove(file: FoundFile) -> None:
        (watcher.folder / "x").rmdir()

    page = watcher.walk(is_recursive=True, row_of=remove)

    assert [file.path for file in page.files] == ["a"]
    assert (page.failure, page.is_whole) == (None, False)


def test_whatever_goes_wrong_the_walk_has_an_end(watcher: Watcher) -> None:
    (watcher.folder / "a").touch()

    def break_(file: FoundFile) -> None:
        raise ValueError(file.path)

    page = watcher.walk(row_of=break_)

    assert (page.failure, page.is_last, page.is_whole) == ("ValueError: a", True, False)


def test_a_share_that_hangs_keeps_nobody_else_waiting(watcher: Watcher) -> None:
    (watcher.folder / "a").touch()
    asked, answers = threading.Event(), threading.Event()

    def hangs(file: FoundFile) -> None:
        asked.set()
        answers.wait()

    watcher.order(key=1, row_of=hangs)
    assert asked.wait(LONG.total_seconds())

    watcher.order(key=2)
    (other,) = watcher.pages()
    watcher.folders.leave(1)
    watcher.folders.close()
    answers.set()
    (late,) = watcher.pages()

    assert (other.key, late.key) == (2, 1)


def test_who_only_asks_waits_no_longer_than_agreed(watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()
    monkeypatch.setattr(folders_module, "_failure_with", lambda folder: answers.wait() and None)

    said = watcher.folders.failures_with(["/share"], timedelta(milliseconds=10))
    answers.set()

    assert said == {"/share": "it has not answered for 0.01 s; see whether its share is there"}


def test_who_is_woken_finds_the_report(watcher: Watcher) -> None:
    woken = threading.Event()
    watcher.folders = ThreadFolders(woken.set)
    watcher.order()

    assert woken.wait(LONG.total_seconds())
    assert len(watcher.folders.collect()) == 1


@pytest.mark.parametrize(
    ("kind", "keeps"), [("ext4", True), ("nfs4", True), ("cifs", False), ("fuse.rclone", False), ("9p", False)]
)
def test_a_number_is_believed_only_where_a_file_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, keeps: bool
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"root / ext4 rw 0 0\nshare /share {kind} rw 0 0\n", encoding="utf-8")
    monkeypatch.setattr(shares, "_MOUNTS", str(mounts))

    assert shares.keeps_numbers("/share/in") is keeps
    assert shares.keeps_numbers("/elsewhere")
    assert not shares.keeps_numbers(r"\\server\share")
