"""`dev.py` says what is wrong before it starts anything."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.source import ROOT


def dev_py() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("arguments", "code"), [((), 2), (("tset",), 2), (("--help",), 0)])
def test_without_a_verb_it_names_its_verbs(arguments: tuple[str, ...], code: int, tmp_path: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, "-I", ROOT / "dev.py", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert outcome.returncode == code
    assert "demo,test,sqlserver,check,bench" in outcome.stderr


def test_a_sql_server_is_walked_through_only_in_a_database_that_was_named_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = dev_py()
    ran: list[tuple[str, ...]] = []

    def run_python(*arguments: str, **_: object) -> int:
        ran.append(arguments)
        return 0

    monkeypatch.setattr(dev, "run_python", run_python)
    monkeypatch.setenv(dev.WALK, "mssql+pyodbc://sa@127.0.0.1/payroll?driver=x")

    assert dev.sqlserver(["--throw-away", "walk"]) == 2
    assert "names the database 'payroll', --throw-away 'walk': nothing was touched" in capsys.readouterr().err
    assert ran == []
    assert dev.sqlserver(["--url", "postgresql://u@h/payroll", "--throw-away", "payroll"]) == 2
    assert dev.sqlserver(["--throw-away", "payroll", "-x"]) == 0
    assert ran == [("-Im", "pytest", "-p", "tests.sqlserver.walk", "tests/acceptance", "-x")]


def test_a_python_that_cannot_make_an_environment_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name == "ensurepip" else ModuleSpec(name, None)

    dev = dev_py()
    monkeypatch.setattr(importlib.util, "find_spec", found)

    code = dev.main(["demo"])

    assert code == 2
    assert "has no ensurepip" in capsys.readouterr().err


def test_every_file_the_environment_is_made_from_renews_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dev = dev_py()
    names = ("pyproject.toml", "constraints.txt", "hatch_build.py", "dev.py")
    for name in names:
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    monkeypatch.setattr(dev, "ROOT", tmp_path)

    seen = {dev.fingerprint()}
    for name in names:
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write("\n# changed\n")
        seen.add(dev.fingerprint())

    assert len(seen) == 1 + len(names)


def test_everything_installed_is_pinned() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert [pin for pin in pins if pin and not pin.startswith("#") and pin.count("==") != 1] == []
    assert {dev_py().DEMO_DATA, *dev_py().BUILD_TOOLS} <= {pin.split("==")[0] for pin in pins}
