"""A trusted proxy's headers: believed from the proxy alone, and never in a variant that it did not write."""

from pathlib import Path

import pytest

from agent.access.external import ExternalIdentity
from agent.access.proxy import (
    ProxyHeaderRefusedError,
    TrustedProxy,
    read_proxy_account,
    read_trusted_proxy,
)
from agent.errors import ConfigError
from agent.site.settings import Settings, read_settings
from agent.store import Origin

PROXY = TrustedProxy("10.0.0.7", "X-Forwarded-User", "X-Forwarded-Groups")
LOCAL = TrustedProxy("127.0.0.1", "X-Forwarded-User", "X-Forwarded-Groups", "proxy-secret")
ANNA = ("x-forwarded-user", "anna")


def test_the_proxys_person_and_groups_are_read():
    headers = [
        ("host", "eval.example.org"),
        ("X-Forwarded-User", "  M\u00c3\u00bcller "),
        ("X-Forwarded-Groups", "wards, science,,"),
        ("X-Forwarded-Groups", "choir"),
    ]
    assert read_proxy_account(headers, "10.0.0.7", PROXY) == ExternalIdentity(
        Origin.PROXY, "Müller", "Müller", frozenset({"wards", "science", "choir"})
    )


def test_a_request_that_names_nobody_is_nobodys():
    for peer in ("10.0.0.7", "10.0.0.8"):
        assert read_proxy_account([("host", "eval.example.org")], peer, PROXY) is None


@pytest.mark.parametrize(
    "peer", ["10.0.0.8", "127.0.0.1", "", "10.0.0.7.example.org", "::1", "unix:"]
)
@pytest.mark.parametrize(
    "header",
    [
        ANNA,
        ("X_Forwarded_User", "anna"),
        ("x-FORWARDED_user", "anna"),
        ("X-Forwarded-Groups", "administrators"),
    ],
)
def test_whoever_sends_the_header_from_another_address_is_refused(
    peer: str, header: tuple[str, str]
):
    with pytest.raises(ProxyHeaderRefusedError, match="does not come from the trusted proxy"):
        read_proxy_account([header], peer, PROXY)


@pytest.mark.parametrize("peer", ["10.0.0.7", "::ffff:10.0.0.7"])
def test_the_proxys_address_is_the_same_in_both_notations(peer: str):
    assert read_proxy_account([ANNA], peer, PROXY) is not None


@pytest.mark.parametrize(
    "headers",
    [
        [ANNA, ANNA],
        [ANNA, ("X_Forwarded_User", "root")],
        [("x-forwarded-user", "")],
        [("x-forwarded-user", "an\x00na")],
        [("x-forwarded-user", "\u00e2\u0080\u00aeanna")],
        [("x-forwarded-user", "\u00ff\u00fe")],
        [("x-forwarded-groups", "administrators")],
    ],
)
def test_a_header_that_is_repeated_empty_damaged_or_without_a_person_is_refused(
    headers: list[tuple[str, str]],
):
    with pytest.raises(ProxyHeaderRefusedError):
        read_proxy_account(headers, "10.0.0.7", PROXY)


@pytest.mark.parametrize(
    "secrets",
    [
        [],
        ["wrong"],
        ["proxy-secret", "proxy-secret"],
        [""],
        ["proxy-secre\u00e9"],
        ["proxy-secret "],
    ],
)
def test_another_account_of_the_same_machine_does_not_know_the_proxys_secret(secrets: list[str]):
    headers = [ANNA, *(("X-Intramural-Proxy-Secret", secret) for secret in secrets)]
    with pytest.raises(ProxyHeaderRefusedError, match="did not send its secret") as refused:
        read_proxy_account(headers, "127.0.0.1", LOCAL)
    assert "proxy-secret" not in str(refused.value) + refused.value.advice


def test_the_proxy_on_this_machine_sends_its_secret():
    headers = [ANNA, ("x-intramural-proxy-secret", "proxy-secret")]
    assert read_proxy_account(headers, "127.0.0.1", LOCAL) is not None


def write(folder: Path, text: str) -> Settings:
    (folder / "site.yaml").write_text(f"site_name: A\n{text}")
    return read_settings(folder / "site.yaml")


def test_a_proxy_on_this_machine_without_a_secret_is_refused_in_the_settings(tmp_path: Path):
    for address in ("127.0.0.1", "127.8.8.8", "::1"):
        with pytest.raises(ConfigError, match="also needs trusted_proxy_secret_file"):
            write(tmp_path, f"trusted_proxy: '{address}'\n")


@pytest.mark.parametrize("address", ["proxy.example.org", "10.0.0.0/8", "10.0.0.7:80", "*"])
def test_a_proxy_is_one_address(tmp_path: Path, address: str):
    with pytest.raises(ConfigError, match="trusted_proxy: expected one IP address"):
        write(tmp_path, f"trusted_proxy: '{address}'\n")


def test_settings_name_the_headers_the_roles_and_a_file_beside_them(tmp_path: Path):
    (tmp_path / "proxy.secret").write_text("proxy-secret\n")
    (tmp_path / "proxy.secret").chmod(0o600)
    settings = write(
        tmp_path,
        "trusted_proxy: 127.0.0.1\n"
        "trusted_proxy_secret_file: proxy.secret\n"
        "trusted_proxy_user_header: Remote-User\n"
        "trusted_proxy_roles: {wards: viewer, it: administrator}\n",
    )
    assert read_trusted_proxy(settings) == TrustedProxy(
        "127.0.0.1", "Remote-User", "X-Forwarded-Groups", "proxy-secret"
    )
    assert settings.trusted_proxy_roles == {"wards": "viewer", "it": "administrator"}
    assert read_trusted_proxy(Settings(site_name="A")) is None


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("trusted_proxy_roles: {wards: emperor}\n", "trusted_proxy_roles.wards: expected 'viewer'"),
        ("trusted_proxy_user_header: 'X User'\n", "trusted_proxy_user_header"),
        ("oidc_scopes: [profile]\n", "a list that contains openid"),
        ("session_idle_minutes: 0\n", "session_idle_minutes"),
    ],
)
def test_a_role_header_or_limit_that_does_not_exist_is_refused(
    tmp_path: Path, text: str, finding: str
):
    with pytest.raises(ConfigError, match=finding):
        write(tmp_path, text)
