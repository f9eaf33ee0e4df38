"""What the service's handlers work with: the site, its store for one request, and the drawing of pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from starlette.responses import RedirectResponse, Response

from agent.access.roles import Action
from agent.redaction.gateway.cases import Revealing
from agent.service.frame import Frame, Room, RoomGroup
from agent.service.pages import suite_slug
from agent.service.render import Renderer
from agent.service.web.benchmark_titles import BenchmarkTitles
from agent.service.web.busy import BusyNames
from agent.service.web.call import Call
from agent.service.web.callers import Caller
from agent.service.web.health import HealthChecks
from agent.service.web.metrics import ServiceMetrics
from agent.service.web.notices import Notices
from agent.service.web.page_cache import PageCache
from agent.service.web.readiness import Readiness
from agent.service.web.slow_work import SlowWork
from agent.service.web.texts import TextReader
from agent.service.web.transfers import Transfers
from agent.site.directory import Site
from agent.store import PUBLIC, Audience, AuditEvent, Store
from agent.store.audit_chain import AuditHead

HTML = "text/html; charset=utf-8"
_Room = tuple[str, str, Action]
_GROUPS: Final[tuple[tuple[str, tuple[_Room, ...]], ...]] = (
    ("Start", (("Start", "/", Action.VIEW_BOARDS),)),
    (
        "Results",
        (
            ("Results", "/results/index.html", Action.VIEW_BOARDS),
            ("Rating", "/rating", Action.RATE_ANSWERS),
        ),
    ),
    (
        "Runs",
        (
            ("New run", "/new-run", Action.QUEUE_JOBS),
            ("Jobs", "/jobs", Action.VIEW_JOBS),
        ),
    ),
    (
        "Data and models",
        (
            ("Benchmarks", "/benchmarks", Action.VIEW_DATA),
            ("Models", "/models", Action.VIEW_MODELS),
        ),
    ),
    (
        "Approval",
        (
            ("Outbox", "/outbox", Action.VIEW_OUTBOX),
            ("Receipts", "/receipts", Action.VIEW_RECEIPTS),
            ("Redaction", "/redaction", Action.REVIEW_REDACTION),
        ),
    ),
    (
        "Administration",
        (
            ("Federation", "/federation", Action.MANAGE_KEYS),
            ("Health", "/health", Action.VIEW_HEALTH),
            ("Accounts", "/accounts", Action.MANAGE_ACCOUNTS),
            ("Audit", "/audit", Action.VIEW_AUDIT),
        ),
    ),
)
_BELONGING: Final[Mapping[str, str]] = {
    "reveal": "results",
    "search": "results",
    "downloads": "results",
    "runs": "results",
    "settings": "health",
}
"""Beginnings of addresses that belong to the room of another beginning."""


class Service:
    """One site's service.

    Attributes:
        find_queue_problem: returns why the queue stands still at the moment; empty if it does not.

    Args:
        site: the site.
        origin: the address at which people open it, such as "https://eval.example.org".
    """

    def __init__(self, site: Site, origin: str) -> None:
        # Private runs are shown only to whom a desk is for.
        self.site = site.serve(PUBLIC)
        self.origin = origin
        self.texts = TextReader(self.site)
        self.titles = BenchmarkTitles()
        self.kept_pages = PageCache()
        self.probing = BusyNames("this model is being probed")
        self.forecasting = BusyNames("a forecast of yours is being made")
        self.changing = BusyNames("somebody is changing the settings")
        self.health = HealthChecks(site.directory)
        self.transfers = Transfers(site.transfers)
        self.notices = Notices()
        self.slow_work = SlowWork()
        self.find_queue_problem: Callable[[], str] = lambda: ""
        self.readiness = Readiness(lambda: self.site, self._read_queue_problem)
        self.metrics = ServiceMetrics(lambda: self.site, self.readiness)
        note = f"Texts are redacted under policy {site.settings.redaction_policy}."
        # Made once, because compiling the templates takes a while.
        self.renderer = Renderer(site.name, note, reveals=False, slug=suite_slug)
        self.revealing_renderer = Renderer(site.name, Revealing.note, reveals=True, slug=suite_slug)

    @property
    def is_secure(self) -> bool:
        """Whether people open the service by HTTPS."""
        return self.origin.startswith("https://")

    def frame(self, caller: Caller | None, path: str) -> Frame:
        """Return the frame of a page at `path`, with what the form before it did."""
        frame = build_frame(caller, path)
        if caller is None or caller.session is None:
            return frame
        return replace(frame, notice=self.notices.take(caller.session.session_id, path))

    def _read_queue_problem(self) -> str:
        return self.find_queue_problem()

    def reload(self) -> None:
        """Read the settings again. Those that are used from the start only, such as the address, stay as they were."""
        self.site = Site(self.site.directory).serve(PUBLIC)

    def close(self) -> None:
        """Release what the service holds open."""
        self.health.close()
        self.texts.close()
        self.metrics.close()


@dataclass(slots=True)
class AuditReading:
    """What one request has read of the audit log. A log of a hundred thousand events takes a second to check.

    Attributes:
        head: the log's head at that time; None if nothing was read.
        events: the events.
        derived: what was made of exactly these events; None if nothing was.
    """

    head: AuditHead | None = None
    events: Sequence[AuditEvent] = ()
    derived: object = None


@dataclass(frozen=True, slots=True)
class Desk:
    """What a handler may use while it answers one request: the service, and the store, open for this request only."""

    service: Service
    store: Store

    audience: Audience = PUBLIC
    reading: AuditReading = field(default_factory=AuditReading)

    def read_events(self) -> Sequence[AuditEvent]:
        """Return all events of the audit log, which is read again only if one was added during this request.

        Raises:
            StoreError: the log was changed.
        """
        head = self.store.audit.read_head()
        if self.reading.head != head:
            self.reading.events = self.store.audit.read_events()
            self.reading.head = head
            self.reading.derived = None
        return self.reading.events

    @property
    def site(self) -> Site:
        """The site, with the private runs that the caller may see."""
        return self.service.site.serve(self.audience)

    def serve(self, audience: Audience) -> "Desk":
        """Return the desk for a caller, whose private runs the store then shows."""
        self.store.runs.audience = audience
        return replace(self, audience=audience)

    def name_benchmark(self, benchmark_id: str) -> str:
        """Return what pages call a benchmark; its id if it is no benchmark of this site any more."""
        return self.service.titles.find(benchmark_id, self.site.own_benchmarks)

    def draw(self, template: str, call: Call, status: int = 200, **fields: object) -> Response:
        """Draw a page from a template of the folder `web`."""
        frame = self.service.frame(call.caller, call.route)
        fields.setdefault("name_benchmark", self.name_benchmark)
        content = self.service.renderer.page(f"web/{template}", frame, **fields)
        return Response(content, status, media_type=HTML)

    def confirm(self, call: Call, address: str, words: str) -> Response:
        """Send the browser to another page after a form was accepted; there, `words` say what was done.

        Args:
            call: the request with the form.
            address: where the browser goes.
            words: one or two sentences.
        """
        session = call.signed_in.session
        if session is not None:
            self.service.notices.leave(session.session_id, address, words)
        return redirect(address)


def build_frame(caller: Caller | None, path: str) -> Frame:
    """Return the frame of a page at `path`: the rooms that the caller may enter."""
    if caller is None:
        return Frame()
    if caller.owes_password:
        return Frame(account=caller.account.name, csrf=caller.csrf)
    actions = frozenset(action for action in Action if caller.can_enter(action))
    groups: list[RoomGroup] = []
    for name, listed in _GROUPS:
        rooms = tuple(
            Room(room, address, is_current=_is_in_room(path, address))
            for room, address, action in listed
            if action in actions
        )
        if rooms:
            groups.append(RoomGroup(name, rooms))
    return Frame(caller.account.name, tuple(groups), actions, caller.csrf)


def _is_in_room(path: str, address: str) -> bool:
    beginning = path.split("/")[1]
    return _BELONGING.get(beginning, beginning) == address.split("/")[1]


def redirect(path: str) -> Response:
    """Send the browser to another page of the service. After a form was accepted, see `Desk.confirm`."""
    return RedirectResponse(path, 303)
