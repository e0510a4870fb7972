"""How agents and controllers reach a console."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from batchctl.system.remote.console_client import ConsoleAddress, ConsoleClient
from tests.dask_processes import free_port


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers everything as a console without agents does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"agents": []}')

    def log_message(self, *words: object) -> None:
        """Log nothing."""


@pytest.fixture
def console() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


def test_without_tls_nothing_goes_through_a_proxy(console: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    client = ConsoleClient(ConsoleAddress(console, "a token"))
    try:
        assert client.get("/agents?pool=ssis", within=5) == {"agents": []}
    finally:
        client.close()
