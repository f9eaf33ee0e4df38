"""Draft the results of a suite, after a page that says what is certain before the gate decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from agent.disclosure.drafting import SuiteFigures, collect_suite, prepare_suite
from agent.disclosure.prepare import check_models, check_scorecard
from agent.disclosure.prospects import UNREGISTERED, Prospect, foretell
from agent.disclosure.site_gate import list_scorecards, open_gate
from agent.errors import AgentError, ConfigError
from agent.io.wording import format_count
from agent.service.web.approval_pages import record_event
from agent.service.web.call import Call
from agent.service.web.outbox_pages import require_registry
from agent.service.web.service import Desk
from protocol.registry import Registry

_REFUSED = 409


@dataclass(frozen=True, slots=True)
class DraftingWish:
    """What the form asks for.

    Attributes:
        suite: name of the suite.
        scorecard: name of the scorecard; empty for the only one.
        models: names of models; empty for all of the suite.
    """

    suite: str
    scorecard: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is certain about the results of a suite before they are drafted.

    Attributes:
        scorecard: name and version of the scorecard.
        models: what becomes of each figure, by model.
        left_out: sentences about what stays here.
        problem: why nothing can be drafted; empty if it can.
    """

    scorecard: str
    models: dict[str, list[Prospect]]
    left_out: Sequence[str]
    problem: str


def show_form(desk: Desk, call: Call) -> Response:
    """Show the form and, for the suite that is chosen, what is certain about each figure. Nothing is written."""
    wish = _read_wish(call)
    if not wish.suite:
        return _draw(desk, call, wish)
    try:
        outlook = _look_ahead(desk, wish)
    except AgentError as error:
        return _draw(desk, call, wish, status=_REFUSED, problem=f"{error}. {error.advice}")
    return _draw(desk, call, wish, outlook=outlook)


def draft(desk: Desk, call: Call) -> Response:
    """Draft the results. If the gate refuses, the page says why; drafts of models before the refused one remain."""
    wish = _read_wish(call)
    try:
        if not wish.suite:
            raise ConfigError("no suite is chosen", "Choose one from the list.")
        audit = partial(record_event, desk, call)
        done = prepare_suite(
            desk.site,
            desk.store,
            wish.suite,
            wish.scorecard or None,
            wish.models,
            desk.store.clock.today_day(),
            audit,
        )
    except AgentError as error:
        return _draw(desk, call, wish, status=_REFUSED, problem=f"{error}. {error.advice}")
    drafted = done.prepared.submissions
    words = f"{format_count(len(drafted), 'result')} drafted, for a steward to decide about."
    address = f"/outbox/{drafted[0].digest}" if len(drafted) == 1 else "/outbox"
    return desk.confirm(call, address, words)


def _look_ahead(desk: Desk, wish: DraftingWish) -> Outlook:
    """Collect what the results would be made of. Raises AgentError if they cannot be drafted."""
    gate = open_gate(desk.site, desk.store.clock.today_day())
    figures = collect_suite(
        desk.site, desk.store, gate.registry, wish.suite, wish.scorecard or None, wish.models
    )
    check_scorecard(gate.registry, figures.scorecard, gate.agent_version)
    check_models(gate.registry, figures.findings)
    models: dict[str, list[Prospect]] = {}
    for model, findings in sorted(figures.findings.items()):
        models[model] = foretell(figures.scorecard, findings)
    return Outlook(_name_scorecard(figures), models, figures.left_out, _find_problem(models))


def _find_problem(models: dict[str, list[Prospect]]) -> str:
    unregistered: set[str] = set()
    for prospects in models.values():
        unregistered |= {item.benchmark for item in prospects if item.words == UNREGISTERED}
    if not unregistered:
        return ""
    return f"The data of {', '.join(sorted(unregistered))} is not registered, so nothing can be drafted."


def _name_scorecard(figures: SuiteFigures) -> str:
    return f"{figures.scorecard.name} version {figures.scorecard.version}"


def _draw(
    desk: Desk,
    call: Call,
    wish: DraftingWish,
    *,
    status: int = 200,
    problem: str = "",
    outlook: Outlook | None = None,
) -> Response:
    registry = require_registry(desk)
    return desk.draw(
        "prepare.html",
        call,
        status,
        wish=wish,
        problem=problem,
        outlook=outlook,
        suites=_list_suites(desk),
        models=sorted({run.model for run in desk.store.runs.select(wish.suite)})
        if wish.suite
        else [],
        scorecards=list_scorecard_names(registry),
    )


def _list_suites(desk: Desk) -> list[str]:
    """Return the suites with runs that could be submitted: not imported, and not kept from others."""
    suites: set[str] = set()
    for run in desk.store.runs.select():
        if not run.imported and not run.is_private:
            suites.add(run.suite)
    return sorted(suites)


def list_scorecard_names(registry: Registry) -> list[str]:
    """Return the names of the scorecards in use."""
    return sorted({card.name for card in list_scorecards(registry)})


def _read_wish(call: Call) -> DraftingWish:
    fields = call.form or call.query
    return DraftingWish(
        suite=call.get("suite").strip(),
        scorecard=call.get("scorecard").strip(),
        models=tuple(name for name in fields.get("model", ()) if name),
    )
