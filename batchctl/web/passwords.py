"""Passwords are kept as argon2id hashes; a wrong one takes as long as a right one, also where there is no such user."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

_HASHER = PasswordHasher()


def hash_of(password: str) -> str:
    """Return what is kept of a password."""
    return _HASHER.hash(password)


def is_right(password: str, kept: str | None) -> bool:
    """Say whether a password is the one that is kept; where there is none, take as long to say no."""
    try:
        _HASHER.verify(kept or _of_none(), password)
    except VerificationError:
        return False
    return kept is not None


@cache
def _of_none() -> str:
    return _HASHER.hash("no password of any user")
