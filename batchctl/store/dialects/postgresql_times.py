"""Times that PostgreSQL can hold and Python cannot, such as `infinity`: read as the nearest that can be reckoned with.

The driver would refuse them while rows are fetched, and with one row all others of the answer.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from psycopg import DataError, adapters
from psycopg.abc import AdaptContext
from psycopg.adapt import Loader

FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999000)  # noqa: DTZ001 - as the driver reads them: without zone


class _Timestamps(Loader):
    """Reads as the driver does, and goes on where that gives up.

    It is no subclass of the driver's own: for a subclass, the driver would take the class that it is derived from.
    """

    type_name: ClassVar[str] = "timestamp"
    first: ClassVar[datetime] = FIRST
    last: ClassVar[datetime] = LAST

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        self._load = _own(self.type_name)(oid, context).load

    def load(self, data: Any) -> datetime:
        try:
            found: datetime = self._load(data)
        except DataError:
            return self.first if _is_before_all(bytes(data)) else self.last
        return found


class _WithZone(_Timestamps):
    type_name = "timestamptz"
    first, last = FIRST.replace(tzinfo=UTC), LAST.replace(tzinfo=UTC)


def read_all_times(raw: Any) -> None:
    """Let a connection read whatever time stands in a row."""
    for loader in (_Timestamps, _WithZone):
        raw.adapters.register_loader(loader.type_name, loader)


def _own(type_name: str) -> Any:
    """Return what the driver reads a type with by default."""
    return adapters.get_loader(adapters.types[type_name].oid, Loader.format)


def _is_before_all(written: bytes) -> bool:
    return written.startswith(b"-") or written.endswith(b"BC")
