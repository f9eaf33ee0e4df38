"""Sign-in at an OpenID provider: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 7636).

The provider is asked anew at each sign-in, so nothing about it is remembered that it has changed meanwhile. Requests go
to the issuer's own host only, by the site's certificate authorities, and never follow a redirect.

What is compared at the person's return is stored under the secret of a short-lived cookie. That cookie must be
`SameSite=Lax`, since the person comes back from another site; and the answer to the return must be a page that leads on
rather than a redirect, or the browser does not send the new session's strict cookie along.
"""

import hmac
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agent.access.external import ExternalIdentity, sign_in_external
from agent.access.id_token import Expectation, IdTokenRefusedError, check_id_token, import_keys
from agent.access.refusals import ProviderError, SignInRefusedError
from agent.access.secret_file import read_secret_file
from agent.io.outgoing_faults import explain_certificate, explain_proxy, find_certificate_error
from agent.io.tls import load_trust
from agent.store import Account, Role, Store

if TYPE_CHECKING:
    import httpx

    from agent.site.settings import Settings

PENDING_S: Final = 600
"""Seconds that a person has to sign in at the provider."""
_MOST_PENDING: Final = 1000  # people at the provider; more is someone who fills the store
_SECRET_BYTES: Final = 32
_MOST_BYTES: Final = 2**20  # of one answer
_CONNECT_S: Final = 10.0
_TOTAL_S: Final = 30.0  # seconds for one answer, even if bytes keep arriving
_LONGEST_CODE: Final = 4096  # characters
_OK: Final = 200
_CHECK: Final = (
    "Try again. If it happens again, an administrator checks `oidc_issuer`, `proxy` and `ca_bundle` in "
    "site.yaml."
)


@dataclass(frozen=True, slots=True)
class OidcConfig:
    """The OpenID provider of a site, and how to reach it.

    Attributes:
        issuer: URL of the provider, as its tokens name it.
        client_id: id under which the provider knows this service.
        client_secret: the secret with which this service proves itself; "" for a public client.
        scopes: scopes to request.
        name_claim, groups_claim: claims with the person's name and groups.
        roles_by_group: role by group; empty if an administrator adds the accounts.
        proxy: URL of the outgoing proxy, or None.
        ca_bundle: PEM file, or None for the system's certificate authorities.
    """

    issuer: str
    client_id: str
    client_secret: str
    scopes: tuple[str, ...]
    name_claim: str
    groups_claim: str
    roles_by_group: Mapping[str, Role]
    proxy: str | None = None
    ca_bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class OidcDeparture:
    """A person on the way to the provider: where the browser goes, and the cookie with which it comes back."""

    url: str
    cookie: str


@dataclass(frozen=True, slots=True)
class OidcArrival:
    """A person who came back and is signed in. `next_path` is what `begin_oidc_sign_in` was given."""

    account: Account
    next_path: str


def read_oidc_config(settings: "Settings") -> OidcConfig | None:
    """Return the site's OpenID provider, or None if it has none.

    Raises:
        ConfigError: the file with the client secret cannot be read, or is open to other accounts.
    """
    if settings.oidc_issuer is None:
        return None
    client_secret = ""
    if settings.oidc_client_secret_file is not None:
        client_secret = read_secret_file(
            settings.oidc_client_secret_file, "oidc_client_secret_file"
        )
    return OidcConfig(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=client_secret,
        scopes=settings.oidc_scopes,
        name_claim=settings.oidc_name_claim,
        groups_claim=settings.oidc_groups_claim,
        roles_by_group=settings.oidc_roles,
        proxy=settings.proxy if settings.oidc_uses_proxy else None,
        ca_bundle=settings.ca_bundle,
    )


def begin_oidc_sign_in(
    store: Store, config: OidcConfig, redirect_uri: str, now: float, next_path: str = "/"
) -> OidcDeparture:
    """Prepare a sign-in at the provider. Asks the provider for its addresses.

    Args:
        store: the site's store.
        config: the provider.
        redirect_uri: the address of this service to which the provider sends the person back; registered there.
        now: the time, in seconds since 1970.
        next_path: the page that the person wanted; given back at the end.

    Raises:
        ProviderError: the provider cannot be reached, or its description is not one that can be trusted.
        SignInRefusedError: too many people are on their way.
    """
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    store.sign_ins.delete_pending(int(now))
    if store.sign_ins.count_pending() >= _MOST_PENDING:
        raise SignInRefusedError("too many people are signing in", "Try again in ten minutes.")
    with _Connection(config) as connection:
        address = connection.read_address("authorization_endpoint")
    cookie, state, nonce, verifier = (secrets.token_urlsafe(_SECRET_BYTES) for _ in range(4))
    content = {
        "state": state,
        "nonce": nonce,
        "verifier": verifier,
        "redirect_uri": redirect_uri,
        "next_path": next_path,
    }
    store.sign_ins.add_pending(cookie, content, expires_at=int(now) + PENDING_S)
    url: str = prepare_grant_uri(
        address,
        client_id=config.client_id,
        response_type="code",
        redirect_uri=redirect_uri,
        scope=" ".join(config.scopes),
        state=state,
        nonce=nonce,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
    )
    return OidcDeparture(url, cookie)


def finish_oidc_sign_in(
    store: Store, config: OidcConfig, cookie: str, query: Mapping[str, str], now: float
) -> OidcArrival:
    """Sign in a person who came back from the provider. Open a session for the account with `open_session`.

    Each cookie works once, whatever comes of it.

    Args:
        store: the site's store.
        config: the provider.
        cookie: the cookie of `begin_oidc_sign_in`; "" if the browser sent none.
        query: the parameters of the address to which the provider sent the person.
        now: the time, in seconds since 1970.

    Raises:
        SignInRefusedError: the person did not begin here, took too long, or the provider's answer does not prove who
            they are.
        UnknownPersonError: they have no account or no role here.
        ProviderError: the provider cannot be reached, or answers with something else.
    """
    pending = store.sign_ins.take_pending(cookie, int(now))
    try:
        code = _check_return(config, pending, query)
        identity = _redeem(config, pending or {}, code, now)
    except IdTokenRefusedError as error:
        store.audit.record("sign-in refused", f"account=unknown by=oidc reason={error.reason}")
        raise
    account = sign_in_external(store, identity, config.roles_by_group, now)
    return OidcArrival(account, (pending or {})["next_path"])


def check_provider(config: OidcConfig) -> int:
    """Check that the provider answers and describes itself as sign-in needs it. Return the number of its keys.

    Raises:
        ProviderError: it cannot be reached, or people could not sign in there.
    """
    with _Connection(config) as connection:
        for name in ("authorization_endpoint", "token_endpoint"):
            connection.read_address(name)
        keys = import_keys(connection.read_keys())
    if not keys:
        raise ProviderError(
            "the OpenID provider publishes no key that can sign", "Ask its administrator."
        )
    return len(keys)


def _check_return(
    config: OidcConfig, pending: Mapping[str, str] | None, query: Mapping[str, str]
) -> str:
    """Return the code with which the provider sent a person back. Raises IdTokenRefusedError."""
    if pending is None:
        raise IdTokenRefusedError("not_begun_here_or_too_late")
    sent = query.get("state", "").encode("utf-8", "surrogatepass")
    if not hmac.compare_digest(sent, pending["state"].encode()):
        raise IdTokenRefusedError("state")
    if query.get("iss", config.issuer) != config.issuer:
        raise IdTokenRefusedError("issuer")
    if "error" in query:
        raise IdTokenRefusedError("refused_by_the_provider")
    code = query.get("code", "")
    if not 0 < len(code) <= _LONGEST_CODE:
        raise IdTokenRefusedError("code")
    return code


def _redeem(
    config: OidcConfig, pending: Mapping[str, str], code: str, now: float
) -> ExternalIdentity:
    """Exchange the code for an ID token, and return its person."""
    with _Connection(config) as connection:
        tokens = connection.post_code(code, pending["redirect_uri"], pending["verifier"])
        keys = connection.read_keys()
    id_token, access_token = tokens.get("id_token"), tokens.get("access_token")
    if not isinstance(id_token, str):
        raise IdTokenRefusedError("no_id_token")
    expected = Expectation(
        issuer=config.issuer,
        client_id=config.client_id,
        nonce=pending["nonce"],
        name_claim=config.name_claim,
        groups_claim=config.groups_claim,
    )
    named = access_token if isinstance(access_token, str) else ""
    return check_id_token(id_token, named, keys, expected, now)


class _Connection:
    """The requests of one sign-in to the provider."""

    def __init__(self, config: OidcConfig) -> None:
        self._config = config
        self._described: dict[str, Any] | None = None

    def __enter__(self) -> "_Connection":
        import httpx

        self._client = httpx.Client(
            trust_env=False,
            proxy=self._config.proxy,
            verify=load_trust(self._config.ca_bundle),
            follow_redirects=False,
            timeout=httpx.Timeout(_TOTAL_S, connect=_CONNECT_S),
            headers={"User-Agent": "intramural", "Accept": "application/json"},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def read_address(self, name: str) -> str:
        """Return an address from the provider's description. Raises ProviderError unless it is on the issuer's host."""
        address = self._describe().get(name)
        if not isinstance(address, str) or _read_origin(address) != _read_origin(
            self._config.issuer
        ):
            raise ProviderError(
                f"the OpenID provider's {name} is not on the host of oidc_issuer",
                "Check `oidc_issuer` in site.yaml: it must be the provider's own address.",
            )
        return address

    def read_keys(self) -> list[Mapping[str, Any]]:
        """Return the keys with which the provider signs."""
        keys = self._exchange("GET", self.read_address("jwks_uri")).get("keys")
        if not isinstance(keys, list):
            raise ProviderError("the OpenID provider publishes no keys")
        return [key for key in keys if isinstance(key, dict)]

    def post_code(self, code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        """Return the tokens for a code. Raises IdTokenRefusedError if the provider refuses it."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "client_id": self._config.client_id,
        }
        address = self.read_address("token_endpoint")
        auth: tuple[str, str] | None = None
        if self._config.client_secret:
            offered = self._describe().get("token_endpoint_auth_methods_supported")
            if isinstance(offered, list) and "client_secret_basic" not in offered:
                form["client_secret"] = self._config.client_secret
            else:
                auth = (self._config.client_id, self._config.client_secret)
        return self._exchange("POST", address, data=form, auth=auth)

    def _describe(self) -> dict[str, Any]:
        """Return the provider's description of itself (OpenID Connect Discovery)."""
        if self._described is None:
            address = f"{self._config.issuer.rstrip('/')}/.well-known/openid-configuration"
            described = self._exchange("GET", address)
            if described.get("issuer") != self._config.issuer:
                raise ProviderError(
                    "the OpenID provider calls itself by another address than oidc_issuer",
                    "Copy the issuer exactly as the provider writes it, with or without a slash at its end.",
                )
            self._described = described
        return self._described

    def _exchange(self, method: str, address: str, **content: Any) -> dict[str, Any]:
        """Send one request and return the JSON object of its answer.

        Raises:
            ProviderError: there was no answer, or one that is not a JSON object. Neither is quoted.
            IdTokenRefusedError: the provider refused a code.
        """
        import httpx

        try:
            with self._client.stream(method, address, **content) as response:
                body = _read_bounded(response)
        except httpx.TimeoutException:
            raise ProviderError("the OpenID provider did not answer in time", _CHECK) from None
        except httpx.ProxyError as error:
            proxy = explain_proxy(error, self._config.proxy, "the provider's host and port")
            raise ProviderError(
                f"the OpenID provider cannot be reached: the proxy {proxy.problem}",
                f"{proxy.advice} `oidc_uses_proxy: false` connects directly.",
            ) from None
        except httpx.HTTPError as error:
            refused = find_certificate_error(error)
            if refused is not None:
                certificate = explain_certificate(refused)
                raise ProviderError(
                    f"the OpenID provider's certificate was not accepted: {certificate.problem}",
                    certificate.advice,
                ) from None
            raise ProviderError(
                f"the OpenID provider cannot be reached ({type(error).__name__})", _CHECK
            ) from None
        if method == "POST" and 400 <= response.status_code < 500:
            raise IdTokenRefusedError("code_refused_by_the_provider")
        if response.status_code != _OK:
            raise ProviderError(
                f"the OpenID provider answered with status {response.status_code}", _CHECK
            )
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ProviderError("the OpenID provider's answer is not a JSON object", _CHECK)
        return answer


def _read_bounded(response: "httpx.Response") -> bytes:
    """Return the body of an answer. Raises ProviderError if it is too large or too slow."""
    deadline = time.monotonic() + _TOTAL_S
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > _MOST_BYTES or time.monotonic() > deadline:
            raise ProviderError("the OpenID provider's answer is too long or too slow", _CHECK)
    return bytes(body)


def _read_origin(address: str) -> tuple[str, str | None, int | None] | None:
    """Return scheme, host and port of an address; None if it has a user name or is no address."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.username is not None or parts.scheme not in ("https", "http"):
        return None
    return parts.scheme, parts.hostname, port or {"https": 443, "http": 80}[parts.scheme]
