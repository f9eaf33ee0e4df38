"""The authorities that a connection trusts are the settings', never the environment's."""

import os
import ssl
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.io.tls import load_trust


def test_what_the_environment_names_is_neither_trusted_nor_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    context = load_trust(None)
    assert "SSL_CERT_FILE" not in os.environ
    assert "SSL_CERT_DIR" not in os.environ
    assert not (tmp_path / "SSLKEYLOGFILE").exists()
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("content", [None, b"", b"not a certificate"])
def test_a_bundle_without_a_certificate_is_refused(tmp_path: Path, content: bytes | None):
    if content is not None:
        (tmp_path / "bundle.pem").write_bytes(content)
    with pytest.raises(ConfigError, match="ca_bundle is not a readable PEM file"):
        load_trust(tmp_path / "bundle.pem")
