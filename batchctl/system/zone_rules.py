"""Which version of the time zone database this process reckons by."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zoneinfo import TZPATH

_VERSION = re.compile(r"# version ([0-9]{4}[a-z]{1,2})\b|([0-9]{4}[a-z]{1,2})\s")


@lru_cache(maxsize=1)
def zone_rules() -> str | None:
    """Return the version; None where it cannot be found.

    `zoneinfo` takes the machine's database where there is one, and the package where there is none.
    """
    folders = [Path(folder) for folder in TZPATH if Path(folder, "UTC").exists()]
    for folder in folders:
        for name in ("tzdata.zi", "+VERSION"):
            if (found := _version_in(folder / name)) is not None:
                return found
    return None if folders else _version_of_package()


def _version_in(file: Path) -> str | None:
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            found = _VERSION.match(opened.readline(100))
    except OSError:
        return None
    return None if found is None else found[1] or found[2]


def _version_of_package() -> str | None:
    try:
        return version("tzdata")
    except PackageNotFoundError:
        return None
