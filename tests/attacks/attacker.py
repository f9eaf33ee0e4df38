"""What an attacker concludes who knows everything but one outcome: exact likelihoods of all that was released.

She knows every payload, the policy, the code, exact sizes, all memberships and all other outcomes; not the site's keys.
For each outcome and each value that it could have she computes how likely the releases are. A value *fits* when that is
not zero; an outcome is *recovered* when all values that fit give it one score. Figures that were suppressed for the
sake of another one (margins) are given to her as they would have been published alone. The payload is made from these,
so whatever she can exclude from it she can exclude from them.

Her model of the perturbation is written anew here: Laplace noise on the total, an independent draw for each different
set of scores, the same draw for the same one. `Knowledge` says which rules she knows to be missing.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agent.disclosure.gate import Rule
from protocol.codes import SUPPRESSED
from protocol.disclosure import SPREAD_STEPS, CellSums, release_cell
from protocol.policy import DisclosurePolicy, bucket_range, grid_step
from protocol.scorecard import Cell
from tests.attacks.hospital import LEVELS, METRICS, Figure, History, Outcome

Shares = tuple[tuple[str, float], ...]
"""Person and score, sorted: what noise is drawn from."""

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
        """Return what one cell comes out as, total by total, by asking the product itself between all its edges."""
        key = (units, bucket, metric)
        if key not in self._pieces:
            self._pieces[key] = list(self._find_pieces(*key))
        return self._pieces[key]

    def _find_pieces(self, units: int, bucket: int, metric: str) -> Iterator[Piece]:
        cell = Cell("ward", metric, None, "private", metric == "exact_match", 0, 1)
        step = grid_step(bucket_range(bucket)[0], self.policy)
        edges = {(number + 0.5) * step * units / 1000 for number in range(-1, 1000 // step + 2)}
        events = self.policy.min_events
        for threshold in (events, events - 3 * self.policy.perturbation_units, 20, 20 / 9, 2 / 0.9, 0.0):
            edges |= {threshold, units - threshold}
        # Dominance turns at sums of a few units; whole and half numbers cover its edges where they matter.
        edges |= {number / 2 for number in range(2 * events)} | {units - number / 2 for number in range(2 * events)}
        ends = [-math.inf, *sorted(edges), math.inf]
        current: Piece | None = None
        for low, high in zip(ends, ends[1:], strict=False):
            inside = high - 1 if low == -math.inf else low + 1 if high == math.inf else (low + high) / 2
            value = release_cell(cell, CellSums(units, inside, inside), bucket, self.policy)
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

    def of_figure(self, units: int, total: float, squares: float, figure: Figure, *, is_binary: bool) -> float:
        """Return how likely a figure is, alone, for these exact sums; `is_binary`: both sums have the same noise."""
        assert figure.alone is not None
        value, spread = figure.alone
        wanted = [piece for piece in self.pieces(units, figure.bucket, figure.metric) if piece.value == value]
        if figure.metric == "exact_match" or value < 0:
            return self.of_total(total, wanted)
        return sum(self._of_spread(units, total, squares, piece, spread, is_binary) for piece in wanted)

    def _of_spread(
        self, units: int, total: float, squares: float, piece: Piece, spread: int, is_binary: bool
    ) -> float:
        low_variance = 0.0 if spread <= 0 else ((spread - 0.5) / (2 * SPREAD_STEPS)) ** 2
        high_variance = math.inf if spread == SPREAD_STEPS else ((max(spread, 0) + 0.5) / (2 * SPREAD_STEPS)) ** 2

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
                share = float(low <= t < high) if is_binary else self._between(low - squares, high - squares)
                result += float(weight) * half * density * share
        return result

    def _stretches(self, piece: Piece, total: float) -> list[tuple[float, float]]:
        """Divide a piece where the density has its peak, and leave out what is beyond any number."""
        low, high = max(piece.low, total - 60 * self.scale), min(piece.high, total + 60 * self.scale)
        if low >= high:
            low, high = (piece.low, piece.low + 60) if piece.low > total else (piece.high - 60, piece.high)
            low, high = max(low, piece.low), min(high, piece.high)
        cuts = sorted({low, high, *(cut for cut in (total, total - 4, total + 4) if low < cut < high)})
        return list(zip(cuts, cuts[1:], strict=False))

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


class Attack:
    """The attack on one history."""

    def __init__(self, history: History, likelihood: Likelihood, knowledge: Knowledge) -> None:
        self.history = history
        self.likelihood = likelihood
        self.knowledge = knowledge
        self.drawn = [figure for figure in history.figures if figure.alone is not None]
        self.shares = {id(figure): self._shares(figure) for figure in history.figures}
        self.rows = {o: row for row, o in enumerate(dict.fromkeys(o for f in self.drawn for o in f.outcomes.values()))}

    def _shares(self, figure: Figure, target: Outcome | None = None, level: int = 0) -> dict[str, float]:
        """Return the scores behind a figure, if the target had this level."""
        scores = METRICS[figure.metric]
        levels = self.history.levels
        return {p: scores[level if o == target else levels[o]] for p, o in sorted(figure.outcomes.items())}

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
        for outcome in self._entangled():
            logs[self.rows[outcome]] = [self._log_likelihood(outcome, level) for level in _LEVELS]
        self._judge(logs, possible, looks, findings)
        return findings

    def _identity(self, figure: Figure, shares: Mapping[str, float]) -> tuple[object, ...]:
        """Return what decides about the noise: figures with the same identity have the same draw."""
        return (self.knowledge.context(figure), figure.metric, figure.bucket, tuple(shares.items()))

    def _distinct(self) -> list[Figure]:
        """Return one figure of each draw."""
        found = {self._identity(figure, self.shares[id(figure)]): figure for figure in reversed(self.drawn)}
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
        between = sum(0 < share < 1 for share in shares.values())
        rows = np.array([self.rows[outcome] for outcome in figure.outcomes.values()])
        truths = np.array([self.history.levels[outcome] for outcome in figure.outcomes.values()])
        for truth in set(truths.tolist()):
            chances, can_be = [], []
            for level in _LEVELS:
                new_total = total + scores[level] - scores[truth]
                new_squares = squares + scores[level] ** 2 - scores[truth] ** 2
                is_binary = between + (0 < scores[level] < 1) - (0 < scores[truth] < 1) == 0
                chances.append(
                    self.likelihood.of_figure(units, new_total, new_squares, figure, is_binary=is_binary)
                )
                can_be.append(self.likelihood.can_be(units, new_total, new_squares, figure))
            assert chances[truth] > 0, "the attacker's model of the gate is wrong: the truth does not fit"
            of_truth = rows[truths == truth]
            logs[of_truth] += [_log(chance) for chance in chances]
            possible[of_truth] &= can_be
            looks[of_truth] += 1
            findings.expected_if_bounded += len(of_truth) * self._expected(figure, units, total, scores[truth])

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
            reachable = [any(p.low <= t + reach and p.high >= t - reach for p in pieces) for t in (total, other)]
            if reachable == [True, False]:
                chance += self.likelihood.of_total(total, pieces)
        return chance

    # --- Outcomes whose value decides what happened, not only how likely a draw is -----------------------------

    def _entangled(self) -> set[Outcome]:
        """Return outcomes by which some release would have been a repeat, or the same draw as another."""
        found: set[Outcome] = set()
        for old, new in self._pairs():
            differing = [person for person in new.outcomes if old.outcomes[person] != new.outcomes[person]]
            old_shares, new_shares = self.shares[id(old)], self.shares[id(new)]
            distance = sum(old_shares[person] != new_shares[person] for person in differing)
            if differing and (distance <= 1 or self._turns(distance)):
                found |= {old.outcomes[person] for person in differing} | {new.outcomes[p] for p in differing}
        return found & self.rows.keys()

    def _turns(self, distance: int) -> bool:
        chances = [self.knowledge.repeats(max(0, distance + change)) for change in (-1, 0, 1)]
        return max(chances) > min(chances) * 1.001

    def _pairs(self) -> Iterator[tuple[Figure, Figure]]:
        """Yield pairs of figures of one metric about exactly the same persons, the older first."""
        groups: dict[tuple[object, ...], list[Figure]] = {}
        for figure in self.history.figures:
            if figure.alone is not None or figure.verdict in {Rule.REPEATED, Rule.NO_PRECEDENT}:
                groups.setdefault((figure.metric, frozenset(figure.outcomes)), []).append(figure)
        for figures in groups.values():
            for place, new in enumerate(figures):
                yield from ((old, new) for old in figures[:place])

    def _log_likelihood(self, target: Outcome, level: int) -> float:
        """Return the log likelihood of everything, up to a constant, if the target had this level."""
        draws: dict[tuple[object, ...], list[Figure]] = {}
        for figure in self.drawn:
            has_target = target in figure.outcomes.values()
            shares = self._shares(figure, target, level) if has_target else self.shares[id(figure)]
            draws.setdefault(self._identity(figure, shares), []).append(figure)
        result = self._log_of_decisions(target, level)
        for figures in draws.values():
            if len({figure.alone for figure in figures}) > 1:
                return -math.inf  # one draw cannot come out in two ways
            figure = figures[0]
            scores = list((self._shares(figure, target, level)).values())
            squares = [score * score for score in scores]
            is_binary = all(score in {0, 1} for score in scores)
            total = math.fsum(scores)
            chance = self.likelihood.of_figure(len(scores), total, math.fsum(squares), figure, is_binary=is_binary)
            result += _log(chance)
        return result

    def _log_of_decisions(self, target: Outcome, level: int) -> float:
        """Return the log probability that each release was new, or a repeat, as it was."""
        result = 0.0
        for (place, _), figures in self._by_benchmark().items():
            if not any(target in figure.outcomes.values() for figure in self.history.figures if figure.place <= place):
                continue
            fresh_chance = 1.0
            for figure in figures:
                shares = self._shares(figure, target, level)
                for old in self._comparable(figure):
                    old_shares = self._shares(old, target, level)
                    distance = sum(shares.get(p) != old_shares.get(p) for p in shares.keys() | old_shares.keys())
                    if distance or old.payload != figure.payload:
                        fresh_chance *= 1 - self.knowledge.repeats(distance)
            was_fresh = any(figure.alone is not None for figure in figures)
            result += _log(fresh_chance if was_fresh else 1 - fresh_chance)
        return result

    def _by_benchmark(self) -> dict[tuple[int, str], list[Figure]]:
        """Return the figures of each release and benchmark where it was decided whether to repeat."""
        found: dict[tuple[int, str], list[Figure]] = {}
        for figure in self.history.figures:
            if figure.alone is not None or figure.verdict in {Rule.REPEATED, Rule.NO_PRECEDENT}:
                found.setdefault((figure.place, figure.benchmark), []).append(figure)
        return found

    def _comparable(self, figure: Figure) -> Iterator[Figure]:
        """Yield the earlier new figures that the gate compares this one with."""
        for old in self.history.figures:
            same = (old.dataset, old.metric, old.subgroup) == (figure.dataset, figure.metric, figure.subgroup)
            if old.place < figure.place and same and old.alone is not None and old.model == figure.model:
                yield old

    # --- Conclusions -------------------------------------------------------------------------------------------

    def _judge(
        self, logs: NDArray[np.float64], possible: NDArray[np.bool_], looks: NDArray[np.int_], findings: Findings
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
    return (wrong != right) & (wrong | right) | (fits.sum(axis=1) == 1)


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else -math.inf


def knowledge_of(policy: DisclosurePolicy) -> Knowledge:
    """Return what there is to know of the product's code under a policy."""
    return Knowledge(
        scale=policy.perturbation_units,
        context=lambda figure: "",
        repeats=lambda distance: float(distance < policy.changed_units),
    )


def attack(history: History, policy: DisclosurePolicy, knowledge: Knowledge) -> Findings:
    """Attack every outcome of one history."""
    return Attack(history, Likelihood(policy, knowledge.scale), knowledge).run()
