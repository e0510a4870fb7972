"""What applying a file would change, and where it would overwrite what somebody has changed since: decided purely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from batchctl.domain.definitions.defined import ENABLED, Defined, Place, Shape, Value, flat


class Act(StrEnum):
    """What is done to a definition."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A value that is written, or removed with its row."""

    place: str
    """The row below the definition, such as `ProcessControl 10`; empty for its own."""
    column: str
    before: Value
    after: Value

    @property
    def where(self) -> str:
        """Name it within its definition."""
        return f"{self.place}.{self.column}" if self.place else self.column


@dataclass(frozen=True, slots=True)
class ColumnConflict(ColumnChange):
    """A value that somebody has changed since, and that would be overwritten."""

    base: Value
    """Its value when it was last applied."""
    is_base_known: bool


@dataclass(frozen=True, slots=True)
class Base:
    """A definition when a file last agreed with it, as far as that is known."""

    defined: Defined | None = None
    """What was applied last."""
    is_theirs: bool = False
    """True when it is known to be as it stands in the database."""

    @property
    def is_known(self) -> bool:
        """Say whether it is known what somebody has changed since."""
        return self.is_theirs or self.defined is not None


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """What becomes of one definition."""

    kind: str
    name: str
    act: Act
    columns: tuple[ColumnChange, ...]
    conflicts: tuple[ColumnConflict, ...]
    added: tuple[str, ...]
    """The rows below it that are new, such as `ProcessControl 10`."""
    removed: tuple[str, ...]


def change_of(shape: Shape, theirs: Defined | None, yours: Defined | None, base: Base) -> DefinitionChange | None:
    """Compare a definition as it stands with that of a file, or with none; None where they are the same."""
    stands, wanted = flat(shape, theirs), flat(shape, yours)
    _leave_to_operators(stands, wanted, yours)
    columns = tuple(
        ColumnChange(*place, stands.get(place), wanted.get(place))
        for place in {**stands, **wanted}
        if stands.get(place) != wanted.get(place)
    )
    one = yours or theirs
    if one is None or (theirs is not None and yours is not None and not columns):
        return None
    act = Act.ADD if theirs is None else Act.REMOVE if yours is None else Act.CHANGE
    conflicts = () if base.is_theirs else tuple(_conflicts(shape, theirs, yours, base, columns))
    before, after = dict.fromkeys(place for place, _ in stands), dict.fromkeys(place for place, _ in wanted)
    added, removed = (
        (place for place in after if place not in before),
        (place for place in before if place not in after),
    )
    return DefinitionChange(one.kind, one.name, act, columns, conflicts, tuple(added), tuple(removed))


def as_wanted(shape: Shape, theirs: Defined | None, yours: Defined) -> Defined:
    """Return what is to be written: if the file does not say whether it is enabled, that stays as it is."""
    if theirs is None or ENABLED in yours.columns or ENABLED not in shape.columns:
        return yours
    stays = {ENABLED: theirs.columns[ENABLED]} if ENABLED in theirs.columns else {}
    return Defined(yours.kind, yours.name, {**yours.columns, **stays}, yours.parts)


def _leave_to_operators(stands: Mapping[Place, Value], wanted: dict[Place, Value], yours: Defined | None) -> None:
    place = ("", ENABLED)
    if yours is not None and ENABLED not in yours.columns and place in wanted and place in stands:
        wanted[place] = stands[place]


def _conflicts(
    shape: Shape, theirs: Defined | None, yours: Defined | None, base: Base, columns: tuple[ColumnChange, ...]
) -> Iterator[ColumnConflict]:
    if theirs is None:
        if base.defined is not None:
            # Somebody has deleted it, and it would be there again.
            yield ColumnConflict("", shape.key, None, base.defined.name, base.defined.name, is_base_known=True)
        return
    was = flat(shape, base.defined)
    if yours is None and not base.is_known:
        return
    for one in columns:
        place = (one.place, one.column)
        if place == ("", ENABLED) and (base.defined is None or ENABLED not in base.defined.columns):
            continue  # What was in no file before cannot conflict with one.
        if base.defined is None or was.get(place) != one.before:
            yield ColumnConflict(*place, one.before, one.after, was.get(place), is_base_known=base.defined is not None)
