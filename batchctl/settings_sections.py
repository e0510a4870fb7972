"""The sections of `batchctl.toml`: what stands in each, and between which bounds."""

from __future__ import annotations

import re
from datetime import timedelta
from ipaddress import ip_address
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from batchctl.domain import urls
from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.operators.issuers import is_console, is_issuer
from batchctl.domain.scheduling.column_text import UnfitText, time_of_day
from batchctl.domain.text import visible

LONGEST_LEASE = timedelta(hours=1)
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")


def _address(text: str) -> str | None:
    """Return an address as a connection says where it comes from; None where it is none."""
    try:
        return str(ip_address(text))
    except ValueError:
        return None


def _checked_address(text: str) -> str:
    found = _address(text)
    if found is None:
        said = 'write the address from which it connects, such as "10.0.0.4", each by itself: no name and no network'
        raise ValueError(f"'{visible(text)}' is no address; {said}")
    return found


class Section(BaseModel):
    """What all sections have in common: they are read once, and a key that is not known is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ConnectionSettings(Section):
    """`[connections.NAME]`: a target database that steps may name."""

    url: str = Field(repr=False)
    procedures: str | None = None


class SecretSettings(Section):
    """`[secrets.NAME]`: where a secret's value comes from; exactly one of the two."""

    env: str | None = None
    file: str | None = None

    @property
    def source(self) -> str:
        """Return `env:NAME` or `file:PATH`."""
        return f"env:{self.env}" if self.env is not None else f"file:{self.file}"


class JobsSettings(Section):
    """`[jobs]`: where decorated functions are looked for."""

    modules: list[str] = Field(default_factory=list)


class SchedulerSettings(Section):
    """`[scheduler]`: whether this node fires schedules, and how late a due time may still be met."""

    enabled: bool = True
    grace: float = Field(default=300.0, ge=10, le=86400)


class LogSettings(Section):
    """`[log]`: what the lines of events look like, and the file they also go to."""

    format: Literal["text", "json"] = "text"
    file: str | None = None
    rotate_mb: float = Field(default=10.0, gt=0, le=10_000)
    keep: int = Field(default=5, ge=1, le=1000)


class ChannelSettings(Section):
    """`[alerts.channels.NAME]`: a way on which people are told of incidents. What its kind does not use stays empty."""

    kind: str
    on: Literal["alert", "escalation"] = "alert"
    least: Literal["warning", "error"] = "warning"
    timeout: float = Field(default=20.0, gt=0, le=120)
    host: str | None = None
    port: int | None = Field(default=None, ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password: str | None = Field(default=None, repr=False)
    sender: str | None = None
    to: list[str] = Field(default_factory=list)
    url: str | None = Field(default=None, repr=False)
    secret: str | None = Field(default=None, repr=False)
    path: str | None = None


class AlertSettings(Section):
    """`[alerts]`: when people are told of what, and how often."""

    repeat: str = "30m"
    repeat_warnings: str = "1d"
    escalate_after: int = Field(default=3, ge=0, le=1000)
    digest_over: int = Field(default=20, ge=1, le=10_000)
    digest_window: str = "10m"
    failures: int = Field(default=3, ge=0, le=1000)
    runs: int = Field(default=10, ge=1, le=1000)
    slow: float = Field(default=2.0, ge=1, le=1000)
    short: float = Field(default=0.1, ge=0, le=1)
    samples: int = Field(default=10, ge=2, le=20)
    no_worker_after: str = "10m"
    learn_arrivals: bool = True
    arrival_margin: str = "30m"
    forecast_interval: str = "10m"
    forecast_hours: list[str] = Field(default=["18:00", "00:00", "03:00"])
    channels: dict[str, ChannelSettings] = Field(default_factory=dict)

    @field_validator("repeat", "repeat_warnings", "digest_window", "no_worker_after", "arrival_margin")
    @classmethod
    def _a_length(cls, value: str) -> str:
        if length_of(value) is None:
            raise ValueError(f"'{visible(value)}' is no length of time; write for example 90s, 30m, 2h or 1d")
        return value

    @field_validator("forecast_interval")
    @classmethod
    def _a_length_or_nothing(cls, value: str) -> str:
        if value != "0" and length_of(value) is None:
            raise ValueError(f"'{visible(value)}' is no length of time; write for example 10m or 1h, or 0 for never")
        return value

    @field_validator("forecast_hours")
    @classmethod
    def _times_of_day(cls, value: list[str]) -> list[str]:
        for one in value:
            try:
                time_of_day(one)
            except UnfitText as error:
                raise ValueError(f"{error}") from None
        return value


class ReportSettings(Section):
    """`[report]`: when the report of the night is sent by itself, since when it looks, and through which channels."""

    night: str | None = None
    since: str = "18:00"
    channels: list[str] = Field(default_factory=list)

    @field_validator("night", "since")
    @classmethod
    def _a_time_of_day(cls, value: str | None) -> str | None:
        from batchctl.domain.scheduling.column_text import time_of_day  # noqa: PLC0415 - only who writes it needs it

        if value is not None:
            time_of_day(value)
        return value

    @model_validator(mode="after")
    def _night_and_channels(self) -> ReportSettings:
        if (self.night is None) is not (not self.channels):
            raise ValueError(
                'night and channels go together, and one of them is missing: night = "06:30", channels = ["mail"]'
            )
        return self


def _checked_server(value: str | None) -> str | None:
    if value is not None and not is_console(value):
        raise ValueError(
            'write the address of the console, "https://console.example.com"; http:// does for this machine alone'
        )
    return value


def _checked_reference(value: str | None) -> str | None:
    if value is not None and urls.reference(value) is None:
        raise ValueError('write a reference and no secret: "{secret:NAME}", with a section [secrets.NAME]')
    return value


class ConsoleSection(Section):
    """How a console is reached: its address, the token that is shown there, and who has signed its certificate."""

    server: str | None = None
    token: str | None = Field(default=None, repr=False)
    ca_file: str | None = None

    _is_server = field_validator("server")(_checked_server)
    _is_reference = field_validator("token")(_checked_reference)


class AgentSettings(ConsoleSection):
    """`[agent]`: the console at which the agent of this host polls."""


class PoolSettings(ConsoleSection):
    """`[pools.NAME]`: how this controller reaches a pool whose steps agents carry."""

    kind: Literal["controllers", "dask", "agents"] = "controllers"
    scheduler: str | None = None
    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    lease: str = "30s"

    @field_validator("lease")
    @classmethod
    def _a_lease(cls, value: str) -> str:
        length = length_of(value)
        if length is None or length > LONGEST_LEASE:
            raise ValueError(f"'{visible(value)}' is no length of time up to an hour, such as 30s")
        return value

    @model_validator(mode="after")
    def _a_scheduler(self) -> PoolSettings:
        if (self.scheduler is None) is (self.kind == "dask"):
            raise ValueError('a scheduler goes with kind = "dask", and with no other: scheduler = "tls://host:8786"')
        if len(self.tls_files) != (3 if (self.scheduler or "").startswith("tls://") else 0):
            raise ValueError("tls_ca_file, tls_cert and tls_key go together, and with a scheduler at tls://")
        of_agents = [self.server, self.token]
        if (None in of_agents) if self.kind == "agents" else (self.ca_file or any(of_agents)):
            raise ValueError(
                'server and token go with kind = "agents", and with no other: server = "https://console.example.com"'
            )
        return self

    @property
    def tls_files(self) -> dict[str, str]:
        """Return the files of the certificates by their settings; none without TLS."""
        files = {"tls_ca_file": self.tls_ca_file, "tls_cert": self.tls_cert, "tls_key": self.tls_key}
        return {name: file for name, file in files.items() if file is not None}

    @property
    def lease_seconds(self) -> float:
        """Return for how long an agent may go on without hearing from its controller."""
        length = length_of(self.lease)
        return 0.0 if length is None else length.total_seconds()


class WebSettings(Section):
    """`[web]`: by which names the console is called, and who says who asks: a proxy before it, or an issuer."""

    names: list[str] = Field(default_factory=list)
    trusted_proxies: list[str] = Field(default_factory=list)
    user_header: str = Field(default="X-Remote-User", pattern=r"^[A-Za-z][A-Za-z0-9-]*$")
    oidc_issuer: str | None = None
    oidc_client_id: str | None = Field(default=None, min_length=1)
    oidc_client_secret: str | None = Field(default=None, repr=False)
    oidc_name_claim: str = Field(default="preferred_username", min_length=1)
    oidc_label: str | None = Field(default=None, min_length=1)

    @field_validator("names")
    @classmethod
    def _host_names(cls, value: list[str]) -> list[str]:
        for one in value:
            if _address(one) is None and not _HOST.fullmatch(one):
                said = 'write only the name that stands in the address, such as "night.example.org": no https://, port or *'
                raise ValueError(f"'{visible(one)}' is no name of a host; {said}")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, value: list[str]) -> list[str]:
        return [_checked_address(one) for one in value]

    @field_validator("oidc_issuer")
    @classmethod
    def _an_issuer(cls, value: str | None) -> str | None:
        if value is not None and not is_issuer(value):
            raise ValueError("write the address of the issuer, https://...; http:// does for this machine alone")
        return value

    @field_validator("oidc_client_secret")
    @classmethod
    def _a_reference(cls, value: str | None) -> str | None:
        return _checked_reference(value)

    @model_validator(mode="after")
    def _issuer_and_client(self) -> WebSettings:
        if (self.oidc_issuer is None) is not (self.oidc_client_id is None):
            raise ValueError("oidc_issuer and oidc_client_id go together, and one of them is missing")
        return self
