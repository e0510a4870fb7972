"""Long lists go by pages, of the console and of programs: each row once, newest first, and as many as a page takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import chain

import pytest

from batchctl.web.page import ON_A_PAGE
from tests.acceptance.consoles import Browser, Console
from tests.acceptance.night import Night

MANY = 2 * ON_A_PAGE + 3
AT = "2026-11-01 02:00:00.000"


@pytest.fixture
def browser(night: Night, console: Console) -> Browser:
    """More incidents, requests and attempts than two pages show."""
    night.sql("DELETE FROM Incident")
    for at in range(MANY):
        night.sql(
            "INSERT INTO Incident (Kind, IncidentKey, Severity, Status, Subject, Message, Evidence, OpenedTime, LastSeen,"
            f" z_inserted, z_updated) VALUES ('not_started', ?, 'warning', 'open', ?, 'It is late', 1, '{AT}', '{AT}',"
            f" '{AT}', '{AT}')",
            f"late:{at}",
            f"batch {at}",
        )
        night.sql("INSERT INTO OperatorRequest (Action, BatchControl_id, Actor) VALUES ('pause', ?, 'anna')", at + 1)
    return console.browser()


def pages(browser: Browser, path: str) -> Iterator[str]:
    """Yield one page of the console after the other."""
    while path:
        shown = browser.get(path)
        assert shown.status == 200, shown.said
        yield shown.text
        further = re.search(r'<a rel="next" href="([^"]+)"', shown.text)
        path = "" if further is None else path.partition("?")[0] + unescape(further[1])


def parts(browser: Browser, path: str) -> Iterator[list[dict[str, object]]]:
    """Yield one part of a list of the API after the other."""
    while path:
        answer = browser.get(path)
        assert answer.status == 200, answer.text
        yield json.loads(answer.text)
        path = answer.headers.get("link", "").partition(">")[0].removeprefix("<")


@pytest.mark.parametrize("path", ["/incidents", "/incidents?all=1"])
def test_incidents_go_by_pages(night: Night, browser: Browser, path: str) -> None:
    shown = [re.findall(r'href="/incidents#(\d+)"', page) for page in pages(browser, path)]

    assert [len(each) for each in shown] == [ON_A_PAGE, ON_A_PAGE, 3]
    expected = [str(number) for (number,) in night.sql("SELECT Incident_id FROM Incident ORDER BY Incident_id DESC")]
    assert [*chain(*shown)] == expected


def test_requests_go_by_pages(browser: Browser) -> None:
    shown = [re.findall(r'href="/requests/(\d+)"', page) for page in pages(browser, "/requests")]

    assert [len(each) for each in shown] == [ON_A_PAGE, ON_A_PAGE, 3]
    assert [*chain(*shown)] == [*map(str, range(MANY, 0, -1))]


@pytest.mark.parametrize(
    ("path", "number", "many"),
    [
        ("/incidents?all=true&status=open&limit=40", "Incident_id", MANY),
        ("/requests?status=requested&limit=40", "OperatorRequest_id", MANY),
        ("/attempts?batch=Late&limit=1", "BatchProcessHistory_id", 2),
    ],
)
def test_programs_get_them_by_pages(browser: Browser, path: str, number: str, many: int) -> None:
    got = [[int(str(row[number])) for row in part] for part in parts(browser, f"/api/v1{path}")]

    limit = int(path.rpartition("=")[2])
    assert [len(part) for part in got[:-1]] == [limit] * (len(got) - 1)
    numbers = [*chain(*got)]
    assert numbers == sorted(set(numbers), reverse=True)
    assert len(numbers) == many
