"""Servers on loopback that receive alerts, and behave badly where a test wants it."""

from __future__ import annotations

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any


class Mailbox(socketserver.StreamRequestHandler):
    """As much of an SMTP server as is needed, and one that behaves badly where the test wants it."""

    def handle(self) -> None:
        """Talk."""
        server: Any = self.server
        if server.mood == "silent":
            server.released.wait(30)
            return
        if server.mood == "drips":
            self._drip()
            return
        self._say("220 here")
        while line := self.rfile.readline():
            word = line.split()[0].upper() if line.split() else b""
            if word == b"DATA":
                self._say("354 go on")
                server.mails.append(self._mail())
                self._say("250 taken")
            elif word == b"QUIT":
                self._say("221 bye")
                return
            elif word == b"RCPT" and server.mood == "refuses":
                self._say("550 no such user s3cr3t&value")
            else:
                self._say("250 fine")

    def _drip(self) -> None:
        server: Any = self.server
        for _ in range(300):
            if server.released.wait(0.1):
                return
            self.wfile.write(b"2")

    def _mail(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    """Listens on loopback."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Mailbox)
        self.mails: list[bytes] = []
        self.mood = ""
        self.released = threading.Event()


class Web(BaseHTTPRequestHandler):
    """A web server that behaves as the test wants."""

    def do_POST(self) -> None:
        """Answer."""
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.posts.put((self.path, dict(self.headers), body))
        if server.mood == 0:
            server.released.wait(30)
            return
        said = b"secret s3cr3t&value, s3cr3t%26value \x1b[31m"
        self.send_response(server.mood)
        if server.mood == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *given: object) -> None:
        """Say nothing."""


class WebServer(ThreadingHTTPServer):
    """Listens on loopback."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Web)
        self.posts: SimpleQueue[tuple[str, dict[str, str], bytes]] = SimpleQueue()
        self.mood = 200
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """Return where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    def received(self) -> list[tuple[str, dict[str, str], bytes]]:
        """Return what has come since this was last asked."""
        return [self.posts.get() for _ in range(self.posts.qsize())]

    def next(self, within: float) -> dict[str, Any]:
        """Wait for a post, and return what it says."""
        return dict(json.loads(self.posts.get(timeout=within)[2]))
