"""Plans, in which a site announces an evaluation, and the challenge that then selects the instances of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.delivery.outbox import LIVE, Outbox, State, Submission
from agent.delivery.receipts import check_receipt
from agent.disclosure.findings import Finding
from agent.errors import DisclosureError
from protocol.identity import NONE
from protocol.predicates import AbandonPredicate
from protocol.registry import Registry
from protocol.verification import plan_challenge


@dataclass(frozen=True, slots=True)
class PlanInUse:
    """The plan of a result; digest and challenge are `none` for an unplanned result."""

    digest: str
    challenge: str

    def is_whole(self, findings: Sequence[Finding]) -> bool:
        """Return whether each run of the result was sampled by this plan or not sampled at all."""
        return all(finding.plan in ("", self.digest) for finding in findings)


NO_PLAN: Final = PlanInUse(NONE, NONE)
HASHED: Final = "weights_hashed"
WEIGHTS_NOTE: Final = (
    "weights"  # key of the weights' digest beside a plan; it is not part of the statement
)
SEED_DIGITS: Final = 15  # hexadecimal digits of a challenge that form the sampling seed (60 bits)


def find_plan(
    outbox: Outbox, registry: Registry, findings: Sequence[Finding], *, model: str, scorecard: str
) -> PlanInUse:
    """Return the plan that selected the instances of these findings, or else the model's newest open plan.

    Raises:
        DisclosureError: runs were sampled by a plan that is not open here, or by several plans, or with another seed;
            or the plan states hashed weights, and a run was made with others.
    """
    chosen = {finding.plan for finding in findings} - {""}
    open_here = [
        plan
        for plan in list_open_plans(outbox)
        if plan.plan and (plan.plan.model, plan.plan.scorecard) == (model, scorecard)
    ]
    if chosen - {plan.digest for plan in open_here} or len(chosen) > 1:
        raise DisclosureError(
            "a run was sampled by a plan that has a result, was abandoned, or is about another model or scorecard",
            "Create a plan with `intramural submission plan`, send it, and run with --plan.",
        )
    wanted = next(iter(chosen), open_here[-1].digest if open_here else "")
    plan = next((plan for plan in open_here if plan.digest == wanted), None)
    if plan is None:
        return NO_PLAN
    _check_weights(outbox, plan, findings)
    challenge = read_challenge(outbox, registry, plan)
    if any(
        finding.plan and finding.sample_seed != derive_sampling_seed(challenge)
        for finding in findings
    ):
        raise DisclosureError(
            "a run was not sampled with the seed from its plan's challenge",
            "Run it again with --plan.",
        )
    return PlanInUse(plan.digest, challenge)


def _check_weights(outbox: Outbox, plan: Submission, findings: Sequence[Finding]) -> None:
    """Refuse runs made with weights other than those of a plan that states that the weights were hashed."""
    assert plan.plan is not None
    if plan.plan.model_assurance != HASHED:
        return
    promised = outbox.read_verdicts(plan.digest).get(WEIGHTS_NOTE)
    for finding in findings:
        if not promised or finding.weights != promised:
            raise DisclosureError(
                f"{finding.benchmark}: plan {plan.digest[:12]} states {HASHED}, but the run was not made with the "
                "weights that the plan was made for, on a server that the agent started",
                "Run it again with `run --serve`; or abandon the plan with `intramural submission abandon`, and plan "
                "with --model-assurance served_claimed.",
            )


def list_open_plans(outbox: Outbox) -> list[Submission]:
    """Return the plans that have a receipt but no result and were not abandoned, oldest first."""
    submissions = outbox.list_submissions()
    ended = set()
    for submission in submissions:
        if submission.state not in LIVE:
            continue
        if submission.is_result:
            ended.add(submission.result.plan)
        if isinstance(submission.statement, AbandonPredicate):
            ended.add(submission.statement.plan)
    return [
        submission
        for submission in submissions
        if submission.plan
        and submission.state is State.RECEIPTED
        and submission.digest not in ended
    ]


def read_challenge(outbox: Outbox, registry: Registry, plan: Submission) -> str:
    """Derive the challenge from a plan's receipt. Raises DeliveryError if the receipt does not verify."""
    receipt = check_receipt(outbox.read_receipt(plan.digest), plan.envelope.pae, registry)
    return plan_challenge(
        plan.header.deployment, receipt.index, receipt.checkpoint.root, plan.digest
    )


def derive_sampling_seed(challenge: str) -> int:
    """Return the seed with which a run under a plan samples instances."""
    return int(challenge[:SEED_DIGITS], 16)
