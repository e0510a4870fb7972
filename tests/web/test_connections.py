"""Connections that ask for nothing: the console ends them, and answers others."""

from __future__ import annotations

import asyncio
import http.client
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from batchctl.system.host import listening, platform
from batchctl.web import connections, guards
from batchctl.web.connections import KEPT_FREE, USUAL, BoundedConnection, most_of
from tests.system.watching import LIMIT

MANY = 40
HALF_A_HEAD, HALF_A_BODY = b"GET / HTTP/1.1\r\nHo", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nname="


async def answered(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        said = (await guards.body_of(Request(scope, receive), "form", 99)).decode()
    except guards.BadBodyError as error:
        said = str(error)
    await PlainTextResponse(said)(scope, receive, send)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where a server of at most five connections answers."""
    monkeypatch.setattr(BoundedConnection, "most", 5)
    settings = uvicorn.Config(answered, http=BoundedConnection, ws="none", lifespan="off", log_level="warning")
    server = uvicorn.Server(settings)
    with closing(listening.listen("127.0.0.1", 0)) as place:
        thread = threading.Thread(target=server.run, args=([place],))
        thread.start()
        yield int(place.getsockname()[1])
        server.should_exit = True
        thread.join(LIMIT)
        assert not thread.is_alive()


def asked(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    with closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().status


@pytest.mark.parametrize("half", [HALF_A_HEAD, HALF_A_BODY])
def test_many_requests_that_are_half_sent_keep_nobody_out(
    port: int, half: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as opened, caplog.at_level(logging.WARNING):
        for _ in range(MANY):
            one = opened.enter_context(socket.create_connection(("127.0.0.1", port), LIMIT))
            one.sendall(half)
        assert asked(port) == 200
    assert caplog.text == ""


def test_a_connection_that_asks_for_nothing_is_ended(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0)
    for sent in (b"", HALF_A_HEAD):
        with socket.create_connection(("127.0.0.1", port), LIMIT) as one:
            one.sendall(sent)
            assert _is_ended(one)


def _is_ended(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_body_that_does_not_come_or_ends_early_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    monkeypatch.setattr(guards, "PATIENCE", 0)
    for receive, code in ((nothing, 408), (gone, 400)):
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        with pytest.raises(guards.BadBodyError) as refused:
            asyncio.run(guards.body_of(request, "form", 99))
        assert refused.value.code == code


def test_some_files_are_kept_for_all_else() -> None:
    assert [most_of(files) for files in (None, 256, 10_000, 8)] == [USUAL, 256 - KEPT_FREE, USUAL, 1]


def test_no_connection_is_taken_with_the_last_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "most_files", lambda: listening.SPARE)
    with (
        closing(listening.listen("127.0.0.1", 0)) as place,
        socket.create_connection(place.getsockname(), LIMIT) as one,
    ):
        with pytest.raises(BlockingIOError):
            place.accept()
        assert _is_ended(one)
