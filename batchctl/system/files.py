"""The few files that are read besides the databases."""

from __future__ import annotations

from pathlib import Path


class SystemFiles:
    """Files of this host."""

    def read_text(self, path: str) -> str:
        """Read a UTF-8 file as it stands, with or without a byte order mark."""
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            return file.read()

    def exists(self, path: str) -> bool:
        """Say whether a regular file is there."""
        return Path(path).is_file()
