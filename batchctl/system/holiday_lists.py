"""Holidays as the library `holidays` knows them, which comes with the extra `calendars`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from batchctl.domain.configuring import how_to_install_extra
from batchctl.domain.errors import ConfigurationError, NotFound
from batchctl.domain.text import did_you_mean, visible

_ENGLISH = "en_US"
_DOUBLED = re.compile(r"(.)\1")
_CODE = 3
"""How long a code may be; a longer text may be a name."""


def of_country(country: str, subdivision: str | None, years: Collection[int], by_hand: str) -> Mapping[date, str]:
    """Return the public holidays of a country, or of a part of it, with their names."""
    library = _library(by_hand)
    known: Mapping[str, list[str]] = library.list_supported_countries()
    if country not in known:
        raise _unknown_country(library, country, known)
    parts = known[country]
    if subdivision is not None and subdivision not in parts:
        raise _unknown(f"subdivision of {country}", subdivision, parts, by_hand)
    return _found(library.country_holidays, country, subdivision, years)


def of_market(market: str, years: Collection[int], by_hand: str) -> Mapping[date, str]:
    """Return the days on which a financial market is closed, with their names."""
    library = _library(by_hand)
    known: Mapping[str, list[str]] = library.list_supported_financial()
    if market not in known:
        raise _unknown("market", market, known, by_hand)
    return _found(library.financial_holidays, market, None, years)


def _found(ask: Any, name: str, subdivision: str | None, years: Collection[int]) -> Mapping[date, str]:
    # The same words on every host, whatever its language: what was imported once is compared with them.
    languages = ask(name).supported_languages
    language = _ENGLISH if _ENGLISH in languages else None
    found = ask(name, subdiv=subdivision, years=years, language=language)
    return {day: str(found[day]) for day in sorted(found)}


def _library(by_hand: str) -> Any:
    try:
        import holidays  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        message = "Holidays are imported from the library 'holidays', which is not installed."
        own = f"or write the days yourself: {by_hand}"
        raise ConfigurationError(message, next_step=f"{how_to_install_extra('calendars')}, {own}") from None
    return holidays


def _unknown(kind: str, given: str, known: Collection[str], by_hand: str) -> NotFound:
    message = f"The library 'holidays' knows no {kind} '{visible(given)}'.{did_you_mean(given, known)}"
    return NotFound(message, next_step=f"correct what is named, or write the days yourself: {by_hand}")


def _unknown_country(library: Any, given: str, known: Collection[str]) -> NotFound:
    """Return the error, with the code that may have been meant.

    A name shows what was meant, and so does a letter typed twice; that another code is spelt like it does not.
    """
    word = _letters(given)
    named: Mapping[str, tuple[str, ...]] = library.registry.COUNTRIES
    codes = [codes[1] for name, codes in named.items() if len(word) > _CODE and _letters(name).startswith(word)]
    codes += [code for code in [_DOUBLED.sub(r"\1", given.upper())] if code in known]
    near = given.upper() if given.upper() in known else codes[0] if len(set(codes)) == 1 else None
    meant = f" Did you mean '{near}'?" if near in known else ""
    message = f"The library 'holidays' knows no country '{visible(given)}'.{meant}"
    return NotFound(message, next_step="write its two-letter code, such as NL")


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))
