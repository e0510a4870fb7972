"""Secrets are blotted out in every form they come back in, also where output was cut."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.system.masking import masked

SECRET = 'pa\'ss "wörd"\n1234567890'

WRITTEN = {
    "plain": SECRET,
    "json": json.dumps({"a": SECRET}),
    "json with letters": json.dumps({"a": SECRET}, ensure_ascii=False),
    "hex": SECRET.encode().hex(),
    "HEX": SECRET.encode().hex().upper(),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "sql": "'" + SECRET.replace("'", "''") + "'",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=list(WRITTEN))
def test_every_form_is_blotted_out(text: str) -> None:
    blotted = masked(f"before {text} after", [SECRET])

    assert "1234567890" not in blotted
    assert SECRET.encode().hex()[-12:] not in blotted.lower()
    assert blotted.startswith("before ")
    assert blotted.endswith(" after")
    assert "***" in blotted


@given(kept=st.integers(4, 19), left=st.integers(4, 19))
def test_a_part_left_by_a_cut_is_blotted_out(kept: int, left: int) -> None:
    secret = "abcdefghij0123456789"
    text = f"x{secret[:kept]}\n[... 5 of 99 bytes left out ...]\n{secret[-left:]}y"

    assert masked(text, [secret]) == "x***\n[... 5 of 99 bytes left out ...]\n***y"


@given(
    before=st.binary(max_size=7), after=st.binary(max_size=7), secret=st.binary(min_size=6).map(lambda raw: raw.hex())
)
def test_a_secret_among_other_bytes_is_blotted_out_in_base64(before: bytes, after: bytes, secret: str) -> None:
    """As `base64 < password.txt` and an HTTP header write it: only what shares a letter with its neighbours is left."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        blotted = masked(encode(before + secret.encode() + after).decode(), [secret])
        assert "***" in blotted
        left = blotted.replace("*", "").rstrip("=")
        assert len(left) <= (len(before) + len(after)) * 8 // 6 + 4


def test_without_secrets_nothing_changes() -> None:
    assert masked("a\n[... 5 of 99 bytes left out ...]\nb", []) == "a\n[... 5 of 99 bytes left out ...]\nb"
