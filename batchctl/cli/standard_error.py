"""What people are told on standard error. The exit code tells programs: what cannot be written there changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click


@contextmanager
def unless_full() -> Iterator[None]:
    """Do without what the disk behind standard error does not take; that a reader has gone is for others to see."""
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
    """Let what is still to be written to a stream go nowhere where it cannot be written: Python ends with 120 otherwise."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
