"""Live pages as a browser meets them: a stream that says when something has changed, for those who are logged in."""

from __future__ import annotations

import http.client
import re
import signal
from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.consoles import Browser, Console
from tests.acceptance.installation import PATIENCE
from tests.acceptance.night import Night


class Stream:
    """What an open tab hears."""

    def __init__(self, console: Console, browser: Browser, path: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", console.port, timeout=PATIENCE)
        kept = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        self._connection.request("GET", path, headers={"Cookie": kept})
        self._answer = self._connection.getresponse()
        assert self._answer.headers["content-type"].startswith("text/event-stream")
        assert self._answer.readline() == b"retry: 3000\n"
        # What was shown before may be older than anything that is looked at from now on.
        assert self.next() == "changed"

    def next(self) -> str:
        while line := self._answer.readline():
            if line.startswith(b"event: "):
                return line.decode().removeprefix("event: ").strip()
        return "ended"

    def close(self) -> None:
        self._answer.close()
        self._connection.close()

    def rest(self) -> list[str]:
        """Return what is heard until the console ends."""
        return [*iter(self.next, "ended")]


Listen = Callable[[str], Stream]


@pytest.fixture
def listen(console: Console) -> Iterator[Listen]:
    """Open streams in one browser, and let go of them at the end."""
    browser, streams = console.browser(), list[Stream]()

    def opened(query: str) -> Stream:
        streams.append(Stream(console, browser, f"/events{query}"))
        return streams[-1]

    yield opened
    for one in streams:
        one.close()


def test_a_stream_says_what_has_changed_to_those_whom_it_concerns(
    night: Night, console: Console, listen: Listen
) -> None:
    night.batch("Other", "true")
    everything, first, second, batch, other = map(listen, ("", "?instance=1", "?instance=2", "?batch=1", "?batch=2"))

    assert night("pause", "2").returncode == 0

    assert [one.next() for one in (everything, second, batch, other)] == ["changed"] * 4

    night.arrive("Other", "a.csv")
    assert night("run", "--once").returncode == 0

    assert [one.next() for one in (everything, other)] == ["changed"] * 2
    assert night.status_of(3) == "complete"
    console.worker.send_signal(signal.SIGTERM)
    assert (first.rest(), second.rest()) == ([], [])


def test_a_change_of_definitions_may_concern_every_page(night: Night, listen: Listen) -> None:
    stream = listen("?instance=1")
    assert night("freeze", "--batch", "Late", "--reason", "patch night").returncode == 0
    assert stream.next() == "changed"


def test_a_page_names_what_it_asks_for_again(console: Console) -> None:
    browser = console.browser()
    followed = {
        "/": "/events",
        "/instances/1": "/events?instance=1",
        "/instances/2": "/events",
        "/batch?name=Late": "/events?batch=1",
        "/controllers": "/events?steadily=1",
        "/instances?status=failed&batch=Late": "/events",
    }
    for path, stream in followed.items():
        page = browser.get(path)
        (address,) = re.findall(r'<main id="main" hx-get="([^"]+)" hx-trigger="changed from:#live"', page.text)
        assert address.replace("&amp;", "&") == path
        assert f'hx-sse:connect="{stream}"' in page.text
    for path in ("/instances?before=9", "/instances/1/rerun", "/login", "/nowhere"):
        assert "hx-sse:connect" not in browser.get(path).text, path


def test_one_who_only_asks_for_the_head_keeps_no_stream_open(console: Console) -> None:
    answer = console.browser().ask("HEAD", "/events", None, {})
    assert (answer.status, answer.headers["content-type"], answer.text) == (200, "text/event-stream; charset=utf-8", "")


def test_no_stream_opens_without_a_session(console: Console) -> None:
    assert Browser(console.port).get("/events").headers["location"] == "/login"
