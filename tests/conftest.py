"""What holds for every test: no setting of the person who runs it, and no deadline a busy machine could miss."""

from __future__ import annotations

import os
import shutil
import sys

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

SHELLS = () if sys.platform == "win32" else ("bash", "dash", "sqlite3")


def pytest_configure() -> None:
    missing = [shell for shell in SHELLS if shutil.which(shell) is None]
    if missing:
        names = ", ".join(missing)
        raise pytest.UsageError(
            f"the tests paste commands into real shells, and {names} cannot be found; install it"
            f" (on Debian or Ubuntu: apt-get install {' '.join(missing)})"
        )


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("BATCHCTL_"):
            monkeypatch.delenv(name)
