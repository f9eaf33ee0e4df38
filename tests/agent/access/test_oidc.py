"""Sign-in at an OpenID provider: a real provider's process, and one that lies, replays, redirects or falls silent."""

import logging
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from joserfc import jwt

from agent.access.id_token import IdTokenRefusedError
from agent.access.oidc import (
    OidcArrival,
    OidcConfig,
    OidcDeparture,
    begin_oidc_sign_in,
    finish_oidc_sign_in,
    read_oidc_config,
)
from agent.access.refusals import ProviderError, SignInRefusedError, UnknownPersonError
from agent.errors import ConfigError
from agent.site.settings import Settings
from agent.store import Origin, Role, Store
from tests.agent.access.people import events, everything_kept
from tests.agent.access.provider import (
    CLIENT_SECRET,
    KEY,
    OTHER_KEY,
    Provider,
    leave_unsigned,
    sign,
    sign_with_client_secret,
    sign_with_published_key,
)

BACK = "https://eval.example.org/sign-in/oidc"
REFUSED = "the OpenID provider's answer was refused"


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def config(provider: Provider) -> OidcConfig:
    return OidcConfig(
        issuer=provider.issuer,
        client_id="intramural",
        client_secret=CLIENT_SECRET,
        scopes=("openid", "profile"),
        name_claim="preferred_username",
        groups_claim="groups",
        roles_by_group={"wards": Role.VIEWER},
    )


def begin(store: Store, config: OidcConfig, now: float | None = None) -> OidcDeparture:
    return begin_oidc_sign_in(store, config, BACK, now or time.time(), "/jobs")


def finish(
    store: Store, config: OidcConfig, cookie: str, query: dict[str, str], now: float | None = None
) -> OidcArrival:
    return finish_oidc_sign_in(store, config, cookie, query, now or time.time())


def sign_in(store: Store, config: OidcConfig, provider: Provider) -> OidcArrival:
    departure = begin(store, config)
    return finish(store, config, departure.cookie, provider.authorize(departure.url))


def refuse(store: Store, config: OidcConfig, cookie: str, query: dict[str, str]) -> str:
    """Return the reason for which a way back is refused."""
    with pytest.raises(IdTokenRefusedError) as refused:
        finish(store, config, cookie, query)
    assert events(store, "sign-in refused")[-1].endswith(f"reason={refused.value.reason}")
    assert store.accounts.read_all() == []
    return refused.value.reason


def test_a_person_comes_back_with_the_roles_of_their_groups(
    store: Store, config: OidcConfig, provider: Provider
):
    arrival = sign_in(store, config, provider)
    account = arrival.account
    assert (account.name, account.roles, account.origin) == ("dora", {Role.VIEWER}, Origin.OIDC)
    assert arrival.next_path == "/jobs"
    assert sign_in(store, config, provider).account.account_id == account.account_id
    assert store.sign_ins.count_pending() == 0


def test_the_request_names_no_secret_and_asks_for_state_nonce_and_pkce(
    store: Store, config: OidcConfig, provider: Provider
):
    departure = begin(store, config)
    asked = dict(parse_qsl(urlsplit(departure.url).query))
    assert asked["redirect_uri"] == BACK
    assert asked["scope"] == "openid profile"
    assert asked["code_challenge_method"] == "S256"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"], departure.cookie}) == 4
    assert min(len(asked[name]) for name in ("state", "nonce", "code_challenge")) >= 43
    assert CLIENT_SECRET not in departure.url
    assert departure.cookie not in departure.url


def test_a_person_who_did_not_begin_here_is_refused(
    store: Store, config: OidcConfig, provider: Provider
):
    # An attacker sends someone the address with which they came back themselves (login CSRF).
    departure = begin(store, config)
    query = provider.authorize(departure.url)
    for cookie in ("", "made up", begin(store, config).cookie[:-1]):
        assert refuse(store, config, cookie, query) == "not_begun_here_or_too_late"
    assert refuse(store, config, begin(store, config).cookie, query) == "state"
    assert "POST /realm/token" not in provider.requests


@pytest.mark.parametrize("state", ["", "wrong", None, "\ud800"])
def test_a_wrong_state_is_refused_before_the_provider_is_asked(
    store: Store, config: OidcConfig, provider: Provider, state: str | None
):
    departure = begin(store, config)
    query = {**provider.authorize(departure.url), "state": state or ""}
    if state is None:
        del query["state"]
    assert refuse(store, config, departure.cookie, query) == "state"
    assert "POST /realm/token" not in provider.requests


def test_a_way_back_works_once_and_a_stolen_code_not_at_all(
    store: Store, config: OidcConfig, provider: Provider
):
    departure = begin(store, config)
    query = provider.authorize(departure.url)
    finish(store, config, departure.cookie, query)
    with pytest.raises(IdTokenRefusedError, match="not_begun_here"):
        finish(store, config, departure.cookie, query)
    again = begin(store, config)
    replayed = {**provider.authorize(again.url), "code": query["code"]}
    with pytest.raises(IdTokenRefusedError, match="code_refused_by_the_provider"):
        finish(store, config, again.cookie, replayed)
    # A code of someone else's sign-in: the provider compares the verifier (PKCE).
    victim, attacker = begin(store, config), begin(store, config)
    stolen = {**provider.authorize(attacker.url), "code": provider.authorize(victim.url)["code"]}
    with pytest.raises(IdTokenRefusedError, match="code_refused_by_the_provider"):
        finish(store, config, attacker.cookie, stolen)


def test_whoever_takes_longer_than_ten_minutes_begins_again(
    store: Store, config: OidcConfig, provider: Provider
):
    departure = begin(store, config, time.time() - 601)
    query = provider.authorize(departure.url)
    assert refuse(store, config, departure.cookie, query) == "not_begun_here_or_too_late"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"code": ""}, "code"),
        ({"code": "x" * 5_000}, "code"),
        ({"code": "made up"}, "code_refused_by_the_provider"),
        ({"iss": "https://elsewhere.example"}, "issuer"),
        ({"error": "access_denied"}, "refused_by_the_provider"),
    ],
)
def test_a_way_back_that_proves_nothing_is_refused(
    store: Store, config: OidcConfig, provider: Provider, changes: dict[str, str], reason: str
):
    departure = begin(store, config)
    query = {**provider.authorize(departure.url), **changes}
    assert refuse(store, config, departure.cookie, query) == reason


LONG_AGO, LATER = int(time.time()) - 3_600, int(time.time()) + 36_000


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nonce": "of another sign-in"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"nonce": ""}, "nonce"),
        ({"nonce": ["x"]}, "nonce"),
        ({"aud": "another-service"}, "audience"),
        ({"aud": ["another-service"]}, "audience"),
        ({"aud": ["intramural", "another-service"]}, "audience"),
        ({"aud": ["intramural", "another-service"], "azp": "another-service"}, "audience"),
        ({"aud": None}, "audience"),
        ({"azp": "another-service"}, "audience"),
        ({"exp": LONG_AGO}, "expired"),
        ({"exp": None}, "expired"),
        ({"exp": "never"}, "expired"),
        ({"iat": LATER, "exp": LATER + 60}, "not_yet_valid"),
        ({"nbf": LATER}, "not_yet_valid"),
        ({"iat": None}, "not_yet_valid"),
        ({"iss": "https://elsewhere.example"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"iss": ["https://elsewhere.example"]}, "issuer"),
        ({"sub": None}, "subject"),
        ({"sub": ""}, "subject"),
        ({"sub": 4711}, "subject"),
        ({"sub": "x" * 256}, "subject"),
        ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "access_token"),
        ({"groups": {"wards": True}}, "groups"),
        ({"groups": 1}, "groups"),
    ],
)
def test_a_token_for_another_service_sign_in_time_or_person_is_refused(
    store: Store, config: OidcConfig, provider: Provider, changes: dict[str, Any], reason: str
):
    provider.changes = changes
    departure = begin(store, config)
    assert refuse(store, config, departure.cookie, provider.authorize(departure.url)) == reason


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (leave_unsigned, "algorithm"),
        (sign_with_published_key, "algorithm"),
        (sign_with_client_secret, "algorithm"),
        (lambda claims: sign(claims, OTHER_KEY), "signature"),
        (lambda claims: sign(claims)[:-8] + "AAAAAAAA", "signature"),
        (lambda claims: sign(claims).rpartition(".")[0] + ".", "signature"),
        (lambda claims: "not.a.token", "not_a_signed_token"),
        (lambda claims: "one part", "not_a_signed_token"),
        (lambda claims: "\u00e9.\u00e9.\u00e9", "not_a_signed_token"),
        (lambda claims: sign(claims) + ".extra", "not_a_signed_token"),
        (lambda claims: "", "no_id_token"),
    ],
)
def test_a_token_that_the_provider_did_not_sign_is_refused(
    store: Store,
    config: OidcConfig,
    provider: Provider,
    make: Callable[[dict[str, Any]], str],
    reason: str,
):
    provider.sign = make
    departure = begin(store, config)
    assert refuse(store, config, departure.cookie, provider.authorize(departure.url)) == reason


def test_a_token_for_several_services_is_accepted_if_it_was_made_for_this_one(
    store: Store, config: OidcConfig, provider: Provider
):
    provider.changes = {"aud": ["intramural", "another-service"], "azp": "intramural"}
    assert sign_in(store, config, provider).account.name == "dora"


def test_a_token_that_names_no_key_is_checked_with_the_only_one(
    store: Store, config: OidcConfig, provider: Provider
):
    provider.sign = lambda claims: jwt.encode({"alg": "RS256"}, claims, KEY, ["RS256"])
    assert sign_in(store, config, provider).account.name == "dora"


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256"])
def test_usual_signatures_are_accepted(
    store: Store, config: OidcConfig, provider: Provider, algorithm: str
):
    provider.sign = lambda claims: sign(claims, KEY, algorithm)
    assert sign_in(store, config, provider).account.name == "dora"


@pytest.mark.parametrize("groups", ["wards choir", ["wards", 1, None], ["wards"]])
def test_groups_are_read_from_a_list_or_from_words(
    store: Store, config: OidcConfig, provider: Provider, groups: object
):
    provider.changes = {"groups": groups}
    assert sign_in(store, config, provider).account.roles == {Role.VIEWER}


def test_a_person_without_a_name_is_called_by_their_identifier(
    store: Store, config: OidcConfig, provider: Provider
):
    provider.changes = {"preferred_username": None}
    assert sign_in(store, config, provider).account.name == "sub-1"


def test_a_person_without_a_role_gets_no_account(
    store: Store, config: OidcConfig, provider: Provider
):
    provider.changes = {"groups": ["choir"]}
    with pytest.raises(UnknownPersonError):
        sign_in(store, config, provider)
    assert store.accounts.read_all() == []


def test_a_client_secret_goes_into_the_form_if_the_provider_takes_no_other(
    store: Store, config: OidcConfig, provider: Provider
):
    sign_in(store, config, provider)
    assert "client_secret" not in provider.forms[-1]
    provider.described = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    sign_in(store, config, provider)
    assert (provider.forms[-1]["client_secret"], provider.forms[-1]["Authorization"]) == (
        CLIENT_SECRET,
        "",
    )


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize(
    "address",
    [
        "https://elsewhere.example/x",
        "http://127.0.0.1:1/x",
        "http://user@{host}/x",
        "http://{host}.elsewhere.example/x",
        "file:///etc/passwd",
        "//{host}/x",
        "http://[",
        None,
        ["http://{host}/x"],
    ],
)
def test_an_address_on_another_host_is_never_asked(
    store: Store, config: OidcConfig, provider: Provider, name: str, address: Any
):
    host = urlsplit(provider.issuer).netloc
    spoilt = address.replace("{host}", host) if isinstance(address, str) else address
    departure = begin(store, config)
    query = provider.authorize(departure.url)
    provider.described = {name: spoilt}
    with pytest.raises(ProviderError, match=f"{name} is not on the host"):
        begin(store, config) if name == "authorization_endpoint" else finish(
            store, config, departure.cookie, query
        )


DESCRIPTION = "/realm/.well-known/openid-configuration"


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "status 302"),
        ((500, {}, b"CANARY"), "status 500"),
        ((200, {}, b"<html>CANARY"), "not a JSON object"),
        ((200, {}, b"[]"), "not a JSON object"),
        ((200, {}, b'{"x": "' + b"x" * 2**20 + b'"}'), "too long"),
        ((200, {}, b'{"issuer": "https://elsewhere.example"}'), "another address than oidc_issuer"),
        ((200, {"Content-Length": "5"}, b"{}"), "cannot be reached"),
    ],
)
def test_a_provider_that_answers_with_something_else_is_named_without_its_answer(
    store: Store,
    config: OidcConfig,
    provider: Provider,
    answer: tuple[int, dict[str, str], bytes],
    finding: str,
):
    provider.answers[DESCRIPTION] = answer
    with pytest.raises(ProviderError, match=finding) as failed:
        begin(store, config)
    assert "CANARY" not in str(failed.value) + failed.value.advice


def test_a_provider_that_is_gone_is_named_and_nothing_is_left_waiting(
    store: Store, config: OidcConfig
):
    gone = replace(config, issuer="http://127.0.0.1:1")
    with pytest.raises(ProviderError, match="cannot be reached"):
        begin(store, gone)
    assert store.sign_ins.count_pending() == 0


def test_a_thousand_people_on_their_way_are_enough(
    store: Store, config: OidcConfig, provider: Provider
):
    with store.transaction():
        for number in range(1_000):
            store.sign_ins.add_pending(str(number), {}, expires_at=int(time.time()) + 600)
    with pytest.raises(SignInRefusedError, match="too many people"):
        begin(store, config)
    assert begin(store, config, time.time() + 601)


def test_no_secret_of_a_sign_in_is_stored_or_logged(
    store: Store,
    config: OidcConfig,
    provider: Provider,
    path: Path,
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG, "intramural")
    departure = begin(store, config)
    asked = dict(parse_qsl(urlsplit(departure.url).query))
    query = provider.authorize(departure.url)
    waiting = everything_kept(store, path)
    finish(store, config, departure.cookie, query)
    kept = waiting + everything_kept(store, path) + caplog.text.encode()
    secrets = [departure.cookie, asked["state"], asked["nonce"], query["code"], CLIENT_SECRET]
    verifier = provider.forms[-1]["code_verifier"]
    for secret in [*secrets, verifier, "an-access-token", "sub-1", "dora"]:
        assert secret.encode() not in kept


def test_the_client_secret_is_read_from_a_file_that_nobody_else_can_read(tmp_path: Path):
    file = tmp_path / "client.secret"
    settings = Settings(
        site_name="A", oidc_issuer="https://sso.example.org", oidc_client_secret_file=file
    )
    with pytest.raises(ConfigError, match="oidc_client_secret_file: the file cannot be read"):
        read_oidc_config(settings)
    file.write_text("a-client-secret\n")
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="open to other accounts"):
        read_oidc_config(settings)
    file.chmod(0o600)
    config = read_oidc_config(settings)
    assert config is not None
    assert config.client_secret == "a-client-secret"
    for content in ("", "two words", "short", "x" * 5_000, "caf\u00e9caf\u00e9"):
        file.write_text(content)
        with pytest.raises(ConfigError, match="one line of at least 8") as refused:
            read_oidc_config(settings)
        assert not content or content not in str(refused.value)
    assert read_oidc_config(Settings(site_name="A")) is None


@pytest.mark.parametrize(
    "issuer",
    [
        "sso.example.org",
        "http://sso.example.org",
        "https://",
        "https://a@b",
        "https://a?x",
        "x" * 9,
    ],
)
def test_an_issuer_that_is_no_https_address_is_refused_in_the_settings(issuer: str):
    with pytest.raises(ValueError, match="oidc_issuer"):
        Settings(site_name="A", oidc_issuer=issuer)


@pytest.fixture
def mock_provider(tmp_path: Path):
    """A provider process of others' making."""
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", "0"]
    output = tmp_path / "provider.log"
    with output.open("w") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            yield find_address(output)
        finally:
            process.terminate()


def find_address(output: Path) -> str:
    """Return the address that a provider prints once it listens."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if match := re.search(r"running on (http://127\.0\.0\.1:\d+)", output.read_text()):
            return match[1]
        time.sleep(0.05)
    raise TimeoutError(output.read_text())


def test_a_person_signs_in_at_a_real_provider(store: Store, config: OidcConfig, mock_provider: str):
    theirs = replace(config, issuer=mock_provider)
    claims = {"preferred_username": "dora", "groups": ["wards"]}
    httpx.put(f"{mock_provider}/users/dora%40example.org", json=claims).raise_for_status()
    departure = begin(store, theirs)
    assert httpx.get(departure.url).status_code == 200
    left = httpx.post(departure.url, data={"sub": "dora@example.org"})
    assert left.status_code == 302, left.text
    assert left.headers["Location"].startswith(BACK)
    query = dict(parse_qsl(urlsplit(left.headers["Location"]).query))
    arrival = finish(store, theirs, departure.cookie, query)
    assert (arrival.account.name, arrival.account.roles) == ("dora", {Role.VIEWER})
    again = begin(store, theirs)
    replayed = {**query, "state": dict(parse_qsl(urlsplit(again.url).query))["state"]}
    with pytest.raises(IdTokenRefusedError, match="code_refused_by_the_provider"):
        finish(store, theirs, again.cookie, replayed)


def test_a_person_who_cancels_at_a_real_provider_is_told_so(
    store: Store, config: OidcConfig, mock_provider: str
):
    theirs = replace(config, issuer=mock_provider)
    departure = begin(store, theirs)
    left = httpx.post(departure.url, data={"action": "deny"})
    query = dict(parse_qsl(urlsplit(left.headers["Location"]).query))
    query.setdefault("state", dict(parse_qsl(urlsplit(departure.url).query))["state"])
    with pytest.raises(IdTokenRefusedError, match="refused_by_the_provider"):
        finish(store, theirs, departure.cookie, query)
