"""What a running command has written so far, piece by piece: as text, and without secrets."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import Protocol

from batchctl.system.masking import left_open, masked
from batchctl.system.spellings import spellings

_Decoder = getincrementaldecoder("utf-8")


class GrowingOutput(Protocol):
    """What comes in of an output, of which the newest can be read."""

    @property
    def total(self) -> int:
        """How many bytes have come."""

    def since(self, position: int) -> tuple[int, bytes]:
        """Return the bytes from a position on, or the newest of them, and where they begin."""


class ShownOutput:
    """Shows each byte once at most; what might be the beginning of a secret or of a character waits for the rest."""

    __slots__ = ("_decoder", "_forms", "_output", "_position", "_secrets", "_waiting")

    def __init__(self, output: GrowingOutput, secrets: Iterable[str]) -> None:
        """Begin with the first byte."""
        self._output = output
        self._secrets = tuple(secrets)
        self._forms = tuple({form for secret in self._secrets for form in spellings(secret)})
        self._decoder = _Decoder("backslashreplace")
        self._position = 0
        self._waiting = ""

    def take(self) -> str:
        """Return what can be shown of what came since the last time: of much, the newest, with a note of the cut."""
        if self._output.total <= self._position:
            return ""
        begins, newest = self._output.since(self._position)
        skipped, self._position = begins - self._position, begins + len(newest)
        cut = ""
        if skipped:
            self._decoder.reset()
            whole = newest.lstrip(_CONTINUING) if newest[:1] in _CONTINUES else newest
            skipped += len(self._waiting.encode("utf-8", "surrogatepass")) + len(newest) - len(whole)
            cut, self._waiting, newest = f"\n[... {skipped} bytes left out ...]\n", "", whole
        text = self._waiting + self._decoder.decode(newest).replace("\x00", "\\x00")
        safe = left_open(text, self._forms)
        self._waiting = text[safe:]
        return masked(cut + text[:safe], self._secrets) if safe else cut


_CONTINUING = bytes(range(0x80, 0xC0))
_CONTINUES = frozenset(bytes([byte]) for byte in _CONTINUING)
