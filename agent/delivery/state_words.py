"""What the states of submissions and the refusals of the aggregator mean for people, and what to do about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agent.delivery.outbox import State, Submission
from agent.delivery.transport import SubmissionRefusedError
from protocol.errors import Code


@dataclass(frozen=True, slots=True)
class StateWords:
    """A state as people call it.

    Attributes:
        name: one or two words.
        meaning: what has happened.
        next_step: what to do; empty if nothing.
    """

    name: str
    meaning: str
    next_step: str = ""


STATE_WORDS: Final[Mapping[State, StateWords]] = {
    State.PREPARED: StateWords(
        "waiting",
        "A draft: nothing has left the site.",
        "The steward reads and signs it, or rejects it.",
    ),
    State.APPROVED: StateWords(
        "approved",
        "The steward has signed it. Nothing has left the site yet.",
        "Send what is approved, on the page of the outbox or with `intramural submission send`.",
    ),
    State.SENT: StateWords(
        "sent",
        "It has left the site, and the aggregator has not answered yet.",
        "Send it again: it is the same statement, and the aggregator accepts it only once.",
    ),
    State.RECEIPTED: StateWords(
        "accepted", "It is in the aggregator's log, and the site holds the receipt that proves it."
    ),
    State.REFUSED: StateWords("refused", "The aggregator refused it and signed the refusal."),
    State.VOID: StateWords(
        "void", "It is no longer part of the site's chain and is not sent.", "Prepare it again."
    ),
}

_REFUSALS: Final[Mapping[Code, str]] = {
    Code.UNKNOWN_MODEL: "the model is not registered with the aggregator",
    Code.UNKNOWN_AGENT: "this version of the agent is not registered with the aggregator",
    Code.UNKNOWN_SCORECARD: "the scorecard is not registered with the aggregator",
    Code.RETIRED_SCORECARD: "the scorecard was retired",
    Code.UNKNOWN_POLICY: "the disclosure policy is not registered with the aggregator",
    Code.UNKNOWN_BENCHMARK: "no scorecard in use has this version of the benchmark",
    Code.UNKNOWN_DATASET: "the dataset's statement is not in the aggregator's log",
    Code.WRONG_DATASET: "the dataset's numbers or its earlier version do not agree with the log",
    Code.UNKNOWN_PLAN: "the plan is not in the aggregator's log",
    Code.WRONG_PLAN: "the result differs from its plan",
    Code.PLAN_EXPIRED: "the plan's time is over",
    Code.PLAN_USED: "the plan has a result already, or was abandoned",
    Code.UNKNOWN_RESULT: "the result is not in the log, or was withdrawn before",
    Code.WRONG_DAY: "its day is too far from today: is the clock of this machine right?",
    Code.WRONG_ROOT: "the same scores were reported before",
    Code.COPIED_RESULT: "its protected figures are the same as those of another site",
    Code.NOTHING_PUBLISHED: "every figure is withheld",
    Code.BELOW_THRESHOLD: "a figure has fewer units than the federation's policy allows",
    Code.OFF_GRID: "a figure is finer than the federation's policy allows",
    Code.SITE_FROZEN: "the aggregator has frozen this site",
    Code.WRONG_REGISTRY: "it was made with an old version of the registry",
}


def explain_state(submission: Submission) -> StateWords:
    """Return the state of a submission in words; of a refused one, with the reason and what to do."""
    words = STATE_WORDS[submission.state]
    if submission.state is not State.REFUSED:
        return words
    code = _find_code(submission.refusal)
    reason = "" if code is None else _REFUSALS.get(code, "")
    shown = f"{reason} ({submission.refusal})" if reason else f"code {submission.refusal}"
    advice = SubmissionRefusedError(code, 0).advice
    return StateWords(words.name, f"The aggregator refused it and signed why: {shown}.", advice)


def _find_code(refusal: str | None) -> Code | None:
    """Return a refusal's code; None if a later version of the protocol made it."""
    if refusal is None:
        return None
    try:
        return Code(refusal)
    except ValueError:
        return None
