"""What a page is made of, and what is asked of it: read models of `operations`, as templates take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from batchctl.app import App
from batchctl.domain.errors import InvalidInput, NotFound
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.operators.news import EVERYTHING, Followed
from batchctl.domain.text import did_you_mean, visible
from batchctl.operations.column_lists import ColumnList
from batchctl.store.one_look import one_look

Query = Mapping[str, str]
Listed = tuple[ColumnList[Any], Sequence[Any]]
ON_A_PAGE = 50
_OF_FILES = ("format", "list")
"""What an address asks for besides: one of its lists as a file."""
_OF_THIS_PAGE = {*_OF_FILES, "before"}
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What an address asks for: its query, and what stands in its path."""

    query: Query
    path: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str | None:
        """Return a part of the query; None where it is not there, or empty."""
        return self.query.get(name) or None

    def needed(self, name: str, what: str) -> str:
        """Return a part of the query without which there is nothing to show."""
        found = self.get(name)
        if found is None:
            raise InvalidInput(f"The address does not say which {what}.", next_step="open it from a list")
        return found

    def before(self) -> int | None:
        """Return the number of the row at which the page before this one ended."""
        text = self.get("before")
        if text is not None and not is_number(text):
            raise InvalidInput("'before' is the number of a row.", next_step="open the first page again")
        return None if text is None else int(text)


@dataclass(frozen=True, slots=True)
class ActLink:
    """A button that leads to the page of an act, for those who may do it."""

    text: str
    href: str
    right: Right = Right.ACT
    tags: Sequence[str] = ()
    """Of the batch that it is about: whose acts are for one tag may do no other."""

    def is_for(self, session: Session) -> bool:
        """Say whether somebody may do it."""
        is_in_scope = session.tag is None or session.tag.casefold() in {one.casefold() for one in self.tags}
        return is_in_scope and session.may(self.right)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its template, what stands there, and its lists in order."""

    title: str
    template: str = "lists.html"
    lists: Sequence[Listed] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    acts: Sequence[ActLink] = ()
    """What can be done from here."""
    older: str | None = None
    """The row before which the next page begins."""
    empty: str = ""
    """What to do where there is nothing to show."""
    comes_back: bool = False
    """Whether it is asked for again by itself, also where no script runs: something is waited for."""
    narrowed: Mapping[str, str] = field(default_factory=dict)
    """To what its lists are narrowed besides what its address asks for."""
    follows: Followed = EVERYTHING
    """What changes make it ask for itself again."""
    also: Sequence[Listed] = ()
    """Lists that its template shows in a way of its own; they lead to the same as CSV and as SQL, too."""
    is_steady: bool = False
    """Whether it shows what is told by no change, too, and asks for itself every few seconds."""


@dataclass(frozen=True, slots=True)
class ListLinks:
    """Where the lists of a page lead: to what the page shows, and to statements that show the same."""

    path: str
    query: Query
    narrowed: Mapping[str, str]

    def as_csv(self, title: str) -> str:
        """Return the address of a list as a file."""
        return f"{self.path}?{_query({**self.query, 'format': 'csv', 'list': title})}"

    def as_sql(self, title: str) -> str:
        """Return the address of the statements of a list."""
        asked = {name: text for name, text in self.query.items() if name not in _OF_THIS_PAGE}
        return f"/sql?{_query({**self.narrowed, **asked, 'list': title})}"


@dataclass(frozen=True, slots=True)
class PageAt:
    """Where a page stands: its path, and its name in the menu, if it has one there."""

    path: str
    page: Callable[[App, PageRequest], Page]
    menu: str | None = None
    asks: Sequence[str] = ()
    """What its address may say besides."""

    def asked(self, query: Query, path: Mapping[str, str]) -> PageRequest:
        """Read an address; raises `InvalidInput` where it says what the page does not know."""
        refuse_unknown(query, self.asks)
        return PageRequest(query, path)

    def show(self, app: App, asked: PageRequest) -> Page:
        """Return the page, all of it of one look at the database."""
        with one_look():
            return self.page(app, asked)


def refuse_unknown(query: Query, known: Iterable[str]) -> None:
    """Refuse an address that says what its page does not know: it would show more than is meant."""
    names = [*known]
    for name in query:
        if name not in names and name not in _OF_FILES:
            message = f"'{visible(name)}' is no filter of this page.{did_you_mean(name, names)}"
            raise InvalidInput(message, next_step="correct the address, or open the page from the menu")


def _query(asked: Query) -> str:
    return urlencode(asked, quote_via=quote)


def batch_page(name: str) -> str:
    """Return the address of the page of a batch."""
    return f"/batch?name={quote(name, safe='')}"


def schedule_page(name: str) -> str:
    """Return the address of the page of a schedule."""
    return f"/schedule?name={quote(name, safe='')}"


def is_number(text: str) -> bool:
    """Say whether a text of an address is a number that a row may have."""
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def row_number(path: Mapping[str, str], what: str) -> int:
    """Return the number in the path of a page about one row."""
    if not is_number(text := path["number"]):
        raise NotFound(f"'{visible(text)}' is not the number of an {what}.", next_step="open it from a list")
    return int(text)
