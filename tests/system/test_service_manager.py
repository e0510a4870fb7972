"""What systemd hears: ready, waiting, ending, and signs of life."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchctl.logs import Event
from batchctl.system.service_manager import ServiceManager


class Listening:
    """A socket as systemd has it."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(0)

    def heard(self) -> list[str]:
        found = []
        while True:
            try:
                found.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return found


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    address = str(tmp_path / "s")
    listening = Listening(address)
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with closing(listening.socket):
        yield listening


def test_it_hears_of_the_service_as_a_whole_and_of_no_single_step(systemd: Listening) -> None:
    manager = ServiceManager()
    for event in (
        Event("controller.started"),
        Event("step.started", {"BatchControl_id": 1}),
        Event("controller.waiting", {"Message": "the server\nis away"}),
        Event("controller.resumed"),
        Event("controller.stopping"),
    ):
        manager.hear(event)

    assert systemd.heard() == [
        "READY=1\nSTATUS=working",
        "STATUS=waiting: the server is away",
        "STATUS=working",
        "STOPPING=1\nSTATUS=waiting for the running steps to end",
    ]


def test_nobody_that_is_started_later_can_speak_for_the_controller(
    systemd: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "1000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    ServiceManager()

    assert not {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} & set(os.environ)


def test_signs_of_life_come_four_times_as_often_as_they_are_waited_for(
    systemd: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setenv("WATCHDOG_USEC", "8000000")
    monkeypatch.setattr("batchctl.system.service_manager.time.monotonic", lambda: now)
    manager = ServiceManager()
    for later in (0.0, 0.5, 1.9, 2.0, 3.9, 4.0):
        now = 100.0 + later
        manager.live()

    assert systemd.heard() == ["WATCHDOG=1"] * 3


@pytest.mark.parametrize(
    "variables", [{}, {"WATCHDOG_USEC": "8000000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"}]
)
def test_who_is_not_waited_for_gives_none(
    systemd: Listening, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ServiceManager().live()

    assert systemd.heard() == []


def test_an_abstract_socket_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"batchctl-test-{os.getpid()}"
    with closing(Listening(f"\0{name}").socket) as listening:
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
        ServiceManager().hear(Event("controller.started"))

        assert listening.recv(100) == b"READY=1\nSTATUS=working"


def test_a_socket_that_is_gone_keeps_nobody_from_working(systemd: Listening, tmp_path: Path) -> None:
    manager = ServiceManager()
    (tmp_path / "s").unlink()

    manager.hear(Event("controller.started"))
