"""The input of merging: accepted results, withdrawals, and registry versions that came into force. Pure."""

from dataclasses import dataclass, field

from protocol.identity import NONE
from protocol.predicates import PlanPredicate, ResultPredicate, WithdrawPredicate
from protocol.registry import Publication, Registry


@dataclass(frozen=True, slots=True)
class Result:
    """An accepted result.

    Attributes:
        position: Index of its log entry, from 0.
        keyids: Ids of the keys that signed it.
        digest: Digest of the statement.
        publication: The site's publication setting in the registry under which the result was
            accepted, which permanently determines how it is shown. None uses that of the newest
            registry.
        assurance: `weights_hashed` or `served_claimed` according to its plan; "" without a plan
            (see `Assurances`).
    """

    position: int
    keyids: tuple[str, ...]
    predicate: ResultPredicate
    digest: str
    publication: Publication | None = None
    assurance: str = ""

    @property
    def place(self) -> tuple[int, int]:
        """The position in the site's chain. A later result for the same model and scorecard replaces an earlier one."""
        return self.predicate.header.epoch, self.predicate.header.seq

    @property
    def is_planned(self) -> bool:
        """Whether the site had announced the run in the log beforehand."""
        return self.predicate.plan != NONE


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An accepted withdrawal of a result.

    Attributes:
        position, keyids, publication: As for a result.
    """

    position: int
    keyids: tuple[str, ...]
    predicate: WithdrawPredicate
    publication: Publication | None = None


@dataclass(frozen=True, slots=True)
class RegistryChange:
    """A registry version that came into force when the log had `log_size` entries.

    Only versions that revoke keys, remove sites or change the federation's policy are needed: they
    affect later steps.
    """

    log_size: int
    registry: Registry


@dataclass(slots=True)
class Assurances:
    """The assurances of plans about the model's weights, for the results that name the plans.

    A public result may name a hidden plan if its site was pooled when it planned. Since the public
    cannot read the plan, such a result counts as planned without further assurance, in the public
    and the whole log.

    Attributes:
        plans: The assurance of each plan and whether the public log hides the plan, by digest.
    """

    plans: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def note(self, digest: str, plan: PlanPredicate, *, is_hidden: bool) -> None:
        """Record an accepted plan."""
        self.plans[digest] = (plan.model_assurance, is_hidden)

    def find(self, result: ResultPredicate, *, is_hidden: bool) -> str:
        """Return the assurance of a result; "" without a plan."""
        if result.plan == NONE:
            return ""
        assurance, plan_is_hidden = self.plans.get(result.plan, ("served_claimed", True))
        return assurance if is_hidden or not plan_is_hidden else "served_claimed"
