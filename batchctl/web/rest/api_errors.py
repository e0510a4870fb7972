"""Errors for programs, as RFC 9457 has them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response

from batchctl.domain.errors import BatchctlError

MEDIA_TYPE = "application/problem+json"
TITLES: Mapping[int, str] = {
    400: "What was sent says nothing",
    401: "Not logged in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Not possible as it stands",
    408: "Too slow",
    413: "Too long",
    415: "No JSON",
    422: "The key was used for something else",
    429: "Too much at once",
    500: "The console is broken here",
    503: "The control database is away or busy",
}
"""What each status says."""


def error_answer(
    status: int,
    detail: str,
    next_step: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer that says what is wrong, and what to do next."""
    body = {
        "type": "about:blank" if code is None else f"urn:batchctl:error:{code}",
        "title": TITLES[status],
        "status": status,
        "detail": detail,
        "next": next_step,
        "code": code,
    }
    return Response(json.dumps(body, indent=2), status, dict(headers or {}), MEDIA_TYPE)


def of_error(error: BatchctlError, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error of the operations so."""
    return error_answer(status, error.message, error.next_step, error.code, headers)
