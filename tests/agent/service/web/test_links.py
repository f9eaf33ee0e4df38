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
    "POST /federation/rotate/cancel": "only while the central team decides; see test_key_request_pages.py",
    "POST /outbox/datasets/{benchmark}": "no data here can be registered; see test_registration_pages.py",
}
"""Routes to which no page may lead somebody who is signed in."""
OF_REQUESTS: Final = {
    "GET /federation/requests/{kind}",
    "GET /federation/requests/{kind}/file",
    "GET /outbox/requests/{kind}",
    "GET /outbox/requests/{kind}/file",
    "POST /outbox/requests/{kind}",
}
"""Routes of a request about keys. It waits only as long as no draft takes its place in the chain."""


_CODED: Final = frozenset({"code", "pre", "script", "style", "title", "option", "textarea"})
"""Elements in which commands and texts of people may stand as they are written."""
_PLAIN_WORD: Final = re.compile(r"[a-z]+[ ,]")
_VOID: Final = frozenset({"input", "meta", "link", "br", "wbr", "img", "hr"})


@dataclass
class Offered(HTMLParser):
    """What a page leads to, and what it says.

    Attributes:
        links: the addresses of links.
        forms: the addresses of forms, with their methods.
        words: the texts of the page outside code and texts of instances.
        callouts: the beginnings of texts that are set off, such as errors.
    """

    links: list[str] = field(default_factory=list)
    forms: list[tuple[str, str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    callouts: list[str] = field(default_factory=list)
    _open: list[tuple[str, bool]] = field(default_factory=list)
    _is_new_callout: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag in ("a", "link") and not given.get("href", "#").startswith("#"):
            self.links.append(given["href"])
        if tag == "script" and "src" in given:
            self.links.append(given["src"])
        if tag == "form":
            self.forms.append((given.get("method", "get").upper(), given.get("action", "")))
        if tag not in _VOID:
            is_coded = tag in _CODED or "text" in classes
            self._open.append((tag, is_coded))
        if "callout" in classes:
            self._is_new_callout = True

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(is_coded for _, is_coded in self._open) or not data.strip():
            return
        self.words.append(data.strip())
        if self._is_new_callout:
            self.callouts.append(data.strip())
            self._is_new_callout = False

    def list_faults(self) -> list[str]:
        """Return sentences with the marks of the command line, and callouts that begin in lower case."""
        marked = [f"shows a backtick in: {text}" for text in self.words if "`" in text]
        small = [
            f"begins in lower case: {text}" for text in self.callouts if _PLAIN_WORD.match(text)
        ]
        return marked + small


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
        self._within = "/"

    def walk(self, beginnings: Iterable[str], within: str = "/") -> None:
        """Visit these pages and all that they lead to, if their addresses begin with `within`."""
        self._within = within
        for path in beginnings:
            self._add(path, "the table of routes")
        while self._waiting:
            path, origin = self._waiting.pop(0)
            self._visit(path, origin)

    def _add(self, path: str, origin: str) -> None:
        kind = _NAMES.sub("#", urlsplit(path).path) + "?" * bool(urlsplit(path).query)
        is_known = path in self._seen or self._kinds[kind] >= _OF_A_KIND
        if is_known or not path.startswith(self._within):
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
        if path != "/audit":  # whose lines are those of the log itself
            self.faults += [f"{path} {fault}" for fault in offered.list_faults()]
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


def name_route(route: Route) -> str:
    return f"{route.method} {route.path}"


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
    unseen = {name_route(route) for route in set(PAGES) - seen}
    assert sorted(unseen - set(ELSEWHERE) - OF_REQUESTS) == []


def test_a_request_about_keys_is_offered_to_those_who_ask_for_it_and_who_sign_it(
    joined: RunningService,
) -> None:
    ada, stella = joined.sign_in("ada"), joined.sign_in("stella")
    assert stella.submit("/outbox/send").status_code == 303
    assert ada.submit("/federation/rotate", role="agent").status_code == 303
    seen: set[str] = set()
    for browser, beginning in ((ada, "/federation"), (stella, "/outbox")):
        visit = Visit(browser)
        visit.walk([beginning], within=beginning)
        assert visit.faults == []
        seen |= set(map(name_route, visit.routes))
    assert sorted(OF_REQUESTS - seen) == []
