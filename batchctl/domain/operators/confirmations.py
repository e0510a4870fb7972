"""Questions that steps ask people: who may answer, until when, and what follows without an answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, NewType

from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import ConfirmationAnswer, OnTimeout
from batchctl.domain.text import NAME_LIMIT, did_you_mean, shorten, visible
from batchctl.domain.values import named_value, value

ConfirmationId = NewType("ConfirmationId", int)

LONGEST_QUESTION = 2000
"""Characters of a question that are kept: it is read on a terminal at night."""
ANYONE = "anyone who may act"
ROLE = "role:"
"""How the name of a database role begins in Data2."""
_THEN = {"fail": OnTimeout.FAIL, "go on": OnTimeout.GO_ON, "go_on": OnTimeout.GO_ON, "incident": OnTimeout.INCIDENT}
_FOLLOWS = {
    OnTimeout.FAIL: "then the step fails",
    OnTimeout.GO_ON: "then it goes on without an answer",
    OnTimeout.INCIDENT: "then an incident is opened",
}


class UnfitTimeout(ValueError):
    """A Data4 that says no timeout."""


@value
class AnswerTime:
    """How long a question waits for its answer, and what follows then."""

    length: timedelta
    then: OnTimeout


@named_value
class Confirmation:
    """A `Confirmation` row: a question that was asked, and its answer once there is one."""

    confirmation_id: Annotated[ConfirmationId, "Confirmation_id"]
    instance_id: InstanceId
    seq: int
    question: str
    who: str | None
    evidence: str | None
    due: Annotated[datetime | None, "DueTime"]
    on_timeout: OnTimeout | None
    answer: ConfirmationAnswer | None = None
    answered_at: Annotated[datetime | None, "AnsweredTime"] = None
    answered_by: str | None = None
    reason: str | None = None
    asked_at: Annotated[datetime, "z_inserted"]

    @property
    def mark(self) -> str:
        """Return a short text that no other question has."""
        return f"question {self.confirmation_id}"

    @property
    def may_answer(self) -> str:
        """Say who may answer."""
        return ANYONE if self.who is None else visible(self.who)

    @property
    def until(self) -> str | None:
        """Say until when it waits, and what follows then; None where it waits for ever."""
        if self.due is None or self.on_timeout is None:
            return None
        return f"{_minute(self.due)}, {_FOLLOWS[self.on_timeout]}"

    @property
    def wording(self) -> str:
        """Say what is asked, of whom, since when and until when."""
        times = f"since {_minute(self.asked_at)}" + ("" if self.until is None else f", until {self.until}")
        return f"'{shorten(visible(self.question), SHOWN)}' ({self.may_answer}; {times})"

    @property
    def answering(self) -> str:
        """Say what to type to answer it."""
        return f"batchctl confirm {self.instance_id}   (or: batchctl refuse {self.instance_id} --reason ...)"

    @property
    def how_answered(self) -> str:
        """Say who answered it, when and what."""
        by = visible(self.answered_by or "batchctl")
        at = "" if self.answered_at is None else f" at {_minute(self.answered_at)}"
        reason = "" if self.reason is None else f": {visible(self.reason)}"
        return f"{self.answer or 'not answered'} by {by}{at}{reason}"


SHOWN = 200
"""Characters of a question that stand in a list or a message."""


def answer_time(text: str) -> AnswerTime | None:
    """Read Data4, such as `4h go on`; None where it is empty. Raises `UnfitTimeout`."""
    length, _, then = text.strip().partition(" ")
    if not length:
        return None
    read, word = length_of(length), " ".join(then.lower().split()) or "fail"
    if read is None:
        shown = shorten(visible(length), 40)
        raise UnfitTimeout(f"'{shown}' is no length of time: write it as 90s, 30m, 2h or 1d, of a year at most")
    if word not in _THEN:
        meant = did_you_mean(shorten(word, 40), [each for each in _THEN if "_" not in each])
        raise UnfitTimeout(f"'{shorten(visible(word), 40)}' is none of fail, go on, incident.{meant}")
    return AnswerTime(read, _THEN[word])


def unfit_names(text: str) -> str | None:
    """Say why a text does not name those who may answer; None when it does, or names no one."""
    if len(text) > NAME_LIMIT:
        return f"it has {len(text)} characters, and {NAME_LIMIT} are the most: name a database role as role:NAME"
    if text.strip() and not all(one.strip().casefold().removeprefix(ROLE).strip() for one in text.split(",")):
        return "a name is missing between commas"
    return None


def names(who: str | None) -> Iterator[str]:
    """Yield the people who may answer, in lower case."""
    yield from (one for one in _listed(who) if not one.startswith(ROLE))


def roles(who: str | None) -> Iterator[str]:
    """Yield the database roles whose members may answer."""
    yield from (one.removeprefix(ROLE).strip() for one in _listed(who) if one.startswith(ROLE))


def _listed(who: str | None) -> list[str]:
    return [one.strip().casefold() for one in (who or "").split(",") if one.strip()]


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
