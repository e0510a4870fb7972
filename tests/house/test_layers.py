"""The tree is the architecture: imports point inward."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import PACKAGES, ROOT

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"

# One import per contract that breaks it, and the file that would hold it.
VIOLATIONS = {
    "The layers: imports point downwards": ("batchctl/domain/rows.py", "import batchctl.plugin_api"),
    "A plugin knows plugin_api and nothing else of batchctl": ("step_handlers/sql.py", "import batchctl.domain"),
    "The engine never imports a step handler": ("batchctl/registry.py", "import step_handlers.sql"),
    "Step handlers do not know each other": ("step_handlers/os_command.py", "import step_handlers.sql"),
    "Only the store speaks SQL": ("batchctl/registry.py", "import sqlalchemy"),
    "The domain is pure": ("batchctl/domain/rows.py", "import rich"),
    "networkx is the business of the graph": ("batchctl/domain/rows.py", "import networkx"),
    "cronsim is the business of cron expressions": ("batchctl/domain/rows.py", "import cronsim"),
    "The command line goes through app and operations": ("batchctl/cli/main.py", "import batchctl.store"),
    "No import cycles between siblings": ("batchctl/domain/rows.py", "import batchctl.plugin_api"),
    "Time, chance and processes come in through ports": ("batchctl/domain/rows.py", "import time"),
}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_every_import_contract_is_kept() -> None:
    report = lint_imports(ROOT)

    assert report.returncode == 0, report.stdout + report.stderr


@pytest.fixture(scope="module")
def broken_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("broken")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for place, statement in set(VIOLATIONS.values()):
        file = folder / place
        file.write_text(f"{file.read_text(encoding='utf-8')}\n{statement}\n", encoding="utf-8")
    return folder


def test_every_import_contract_breaks_when_it_is_violated(broken_tree: Path) -> None:
    report = lint_imports(broken_tree)

    assert report.returncode == 1, report.stdout + report.stderr
    kept = [name for name in VIOLATIONS if f"{name} BROKEN" not in report.stdout]
    assert kept == [], report.stdout
