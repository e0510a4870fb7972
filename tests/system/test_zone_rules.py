"""The version of the time zone database is found wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.system import zone_rules as room
from batchctl.system.zone_rules import zone_rules


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    zone_rules.cache_clear()
    yield
    zone_rules.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A time zone database of its own."""
    monkeypatch.setattr(room, "TZPATH", (str(tmp_path / "nowhere"), str(tmp_path)))
    (tmp_path / "UTC").write_bytes(b"TZif")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text"), [("tzdata.zi", "# version 2025b\n# redo posix_only\n"), ("+VERSION", "2025b\n")]
)
def test_the_version_of_the_machine_s_database(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="ascii")

    assert zone_rules() == "2025b"


@pytest.mark.parametrize("text", ["", "no version at all\n", "\x00\xff\xfe"])
def test_a_database_that_does_not_tell_its_version_has_none(folder: Path, text: str) -> None:
    """The package's version would be that of other rules."""
    (folder / "tzdata.zi").write_text(text, encoding="latin-1")

    assert zone_rules() is None


@pytest.mark.full
def test_without_a_database_on_the_machine_the_package_s_version_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "UTC").unlink()
    monkeypatch.setattr(room, "version", lambda package: {"tzdata": "2025.2"}[package])

    assert zone_rules() == "2025.2"
