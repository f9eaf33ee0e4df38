"""The service as an ASGI application: every route of the table, behind the guard, a sign-in and the table of roles."""

import inspect
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp

from agent.access.refusals import ProviderError, SignInRefusedError
from agent.access.roles import Action
from agent.access.sessions import check_csrf, read_session_limits
from agent.access.tokens import PERSONAL
from agent.errors import (
    AgentError,
    BenchmarkError,
    ConfigError,
    DeliveryError,
    DisclosureError,
    InferenceError,
    StoreError,
)
from agent.monitoring.events import PageFailed, make_known
from agent.monitoring.log import log_event
from agent.service.web.call import Call, parse_fields
from agent.service.web.callers import Caller, find_caller, read_cookie, set_cookie
from agent.service.web.forms import NO_FORM, ReceivedForm, is_multipart, read_form
from agent.service.web.guard import Guard
from agent.service.web.local_paths import NEW_PASSWORD
from agent.service.web.outside_sign_in import find_proxied_caller
from agent.service.web.refusals import NoPageError, NotAllowedError
from agent.service.web.routes import API, PAGES, PROBES, ApiRoute, Probe, Route
from agent.service.web.service import HTML, Desk, Service, redirect
from agent.service.web.watch import UNKNOWN_ROUTE, Watch
from agent.store import describe_sqlite_error

API_PREFIX = "/api/v1"
_STATUSES: Mapping[type[AgentError], int] = {
    NoPageError: 404,
    NotAllowedError: 403,
    ConfigError: 400,
    BenchmarkError: 400,
    DisclosureError: 409,
    DeliveryError: 502,
    InferenceError: 502,
    StoreError: 503,
    ProviderError: 502,
    SignInRefusedError: 403,
}

_TITLES: Mapping[int, str] = {400: "Please correct", 403: "Not allowed", 404: "No such page"}


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why a request is not answered as asked: the status, and what to tell whoever asks."""

    status: int
    title: str
    message: str
    advice: str = ""


class _RefusedError(Exception):
    """A request is refused."""

    def __init__(self, problem: _Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


_NO_SIGN_IN = _Problem(
    401, "Not signed in", "Nobody is signed in.", "Sign in, or send an API token."
)
_NOT_ALLOWED = _Problem(
    403,
    "Not allowed",
    "Your account may not do this.",
    "An administrator can give your account another role.",
)
_PASSWORD_DUE = _Problem(
    403,
    "Not before another password",
    "Somebody else chose your password.",
    "Choose another one first, on any page of the service.",
)
_NO_TOKEN_HERE = _Problem(
    403,
    "Not for programs",
    "An API token opens no pages.",
    "Programs use the operations under /api/v1.",
)
_STALE_FORM = _Problem(
    403,
    "This form is no longer valid",
    "The form belongs to another session, so nothing was changed.",
    "Open the page again and send the form from there.",
)
_NO_PAGE = _Problem(
    404, "No such page", "There is no page at this address.", "Go back to the start page."
)


def build_application(service: Service) -> ASGIApp:
    """Build the application with its OpenAPI document at /api/v1/openapi.json."""
    application = FastAPI(
        title="Intramural",
        version="1",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for api_route in API:
        application.add_api_route(
            API_PREFIX + api_route.path,
            _build_operation(service, api_route),
            methods=[api_route.method],
            response_model=api_route.answer,
            name=api_route.handler.__name__,
            summary=inspect.getdoc(api_route.handler),
            responses={code: {"description": words} for code, words in _REFUSALS.items()},
        )
    for route in PAGES:
        application.add_api_route(
            route.path, _build_page(service, route), methods=[route.method], include_in_schema=False
        )

    for probe in PROBES:
        application.add_api_route(
            probe.path,
            _build_probe(service, probe),
            methods=["GET", "HEAD"],
            include_in_schema=False,
        )

    async def answer_missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, StarletteHTTPException) else 500
        problem = (
            _NO_PAGE
            if status == 404
            else _Problem(status, "Not possible here", "This address cannot be used so.")
        )
        reader = await run_in_threadpool(_find_reader, service, request)
        return _draw_problem(service, request, problem, reader)

    async def answer_invalid(request: Request, error: Exception) -> Response:
        del request
        return JSONResponse({"error": _describe_faults(error)}, 422)

    application.add_exception_handler(StarletteHTTPException, answer_missing)
    application.add_exception_handler(RequestValidationError, answer_invalid)
    make_known("route", [UNKNOWN_ROUTE, *_list_paths()])
    guard = Guard(
        application,
        [service.origin],
        _find_uploads(),
        probes=[probe.path for probe in PROBES],
        for_programs=[route.path for route in PAGES if route.is_for_programs],
    )
    return Watch(guard, service.metrics.count_answer)


def _list_paths() -> Iterator[str]:
    """Yield the path of every route as the table has it, with the names of values in braces."""
    yield f"{API_PREFIX}/openapi.json"
    for probe in PROBES:
        yield probe.path
    for route in PAGES:
        yield route.path
    for operation in API:
        yield API_PREFIX + operation.path


_REFUSALS = {
    400: "the request cannot be carried out as stated",
    401: "nobody is signed in",
    403: "the account, or the scopes of its token, do not allow this",
    404: "there is no such thing",
    422: "the request is not well-formed",
}


def _describe_faults(error: Exception) -> str:
    """Return which fields of a request are wrong, without their values."""
    if not isinstance(error, RequestValidationError):
        return "the request is not well-formed"
    faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
    return "; ".join(faults)


def _build_probe(service: Service, probe: Probe) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return await run_in_threadpool(probe.handler, service)

    return answer


def _build_page(service: Service, route: Route) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if route.takes_upload and is_multipart(request.headers.get("content-type", "")):
            return await _answer_upload(service, route, request)
        try:
            form = await read_form(request) if route.method == "POST" else NO_FORM
        except AgentError as error:
            reader = await run_in_threadpool(_find_reader, service, request)
            return _draw_problem(service, request, _convert_error(error), reader)
        return await run_in_threadpool(_answer_page, service, route, request, form)

    return answer


async def _answer_upload(service: Service, route: Route, request: Request) -> Response:
    """Answer a form with a large file. Who may not send it is refused before a byte of the file is stored.

    If the file is not received, the page of the form shows why, with the fields as they were sent.
    """
    caller: Caller | None = None
    sent: dict[str, tuple[str, ...]] = {}
    try:
        caller = await run_in_threadpool(_admit_upload, service, route, request)
        if caller is None:
            return _ask_for_sign_in(request)
        check = partial(_check_sent_fields, caller, sent)
        content_type = request.headers.get("content-type", "")
        async with service.transfers.receive(request.stream(), content_type, check) as form:
            return await run_in_threadpool(_answer_page, service, route, request, form)
    except _RefusedError as refused:
        return _draw_problem(service, request, refused.problem, caller)
    except AgentError as error:
        if not sent:
            return _draw_problem(service, request, _convert_error(error), caller)
        form = ReceivedForm(sent, fault=error)
        return await run_in_threadpool(_answer_page, service, route, request, form)


def _admit_upload(service: Service, route: Route, request: Request) -> Caller | None:
    """Return who sends a file, if they may; None if nobody is signed in. Raises _RefusedError if they may not."""
    with service.site.store() as store:
        desk = Desk(service, store)
        caller, _ = _find_caller(desk, request)
        if caller is not None:
            if caller.scopes is not None:
                raise _RefusedError(_NO_TOKEN_HERE)
            if caller.owes_password:
                raise _RefusedError(_PASSWORD_DUE)
            call = _read_call(request, caller, NO_FORM, is_secure=service.is_secure)
            _check_permission(desk.serve(caller.audience), route, call)
        return caller


def _check_sent_fields(
    caller: Caller, sent: dict[str, tuple[str, ...]], fields: Mapping[str, tuple[str, ...]]
) -> None:
    """Check the secret of a form before its file is stored, and note its fields in `sent`."""
    _check_secret(fields.get("csrf", ("",))[0], caller)
    sent.update(fields)


def _find_uploads() -> Callable[[str], bool]:
    """Return whether a path is that of a form with a large file."""
    patterns = [compile_path(route.path)[0] for route in PAGES if route.takes_upload]
    return lambda path: any(pattern.fullmatch(path) for pattern in patterns)


def _answer_page(service: Service, route: Route, request: Request, form: ReceivedForm) -> Response:
    """Answer one request for a page: in this order, who asks, whether they may, and what they asked for."""
    caller: Caller | None = None
    try:
        with service.site.store() as store:
            desk = Desk(service, store)
            caller, new_cookie = _find_caller(desk, request)
            call = _read_call(request, caller, form, is_secure=service.is_secure)
            if caller is not None:
                desk = desk.serve(caller.audience)
            if route.action is not None:
                detour = _find_detour(route, request, caller)
                if detour is not None:
                    return detour
                _check_permission(desk, route, call)
                if route.method == "POST":
                    _check_form(call)
            response = (
                _answer_slowly(desk, route, call) if route.is_slow else route.handler(desk, call)
            )
        if new_cookie:
            set_cookie(response, new_cookie, is_secure=service.is_secure)
        return response
    except _RefusedError as refused:
        if route.is_for_programs:
            return _answer_json(refused.problem)
        return _draw_problem(service, request, refused.problem, caller)
    except AgentError as error:
        return _draw_problem(service, request, _convert_error(error), caller)
    except Exception as error:  # noqa: BLE001 - its message may quote a record
        log_event(PageFailed(route.path, type(error).__name__))
        return _draw_problem(service, request, _convert_unexpected(error), caller)


def _find_detour(route: Route, request: Request, caller: Caller | None) -> Response | None:
    """Return the answer that sends a caller to sign in or to choose a password first; None if they may go on.

    Raises:
        _RefusedError: a program asks for a page of people, or asks without being let in.
    """
    if route.is_for_programs:
        if caller is None:
            raise _RefusedError(_NO_SIGN_IN)
        if caller.owes_password:
            raise _RefusedError(_PASSWORD_DUE)
        return None
    if caller is None:
        return _ask_for_sign_in(request)
    if caller.scopes is not None:
        raise _RefusedError(_NO_TOKEN_HERE)
    if caller.owes_password and not route.with_first_password:
        return redirect(NEW_PASSWORD)
    return None


def _answer_slowly(desk: Desk, route: Route, call: Call) -> Response:
    """Answer with what a handler returns or, if it takes long, with the page that waits for it."""
    service, audience, session = desk.service, desk.audience, call.signed_in.session
    assert session is not None, "pages are for sessions"

    def work() -> Response:
        # A connection belongs to its thread, and that of the request is closed with the request.
        with service.site.store() as store:
            return route.handler(Desk(service, store).serve(audience), call)

    asked = (route.method, call.route, call.query, call.form)
    account = call.signed_in.account.account_id
    return service.slow_work.answer(session.session_id, account, asked, work)


def _build_operation(service: Service, route: ApiRoute) -> Callable[..., Awaitable[Any]]:
    async def operate(request: Request, **values: Any) -> Any:
        return await run_in_threadpool(_answer_operation, service, route, request, values)

    operate.__signature__ = _sign_operation(route)  # type: ignore[attr-defined]
    return operate


def _sign_operation(route: ApiRoute) -> inspect.Signature:
    """Return the signature from which FastAPI learns an operation's path, query and body."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    ]
    for part in route.path.split("/"):
        if part.startswith("{"):
            parameters.append(inspect.Parameter(part.strip("{}"), keyword, annotation=str))
    for name, (kind, default) in route.query.items():
        parameters.append(inspect.Parameter(name, keyword, annotation=kind, default=default))
    if route.body is not None:
        parameters.append(inspect.Parameter("body", keyword, annotation=route.body))
    return inspect.Signature(parameters)


def _answer_operation(
    service: Service, route: ApiRoute, request: Request, values: dict[str, Any]
) -> Any:
    """Answer one request of the HTTP interface, as `_answer_page` does for pages."""
    try:
        with service.site.store() as store:
            desk = Desk(service, store)
            caller, _ = _find_caller(desk, request)
            call = _read_call(request, caller, NO_FORM, is_secure=service.is_secure)
            if caller is None:
                raise _RefusedError(_NO_SIGN_IN)
            if caller.owes_password:
                raise _RefusedError(_PASSWORD_DUE)
            desk = desk.serve(caller.audience)
            _check_permission(desk, route, call)
            if route.method != "GET" and caller.session is not None:
                _check_secret(request.headers.get("x-csrf", ""), caller)
            given = [values["body"]] if route.body is not None else []
            checked = {name: values[name] for name in route.query}
            found = route.handler(desk, replace(call, values=checked), *given)
    except _RefusedError as refused:
        return _answer_json(refused.problem)
    except AgentError as error:
        return _answer_json(_convert_error(error))
    except Exception as error:  # noqa: BLE001 - its message may quote a record
        log_event(PageFailed(API_PREFIX + route.path, type(error).__name__))
        return _answer_json(_convert_unexpected(error))
    if found is None:
        return _answer_json(_Problem(404, "", "there is no such thing"))
    return found


def _answer_json(problem: _Problem) -> Response:
    return JSONResponse({"error": problem.message, "advice": problem.advice}, problem.status)


def _find_caller(desk: Desk, request: Request) -> tuple[Caller | None, str]:
    """Return who asks, with the cookie of a new session if a proxy has just vouched for them."""
    if "authorization" not in request.headers:
        proxied = find_proxied_caller(desk, request)
        if proxied is not None:
            return proxied
    limits = read_session_limits(desk.site.settings)
    is_secure = desk.service.is_secure
    return find_caller(desk.store, request, time.time(), limits, is_secure=is_secure), ""


def _find_reader(service: Service, request: Request) -> Caller | None:
    """Return who reads that a request cannot be answered, so that the page shows the way on; None if unknown."""
    try:
        with service.site.store() as store:
            limits = read_session_limits(service.site.settings)
            return find_caller(store, request, time.time(), limits, is_secure=service.is_secure)
    except (AgentError, sqlite3.Error):  # the page says what it has to say without it
        return None


def _read_call(
    request: Request, caller: Caller | None, form: ReceivedForm, *, is_secure: bool
) -> Call:
    return Call(
        caller=caller,
        route=request.url.path,
        path={name: str(value) for name, value in request.path_params.items()},
        query=parse_fields(request.url.query),
        form=form.fields,
        files=form.files,
        uploads=form.uploads,
        upload_fault=form.fault,
        cookie=read_cookie(request, is_secure=is_secure),
        cookies=request.cookies,
    )


def _check_permission(desk: Desk, route: Route | ApiRoute, call: Call) -> None:
    if route.action is None:
        return
    caller = call.signed_in
    if route.find_owner is None:
        allowed = caller.can_enter(route.action)
    else:
        allowed = caller.may(route.action, route.find_owner(desk, call))
    if not allowed and caller.lacks_scope(route.action):
        raise _RefusedError(_describe_missing_scope(route.action))
    if not allowed:
        raise _RefusedError(_NOT_ALLOWED)


def _describe_missing_scope(action: Action) -> _Problem:
    """Return what to tell a program whose account may do more than its token."""
    advice = (
        "Only a person who is signed in may do this."
        if action in PERSONAL
        else "Make another token with this scope, on the page of the account."
    )
    return _Problem(403, "Not allowed", f"This API token lacks the scope {action.value}.", advice)


def _check_form(call: Call) -> None:
    _check_secret(call.get("csrf"), call.signed_in)


def _check_secret(given: str, caller: Caller) -> None:
    """Check the secret that only pages of this session know. A program with an API token has none, and needs none."""
    if caller.session is not None and not check_csrf(caller.session, given):
        raise _RefusedError(_STALE_FORM)


def _ask_for_sign_in(request: Request) -> Response:
    """Send a reader to the sign-in, and from there back to the page; a form that was sent is not repeated."""
    wanted = request.url.path
    if request.method != "GET" or wanted == "/":
        return RedirectResponse("/sign-in", 303)
    return RedirectResponse(f"/sign-in?next={quote(wanted)}", 303)


def _convert_error(error: AgentError) -> _Problem:
    status = next((code for kind, code in _STATUSES.items() if isinstance(error, kind)), 500)
    return _Problem(
        status,
        _TITLES.get(status, "This cannot be done now"),
        str(error),
        error.advice,
    )


def _convert_unexpected(error: Exception) -> _Problem:
    if isinstance(error, sqlite3.Error):  # its message may quote a value
        return _convert_error(describe_sqlite_error("used", error))
    return _Problem(
        500,
        "This page cannot be shown",
        f"An unexpected error occurred ({type(error).__name__}). No text was shown.",
        "Run `intramural doctor`. If it reports no problem, please report this error as a bug.",
    )


def _draw_problem(
    service: Service, request: Request, problem: _Problem, caller: Caller | None
) -> Response:
    if request.url.path.startswith(API_PREFIX):
        return _answer_json(problem)
    frame = service.frame(caller, request.url.path)
    content = service.renderer.problem(problem.title, problem.message, problem.advice, "", frame)
    return Response(content, problem.status, media_type=HTML)
