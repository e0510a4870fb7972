"""The last runs of each step: from the newest attempts of all batches, and by batch where these hold too few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from batchctl.domain.alerting.incident_causes import Lengths, RecentAttempt
from batchctl.domain.rows import BatchId, HistoryEntry, InstanceId
from batchctl.domain.status import HistoryStatus
from batchctl.store import Connection
from batchctl.store.alerting import evidence
from batchctl.store.dependencies import live

NEWEST = 1000
"""Attempts of all batches that are looked at."""
NEAR = 3000
"""The newest attempts of all batches from which is read how long each step takes."""
RUNS = 20
"""How many runs of a single batch are read where the newest attempts of all hold too few of it."""


@dataclass(slots=True)
class StepPast:
    """What a step is compared with. What was asked of a batch is remembered for as long as nothing of it is newer."""

    least: int
    """How many runs say what is usual."""
    attempts: list[RecentAttempt] = field(default_factory=list)
    """The newest first."""
    lengths: Lengths = field(default_factory=dict)
    """How long the last successes at each step took."""
    _near: Lengths = field(default_factory=dict)
    _asked: dict[BatchId, tuple[int, list[RecentAttempt]]] = field(default_factory=dict)
    """Up to which attempt a batch was read, and what was found."""
    _is_all: bool = True
    """True where the newest attempts of all batches are all the attempts there are."""

    def read_lengths(self, connection: Connection) -> None:
        """Read how long steps take, as far as the newest attempts of all batches show it."""
        self._near = live.lengths(connection, NEAR)
        self._put_together()

    def read_attempts(self, connection: Connection) -> None:
        """Read the newest attempts of all, and the last ones of batches of which these hold too few."""
        newest = evidence.attempts(connection, NEWEST)
        self._is_all = len(newest) < NEWEST
        met: dict[BatchId, set[InstanceId]] = {}
        up_to: dict[BatchId, int] = {}
        for one in newest:
            met.setdefault(one.batch_id, set()).add(one.instance_id)
            up_to.setdefault(one.batch_id, one.history_id)
        rare = {batch: up_to[batch] for batch, runs in met.items() if len(runs) < self.least}
        self._asked = {batch: answer for batch, answer in self._asked.items() if batch in rare}
        self._ask(connection, rare)
        known = {one.history_id for one in newest}
        older = [one for _, runs in self._asked.values() for one in runs if one.history_id not in known]
        self.attempts = sorted([*newest, *older], key=lambda one: one.history_id, reverse=True)

    def ask_of(self, connection: Connection, entries: Iterable[HistoryEntry]) -> None:
        """Read how long steps take of those batches that have something under way and of which too little is known."""
        lacking = {
            entry.batch_id: entry.history_id
            for entry in entries
            if entry.batch_id not in self._asked and len(self.lengths.get((entry.batch_id, entry.seq), ())) < self.least
        }
        self._ask(connection, lacking)

    def _ask(self, connection: Connection, batches: Mapping[BatchId, int]) -> None:
        if self._is_all:
            return
        for batch, up_to in batches.items():
            if batch not in self._asked or self._asked[batch][0] != up_to:
                self._asked[batch] = up_to, evidence.attempts_of(connection, batch, RUNS)
        self._put_together()

    def _put_together(self) -> None:
        if not self._asked:
            self.lengths = self._near
            return
        asked: dict[tuple[BatchId, int], list[timedelta]] = {}
        for _, runs in self._asked.values():
            for one in runs:
                if one.status is HistoryStatus.SUCCESS and one.ended_at is not None:
                    took = max(one.ended_at - one.started_at, timedelta(0))
                    asked.setdefault((one.batch_id, one.seq), []).append(took)
        more = {step: took for step, took in asked.items() if len(took) > len(self._near.get(step, ()))}
        self.lengths = {**self._near, **more}
