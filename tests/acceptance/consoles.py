"""A console at work, and a browser without JavaScript that opens it."""

from __future__ import annotations

import http.client
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started
from tests.acceptance.night import NEEDS_A_FILE, Night
from tests.control_databases import ControlDatabase

OWN = {"Sec-Fetch-Site": "same-origin"}
PASSWORD = "four quiet horses graze"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def said(self) -> str:
        """Return what a person reads."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())


@dataclass
class Browser:
    """A browser without JavaScript."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, headers)

    @staticmethod
    def query(**values: str) -> str:
        """Return what stands in an address behind its question mark."""
        return urlencode(values)

    def post(self, path: str, form: dict[str, str] | bytes, headers: dict[str, str] | None = None) -> Answer:
        body = form if isinstance(form, bytes) else urlencode(form).encode()
        return self.ask("POST", path, body, OWN if headers is None else headers)

    def act(self, path: str, **values: str) -> Answer:
        """Open the page of an act and send its form."""
        return self.post(path, {"form": self.form(path), **values})

    def form(self, path: str) -> str:
        shown = self.get(path)
        assert shown.status == 200, shown.said
        (number,) = re.findall(r'name="form" value="(\w+)"', shown.text)
        return str(number)

    def ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body, {**headers, **({"Cookie": kept} if kept else {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)


@dataclass
class Console:
    """A console at work, and the terminal it was started on."""

    worker: Started
    port: int
    code: str

    @classmethod
    def of(cls, worker: Started) -> Console:
        """Read what a console without users shows on its terminal."""
        assert worker.stdout is not None
        address = worker.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", address)
        assert found is not None, address
        return cls(worker, int(found[1]), worker.stdout.readline().split()[1])

    def end(self) -> None:
        """End it, unless it was killed."""
        if self.worker.returncode is None:
            self.worker.send_signal(signal.SIGTERM)
            self.worker.communicate(timeout=PATIENCE)
            assert self.worker.returncode == 0

    def next_code(self) -> str:
        assert self.worker.stdout is not None
        return self.worker.stdout.readline().split()[1]

    def browser(self) -> Browser:
        """Let a browser in."""
        made = Browser(self.port)
        entered = made.post("/login", {"code": self.code})
        assert (entered.status, entered.headers["location"]) == (303, "/")
        self.code = self.next_code()
        return made


@dataclass
class Served:
    """A console that has users."""

    night: Night
    port: int
    code: str = ""
    """With which a user comes in who has no password yet."""

    def browser(self, name: str, password: str = PASSWORD) -> Browser:
        """Let a user in."""
        made = Browser(self.port)
        entered = made.post("/login", {"name": name, "password": password})
        assert (entered.status, entered.headers["location"]) == (303, "/"), entered.said
        return made


def add(night: Night, name: str, role: str, *more: str) -> str:
    """Add a user and return the code."""
    found = night.json("web", "user", "add", name, "--role", role, *more)
    return str(found["Code"])


def choose(served: Served, name: str, code: str, password: str = PASSWORD) -> Browser:
    browser = served.browser(name, code)
    assert browser.post("/account/password", {"new": password}).status == 303
    return browser


def serving(night: Night, start_batchctl: StartBatchctl, *more: str) -> Iterator[Served]:
    """Serve a console that has users; when it has ended, look that no code was shown."""
    worker = start_batchctl("web", "--port", "0", *more, cwd=night.folder, env=night.environment)
    assert worker.stdout is not None
    found = re.search(r"https?://127\.0\.0\.1:(\d+)/", worker.stdout.readline())
    assert found is not None
    yield Served(night, int(found[1]))
    worker.send_signal(signal.SIGTERM)
    rest, _ = worker.communicate(timeout=PATIENCE)
    assert rest == "", "with users no code opens the console"
    assert worker.returncode == 0


def failed_night(database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """Let instance 1 fail, and instance 2 wait behind it."""
    made = Night(database, run_batchctl)
    made.batch("Late", "echo loaded", NEEDS_A_FILE)
    made.arrive("Late", "missing.csv")
    made.arrive("Late", "second.csv")
    assert made("run", "--once").returncode == 1
    return made


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """Instance 1 has failed, and instance 2 waits behind it."""
    return failed_night(control_database, run_batchctl)


@pytest.fixture
def console(night: Night, start_batchctl: StartBatchctl) -> Iterator[Console]:
    made = Console.of(start_batchctl("web", "--port", "0", cwd=night.folder, env=night.environment))
    yield made
    made.end()
