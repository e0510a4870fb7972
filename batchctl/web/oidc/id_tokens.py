"""ID tokens: whose they are is believed when the issuer has signed them, for this console, this log-in, and now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError
from joserfc.jwk import ECKey, JWKRegistry, KeySet, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
"""Those by which only the issuer can sign: what is public verifies them."""
SKEW = 60
"""Seconds by which the clocks of the issuer and of the console may differ."""


class UnknownKey(Exception):
    """A token is signed by a key that is not known yet: keys change."""


@dataclass(frozen=True, slots=True)
class WantedToken:
    """What an ID token has to say."""

    issuer: str
    client_id: str
    nonce: str


def keys_of(document: Mapping[str, Any]) -> KeySet:
    """Return the keys that an issuer publishes, but for those of kinds that are not known."""
    return KeySet([*_usable(document["keys"])])


def claims_of(text: str, access_token: str | None, keys: KeySet, wanted: WantedToken, now: datetime) -> dict[str, Any]:
    """Return what a token says; raises `UnknownKey`, or what is wrong with it."""
    # What a header may have besides is the issuer's business.
    registry = JWSRegistry(algorithms=[*ALGORITHMS], strict_check_header=False)
    try:
        token = jwt.decode(text, keys, registry=registry)
    except InvalidKeyIdError as error:
        raise UnknownKey from error
    options = {
        "iss": {"essential": True, "value": wanted.issuer},
        "aud": {"essential": True, "value": wanted.client_id},
        "nonce": {"essential": True, "value": wanted.nonce},
    }
    binding = {"nonce": wanted.nonce, "client_id": wanted.client_id, "access_token": access_token}
    CodeIDToken(token.claims, token.header, options, binding).validate(int(now.timestamp()), SKEW)
    return token.claims


def _usable(keys: list[Any]) -> Iterator[RSAKey | ECKey | OKPKey]:
    for one in keys:
        with suppress(Exception):
            key = JWKRegistry.import_key(one)
            if isinstance(key, (RSAKey, ECKey, OKPKey)):
                yield key
