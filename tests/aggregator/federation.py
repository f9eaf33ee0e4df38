"""A small federation for tests: an aggregator's directory, and sites that act by the protocol alone.

A site registers datasets, makes plans and results, withdraws, rotates a key and starts new epochs. It answers for its
own chain: `submit` moves its head and its ledger. Nothing here perturbs: what it submits is honest, not protected.
"""

import hashlib
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.registry import invites, rekeyings
from aggregator.registry.changes import Additions
from aggregator.registry.founding import found
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.versions import newest_registry
from aggregator.settings import make_settings
from protocol.disclosure import CellSums, release
from protocol.enrolment import sign_with_token
from protocol.envelope import decode, sign
from protocol.head_request import HeadRequest, sign_head_request
from protocol.identity import NONE, agent_digest, model_digest
from protocol.keys import Ed25519Signer
from protocol.policy import bucket_of
from protocol.predicates import (
    EMPTY_LEDGER,
    FIRST_EPOCH,
    START_SEQ,
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    Header,
    LedgerHead,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.receipt import verify_receipt
from protocol.registry import Model, Registry, Role
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import build_statement, parse_statement
from protocol.verification import plan_challenge

ORIGIN = "board.example"
AGENT_VERSION = "0.1.0"
DECISIONS, NOTES = "Clinical Decision Support", "Clinical Note Generation"

CARD = Scorecard(
    name="pilot",
    version=1,
    benchmarks=(
        BenchmarkEntry("pubmed_qa", "PubMedQA", "Medical Research Assistance", "1" * 64),
        BenchmarkEntry("shc_notes", "Ward notes", NOTES, "2" * 64),
        BenchmarkEntry("aci_bench", "ACI-Bench", NOTES, "3" * 64),
    ),
    cells=(
        Cell("pubmed_qa", "exact_match", None, "public", True, 0, 1),
        Cell("shc_notes", "exact_match", None, "private", True, 0, 1),
        Cell("aci_bench", "rouge_l", None, "gated", False, 0, 1),
    ),
)
GROUPS = {
    "age.under_40": 96,
    "age.40_to_64": 170,
    "age.65_to_79": 150,
    "age.80_or_over": 84,
    "sex.female": 250,
    "sex.male": 243,
    "sex.other": 7,
}
"""Sizes of the groups of `GROUPED`: of one variable they add up to all units."""
GROUPED = Scorecard(
    name="wards",
    version=1,
    benchmarks=(BenchmarkEntry("discharge", "Discharge letters", NOTES, "5" * 64),),
    cells=tuple(
        Cell("discharge", metric, subgroup, "private", metric == "exact_match", 0, 1)
        for subgroup in (None, *GROUPS)
        for metric in ("exact_match", "rouge_l")
    ),
)
MODELS = (
    Model("example/large", "Example Large", "Example Org", True),
    Model("example/small", "Example Small", "Example Org", True),
    Model("baseline/first-choice", "First choice", "", False),
)

Scores = Mapping[str, Sequence[float]]
"""By cell key the units' scores; a cell that is left out was not run."""


def new_key() -> Ed25519Signer:
    return Ed25519Signer(Ed25519PrivateKey.generate())


def make_database_url() -> str | None:
    """Return the URL of a new database; None means SQLite in the aggregator's directory. See conftest.py."""
    return None


def new_home(
    directory: Path,
    *,
    scorecards: Sequence[Scorecard] = (CARD,),
    models: Sequence[Model] = MODELS,
    database_url: str | None = None,
) -> Home:
    additions = Additions(models=models, scorecards=scorecards, agents=[AGENT_VERSION])
    url = database_url or make_database_url()
    settings = make_settings({"arrival_timeout_s": 1.0, "database_url": url})
    return found(directory, settings, origin=ORIGIN, additions=additions, today_day=today_day())


def registry_of(home: Home) -> Registry:
    with home.database.reading() as connection:
        return newest_registry(connection)


@dataclass
class TestSite:
    """A site with both keys in hand, the head of its own chain and ledger, and the datasets it has registered.

    `datasets` has the digest of the newest dataset statement of each benchmark's definition.
    """

    __test__ = False
    id: str
    agent: Ed25519Signer = field(default_factory=new_key)
    steward: Ed25519Signer = field(default_factory=new_key)
    epoch: int = FIRST_EPOCH
    seq: int = START_SEQ
    prev: str = NONE
    ledger: LedgerHead = EMPTY_LEDGER
    datasets: dict[str, str] = field(default_factory=dict)

    def ask_to_enrol(self, invite: invites.Invite, *, token: bytes | None = None) -> bytes:
        token = token if token is not None else bytes.fromhex(invite.token)
        predicate = EnrollPredicate(
            Header(invite.deployment, self.id, FIRST_EPOCH, START_SEQ, NONE, 1),
            agent_key=self.agent.public.der,
            steward_key=self.steward.public.der,
            token_signature=sign_with_token(
                token, invite.deployment, self.id, self.agent.public, self.steward.public
            ),
        )
        return sign(build_statement(predicate), [self.agent, self.steward])

    def header(self, registry: Registry) -> Header:
        """Return the next link's header, its ledger one entry longer."""
        return Header(
            deployment=registry.deployment,
            site=self.id,
            epoch=self.epoch,
            seq=self.seq + 1,
            prev=self.prev,
            registry=registry.version,
            ledger=debit(self.ledger),
        )

    def dataset(
        self, registry: Registry, definition: str, *, units: int = 500, version: str = ""
    ) -> DatasetPredicate:
        """Make the first version of a dataset, as of a lineage that nobody knows."""
        commitment = digest_of("dataset", self.id, definition, version)
        return DatasetPredicate(
            header=self.header(registry),
            definition=definition,
            commitment=commitment,
            lineage=commitment,
            origin="own",
            previous=NONE,
            units=bucket_of(units),
            added=0,
            removed=0,
            changed=0,
        )

    def data_of(self, card: Scorecard, scores: Scores) -> dict[str, str]:
        """Name the registered dataset of every protected benchmark that was run, and none of the others."""
        data = {}
        for benchmark in card.benchmarks:
            run = [
                cell for cell in card.cells if cell.benchmark == benchmark.id and cell.key in scores
            ]
            needs_dataset = any(cell.protected for cell in run)
            data[benchmark.id] = (
                self.datasets.get(benchmark.definition, NONE) if needs_dataset else NONE
            )
        return data

    def result(
        self,
        registry: Registry,
        scores: Scores,
        *,
        model: str = MODELS[0].name,
        card: Scorecard = CARD,
    ) -> ResultPredicate:
        """Make an honest result without a plan."""
        policy = registry.policies[registry.policy_floor]
        units, sums = {}, {}
        for group in card.group_keys:
            units[group] = max(len(scores.get(cell.key, ())) for cell in card.cells_of(group))
        for cell in card.cells:
            sums[cell.key] = exact_sums(scores[cell.key]) if cell.key in scores else None
        released = release(card, units, sums, policy)
        is_complete = all(cell.key in scores for cell in card.cells if cell.subgroup is None)
        return self.report(
            registry,
            released.groups,
            released.cells,
            released.spreads,
            model=model,
            card=card,
            data=self.data_of(card, scores),
            scores_root=digest_of("scores", self.id, self.epoch, self.seq, scores, model),
            outcome="complete" if is_complete else "partial",
        )

    def report(
        self,
        registry: Registry,
        groups: Mapping[str, int],
        cells: Mapping[str, int],
        spreads: Mapping[str, int],
        *,
        model: str,
        card: Scorecard,
        data: Mapping[str, str],
        scores_root: str,
        outcome: str = "complete",
    ) -> ResultPredicate:
        """Make a result without a plan of any figures."""
        return ResultPredicate(
            header=self.header(registry),
            scorecard=card.digest,
            model=model_digest(model),
            agent=agent_digest(AGENT_VERSION),
            policy=registry.policy_floor,
            data=data,
            plan=NONE,
            challenge=NONE,
            scores_root=scores_root,
            day=today_day() - 1,
            outcome=outcome,
            approval="two_person",
            groups=groups,
            cells=cells,
            spreads=spreads,
        )

    def plan(
        self,
        registry: Registry,
        *,
        model: str = MODELS[0].name,
        card: Scorecard = CARD,
        days: int = 30,
    ) -> PlanPredicate:
        return PlanPredicate(
            header=self.header(registry),
            scorecard=card.digest,
            model=model_digest(model),
            data=self.data_of(card, {cell.key: () for cell in card.cells}),
            agent=agent_digest(AGENT_VERSION),
            policy=registry.policy_floor,
            model_assurance="served_claimed",
            expires_day=today_day() + days,
        )

    def abandon(self, registry: Registry, plan: str) -> AbandonPredicate:
        return AbandonPredicate(self.header(registry), plan, "not_run")

    def withdraw(self, registry: Registry, result: str) -> WithdrawPredicate:
        return WithdrawPredicate(self.header(registry), result, "data_error")

    def rotate(self, registry: Registry, role: Role, key: Ed25519Signer) -> bytes:
        """Return the request to replace a key, signed by the old keys and the new one."""
        predicate = RotatePredicate(self.header(registry), role, key.public.der)
        return sign(build_statement(predicate), [self.agent, self.steward, key])

    def reset(
        self,
        registry: Registry,
        *,
        agent: Ed25519Signer | None = None,
        steward: Ed25519Signer | None = None,
        reason: str = "restored",
    ) -> bytes:
        """Return the request to start a new epoch after this head, signed by the keys of that epoch."""
        agent, steward = agent or self.agent, steward or self.steward
        header = replace(self.header(registry), epoch=self.epoch + 1, seq=START_SEQ)
        predicate = ResetPredicate(header, agent.public.der, steward.public.der, reason)
        return sign(build_statement(predicate), [agent, steward])

    def request_head(self, *, agent: Ed25519Signer | None = None, late_s: int = 0) -> bytes:
        """Return the request for this site's head, signed by its agent or by another."""
        request = HeadRequest(ORIGIN, self.id, int(time.time()) - late_s)
        return sign_head_request(request, agent or self.agent)

    def sign(self, predicate: Statement) -> bytes:
        return sign(build_statement(predicate), [self.agent, self.steward])

    def accepted(self, envelope: bytes) -> str:
        """Move the heads to a statement that the aggregator took; return its digest."""
        opened = decode(envelope)
        statement = parse_statement(opened.payload)
        header = statement.header
        self.epoch, self.seq, self.prev, self.ledger = (
            header.epoch,
            header.seq,
            opened.digest,
            header.ledger,
        )
        if isinstance(statement, DatasetPredicate):
            self.datasets[statement.definition] = opened.digest
        return opened.digest

    def at(self, seq: int, prev: str) -> "TestSite":
        """Return the site as it was at another head."""
        return replace(self, seq=seq, prev=prev)

    def copy(self) -> "TestSite":
        """Return the site as a backup has it."""
        return replace(self, datasets=dict(self.datasets))


def digest_of(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def debit(ledger: LedgerHead) -> LedgerHead:
    """Return a ledger with one entry more."""
    return LedgerHead(ledger.length + 1, digest_of("ledger", ledger.length, ledger.head))


def exact_sums(scores: Sequence[float]) -> CellSums:
    """Return what the site would know of a cell, without noise."""
    return CellSums(len(scores), sum(scores), sum(score * score for score in scores))


def submit(home: Home, site: TestSite, predicate: Statement) -> str:
    """Sign a link, have it accepted and move the site's head; return its digest."""
    envelope = site.sign(predicate)
    accept(home, envelope, today_day=today_day())
    return site.accepted(envelope)


def challenge_of(home: Home, plan: bytes) -> str:
    """Return what the receipt of an accepted plan gives, as a site works it out."""
    receipt = accept(home, plan, today_day=today_day()).receipt
    registry = registry_of(home)
    proven = verify_receipt(receipt, decode(plan).pae, registry.log_keys, registry.log_name)
    return plan_challenge(
        registry.deployment, proven.index, proven.checkpoint.root, decode(plan).digest
    )


def enrolled(home: Home, name: str = "St. Example", publication: str = "named") -> TestSite:
    """Invite and enrol a site, fingerprints taken as compared."""
    today = today_day()
    with home.database.writing() as connection:
        invite = invites.invite(
            connection, home, site_name=name, publication=publication, today_day=today
        )  # type: ignore[arg-type]
        site = TestSite(invite.site)
        asked = invites.open_request(connection, site.ask_to_enrol(invite), today_day=today)
        change_now(connection, home, Changes(enrolments=[asked]), today_day=today)
    site.prev = asked.enrolment.digest
    return site


def register_datasets(home: Home, site: TestSite, card: Scorecard = CARD) -> None:
    """Submit a dataset statement for every protected benchmark of a scorecard."""
    for definition in protected_definitions(card):
        submit(home, site, site.dataset(registry_of(home), definition))


def protected_definitions(card: Scorecard) -> list[str]:
    """Return the definitions of a scorecard's gated and private benchmarks, each once."""
    protected = {cell.benchmark for cell in card.cells if cell.protected}
    return list(
        dict.fromkeys(entry.definition for entry in card.benchmarks if entry.id in protected)
    )


def ready(
    home: Home, name: str = "St. Example", publication: str = "named", *, card: Scorecard = CARD
) -> TestSite:
    """Enrol a site and register its datasets: it can submit results for `card`."""
    site = enrolled(home, name, publication)
    register_datasets(home, site, card)
    return site


def put_in_force(home: Home, request: bytes) -> Registry:
    """Put a reset or rotation in force, fingerprints taken as compared."""
    with home.database.writing() as connection:
        asked = rekeyings.open_request(connection, request)
        return change_now(connection, home, Changes(rekeyings=[asked]), today_day=today_day())


def scores(
    seed: int, *, right: float = 0.7, units: int = 200, card: Scorecard = CARD
) -> dict[str, list[float]]:
    """Draw scores for every cell: right or wrong where binary, spread out elsewhere."""
    draw = random.Random(seed)
    return {
        cell.key: [
            float(draw.random() < right)
            if cell.binary
            else min(1.0, max(0.0, draw.gauss(right, 0.15)))
            for _ in range(units)
        ]
        for cell in card.cells
    }


def scores_of_groups(
    seed: int, *, right: float = 0.7, card: Scorecard = GROUPED
) -> dict[str, list[float]]:
    """Draw scores for a scorecard with subgroups: those of a group are a part of those of the whole."""
    draw = random.Random(seed)
    units = sum(size for name, size in GROUPS.items() if name.startswith("age."))
    found: dict[str, list[float]] = {}
    taken: dict[tuple[str, str, str], int] = {}  # units of a metric's groups of one variable so far
    for cell in card.cells:
        if cell.subgroup is None:
            whole = [
                draw.random() < right if cell.binary else draw.betavariate(4, 2)
                for _ in range(units)
            ]
            found[cell.key] = [float(score) for score in whole]
            continue
        variable = (cell.benchmark, cell.metric, cell.subgroup.partition(".")[0])
        start = taken.get(variable, 0)
        taken[variable] = start + GROUPS[cell.subgroup]
        found[cell.key] = found[f"{cell.benchmark}/{cell.metric}"][start : taken[variable]]
    return found
