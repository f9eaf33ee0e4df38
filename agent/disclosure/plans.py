"""Plans: what a site says it will evaluate before it does, and the challenge that then chooses what a run samples."""

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
    """The plan that a result is about; digests are `none` for an unplanned one."""

    digest: str
    challenge: str

    def is_whole(self, findings: Sequence[Finding]) -> bool:
        """Whether every run of the result was chosen by this plan, or by none."""
        return all(finding.plan in ("", self.digest) for finding in findings)


NO_PLAN: Final = PlanInUse(NONE, NONE)
SEED_DIGITS: Final = 15  # hexadecimal digits of a challenge that make a sampling seed: 60 bits


def find_plan(
    outbox: Outbox, registry: Registry, findings: Sequence[Finding], *, model: str, scorecard: str
) -> PlanInUse:
    """Return the plan that these findings are of: the one that chose their instances, else the model's open one.

    Raises:
        DisclosureError: runs were chosen by a plan that is not open here, or by several.
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
            "Make a plan with `intramural submission plan`, send it, and run with --plan.",
        )
    wanted = next(iter(chosen), open_here[-1].digest if open_here else "")
    plan = next((plan for plan in open_here if plan.digest == wanted), None)
    if plan is None:
        return NO_PLAN
    challenge = read_challenge(outbox, registry, plan)
    if any(
        finding.plan and finding.sample_seed != derive_sampling_seed(challenge)
        for finding in findings
    ):
        raise DisclosureError(
            "a run was sampled by another seed than its plan's challenge gives",
            "Run it again with --plan.",
        )
    return PlanInUse(plan.digest, challenge)


def list_open_plans(outbox: Outbox) -> list[Submission]:
    """Return the plans that have a receipt and neither a result nor an end, oldest first."""
    submissions = outbox.list_submissions()
    ended = set()
    for other in submissions:
        if other.state not in LIVE:
            continue
        if other.is_result:
            ended.add(other.result.plan)
        if isinstance(other.statement, AbandonPredicate):
            ended.add(other.statement.plan)
    return [
        s for s in submissions if s.plan and s.state is State.RECEIPTED and s.digest not in ended
    ]


def read_challenge(outbox: Outbox, registry: Registry, plan: Submission) -> str:
    """Return the challenge that a plan's receipt yields. Raises DeliveryError if the receipt does not verify."""
    receipt = check_receipt(outbox.read_receipt(plan.digest), plan.envelope.pae, registry)
    return plan_challenge(
        plan.header.deployment, receipt.index, receipt.checkpoint.root, plan.digest
    )


def derive_sampling_seed(challenge: str) -> int:
    """Return the seed by which a run under a plan samples instances."""
    return int(challenge[:SEED_DIGITS], 16)
