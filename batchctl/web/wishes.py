"""What a person wishes: a verb, the row it is about, and what was filled in, from a form or from JSON alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, InvalidInput, NotFound, Refused
from batchctl.domain.operators.logins import Right
from batchctl.domain.operators.request_verbs import AskedAct
from batchctl.domain.operators.requests import RequestId
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.domain.text import did_you_mean, visible
from batchctl.operations.intervene import Intervention
from batchctl.operations.operators import console_scope
from batchctl.operations.operators.asking import Asker

Value: TypeAlias = str | int | bool
MOST_NUMBER = 2_000_000_000
_MOST_DIGITS = 18


class Subject(StrEnum):
    """What acts are about, as addresses name it."""

    INSTANCES = "instances"
    BATCHES = "batches"
    INCIDENTS = "incidents"
    FREEZES = "freezes"
    SCHEDULES = "schedules"
    BACKFILLS = "backfills"
    FILE_PROCESSES = "file-processes"
    HOSTS = "hosts"
    POOLS = "pools"

    @property
    def is_named(self) -> bool:
        """Say whether its rows go by a name; the others go by a number."""
        return self in {Subject.BATCHES, Subject.SCHEDULES, Subject.HOSTS, Subject.POOLS}

    @property
    def one(self) -> str:
        """Name one of them."""
        return {"batches": "batch", "file-processes": "FileProcess row"}.get(self.value, self.value.removesuffix("s"))


class FieldKind(StrEnum):
    """What is filled in."""

    TEXT = "text"
    LONG = "long"
    NUMBER = "number"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class FormField:
    """What can be filled in besides the reason; with `choices` it is one of these."""

    name: str
    label: str
    kind: FieldKind = FieldKind.TEXT
    is_needed: bool = False
    choices: tuple[str, ...] = ()
    hint: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What each choice means, for people."""
    most: int = MOST_NUMBER
    """How large a number may be."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person has filled in, about one row; about none where the act makes one."""

    key: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    reason: str | None = None
    dry_run: bool = True
    seen: object = None
    """What was shown to the person who decides by it."""

    def text(self, name: str) -> str | None:
        """Return a text; None where it is left out."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def number(self, name: str) -> int | None:
        """Return a number; None where it is left out."""
        value = self.values.get(name)
        return None if value is None else int(value)

    def flag(self, name: str) -> bool:
        """Say whether something was ticked."""
        return bool(self.values.get(name))

    @property
    def why(self) -> str:
        """Return the reason, or what stands for it where an act is only looked at."""
        return self.reason or _NOT_YET

    @property
    def row_id(self) -> int:
        """Return the number of the row; raises `NotFound` where there can be none such."""
        if not (self.key.isascii() and self.key.isdecimal() and len(self.key) <= _MOST_DIGITS):
            raise NotFound(f"'{visible(self.key)}' is not the number of a row.", next_step="open it from a list")
        return int(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActOutcome:
    """What was done, or would be: for people, for programs, and where a browser goes on."""

    lines: Sequence[str] = ()
    alarming: Sequence[str] = ()
    columns: JsonValue
    where: str
    seen: object = None
    """What the person has seen who decides by it: the act is refused when that has changed."""
    filled: Mapping[str, Value] = field(default_factory=dict)
    """What a field says where nothing was filled in."""
    needed: frozenset[str] = frozenset()
    """The fields that are needed as things stand, besides those that always are."""
    planned: Intervention | None = None
    asked: RequestId | None = None
    """The request that asks for it, where it is not done yet."""


Carry: TypeAlias = Callable[[App, Wish], ActOutcome]
"""Carries a wish out, or looks what would be done."""
Asks: TypeAlias = Callable[[Wish], AskedAct]
"""Says a wish as a request to the leader."""


@dataclass(frozen=True, slots=True)
class ConsoleAct:
    """Something that people can do."""

    subject: Subject
    name: str
    says: str
    carry: Carry
    fields: tuple[FormField, ...] = ()
    needs_reason: bool = False
    takes_reason: bool = True
    makes_row: bool = False
    """Whether it is about no row that is there."""
    right: Right = Right.ACT
    asks: Asks | None = None
    """How it is asked for where the console may change no work; None where it inserts no more than it may."""
    next_steps: Mapping[str, str] = field(default_factory=dict)
    """By what an error says to type next on the command line, what to do with the fields instead."""

    def plan(self, app: App, wish: Wish) -> ActOutcome:
        """Return what a wish would do."""
        self.check_complete(wish)
        self._check_scope(app, wish)
        with self.by_fields():
            return self.carry(app, wish)

    @contextmanager
    def by_fields(self) -> Iterator[None]:
        """Let errors say what to do next by the fields of the act."""
        try:
            yield
        except BatchctlError as error:
            instead = self.next_steps.get(error.next_step or "")
            if instead is None:
                raise
            raise error.reworded(error.message, instead) from error

    def do(self, app: App, wish: Wish, seen: object = None) -> ActOutcome:
        """Do what a person wishes."""
        reason = needed_reason(wish.reason) if self.needs_reason else wish.reason
        self.check_complete(wish)
        self._check_scope(app, wish)
        wanted = replace(wish, reason=reason, dry_run=False, seen=seen)
        if self.asks is None or app.may_change_work:
            return self.carry(app, wanted)
        planned = self.carry(app, replace(wanted, dry_run=True))
        asked = Asker(app.actor(dry_run=False)).ask(self.asks(wanted))
        return replace(planned, asked=asked, columns=_as_done(planned.columns))

    def _check_scope(self, app: App, wish: Wish) -> None:
        if (tag := app.only_tag) is None:
            return
        match self.subject:
            case Subject.BATCHES:
                console_scope.check(app.transactions, tag, batch=wish.key)
            case Subject.INSTANCES:
                console_scope.check(app.transactions, tag, instance_id=InstanceId(wish.row_id))
            case Subject.INCIDENTS:
                console_scope.check(app.transactions, tag, incident_id=IncidentId(wish.row_id))
            case _:
                console_scope.check(app.transactions, tag)

    def is_complete(self, wish: Wish) -> bool:
        """Say whether all is filled in but the reason."""
        return all(each.name in wish.values for each in self.fields if each.is_needed)

    def check_complete(self, wish: Wish) -> None:
        """Refuse a wish that lacks something."""
        for each in self.fields:
            if each.is_needed and each.name not in wish.values:
                raise InvalidInput(f"{each.label} is left out ('{each.name}').", next_step="fill it in")

    def of_form(self, key: str, form: Mapping[str, str]) -> Wish:
        """Read a form; an empty field is one that was not filled in, and fields of other forms are left alone."""
        filled = {name: text for name, text in form.items() if text.strip()}
        values = {each.name: of_text(each, filled[each.name]) for each in self.fields if each.name in filled}
        return Wish(key, values, filled.get("reason"))

    def of_query(self, key: str, query: Mapping[str, str]) -> Wish:
        """Read a query, of which all members are fields."""
        known = {each.name: each for each in self.fields}
        for name in query:
            if name not in known:
                message = f"'{visible(name)}' is no field of this act.{did_you_mean(name, known)}"
                raise InvalidInput(message, next_step="leave it out")
        wish = Wish(key, {name: of_text(known[name], text) for name, text in query.items()})
        self.check_complete(wish)
        return wish

    def of_json(self, key: str, body: Mapping[str, JsonValue]) -> Wish:
        """Read an object; a member that is no field is refused, and null is one that is left out."""
        known = {each.name: each for each in self.fields}
        given = {name: value for name, value in body.items() if value is not None}
        for name in given:
            if name not in known and not (name == "reason" and self.takes_reason):
                meant = did_you_mean(name, [*known, "reason"])
                raise InvalidInput(f"'{visible(name)}' is no member of this request.{meant}", next_step="leave it out")
        reason = given.pop("reason", None)
        if reason is not None and not isinstance(reason, str):
            raise InvalidInput("'reason' is no text.", next_step="write it in quotes")
        return Wish(key, {name: _of_json(known[name], value) for name, value in given.items()}, reason)


def _as_done(columns: JsonValue) -> JsonValue:
    """Return what was planned as what it is once it is done."""
    return {**columns, "DryRun": False} if isinstance(columns, dict) and "DryRun" in columns else columns


def of_text(wanted: FormField, text: str) -> Value:
    """Read what was typed into a field; raises `InvalidInput`."""
    if wanted.kind is FieldKind.FLAG:
        return True
    if wanted.kind is FieldKind.NUMBER:
        return _number(wanted, text)
    return _chosen(wanted, text if wanted.kind is FieldKind.LONG else text.strip())


def _number(wanted: FormField, text: str) -> int:
    number = text.strip()
    if not (number.isascii() and number.isdecimal()):
        raise InvalidInput(f"{wanted.label}: '{visible(text)}' is no number.", next_step="write a whole number")
    # What is longer than any number that may be is not counted.
    digits = number.lstrip("0") or "0"
    if len(digits) > len(str(wanted.most)) or int(digits) > wanted.most:
        message = f"{wanted.label}: '{visible(text)}' is more than {wanted.most}."
        raise InvalidInput(message, next_step="write a smaller number")
    return int(digits)


def _of_json(wanted: FormField, value: JsonValue) -> Value:
    match wanted.kind, value:
        case FieldKind.FLAG, bool():
            return value
        case FieldKind.NUMBER, int() if not isinstance(value, bool) and 0 <= value <= wanted.most:
            return value
        case ((FieldKind.TEXT | FieldKind.LONG), str()):
            return _chosen(wanted, value)
        case _:
            pass
    kinds = {FieldKind.FLAG: "true or false", FieldKind.NUMBER: f"a whole number from 0 to {wanted.most}"}
    raise InvalidInput(f"'{wanted.name}' has to be {kinds.get(wanted.kind, 'a text')}.", next_step="correct it")


def _chosen(wanted: FormField, text: str) -> str:
    if wanted.choices and text not in wanted.choices:
        message = f"{wanted.label}: '{visible(text)}' is none of what can be chosen."
        raise InvalidInput(message, next_step=f"one of {', '.join(wanted.choices)}")
    return text


def needed_reason(text: str | None) -> str:
    """Return the reason of an act that needs one."""
    if text is None or not text.strip():
        raise Refused("The reason is empty; say why, so that others understand it later.", next_step="fill it in")
    return text.strip()


_NOT_YET = "(dry run)"
"""The reason of what is only looked at: it is not kept."""
