"""A proxy on loopback that cuts a connection to PostgreSQL where a test says: before a word arrives, or before its answer."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import suppress
from enum import Enum

_KEY = re.compile(rb"(K\x00\x00\x00\x0c)....", re.DOTALL)
"""The message by which a server tells its client the process that serves it."""


class Cut(Enum):
    """Where the connection is cut."""

    BEFORE = "the server never hears the word"
    AT = "the server hears the word, and its client is gone"
    MUTE = (
        "the server hears nothing from the word on, and nobody else does, as in a network that has lost its other half"
    )
    AFTER = "nobody hears the server's answer to the word"


class Proxy:
    """Passes bytes on, until it is told to cut."""

    def __init__(self, port: int, *, word: bytes = b"COMMIT\x00", pools: bool = False) -> None:
        """Stand before a server; what `pools` gives its clients keys of its own, as a connection pooler does.

        The word is a whole statement: READ COMMITTED is no commit.
        """
        self._target = port
        self._word = word
        self._pools = pools
        self.muted = threading.Event()
        """Set once nothing is passed on any more."""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._last_answer: bytes | None = None
        self._plan: dict[int, Cut] = {}
        self._seen = 0
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def seen(self) -> int:
        """How often the word has been seen."""
        return self._seen

    def cut(self, number: int, where: Cut) -> None:
        """Cut the connection that sends the word for this time, counted from the next one as 1."""
        self._plan[self._seen + number] = where

    def cut_behind(self, answer: bytes) -> None:
        """Cut the connection on which the server says this, once it has been passed on."""
        self._last_answer = answer

    def close(self) -> None:
        self._listening.close()
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    client.close()
                    continue
                self._open += [client, server]
                threading.Thread(target=self._pump_up, args=(client, server), daemon=True).start()

    def _pump_up(self, client: socket.socket, server: socket.socket) -> None:
        deaf = threading.Event()
        threading.Thread(target=self._pump_down, args=(server, client, deaf), daemon=True).start()
        with suppress(OSError):
            while said := client.recv(65536):
                cut = None
                if self._word in said:
                    with self._lock:
                        self._seen += 1
                        cut = self._plan.pop(self._seen, None)
                    if cut is Cut.BEFORE:
                        break
                    if cut in {Cut.AT, Cut.AFTER}:
                        deaf.set()  # The answer may be faster than the cut.
                    if cut is Cut.MUTE:
                        self.muted.set()
                if not self.muted.is_set():
                    server.sendall(said)
                if cut is Cut.AT:
                    break
        self._end(client, server)

    def _pump_down(self, server: socket.socket, client: socket.socket, deaf: threading.Event) -> None:
        with suppress(OSError):
            while said := server.recv(65536):
                if deaf.is_set():
                    break
                if self._pools:
                    said = _KEY.sub(lambda key: key.group(1) + b"\x00\x00\x00\x01", said)
                client.sendall(said)
                if self._last_answer is not None and self._last_answer in said:
                    break
        self._end(client, server)

    def _end(self, *ends: socket.socket) -> None:
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
