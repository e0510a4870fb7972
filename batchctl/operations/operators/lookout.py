"""Looks at the database again and again, and says what has changed since the look before."""

from __future__ import annotations

from dataclasses import dataclass, field

from batchctl.domain.operators.news import News, Traces, news_between
from batchctl.ports import Transactions
from batchctl.store.operators import traces
from batchctl.store.operators.traces import Newest


@dataclass
class Lookout:
    """Remembers the look before: what changes is told from that."""

    _before: Traces | None = None
    _since: list[Newest] = field(default_factory=list)
    """What was newest at the two looks before: what was begun before one of them may be committed after it."""

    def look(self, transactions: Transactions) -> News:
        """Look once."""
        with transactions.read() as connection:
            now, newest = traces.look(connection, self._since[0] if self._since else None)
        before, self._before = self._before, now
        self._since = [*self._since[-1:], newest]
        return news_between(before, now)
