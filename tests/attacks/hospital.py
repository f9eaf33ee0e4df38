"""A hospital that changes, registers, evaluates and releases: histories for `python -m tests.attacks`.

Everything that decides is the product: `registration.make_candidate` and `check_version`, the aggregator's
`check_dataset_version`, `gate.decide` with its ledger, and `check_result`. Patients, answers and the order of events
are drawn. An *outcome* is what one model's weights answered to one record of one patient, until they are asked again.
"""

import functools
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from agent.disclosure.cell_scores import Secrets
from agent.disclosure.dataset_reading import ReadUnit, ReadVersion
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease, decide
from agent.disclosure.ledger import DatasetEntry, Fingerprints, Ledger, LedgerEntry, ReleaseEntry
from agent.disclosure.perturbation import perturb_sums
from agent.disclosure.registration import check_version, make_candidate, make_statement
from agent.disclosure.sketches import Shingled, Shingler
from agent.disclosure.verdicts import GateRule
from agent.errors import DisclosureError
from agent.store import UnitScore
from protocol.cell_codes import SUPPRESSED
from protocol.disclosure import check_result, release_cell, release_spread
from protocol.errors import Code, ProtocolError
from protocol.identity import model_digest
from protocol.policy import BUCKETS, DisclosurePolicy, grid_step
from protocol.predicates import DatasetPredicate, Header, ResultPredicate
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.verification import check_dataset_version
from tests.protocol import world

Style = Literal["uniform", "bursty", "edges"]
STYLES: tuple[Style, ...] = ("uniform", "bursty", "edges")

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""What an answer can score by `f1`; by `exact_match` only the last is right."""

METRICS = {"exact_match": (0.0, 0.0, 0.0, 0.0, 1.0), "f1": LEVELS}
DEFINITIONS = {"ward": "cd" * 32, "stay": "ef" * 32}
_NO_SHINGLES = Shingled(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))
_WORDS = [
    f"{first}{second}"
    for first in "bdfghklmnprst"
    for second in ("adel", "omir", "unet", "isab", "erop", "anif")
]


class Outcome(NamedTuple):
    """Names one outcome: it is the same in every release that rests on the same answer."""

    patient: int
    revision: int
    weights: str
    benchmark: str
    asked: int


@dataclass
class Patient:
    """A patient; `revision` counts edits of the record."""

    number: int
    name: str
    sex: str
    age: str
    is_in_icu: bool
    revision: int = 0


@dataclass(frozen=True)
class Member:
    """A patient as a frozen version has them."""

    patient: int
    revision: int
    name: str
    sex: str
    age: str


@dataclass(eq=False)
class Figure:
    """One protected figure, with everything that the attacker knows of it but the target's outcome.

    Attributes:
        place: number of the release.
        model, metric, subgroup: which figure.
        dataset: commitment of the version.
        outcomes: person, as the ledger names them, -> outcome.
        verdict: the rule that decided it.
        payload: published value and spread.
        alone: value and spread as decided from the perturbed sums alone, before margins; None where the figure does
            not depend on scores at all. The attacker is given these: they tell at least as much as the payload.
        bucket: of the group; 0 where nothing of it is published.
        scores: fingerprint of all scores in the ledger.
        source: of a repeat, the figure that was repeated.
        is_debited: whether the ledger has it, so that later ones are compared with it.
    """

    place: int
    model: str
    benchmark: str
    metric: str
    subgroup: str
    dataset: str
    outcomes: Mapping[str, Outcome]
    verdict: GateRule
    payload: tuple[int, int]
    alone: tuple[int, int] | None
    bucket: int
    scores: int = 0
    source: "Figure | None" = None
    is_debited: bool = False

    @functools.cached_property
    def person_of(self) -> dict[Outcome, str]:
        """Whose outcome it is."""
        return {outcome: person for person, outcome in self.outcomes.items()}

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the gate compares: figures of the same model, data, metric and subgroup."""
        return (self.model, self.dataset, self.metric, self.subgroup)


@dataclass
class History:
    """What happened in one hospital.

    Attributes:
        levels: outcome -> index into LEVELS: the truth.
        figures: everything that was prepared, in order.
        registered, refused: versions.
        releases: submissions prepared; `fresh_versions` of them have a new figure of another version than before.
        main_cells, main_published: main metrics with 100 units, 11 successes and 11 failures.
    """

    policy: DisclosurePolicy
    levels: dict[Outcome, int] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    registered: int = 0
    refused: int = 0
    releases: int = 0
    released_again: bool = False
    main_cells: int = 0
    main_published: int = 0
    withheld_main: dict[str, int] = field(default_factory=dict)
    blocked: dict[str, int] = field(default_factory=dict)


def _cell(benchmark: str, metric: str, subgroup: str | None = None) -> Cell:
    return Cell(benchmark, metric, subgroup, "private", metric == "exact_match", 0, 1)


def _card(name: str, *cells: Cell) -> Scorecard:
    ids = dict.fromkeys(cell.benchmark for cell in cells)
    entries = tuple(BenchmarkEntry(id, id.title(), "Documentation", DEFINITIONS[id]) for id in ids)
    return Scorecard(name, 1, entries, cells)


_SEXES = ("sex.female", "sex.male")
_AGES = ("age.under-40", "age.40-to-70", "age.over-70")

CARDS = (
    _card("plain", _cell("ward", "exact_match"), _cell("ward", "f1")),
    _card(
        "sexes",
        _cell("ward", "exact_match"),
        *(_cell("ward", "exact_match", part) for part in _SEXES),
    ),
    _card(
        "two-variables",
        _cell("ward", "exact_match"),
        *(_cell("ward", "exact_match", part) for part in (*_SEXES, *_AGES)),
        _cell("ward", "f1"),
    ),
    _card("cohorts", _cell("ward", "exact_match"), _cell("stay", "f1")),
    _card("stays", _cell("stay", "f1"), *(_cell("stay", "f1", part) for part in _AGES)),
)
ODD_CARD = _card("odd", _cell("ward", "f1"), *(_cell("ward", "f1", part) for part in _AGES))
"""Leads with a metric that is not the benchmark's main one: an attempt to get a second figure of the same answers."""

MAIN_METRICS = {"ward": "exact_match", "stay": "f1"}

NAMES = {"example/one": "one", "example/one-again": "one", "example/two": "two"}
"""Registered name -> weights."""


class Hospital:
    """One hospital, from its first patient to its last release."""

    def __init__(self, seed: int, policy: DisclosurePolicy) -> None:
        self.draw = random.Random(f"{seed} {policy.name}")
        self.style = STYLES[seed % len(STYLES)]
        self.has_texts = seed % 5 == 0
        self.policy = policy
        self.history = History(policy)
        seal = hashlib.sha256(f"{seed}".encode()).digest()
        self.fingerprint_key = hashlib.sha256(b"fingerprints" + seal).digest()
        self.secrets = Secrets(
            Fingerprints(self.fingerprint_key), hashlib.sha256(b"noise" + seal).digest()
        )
        self.shingler = Shingler(self.fingerprint_key)
        self.ledger = Ledger()
        self.statements: dict[str, DatasetPredicate] = {}
        self.newest: dict[str, str] = {}
        self.members: dict[str, list[Member]] = {}
        self.asked: dict[tuple[int, int, str, str], int] = {}
        self.roots: set[tuple[str, str, str]] = set()
        self.said: set[tuple[str, str, str]] = set()
        self.day = world.TODAY
        self.count = 0
        self.rates = {
            (weights, benchmark): self._draw_rate()
            for weights in ("one", "two")
            for benchmark in DEFINITIONS
        }
        self.icu_share = self.draw.choice([0.02, 0.1, 0.4])
        self.patients: list[Patient] = []
        self._admit(self._draw_size())

    # --- Drawing -----------------------------------------------------------------------------------------------

    def _draw_size(self) -> int:
        if self.style == "edges":
            low = self.draw.choice([low for low, _ in BUCKETS if 40 <= low <= 600])
            return low + self.draw.choice([-1, 0, 1])
        return self.draw.randint(40, 600)

    def _draw_rate(self) -> float:
        if self.style == "edges":
            return self.draw.choice([0.0, 0.05, 0.1, 0.5, 0.9, 0.95, 1.0])
        return self.draw.choice([self.draw.random(), self.draw.betavariate(8, 3)])

    def _draw_number(self) -> int:
        """Return how many patients come, go or are edited at once."""
        if self.style == "edges":
            return self.draw.choice([0, 0, 1, 9, 10, 11, 12])
        if self.style == "bursty":
            return self.draw.choice([0, 0, 0, 1, 2, 40, 70])
        return self.draw.choice([0, self.draw.randint(1, 10), self.draw.randint(11, 20)])

    # --- Patients ----------------------------------------------------------------------------------------------

    def _admit(self, number: int) -> None:
        for _ in range(number):
            self.count += 1
            age = self.draw.choices(_AGES, [0.1, 0.5, 0.4])[0].partition(".")[2]
            sex = self.draw.choices(["female", "male", "other"], [0.5, 0.47, 0.03])[0]
            self.patients.append(
                Patient(
                    self.count,
                    f"p{self.draw.randrange(10**9)}",
                    sex,
                    age,
                    self.draw.random() < self.icu_share,
                )
            )

    def change(self) -> None:
        """Let some patients come, go, get another pseudonym, or have their records edited."""
        gone = min(self._draw_number(), len(self.patients) - 40)
        for _ in range(max(0, gone)):
            self.patients.pop(self.draw.randrange(len(self.patients)))
        for patient in self.draw.sample(
            self.patients, min(self._draw_number(), len(self.patients))
        ):
            patient.revision += 1
        self._admit(min(self._draw_number(), 620 - len(self.patients)))
        if self.draw.random() < 0.15:
            for patient in self.patients:
                patient.name = f"p{self.draw.randrange(10**9)}"
        self.day += self.draw.choice([1, 7, 30])

    # --- Datasets ----------------------------------------------------------------------------------------------

    def register(self, benchmark: str) -> bool:
        """Register the data as it lies, as `intramural datasets register` does; say whether that was allowed."""
        members = [
            Member(patient.number, patient.revision, patient.name, patient.sex, patient.age)
            for patient in self.patients
            if benchmark == "ward" or not patient.is_in_icu
        ]
        read = self._read(benchmark, members)
        commitment = read.data
        if self.ledger.find_dataset(commitment) is not None:
            return False
        key = self.fingerprint_key
        try:
            candidate = make_candidate(read, commitment, self.ledger, self.statements, key)
            names = {dataset.commitment: "a version" for dataset in self.ledger.list_datasets()}
            check_version(candidate, self.ledger, self.statements, self.policy, names)
        except DisclosureError:
            self.history.refused += 1
            return False
        statement = make_statement(
            candidate, read.known, Header(world.ORIGIN, world.SITE, 1, 1, "00" * 32, 9)
        )
        check_dataset_version(statement, self.statements, self.policy)
        self._enter(candidate.entry)
        self.statements[hashlib.sha256(commitment.encode()).hexdigest()] = statement
        self.newest[benchmark] = commitment
        self.members[commitment] = members
        self.history.registered += 1
        return True

    def _enter(self, content: DatasetEntry | ReleaseEntry) -> None:
        """Add an entry to the ledger; nothing here reads its chain of digests, which takes long to compute."""
        entry = LedgerEntry(len(self.ledger.entries) + 1, "00" * 32, self.day, content)
        self.ledger = Ledger((*self.ledger.entries, entry))

    def _read(self, benchmark: str, members: Sequence[Member]) -> ReadVersion:
        units = []
        for member in members:
            record = f"{benchmark} {member.patient} {member.revision}"
            units.append(
                ReadUnit(
                    identifier=member.name,
                    key=_key(benchmark, member.name),
                    contents=(hashlib.sha256(record.encode()).hexdigest(),),
                    shingles=self.shingler.shingle([_text(member)])
                    if self.has_texts
                    else _NO_SHINGLES,
                )
            )
        records = sorted(unit.contents[0].encode() + unit.key for unit in units)
        data = hashlib.sha256(b"".join([benchmark.encode(), *records])).hexdigest()
        return ReadVersion(benchmark, DEFINITIONS[benchmark], data, "unknown", units, records)

    # --- Evaluating and releasing ------------------------------------------------------------------------------

    def release(self) -> None:
        """Evaluate one model on the registered data of one scorecard, and prepare its submission."""
        cards = [
            card for card in CARDS if all(entry.id in self.newest for entry in card.benchmarks)
        ]
        card = self.draw.choice(cards)
        if "ward" in self.newest and self.draw.random() < 0.02:
            card = ODD_CARD
        name = self.draw.choice(list(NAMES))
        weights = NAMES[name]
        chosen = {entry.id: self._choose(entry.id) for entry in card.benchmarks}
        for benchmark in chosen:
            self._ask_again(benchmark, weights)
        answers: dict[str, dict[Member, Outcome]] = {}
        for benchmark, (members, _) in chosen.items():
            answers[benchmark] = {
                member: self._answer(member, weights, benchmark) for member in members
            }
            if self.style == "edges" and self.draw.random() < 0.5:
                self._move_to_an_edge(answers[benchmark])
        findings = [
            self._finding(cell, answers[cell.benchmark], chosen[cell.benchmark][1])
            for cell in card.cells
        ]
        self.submit(card, name, findings, answers)

    def _choose(self, benchmark: str) -> tuple[list[Member], str]:
        """Return the members that are asked, and the plan that chose them, if they are not all."""
        members = self.members[self.newest[benchmark]]
        if self.draw.random() < 0.94:
            return members, ""
        left_out = self.draw.choice([1, 11, 12, 30, len(members) // 3])
        return self.draw.sample(members, max(1, len(members) - left_out)), "ab" * 32

    def _ask_again(self, benchmark: str, weights: str) -> None:
        """Now and then some answers are given anew, and some of these differ."""
        if self.draw.random() < 0.5:
            return
        members = self.members[self.newest[benchmark]]
        number = self.draw.choice([1, 1, 5, 10, 11, 12, 25])
        for member in self.draw.sample(members, min(number, len(members))):
            key = (member.patient, member.revision, weights, benchmark)
            self.asked[key] = self.asked.get(key, 0) + 1

    def _answer(self, member: Member, weights: str, benchmark: str) -> Outcome:
        key = (member.patient, member.revision, weights, benchmark)
        outcome = Outcome(*key, self.asked.get(key, 0))
        if outcome not in self.history.levels:
            is_right = self.draw.random() < self.rates[weights, benchmark]
            self.history.levels[outcome] = 4 if is_right else self.draw.choice([0, 0, 1, 2, 3])
        return outcome

    def _move_to_an_edge(self, answers: Mapping[Member, Outcome]) -> None:
        """Change answers that nothing was released of, until the count lies where a rule or the rounding turns."""
        released = {
            outcome for figure in self.history.figures for outcome in figure.outcomes.values()
        }
        levels = self.history.levels
        free = [outcome for outcome in answers.values() if outcome not in released]
        n = len(answers)
        step = grid_step(n, self.policy)
        steps = [int((number + 0.5) * step * n / 1000) for number in range(1000 // step)]
        wanted = self.draw.choice(
            [10, 11, 12, n - 11, n - 10, *self.draw.sample(steps, min(3, len(steps)))]
        )
        for outcome in free:
            count = sum(levels[o] == 4 for o in answers.values())
            if count == wanted:
                return
            if (levels[outcome] == 4) == (count > wanted):
                levels[outcome] = 0 if count > wanted else 4

    def _finding(self, cell: Cell, answers: Mapping[Member, Outcome], plan: str) -> Finding:
        variable, _, value = (cell.subgroup or "").partition(".")
        scores = []
        for member, outcome in answers.items():
            if not variable or {"sex": member.sex, "age": member.age}[variable] == value:
                share = METRICS[cell.metric][self.history.levels[outcome]]
                key = _key(cell.benchmark, member.name)
                scores.append(UnitScore(key, key, share, None))
        commitment = self.newest[cell.benchmark]
        dataset = self.ledger.find_dataset(commitment)
        assert dataset is not None
        return Finding(
            benchmark=cell.benchmark,
            metric=cell.metric,
            definition=DEFINITIONS[cell.benchmark],
            access="private",
            binary=cell.binary,
            low=0,
            high=1,
            scores=scores,
            subgroup=cell.subgroup,
            dataset=commitment,
            frozen_digest=dataset.data,
            known="unknown",
            available=len(self.members[commitment]),
            plan=plan,
        )

    def submit(
        self,
        card: Scorecard,
        name: str,
        findings: Sequence[Finding],
        answers: Mapping[str, Mapping[Member, Outcome]],
    ) -> None:
        """Decide, check as the aggregator does, and debit; as `prepare` does."""
        findings = [finding for finding in findings if finding.scores]
        root = _root(findings)
        model = model_digest(name)
        if (name, card.name, root) in self.roots:
            return  # the same release again: the same bytes, and the aggregator takes no root twice
        try:
            release = decide(
                card,
                self.policy,
                findings,
                model=model,
                scores_root=root,
                day=self.day,
                ledger=self.ledger,
                secrets=self.secrets,
            )
        except DisclosureError as error:
            if "are used up" not in str(error):
                raise
            return
        self._count_main(release, findings)
        said = (
            name,
            card.name,
            repr((release.groups, release.cells, release.spreads, release.data, release.complete)),
        )
        if said in self.said:
            return  # a statement of the same figures stands already, and no second one is made
        noted = self._note(card, name, release, findings, answers)
        debit = ReleaseEntry(model, card.digest, root, self.policy.digest, release.footprint)
        try:
            check_result(_result(card, release), card, self.policy)
        except ProtocolError as error:
            if error.code is not Code.NOTHING_PUBLISHED:
                self.history.blocked[error.code.value] = (
                    self.history.blocked.get(error.code.value, 0) + 1
                )
            return  # nothing leaves, nobody sees it, and nothing is debited
        self.history.figures += noted
        self.history.releases += 1
        self.roots.add((name, card.name, root))
        self.said.add(said)
        if release.footprint:
            self._enter(debit)
            for figure in noted:
                figure.is_debited = figure.scores != 0

    def _note(
        self,
        card: Scorecard,
        name: str,
        release: GatedRelease,
        findings: Sequence[Finding],
        answers: Mapping[str, Mapping[Member, Outcome]],
    ) -> list[Figure]:
        noted: list[Figure] = []
        by_cell = {(f.benchmark, f.metric, f.subgroup): f for f in findings}
        place = self.history.figures[-1].place + 1 if self.history.figures else 0
        for cell in card.cells:
            finding = by_cell.get((cell.benchmark, cell.metric, cell.subgroup))
            if finding is None:
                continue
            dataset = self.ledger.find_dataset(finding.dataset)
            assert dataset is not None
            by_key = {
                _key(cell.benchmark, member.name): o
                for member, o in answers[cell.benchmark].items()
            }
            persons = {
                score.unit_key: dataset.units[
                    self.secrets.fingerprints.of_unit(score.unit_key)
                ].person
                for score in finding.scores
            }
            outcomes = {person: by_key[key] for key, person in persons.items()}
            verdict, value = release.verdicts[cell.key], release.cells[cell.key]
            alone = None
            bucket = release.groups[cell.group]
            decided_alone = {
                GateRule.ROUNDED,
                GateRule.FEW_SUCCESSES,
                GateRule.FEW_FAILURES,
                GateRule.UNSAFE,
                GateRule.MARGIN,
            }
            if verdict in decided_alone and bucket:
                shares = {
                    person: METRICS[cell.metric][self.history.levels[o]]
                    for person, o in outcomes.items()
                }
                names = (
                    model_digest(name),
                    dataset.definition,
                    dataset.commitment,
                    cell.metric,
                    cell.subgroup or "",
                )
                sums = perturb_sums(shares, self.policy, self.secrets.perturbation, names)
                decided = release_cell(cell, sums, bucket, self.policy)
                spread = SUPPRESSED if cell.binary else release_spread(cell, sums, decided)
                alone = (decided, spread)
                assert value in {decided, SUPPRESSED}, (verdict, value, decided)
            figure = Figure(
                place=place,
                model=name,
                benchmark=cell.benchmark,
                metric=cell.metric,
                subgroup=cell.subgroup or "",
                dataset=finding.dataset,
                outcomes=outcomes,
                verdict=verdict,
                payload=(value, release.spreads.get(cell.key, SUPPRESSED)),
                alone=alone,
                bucket=bucket,
            )
            if cell.key in release.footprint:
                figure.scores = hash(frozenset(release.footprint[cell.key].scores.items()))
            if verdict is GateRule.REPEATED:
                alike = [
                    f
                    for f in self.history.figures
                    if f.key == figure.key and f.scores == figure.scores
                ]
                figure.source = next(f for f in reversed(alike) if f.source is None)
            noted.append(figure)
            if verdict is GateRule.ROUNDED and not cell.subgroup:
                earlier = {
                    f.dataset
                    for f in self.history.figures
                    if f.benchmark == cell.benchmark and f.payload[0] >= 0
                }
                self.history.released_again |= bool(earlier - {finding.dataset})
        return noted

    def _count_main(self, release: GatedRelease, findings: Sequence[Finding]) -> None:
        for finding in findings:
            is_part = finding.extent.asked < finding.extent.available
            if is_part or finding.metric != MAIN_METRICS[finding.benchmark] or finding.subgroup:
                continue
            cell = _cell(finding.benchmark, finding.metric)
            total = sum(finding.instance_values())
            if len(finding.scores) >= 100 and 11 <= total <= len(finding.scores) - 11:
                self.history.main_cells += 1
                if release.cells[cell.key] >= 0:
                    self.history.main_published += 1
                else:
                    rule = release.verdicts[cell.key].value
                    self.history.withheld_main[rule] = self.history.withheld_main.get(rule, 0) + 1

    def live(self) -> History:
        """Let some months pass; return what happened."""
        for benchmark in DEFINITIONS:
            self.register(benchmark)
        for _ in range(self.draw.randint(3, 6)):
            for _ in range(self.draw.randint(1, 3)):
                if self.newest:
                    self.release()
            self.change()
            for benchmark in self.draw.sample(sorted(DEFINITIONS), self.draw.randint(1, 2)):
                self.register(benchmark)
        return self.history


def live_all(seeds: range, policy: DisclosurePolicy) -> Iterator[History]:
    """Yield one history for each seed."""
    for seed in seeds:
        yield Hospital(seed, policy).live()


@functools.lru_cache(maxsize=200_000)
def _key(benchmark: str, name: str) -> bytes:
    return hashlib.sha256(f"{benchmark} {name}".encode()).digest()


def _text(member: Member) -> str:
    """Return a record: words of the patient's own, a few of them other ones after each edit, and the pseudonym."""
    draw = random.Random(member.patient)
    words = [draw.choice(_WORDS) for _ in range(60)]
    for revision in range(member.revision):
        words[random.Random(f"{member.patient} {revision}").randrange(60)] = f"edited{revision}"
    return " ".join([f"Patient {member.name}", *words[:30], member.name, *words[30:]])


def _root(findings: Sequence[Finding]) -> str:
    content = [
        (finding.benchmark, finding.metric, finding.subgroup, score.unit_key, score.value)
        for finding in findings
        for score in finding.scores
    ]
    return hashlib.sha256(repr(sorted(content, key=repr)).encode()).hexdigest()


def _result(card: Scorecard, release: GatedRelease) -> ResultPredicate:
    return replace(
        world.RESULT,
        scorecard=card.digest,
        groups=dict(release.groups),
        cells=dict(release.cells),
        spreads=dict(release.spreads),
        data=dict(release.data),
        outcome="complete" if release.complete else "partial",
    )
