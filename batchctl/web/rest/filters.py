"""What can be asked of a list, as its query says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from batchctl.app import App
from batchctl.domain.errors import InvalidInput
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import LARGEST_ID
from batchctl.domain.text import did_you_mean, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations.column_lists import ColumnList
from batchctl.web.wishes import FieldKind, FormField, Value, Wish, of_text

Word = TypeVar("Word", bound=StrEnum)
Row = TypeVar("Row")
USUAL_LIMIT, MOST = 50, 1000
BATCH = FormField("batch", "Only of this batch")
SINCE = FormField("since", "Only then or later", hint="a time in UTC")
BEFORE = FormField("before", "Only rows with smaller numbers: the next page", FieldKind.NUMBER, most=LARGEST_ID)
LIMIT = FormField("limit", f"How many, {MOST} at most", FieldKind.NUMBER)
ALL = FormField("all", "Also what is over", choices=("true", "false"))


def status_in(words: type[StrEnum] | tuple[str, ...]) -> FormField:
    """Return the filter of a status."""
    return FormField("status", "Only those in this status", choices=tuple(str(word) for word in words))


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """What a list answers: the JSON of the command line, and the row before which the next page begins."""

    body: JsonValue
    before: int | None = None


Ask: TypeAlias = Callable[[App, Wish], RestAnswer]


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that programs can read: its path behind `/api/v1`, and the command that shows the same."""

    path: str
    says: str
    command: str
    ask: Ask
    filters: tuple[FormField, ...] = ()
    columns: tuple[str, ...] = ()
    """Of a list: the names of what stands in each row."""
    is_list: bool = True

    def wish(self, key: str, query: Mapping[str, str]) -> Wish:
        """Read a query; a filter that the list does not have is refused."""
        known = {each.name: each for each in self.filters}
        values: dict[str, Value] = {}
        for name, text in query.items():
            if name not in known:
                meant = did_you_mean(name, known)
                raise InvalidInput(f"'{visible(name)}' is no filter here.{meant}", next_step=f"batchctl {self.command}")
            values[name] = of_text(known[name], text)
        return Wish(key, values)


def rows_of(columns: ColumnList[Row], rows: Sequence[Row], broken: Sequence[UnreadableRow] = ()) -> RestAnswer:
    """Return a list as the command line prints it."""
    return RestAnswer(columns.as_json(rows, broken))


def page_of(columns: ColumnList[Row], found: Sequence[Row], limit: int, number: Callable[[Row], int]) -> RestAnswer:
    """Return a page of a list of which one row more was asked for: where there is one, another page follows."""
    return RestAnswer(columns.as_json(found[:limit]), number(found[limit - 1]) if len(found) > limit else None)


def header_of(columns: ColumnList[Any]) -> tuple[str, ...]:
    """Return the names of what stands in each row."""
    return tuple(columns.header)


def limit_of(asked: Wish) -> int:
    """Return how many rows are wanted."""
    wanted = asked.number("limit")
    if wanted is None:
        return USUAL_LIMIT
    if not 1 <= wanted <= MOST:
        raise InvalidInput(f"'limit' is a number from 1 to {MOST}.", next_step="correct it")
    return wanted


def since_of(asked: Wish) -> datetime | None:
    """Return since when, in UTC where the text does not say its zone."""
    text = asked.text("since")
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        message = f"'{visible(text)}' is no time."
        raise InvalidInput(message, next_step="in UTC, such as 2026-11-22 or 2026-11-22T05:00:00Z") from error


def word_of(asked: Wish, words: type[Word]) -> Word | None:
    """Return the status that is wanted."""
    text = asked.text("status")
    return None if text is None else words(text)
