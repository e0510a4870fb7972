"""A real browser: Debian's Chromium, which is installed where it is not there."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

FLAGS = ["--no-sandbox", "--disable-background-networking"]
PACKAGE = "chromium"
PATIENCE = 600


def executable() -> str:
    """Return the browser's path; a machine that has none and cannot install it fails the test."""
    if (found := shutil.which(PACKAGE)) is not None:
        return found
    with (Path(tempfile.gettempdir()) / "batchctl-installs-chromium").open("w") as lock:
        # Several test processes want it at once, and apt-get refuses all but one.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return shutil.which(PACKAGE) or _installed()


def _installed() -> str:
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", PACKAGE]):
        try:
            done = subprocess.run(
                command,
                env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except OSError as error:
            pytest.fail(f"The browser tests need Chromium, and there is no apt-get to install it: {error}")
        if done.returncode != 0:
            pytest.fail(f"The browser tests need Chromium; '{' '.join(command)}' failed: {done.stderr}")
    return shutil.which(PACKAGE) or pytest.fail(f"The package {PACKAGE} is installed, but brings no command {PACKAGE}.")
