"""Trying plugin modules in a child: what ends, crashes or hangs it is named, and nothing of it is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl.system.plugins import module_trial
from tests.system.watching import Ear, ends

TRYING = """
import os, sys
from batchctl.system.plugins import module_trial
module_trial.left_out(["hangs"], [sys.argv[1]], controller_id="c", environment=dict(os.environ))
"""


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    made = Ear(tmp_path / "ear")
    yield made
    made.close()


def test_the_child_ends_with_whoever_tries_the_modules(tmp_path: Path, ear: Ear) -> None:
    says = (
        f"import os, signal\nwith open({str(ear.path)!r}, 'w') as ear: print(os.getpid(), file=ear)\nsignal.pause()\n"
    )
    (tmp_path / "hangs.py").write_text(says, encoding="utf-8")
    trying = subprocess.Popen([sys.executable, "-c", TRYING, str(tmp_path)])
    child = ear.hear_pid()

    trying.kill()
    trying.wait()

    assert ends(child)


def test_a_module_reads_nothing_from_the_pipe_that_ends_its_child(tmp_path: Path) -> None:
    (tmp_path / "reads_one.py").write_text("import sys\nassert sys.stdin.read() == ''\n", encoding="utf-8")
    (tmp_path / "ends_one.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")

    found = module_trial.left_out(
        ["reads_one", "ends_one"],
        [str(tmp_path)],
        controller_id="c",
        environment=dict(os.environ),
        limit=timedelta(seconds=30),
    )

    assert found == {"ends_one": "importing it ends the program with exit code 3"}
