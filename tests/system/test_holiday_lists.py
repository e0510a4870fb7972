"""Holidays come from the library `holidays`, in the same words on every host."""

from __future__ import annotations

import re
import shlex
import sys
from datetime import date
from pathlib import Path

import pytest

from batchctl.app import holidays_of
from batchctl.domain.errors import ConfigurationError, NotFound

BY_HAND = "batchctl calendar add-day NL DAY"


def test_a_country_a_part_of_it_and_a_market() -> None:
    dutch, said = holidays_of("NL", None, None, range(2026, 2028), BY_HAND)
    assert said == "public holidays of NL"
    assert (dutch[date(2026, 4, 27)], dutch[date(2027, 4, 27)], len(dutch)) == ("King's Day", "King's Day", 20)

    bavarian, said = holidays_of("DE", "BY", None, range(2026, 2027), BY_HAND)
    german, _ = holidays_of("DE", None, None, range(2026, 2027), BY_HAND)
    assert said == "public holidays of DE, BY"
    assert (date(2026, 1, 6) in bavarian, date(2026, 1, 6) in german) == (True, False)

    market, said = holidays_of(None, None, "XNYS", range(2026, 2027), BY_HAND)
    assert said == "closed days of XNYS"
    assert date(2026, 11, 26) in market


@pytest.mark.parametrize("language", ["C", "nl_NL.UTF-8", "th_TH.UTF-8"])
def test_the_words_do_not_depend_on_the_host(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    for variable in ("LANGUAGE", "LC_ALL", "LANG"):
        monkeypatch.setenv(variable, language)

    found, _ = holidays_of("NL", None, None, range(2026, 2027), BY_HAND)

    assert found[date(2026, 12, 25)] == "Christmas Day"


@pytest.mark.parametrize(
    ("country", "subdivision", "market", "said"),
    [
        ("QQ", None, None, "knows no country 'QQ'."),
        ("Netherlands", None, None, "knows no country 'Netherlands'. Did you mean 'NL'?"),
        ("nl", None, None, "knows no country 'nl'. Did you mean 'NL'?"),
        ("NLL", None, None, "knows no country 'NLL'. Did you mean 'NL'?"),
        ("DE", "BYY", None, "knows no subdivision of DE 'BYY'. Did you mean 'BY'"),
        (None, None, "NYSEE", "knows no market 'NYSEE'. Did you mean 'NYSE'"),
    ],
)
def test_what_the_library_does_not_know(
    country: str | None, subdivision: str | None, market: str | None, said: str
) -> None:
    with pytest.raises(NotFound) as unknown:
        holidays_of(country, subdivision, market, range(2026, 2027), BY_HAND)
    assert said in unknown.value.message


def test_a_country_is_not_guessed_by_its_spelling() -> None:
    with pytest.raises(NotFound) as unknown:
        holidays_of("Holland", None, None, range(2026, 2027), BY_HAND)
    assert unknown.value.message == "The library 'holidays' knows no country 'Holland'."
    assert unknown.value.next_step == "write its two-letter code, such as NL"


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(ConfigurationError) as missing:
        holidays_of("NL", None, None, range(2026, 2027), BY_HAND)
    pip = f"{shlex.quote(sys.executable)} -m pip install 'batchctl[calendars]'"
    assert missing.value.next_step == f"{pip}, or write the days yourself: {BY_HAND}"


def test_documentation_installs_it_by_the_same_words() -> None:
    root = Path(__file__).parents[2]
    said = {
        page.name: re.findall(r"pip install [^`]*calendars[^`]*", page.read_text(encoding="utf-8"))
        for page in (root / "README.md", *(root / "docs").glob("*.md"))
    }

    assert {page: words for page, words in said.items() if words} == {
        "schedules.md": ["pip install 'batchctl[calendars]'"]
    }
