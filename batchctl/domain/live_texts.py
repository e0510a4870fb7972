"""What is shown of a step that runs, and how that goes on with what is recorded at its end."""

from __future__ import annotations

from datetime import timedelta

KEPT = 64 * 1024
"""How many bytes of what an attempt has written so far are kept."""
SHOWN_EVERY = timedelta(seconds=2)
"""How far apart two writes of it are at least."""
_SEEN = 4096
"""How many characters shown last tell where the recorded output goes on."""


def newest(text: str) -> str:
    """Return the end of a text that is not longer than what is kept."""
    if len(text) <= KEPT // 4:
        return text
    return text.encode()[-KEPT:].decode(errors="ignore")


def rest_of(recorded: str, shown: str) -> str:
    """Return what of a recorded output has not been shown; all of it, after a line that says so, where that is unclear."""
    if not shown or not recorded:
        return recorded
    if recorded.startswith(shown):
        return recorded[len(shown) :]  # What repeats itself would be found further down, too.
    end = shown[-_SEEN:]
    at = recorded.rfind(end)
    if at >= 0:
        return recorded[at + len(end) :]
    if recorded.endswith(end.removesuffix("\n")):
        return ""  # Only the end of its last line is not recorded.
    apart = "" if shown.endswith("\n") else "\n"
    return f"{apart}[... it has ended; all that is recorded follows ...]\n{recorded}"
