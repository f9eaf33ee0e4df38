"""Forms about one run: who sees it, and its deletion."""

from starlette.responses import Response

from agent.access.roles import Action
from agent.errors import AgentError, ConfigError
from agent.runs.delete_run import check_deletable, delete_run
from agent.runs.privacy import share_run, unshare_run
from agent.runs.submissions_of_runs import list_audited_submissions
from agent.service.frame import RunForms
from agent.service.heads import build_run_head
from agent.service.pages import suite_slug
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.store import Run


def change_privacy(desk: Desk, call: Call) -> Response:
    """Show a run to others, or keep it from them."""
    run = find_run(desk, call)
    if call.get("private") == "yes":
        unshare_run(desk.site, desk.store, run, by=call.signed_in.account.account_id)
        words = "Only you see this run now."
    else:
        share_run(desk.store, run)
        words = "Everyone sees this run now."
    desk.service.kept_pages.forget()
    return desk.confirm(call, f"/results/runs/{run.run_id}/index.html", words)


def ask_to_delete(desk: Desk, call: Call) -> Response:
    """Show what the deletion of a run would take, and what stays; or why it cannot be deleted now."""
    run = find_run(desk, call)
    problem: AgentError | None = None
    try:
        check_deletable(desk.site, desk.store, run)
    except ConfigError as error:
        problem = error
    return desk.draw(
        "run_delete.html",
        call,
        problem=problem,
        run=build_run_head(run),
        content=desk.store.count_run(run.run_id),
        submissions=list_audited_submissions(desk.site, run),
        kept_days=desk.site.settings.keep_jobs_days,
    )


def delete(desk: Desk, call: Call) -> Response:
    """Delete a run with its texts."""
    run = find_run(desk, call)
    delete_run(desk.site, desk.store, run, by=call.signed_in.account.account_id)
    desk.service.kept_pages.forget()
    words = f"The run {run.name} is deleted with its texts."
    if run.suite in desk.store.runs.list_suites():
        return desk.confirm(call, f"/results/suites/{suite_slug(run.suite)}/index.html", words)
    return desk.confirm(call, "/results/index.html", words)


def find_run(desk: Desk, call: Call) -> Run:
    """Return the run of a route.

    Raises:
        ConfigError: there is none that the caller may see.
    """
    run = desk.store.runs.find(call.path["run_id"])
    if run is None:
        raise ConfigError("there is no such run", "Choose one from the results.")
    return run


def find_owner(desk: Desk, call: Call) -> str | None:
    """Return the account that owns the run of a route; None if nobody does, or the caller may not see it."""
    run = desk.store.runs.find(call.path["run_id"])
    return None if run is None else run.owner


def build_forms(desk: Desk, call: Call, run_id: str) -> RunForms | None:
    """Return the forms that the caller may use on a run's page; None if there are none."""
    run = desk.store.runs.find(run_id)
    if run is None:
        return None
    forms = RunForms(
        run_id=run.run_id,
        is_private=run.is_private,
        can_share=call.signed_in.may(Action.VIEW_PRIVATE_RUNS, run.owner),
        can_delete=call.signed_in.may(Action.DELETE_RUNS, run.owner),
    )
    return forms if forms.can_share or forms.can_delete else None
