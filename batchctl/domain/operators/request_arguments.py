"""Arguments of a row of `OperatorRequest`: which each verb takes, and what has to stand in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from batchctl.domain.errors import Refused
from batchctl.domain.operators.release import MOST_PER_MINUTE
from batchctl.domain.operators.request_verbs import OF_PLACES, OF_ROWS, Verb
from batchctl.domain.text import shorten, visible

AGAIN = "insert another row that says it"
SHOWN = 100
"""How much of an unreadable text is shown in an answer."""
DATA = {f"data{at}": f"Data{at}" for at in range(1, 7)}
FROM, TO, THROTTLE, STATUS, MARK = "from", "to", "throttle", "status", "mark"
INCIDENT, FOR = "incident", "for"
FILE, SCHEDULE, BACKFILL = "file", "schedule", "backfill"
HOST, POOL = "host", "pool"
MOST_OPEN, MISSED, SURE = "most_open", "missed", "sure"
_NUMBERS = dict.fromkeys((FROM, "id", INCIDENT, FILE, BACKFILL), 2**63 - 1) | {
    THROTTLE: MOST_PER_MINUTE,
    MOST_OPEN: 2**31 - 1,
}
"""The arguments that are numbers, with their greatest values."""
_FLAGS = {MISSED, SURE}
_RELEASE = '"release" with all, latest or none, "throttle" with how many may start a minute'
_OF_INCIDENT = '"incident" with its number'
_STANDS = '"status" with the one in which it has to stand still, "mark" with the one that it has to have still'


@dataclass(frozen=True, slots=True)
class Takes:
    """Which arguments a verb takes, what they are called for people, and an example."""

    known: frozenset[str]
    wording: str
    example: str


_OF_INSTANCE = Takes(frozenset({STATUS, MARK}), _STANDS, '{"status": "failed"}')
TAKES: Mapping[Verb, Takes] = {
    Verb.RERUN: Takes(
        frozenset({FROM, STATUS, MARK, *DATA}),
        f'"from" with the number of a step, Data1 to Data6 with a text or null, and {_STANDS}',
        '{"from": 20, "Data3": "2026-11-01"}',
    ),
    **dict.fromkeys((Verb.SKIP, Verb.PAUSE, Verb.RESUME, Verb.CONFIRM, Verb.REFUSE), _OF_INSTANCE),
    Verb.CANCEL: Takes(
        frozenset({STATUS, MARK, BACKFILL}), f'{_STANDS}, or "backfill" with the number of one', '{"backfill": 2}'
    ),
    Verb.ENABLE: Takes(frozenset({"release", THROTTLE}), _RELEASE, '{"release": "latest"}'),
    Verb.FREEZE: Takes(
        frozenset({"tag", "until"}),
        '"tag" with the name of a tag, "until" with a time or a length of time',
        '{"tag": "nightly", "until": "2h"}',
    ),
    Verb.THAW: Takes(
        frozenset({"tag", "id", "release", THROTTLE}),
        f'"tag" with the name of a tag, "id" with the number of a freeze, {_RELEASE}',
        '{"tag": "nightly", "release": "latest"}',
    ),
    Verb.ACKNOWLEDGE: Takes(frozenset({INCIDENT}), _OF_INCIDENT, '{"incident": 7}'),
    Verb.SNOOZE: Takes(
        frozenset({INCIDENT, FOR}), f'{_OF_INCIDENT}, "for" with a length of time', '{"incident": 7, "for": "2h"}'
    ),
    Verb.NOTE: Takes(frozenset({INCIDENT}), _OF_INCIDENT, '{"incident": 7}'),
    **dict.fromkeys(OF_ROWS, Takes(frozenset({FILE}), '"file" with the number of a FileProcess row', '{"file": 9}')),
    **dict.fromkeys(
        OF_PLACES,
        Takes(
            frozenset({HOST, POOL}), '"host" with the name of a host, "pool" with that of a pool', '{"host": "etl2"}'
        ),
    ),
    Verb.RUN: Takes(frozenset({SCHEDULE}), '"schedule" with its name', '{"schedule": "nightly"}'),
    Verb.BACKFILL: Takes(
        frozenset({SCHEDULE, FROM, TO, MOST_OPEN, MISSED, SURE}),
        '"schedule" with its name, "from" and "to" with a day or a time, "most_open" with a number,'
        ' "missed" and "sure" with true',
        '{"schedule": "nightly", "from": "2026-11-01", "to": "2026-11-03"}',
    ),
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """The members of Arguments, their names in lower case."""

    members: Mapping[str, object]

    def number(self, name: str) -> int | None:
        """Return a number; None where it is left out."""
        value = self.members.get(name)
        return value if isinstance(value, int) else None

    def text(self, name: str) -> str | None:
        """Return a text; None where it is left out."""
        value = self.members.get(name)
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool:
        """Say whether something is true."""
        return self.members.get(name) is True


def arguments_of(verb: Verb, text: str | None) -> Arguments:
    """Read Arguments; refuse what the verb does not take."""
    if text is None or not text.strip():
        return Arguments({})
    takes = TAKES.get(verb)
    if takes is None:
        raise Refused(f"'{verb}' takes no Arguments.", next_step=AGAIN)
    try:
        given = json.loads(text, object_pairs_hook=_members)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        message = f"Arguments '{visible(shorten(text, SHOWN))}' is no JSON object."
        raise Refused(message, next_step=f"{AGAIN}, such as {takes.example}")
    found = {name.strip().lower(): value for name, value in given.items()}
    for name, value in given.items():
        called, shown = name.strip().lower(), visible(shorten(name, SHOWN))
        if called not in takes.known:
            raise Refused(f"Arguments: '{shown}' is none of {takes.wording}.", next_step=AGAIN)
        wanted = _wanted(verb, called)
        if not _is_fit(wanted, called, value):
            raise Refused(f"Arguments: '{shown}' has to be {wanted}.", next_step=AGAIN)
    return Arguments(found)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of an object; refuse a name that stands there twice, as either could be meant."""
    names = [name.strip().lower() for name, _ in pairs]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Refused(f"Arguments: '{visible(shorten(name, SHOWN))}' stands there twice.", next_step=AGAIN)
    return dict(pairs)


_NUMBER, _FLAG, _TEXT = "a whole number without quotes, ", "true or false", "a text in quotes"


def _wanted(verb: Verb, name: str) -> str:
    """Say what an argument has to be."""
    if name in _FLAGS:
        return _FLAG
    if name in _NUMBERS and (verb, name) != (Verb.BACKFILL, FROM):
        return _NUMBER + (f"{_NUMBERS[name]} at most" if name in {THROTTLE, MOST_OPEN} else "that a row has")
    return f"{_TEXT}, or null" if name in DATA else _TEXT


def _is_fit(wanted: str, name: str, value: object) -> bool:
    if wanted == _FLAG:
        return isinstance(value, bool)
    if wanted.startswith(_NUMBER):
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return value <= _NUMBERS[name] and (name == FROM or value > 0)
    return isinstance(value, str) or (value is None and name in DATA)
