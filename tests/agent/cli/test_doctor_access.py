"""`intramural doctor` about accounts and sign-in: silent where the service is not used, and exact where it is."""

from pathlib import Path

import pytest

from agent.cli.checks import Check
from agent.cli.doctor_access import check_access
from agent.site.directory import Site, create_site
from agent.store import Role
from tests.agent.access.provider import Provider


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def add(site: Site, name: str, *roles: Role) -> str:
    with site.store() as store:
        return store.accounts.add(name, roles, 0).account_id


def configure(site: Site, text: str) -> Site:
    with (site.directory / "site.yaml").open("a") as file:
        file.write(text)
    return Site(site.directory)


def only_check(site: Site) -> Check:
    (check,) = check_access(site)
    return check


def test_a_site_without_accounts_is_asked_nothing(site: Site):
    assert list(check_access(site)) == []


def test_accounts_without_an_administrator_are_a_warning(site: Site):
    add(site, "anna", Role.VIEWER)
    check = only_check(site)
    assert (check.verdict, check.finding) == ("warning", "no administrator can sign in")
    account_id = add(site, "clara", Role.ADMINISTRATOR)
    assert only_check(site).finding == "2, of which 0 locked; 0 may see original texts"
    with site.store() as store:
        store.accounts.set_locked(account_id, locked=True)
    assert only_check(site).verdict == "warning"


def test_a_provider_that_answers_is_ok_and_one_that_is_gone_fails(site: Site):
    with Provider() as provider:
        site = configure(site, f"oidc_issuer: {provider.issuer}\n")
        check = only_check(site)
        assert (check.verdict, check.finding) == ("ok", "answers; keys for signatures: 1")
        provider.answers["/realm/keys"] = (200, {}, b'{"keys": [{"kty": "oct", "k": "eA"}]}')
        assert "no key that can sign" in only_check(site).finding
    check = only_check(site)
    assert check.verdict == "failed"
    assert "cannot be reached" in check.finding
    assert "oidc_issuer" in check.advice


def test_a_secret_file_that_others_can_read_fails(site: Site):
    secret = site.directory / "keys" / "proxy.secret"
    secret.write_text("a-secret-of-the-proxy\n")
    secret.chmod(0o644)
    site = configure(
        site, "trusted_proxy: 127.0.0.1\ntrusted_proxy_secret_file: keys/proxy.secret\n"
    )
    check = only_check(site)
    assert (check.verdict, check.advice) == ("failed", "Run `chmod 600` on it.")
    secret.chmod(0o600)
    assert only_check(site).finding == "recognised by its address and a secret"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("service_host: hospital.example\n", "service_host must be an IP address"),
        ("service_host: 0.0.0.0\n", "nothing encrypts the way there"),
        ("service_tls_certificate: a.pem\n", "must be set together"),
        (
            "service_tls_certificate: a.pem\nservice_tls_key: b.pem\n",
            "service_tls_certificate: {directory}/a.pem cannot be read",
        ),
    ],
)
def test_an_address_at_which_the_service_would_not_start_fails(site: Site, text: str, said: str):
    check = only_check(configure(site, text))
    assert (check.subject, check.verdict) == ("service", "failed")
    assert said.format(directory=site.directory) in check.finding


def test_a_store_that_is_gone_is_left_to_its_own_check(site: Site):
    (site.directory / "store" / "site.sqlite3").unlink()
    assert list(check_access(site)) == []
