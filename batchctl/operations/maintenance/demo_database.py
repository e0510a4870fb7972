"""The database that a demo is given: whether the worked example can run there, and would disturb nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batchctl import config
from batchctl.domain import urls
from batchctl.domain.errors import BatchctlError, ConfigurationError, DatabaseRefused, Refused
from batchctl.domain.text import visible
from batchctl.store.maintenance import scripts

OPTION = "--database"
_ELSEWHERE = ("connections", "plugin_modules")
"""Settings whose variables would lead the example to a database or to code that is not its own."""
_AN_EMPTY_ONE = (
    "name an empty database, made for example with: createdb NAME; "
    "without --database and BATCHCTL_DATABASE_URL the demo makes SQLite files"
)


def check_environment(settings: Path) -> None:
    """Refuse variables that would lead the example elsewhere, or with which its settings could not be read."""
    variables = " ".join(config.variables_for(*_ELSEWHERE))
    if variables:
        message = f"The demo brings its own settings, which the environment would change: {variables}."
        raise Refused(message, next_step=f"unset {variables}")
    config.load(str(settings))


def check(url: str, warehouse: str) -> None:
    """Refuse a database that is not empty of what batchctl and the warehouse's script make, or where they cannot work."""
    _check_url(url)
    with _in_words_of_the_option():
        ground = scripts.look(url, Path(), warehouse)
    if ground.taken:
        message = f"The database {ground.place} is not empty: it holds {', '.join(map(visible, ground.taken))}."
        raise Refused(f"{message} The demo would mix with what is there.", next_step=_AN_EMPTY_ONE)
    if not ground.may_read_files:
        message = f"Role {visible(ground.role)} may not let the server read files, which is how the example loads them."
        grant = f"as a superuser: GRANT pg_read_server_files TO {ground.role};"
        raise Refused(message, next_step=visible(grant))


def check_reading(url: str, file: Path) -> None:
    """Refuse a folder whose files the server cannot read."""
    said = scripts.why_unreadable(url, Path(), file.resolve())
    if said is not None:
        message = f"The server cannot read the demo's files: {visible(said)}."
        raise Refused(
            message,
            next_step="on the server's own host, name a folder that its user may read: batchctl demo /tmp/NAME ...",
        )


def _check_url(url: str) -> None:
    if urls.references(url):
        message = f"{OPTION} refers to a secret, but the demo has no configuration that could say where it lies."
        next_step = (
            "leave the password out and set PGPASSWORD or a passfile, or give the whole URL in BATCHCTL_DATABASE_URL"
        )
        raise ConfigurationError(message, next_step=next_step)
    wrong = urls.unquoted_password(url)
    if wrong is not None:
        message = f"{OPTION}: {wrong.replace('write {secret:NAME}', 'set PGPASSWORD')}."
        raise ConfigurationError(message)
    if url.partition(":")[0].partition("+")[0] != "postgresql":
        message = f"{OPTION} takes a PostgreSQL database; SQLite files are what the demo makes without it."
        next_step = "write postgresql://ROLE@HOST/DATABASE, or leave out --database and BATCHCTL_DATABASE_URL"
        raise ConfigurationError(message, next_step=next_step)


@contextmanager
def _in_words_of_the_option() -> Iterator[None]:
    """Let messages about the setting name the option instead: there is no configuration yet."""
    try:
        yield
    except (ConfigurationError, DatabaseRefused) as error:
        raise _about_the_option(error) from error


def _about_the_option(error: BatchctlError) -> BatchctlError:
    message, next_step = (
        said
        and said.replace("The setting database_url", OPTION)
        .replace("The control database", "The database")
        .replace("write {secret:NAME} for the password in database_url, or set", "set")
        .replace("in database_url, its secret or", "in database_url or")
        .replace("database_url", OPTION)
        for said in (error.message, error.next_step or "")
    )
    return error.reworded(message, next_step or None)
