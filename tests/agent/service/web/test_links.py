"""Every link and every form on every page, for every role: whatever a page offers, its reader may use."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from starlette.routing import compile_path

from agent.access.roles import find_reach
from agent.service.web.routes import PAGES, Route
from agent.store import Account
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.test_routes import NOT_ALLOWED
from tests.agent.service.web.whole_service import fill_service, read_people

_OF_A_KIND: Final = 3
"""Pages of one kind, such as instances, of which one reader looks at no more."""
_NAMES: Final = re.compile(r"(?<=/)(?=[^/]*[\d-])[\w.~%-]+(?=/|\.|$)|\d+")
ELSEWHERE: Final = {
    "GET /favicon.ico": "browsers ask for it by themselves",
    "GET /sign-in": "for those who are not signed in",
    "POST /sign-in": "for those who are not signed in",
    "GET /sign-in/provider": "for those who are not signed in",
    "GET /sign-in/oidc": "for those who are not signed in",
    "GET /work/{work_id}": "only while work of a page goes on; see test_slow_work.py",
    "GET /federation/requests/{kind}": "only while a request waits; see test_key_request_pages.py",
    "GET /federation/requests/{kind}/file": "only while a request waits; see test_key_request_pages.py",
    "GET /outbox/requests/{kind}": "only while a request waits; see test_key_request_pages.py",
    "GET /outbox/requests/{kind}/file": "only while a request waits; see test_key_request_pages.py",
    "POST /outbox/requests/{kind}": "only while a request waits; see test_key_request_pages.py",
    "POST /outbox/{digest}/withdraw": "only for results with a receipt; see test_declaration_pages.py",
    "POST /federation/rotate/cancel": "only while the central team decides; see test_key_request_pages.py",
    "POST /outbox/datasets/{benchmark}": "no data here can be registered; see test_registration_pages.py",
}
"""Routes to which no page may lead somebody who is signed in."""


@dataclass
class Offered(HTMLParser):
    """The addresses that a page leads to: of links, and of forms with their methods."""

    links: list[str] = field(default_factory=list)
    forms: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("a", "link") and not given.get("href", "#").startswith("#"):
            self.links.append(given["href"])
        if tag == "script" and "src" in given:
            self.links.append(given["src"])
        if tag == "form":
            self.forms.append((given.get("method", "get").upper(), given.get("action", "")))


class Visit:
    """One reader's walk from page to page.

    Attributes:
        faults: what was offered and cannot be used.
        routes: the routes to which something led.
    """

    def __init__(self, browser: Browser) -> None:
        self.faults: list[str] = []
        self.routes: set[Route] = set()
        self._browser = browser
        self._waiting: list[tuple[str, str]] = []
        self._seen: set[str] = set()
        self._kinds: Counter[str] = Counter()

    def walk(self, beginnings: Iterable[str]) -> None:
        """Visit these pages and all that they lead to."""
        for path in beginnings:
            self._add(path, "the table of routes")
        while self._waiting:
            path, origin = self._waiting.pop(0)
            self._visit(path, origin)

    def _add(self, path: str, origin: str) -> None:
        kind = _NAMES.sub("#", urlsplit(path).path) + "?" * bool(urlsplit(path).query)
        if path in self._seen or self._kinds[kind] >= _OF_A_KIND:
            return
        self._seen.add(path)
        self._kinds[kind] += 1
        self._waiting.append((path, origin))

    def _visit(self, path: str, origin: str) -> None:
        answer = self._browser.get(path)
        if answer.status_code == 303:
            self._add(answer.headers["location"], path)
        elif answer.status_code != 200:
            self.faults.append(f"{origin} leads to {path}: {answer.status_code}")
        self._remember("GET", urlsplit(path).path)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            return
        offered = Offered()
        offered.feed(answer.text)
        for link in offered.links:
            target = urljoin(path, link).partition("#")[0]
            if target.startswith("/"):
                self._add(target, path)
        for method, action in offered.forms:
            self._try_form(method, urljoin(path, action) if action else path, path)

    def _try_form(self, method: str, target: str, origin: str) -> None:
        """Send a form without the session's secret: whether it is allowed is decided first, and nothing changes."""
        self._remember(method, target)
        if method == "POST" and NOT_ALLOWED in self._browser.send(target, csrf="none").text:
            self.faults.append(f"{origin} has a form for {target}")
        if method == "GET":
            self._add(target, origin)

    def _remember(self, method: str, path: str) -> None:
        route = find_route(method, path)
        if route is None:
            self.faults.append(f"no route answers {method} {path}")
        else:
            self.routes.add(route)


def find_route(method: str, path: str) -> Route | None:
    """Return the route that answers a request, the first of the table as in the application."""
    for route in PAGES:
        if route.method == method and compile_path(route.path)[0].fullmatch(path):
            return route
    return None


def list_beginnings(account: Account) -> Iterator[str]:
    """Yield the pages without a value in their addresses that a reader may open."""
    for route in PAGES:
        if route.method != "GET" or "{" in route.path or route.action is None:
            continue
        if find_reach(account, route.action) is not None:
            yield route.path


def test_every_link_and_form_leads_to_something_that_its_reader_may_use(
    joined: RunningService, tmp_path: Path
) -> None:
    of_dana = fill_service(joined, tmp_path)
    faults: dict[str, list[str]] = {}
    seen: set[Route] = set()
    for name, account in read_people(joined.site).items():
        visit = Visit(joined.sign_in(name))
        first = of_dana if name == "dana" else []
        visit.walk([*first, *list_beginnings(account)])
        seen |= visit.routes
        if visit.faults:
            faults[name] = visit.faults
    assert faults == {}
    unseen = {f"{route.method} {route.path}" for route in PAGES if route not in seen}
    assert sorted(unseen - set(ELSEWHERE)) == []
