"""A service that cannot start names the setting that keeps it from starting, and prints no address."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from agent.cli.main import intramural
from agent.errors import AgentError, ConfigError
from agent.jobs.dispatcher import Dispatcher
from agent.service.web.address import Address, check_tls_files
from agent.service.web.serve import listen
from agent.site.directory import Site, create_site
from tests.end_to_end.wire import PrivateAuthority


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def refuse_to_serve(site: Site, settings: str = "") -> tuple[str, str]:
    """Run `intramural serve`, which must fail; return what it printed, and its error."""
    with (site.directory / "site.yaml").open("a") as file:
        file.write(settings)
    words = ["--site", str(site.directory), "serve", "--port", "0"]
    done = CliRunner().invoke(intramural, words)
    assert isinstance(done.exception, AgentError)
    return done.stdout, str(done.exception)


def test_a_certificate_that_is_not_there_is_named_before_anything_is_served(site: Site) -> None:
    printed, error = refuse_to_serve(
        site, "service_tls_certificate: a.pem\nservice_tls_key: b.pem\n"
    )
    assert f"service_tls_certificate: {site.directory}/a.pem cannot be read" in error
    assert printed == ""


def test_a_key_that_other_accounts_can_read_is_refused(site: Site, tmp_path: Path) -> None:
    own = PrivateAuthority(tmp_path).issue("127.0.0.1")
    check_tls_files(_name_files(own.certificate, own.key))
    for mode in (0o644, 0o640, 0o604):
        own.key.chmod(mode)
        with pytest.raises(ConfigError, match=r"service_tls_key: .* can be read by other accounts"):
            check_tls_files(_name_files(own.certificate, own.key))
    settings = f"service_tls_certificate: {own.certificate}\nservice_tls_key: {own.key}\n"
    printed, error = refuse_to_serve(site, settings)
    assert "can be read by other accounts" in error
    assert printed == ""


def test_a_key_of_the_system_may_be_read_by_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = PrivateAuthority(tmp_path).issue("127.0.0.1")
    own.key.chmod(0o640)
    someone = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone)
    check_tls_files(_name_files(own.certificate, own.key))
    own.key.chmod(0o644)
    with pytest.raises(ConfigError, match="can be read by other accounts"):
        check_tls_files(_name_files(own.certificate, own.key))


def test_a_secret_of_the_proxy_that_is_not_there_is_named(site: Site) -> None:
    printed, error = refuse_to_serve(
        site, "trusted_proxy: 127.0.0.1\ntrusted_proxy_secret_file: keys/none\n"
    )
    assert "trusted_proxy_secret_file: the file cannot be read" in error
    assert printed == ""


def test_a_second_service_prints_no_address(site: Site) -> None:
    with Dispatcher(site):
        printed, error = refuse_to_serve(site)
    assert "another service" in error
    assert printed == ""


def test_an_address_of_another_machine_is_not_blamed_on_the_port() -> None:
    with pytest.raises(ConfigError, match="is not an address of this machine"):
        listen(Address(host="192.0.2.1", port=0))


def test_a_certificate_with_its_key_is_accepted_and_no_other_pair(tmp_path: Path) -> None:
    authority = PrivateAuthority(tmp_path)
    own, other = authority.issue("127.0.0.1"), authority.issue("127.0.0.1")
    check_tls_files(_name_files(own.certificate, own.key))
    junk, locked = tmp_path / "junk.pem", tmp_path / "locked.pem"
    junk.write_text("no certificate")
    key = serialization.load_pem_private_key(own.key.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"a password"),
        )
    )
    pairs = [(own.certificate, other.key), (junk, own.key), (own.certificate, locked)]
    for certificate, wrong_key in pairs:
        with pytest.raises(ConfigError, match="cannot be used together"):
            check_tls_files(_name_files(certificate, wrong_key))


def _name_files(certificate: Path, key: Path) -> Address:
    return Address(host="127.0.0.1", port=0, certificate=certificate, key=key)
