"""Move a file into the archive; a work item of the worked example, plain Python without batchctl.

It may be run again: a file that is already in the archive, and nowhere else, is a job done.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path


def main() -> int:
    """Print what was done; 0 when the file is in the archive, 1 when it could not be put there."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--file", required=True, type=Path)
    asked.add_argument("--to", required=True, type=Path)
    given = asked.parse_args()
    try:
        print(archive(given.file, given.to))
    except OSError as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 1
    return 0


def archive(file: Path, folder: Path) -> str:
    """Move the file and say so; never overwrites another file's archive copy."""
    target = folder / file.name
    if target.exists():
        if file.exists():
            raise FileExistsError(f"{target} exists already; move one of the two away")
        return f"{file.name} was already in {folder}"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.move(str(file), str(target))
    return f"{file.name} moved to {folder}"


if __name__ == "__main__":
    sys.exit(main())
