"""What an issuer of OpenID Connect publishes and answers, and what of it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from batchctl.domain.errors import Refused
from batchctl.domain.text import shorten, visible

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_SHOWN = 300
"""Characters of what an issuer says that are shown."""
CORRECT = "correct [web] oidc_issuer, or what is set up at the issuer, and start the console again"


@dataclass(frozen=True, slots=True)
class IssuerMetadata:
    """Where an issuer is asked for what."""

    log_in: str
    """Where browsers are sent."""
    tokens: str
    keys: str
    by_form: bool
    """The secret of the client goes there in the form, for the issuer takes it in no header."""
    names_itself: bool
    """It says its own name wherever it sends a browser back, so that no other can speak for it."""


def is_issuer(address: str) -> bool:
    """Say whether this may be the address of an issuer: with TLS, or on this machine."""
    return _is_safe(address) and "?" not in address and "#" not in address


def is_console(address: str) -> bool:
    """Say whether this may be the address of a console: with TLS, or on this machine, and nothing behind its name."""
    return _is_safe(address) and urlsplit(address)[2:] in {("", "", ""), ("/", "", "")}


def metadata_of(document: Mapping[str, object], issuer: str) -> IssuerMetadata:
    """Read what an issuer publishes of itself."""
    if document.get("issuer") != issuer:
        message = f"What {visible(issuer)} publishes is of another issuer: {_shown(document.get('issuer'))}."
        raise Refused(message, next_step=CORRECT)
    ways = document.get("token_endpoint_auth_methods_supported")
    return IssuerMetadata(
        log_in=_address(document, "authorization_endpoint", issuer),
        tokens=_address(document, "token_endpoint", issuer),
        keys=_address(document, "jwks_uri", issuer),
        by_form=isinstance(ways, list) and "client_secret_basic" not in ways and "client_secret_post" in ways,
        names_itself=document.get("authorization_response_iss_parameter_supported") is True,
    )


def code_in(answer: Mapping[str, str], issuer: str, *, names_itself: bool) -> str:
    """Return the code with which an issuer has sent a browser back."""
    if (speaks := answer.get("iss")) != issuer and (speaks is not None or names_itself):
        raise Refused(f"Not {visible(issuer)} has answered, but {_shown(speaks)}.", next_step="log in again")
    if (error := answer.get("error")) is not None:
        why = answer.get("error_description")
        said = _shown(error) if why is None else f"{_shown(error)}: {_shown(why)}"
        raise Refused(
            f"The issuer has refused the log-in: {said}.", next_step="log in again, or ask who runs the issuer"
        )
    if not (code := answer.get("code")):
        raise Refused("The issuer has sent no code.", next_step="log in again")
    return code


def name_in(claims: Mapping[str, object], claim: str) -> str:
    """Return by which name an issuer knows who comes."""
    name = claims.get(claim)
    if not isinstance(name, str) or not name.strip():
        others = ", ".join(sorted(visible(one) for one in claims))
        message = f"The issuer gives no name in the claim {visible(claim)}; there are: {shorten(others, _SHOWN)}."
        raise Refused(message, next_step='[web] oidc_name_claim = "..." names another claim')
    if claim == "email" and claims.get("email_verified") is not True:
        message = f"The issuer has not verified the address {visible(name)}."
        raise Refused(message, next_step="have it verified there, or name another claim: [web] oidc_name_claim")
    return name


def _address(document: Mapping[str, object], name: str, issuer: str) -> str:
    found = document.get(name)
    # An issuer that is reached by TLS alone leads to nothing that is not.
    if not isinstance(found, str) or not _is_safe(found) or (urlsplit(issuer).scheme, found[:5]) == ("https", "http:"):
        message = f"What {visible(issuer)} publishes has no address with TLS as {name}: {_shown(found)}."
        raise Refused(message, next_step=CORRECT)
    return found


def _is_safe(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or not address.isascii() or not address.isprintable() or " " in address:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)


def _shown(value: object) -> str:
    return visible(shorten("nothing" if value is None else str(value), _SHOWN))
