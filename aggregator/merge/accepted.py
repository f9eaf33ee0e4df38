"""Accepted statements as merging takes them: results, withdrawals, and registry versions that came into force. Pure."""

from dataclasses import dataclass, field

from protocol.identity import NONE
from protocol.predicates import PlanPredicate, ResultPredicate, WithdrawPredicate
from protocol.registry import Publication, Registry


@dataclass(frozen=True, slots=True)
class Result:
    """An accepted result.

    Attributes:
        position: index of its log entry, from 0.
        keyids: of the keys that signed it.
        digest: of the statement.
        publication: of its site in the registry that it was accepted under, which says for good how it is shown;
            None takes that of the newest registry.
        assurance: `weights_hashed` or `served_claimed` by its plan, "" without one (see `Assurances`).
    """

    position: int
    keyids: tuple[str, ...]
    predicate: ResultPredicate
    digest: str
    publication: Publication | None = None
    assurance: str = ""

    @property
    def place(self) -> tuple[int, int]:
        """Its place in the site's chain; a later result of the same model and scorecard replaces an earlier."""
        return self.predicate.header.epoch, self.predicate.header.seq

    @property
    def is_planned(self) -> bool:
        """Whether the site had put into the log what it would run before it ran it."""
        return self.predicate.plan != NONE


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An accepted withdrawal of a result.

    Attributes:
        position, keyids, publication: as of a result.
    """

    position: int
    keyids: tuple[str, ...]
    predicate: WithdrawPredicate
    publication: Publication | None = None


@dataclass(frozen=True, slots=True)
class RegistryChange:
    """A registry version that came into force when the log had `log_size` entries.

    Needed of versions that revoke keys, drop sites or change the federation's policy: they change which steps follow.
    """

    log_size: int
    registry: Registry


@dataclass(slots=True)
class Assurances:
    """What plans say of the model's weights, for the results that name them.

    A shown result may name a plan that is hidden, because its site was pooled when it planned. The public cannot read
    it, so that such a result counts as planned and no more, for everybody alike.

    Attributes:
        plans: by digest, the assurance and whether the public log hides the plan.
    """

    plans: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def note(self, digest: str, plan: PlanPredicate, *, is_hidden: bool) -> None:
        """Take in an accepted plan."""
        self.plans[digest] = (plan.model_assurance, is_hidden)

    def find(self, result: ResultPredicate, *, is_hidden: bool) -> str:
        """Return the assurance of a result; "" without a plan."""
        if result.plan == NONE:
            return ""
        assurance, plan_is_hidden = self.plans.get(result.plan, ("served_claimed", True))
        return assurance if is_hidden or not plan_is_hidden else "served_claimed"
