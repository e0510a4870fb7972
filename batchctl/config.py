"""Settings: one frozen object, read once from `batchctl.toml` and the environment; unknown keys are refused."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from platformdirs import user_state_path
from pydantic import Field, PrivateAttr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from batchctl.domain import urls
from batchctl.domain.configuring import KEPT_FROM_VIEW, how_to_add_connection, how_to_name_secret, how_to_set_secret
from batchctl.domain.errors import ConfigurationError, DatabaseRefused
from batchctl.domain.text import did_you_mean, nearest, unfit, visible
from batchctl.settings_sections import (
    AgentSettings,
    AlertSettings,
    ChannelSettings,
    ConnectionSettings,
    JobsSettings,
    LogSettings,
    PoolSettings,
    ReportSettings,
    SchedulerSettings,
    SecretSettings,
    Section,
    WebSettings,
)

FILE_NAME = "batchctl.toml"
DATABASE_NAME = "batchctl.db"
PREFIX = "BATCHCTL_"
_KEPT_FROM_STEPS = "BATCHCTL_SECRET_"
"""Never begins a setting: a secret may be in a variable of such a name, which no step inherits."""
_IS_SECRET = re.compile(f"^{_KEPT_FROM_STEPS}|{KEPT_FROM_VIEW}")
"""Names of variables that hold secrets, also of those that other programs read, such as PGPASSWORD."""

_NO_SETTINGS = frozenset({"BATCHCTL_CONFIG", "BATCHCTL_COOKIE"})
"""Variables with our prefix that have another meaning."""
_SECTIONS: Mapping[str, type[Section]] = {
    "connections": ConnectionSettings,
    "secrets": SecretSettings,
    "jobs": JobsSettings,
    "scheduler": SchedulerSettings,
    "log": LogSettings,
    "alerts": AlertSettings,
    "report": ReportSettings,
    "web": WebSettings,
    "agent": AgentSettings,
}
"""What has keys of its own: they also come from variables such as BATCHCTL_LOG__FORMAT."""
_OPEN_ENDED = (*(f"{PREFIX}{section.upper()}__" for section in _SECTIONS), _KEPT_FROM_STEPS)
_CORRECT = "correct what is named, then: batchctl check"
_WANTED = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "write a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "write a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "write true or false"),
    **dict.fromkeys(("string_type", "path_type"), 'write a text, in quotes: "..."'),
    "list_type": 'write a list, such as ["one", "two"]',
    **dict.fromkeys(
        ("dict_type", "model_type", "model_attributes_type"),
        "it has keys of its own: they stand below [{key}] in the file, or in a variable as JSON",
    ),
    "literal_error": "write {expected}",
    "greater_than": "write more than {gt:g}",
    "greater_than_equal": "write {ge:g} or more",
    "less_than_equal": "write {le:g} or less",
}
"""What to write where a value is not what its setting takes, by the kind of pydantic's error; never the value itself."""
_PASSED = re.compile(r"[A-Za-z_][A-Za-z0-9_()]*\*?|\*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_JSON_EXAMPLES = {
    "connections": '{"warehouse": {"url": "sqlite:///warehouse.db"}}',
    "secrets": '{"token": {"env": "API_TOKEN"}}',
    "jobs": '{"modules": ["our_jobs"]}',
    "scheduler": '{"enabled": false}',
    "log": '{"format": "json"}',
    "alerts": '{"repeat": "30m"}',
    "report": '{"night": "06:30", "channels": ["mail"]}',
    "web": '{"names": ["night.example.org"]}',
    "agent": '{"server": "https://console.example.com"}',
}


class Settings(BaseSettings):
    """Everything that can be set. Each key may also come from the environment as BATCHCTL_<KEY>."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix=PREFIX, env_nested_delimiter="__")

    database_url: str = Field(default=f"sqlite:///{DATABASE_NAME}", repr=False)
    business_time_zone: str = "UTC"
    connections: dict[str, ConnectionSettings] = Field(default_factory=dict)
    secrets: dict[str, SecretSettings] = Field(default_factory=dict)
    scheduler: SchedulerSettings = Field(default_factory=SchedulerSettings)
    plugin_modules: list[str] = Field(default_factory=list)
    jobs: JobsSettings = Field(default_factory=JobsSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    alerts: AlertSettings = Field(default_factory=AlertSettings)
    report: ReportSettings = Field(default_factory=ReportSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    populate_timeout: float = Field(default=30.0, gt=0, le=3600)
    trigger_timeout: float = Field(default=30.0, gt=0, le=3600)
    stop_grace: float = Field(default=10.0, gt=0, le=3600)
    shutdown_grace: float = Field(default=30.0, ge=0, le=86400)
    output_limit: int = Field(default=65536, ge=1024, le=16 * 1024 * 1024)
    poll_interval: float = Field(default=15.0, gt=0, le=3600)
    heartbeat_interval: float = Field(default=3.0, gt=0, le=3600)
    orphan_timeout: float = Field(default=300.0, gt=0, le=86400)
    slots: int = Field(default=1, ge=1, le=64)
    pools: list[str] | dict[str, PoolSettings] = Field(default_factory=list)
    step_environment: list[str] = Field(default_factory=list)
    state_directory: Path = Field(default_factory=lambda: user_state_path("batchctl"))
    directory: Path = Field(default_factory=Path.cwd, exclude=True)
    file: Path | None = Field(default=None, exclude=True)
    _taken: dict[str, str] = PrivateAttr(default_factory=dict)
    """Variables that were taken out of the environment."""

    @field_validator("business_time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            message = f"'{value}' is not a time zone; write an IANA name such as Europe/Amsterdam"
            if not available_timezones():
                message = "this machine knows no time zones; install them: pip install tzdata"
            raise ValueError(message) from None
        return value

    @model_validator(mode="after")
    def _enough_heartbeats(self) -> Settings:
        """Refuse settings by which a controller counts as dead after missing only a sign of life or two."""
        if self.orphan_timeout < 4 * self.heartbeat_interval:
            message = (
                f"orphan_timeout ({self.orphan_timeout:g} s) must be at least four times"
                f" heartbeat_interval ({self.heartbeat_interval:g} s)"
            )
            raise ValueError(message)
        return self

    @field_validator("secrets")
    @classmethod
    def _one_source(cls, value: dict[str, SecretSettings]) -> dict[str, SecretSettings]:
        for name, secret in value.items():
            if (secret.env is None) == (secret.file is None):
                raise ValueError(f"secret '{name}' needs exactly one of env and file")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    @field_validator("step_environment")
    @classmethod
    def _names_of_variables(cls, value: list[str]) -> list[str]:
        for name in value:
            if not _PASSED.fullmatch(name) or name.upper().startswith(PREFIX):
                message = f"'{visible(name)}' is no variable that steps may see; write for example ORACLE_HOME or DBT_*"
                raise ValueError(message)
        return value

    def variable(self, name: str) -> str | None:
        """Return the value of an environment variable, also of one that was taken out of the environment."""
        return os.environ.get(name, self._taken.get(name))

    def kept_from_steps(self) -> Iterator[str]:
        """Yield the values of all variables that are secrets by their name, whether anything refers to them or not."""
        everything = {**self._taken, **os.environ}
        yield from (value for name, value in everything.items() if _IS_SECRET.search(name.upper()) and value)

    def take(self, name: str, value: str) -> None:
        """Keep the value of a variable that is to leave the environment."""
        self._taken[name] = value

    @property
    def served_pools(self) -> list[str]:
        """Return the pools whose steps run on this host."""
        return [name for name in self.pools if name.strip().lower() not in self.agent_pools]

    @property
    def pool_kinds(self) -> dict[str, str]:
        """Return what carries the steps of each pool that is named."""
        given = dict.fromkeys(self.pools, PoolSettings()) if isinstance(self.pools, list) else self.pools
        return {name.strip().lower(): one.kind for name, one in given.items()}

    @property
    def agent_pools(self) -> dict[str, PoolSettings]:
        """Return the pools whose steps agents carry."""
        given = {} if isinstance(self.pools, list) else self.pools
        return {name.strip().lower(): one for name, one in given.items() if one.kind != "controllers"}

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the modules with plugins and jobs, each once."""
        return tuple(dict.fromkeys((*self.plugin_modules, *self.jobs.modules)))

    @property
    def zone(self) -> ZoneInfo:
        """Return the zone that business dates are reckoned in."""
        return ZoneInfo(self.business_time_zone)


def load(given: str | None) -> Settings:
    """Read the settings from the file given, named by BATCHCTL_CONFIG, or lying in the working directory."""
    path = _find(given)
    values = {} if path is None else _read(path)
    directory = Path.cwd() if path is None else path.parent.resolve()
    try:
        settings = Settings(**values, directory=directory, file=None if path is None else path.resolve())
    except ValidationError as error:
        raise ConfigurationError(_explain(error, path), next_step=_CORRECT) from None
    except RecursionError:
        message = "A BATCHCTL_... variable is nested too deeply to be read."
        raise ConfigurationError(message, next_step=_CORRECT) from None
    except SettingsError as error:
        raise ConfigurationError(_explain_no_json(error), next_step=_CORRECT) from None
    _refuse_wrong_urls(settings, path)
    _refuse_unknown_variables({secret.env for secret in settings.secrets.values() if secret.env is not None}, path)
    return settings


def literal_passwords(settings: Settings) -> frozenset[str]:
    """Name the URLs that stand in the file with their passwords: `database_url`, `connections.NAME`."""
    return frozenset(
        ".".join(where[:2])
        for where, url in _urls_of(settings).items()
        if urls.passwords_in(url) and _variable_of(where) is None
    )


def variables_for(*keys: str) -> list[str]:
    """Name the environment variables that give any of these settings, or a part of one."""
    names = [f"{PREFIX}{key.upper()}" for key in keys]
    parts = tuple(f"{name}__" for name in names)
    return sorted(name for name in os.environ if name.upper() in names or name.upper().startswith(parts))


def variables_set() -> list[str]:
    """Name the environment variables that give settings now."""
    return variables_for(*_known_keys(()))


def secret(settings: Settings, name: str) -> str:
    """Return the value of a secret."""
    sources = {name: given.source for name, given in settings.secrets.items()}
    return resolve_secret(sources, name, settings.directory, settings.variable)


def known_secrets(settings: Settings) -> Iterator[str]:
    """Yield everything that the configuration says is secret, as far as it can be read."""
    for name in settings.secrets:
        with suppress(ConfigurationError):
            yield secret(settings, name)
    yield from settings.kept_from_steps()
    for url in _urls_of(settings).values():
        for password in urls.passwords_in(url):
            yield from {password, unquote(password)}


def variables_with_secrets(settings: Settings) -> list[str]:
    """Name the environment variables that are, or may hold, secrets: those that settings name, and our own settings."""
    named = {given.env for given in settings.secrets.values()}
    ours = {name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in _NO_SETTINGS}
    return [name for name in os.environ if name in named | ours]


def database_url(settings: Settings) -> str:
    """Return the URL of the control database as it is connected to: with its secrets. Never show or keep it."""
    return urls.with_secrets(settings.database_url, lambda name: secret(settings, name))


def refuse_wrong_folder(settings: Settings) -> None:
    """Refuse to work where no setting names the control database, and none lies here: it is likely the wrong folder."""
    path = settings.directory / DATABASE_NAME
    if settings.file is None and "database_url" not in settings.model_fields_set and not path.exists():
        message = (
            f"The control database {visible(str(path))} does not exist, and no {FILE_NAME} in that folder names another."
            " Go to the folder where they are, or name them by --config FILE, BATCHCTL_CONFIG or BATCHCTL_DATABASE_URL."
        )
        raise DatabaseRefused(message, next_step="batchctl db upgrade   (makes a new one here)")


def secret_of(settings: Settings, reference: str) -> str:
    """Return the value of the secret that a text refers to as `{secret:NAME}`."""
    return secret(settings, urls.reference(reference) or reference)


def connection_url(settings: Settings, name: str) -> str:
    """Return the URL of a connection with its secrets. Never show or keep it."""
    given = settings.connections.get(name)
    if given is None:
        known = did_you_mean(name, settings.connections)
        message = f"Connection '{visible(name)}' is not in the configuration.{visible(known)}"
        next_step = f"{how_to_add_connection(name)}, or correct the row"
        raise ConfigurationError(message, next_step=next_step)
    return urls.with_secrets(given.url, lambda secret_name: secret(settings, secret_name))


def _urls_of(settings: Settings) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {("database_url",): settings.database_url}
    found |= {("connections", name, "url"): given.url for name, given in settings.connections.items()}
    return found


def _refuse_wrong_urls(settings: Settings, path: Path | None) -> None:
    text = "" if path is None else path.read_text(encoding="utf-8")
    wrong = [
        _explain_one(where, "", said, text, path)
        for where, url in _urls_of(settings).items()
        for said in _wrong_in(url, settings.secrets)
    ]
    if wrong:
        raise ConfigurationError("\n".join(wrong), next_step=_CORRECT)


def _wrong_in(url: str, known: Collection[str]) -> list[str]:
    unreadable = urls.unquoted_password(url) or urls.misplaced_reference(url)
    if unreadable is not None:
        return [unreadable]
    return [_no_secret(name, known) for name in urls.references(url) if name not in known]


def _no_secret(name: str, known: Collection[str]) -> str:
    said = f"there is no [secrets.{visible(name)}].{did_you_mean(name, known)}"
    if nearest(name, known) is not None:
        return said
    variable = _KEPT_FROM_STEPS + re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    key = name if _BARE_KEY.match(name) else json.dumps(name)
    lines = f'    [secrets.{visible(key)}]\n    env = "{variable}"'
    return f'{said} Add these lines to the configuration file (or file = "..." in place of env):\n{lines}'


def _find(given: str | None) -> Path | None:
    named = given or os.environ.get("BATCHCTL_CONFIG")
    if not named:
        if not os.path.lexists(FILE_NAME):
            return None
        named = FILE_NAME
    path = Path(named)
    if path.is_dir():
        message = f"The configuration {path} is a folder, not a file."
        raise ConfigurationError(message, next_step=f"name the file in it, such as {path / FILE_NAME}")
    if path.exists() and not path.is_file():
        message = f"The configuration {path} is a device or a pipe, not a file."
        raise ConfigurationError(message, next_step=f"name a file, such as {FILE_NAME}")
    if not path.exists():
        message = f"The configuration file {path} does not exist."
        next_step = f"create it, or leave out --config, or BATCHCTL_CONFIG, to use ./{FILE_NAME}"
        raise ConfigurationError(message, next_step=next_step)
    return path


def _refuse_unknown_variables(named_by_secrets: Collection[str], path: Path | None) -> None:
    known = {f"{PREFIX}{key.upper()}" for key in _known_keys(())}
    allowed = known | _NO_SETTINGS | {name.upper() for name in named_by_secrets}
    for variable in sorted(os.environ):
        name = variable.upper()
        if name.startswith(PREFIX) and name not in allowed and not name.startswith(_OPEN_ENDED):
            message = f"Environment variable {visible(variable)}: there is no such setting.{did_you_mean(name, known)}"
            of_a_secret = f"call a secret's variable {_KEPT_FROM_STEPS}..., which no configuration minds"
            if path is not None:
                raise ConfigurationError(message, next_step=f"correct its name, or {of_a_secret}")
            missing = f"There is no {FILE_NAME} in {Path.cwd()} that could name it as a secret's."
            next_step = f"name the configuration: batchctl --config FILE ..., or {of_a_secret}"
            raise ConfigurationError(f"{message} {missing}", next_step=next_step)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"The configuration file {path} cannot be read: {error}."
        raise ConfigurationError(message, next_step="let this user read it, as text in UTF-8") from None
    try:
        values = tomllib.loads(text)
    except RecursionError:
        message = f"{path} is nested too deeply to be read."
        raise ConfigurationError(message, next_step="write a value with fewer brackets in brackets") from None
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: {error}."
        raise ConfigurationError(
            message, next_step='correct that line; a text stands in quotes: key = "value"'
        ) from None
    for internal in ("directory", "file"):
        if internal in values:
            message = f"{path}, line {_line_of(text, internal)}: '{internal}' is not a setting."
            raise ConfigurationError(message, next_step=_CORRECT)
    return values


def _explain(error: ValidationError, path: Path | None) -> str:
    text = "" if path is None else path.read_text(encoding="utf-8")
    return "\n".join(
        _explain_one(finding["loc"], finding["type"], _wording_of(finding), text, path) for finding in error.errors()
    )


def _wording_of(finding: ErrorDetails) -> str:
    wanted = _WANTED.get(finding["type"])
    if wanted is None:
        return finding["msg"].removeprefix("Value error, ")
    return wanted.format(key=".".join(map(str, finding["loc"])), **finding.get("ctx", {}))


def _explain_one(where: tuple[int | str, ...], kind: str, wording: str, text: str, path: Path | None) -> str:
    key = ".".join(str(part) for part in where)
    last = str(where[-1]) if where else ""
    if kind == "extra_forbidden":
        wording = f"there is no such setting.{did_you_mean(last, _known_keys(where))}"
    elif kind == "missing":
        wording = "this setting is needed"
    variable = _variable_of(where)
    if variable is not None:
        return f"Environment variable {variable}: {wording}"
    if not where:  # It is about several.
        return wording if path is None else f"{path}: {wording}"
    place = "" if path is None else f"{path}, line {_line_of(text, *map(str, where))}: "
    return f"{place}{key}: {wording}"


def _variable_of(where: tuple[int | str, ...]) -> str | None:
    """Return the variable that gave a value: its own, or one that holds it as JSON."""
    names = (PREFIX + "__".join(str(part).upper() for part in where[:end]) for end in range(len(where), 0, -1))
    return next((name for name in names if name in os.environ), None)


def _explain_no_json(error: SettingsError) -> str:
    named = re.search(r'field "(\w+)"', str(error))
    key = "plugin_modules" if named is None else named[1]
    variable = f"{PREFIX}{key.upper()}"
    words = [word for word in re.split(r"[\s,]+", os.environ.get(variable, "")) if word]
    example = _JSON_EXAMPLES.get(key) or json.dumps(words or ["our_jobs"])
    return f"Environment variable {variable}: write JSON, such as {example}"


def _known_keys(where: tuple[int | str, ...]) -> list[str]:
    if not where or where[0] not in _SECTIONS:
        return [key for key in Settings.model_fields if key not in {"directory", "file"}]
    section = ChannelSettings if where[:2] == ("alerts", "channels") else _SECTIONS[str(where[0])]
    return list(section.model_fields)


def _line_of(text: str, *where: str) -> int:
    """Return the line of a key: each part of its name stands on or below the line of the part before."""
    lines = text.splitlines()
    found = 0
    for key in where:
        pattern = re.compile(rf"^\s*\[.*\b{re.escape(key)}\b|^[^#]*?(?<![\w-]){re.escape(key)}(?![\w-])[^=]*=")
        found = next((at for at in range(found, len(lines)) if pattern.search(lines[at])), found)
    return found + 1


def resolve_secret(
    sources: Mapping[str, str], name: str, directory: Path, variable: Callable[[str], str | None] = os.environ.get
) -> str:
    """Return a secret's value from the place that the configuration names."""
    source = sources.get(name)
    if source is None:
        message = f"Secret '{visible(name)}' is not in the configuration.{did_you_mean(name, sources)}"
        raise ConfigurationError(message, next_step=how_to_name_secret(name))
    kind, _, place = source.partition(":")
    value = variable(place) if kind == "env" else _secret_file(directory / place)
    if value is None:
        what = f"environment variable {place} is not set" if kind == "env" else f"file {place} cannot be read"
        message = f"Secret '{visible(name)}' cannot be resolved: {visible(what)}."
        raise ConfigurationError(message, next_step=how_to_set_secret(source))
    reason = unfit(value)
    if reason is not None:
        message = f"Secret '{visible(name)}' cannot be used: {reason}."
        raise ConfigurationError(message, next_step=f"correct its value: {how_to_set_secret(source)}")
    return value


def _secret_file(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError):
        return None
