"""The environment variable by which a process is recognised as started by a controller, wherever it has gone."""

from __future__ import annotations

COOKIE = "BATCHCTL_COOKIE"


def cookie_of(controller_id: str, execution: object) -> str:
    """Return the cookie of an execution that outlives its controller."""
    return f"{controller_id}/{execution}"


def own_cookie_of(controller_id: str, what: object) -> str:
    """Return the cookie of what is a controller's own child, and nothing without it."""
    return f"{all_own_cookies_of(controller_id)}{what}"


def all_own_cookies_of(controller_id: str) -> str:
    """Return what stands for every cookie of a controller's own children."""
    return f"{controller_id}/own/"
