"""What nobody can work with is one line and an exit code, whenever it happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batchctl.cli import main
from batchctl.domain.error_codes import NOT_DONE, code_at
from tests.cli.shop import Shop

DEEP = "x = " + "[" * 3000 + "]" * 3000 + "\n"


def test_a_configuration_that_is_nested_too_deeply_is_no_inner_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep.toml").write_text(DEEP, encoding="utf-8")

    assert main.run(["--config", str(tmp_path / "deep.toml"), "status"]) == 2
    assert f"{tmp_path / 'deep.toml'} is nested too deeply to be read." in capsys.readouterr().err


def test_nor_is_a_file_of_definitions(shop: Shop) -> None:
    (shop.folder / "deep.toml").write_text(DEEP, encoding="utf-8")

    assert shop("plan", str(shop.folder / "deep.toml")) == 2
    assert "deep.toml is nested too deeply to be read." in shop.err


def test_nor_is_a_variable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHCTL_CONNECTIONS", "[" * 100_000)

    assert main.run(["status"]) == 2
    assert "Error: " in capsys.readouterr().err


def test_what_the_system_forbids_is_refused_with_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(config_file: str | None) -> None:
        raise PermissionError(13, "Permission denied", "/closed/batchctl.toml")

    monkeypatch.setattr("batchctl.app.open_app", forbid)

    assert main.run(["status"]) == 4
    said = "Error: This user may not use '/closed/batchctl.toml': Permission denied.\nNext: let this user read and write there,"
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a file that is always full")
@pytest.mark.parametrize("words", [["--help"], ["db", "script"], ["status"], ["status", "--json"]])
def test_what_cannot_be_printed_is_said_and_is_no_inner_error(shop: Shop, words: list[str]) -> None:
    config = shop.folder / "batchctl.toml"
    command = [sys.executable, "-m", "batchctl", "--config", str(config), *words]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-3:] == [
        "Error: There is no way to write what is printed: No space left on device.",
        "Next: make room where the output goes; what the command does besides is done",
        f"Code: {code_at('batchctl.cli.main:_unwritten')}",
    ]


def test_an_error_after_which_a_command_goes_on_has_its_code(shop: Shop) -> None:
    shop.batch("Load", "false")
    shop.arrive("Load")
    shop("run", "--once")

    assert shop("inbox", "retry", "98", "99", "--reason", "x") == 3
    assert shop.err.count("Code: BC") == shop.err.count("Error: ") == 2
    assert shop("wait", "1") == 1
    assert shop.err.endswith(f"Code: BC{NOT_DONE}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX's")
def test_who_interrupts_it_while_it_is_loaded_gets_one_line(tmp_path: Path) -> None:
    # A module that is loaded with the command line, and takes its time.
    # What it imports it imports before: an interrupt within the import itself Python may drop.
    (tmp_path / "click.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n", encoding="utf-8")
    # What a shell has put into the background inherits that it hears no interrupt.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "batchctl", "status"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, heard)
    assert process.stdout is not None
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)

    assert (process.returncode, said) == (130, "Interrupted.\n")
