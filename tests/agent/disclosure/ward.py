"""A ward for tests: findings made of hidden units, and a site that is enrolled in the protocol tests' small world."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.delivery.outbox import Outbox, Submission
from agent.disclosure.approval import approve, countersign
from agent.disclosure.cell_scores import Secrets
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease, decide
from agent.disclosure.ledger import (
    DatasetEntry,
    Fingerprints,
    Ledger,
    ReleaseEntry,
    UnitRecord,
    derive_fingerprint_key,
    derive_ledger_key,
)
from agent.disclosure.perturbation import derive_perturbation_key
from agent.disclosure.prepare import Gate, draft_statement
from agent.store import UnitScore
from agent.vocabulary import AccessLevel
from protocol.identity import NONE, model_digest
from protocol.keys import Signer
from protocol.policy import DisclosurePolicy, bucket_of
from protocol.predicates import DatasetPredicate, Header
from protocol.registry import Model, RegisteredScorecard, Registry
from protocol.scorecard import Scorecard
from tests.protocol import world

MODEL, OTHER_MODEL = world.MODEL.name, "example/other"
CARD = replace(
    world.SCORECARD,
    benchmarks=tuple(entry for entry in world.SCORECARD.benchmarks if entry.id != "notes"),
    cells=tuple(cell for cell in world.SCORECARD.cells if cell.benchmark != "notes"),
)
DATA_KEY, SEAL_KEY = b"d" * 32, b"s" * 32
LEDGER_KEY = derive_ledger_key(SEAL_KEY)
FINGERPRINTS = Fingerprints(derive_fingerprint_key(SEAL_KEY))
SECRETS = Secrets(FINGERPRINTS, derive_perturbation_key(SEAL_KEY))
QUIET = replace(world.STRICT, perturbation_units=0)  # so that a test can foretell a figure

REGISTRY: Registry = world.registry(
    scorecards={**world.REGISTRY.scorecards, CARD.digest: RegisteredScorecard(CARD)},
    models={
        model_digest(name): Model(name, f"The model {name}", "Example", is_language_model=True)
        for name in (MODEL, OTHER_MODEL)
    },
)

DATA = "da" * 32  # digest of the files of every dataset here
DATASETS: dict[
    str, DatasetEntry
] = {}  # every dataset that a finding was made of, by its commitment


def unit(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def finding(
    benchmark: str,
    metric: str,
    values: Sequence[float | None],
    *,
    first: int = 0,
    per_unit: int = 1,
    subgroup: str | None = None,
    access: AccessLevel | None = None,
    reason: str = "unparsed",
    named: str | None = None,
    people: str = "",
) -> Finding:
    """Scores of instances numbered from `first`, `per_unit` of them to a unit; None is unscored for `reason`.

    Private ones are of a dataset of exactly these units. `named` is another benchmark with the same definition;
    `people` are others whose units have the same numbers.
    """
    entry = next(entry for entry in CARD.benchmarks if entry.id == benchmark)
    name = named or benchmark
    units = [f"{people}unit {i // per_unit}" for i, _ in enumerate(values, first)]
    is_private = (access or ("public" if benchmark == "exam" else "private")) != "public"
    return Finding(
        benchmark=name,
        metric=metric,
        definition=entry.definition,
        access=access or ("public" if benchmark == "exam" else "private"),
        binary=metric == "exact_match",
        low=0,
        high=1,
        scores=[
            UnitScore(
                unit(unit_name),
                unit(f"{people}instance {i}"),
                value,
                None if value is not None else reason,
            )
            for unit_name, (i, value) in zip(units, enumerate(values, first), strict=True)
        ],
        subgroup=subgroup,
        dataset=dataset_of(name, entry.definition, units)
        if is_private and subgroup is None
        else "",
        frozen_digest=DATA if is_private else "",
        known="official" if benchmark == "exam" else "unknown",
        available=len(values),
    )


def dataset_of(benchmark: str, definition: str, units: Sequence[str]) -> str:
    """Return the commitment of a registered dataset of these units; nobody checked whether it may be registered."""
    return dataset_of_units(benchmark, definition, {unit(name): name for name in units})


def as_registered(findings: Sequence[Finding]) -> list[Finding]:
    """Let the protected findings be of a dataset that has exactly their units."""
    registered = []
    for found in findings:
        if found.access != "public":
            names = {score.unit_key: score.unit_key.hex() for score in found.scores}
            commitment = dataset_of_units(found.benchmark, found.definition, names)
            found = replace(found, dataset=commitment, frozen_digest=DATA)
        registered.append(found)
    return registered


def dataset_of_units(benchmark: str, definition: str, units: Mapping[bytes, str]) -> str:
    """As `dataset_of`, of units by their keys and names."""
    persons = {
        FINGERPRINTS.of_unit(key): FINGERPRINTS.of_identity(name) for key, name in units.items()
    }
    commitment = hashlib.sha256("/".join([benchmark, *sorted(persons)]).encode()).hexdigest()
    records = {key: UnitRecord(person, person, person, "") for key, person in persons.items()}
    DATASETS[commitment] = DatasetEntry(
        benchmark, definition, commitment, commitment, "", DATA, len(units), records
    )
    return commitment


def with_datasets(ledger: Ledger, commitments: Sequence[str]) -> Ledger:
    """Return the ledger with these datasets registered, if they are not yet."""
    for commitment in dict.fromkeys(commitments):
        if commitment and ledger.find_dataset(commitment) is None:
            ledger = ledger.followed_by(DATASETS[commitment], world.TODAY)
    return ledger


def of_whole_datasets(findings: Sequence[Finding]) -> list[Finding]:
    """Let findings of subgroups be of the dataset that their benchmark's other findings are of."""
    wholes = {
        finding.benchmark: finding.dataset for finding in findings if finding.subgroup is None
    }
    return [replace(f, dataset=wholes.get(f.benchmark, "")) if f.subgroup else f for f in findings]


def right(count: int, of: int) -> list[float]:
    """`count` right answers, then wrong ones."""
    return [1.0] * count + [0.0] * (of - count)


def whole_ward(count: int = 140, of: int = 200, *, first: int = 0) -> list[Finding]:
    """Findings of every cell but those of subgroups: a public exam of 40 and a private ward."""
    return [
        finding("exam", "exact_match", right(30, 40)),
        finding("ward", "exact_match", right(count, of), first=first),
        finding("ward", "rouge_l", [0.2 + 0.6 * (i % 7) / 7 for i in range(of)], first=first),
    ]


def gate_says(
    findings: Sequence[Finding],
    *,
    ledger: Ledger | None = None,
    policy: DisclosurePolicy = QUIET,
    card: Scorecard = CARD,
    day: int = world.TODAY,
    model: str = MODEL,
    scores_root: str = "5c" * 32,
) -> GatedRelease:
    findings = of_whole_datasets(findings)
    return decide(
        card,
        policy,
        findings,
        model=model_digest(model),
        scores_root=scores_root,
        day=day,
        ledger=with_datasets(ledger or Ledger(), [finding.dataset for finding in findings]),
        secrets=SECRETS,
    )


def after(
    ledger: Ledger,
    release: GatedRelease,
    *,
    day: int = world.TODAY,
    model: str = MODEL,
    scores_root: str | None = None,
    policy: DisclosurePolicy = QUIET,
) -> Ledger:
    """The ledger once the release was prepared; each is of other scores unless told otherwise."""
    ledger = with_datasets(ledger, [cell.commitment for cell in release.footprint.values()])
    root = scores_root or f"{len(ledger.entries) + 1:064x}"
    return ledger.followed_by(
        ReleaseEntry(model_digest(model), CARD.digest, root, policy.digest, release.footprint), day
    )


def site_gate(
    directory: Path, *, registry: Registry = REGISTRY, today_day: int = world.TODAY
) -> Gate:
    return Gate(
        outbox=Outbox(directory / "submissions"),
        registry=registry,
        policy=world.STRICT,
        signer=world.AGENT,
        data_key=DATA_KEY,
        seal_key=SEAL_KEY,
        today_day=today_day,
        agent_version="0.1.0",
    )


def register(gate: Gate, findings: Mapping[str, Sequence[Finding]]) -> list[Submission]:
    """Register the datasets of some findings, if they are not yet, and have the steward sign the statements."""
    done = []
    for commitment in sorted(
        {finding.dataset for found in findings.values() for finding in found} - {""}
    ):
        ledger = gate.ledger()
        if ledger.find_dataset(commitment) is not None:
            continue
        dataset = DATASETS[commitment]
        with gate.outbox.held():
            gate.append(ledger.followed_by(dataset, gate.today_day))
            draft = draft_statement(gate, _Registration(dataset).statement)
        done.append(sign(gate, draft))
    return done


class _Registration:
    """Builds the statement of one dataset, the first of its lineage."""

    def __init__(self, dataset: DatasetEntry) -> None:
        self._dataset = dataset

    def statement(self, header: Header) -> DatasetPredicate:
        dataset = self._dataset
        units = bucket_of(len(dataset.list_persons()))
        return DatasetPredicate(
            header,
            dataset.definition,
            dataset.commitment,
            dataset.commitment,
            "own",
            NONE,
            units,
            0,
            0,
            0,
        )


def sign(gate: Gate, submission: Submission, steward: Signer = world.STEWARD) -> Submission:
    """What the steward does, into an audit log that nobody reads."""
    signed = countersign(gate.outbox.get(submission.digest), gate.registry, gate.policy, steward)
    return take(gate, signed)


def take(gate: Gate, signed: bytes) -> Submission:
    """What the site does with what the steward signed."""
    return approve(
        gate.outbox,
        gate.registry,
        gate.policy,
        signed,
        seal_key=gate.seal_key,
        audit=lambda event, detail: None,
    )


def tomorrow(gate: Gate, days: int = 1) -> Gate:
    return replace(gate, today_day=gate.today_day + days)
