"""Let `python -m batchctl` do what the `batchctl` command does."""

from __future__ import annotations

from batchctl.cli import main

if __name__ == "__main__":
    main.entry()
