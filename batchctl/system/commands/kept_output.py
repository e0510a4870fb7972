"""What a process writes, kept within bounds."""

from __future__ import annotations

import threading

OUTPUT_CAP = 64 * 1024
"""How many bytes of one execution's output are kept."""
_SPARE = 200
"""Characters that a text already cut may have beyond the cap: the note of how much is missing."""


class Output:
    """Takes any number of bytes, counts all, keeps the beginning and the end."""

    __slots__ = ("_head", "_head_cap", "_lock", "_tail", "_tail_cap", "total")

    def __init__(self, cap: int = OUTPUT_CAP) -> None:
        """Keep at most `cap` bytes, half of them from the beginning."""
        self._head_cap = cap // 2
        self._tail_cap = cap - self._head_cap
        self._head = bytearray()
        self._tail = bytearray()
        self._lock = threading.Lock()
        self.total = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        with self._lock:
            self.total += len(chunk)
            room = self._head_cap - len(self._head)
            if room > 0:
                self._head += chunk[:room]
                chunk = chunk[room:]
            self._tail += chunk
            # Cutting only now and then keeps the cost of a byte constant.
            if len(self._tail) > 4 * self._tail_cap:
                del self._tail[: -2 * self._tail_cap]

    def since(self, position: int) -> tuple[int, bytes]:
        """Return the bytes from a position on, or the newest of them, and where they begin; one read by many at once."""
        with self._lock:
            kept = len(self._head) + len(self._tail)
            if position < len(self._head) and kept == self.total:
                whole = self._head[position:] + self._tail
            else:
                whole = self._tail[max(0, len(self._tail) - (self.total - position)) :]
            newest = bytes(whole[-(self._head_cap + self._tail_cap) :])
            return self.total - len(newest), newest

    def text(self) -> str:
        """Return what was kept; what is not UTF-8 or NUL stands as an escape, and a cut says how much is missing."""
        if self.total <= self._head_cap + self._tail_cap:
            return _decoded(bytes(self._head + self._tail))
        head = _without_half_character_at_end(bytes(self._head))
        tail = _without_half_character_at_start(bytes(self._tail[-self._tail_cap :]))
        missing = self.total - len(head) - len(tail)
        return f"{_decoded(head)}\n[... {missing} of {self.total} bytes left out ...]\n{_decoded(tail)}"


def shortened(text: str, cap: int) -> str:
    """Return a text of at most about `cap` characters: its beginning and its end, and in between how many are missing."""
    if len(text) <= cap + _SPARE:
        return text
    half = cap // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} of {len(text)} characters left out ...]\n{text[-half:]}"


def _decoded(kept: bytes) -> str:
    return kept.decode("utf-8", "backslashreplace").replace("\x00", "\\x00")


def _without_half_character_at_end(kept: bytes) -> bytes:
    for length in range(1, min(4, len(kept)) + 1):
        byte = kept[-length]
        if 0xC2 <= byte < 0xF5:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return kept[:-length] if needed > length else kept
        if not 0x80 <= byte < 0xC0:
            break
    return kept


def _without_half_character_at_start(kept: bytes) -> bytes:
    start = 0
    while start < min(3, len(kept)) and 0x80 <= kept[start] < 0xC0:
        start += 1
    return kept[start:]
