"""A small OpenID provider that can be told to misbehave: it checks codes, PKCE and the client as a real one does."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_SECRET = "a-client-secret-of-tests"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})

Sign = Callable[[dict[str, Any]], str]


def sign(claims: dict[str, Any], key: RSAKey = KEY, algorithm: str = "RS256") -> str:
    """Return a token as the provider signs it."""
    return jwt.encode({"alg": algorithm, "kid": "one"}, claims, key, [algorithm])


def leave_unsigned(claims: dict[str, Any]) -> str:
    """Return a token with `alg: none`."""
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    return ".".join(encode(json.dumps(part).encode()) for part in parts) + "."


def sign_with_published_key(claims: dict[str, Any]) -> str:
    """Return a token whose HMAC secret is the provider's public key, which everyone knows."""
    return sign_with_secret(claims, KEY.as_pem(private=False))


def sign_with_client_secret(claims: dict[str, Any]) -> str:
    """Return a token whose HMAC secret is the client secret."""
    return sign_with_secret(claims, CLIENT_SECRET.encode())


def sign_with_secret(claims: dict[str, Any], secret: bytes) -> str:
    parts = ({"alg": "HS256", "kid": "one"}, claims)
    signed = ".".join(encode(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{encode(hmac.digest(secret, signed.encode(), 'sha256'))}"


def encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass
class Provider:
    """The provider's people, and how it misbehaves.

    Attributes:
        claims: of the person who signs in, beside those that the protocol needs.
        changes: claims to put in place of the right ones; None leaves a claim out.
        sign: makes the token of the claims.
        described: values to put into its description.
        answers: path -> (status, headers, body) to give in place of the right answer.
        requests: method and path of each request.
        forms: fields of each request to the token endpoint, and its Authorization header.
    """

    claims: Mapping[str, Any] = field(
        default_factory=lambda: {"sub": "sub-1", "preferred_username": "dora", "groups": ["wards"]}
    )
    changes: dict[str, Any] = field(default_factory=dict)
    sign: Sign = sign
    described: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __enter__(self) -> "Provider":
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self, "")

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                provider.answer(self, self.rfile.read(length).decode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}/realm"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def authorize(self, url: str) -> dict[str, str]:
        """Sign the person in, as their browser does at `url`. Return the parameters of the way back."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def answer(self, handler: BaseHTTPRequestHandler, body: str) -> None:
        """Answer one request."""
        path = urlsplit(handler.path).path
        self.requests.append(f"{handler.command} {path}")
        status, headers, content = self.answers.get(path) or self._find(handler, path, body)
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    def _find(
        self, handler: BaseHTTPRequestHandler, path: str, body: str
    ) -> tuple[int, dict[str, str], bytes]:
        if path == "/realm/.well-known/openid-configuration":
            return 200, {}, json.dumps(self._describe()).encode()
        if path == "/realm/keys":
            keys = [{"kty": "unheard of"}, {"kty": "oct", "k": "eA"}, KEY.as_dict(private=False)]
            return 200, {}, json.dumps({"keys": keys}).encode()
        if path == "/realm/token":
            return self._redeem(
                {name: values[0] for name, values in parse_qs(body).items()}, handler
            )
        return 404, {}, b""

    def _describe(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.described,
        }

    def _redeem(
        self, form: dict[str, str], handler: BaseHTTPRequestHandler
    ) -> tuple[int, dict[str, str], bytes]:
        self.forms.append({**form, "Authorization": handler.headers.get("Authorization", "")})
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or not self._is_client(form, handler):
            return 400, {}, b'{"error": "invalid_grant"}'
        challenge = encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {}, b'{"error": "invalid_grant"}'
        answer = {"access_token": "an-access-token", "token_type": "Bearer"}
        token = self._make_token(asked)
        if token:
            answer["id_token"] = token
        return 200, {}, json.dumps(answer).encode()

    def _is_client(self, form: dict[str, str], handler: BaseHTTPRequestHandler) -> bool:
        basic = base64.b64encode(f"intramural:{CLIENT_SECRET}".encode()).decode()
        by_header = handler.headers.get("Authorization") == f"Basic {basic}"
        return by_header or form.get("client_secret") == CLIENT_SECRET

    def _make_token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            **self.claims,
            **self.changes,
        }
        return self.sign({name: value for name, value in claims.items() if value is not None})
