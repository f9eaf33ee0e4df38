"""Find the submissions that contain a run's figures: a steward or an audit may have to compute them again."""

from collections.abc import Sequence
from typing import Final

from agent.delivery.outbox import LIVE, Outbox, State, Submission
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
    return [submission for submission in _list_results(site, run) if submission.state in _WAITING]


def list_audited_submissions(site: Site, run: Run) -> list[Submission]:
    """Return the results of a run's suite and model that `audit verify` computes again.

    Raises:
        DisclosureError, StoreError: a file of the outbox was changed or cannot be read.
    """
    return [submission for submission in _list_results(site, run) if submission.state in LIVE]


def _list_results(site: Site, run: Run) -> list[Submission]:
    """Return all results of a run's suite and model, and those whose file of verdicts does not name the suite."""
    outbox = Outbox(site.submissions)
    model = model_digest(run.model)
    results: list[Submission] = []
    for submission in outbox.list_submissions():
        if not submission.is_result or submission.result.model != model:
            continue
        suite = outbox.read_verdicts(submission.digest).get("suite")
        if suite in (None, "", run.suite):
            results.append(submission)
    return results


def list_digests(submissions: Sequence[Submission]) -> str:
    """Return the digests of submissions for the audit log; "-" if there are none."""
    return ",".join(submission.digest for submission in submissions) or "-"


def describe_submissions(submissions: Sequence[Submission]) -> str:
    """Return submissions as words, such as "draft 0123456789ab"."""
    words = []
    for submission in submissions:
        noun = "draft" if submission.state is State.PREPARED else "submission"
        words.append(f"{noun} {submission.digest[:12]}")
    return ", ".join(words)
