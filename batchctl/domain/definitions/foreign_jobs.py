"""Jobs of other schedulers, as they were read from their files, and what became of all that they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from batchctl.domain.definitions.defined import Defined
from batchctl.domain.values import named_value, value


class MappedHow(StrEnum):
    """How much of a job could be said in batchctl."""

    WHOLE = "mapped"
    WITH_FINDINGS = "mapped with findings"
    NOT = "unmapped"


@value
class Mapped:
    """One thing that a job says, and what became of it."""

    parameter: str
    written: str
    """How the file has it."""
    became: str | None = None
    """The table and column that say it now; None where it says nothing that batchctl has to know, or a finding is about it."""
    finding: str | None = None
    """What a person has to know or to decide about it."""
    note: str | None = None
    """What is the same for all jobs that say it."""


@named_value
class ForeignJob:
    """A job of another scheduler."""

    where: str
    """The file, and where in it the job stands."""
    name: str
    """The name of its batch."""
    mapped: tuple[Mapped, ...]
    """All that it says, in the order of the file."""
    defined: tuple[Defined, ...] = ()
    """Its batch and what starts it; nothing where it is not mapped."""

    @property
    def how(self) -> MappedHow:
        """Say how much of it is mapped."""
        if not self.defined:
            return MappedHow.NOT
        return MappedHow.WITH_FINDINGS if self.findings else MappedHow.WHOLE

    @property
    def findings(self) -> Sequence[str]:
        """Return what a person has to know or to decide."""
        return [f"{one.parameter}: {one.finding}" for one in self.mapped if one.finding is not None]


def braced(text: str) -> str:
    """Write a text in which nothing is a placeholder."""
    return text.replace("{", "{{").replace("}", "}}")


def distinct(name: str, taken: Iterable[str]) -> str:
    """Return a name that no other batch has, whose names differ in more than letter case."""
    known = {one.lower() for one in taken}
    if name.lower() not in known:
        return name
    number = 2
    while f"{name} {number}".lower() in known:
        number += 1
    return f"{name} {number}"
