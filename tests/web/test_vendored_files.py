"""What the console serves of others is what they have published, with their licence."""

from __future__ import annotations

import hashlib

from tests.house.source import ROOT

VENDOR = ROOT / "batchctl" / "web" / "static" / "vendor"
PUBLISHED = ("LICENSE", "htmx.min.js", "hx-csp.min.js", "hx-sse.min.js")


def test_each_file_has_the_hash_that_stands_beside_it() -> None:
    lines = [line.split("  ") for line in (VENDOR / "SHA256SUMS").read_text("ascii").splitlines()]
    found = {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in PUBLISHED}

    assert found == {name: digest for digest, name in lines}
    assert {path.name for path in VENDOR.iterdir()} == {*PUBLISHED, "SHA256SUMS", "README.md"}


def test_the_licence_lets_anyone_use_them() -> None:
    assert (VENDOR / "LICENSE").read_text("utf-8").startswith("Zero-Clause BSD")
