"""The state of a federation's results after each log entry: the results that count and the steps of pooled sites. Pure.

The state is updated entry by entry, so that the cost of a further result does not depend on the
number before it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy

from aggregator.merge.accepted import RegistryChange, Result, Withdrawal
from aggregator.merge.board_model import MergedCell
from aggregator.merge.cell_codes import CardLayout, decode_codes, lay_out, value_and_bucket
from aggregator.merge.ranges import MainFigures
from aggregator.merge.site_cell import Flags, Integers
from aggregator.merge.steps import NOTHING, StepRule, Steps
from protocol.policy import DisclosurePolicy
from protocol.registry import Registry, Site

PARTIAL, UNPLANNED, WEIGHTS_HASHED = 1, 2, 4
_FLAGS = 8  # a row's code is 1 + flags + _FLAGS * number of withdrawn results


@dataclass(frozen=True, slots=True)
class Taken:
    """A result as stored in the state, with its figures encoded.

    Attributes:
        is_hidden: Whether its site was pooled when the result was accepted.
        place: Epoch and seq in the site's chain.
        flags: A combination of PARTIAL, UNPLANNED and WEIGHTS_HASHED.
        codes: A code for each cell of the scorecard.
    """

    digest: str
    position: int
    keyids: tuple[str, ...]
    site: str
    model: str
    scorecard: str
    agent: str
    policy: str
    plan: str
    assurance: str
    day: int
    outcome: str
    approval: str
    is_hidden: bool
    place: tuple[int, int]
    flags: int
    codes: Integers


@dataclass(frozen=True, slots=True)
class MergedKey:
    """Everything on which the merged cells of a model depend.

    Attributes:
        changes: The number of changes of the model's state.
        replaced: Log positions of named results that no longer count, for reasons that the public
            cannot see.
        floor: The federation's policy.
        policies: The policies, by their numbers in codes.
    """

    changes: int
    replaced: tuple[int, ...]
    floor: DisclosurePolicy
    policies: tuple[DisclosurePolicy, ...]


@dataclass(slots=True)
class Merged:
    """Merged cells of a model, cached so that they are not merged again when another model gets a result.

    Attributes:
        key: The cells are valid as long as this key is unchanged.
        cells: The cells by column.
        main: The main figures, for resampling sites.
    """

    key: MergedKey
    cells: dict[int, MergedCell] = field(default_factory=dict)
    main: MainFigures | None = None


@dataclass(slots=True)
class ModelState:
    """A model's results for one scorecard.

    Attributes:
        layout: Column layout of the scorecard.
        steps: Steps of pooled sites, with a column for each cell and a last one for the row's
            counts.
        by_site: Numbers of all results by site, in the order of the log.
        named: Number of the newest named result that counts according to the public log, by site.
        replaced: Sites of `named` whose result no longer counts, for a reason that the public
            cannot see.
        changes: Number of changes so far.
        merged: Cached merged cells, valid as long as their key is unchanged.
    """

    layout: CardLayout
    steps: Steps
    by_site: dict[str, list[int]] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    changes: int = 0
    merged: Merged | None = None


class Federation:
    """All results and withdrawals up to a log entry.

    Attributes:
        registry: The registry in force.
        results: Results by number, in the order of the log.
        models: States of the models, by scorecard and model digest.
        policies: Digests of the policies that results name, by their numbers in codes.
        unknown: Log positions of named results for a scorecard that was not in the registry.
        withdrawals: Withdrawals by number of the result.
        counts: Whether a result may contribute to a figure, by number; at least as long as
            `results`.
    """

    def __init__(self, registry: Registry) -> None:
        """Start with an empty log under `registry`."""
        self.registry = registry
        self.results: list[Taken] = []
        self.models: dict[tuple[str, str], ModelState] = {}
        self.policies: dict[str, int] = {}
        self.unknown: list[int] = []
        self.withdrawals: dict[int, Withdrawal] = {}
        self.counts = numpy.zeros(0, dtype=numpy.bool_)
        self._layouts: dict[str, CardLayout] = {}
        self._numbers: dict[str, int] = {}  # numbers of results, by digest
        self._of_site: dict[str, list[int]] = {}

    def take(self, event: Result | Withdrawal | RegistryChange) -> None:
        """Process the next event of the log."""
        match event:
            case Result():
                self._take_result(event)
            case Withdrawal():
                self._take_withdrawal(event)
            case RegistryChange():
                self.enter_registry(event.registry, event.log_size)

    def enter_registry(self, registry: Registry, log_size: int) -> None:
        """Apply a registry version, which may revoke keys, remove sites or change the rule for steps."""
        before, self.registry = self.registry, registry
        rule = self._rule()
        for state in self.models.values():
            state.steps.rule = rule
        touched: dict[tuple[str, str, str], None] = {}
        for site, numbers in self._of_site.items():
            if _same_keys(before.sites.get(site), registry.sites.get(site)):
                continue
            for number in numbers:
                taken = self.results[number]
                touched[taken.scorecard, taken.model, site] = None
        for scorecard, model, site in touched:
            self._recount(self.models[scorecard, model], site, log_size)

    def withdrawal_of(self, number: int) -> Withdrawal | None:
        """Return the withdrawal of a result; None unless there is one signed by valid keys."""
        found = self.withdrawals.get(number)
        if found is None or not self._keys_stand(
            found.predicate.header.site, found.keyids, found.position
        ):
            return None
        return found

    def stands(self, number: int) -> bool:
        """Return whether the registry still vouches for a result: its keys belonged to its site and were valid then."""
        taken = self.results[number]
        return self._keys_stand(taken.site, taken.keyids, taken.position)

    def find_void(self, state: ModelState) -> Flags:
        """Return the columns whose pooled part shows a contribution that no longer counts."""
        return state.steps.find_void(self.counts)

    def _take_result(self, result: Result) -> None:
        said = result.predicate
        registered = self.registry.scorecards.get(said.scorecard)
        publication = result.publication or self._publication(said.header.site)
        if registered is None:
            if publication == "named":
                self.unknown.append(result.position)
            return
        layout = self.lay_out(said.scorecard)
        policy = self.policies.setdefault(said.policy, len(self.policies))
        number = len(self.results)
        flags = PARTIAL * (said.outcome == "partial") + UNPLANNED * (not result.is_planned)
        flags += WEIGHTS_HASHED * (result.assurance == "weights_hashed")
        taken = Taken(
            digest=result.digest,
            position=result.position,
            keyids=result.keyids,
            site=said.header.site,
            model=said.model,
            scorecard=said.scorecard,
            agent=said.agent,
            policy=said.policy,
            plan=said.plan,
            assurance=result.assurance,
            day=said.day,
            outcome=said.outcome,
            approval=said.approval,
            is_hidden=publication == "pooled",
            place=result.place,
            flags=flags,
            codes=layout.encode(said, policy),
        )
        if number == len(self.counts):
            self.counts = numpy.pad(self.counts, (0, max(16, number)))
        state = self.file(taken)
        self._recount(state, taken.site, result.position + 1)

    def file(self, taken: Taken) -> ModelState:
        """Add a result to the lists of its site and model, without any further effect. Return the model's state."""
        number = len(self.results)
        self.results.append(taken)
        self._numbers[taken.digest] = number
        self._of_site.setdefault(taken.site, []).append(number)
        state = self.models.get((taken.scorecard, taken.model))
        if state is None:
            layout = self.lay_out(taken.scorecard)
            state = ModelState(layout, Steps(numpy.append(~layout.protected, False), self._rule()))
            self.models[taken.scorecard, taken.model] = state
        state.by_site.setdefault(taken.site, []).append(number)
        return state

    def lay_out(self, scorecard: str) -> CardLayout:
        """Return the column layout of a registered scorecard by its digest. Raises KeyError."""
        if scorecard not in self._layouts:
            self._layouts[scorecard] = lay_out(self.registry.scorecards[scorecard].scorecard)
        return self._layouts[scorecard]

    def _take_withdrawal(self, withdrawal: Withdrawal) -> None:
        number = self._numbers.get(withdrawal.predicate.result)
        if number is None:
            return
        self.withdrawals[number] = withdrawal
        taken = self.results[number]
        self._recount(
            self.models[taken.scorecard, taken.model], taken.site, withdrawal.position + 1
        )

    def _recount(self, state: ModelState, site: str, log_size: int) -> None:
        """Determine the site's result that now counts, and let it replace the previous contribution."""
        state.changes += 1
        standing = [number for number in state.by_site[site] if self.stands(number)]
        counting = [number for number in standing if self.withdrawal_of(number) is None]
        newest = self._newest(counting)
        named = self._newest([number for number in standing if self._public_sees(number)])
        is_named = named is not None and named == newest
        self.counts[state.by_site[site]] = False
        for number in counting:
            # A formerly pooled site that is now shown by name contributes to figures by name only.
            self.counts[number] = self.results[number].is_hidden and not is_named
        state.replaced.discard(site)
        if named is None:
            state.named.pop(site, None)
        else:
            state.named[site] = named
            if not is_named:
                state.replaced.add(site)
        if newest is None or not self.results[newest].is_hidden:
            state.steps.retract(site, log_size)
            return
        taken = self.results[newest]
        withdrawn = sum(self.results[number].is_hidden for number in standing) - sum(
            self.results[number].is_hidden for number in counting
        )
        row = 1 + taken.flags + _FLAGS * withdrawn
        fields = decode_codes(taken.codes)
        state.steps.contribute(
            site,
            newest,
            codes=numpy.append(value_and_bucket(taken.codes), row),
            marks=numpy.append(numpy.where(fields.is_value, fields.value + 1, NOTHING), row),
            weight=numpy.append(fields.weight, 1),
            log_size=log_size,
        )

    def _newest(self, numbers: Sequence[int]) -> int | None:
        return max(numbers, key=lambda number: self.results[number].place, default=None)

    def _public_sees(self, number: int) -> bool:
        """Return whether a result counts according to the public log alone."""
        if self.results[number].is_hidden:
            return False
        withdrawal = self.withdrawal_of(number)
        return withdrawal is None or self.is_hidden(withdrawal)

    def is_hidden(self, withdrawal: Withdrawal) -> bool:
        """Return whether the public log hides a withdrawal."""
        publication = withdrawal.publication or self._publication(withdrawal.predicate.header.site)
        return publication == "pooled"

    def _rule(self) -> StepRule:
        floor = self.registry.policies[self.registry.policy_floor]
        return StepRule(floor.pooled_sites, floor.pooled_share_percent)

    def _publication(self, site: str) -> str:
        found = self.registry.sites.get(site)
        return "named" if found is None else found.publication

    def _keys_stand(self, site: str, keyids: Iterable[str], position: int) -> bool:
        """Return whether all keys belong to the site and none was revoked from `position` or earlier.

        Whether a key had begun or ended by then was decided when the entry was accepted. A later
        end of a key does not invalidate earlier entries.
        """
        for keyid in keyids:
            found = self.registry.site_of(keyid)
            if found is None or found[0] != site:
                return False
            revoked_from = found[1].revoked_from
            if revoked_from is not None and position >= revoked_from:
                return False
        return True


def _same_keys(before: Site | None, after: Site | None) -> bool:
    if before is None or after is None:
        return before is after
    return before.keys == after.keys


def read_row_code(code: int) -> tuple[int, int]:
    """Return the flags and the number of withdrawn results for a row's code, which must be above 0."""
    withdrawn, flags = divmod(code - 1, _FLAGS)
    return flags, withdrawn
