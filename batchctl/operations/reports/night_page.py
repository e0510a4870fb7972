"""The report of a night as text for a mail, and as one page of HTML that needs nothing else: no script, no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from html import escape
from string import Template

from batchctl.domain.alerting.performance import spark
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.rows import LONG_AGO
from batchctl.domain.text import shorten, visible
from batchctl.operations.column_lists import Alarming, Curve, StatusWord
from batchctl.operations.reports.night_lists import NightReport, ReportPart

LONGEST = 500
"""How many characters of a value a page shows."""
SHORT = 24
"""How many characters of a value stand on one line of a wide page."""
_PAGE = Template(
    """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root{color-scheme:light dark}
body{margin:0 auto;padding:1rem;max-width:75rem;color:#1a1a1a;background:#fff}
body{font:16px/1.45 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{font-size:1.25rem;line-height:1.3;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:1.6rem 0 .4rem}
p{margin:.4rem 0;overflow-wrap:anywhere}
.small{font-size:.875rem;color:#555}
table{border-collapse:collapse;width:100%;font-size:.875rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #ccc;white-space:nowrap}
th{font-weight:600;color:#444}
.number{text-align:right}
.long{white-space:normal;overflow-wrap:anywhere;min-width:9rem}
.alarm{color:#a8001c;font-weight:600}
@media (max-width:60rem){
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,td{display:block}
tr{border-bottom:2px solid #ccc;padding:.4rem 0}
td,.number{border:0;padding:.1rem 0;text-align:left;white-space:normal;overflow-wrap:anywhere}
td::before{content:attr(data-label) " ";color:#555;font-size:.8rem}
}
@media (prefers-color-scheme:dark){
body{color:#e8e8e8;background:#16181c}
th{color:#ccc}
.small,td::before{color:#b5b5b5}
th,td,tr{border-color:#444}
.alarm{color:#ff8f9b}
}
</style>
</head>
<body>
<main>
<h1>$verdict</h1>
<p class="small">$made</p>
$notes$parts<p>Next: <code>$next</code></p>
</main>
</body>
</html>
"""
)


def plain(value: object) -> str:
    """Return on one line what stands in a cell."""
    match value:
        case None:
            return "-"
        case datetime():
            return "-" if value <= LONG_AGO else f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        case timedelta():
            return for_people(value)
        case StrEnum():
            return value.value
        case StatusWord() | Alarming():
            return plain(value.text)
        case Curve():
            return spark(value.points, ascii_only=True)
        case tuple():
            return "".join(plain(each) for each in value)
        case _:
            return shorten(visible(str(value)), LONGEST)


def text(report: NightReport) -> str:
    """Return the report as a mail has it for those who see no HTML, and as chats show it."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: NightReport) -> Iterator[str]:
    yield visible(report.verdict)
    yield _made(report)
    yield from (visible(note) for note in report.notes)
    for part in report.shown:
        yield ""
        yield f"{part.columns.title}:"
        headings = [heading.removesuffix("#") for heading in part.columns.headings]
        for row in part.cells:
            yield f"- {'; '.join(_named(*each) for each in zip(headings, row, strict=True) if each[1])}"
        if part.rest is not None:
            yield f"  {visible(part.rest)}"
    yield ""
    yield from (f"Next: {visible(step)}" for step in report.next_steps)


def _named(heading: str, value: object) -> str:
    return f"{heading}: {plain(value)}" if heading else plain(value)


def _made(report: NightReport) -> str:
    return f"What stands open is as of {report.now:%Y-%m-%d %H:%M} UTC. Times below are in UTC."


def page(report: NightReport) -> str:
    """Return the report as a page."""
    return _PAGE.substitute(
        title=_html(report.verdict),
        verdict=_html(report.verdict),
        made=_html(_made(report)),
        notes="".join(f'<p class="alarm">{_html(note)}</p>\n' for note in report.notes),
        parts="".join(_table(part) for part in report.shown),
        next=_html(report.next_steps[0]),
    )


def _table(part: ReportPart) -> str:
    headings = [*part.columns.headings]
    head = "".join(
        f'<th scope="col"{_class(each)}>{_html(each.removesuffix("#")) or "&nbsp;"}</th>' for each in headings
    )
    body = "".join(f"<tr>{_row(headings, row)}</tr>\n" for row in part.cells)
    rest = "" if part.rest is None else f'<p class="small">{_html(part.rest)}</p>\n'
    title = _html(part.columns.title)
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"
    return f"<section>\n<h2>{title}</h2>\n{table}{rest}</section>\n"


def _row(headings: Sequence[str], row: Sequence[object]) -> str:
    return "".join(_cell(heading, value) for heading, value in zip(headings, row, strict=True))


def _cell(heading: str, value: object) -> str:
    shown = plain(value)
    alarm = f'<span class="alarm">{_html(shown)}</span>' if isinstance(value, Alarming) else _html(shown)
    return f'<td{_class(heading, shown)} data-label="{_html(heading.removesuffix("#"))}">{alarm}</td>'


def _class(heading: str, shown: str = "") -> str:
    """Return what a cell looks like: of numbers, of a long text that is broken anywhere, or of a short one that is not."""
    if heading.endswith("#"):
        return ' class="number"'
    return ' class="long"' if len(shown) > SHORT else ""


def _html(text_of_it: str) -> str:
    return escape(visible(text_of_it))
