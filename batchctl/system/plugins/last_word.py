"""A file with the question that plugin code is asked at this moment: if it hangs beyond rescue, the file remains.

No Python thread can be relied on for it: C code may let none of them run.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from batchctl.system.host import platform
from batchctl.system.host.permissions import make_private_folder

_PREFIX = "asked-"
_LENGTH = 4096
"""Bytes for the question; behind them stands what ended the program, if anything did."""
_ENDED = b"Timeout ("


@dataclass(frozen=True, slots=True)
class PluginQuestion:
    """A question to a plugin's class."""

    module: str
    kind: str
    wording: str
    """The message if it is never answered."""
    mend: str
    of: int | None
    """The instance whose step it is about, if that is known."""


class LastWord:
    """The file of this program."""

    def __init__(self, state: Path) -> None:
        """Open it; raises `OSError`."""
        make_private_folder(state)
        self._path = state / f"{_PREFIX}{os.getpid()}"
        self._file = self._path.open("wb", buffering=0)
        self._write(b"")

    @contextmanager
    def over(self, asked: PluginQuestion, seconds: float) -> Iterator[None]:
        """End the program, whatever it does, when the code within takes longer."""
        self._write(json.dumps(asdict(asked)).encode("ascii"))
        with suppress(RuntimeError):  # The system may refuse the thread in which it watches.
            faulthandler.dump_traceback_later(seconds, exit=True, file=self._file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            self._write(b"")

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
        with suppress(OSError):
            self._path.unlink()

    def _write(self, note: bytes) -> None:
        self._file.seek(0)
        self._file.write(note[:_LENGTH].ljust(_LENGTH))


def left_behind(state: Path) -> Sequence[PluginQuestion]:
    """Return the questions that ended earlier programs; only once."""
    return [asked for path in sorted(state.glob(f"{_PREFIX}*")) if (asked := _taken(path)) is not None]


def _taken(path: Path) -> PluginQuestion | None:
    try:
        content = path.read_bytes()
        ended = content[_LENGTH:].startswith(_ENDED)
        if ended or platform.started(int(path.name.removeprefix(_PREFIX))) is None:
            path.unlink()
        return PluginQuestion(**json.loads(content[:_LENGTH])) if ended else None
    except (OSError, ValueError, TypeError):
        return None
