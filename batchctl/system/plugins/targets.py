"""What a populator that asks a database is given: the one connection that its batch names, and the files beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import Connection, StepContext
from batchctl.domain.text import visible
from batchctl.system.files import is_the_same, read_text


def target_message(target: Connection, directory: Path, closed: Sequence[Path], *, is_control: bool) -> dict[str, Any]:
    """Write down what the plugin process is given; its pipe carries the password, which is not kept."""
    return {
        "connection": [target.name, target.url, target.procedures],
        "is_control": is_control,
        "directory": str(directory),
        "closed": [str(path) for path in closed],
    }


def target_context(message: Mapping[str, Any]) -> StepContext:
    """Put together what the populator sees: no other connection, no job, no secret."""
    target, directory = Connection(*message["connection"]), Path(message["directory"])
    return StepContext(
        connections={} if message["is_control"] else {target.name: target},
        control=target if message["is_control"] else None,
        jobs={},
        secrets={},
        secret_is_set=lambda _name: False,
        directory=str(directory),
        read_text=partial(read_below, directory, [Path(path) for path in message["closed"]]),
        batchctl_command=(),
    )


def read_below(directory: Path, closed: Sequence[Path], name: str) -> str:
    """Read a text file below a directory; anything outside, or that is `closed`, is refused."""
    path = (directory / name).resolve()
    if not path.is_relative_to(directory.resolve()):
        raise StepRefused(f"'{visible(name)}' lies outside the directory of the configuration.")
    if any(is_the_same(path, one) for one in closed):
        raise StepRefused(f"'{visible(name)}' is the configuration or holds a secret, which no step reads.")
    try:
        return read_text(str(path))
    except (OSError, UnicodeDecodeError) as error:
        message = f"'{visible(name)}' cannot be read: {error}."
        mend = "put the file there" if isinstance(error, FileNotFoundError) else "correct the file"
        raise StepRefused(message, next_step=f"correct the row, or {mend}") from None
