"""Live pages as a browser meets them: a stream that says when something has changed, for those who are logged in."""

from __future__ import annotations

import http.client
import re

from tests.acceptance.consoles import Browser, Console
from tests.acceptance.installation import PATIENCE
from tests.acceptance.night import Night

IDLE = {"HX-Request": "true"}


def test_a_stream_says_that_something_has_changed(night: Night, console: Console) -> None:
    browser = console.browser()
    connection = http.client.HTTPConnection("127.0.0.1", console.port, timeout=PATIENCE)
    kept = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    connection.request("GET", "/events", headers={"Cookie": kept})
    stream = connection.getresponse()
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.readline() == b"retry: 3000\n"
    assert _next(stream) == "changed"

    assert night("pause", "2").returncode == 0

    assert _next(stream) == "changed"
    assert "paused" in browser.get("/instances/2", **IDLE).said
    connection.close()
    assert browser.get("/").status == 200


def _next(stream: http.client.HTTPResponse) -> str:
    while line := stream.readline():
        if line.startswith(b"event: "):
            return line.decode().removeprefix("event: ").strip()
    return "ended"


def test_a_page_names_what_it_asks_for_again(console: Console) -> None:
    browser = console.browser()
    for path in ("/", "/instances/1", "/instances?status=failed&batch=Late"):
        page = browser.get(path)
        (address,) = re.findall(r'<main id="main" hx-get="([^"]+)" hx-trigger="changed from:#live"', page.text)
        assert address.replace("&amp;", "&") == path
        assert 'hx-sse:connect="/events"' in page.text
    for path in ("/instances?before=9", "/instances/1/rerun", "/login", "/nowhere"):
        assert "hx-sse:connect" not in browser.get(path).text, path


def test_no_stream_opens_without_a_session(console: Console) -> None:
    assert Browser(console.port).get("/events").headers["location"] == "/login"
