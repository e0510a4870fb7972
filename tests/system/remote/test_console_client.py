"""How agents and controllers reach a console."""

from __future__ import annotations

import http.server
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.system.remote.console_client import ConsoleAddress, ConsoleClient
from tests.acceptance.test_web_tls import signed_by_itself
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


def test_a_kept_connection_that_was_let_go_without_a_word_of_tls_is_no_failure(tmp_path: Path) -> None:
    certificate, key = signed_by_itself(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def serve(listening: socket.socket) -> None:
        for _ in range(2):
            plain, _ = listening.accept()
            with context.wrap_socket(plain, server_side=True) as inside:
                asked = b""
                while not asked.endswith(b"{}"):
                    asked += inside.recv(65536)
                inside.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                socket.socket.shutdown(inside, socket.SHUT_WR)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        address = f"https://127.0.0.1:{listening.getsockname()[1]}"
        client = ConsoleClient(ConsoleAddress(address, "token", str(certificate)))
        assert [client.post("/poll", {}, within=5.0) for _ in range(2)] == [{}, {}]
        client.close()
