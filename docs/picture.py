"""Draw docs/night.svg, the picture in README, from a real `batchctl demo`: `.venv/bin/python docs/picture.py`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).with_name("night.svg")
WIDTH = 112
CLIPPED = ("Rows that nothing came of",)
"""Tables with the paths of the folder in which the demo ran."""


def main() -> None:
    """Run the demo, keep the failure and how it is put right, and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 - this very program
            [sys.executable, "-m", "batchctl", "demo", str(Path(folder, "night"))],
            env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    paper = Console(record=True, width=WIDTH, file=io.StringIO())
    for line in shown(done.stdout):
        paper.print(Text.from_ansi(line))
    text = paper.export_svg(title="batchctl demo", unique_id="night")
    PICTURE.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


def shown(session: str) -> list[str]:
    """Return the lines of the session that the picture shows."""
    blocks = session.split("\n\n")
    told = [plain(block) for block in blocks]
    first = next(at for at, block in enumerate(told) if "The controller walks every instance" in block)
    failed = next(at for at, block in enumerate(told) if block.startswith("Next: batchctl show"))
    again = next(at for at, block in enumerate(told) if "The sender sends the file again" in block)
    last = next(at for at, block in enumerate(told) if at > again and block.startswith("Next: batchctl history"))
    kept = [*range(first, failed + 1), *range(again, last)]
    without_paths = [blocks[at] for at in kept if not told[at].startswith(CLIPPED)]
    text = "\n\n".join(without_paths).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", text).split("\n")


def plain(block: str) -> str:
    """Return a block without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", block).strip()


if __name__ == "__main__":
    main()
