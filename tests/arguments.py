"""What the development commands take as arguments."""

from __future__ import annotations

from argparse import ArgumentTypeError


def at_least_one(text: str) -> int:
    """Read how many there are to be."""
    number = int(text)
    if number < 1:
        message = "at least 1: none at all would prove nothing"
        raise ArgumentTypeError(message)
    return number
