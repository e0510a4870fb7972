"""The documentation as pages of the console: the Markdown files that come with the program, with no HTML of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

import batchctl
from batchctl.domain.errors import NotFound
from batchctl.domain.text import did_you_mean, visible

FIRST = "README"
"""The page that leads to all others."""
PATH = "/help"
FILES = "/documentation"
"""Where the pictures are served."""
_LINK = re.compile(r"(?:\./)?([\w-]+)\.md(#[\w-]*)?\Z")
_PICTURE = re.compile(r"[\w./-]+\.(?:png|svg)\Z")
_NO_WORD = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Chapter:
    """A page of the documentation."""

    title: str
    body: Markup


def folder() -> Path | None:
    """Return where the documentation lies: inside the installed package, or beside it in a checkout."""
    package = Path(batchctl.__file__).resolve().parent
    return next(
        (place for place in (package / "docs", package.parent / "docs") if (place / f"{FIRST}.md").is_file()), None
    )


def chapter(name: str) -> Chapter:
    """Return a page; raises `NotFound`."""
    place = folder()
    known = [] if place is None else sorted(path.stem for path in place.glob("*.md"))
    if place is None or name not in known:
        message = f"The documentation has no page '{visible(name)}'.{visible(did_you_mean(name, known))}"
        raise NotFound(message, next_step=f"open {PATH}")
    return _rendered((place / f"{name}.md").read_text(encoding="utf-8"))


@lru_cache
def _rendered(text: str) -> Chapter:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = [*_fitted(markdown.parse(text))]
    title = next((tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"), "Help")
    # The page has its title as heading already.
    begin = 3 if tokens and tokens[0].tag == "h1" else 0
    body = markdown.renderer.render(tokens[begin:], markdown.options, {})
    return Chapter(title.replace("`", ""), Markup(body))  # noqa: S704 - the renderer lets no HTML of the files through


def _fitted(tokens: Sequence[Token]) -> Iterator[Token]:
    """Give headings an address, tables scopes and a place to scroll, and let links lead to pages of the console."""
    for at, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                token.attrSet("id", anchor_of(tokens[at + 1].content))
            case "th_open":
                token.attrSet("scope", "col")
            case "table_open":
                yield _place("Table")
            case "fence" | "code_block":
                yield _place("Example")
            case "inline":
                _lead(token.children or [])
            case _:
                pass
        yield token
        if token.type in {"table_close", "fence", "code_block"}:
            yield Token("place_close", "div", -1, block=True)


def _place(label: str) -> Token:
    """Open a place that scrolls by itself, with the keyboard too."""
    attributes: dict[str, str | int | float] = {
        "class": "scroll",
        "role": "region",
        "aria-label": label,
        "tabindex": "0",
    }
    return Token("place_open", "div", 1, attrs=attributes, block=True)


def _lead(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "image":
            source = str(token.attrs.get("src", ""))
            token.attrSet("src", f"{FILES}/{source}" if _PICTURE.match(source) else "")
        if token.type == "link_open":
            target = _target(str(token.attrs.get("href", "")))
            token.tag = "a" if target else "span"
            token.attrs = {"href": target} if target else {}
    closing = ["a"]
    for token in tokens:
        if token.type == "link_open":
            closing.append(token.tag)
        if token.type == "link_close":
            token.tag = closing.pop()


def _target(href: str) -> str | None:
    if href.startswith(("#", "https://")):
        return href
    found = _LINK.match(href)
    return None if found is None else f"{PATH}/{found[1]}{found[2] or ''}"


def anchor_of(heading: str) -> str:
    """Return the address of a heading within its page."""
    return _NO_WORD.sub("", heading.replace("`", "").lower()).replace(" ", "-")
