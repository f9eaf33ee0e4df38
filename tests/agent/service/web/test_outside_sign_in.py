"""People for whom the hospital's provider or a trusted proxy vouches, and those who pretend that one does."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
import yaml

from agent.site.directory import Site
from tests.agent.access.provider import CLIENT_SECRET, Provider
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import RunningService


def change_settings(site: Site, **changes: object) -> Site:
    """Write settings and return the site with them."""
    path = site.directory / "site.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}))
    return Site(site.directory)


def write_secret(site: Site, name: str, secret: str) -> str:
    """Write a file with a secret among the site's keys, and return its path as settings name it."""
    path = site.keys / name
    path.write_text(f"{secret}\n")
    path.chmod(0o600)
    return f"keys/{name}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def at_provider(filled: FilledSite, provider: Provider) -> Iterator[RunningService]:
    """A service at whose provider people sign in; the group `wards` are viewers."""
    secret = write_secret(filled.site, "oidc.secret", CLIENT_SECRET)
    site = change_settings(
        filled.site,
        oidc_issuer=provider.issuer,
        oidc_client_secret_file=secret,
        oidc_roles={"wards": "viewer"},
    )
    service = RunningService(site)
    yield service
    service.stop()


def begin(service: RunningService, wanted: str = "/jobs") -> tuple[httpx.Client, str]:
    """Begin a sign-in; return the browser and the address of the provider to which it was sent."""
    client = service.visit().client
    sent = client.get("/sign-in/provider", params={"next": wanted})
    assert sent.status_code == 303, sent.text
    return client, sent.headers["location"]


def test_a_person_signs_in_at_the_provider_and_reaches_the_page_they_wanted(
    at_provider: RunningService, provider: Provider
):
    assert "Sign in with your hospital account" in at_provider.visit().get("/sign-in").text
    client, address = begin(at_provider)
    asked = parse_qs(urlsplit(address).query)
    assert asked["redirect_uri"] == [f"{at_provider.origin}/sign-in/oidc"]
    assert asked["code_challenge_method"] == ["S256"]
    back = provider.authorize(address)
    arrived = client.get(f"/sign-in/oidc?{urlencode(back)}")
    assert arrived.status_code == 200, arrived.text
    assert 'content="0; url=/jobs"' in arrived.text
    assert "samesite=strict" in arrived.headers["set-cookie"].lower()
    assert client.get("/jobs").status_code == 200


def test_a_return_that_was_begun_elsewhere_signs_nobody_in(
    at_provider: RunningService, provider: Provider
):
    """An attacker sends a victim their own return address, so that the victim works in the attacker's account."""
    _, address = begin(at_provider)
    back = provider.authorize(address)
    victim = at_provider.visit().client
    refused = victim.get(f"/sign-in/oidc?{urlencode(back)}")
    assert refused.status_code == 403
    assert victim.get("/jobs").status_code == 303


def test_a_return_works_once(at_provider: RunningService, provider: Provider):
    client, address = begin(at_provider)
    back = urlencode(provider.authorize(address))
    assert client.get(f"/sign-in/oidc?{back}").status_code == 200
    thief = at_provider.visit().client
    thief.cookies.update(client.cookies)
    del thief.cookies["intramural"]
    assert thief.get(f"/sign-in/oidc?{back}").status_code == 403


def test_the_provider_leads_to_no_other_site(at_provider: RunningService, provider: Provider):
    client, address = begin(at_provider, "https://evil.example/")
    arrived = client.get(f"/sign-in/oidc?{urlencode(provider.authorize(address))}")
    assert 'content="0; url=/"' in arrived.text


def test_without_a_provider_the_address_says_so(running: RunningService):
    assert running.visit().get("/sign-in/provider").status_code == 400
    assert running.visit().get("/sign-in/oidc?code=a&state=b").status_code == 400


@pytest.fixture
def behind_proxy(filled: FilledSite) -> Iterator[RunningService]:
    """A service behind a proxy on this machine, which sends a secret; the group `science` are data scientists."""
    secret = write_secret(filled.site, "proxy.secret", PROXIED["X-Intramural-Proxy-Secret"])
    site = change_settings(
        filled.site,
        trusted_proxy="127.0.0.1",
        trusted_proxy_secret_file=secret,
        trusted_proxy_roles={"science": "data_scientist"},
    )
    service = RunningService(site)
    yield service
    service.stop()


PROXIED = {
    "X-Forwarded-User": "dana",
    "X-Forwarded-Groups": "science,others",
    "X-Intramural-Proxy-Secret": "a-long-secret-of-the-proxy",
}


def test_a_person_whom_the_proxy_names_is_signed_in_and_sends_forms(behind_proxy: RunningService):
    browser = behind_proxy.visit()
    browser.client.headers.update(PROXIED)
    page = browser.get("/new-run")
    assert page.status_code == 200
    assert "dana" in page.text
    sent = browser.submit("/new-run", step="queue")
    assert "No benchmark is chosen" in sent.text


def test_another_person_behind_the_same_browser_gets_their_own_session(
    behind_proxy: RunningService,
):
    browser = behind_proxy.visit()
    browser.client.headers.update(PROXIED)
    assert "dana" in browser.get("/account").text
    browser.client.headers["X-Forwarded-User"] = "noor"
    page = browser.get("/account").text
    assert "noor" in page
    assert "dana" not in page


@pytest.mark.parametrize(
    "headers",
    [
        {**PROXIED, "X-Intramural-Proxy-Secret": "guess"},
        {name: value for name, value in PROXIED.items() if "Secret" not in name},
        {**PROXIED, "X_Forwarded_User": "ada"},
    ],
    ids=["wrong secret", "no secret", "spelt otherwise"],
)
def test_who_only_claims_to_be_the_proxy_is_refused(
    behind_proxy: RunningService, headers: dict[str, str]
):
    response = behind_proxy.visit().get("/jobs", **headers)
    assert response.status_code == 403
    assert "Sign out" not in response.text


def test_without_a_trusted_proxy_its_headers_mean_nothing(running: RunningService):
    assert running.visit().get("/jobs", **PROXIED).status_code == 303
