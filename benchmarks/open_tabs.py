"""Browsers' tabs that are open and looked at: each follows its stream, and asks for its page again when that says so.

python -m benchmarks.open_tabs PORT COOKIE TABS     # says "open" once all are; says what it has asked for when stdin ends
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass

FIRST = 1_000_000
"""The first instance that the engine works at."""
OF_ALL = 10
"""One tab of so many shows what is happening now, the others one instance that is over."""


@dataclass
class Tabs:
    """The tabs, and what they have asked for."""

    port: int
    cookie: str
    many: int
    pages: int = 0

    async def run(self) -> None:
        """Open all, and follow until stdin ends."""
        opened = [asyncio.Event() for _ in range(self.many)]
        tabs = [asyncio.create_task(self._tab(at, one)) for at, one in enumerate(opened)]
        await asyncio.gather(*(one.wait() for one in opened))
        self.pages = 0
        print("open", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        for one in tabs:
            one.cancel()
        print(json.dumps({"pages": self.pages}), flush=True)

    async def _tab(self, at: int, opened: asyncio.Event) -> None:
        number = FIRST + at
        stream, page = ("/events", "/") if at % OF_ALL == 0 else (f"/events?instance={number}", f"/instances/{number}")
        while True:
            reader, writer = await self._ask(stream)
            while line := await reader.readline():
                opened.set()
                if line.startswith(b"event: changed"):
                    await self._show(page)
            writer.close()

    async def _show(self, page: str) -> None:
        reader, writer = await self._ask(page, "Connection: close\r\n")
        await reader.read()
        writer.close()
        self.pages += 1

    async def _ask(self, path: str, more: str = "") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self.cookie}\r\nHX-Request: true\r\n{more}\r\n"
        writer.write(head.encode())
        await writer.drain()
        return reader, writer


if __name__ == "__main__":
    asyncio.run(Tabs(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])).run())
