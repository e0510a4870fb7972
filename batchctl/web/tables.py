"""Column lists as tables of a page: every value as its type wants it, and a link where a page tells more of it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape
from starlette.responses import Response

from batchctl.domain.alerting.performance import spark
from batchctl.domain.errors import InvalidInput, NotFound
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.rows import LONG_AGO
from batchctl.domain.text import visible
from batchctl.operations.column_lists import Alarming, ColumnList, Curve, StatusWord, in_csv
from batchctl.web.page import Page

_PAGES = {
    "BatchControl_id": "/instances/",
    "ProcessBatchName": "/batch?name=",
    "ScheduleName": "/schedule?name=",
    "CalendarName": "/calendar?name=",
    "FileProcess_id": "/file-processes/",
    "Incident_id": "/incidents#",
    "OperatorRequest_id": "/requests/",
}
"""The columns whose values have a page, and how its address begins."""
COUNTED = 10_000
"""Up to how many are counted."""
_COMMANDS = {"next", "to clear it"}
"""The headings under which commands stand, which people copy."""
_WIDE = 24
"""From how many characters on a text keeps some width, also on a telephone."""
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2})?")
"""A day, also with a time to the minute: it is not broken within the day."""
_NAMED = re.compile(
    r"\b(?P<whole>BatchControl (?P<id>[0-9]{1,18}))\b"
    r"|(?<=\bbatchctl )(?P<verb>(?:why|show|history|output|rerun|skip|pause|resume|cancel|confirm|refuse) )"
    r"(?P<number>[0-9]{1,18})\b"
)
"""How texts and commands name an instance."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: a text, its classes in the style sheet, and what it leads to."""

    text: str
    classes: str = ""
    href: str | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """A list as a page shows it."""

    title: str
    headings: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]


def table_of(columns: ColumnList[Any], rows: Iterable[Any]) -> TableView:
    """Return a list for a page."""
    names = [*columns.headings]
    sources = [each if isinstance(each, str) else "" for each in columns.headings.values()]
    return TableView(
        title=columns.title,
        headings=[Cell(name.removesuffix("#"), "number" if name.endswith("#") else "") for name in names],
        rows=[
            [_placed(value, name, source) for value, name, source in zip(row, names, sources, strict=True)]
            for row in columns.cells(rows)
        ],
    )


def _placed(value: object, heading: str, column: str) -> Cell:
    cell = cell_of(value)
    classes = " ".join(
        one
        for one in (
            cell.classes,
            "number" if heading.endswith("#") else "",
            "command" if heading in _COMMANDS and cell.text else "",
            width_of(cell.text) if "time" not in cell.classes else "",
        )
        if one
    )
    href = f"{_PAGES[column]}{quote(str(value), safe='')}" if column in _PAGES and cell.text else None
    return Cell(cell.text, classes, href)


def width_of(text: str | None) -> str:
    """Return the class of a text that keeps some width, also on a telephone; of a short one, only if it is a day."""
    if len(text or "") > _WIDE:
        return "wide"
    return "day" if _DAY.fullmatch(text or "") else ""


def linked(text: str) -> Markup:
    """Return a text in which each instance that it names leads to its page."""
    parts, end = [Markup("")], 0
    for found in _NAMED.finditer(text):
        parts += [escape(text[end : found.start()]), escape(found["verb"] or "")]
        if found["whole"]:
            parts.append(Markup('<a href="/instances/{}">{}</a>').format(found["id"], found["whole"]))
        else:
            link = Markup('<a href="/instances/{0}" aria-label="instance {0}">{0}</a>')
            parts.append(link.format(found["number"]))
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def counted(many: int) -> str:
    """Return how many there are; beyond `COUNTED`, that there are more."""
    return f"{COUNTED:,}+" if many > COUNTED else f"{many:,}"


def cell_of(value: object) -> Cell:
    """Return what a cell shows of a value: a moment in UTC, a length of time the way people say it, else its text."""
    match value:
        case None:
            return Cell("")
        case datetime():
            # Long ago means that nothing is waited for.
            return Cell("" if value <= LONG_AGO else f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}", "time")
        case timedelta():
            return Cell(for_people(value))
        case StrEnum():
            return Cell(value.value, _status_class(value.value))
        case StatusWord():
            return Cell(value.text, _status_class(value.text))
        case Alarming():
            return Cell(visible(value.text), "alarming")
        case Curve():
            return Cell(spark(value.points, ascii_only=False), "curve")
        case tuple():
            parts = [cell_of(part) for part in value]
            return Cell("".join(part.text for part in parts), next((part.classes for part in parts), ""))
        case _:
            return Cell(visible(str(value)))


def _status_class(word: str) -> str:
    return f"status status-{word.strip(' ,').replace(' ', '-').lower()}"


def list_as_csv(page: Page, query: Mapping[str, str]) -> Response | None:
    """Return the list of a page that its query asks for as CSV, if it asks for one: else the first."""
    lists = (*page.lists, *page.also)
    if (kind := query.get("format")) is None:
        return None
    if kind != "csv":
        raise InvalidInput(f"'{visible(kind)}' is no format of a list.", next_step="format=csv")
    if not lists:
        raise NotFound("This page has no list.", next_step="open the page without its query")
    title = query.get("list", lists[0][0].title)
    for columns, rows in lists:
        if columns.title == title:
            name = "".join(each if each.isalnum() else "-" for each in title.lower())
            headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
            return Response(csv_of(columns, rows), media_type="text/csv; charset=utf-8", headers=headers)
    raise NotFound(f"This page has no list '{visible(title)}'.", next_step="open the page without its query")


def csv_of(columns: ColumnList[Any], rows: Iterable[Any]) -> str:
    """Return a list as CSV, with the columns that programs get."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns.header, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: in_csv(value) for name, value in columns.of(row).items()})
    return text.getvalue()
