"""What holds for every test: no setting of the person who runs it, and no deadline a busy machine could miss."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("BATCHCTL_"):
            monkeypatch.delenv(name)
