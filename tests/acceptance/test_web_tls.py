"""A console that speaks TLS, as a browser from elsewhere meets it."""

from __future__ import annotations

import http.client
import re
import signal
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.acceptance.consoles import add
from tests.acceptance.installation import PATIENCE, StartBatchctl
from tests.acceptance.night import Night


def signed_by_itself(folder: Path) -> tuple[Path, Path]:
    """Write a certificate of this machine's own address, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "console")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2099, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "console.pem", folder / "console.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, secret


def test_3_4_1_a_browser_that_came_by_tls_never_comes_without_it_again(
    night: Night, start_batchctl: StartBatchctl
) -> None:
    add(night, "anna", "admin")
    certificate, key = signed_by_itself(night.folder)
    words = ("web", "--port", "0", "--tls-cert", str(certificate), "--tls-key", str(key))
    worker = start_batchctl(*words, cwd=night.folder, env=night.environment)
    assert worker.stdout is not None
    found = re.search(r"https://127\.0\.0\.1:(\d+)/", worker.stdout.readline())
    assert found is not None
    trusting = ssl.create_default_context(cafile=str(certificate))
    for path, status in (("/login", 200), ("/", 303), ("/nowhere", 404), ("/static/console.css", 200)):
        connection = http.client.HTTPSConnection("127.0.0.1", int(found[1]), timeout=PATIENCE, context=trusting)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == status
        strict = answer.headers["Strict-Transport-Security"]
        assert int(strict.removeprefix("max-age=").partition(";")[0]) >= timedelta(days=365).total_seconds()
        answer.read()
        connection.close()
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0


@pytest.mark.parametrize(
    ("certificate", "key", "message"),
    [
        ("console.pem", "other.key", "other.key is not the key of console.pem."),
        ("night.sql", "console.key", "night.sql is no certificate"),
        ("console.pem", "night.sql", "night.sql is no key that can be read"),
        ("console.pem", "locked.key", "locked.key is no key that can be read"),
    ],
)
def test_files_that_are_no_certificate_and_its_key_are_refused_before_an_address_is_shown(
    night: Night, certificate: str, key: str, message: str
) -> None:
    (night.folder / "others").mkdir()
    signed_by_itself(night.folder)
    _, other = signed_by_itself(night.folder / "others")
    other.rename(night.folder / "other.key")
    (night.folder / "night.sql").write_text("SELECT 1;")
    own = serialization.load_pem_private_key((night.folder / "console.key").read_bytes(), None)
    password = serialization.BestAvailableEncryption(b"a password")
    (night.folder / "locked.key").write_bytes(
        own.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, password)
    )

    ended = night("web", "--port", "0", "--tls-cert", certificate, "--tls-key", key)

    assert (ended.returncode, ended.stdout) == (4, "")
    assert message in ended.stderr
    assert "Next: batchctl web --tls-cert FILE --tls-key FILE" in ended.stderr
