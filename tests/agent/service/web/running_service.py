"""The service over real sockets, with people who have accounts, and clients that behave like their browsers."""

import re
import socket
import threading
import time
from collections.abc import Mapping
from typing import Final

import httpx
import uvicorn

from agent.access.accounts import add_account
from agent.access.roles import Action
from agent.access.tokens import create_token
from agent.service.web.address import Address
from agent.service.web.application import build_application
from agent.service.web.serve import listen
from agent.service.web.service import Service
from agent.site.directory import Site
from agent.store import Account, Role

PASSWORD: Final = "correct horse battery"
PEOPLE: Final[Mapping[str, frozenset[Role]]] = {
    "vera": frozenset({Role.VIEWER}),
    "dana": frozenset({Role.DATA_SCIENTIST}),
    "dan": frozenset({Role.DATA_SCIENTIST}),
    "stella": frozenset({Role.STEWARD}),
    "ada": frozenset({Role.ADMINISTRATOR}),
}
DEPLOYMENTS = """
model_deployments:
  - name: local/qwen
    model_name: qwen/qwen2.5-7b-instruct
    client_spec:
      class_name: helm.clients.vllm_client.VLLMChatClient
      args: {base_url: "http://127.0.0.1:9/v1", vllm_model_name: qwen}
"""
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')


def add_people(site: Site) -> dict[str, Account]:
    """Add an account for each of PEOPLE, all with the same password."""
    accounts: dict[str, Account] = {}
    with site.store() as store:
        for name, roles in PEOPLE.items():
            accounts[name] = add_account(
                store, name, roles, time.time(), password=PASSWORD, own_password=True
            )
    return accounts


class RunningService:
    """A service on a free port, in a thread of its own, without a dispatcher: queued jobs stay queued."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._listener: socket.socket = listen(Address("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.service = Service(site, self.origin)
        config = uvicorn.Config(
            build_application(self.service), log_config=None, access_log=False, lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        self._listener.close()
        self.service.close()

    def visit(self) -> "Browser":
        """Return a browser in which nobody is signed in."""
        return Browser(self)

    def sign_in(self, name: str) -> "Browser":
        """Return a browser in which this person has just signed in."""
        browser = Browser(self)
        response = browser.send("/sign-in", name=name, password=PASSWORD)
        assert response.status_code == 303, response.text
        return browser

    def make_token(self, account: Account, *scopes: Action) -> str:
        """Return an API token of an account, which may take these actions."""
        with self.site.store() as store:
            return create_token(
                store, account, "a test", scopes, 1, time.time(), most_days=90
            ).secret


class Browser:
    """Sends what a browser would: its cookies, and its origin with every form. It follows no redirects."""

    def __init__(self, service: RunningService) -> None:
        self.origin = service.origin
        # Without TLS: to load the certificates takes longer than most tests do.
        self.client = httpx.Client(
            base_url=service.origin, timeout=30, trust_env=False, verify=False
        )

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=headers)

    def send(self, path: str, **fields: str | list[str]) -> httpx.Response:
        """Send a form as it is, without the secret of the session's forms."""
        return self.client.post(path, data=fields, headers={"Origin": self.origin})

    def submit(self, path: str, **fields: str | list[str]) -> httpx.Response:
        """Send a form as one of the service's pages would; return its outcome, also of work that goes on without it."""
        response = self.send(path, csrf=self.read_secret(), **fields)
        if response.headers.get("location", "").startswith("/work/"):
            work = response.headers["location"]
            while "This goes on" in (response := self.get(work)).text:
                time.sleep(0.5)
        return response

    def upload(
        self, path: str, content: bytes, *, sent_name: str = "from-the-steward.json", **fields: str
    ) -> httpx.Response:
        """Send a form with a file, which has this name on the sender's computer."""
        fields["csrf"] = fields.get("csrf") or self.read_secret()
        headers = {"Origin": self.origin}
        files = {"file": (sent_name, content)}
        return self.client.post(path, data=fields, files=files, headers=headers)

    def read_secret(self) -> str:
        """Return the secret of the session's forms, from a page."""
        found = _CSRF.search(self.get("/account").text)
        assert found is not None
        return found.group(1)
