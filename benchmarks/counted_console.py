"""`batchctl` as it is, which counts the statements it sends: looks for what has changed, and all others.

The counts are written when it ends: python -m benchmarks.counted_console FILE web --port 0
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from batchctl.cli import main

LOOK = "SELECT 'claimed'"


def counted(file: Path, words: list[str]) -> int:
    """Run a command, and write how many statements it has sent."""
    counts = Counter[str]()

    @event.listens_for(Engine, "before_cursor_execute")
    def count(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        counts["looks" if statement.startswith(LOOK) else "others"] += 1

    try:
        return main.run(words)
    finally:
        file.write_text(json.dumps(counts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(counted(Path(sys.argv[1]), sys.argv[2:]))
