"""What a host remembers of others' signs of life from one start of a program to the next."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from batchctl.domain.liveness import Sighting
from batchctl.system.host import platform
from batchctl.system.sightings import SightingsFile

SEEN = {"other:1:ab": Sighting(7, 0.5), "other:2:ü": Sighting(0, 1.0)}


@pytest.fixture
def noted(tmp_path: Path) -> SightingsFile:
    file = SightingsFile(tmp_path)
    file.note(SEEN)
    return file


def test_what_was_noted_is_known_at_the_next_start(noted: SightingsFile, tmp_path: Path) -> None:
    assert noted.recall() == SEEN
    assert SightingsFile(tmp_path).recall() == SEEN
    assert [path.name for path in tmp_path.iterdir()] == ["seen.json"]


def test_nothing_is_known_before_anything_was_noted_or_where_it_cannot_be(tmp_path: Path) -> None:
    nowhere = SightingsFile(tmp_path / "none")
    nowhere.note(SEEN)

    assert nowhere.recall() == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"seen": {}}', b'{"where": "x", "seen": {"a": 1}}', b"\xff"])
def test_a_file_that_cannot_be_read_says_nothing(noted: SightingsFile, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "seen.json").write_bytes(content)

    assert noted.recall() == {}


def test_another_boot_has_another_clock(noted: SightingsFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "boot_id", lambda: "another boot")

    assert noted.recall() == {}


def test_what_lies_in_the_future_was_not_seen_by_this_clock(noted: SightingsFile) -> None:
    noted.note({**SEEN, "late": Sighting(1, time.monotonic() + 3600)})

    assert noted.recall() == SEEN
