"""Messages for people on standard error. One that cannot be written does not change the exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click


@contextmanager
def unless_full() -> Iterator[None]:
    """Ignore that standard error cannot be written, as on a full disk; a broken pipe is raised, for the caller."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError:
        return


def tell(message: str) -> None:
    """Print a line for people."""
    with unless_full():
        click.echo(message, err=True)


def empty(stream: TextIO) -> None:
    """Flush a stream; where that fails, discard what it holds: otherwise Python would end with exit code 120."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
