"""Pools: which there are, who serves them; draining a host or a pool before something is done there, and ending that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from batchctl.domain.errors import Conflict, InvalidInput, NotFound, Refused
from batchctl.domain.operators import pools
from batchctl.domain.operators.pools import MAKE, Drain, DrainId, Place, Pools, to_serve
from batchctl.domain.rows import DEFAULT_POOL
from batchctl.domain.text import did_you_mean, fitting, visible
from batchctl.operations import shown_columns
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Transactions
from batchctl.store import Connection, controllers, pool_rows


def servable(connection: Connection, names: Collection[str], with_agents: Collection[str]) -> frozenset[str]:
    """Return which of the pools that a controller is to serve it can serve; raises `Refused` where that is none.

    Refuse a pool that is not there: its name is probably mistyped, and its steps would wait.
    """
    known = pool_rows.known(connection)
    for name in pools.unknown(names, known):
        near = visible(did_you_mean(name, known.by_name))
        raise NotFound(f"There is no pool '{visible(name)}'.{near}", next_step=MAKE)
    if not (found := known.servable(names, with_agents)):
        name = min(names)
        message = (
            f"Agents carry the steps of pool '{visible(name)}', and batchctl.toml does not say how they are reached."
        )
        raise Refused(message, next_step=to_serve(name, known.by_name[name]))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What was drained, or would be."""

    drain: Drain
    is_new: bool
    under_way: int
    """How many instances have steps under way there."""
    dry_run: bool
    unknown_host: str | None
    """That no controller has been on the host; None where one has, or a pool is drained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undrained:
    """Which drains were ended, or would be."""

    place: Place
    drains: tuple[Drain, ...]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Drainer:
    """Drains hosts and pools for a person."""

    actor: Actor

    def drain(self, name: str | None, place: Place | None, *, reason: str) -> Drained:
        """Let nothing new begin on a host or in a pool; what is drained already stays as it is, unaudited."""
        checked_reason(reason)

        def act(connection: Connection) -> Drained:
            if not self.actor.dry_run:
                pool_rows.lock_drains(connection)
            known = pool_rows.known(connection)
            where = _checked(connection, known, place) if place is not None else _meant(connection, known, name or "")
            before = next((one for one in known.drains if one.covers(where)), None)
            made = before or Drain(
                drain_id=DrainId(0),
                host=where.host,
                pool=where.pool,
                reason=reason,
                actor=fitting(self.actor.user),
                since=self.actor.clock.now(),
            )
            if before is None and not self.actor.dry_run:
                made = replace(made, drain_id=pool_rows.add_drain(connection, made))
                self.actor.note(connection, "drain", target(made), reason, {}, shown_columns.of(made))
            under_way = len(claimed_at(connection, where))
            return Drained(
                drain=made,
                is_new=before is None,
                under_way=under_way,
                dry_run=self.actor.dry_run,
                unknown_host=_unknown_host(connection, where),
            )

        return self.actor.act(act)

    def undrain(self, name: str | None, place: Place | None, *, reason: str) -> Undrained:
        """End every drain of a host or a pool; what has waited may begin there again."""
        checked_reason(reason)

        def act(connection: Connection) -> Undrained:
            now, known = self.actor.clock.now(), pool_rows.known(connection)
            where = place if place is not None else _meant(connection, known, name or "")
            found = [one for one in known.drains if one.covers(where)]
            for drain in found if not self.actor.dry_run else ():
                if not pool_rows.end_drain(connection, drain.drain_id, fitting(self.actor.user), now):
                    message = f"Somebody has just ended {target(drain)}."
                    raise Conflict(message)
                done = replace(drain, undrained_at=now, undrained_by=fitting(self.actor.user))
                was, became = shown_columns.changes(shown_columns.of(drain), shown_columns.of(done))
                self.actor.note(connection, "undrain", target(drain), reason, was, became)
            return Undrained(place=where, drains=tuple(found), dry_run=self.actor.dry_run)

        return self.actor.act(act)


def target(drain: Drain) -> str:
    """Return how the audit log names a drain."""
    return f"Drain:{drain.drain_id}"


def drained(transactions: Transactions) -> tuple[Drain, ...]:
    """Return the drains that hold."""
    with transactions.read() as connection:
        return tuple(pool_rows.known(connection).drains)


def claimed_at(connection: Connection, place: Place) -> Sequence[int]:
    """Return the instances that have a step under way on a host or in a pool."""
    if place.host is not None:
        return pool_rows.claimed_on(connection, place.host)
    return pool_rows.claimed_in(connection, place.pool or DEFAULT_POOL)


def place_named(transactions: Transactions, name: str) -> Place:
    """Return the host or the pool that a name means; refuse one that means neither, or both."""
    with transactions.read() as connection:
        return _meant(connection, pool_rows.known(connection), name)


def _meant(connection: Connection, known: Pools, name: str) -> Place:
    """Return the host or the pool that a name means; refuse one that means neither, or both."""
    hosts, names = _places(connection, known)
    host, pool = hosts.get(name.strip().lower()), name.strip().lower()
    if host is not None and pool in names:
        message = f"'{visible(name)}' is a host and a pool."
        raise InvalidInput(message, next_step=f"the same with {Place(host).option}, or with {Place(None, pool).option}")
    if host is not None:
        return Place(host)
    if pool in names:
        return Place(None, pool)
    near = visible(did_you_mean(name, {*hosts.values(), *names}))
    message = f"No controller of the last days ran on a host '{visible(name)}', and there is no such pool.{near}"
    raise NotFound(
        message, next_step="batchctl controllers; batchctl pools   (a host without controllers: --host NAME)"
    )


def _checked(connection: Connection, known: Pools, place: Place) -> Place:
    """Return a place as it is written down; a pool has to be there, a host may run its first controller later."""
    if place.host is not None:
        hosts, _ = _places(connection, known)
        return Place(hosts.get(place.host.strip().lower(), place.host.strip()))
    name = (place.pool or "").strip().lower()
    _, names = _places(connection, known)
    if name not in names:
        near = visible(did_you_mean(name, names))
        raise NotFound(f"There is no pool '{visible(name)}'.{near}", next_step=MAKE)
    return Place(None, name)


def _unknown_host(connection: Connection, place: Place) -> str | None:
    """Say that no controller has been on a host, whose name may be misspelt, or whose first controller comes later."""
    hosts = {row.host.lower(): row.host for row in controllers.everyone(connection)}
    if place.host is None or place.host.lower() in hosts:
        return None
    return f"No controller has been on {place} in the last days.{visible(did_you_mean(place.host, hosts.values()))}"


def _places(connection: Connection, known: Pools) -> tuple[Mapping[str, str], set[str]]:
    """Return the hosts of the controllers of the last days by their names in small letters, and the pools."""
    hosts = {row.host.lower(): row.host for row in controllers.everyone(connection)}
    hosts |= {one.host.lower(): one.host for one in known.drains if one.host is not None}
    return hosts, {DEFAULT_POOL, *known.by_name}
