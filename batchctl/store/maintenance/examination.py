"""What `doctor` asks a database of any kind, and the databases that steps work in, opened only to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from batchctl.domain import urls
from batchctl.domain.errors import ConfigurationError, DatabaseRefused
from batchctl.domain.outcomes import HealthFinding, MissingRights, Result
from batchctl.domain.text import visible
from batchctl.store.dialects import dialect_of, official
from batchctl.store.dialects.health import NAMES, Health, health_of
from batchctl.store.engine import discreet
from batchctl.store.maintenance.roles import KEPT_FOR_CONSOLE
from batchctl.store.tables import metadata

_DEFINED = (
    "AppliedDefinition",
    "BatchDependency",
    "BatchResource",
    "Calendar",
    "CalendarDay",
    "Pool",
    "ProcessControl",
    "Resource",
    "Setting",
    "Variable",
)
"""What people set, and the engine only reads."""
_STANDING = ("DataTrigger", "FileWatch", "OperatorRequest", "ProcessBatch", "Schedule")
"""What people set, with columns in which the engine keeps how it stands."""
_ADDED_TO = ("AuditLog", "AuditSeal", "BatchVersion", "SchedulerLog")
_NEEDED = {
    **dict.fromkeys(sorted({*metadata.tables} - {*KEPT_FOR_CONSOLE}), ("SELECT", "INSERT", "UPDATE")),
    **dict.fromkeys(_DEFINED, ("SELECT",)),
    **dict.fromkeys(_STANDING, ("SELECT", "UPDATE")),
    **dict.fromkeys(_ADDED_TO, ("SELECT", "INSERT")),
    "Controller": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    "ControllerPool": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    **dict.fromkeys(("Note", "StepOutput"), ("SELECT", "INSERT", "DELETE")),
    "FileWatchSeen": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    "ZoneOffset": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    "NamedLock": ("SELECT", "INSERT"),
    "alembic_version": ("SELECT",),
}
_PURGED = dict.fromkeys(
    (
        *("AlertDelivery", "AuditLog", "BatchCompletion", "BatchControl", "BatchProcessHistory", "FileProcess"),
        *("Incident", "OperatorRequest", "SchedulerLog"),
    ),
    ("DELETE",),
)


def now(connection: Connection) -> datetime | None:
    """Return the database's time; None when this host's clock is the database's."""
    return _of(connection).now(connection)


def check_may_make_tables(connection: Connection) -> None:
    """Refuse, naming the right that is missing, a user who may not make tables."""
    found = _of(connection).blocker(connection, making=True)
    if found is not None:
        raise DatabaseRefused(found.message, next_step=found.next_step)


def blocker(connection: Connection) -> HealthFinding | None:
    """Say what keeps this user from seeing the tables, or from making them where they are not."""
    return _of(connection).blocker(connection, making=False)


def rights(connection: Connection) -> list[HealthFinding]:
    """Say whether every table of batchctl can be read and written."""
    kind = _of(connection)
    unpurged = [one for one in kind.lacking(connection, _PURGED) if one.privileges == "DELETE"]
    return [*kind.rights(connection, _NEEDED), *map(_unpurged, unpurged)]


def _unpurged(lacking: MissingRights) -> HealthFinding:
    said = f"{lacking.user} has no right to {lacking.privileges} on {lacking.tables}: nothing is purged there."
    return HealthFinding(
        "retention", Result.WARN, said, f"if old rows are to go, as the tables' owner: {lacking.grant}"
    )


def target_rights(connection: Connection) -> list[HealthFinding]:
    """Say as which user steps work in a target database, and whether they can."""
    return _of(connection).target_rights(connection)


def has_procedure(connection: Connection, name: str) -> bool:
    """Say whether there is a procedure, or a function, that a step may mean by a name."""
    return _of(connection).has_procedure(connection, name)


def has_populating_procedure(connection: Connection, name: str) -> bool:
    """Say whether there is the procedure of a populator, its name as it is written or in small letters."""
    quoted = connection.dialect.identifier_preparer.quote_identifier
    return any(has_procedure(connection, quoted(one)) for one in (name, name.lower()))


def durability(connection: Connection) -> list[HealthFinding]:
    """Say whether what was committed stays."""
    return _of(connection).durability(connection)


def open_target(url: str, directory: Path) -> Engine:
    """Return an engine for a target database; raises `ConfigurationError` when its driver is not there."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        message = "The url is not a database URL."
        raise ConfigurationError(message, next_step="write one such as sqlite:///warehouse.db") from None
    name, plus, driver = parsed.drivername.partition("+")
    parsed = parsed.set(drivername=f"{official(name)}{plus}{driver}")
    kind = health_of(official(name))
    if kind is None:
        message = f"The url names {visible(name)}; steps work in {', '.join(NAMES)}."
        next_step = "write postgresql:// for postgres://" if name == "postgres" else "correct the url"
        raise ConfigurationError(message, next_step=next_step)
    if parsed.drivername not in kind.DRIVERS:
        message = f"The url names the driver {visible(parsed.drivername)}; steps use {' or '.join(kind.DRIVERS)}."
        raise ConfigurationError(message, next_step="correct the url")
    try:
        passwords = urls.passwords_in(url)
        return discreet(kind.open_target(parsed, directory), lambda: passwords)
    except (ImportError, OSError) as error:
        said = visible(" ".join(str(error).split()))
        raise ConfigurationError(f"The driver cannot be loaded: {said}.", next_step=kind.INSTALL) from None
    except ArgumentError:
        message = f"This SQLAlchemy does not know the driver {visible(parsed.drivername)}."
        raise ConfigurationError(message, next_step=kind.INSTALL) from None


@contextmanager
def looking_at(engine: Engine, name: str) -> Iterator[Connection]:
    """Lend a connection of a name; raises `DatabaseRefused` in the driver's own words."""
    try:
        with engine.connect() as connection:
            yield connection
    except SQLAlchemyError as error:
        said = visible(str(getattr(error, "orig", None) or error).strip().partition("\n")[0])
        raise DatabaseRefused(f"{said}.", next_step=_to_correct(engine, name, error)) from error
    finally:
        engine.dispose()


def _to_correct(engine: Engine, name: str, error: Exception) -> str | None:
    """Return what to correct in a connection's URL: what the dialect says about database_url, if it does."""
    next_step = dialect_of(engine).database_refused(error, name).next_step or ""
    of_control = "database_url"
    return next_step.replace(of_control, f"connections.{visible(name)}") if of_control in next_step else None


def place_of(engine: Engine) -> str:
    """Name a database for a person, without any password."""
    file = engine.get_execution_options().get("batchctl_file")
    if file is not None:
        return visible(str(file))
    url = engine.url
    if url.get_backend_name() == "postgresql":
        return dialect_of(engine).place_of(engine)
    if url.host is None:
        return visible(url.database or url.get_backend_name())
    return visible(f"{url.database or url.username} on {url.host}{f':{url.port}' if url.port else ''}")


def _of(connection: Connection) -> Health:
    kind = health_of(connection.dialect.name)
    if kind is None:
        raise NotImplementedError(connection.dialect.name)
    return kind
