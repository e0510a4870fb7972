"""What leads from a list elsewhere shows no more than the list: as SQL and as CSV, whatever the names are."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.acceptance.consoles import Browser, Console
from tests.acceptance.night import Night

NAMES = ("O'Brien", "x'; DELETE FROM Note; --", "100% {} \\ 😀", '"quoted"')
LIST = re.compile(r'<a class="as" href="([^"]+)">as (CSV|SQL)</a>')


def leads(browser: Browser, path: str) -> dict[str, list[str]]:
    """Return where the lists of a page lead, as SQL and as CSV."""
    found: dict[str, list[str]] = {"SQL": [], "CSV": []}
    for address, kind in LIST.findall(browser.get(path).text):
        found[kind].append(unescape(address))
    return found


def statements(browser: Browser, address: str) -> list[str]:
    shown = browser.get(address)
    assert shown.status == 200, shown.said
    return [unescape(one) for one in re.findall(r'<pre class="command">(.*?)</pre>', shown.text, re.DOTALL)]


def statement(browser: Browser, address: str) -> str:
    (found,) = statements(browser, address)
    return found.removesuffix(";")


@pytest.fixture
def named(night: Night) -> Night:
    """Each batch has an instance, an act and a note, and so has another one."""
    for name in NAMES:
        night.batch(name, "true")
        night.arrive(name, "a.csv")
    assert night("create").returncode == 0
    for name in (*NAMES, "Late"):
        assert night("note", "--batch", name, "seen").returncode == 0
        assert night("disable", name, "--reason", "not tonight").returncode == 0
    return night


def test_statements_and_files_show_what_the_page_shows(named: Night, console: Console) -> None:
    browser = console.browser()
    for name in NAMES:
        query = browser.query(batch=name, status="ready")
        found = leads(browser, f"/instances?{query}")
        (address,), (file,) = found["SQL"], found["CSV"]
        ((number, *_),) = named.sql(statement(browser, address).replace("*", "BatchControl_id"))
        (row,) = csv.DictReader(io.StringIO(browser.get(file).text))
        assert row["BatchControl_id"] == str(number)
        of_page = leads(browser, f"/batch?{browser.query(name=name)}")["SQL"]
        of_batch = [one for address in of_page for one in statements(browser, address)]
        many = {one.splitlines()[-1].partition(" FROM ")[2].split()[0]: len(named.sql(one)) for one in of_batch}
        shown_by = {
            **dict.fromkeys(("ProcessControl", "BatchControl", "Note", "BatchVersion", "vStatus", "vWaiting"), 1),
            **dict.fromkeys(("vNotInstalled", "vFrozen", "vUnreadable"), 0),
        }
        assert many == shown_by, of_batch
        acts = leads(browser, f"/audit?{browser.query(of=f'batch:{name}')}")
        (shown,) = (statement(browser, one) for one in acts["SQL"])
        assert {one["Target"] for one in csv.DictReader(io.StringIO(browser.get(acts["CSV"][0]).text))} == {
            target for (target,) in named.sql(shown.replace("*", "Target"))
        }
    assert named.sql("SELECT count(*) FROM Note") == [(len(NAMES) + 1,)]


def test_what_cannot_be_seen_is_in_no_statement(console: Console) -> None:
    browser = console.browser()
    for hidden in ("a\u202eb", "a\nb", "\x1b[31m"):
        for title in ("Instances", "Gates"):
            answer = browser.get(f"/sql?{browser.query(list=title, batch=hidden)}")
            assert (answer.status, "holds what cannot be seen" in answer.said) == (400, True)


def test_what_is_no_number_is_in_no_statement(console: Console) -> None:
    browser = console.browser()
    for wrong in ("1; DELETE FROM Note", "1 OR 1 = 1", "-1", "१"):
        answer = browser.get(f"/sql?{browser.query(list='Gates', instance=wrong)}")
        assert (answer.status, "is not the number of a row" in answer.said) == (400, True)


def test_each_list_of_one_row_leads_to_a_file(night: Night, console: Console) -> None:
    browser = console.browser()
    made = night("schedule", "add", "nightly", "--entity", "Late", "--type", "daily", "--run-times", "02:00")
    assert made.returncode == 0
    expected = {
        "/instances/1": {"Gates", "Steps", "Attempts"},
        "/batch?name=Late": {"Gates", "Steps", "How long steps take", "Instances"},
        "/file-processes/1": {"Gates"},
        "/schedule?name=nightly": {"Gates", "Due times", "Acts"},
    }
    for page, titles in expected.items():
        found = {unescape(address) for address in leads(browser, page)["CSV"]}
        assert {dict(parse_qsl(urlsplit(address).query))["list"] for address in found} >= titles, page
        for address in found:
            rows = [*csv.DictReader(io.StringIO(browser.get(address).text))]
            assert rows, address
