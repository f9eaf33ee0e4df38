"""Find the submissions for which a run is still needed: a steward or an audit may have to compute them again."""

from typing import Final

from agent.delivery.outbox import Outbox, State, Submission
from agent.site.directory import Site
from agent.store import Run
from protocol.identity import model_digest

# A receipted submission is final; a refused or void one is prepared again before it can be sent.
_WAITING: Final = frozenset({State.PREPARED, State.APPROVED, State.SENT})


def list_waiting_submissions(site: Site, run: Run) -> list[Submission]:
    """Return the results in the outbox that were prepared from a run's suite and model, and have no receipt yet.

    Raises:
        DisclosureError, StoreError: a file of the outbox was changed or cannot be read.
    """
    outbox = Outbox(site.submissions)
    model = model_digest(run.model)
    waiting: list[Submission] = []
    for submission in outbox.list_submissions():
        if not submission.is_result or submission.state not in _WAITING:
            continue
        suite = outbox.read_verdicts(submission.digest).get("suite")
        if submission.result.model == model and suite in (None, "", run.suite):
            waiting.append(submission)
    return waiting


def describe_submissions(submissions: list[Submission]) -> str:
    """Return submissions as words, such as "draft 0123456789ab"."""
    words = []
    for submission in submissions:
        noun = "draft" if submission.state is State.PREPARED else "submission"
        words.append(f"{noun} {submission.digest[:12]}")
    return ", ".join(words)
