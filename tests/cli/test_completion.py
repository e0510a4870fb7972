"""Shells complete commands, options and the names of batches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from batchctl.cli import main
from tests.cli.shop import Shop

ASK = """
eval "$(batchctl completion bash)"
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_batchctl_completion batchctl
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_has_its_text(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main.run(["completion", shell]) == 0
    assert "_BATCHCTL_COMPLETE" in capsys.readouterr().out


def test_another_shell_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["completion", "tcsh"]) == 2
    assert "is not one of bash, zsh, fish, powershell" in capsys.readouterr().err


def completed(folder: Path, words: str) -> list[str]:
    """What bash offers behind some words."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    command = bin_folder / "batchctl"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m batchctl "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    asked = subprocess.run(
        ["bash", "-c", ASK.format(words=words)], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return [line for line in asked.stdout.splitlines() if line]


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_bash_completes_commands_options_and_batches(shop: Shop) -> None:
    shop.batch("LoadOrders")
    shop.batch("LoadCustomers")
    shop.batch("Report")

    assert completed(shop.folder, "batchctl enab") == ["enable"]
    assert completed(shop.folder, "batchctl history --com") == ["--command"]
    assert completed(shop.folder, "batchctl disable Load") == ["LoadOrders", "LoadCustomers"]
    assert completed(shop.folder, "batchctl rerun --batch Rep") == ["Report"]


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_without_a_database_there_are_no_names_and_no_errors(tmp_path: Path) -> None:
    assert completed(tmp_path, "batchctl disable Load") == []


def test_help_gives_each_shell_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["completion", "--help"]) == 0
    lines = [
        line.split(":")[0].strip() for line in capsys.readouterr().out.splitlines() if "batchctl completion " in line
    ]
    assert lines[-4:] == ["bash", "zsh", "fish", "powershell"]
