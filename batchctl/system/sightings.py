"""What this host has seen of other controllers' signs of life, for programs that only look in now and then."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from batchctl.domain.liveness import Sighting
from batchctl.system.host import platform


class SightingsFile:
    """A small file beside the journals.

    The last writer wins: each line is true by itself, so a lost one only costs time.
    """

    def __init__(self, state: Path) -> None:
        """Open nothing yet."""
        self._path = state / "seen.json"

    def recall(self) -> Mapping[str, Sighting]:
        """Return what was noted by this program's own clock: one that runs since the same boot of this host."""
        try:
            said = json.loads(self._path.read_bytes())
            seen = {str(name): Sighting(int(seq), float(since)) for name, (seq, since) in said["seen"].items()}
            where = said["where"]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}
        now = time.monotonic()
        return {name: one for name, one in seen.items() if one.since <= now} if where == _where() else {}

    def note(self, sightings: Mapping[str, Sighting]) -> None:
        """Note what is known now; where that cannot be written, a later program has to look for longer."""
        seen = {name: [one.seq, one.since] for name, one in sightings.items()}
        beside = self._path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            beside.write_text(json.dumps({"where": _where(), "seen": seen}), encoding="utf-8")
            beside.replace(self._path)


def _where() -> str:
    return f"{socket.gethostname()}/{platform.boot_id()}"
