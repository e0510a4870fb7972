"""A terminal as it is today: it pastes in brackets when the program has asked for that."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ASKED = b"\x1b[?2004h"
TAKEN = b"\x1b[?2004l"
_PATIENCE = 30
_PIECE = 512


class Terminal:
    """A program on a terminal of its own; reading what it shows and typing go on side by side."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None, directory: Path | None = None
    ) -> None:
        """Start the program."""
        self.keyboard, screen = pty.openpty()
        self.shown = b""
        self._process = subprocess.Popen(
            command,
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
            cwd=directory,
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "INPUTRC": os.devnull, **(environment or {})},
        )
        os.close(screen)
        os.set_blocking(self.keyboard, False)

    def type(self, keys: bytes) -> None:
        """Type, as fast as the program reads."""
        while keys:
            readable, writable, _ = select.select([self.keyboard], [self.keyboard], [], _PATIENCE)
            assert (readable and self._read()) or writable, self.shown
            if writable:
                with suppress(BlockingIOError):
                    keys = keys[os.write(self.keyboard, keys[:_PIECE]) :]

    def wait_for(self, shown: bytes, *, behind: int = 0) -> int:
        """Return where something shown ends."""
        while (at := self.shown.find(shown, behind)) < 0:
            assert self._read(), self.shown
        return at + len(shown)

    def leave(self, goodbye: str) -> bytes:
        """Say goodbye to the program; return everything it has shown."""
        self.type(goodbye.encode() + b"\r")
        while self._read():
            pass
        os.close(self.keyboard)
        self._process.wait(timeout=_PATIENCE)
        return self.shown

    def _read(self) -> bool:
        """Read what the program shows next; false when nothing more comes."""
        readable, _, _ = select.select([self.keyboard], [], [], _PATIENCE)
        if not readable:
            return False
        try:
            piece = os.read(self.keyboard, 65536)
        except OSError:
            return False
        self.shown += piece
        return bool(piece)


def paste(
    command: Sequence[str],
    text: str,
    *,
    prompt: bytes,
    goodbye: str,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> bytes:
    """Paste a text into a program when its prompt is there, press Enter, and leave; return what was shown."""
    terminal = Terminal(command, environment, directory)
    begun = terminal.wait_for(prompt)
    if ASKED in terminal.shown:
        terminal.type(b"\x1b[200~" + text.encode() + b"\x1b[201~\r")
        taken = terminal.wait_for(TAKEN, behind=begun)
        terminal.wait_for(ASKED, behind=taken)
    else:
        terminal.type(text.encode() + b"\r")
    return terminal.leave(goodbye)
