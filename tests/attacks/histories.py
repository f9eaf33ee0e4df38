"""Attacks many histories and adds up what came of it."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from protocol.policy import DisclosurePolicy
from tests.attacks.attacker import Findings, Knowledge, Likelihood, attack, knowledge_of
from tests.attacks.hospital import STYLES, History, Hospital, Style
from tests.attacks.margins import read_policy

POLICIES = ("strict", "cms", "uk-tre")
MIN_UTILITY, MIN_AGAIN = 0.9, 0.2

KnowledgeOf = Callable[[DisclosurePolicy], Knowledge]


@dataclass
class Share:
    """How many of how many."""

    part: int = 0
    whole: int = 0

    def add(self, part: int, whole: int) -> None:
        """Add further ones."""
        self.part += part
        self.whole += whole

    @property
    def value(self) -> float:
        """The share; 1 of none."""
        return self.part / self.whole if self.whole else 1.0

    def __str__(self) -> str:
        return f"{self.part} of {self.whole}, {100 * self.value:.1f} %"


@dataclass
class Outcome:
    """What came of the histories of one policy.

    Attributes:
        again: histories with a new figure of a second version of a dataset.
        utility: main metrics with 100 units, 11 successes and 11 failures that were published, or repeated, by the
            generator of the history.
        unsendable: submissions that the gate made and its own check refuses, by code; there must be none.
        refused: versions of datasets that could not be registered.
    """

    histories: int = 0
    releases: int = 0
    figures: int = 0
    registered: int = 0
    refused: int = 0
    again: Share = field(default_factory=Share)
    utility: dict[Style, Share] = field(
        default_factory=lambda: {style: Share() for style in STYLES}
    )
    unsendable: dict[str, int] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)

    def note(self, style: Style, history: History, findings: Findings) -> None:
        """Add one history and what was found in it."""
        self.histories += 1
        self.releases += history.releases
        self.figures += sum(figure.alone is not None for figure in history.figures)
        self.registered += history.registered
        self.refused += history.refused
        self.again.add(history.released_again, 1)
        self.utility[style].add(history.main_published, history.main_cells)
        for code, number in history.blocked.items():
            self.unsendable[code] = self.unsendable.get(code, 0) + number
        self.findings.add(findings)

    @property
    def whole_utility(self) -> Share:
        """The utility over all generators."""
        return Share(
            sum(share.part for share in self.utility.values()),
            sum(share.whole for share in self.utility.values()),
        )

    @property
    def holds(self) -> bool:
        """Whether nothing was recovered and enough was published."""
        return (
            self.findings.recovered == 0
            and not self.unsendable
            and self.whole_utility.value >= MIN_UTILITY
            and self.again.value >= MIN_AGAIN
        )


def attack_one(
    seed: int, policy: DisclosurePolicy, likelihood: Likelihood, knowledge: Knowledge
) -> tuple[Style, History, Findings]:
    """Let one hospital live and attack what it released."""
    hospital = Hospital(seed, policy)
    history = hospital.live()
    return hospital.style, history, attack(history, likelihood, knowledge)


def attack_all(
    seeds: range, policy: DisclosurePolicy, knowledge: Knowledge | None = None
) -> Outcome:
    """Attack one history for each seed, in this process."""
    knowledge = knowledge or knowledge_of(policy)
    likelihood = Likelihood(policy, knowledge.scale)
    outcome = Outcome()
    for seed in seeds:
        outcome.note(*attack_one(seed, policy, likelihood, knowledge))
    return outcome


def attack_in_parallel(seeds: range, names: tuple[str, ...], processes: int) -> dict[str, Outcome]:
    """Attack each history under one of the policies in turn."""
    outcomes = {name: Outcome() for name in names}
    jobs = [(seed, names[place // len(STYLES) % len(names)]) for place, seed in enumerate(seeds)]
    for name, style, history, findings in _work(jobs, processes):
        outcomes[name].note(style, history, findings)
    return outcomes


def _work(
    jobs: list[tuple[int, str]], processes: int
) -> Iterator[tuple[str, Style, History, Findings]]:
    if processes == 1:
        yield from map(_attack_job, jobs)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_attack_job, jobs, chunksize=3)


_LIKELIHOODS: dict[str, Likelihood] = {}


def _attack_job(job: tuple[int, str]) -> tuple[str, Style, History, Findings]:
    seed, name = job
    policy = read_policy(name)
    knowledge = knowledge_of(policy)
    likelihood = _LIKELIHOODS.setdefault(name, Likelihood(policy, knowledge.scale))
    style, history, findings = attack_one(seed, policy, likelihood, knowledge)
    for figure in history.figures:  # what is not counted need not travel between processes
        figure.outcomes, figure.source = {}, None
    history.levels = {}
    return name, style, history, findings
