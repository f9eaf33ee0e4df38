"""The pages of results, as `intramural view` shows them, behind the sign-in."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from starlette.responses import RedirectResponse, Response

from agent.access.roles import Action
from agent.catalog.benchmark import survey_benchmarks
from agent.catalog.deployments import read_deployments
from agent.errors import ConfigError, RedactionError
from agent.redaction import Redacted
from agent.redaction.gateway.cases import Clearer
from agent.redaction.gateway.subject import Subject
from agent.redaction.redacted import CuedText
from agent.service.frame import Frame
from agent.service.instance_lists import STEM
from agent.service.pages import PageFile, SitePages
from agent.service.web import run_pages
from agent.service.web.call import Call
from agent.service.web.refusals import NoPageError, NotAllowedError
from agent.service.web.service import Desk
from agent.store import PUBLIC

# Pages that show texts of instances, redacted.
_WITH_TEXTS = re.compile(r"runs/[^/]+/instance.*")
_RUN = re.compile(r"runs/([\w-]{1,100})/index\.html")
_SUITE = re.compile(r"suites/([\w-]{1,100})/index\.html")
_INSTANCES = re.compile(rf"runs/([\w-]{{1,100}})/{STEM}-\d+\.html")
_INSTANCE = re.compile(r"runs/[\w-]{1,100}/instance-[1-9]\d{0,8}\.html")
REASONS = frozenset({"score", "redaction", "clinical"})
"""Why somebody needs original text. Chosen from a list, because the audit log must not contain texts of records."""


class _NoTexts(Clearer):
    """For pages without texts of instances: a page that has some after all cannot be drawn."""

    reveals = False
    note = ""
    withheld = 0

    def clear_records(
        self,
        records: Sequence[Sequence[str | CuedText]],
        which: str,
        subjects: Sequence[Subject] = (),
        published: Sequence[Sequence[str]] = (),
    ) -> list[list[Redacted]]:
        """Refuse."""
        del records, which, subjects, published
        raise RedactionError("a page of figures asked for texts of instances")


def show_results(desk: Desk, call: Call) -> Response:
    """Show one page of results."""
    path = call.path["path"]
    if path in ("", "index"):
        return RedirectResponse("/results/index.html", 303)
    has_texts = _WITH_TEXTS.fullmatch(path) is not None
    page = _draw_texts(desk, call, path) if has_texts else _draw_figures(desk, call, path)
    if page is None:
        raise NoPageError(
            "There is no page at this address; the run or suite may have another name."
        )
    return Response(page.content, media_type=page.media_type)


def _draw_texts(desk: Desk, call: Call, path: str) -> PageFile | None:
    caller = call.signed_in
    if not caller.may(Action.VIEW_INSTANCES):
        raise NotAllowedError("Your account may not see texts of instances.")
    frame = desk.service.frame(caller, call.route)
    if _INSTANCE.fullmatch(path) and caller.may(Action.REVEAL):
        frame = replace(frame, reveal_path=f"/reveal/{path}")
    if listed := _INSTANCES.fullmatch(path):
        frame = replace(
            frame, search_path=f"/search/{listed[1]}", scores_path=f"/scores/{listed[1]}"
        )
    return desk.service.texts.draw(path, frame, desk.service.renderer, desk.audience)


def reveal(desk: Desk, call: Call) -> Response:
    """Show one instance as it is, after an entry in the audit log with the account and its reason."""
    path, reason = call.path["path"], call.get("reason")
    if _INSTANCE.fullmatch(path) is None:
        raise ConfigError("original text is shown of single instances only", "Open an instance.")
    if reason not in REASONS:
        raise ConfigError("no reason was chosen", "Go back and choose why you need the original.")
    revealed_to = f"account={call.signed_in.account.account_id} reason={reason}"
    frame = desk.service.frame(call.caller, call.route)
    renderer = desk.service.revealing_renderer
    page = desk.service.texts.draw(path, frame, renderer, desk.audience, revealed_to)
    if page is None:
        raise ConfigError("there is no such instance", "Go back to the list of instances.")
    return Response(page.content, media_type=page.media_type)


def _draw_figures(desk: Desk, call: Call, path: str) -> PageFile | None:
    frame = desk.service.frame(call.caller, call.route)
    if run := _RUN.fullmatch(path):
        frame = replace(frame, run_forms=run_pages.build_forms(desk, call, run[1]))
    if (suite := _SUITE.fullmatch(path)) and call.signed_in.may(Action.EXPORT_TABLES):
        frame = replace(frame, download_path=f"/downloads/{suite[1]}")
    # Readers without private runs share a page; it is then drawn as everyone sees it, even if one has just been made.
    if not desk.store.runs.has_private():
        desk = desk.serve(PUBLIC)
    return desk.service.kept_pages.draw(path, desk.audience, frame, partial(_draw, desk, path))


def _draw(desk: Desk, path: str, frame: Frame) -> PageFile | None:
    site = desk.site
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    prices = {
        name: deployment.prices
        for name, deployment in read_deployments(site.deployments).items()
        if deployment.prices is not None
    }
    pages = SitePages(
        site.name,
        desk.store,
        _NoTexts(),
        catalogue,
        prices,
        renderer=desk.service.renderer,
    )
    return pages.draw_page(path, frame)
