"""The variables that what a controller starts may see, and those that are removed from view once they were read."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from batchctl import config

USUAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "NO_COLOR"),
    *("TMPDIR", "TMP", "TEMP", "XDG_*", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("VIRTUAL_ENV", "PYTHON*"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "COMPUTERNAME", "NUMBER_OF_PROCESSORS"),
    *("PROCESSOR_*", "PROGRAMDATA", "PROGRAMFILES*", "PROGRAMW6432", "COMMONPROGRAM*", "ALLUSERSPROFILE", "PUBLIC"),
    *("USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PSMODULEPATH"),
)
"""What programs need to run on a host, and nothing that is likely to hold a secret."""


def for_children(also: Sequence[str] = (), never: Collection[str] = ()) -> dict[str, str]:
    """Return this process's environment as far as a list names it; batchctl's own settings are on none."""
    passed, kept = [name.upper() for name in (*USUAL, *also)], {name.upper() for name in never}
    return {name: value for name, value in os.environ.items() if _is_passed(name.upper(), passed, kept)}


def of_steps(settings: config.Settings) -> dict[str, str]:
    """Return what steps, jobs and populators see of the environment."""
    of_secrets = [given.env for given in settings.secrets.values() if given.env is not None]
    return for_children(settings.step_environment, of_secrets)


def _is_passed(name: str, passed: Sequence[str], kept: Collection[str]) -> bool:
    if name.startswith(config.PREFIX) or name in kept:
        return False
    return any(fnmatchcase(name, pattern) for pattern in passed)


def take_secrets(settings: config.Settings) -> None:
    """Move what may be secret from the environment into the settings: other processes of this user can read the former."""
    for name in config.variables_with_secrets(settings):
        settings.take(name, os.environ[name])
        _wipe(name)


def _wipe(name: str) -> None:
    if sys.platform != "win32":
        # Unsetting a variable only takes it out of a list; the system shows the memory that the variable lay in.
        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        place = library.getenv(os.fsencode(name))
        if place:
            ctypes.memset(place, 0, len(ctypes.string_at(place)))
    del os.environ[name]
