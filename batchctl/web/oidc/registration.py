"""As what the console is known to the issuer: `[web] oidc_...`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from batchctl import config
from batchctl.config import Settings
from batchctl.domain import urls


@dataclass(frozen=True, slots=True)
class Registration:
    """What is agreed with the issuer."""

    issuer: str
    client_id: str
    client_secret: str | None = field(repr=False)
    name_claim: str
    label: str
    """What people call the issuer."""


def registration_of(settings: Settings) -> Registration:
    """Return what the settings say that name an issuer, with the secret."""
    web = settings.web
    issuer = web.oidc_issuer or ""
    named = None if web.oidc_client_secret is None else urls.reference(web.oidc_client_secret)
    return Registration(
        issuer=issuer,
        client_id=web.oidc_client_id or "",
        client_secret=None if named is None else config.secret(settings, named),
        name_claim=web.oidc_name_claim,
        label=web.oidc_label or urlsplit(issuer).netloc,
    )
