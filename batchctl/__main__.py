"""Let `python -m batchctl` do what the `batchctl` command does."""

from __future__ import annotations

import sys

from batchctl.cli import main

if __name__ == "__main__":
    sys.exit(main.run())
