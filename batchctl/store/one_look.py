"""One look at the database: within it, what is asked twice is asked once, and what is asked ahead goes out together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection

Result = TypeVar("Result")


class Askable(Protocol):
    """A SELECT that can be asked before its rows are wanted."""

    def ask(self, connection: Connection, **where: object) -> Callable[[], list[Any]]:
        """Ask; return a function that returns the rows."""


Ahead: TypeAlias = tuple[Askable, Mapping[str, object]]
"""What is asked ahead, and with which values."""


@dataclass(slots=True)
class KeptAnswer:
    """An answer that is taken when it is first wanted, and given again after that."""

    take: Callable[[], list[Any]]
    _rows: list[Any] | None = None

    def __call__(self) -> list[Any]:
        """Return the rows."""
        if self._rows is None:
            self._rows = self.take()
        return [*self._rows]


@dataclass(slots=True)
class Look:
    """What was asked and made of the answers since it began."""

    answers: dict[Hashable, KeptAnswer] = field(default_factory=dict)
    made: dict[Hashable, Any] = field(default_factory=dict)


_CURRENT: ContextVar[Look | None] = ContextVar("batchctl_look", default=None)
current = _CURRENT.get


@contextmanager
def one_look() -> Iterator[None]:
    """Begin a look, unless one is under way; it is for what only reads."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(Look())
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def looking_anew() -> Iterator[None]:
    """Let a transaction ask everything itself; afterwards the look begins again, for something may have been written."""
    look = _CURRENT.get()
    if look is None:
        yield
        return
    token = _CURRENT.set(None)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        look.answers.clear()
        look.made.clear()


def ask_ahead(connection: Connection, *asked: Ahead) -> None:
    """Ask what this look needs in any case: on a server all of it goes there and back together."""
    if _CURRENT.get() is not None:
        for statement, where in asked:
            statement.ask(connection, **where)


def once(make: Callable[..., Result], *given: Any) -> Result:
    """Return what `make` returns, which within a look is called once with the same; its result is not to be changed."""
    look = _CURRENT.get()
    if look is None:
        return make(*given)
    key = (make, *given)
    if key not in look.made:
        look.made[key] = make(*given)
    found: Result = look.made[key]
    return found
