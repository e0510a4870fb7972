"""The `batchctl` command, and `python -m batchctl`: little enough that nobody can interrupt it before it says so."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130
COLLECT_AFTER = 100_000
"""How many new objects are looked through for garbage together: what a start loads is none, and a short command is over then."""


def main() -> None:
    """Run a command line; who interrupts it while it is being loaded gets one line, too."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        from batchctl.cli.main import entry  # noqa: PLC0415 - to be interrupted is what may happen to the loading

        entry()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
