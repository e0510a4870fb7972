"""The `batchctl` command, and `python -m batchctl`: loads so little that an interrupt always gets its message."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130
COLLECT_AFTER = 100_000
"""How many new objects trigger a garbage collection: a start creates no garbage, and a short command ends before."""


def main() -> None:
    """Run a command line; an interrupt while it is being loaded gets one line, too."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        from batchctl.cli.main import entry  # noqa: PLC0415 - an interrupt while this loads is caught below

        entry()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
