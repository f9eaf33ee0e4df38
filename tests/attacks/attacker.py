"""What an attacker concludes who knows everything but one outcome: exact likelihoods of all that was released.

She knows every payload, the policy, the code, exact sizes, all memberships and all other outcomes; not the site's keys.
For each outcome and each value that it could have she computes how likely the releases are. A value *fits* when that is
not zero; an outcome is *recovered* when all values that fit give it one score. Figures that were suppressed for the
sake of another one (margins) are given to her as they would have been published alone. The payload is made from these,
so whatever she can exclude from it she can exclude from them.

Her model of the perturbation is written anew here: Laplace noise on the total and on the squares, an independent draw
for each different set of scores, the same draw for the same one. `Knowledge` says which rules she knows to be missing.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agent.disclosure.verdicts import GateRule
from protocol.cell_codes import HIGH_CODED, LOW_CODED, SUPPRESSED
from protocol.disclosure import SPREAD_STEPS, allowed_values
from protocol.policy import DisclosurePolicy, bucket_range, grid_step
from protocol.scorecard import Cell
from tests.attacks.hospital import LEVELS, METRICS, Figure, History, Outcome

_LEVELS = range(len(LEVELS))
BOUND = math.log(1000)
"""Scales of noise that she takes for impossible beyond: 99.9 % of a draw lies nearer to 0."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True)
class Piece:
    """Totals from `low` to `high` for which one cell alone comes out as `value`."""

    low: float
    high: float
    value: int


class Likelihood:
    """Exact probabilities of figures, given the sums behind them."""

    def __init__(self, policy: DisclosurePolicy, scale: float) -> None:
        self.policy = policy
        self.scale = scale
        self._pieces: dict[tuple[int, int, str], list[Piece]] = {}

    def pieces(self, units: int, bucket: int, metric: str) -> list[Piece]:
        """Return what one cell comes out as, total by total."""
        key = (units, bucket, metric)
        if key not in self._pieces:
            self._pieces[key] = list(self._find_pieces(*key))
        return self._pieces[key]

    def _find_pieces(self, units: int, bucket: int, metric: str) -> Iterator[Piece]:
        policy = self.policy
        cell = Cell("ward", metric, None, "private", metric == "exact_match", 0, 1)
        step = grid_step(bucket_range(bucket)[0], policy)
        allowed = {value for value in allowed_values(cell, bucket, policy) if value >= 0}
        edges = {(number + 0.5) * step * units / 1000 for number in range(-1, 1000 // step + 2)}
        sure = policy.min_events - 3 * policy.perturbation_units
        dominated = max(
            100 * policy.dominance_n / max(1, policy.dominance_percent), 2 + policy.p_percent / 100
        )
        for threshold in (policy.min_events, sure, dominated):
            edges |= {threshold, units - threshold}
        current: Piece | None = None
        for low, high in itertools.pairwise([-math.inf, *sorted(edges), math.inf]):
            inside = (
                high - 1 if low == -math.inf else low + 1 if high == math.inf else (low + high) / 2
            )
            value = min(1000, max(0, step * math.floor(1000 * inside / units / step + 0.5)))
            is_low, is_high = inside < sure, units - inside < sure
            fewer = min(inside, units - inside)
            if is_low != is_high:
                value = LOW_CODED if is_low else HIGH_CODED
            elif fewer < policy.min_events or fewer < dominated or value not in allowed:
                value = SUPPRESSED
            if current is not None and current.value == value:
                current = Piece(current.low, high, value)
                continue
            if current is not None:
                yield current
            current = Piece(low, high, value)
        assert current is not None
        yield current

    def of_total(self, total: float, wanted: Sequence[Piece]) -> float:
        """Return how likely a perturbed total falls into one of the pieces."""
        return sum(self._between(piece.low - total, piece.high - total) for piece in wanted)

    def _between(self, low: float, high: float) -> float:
        if not self.scale:
            return float(low <= 0 < high)
        low, high = low / self.scale, high / self.scale
        if low >= 0:
            return 0.5 * (math.exp(-low) - math.exp(-high))
        if high <= 0:
            return 0.5 * (math.exp(high) - math.exp(low))
        return 1 - 0.5 * (math.exp(low) + math.exp(-high))

    def of_figure(self, units: int, total: float, squares: float, figure: Figure) -> float:
        """Return how likely a figure is, alone, for these exact sums."""
        assert figure.alone is not None
        value, spread = figure.alone
        wanted = [
            piece
            for piece in self.pieces(units, figure.bucket, figure.metric)
            if piece.value == value
        ]
        if figure.metric == "exact_match" or value < 0:
            return self.of_total(total, wanted)
        return sum(self._of_spread(units, total, squares, piece, spread) for piece in wanted)

    def _of_spread(
        self, units: int, total: float, squares: float, piece: Piece, spread: int
    ) -> float:
        low_variance = 0.0 if spread <= 0 else ((spread - 0.5) / (2 * SPREAD_STEPS)) ** 2
        high_variance = (
            math.inf
            if spread == SPREAD_STEPS
            else ((max(spread, 0) + 0.5) / (2 * SPREAD_STEPS)) ** 2
        )

        def limits(t: float) -> tuple[float, float]:
            """Return the perturbed squares that give this spread beside a perturbed total."""
            low = -math.inf if spread <= 0 else units * (low_variance + (t / units) ** 2)
            return low, units * (high_variance + (t / units) ** 2)

        if not self.scale:
            low, high = limits(total)
            return float(piece.low <= total < piece.high and low <= squares < high)
        result = 0.0
        for start, end in self._stretches(piece, total):
            middle, half = (start + end) / 2, (end - start) / 2
            for node, weight in zip(_NODES, _WEIGHTS, strict=True):
                t = middle + half * float(node)
                density = math.exp(-abs(t - total) / self.scale) / (2 * self.scale)
                low, high = limits(t)
                result += (
                    float(weight) * half * density * self._between(low - squares, high - squares)
                )
        return result

    def _stretches(self, piece: Piece, total: float) -> list[tuple[float, float]]:
        """Divide a piece where the density has its peak, and leave out what is beyond any number."""
        low, high = (
            max(piece.low, total - 60 * self.scale),
            min(piece.high, total + 60 * self.scale),
        )
        if low >= high:
            low, high = (
                (piece.low, piece.low + 60) if piece.low > total else (piece.high - 60, piece.high)
            )
            low, high = max(low, piece.low), min(high, piece.high)
        cuts = sorted(
            {low, high, *(cut for cut in (total, total - 4, total + 4) if low < cut < high)}
        )
        return list(itertools.pairwise(cuts))

    def can_be(self, units: int, total: float, squares: float, figure: Figure) -> bool:
        """Whether a figure is possible if no draw of noise exceeded BOUND scales."""
        assert figure.alone is not None
        value, spread = figure.alone
        reach = BOUND * self.scale
        for piece in self.pieces(units, figure.bucket, figure.metric):
            low, high = max(piece.low, total - reach), min(piece.high, total + reach)
            if piece.value != value or low > high:
                continue
            if figure.metric == "exact_match" or value < 0:
                return True
            least = -math.inf
            if spread > 0:
                least = units * (((spread - 0.5) / 50) ** 2 + (max(0.0, low) / units) ** 2)
            most = math.inf
            if spread < SPREAD_STEPS:
                most = units * (((max(spread, 0) + 0.5) / 50) ** 2 + (high / units) ** 2)
            if least <= squares + reach and squares - reach <= most:
                return True
        return False


@dataclass(frozen=True)
class Knowledge:
    """What the attacker knows of the code, apart from what is in `Figure`.

    Attributes:
        scale: of the noise, in units.
        context: whether the same scores get the same noise only for the same figure of the same model, or whoever asks.
        repeats: how likely a figure is repeated that differs from an earlier one in so many persons' scores.
    """

    scale: float
    context: Callable[[Figure], object]
    repeats: Callable[[int], float]


@dataclass
class Findings:
    """What the attack came to, over all histories so far.

    Attributes:
        attacked: outcomes behind at least one figure that depends on scores.
        recovered: outcomes that all fitting values agree on.
        recovered_if_bounded: the same if noise beyond 99.9 % of a draw is taken for impossible.
        expected_if_bounded: how many that should be: at most, for scores that are not 0 or 1.
        impossible_if_bounded: outcomes whose truth she would exclude, since some noise did lie beyond.
        certainty: largest posterior probability of one value against another that was as likely before.
        looks: most independent draws behind one outcome.
    """

    attacked: int = 0
    recovered: int = 0
    recovered_if_bounded: int = 0
    expected_if_bounded: float = 0.0
    impossible_if_bounded: int = 0
    certainty: float = 0.5
    looks: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        """Add what another part of the attack came to."""
        self.attacked += other.attacked
        self.recovered += other.recovered
        self.recovered_if_bounded += other.recovered_if_bounded
        self.expected_if_bounded += other.expected_if_bounded
        self.impossible_if_bounded += other.impossible_if_bounded
        self.certainty = max(self.certainty, other.certainty)
        self.looks = max(self.looks, other.looks)
        self.examples += other.examples


@dataclass
class _Decision:
    """Whether a figure was near one of some earlier ones, and therefore not new.

    Attributes:
        whole: the figure of all units that was decided; None if subgroups were.
        old: what it was compared with, in this order.
        was_near: whether one of them was near.
        parts: of subgroups: the figure that each of `old` was compared with.
        matters: whether another outcome could have changed it.
    """

    whole: Figure | None
    old: Sequence[Figure]
    was_near: bool
    parts: Sequence[Figure] = ()
    matters: bool = False

    def new_of(self, place: int) -> Figure:
        """Return the figure that was compared with the old one at this place."""
        return self.whole or self.parts[place]

    def outcomes(self) -> set[Outcome]:
        """Return the outcomes on which any distance depends: of persons who had another outcome before."""
        found: set[Outcome] = set()
        for place, old in enumerate(self.old):
            new = self.new_of(place)
            for person, outcome in new.outcomes.items():
                if person in old.outcomes and old.outcomes[person] != outcome:
                    found |= {outcome, old.outcomes[person]}
        return found


class Attack:
    """The attack on one history."""

    def __init__(self, history: History, likelihood: Likelihood, knowledge: Knowledge) -> None:
        self.history = history
        self.likelihood = likelihood
        self.knowledge = knowledge
        self.drawn = [figure for figure in history.figures if figure.alone is not None]
        self.shares = {id(figure): self._shares(figure) for figure in history.figures}
        self.rows = {
            o: row
            for row, o in enumerate(
                dict.fromkeys(o for f in self.drawn for o in f.outcomes.values())
            )
        }

    def _shares(
        self, figure: Figure, target: Outcome | None = None, level: int = 0
    ) -> dict[str, float]:
        """Return the scores behind a figure, if the target had this level."""
        scores = METRICS[figure.metric]
        levels = self.history.levels
        return {
            p: scores[level if o == target else levels[o]]
            for p, o in sorted(figure.outcomes.items())
        }

    def run(self) -> Findings:
        """Compute, for every outcome and level, how likely everything is that was released."""
        findings = Findings(attacked=len(self.rows))
        if not self.rows:
            return findings
        logs = np.zeros((len(self.rows), len(LEVELS)))
        possible = np.ones((len(self.rows), len(LEVELS)), dtype=bool)
        looks = np.zeros(len(self.rows), dtype=int)
        for figure in self._distinct():
            self._look(figure, logs, possible, looks, findings)
        for outcome in self._same_draws():
            logs[self.rows[outcome]] = [self._log_of_draws(outcome, level) for level in _LEVELS]
        self._add_decisions(logs)
        self._judge(logs, possible, looks, findings)
        return findings

    def _identity(self, figure: Figure, shares: Mapping[str, float]) -> tuple[object, ...]:
        """Return what decides about the noise: figures with the same identity have the same draw."""
        return (self.knowledge.context(figure), figure.metric, figure.bucket, tuple(shares.items()))

    def _distinct(self) -> list[Figure]:
        """Return one figure of each draw."""
        found = {
            self._identity(figure, self.shares[id(figure)]): figure
            for figure in reversed(self.drawn)
        }
        return list(found.values())

    def _look(
        self,
        figure: Figure,
        logs: NDArray[np.float64],
        possible: NDArray[np.bool_],
        looks: NDArray[np.int_],
        findings: Findings,
    ) -> None:
        """Take one draw into account, for every outcome behind it."""
        scores, shares = METRICS[figure.metric], self.shares[id(figure)]
        units, total = len(shares), math.fsum(shares.values())
        squares = math.fsum(share * share for share in shares.values())
        rows = np.array([self.rows[outcome] for outcome in figure.outcomes.values()])
        truths = np.array([self.history.levels[outcome] for outcome in figure.outcomes.values()])
        for truth in set(truths.tolist()):
            chances, can_be = [], []
            for level in _LEVELS:
                new_total = total + scores[level] - scores[truth]
                new_squares = squares + scores[level] ** 2 - scores[truth] ** 2
                chances.append(self.likelihood.of_figure(units, new_total, new_squares, figure))
                can_be.append(self.likelihood.can_be(units, new_total, new_squares, figure))
            assert chances[truth] > 0, (
                "the attacker's model of the gate is wrong: the truth does not fit"
            )
            of_truth = rows[truths == truth]
            logs[of_truth] += [_log(chance) for chance in chances]
            possible[of_truth] &= can_be
            looks[of_truth] += 1
            findings.expected_if_bounded += len(of_truth) * self._expected(
                figure, units, total, scores[truth]
            )

    def _expected(self, figure: Figure, units: int, total: float, score: float) -> float:
        """Return how likely one draw excludes the other values of an outcome, if noise had bounds."""
        scale = self.likelihood.scale
        if not scale:
            return 0.0
        reach = BOUND * scale
        if figure.metric != "exact_match":
            return 2 * 0.0005 * (math.exp(0.25 / scale) - 1)
        other = total + 1 - 2 * score
        by_value: dict[int, list[Piece]] = {}
        for piece in self.likelihood.pieces(units, figure.bucket, figure.metric):
            by_value.setdefault(piece.value, []).append(piece)
        chance = 0.0
        for pieces in by_value.values():
            reachable = [
                any(p.low <= t + reach and p.high >= t - reach for p in pieces)
                for t in (total, other)
            ]
            if reachable == [True, False]:
                chance += self.likelihood.of_total(total, pieces)
        return chance

    # --- Outcomes by which it was decided what happened --------------------------------------------------------

    def _same_draws(self) -> set[Outcome]:
        """Return outcomes on which it may depend whether two figures had the same draw."""
        groups: dict[tuple[object, ...], list[Figure]] = {}
        for figure in self.drawn:
            key = (self.knowledge.context(figure), figure.metric, frozenset(figure.outcomes))
            groups.setdefault(key, []).append(figure)
        found: set[Outcome] = set()
        for figures in groups.values():
            for place, new in enumerate(figures):
                for old in figures[:place]:
                    differing = [
                        person
                        for person in new.outcomes
                        if old.outcomes[person] != new.outcomes[person]
                    ]
                    if self._distance(old, new) <= 1:
                        found |= {old.outcomes[person] for person in differing}
                        found |= {new.outcomes[person] for person in differing}
        return found

    def _distance(self, old: Figure, new: Figure) -> int:
        before, after = self.shares[id(old)], self.shares[id(new)]
        return sum(
            before.get(person) != after.get(person) for person in before.keys() | after.keys()
        )

    def _log_of_draws(self, target: Outcome, level: int) -> float:
        """Return the log likelihood of all draws, up to a constant, if the target had this level."""
        draws: dict[tuple[object, ...], list[Figure]] = {}
        for figure in self.drawn:
            has_target = target in figure.outcomes.values()
            shares = self._shares(figure, target, level) if has_target else self.shares[id(figure)]
            draws.setdefault(self._identity(figure, shares), []).append(figure)
        result = 0.0
        for figures in draws.values():
            if len({figure.alone for figure in figures}) > 1:
                return -math.inf  # one draw cannot come out in two ways
            scores = list(self._shares(figures[0], target, level).values())
            total, squares = math.fsum(scores), math.fsum(score * score for score in scores)
            result += _log(self.likelihood.of_figure(len(scores), total, squares, figures[0]))
        return result

    def _find_decisions(self) -> "list[_Decision]":
        """Return, for each release and benchmark, what its figures were compared with."""
        decisions: list[_Decision] = []
        by_benchmark: dict[tuple[int, str], list[Figure]] = {}
        for figure in self.history.figures:
            if figure.verdict not in {GateRule.SURPLUS, GateRule.PART, GateRule.NEAR_VERSION}:
                by_benchmark.setdefault((figure.place, figure.benchmark), []).append(figure)
        for figures in by_benchmark.values():
            whole = [figure for figure in figures if not figure.subgroup]
            was_repeated = any(figure.verdict is GateRule.REPEATED for figure in whole)
            decisions += [
                _Decision(figure, self._comparable(figure), was_repeated) for figure in whole
            ]
            parts = [figure for figure in figures if figure.subgroup]
            if was_repeated or not parts or parts[0].verdict is GateRule.OTHER_METRIC:
                continue
            was_near = any(figure.verdict is GateRule.NO_PRECEDENT for figure in parts)
            pairs = [(new, old) for new in parts for old in self._comparable(new)]
            decisions.append(
                _Decision(None, [old for _, old in pairs], was_near, [new for new, _ in pairs])
            )
        return decisions

    def _comparable(self, figure: Figure) -> list[Figure]:
        """Return the figures in the ledger that the gate compares this one with, newest first, each once."""
        found: dict[int, Figure] = {}
        for old in reversed(self.history.figures):
            if old.place < figure.place and old.is_debited and old.key == figure.key:
                source = old.source or old
                found.setdefault(id(source), source)
        return list(found.values())

    def _add_decisions(self, logs: NDArray[np.float64]) -> None:
        """Take into account that each figure was new, or a repeat, as it was."""
        for decision in self._find_decisions():
            for place, old in enumerate(decision.old):
                new = decision.new_of(place)
                distance = self._distance(old, new)
                if decision.was_near and self.knowledge.repeats(distance + 1) > 0.999999:
                    continue  # whatever the target scored, a repeat was all but certain
                if not decision.was_near and self.knowledge.repeats(max(0, distance - 1)) < 1e-9:
                    continue
                decision.matters = True
            if not decision.matters:
                continue
            distances = [
                self._distance(old, decision.new_of(place))
                for place, old in enumerate(decision.old)
            ]
            for outcome in decision.outcomes():
                if outcome in self.rows:
                    logs[self.rows[outcome]] += [
                        self._log_of_decision(decision, distances, outcome, level)
                        for level in _LEVELS
                    ]

    def _log_of_decision(
        self, decision: "_Decision", distances: Sequence[int], target: Outcome, level: int
    ) -> float:
        chance_of_new, chance_of_repeat = 1.0, 0.0
        for place, old in enumerate(decision.old):
            new = decision.new_of(place)
            distance = distances[place] + self._shift(old, new, target, level)
            near = self.knowledge.repeats(distance)
            if decision.whole is None or old.payload == decision.whole.payload:
                chance_of_repeat += chance_of_new * near
            chance_of_new *= 1 - near
        return _log(chance_of_repeat if decision.was_near else chance_of_new)

    def _shift(self, old: Figure, new: Figure, target: Outcome, level: int) -> int:
        """Return how the distance of two figures changes if the target has this level."""
        scores, levels = METRICS[new.metric], self.history.levels
        for figure, other in ((old, new), (new, old)):
            person = figure.person_of.get(target)
            if (
                person is None
                or other.outcomes.get(person) == target
                or person not in other.outcomes
            ):
                continue
            beside = scores[levels[other.outcomes[person]]]
            return int(scores[level] != beside) - int(scores[levels[target]] != beside)
        return 0

    # --- Conclusions -------------------------------------------------------------------------------------------

    def _judge(
        self,
        logs: NDArray[np.float64],
        possible: NDArray[np.bool_],
        looks: NDArray[np.int_],
        findings: Findings,
    ) -> None:
        fits = logs > -math.inf
        findings.looks = int(looks.max())
        findings.recovered = int(_is_recovered(fits).sum())
        truths = np.array([self.history.levels[outcome] for outcome in self.rows])
        truth_possible = possible[np.arange(len(truths)), truths]
        findings.recovered_if_bounded = int((_is_recovered(possible & fits) & truth_possible).sum())
        findings.impossible_if_bounded = int((~truth_possible).sum())
        with np.errstate(invalid="ignore"):
            widest = float(np.max(logs.max(axis=1) - logs.min(axis=1)))
        findings.certainty = 1 / (1 + math.exp(-widest)) if widest < math.inf else 1.0
        for outcome, row in self.rows.items():
            if _is_recovered(fits[row : row + 1])[0] and len(findings.examples) < 3:
                findings.examples.append(f"{outcome}: {np.round(logs[row], 2).tolist()}")


def _is_recovered(fits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether all levels that fit give one score: the same answer right or wrong, or one level alone."""
    wrong = fits[:, :4].any(axis=1)
    right = fits[:, 4]
    result: NDArray[np.bool_] = (wrong != right) | (fits.sum(axis=1) == 1)
    return result


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else -math.inf


def knowledge_of(policy: DisclosurePolicy) -> Knowledge:
    """Return what there is to know of the product's code under a policy."""
    scale = min(1, policy.perturbation_units)

    def repeats(distance: int) -> float:
        # The gate takes 5 scales and a draw off the distance.
        short = policy.changed_units - distance + 5 * scale
        if not scale:
            return float(short > 0)
        return 1 - 0.5 * math.exp(-short) if short > 0 else 0.5 * math.exp(short)

    return Knowledge(
        scale=policy.perturbation_units,
        context=lambda figure: (figure.benchmark, *figure.key),
        repeats=repeats,
    )


def attack(history: History, likelihood: Likelihood, knowledge: Knowledge) -> Findings:
    """Attack every outcome of one history."""
    return Attack(history, likelihood, knowledge).run()
