"""The environment variable that marks a process as started by a controller, wherever it has gone."""

from __future__ import annotations

COOKIE = "BATCHCTL_COOKIE"


def cookie_of(controller_id: str, execution: object) -> str:
    """Return the cookie of an execution that outlives its controller."""
    return f"{controller_id}/{execution}"


def own_cookie_of(controller_id: str, what: object) -> str:
    """Return the cookie of a controller's own child, which is of no use without the controller."""
    return f"{all_own_cookies_of(controller_id)}{what}"


def all_own_cookies_of(controller_id: str) -> str:
    """Return the prefix of all cookies of a controller's own children."""
    return f"{controller_id}/own/"
