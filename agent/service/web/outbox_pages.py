"""The pages of what would leave the site: all statements with their states, and one with every figure."""

from starlette.responses import Response

from agent.access.roles import Action
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, Submission
from agent.disclosure.policy import read_policy
from agent.disclosure.preview import make_page
from agent.errors import ConfigError
from agent.service.web.call import Call
from agent.service.web.service import Desk
from protocol.registry import Registry, RootPins


def list_outbox(desk: Desk, call: Call) -> Response:
    """Show all statements of the site, newest first."""
    submissions = Outbox(desk.site.submissions).list_submissions()
    registry = _read_registry(desk)
    return desk.draw(
        "outbox.html",
        call,
        submissions=list(reversed(submissions)),
        subjects={item.digest: name_model(item, registry) for item in submissions},
        is_member=registry is not None,
        can_approve=call.signed_in.can_enter(Action.APPROVE_SUBMISSIONS),
    )


def show_submission(desk: Desk, call: Call) -> Response:
    """Show exactly what would leave with one statement: every figure with its verdict, and the bytes."""
    outbox = Outbox(desk.site.submissions)
    submission = outbox.find(call.path["digest"])
    registry = _read_registry(desk)
    if registry is None:
        raise ConfigError(
            "this site is not enrolled with an aggregator", "See docs/submissions.md."
        )
    verdicts = {} if submission.kind == "rotate" else outbox.read_verdicts(submission.digest)
    policy = read_policy(desk.site.settings.disclosure_policy, desk.site.directory)
    page = make_page(submission, registry, policy, verdicts, outbox.list_submissions())
    return desk.draw("submission.html", call, submission=submission, page=page)


def _read_registry(desk: Desk) -> Registry | None:
    """Return the newest stored registry; None for a site that is not enrolled."""
    federation = Federation(desk.site.submissions)
    if not federation.is_member:
        return None
    trusted = federation.read_trusted()
    return None if isinstance(trusted, RootPins) else trusted


def name_model(submission: Submission, registry: Registry | None) -> str:
    """Return the registered name of the model of a result or plan; "" for other kinds."""
    if submission.is_result:
        digest = submission.result.model
    elif submission.plan is not None:
        digest = submission.plan.model
    else:
        return ""
    model = registry.models.get(digest) if registry else None
    return model.name if model else digest
