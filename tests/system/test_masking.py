"""Secrets are blotted out in every form they come back in, also where output was cut."""

from __future__ import annotations

import base64
import html
import json
import shlex
import subprocess
import xml.sax.saxutils
from pathlib import Path
from xml.etree import ElementTree as ET

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


QUOTED = "it's \"5 < 6\" & 'é€' $x\\y `z`"
SHOWN = {
    "shlex": shlex.quote(QUOTED),
    "python": repr(QUOTED),
    "python, double quotes": repr(QUOTED + "'").replace("\\'", "'").replace('"', '\\"'),
    "python ascii": ascii([QUOTED]),
    "python bytes": repr(QUOTED.encode()),
    "json": json.dumps(QUOTED),
    "html": html.escape(QUOTED),
    "html text": html.escape(QUOTED, quote=False),
    "html, decimal": html.escape(QUOTED).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
    "xml": xml.sax.saxutils.escape(QUOTED, {"'": "&apos;", '"': "&quot;"}),
    "xml in ascii": ET.tostring(ET.Element("a", b=QUOTED)).decode(),
}
KEY = "-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBgkq\r\nhkiG9w0BAQEFAASC\r\nab==\r\n-----END PRIVATE KEY-----\r\n"


@pytest.mark.parametrize("text", SHOWN.values(), ids=list(SHOWN))
def test_a_secret_with_quotes_is_blotted_out_however_it_is_written(text: str) -> None:
    blotted = masked(f"before {text} after", [QUOTED])

    assert "***" in blotted
    assert "5" not in blotted
    assert "z" not in blotted


@pytest.mark.parametrize("secret", ["it's-é-secret", 'it"s-é-secret'])
def test_a_secret_with_one_kind_of_quote_is_blotted_out_of_any_repr(secret: str) -> None:
    for whole in (secret, f"'{secret}", f'"{secret}', f"'\"{secret}"):
        assert "secret" not in masked(repr(whole), [secret])
        assert "secret" not in masked(repr(whole.encode()), [secret])


@pytest.mark.parametrize("command", ['set -x; : "$1"', 'printf %q "$1"', "x=$1; declare -p x", "x=$1; set | grep ^x="])
@pytest.mark.parametrize("secret", ['it\'s "5$6"`z\\', "'quoted'", "a''b-long", "plain one; two"])
def test_what_bash_prints_of_a_secret_is_blotted_out(command: str, secret: str) -> None:
    ended = subprocess.run(["bash", "-c", command, "bash", secret], capture_output=True, text=True, check=True)

    blotted = masked(ended.stdout + ended.stderr, [secret])
    assert "***" in blotted
    assert not any(left in blotted for left in ("it", "5", "z", "quoted", "a'", "-long", "one", "two"))


@pytest.mark.parametrize("command", ["sed -n 2p", "sed s/^/x:/", "tail -n 4", "sed 2q", "cut -c 1-40"])
def test_each_line_of_a_secret_is_blotted_out_alone(tmp_path: Path, command: str) -> None:
    (tmp_path / "key").write_text(KEY, newline="")
    ended = subprocess.run(["bash", "-c", f"{command} < key"], cwd=tmp_path, capture_output=True, text=True, check=True)

    blotted = masked(ended.stdout, [KEY])
    assert "***" in blotted
    assert "MIIE" not in blotted
    assert "hkiG" not in blotted


def test_what_is_no_secret_of_a_key_stays() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nother\nab==\n"

    assert masked(text, [KEY]) == text


def test_without_secrets_nothing_changes() -> None:
    assert masked("a\n[... 5 of 99 bytes left out ...]\nb", []) == "a\n[... 5 of 99 bytes left out ...]\nb"
