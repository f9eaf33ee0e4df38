"""A small federation for tests: an aggregator's directory, and sites that enrol and submit by the protocol alone."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregator.home import Home, today_day
from aggregator.registry import invites
from aggregator.registry.changes import Additions
from aggregator.registry.founding import found
from aggregator.registry.versions import newest_registry
from aggregator.settings import make_settings
from protocol.disclosure import release_cell, release_groups, release_spread
from protocol.enrolment import token_mac, token_verifier
from protocol.envelope import decode, sign
from protocol.identity import NONE, agent_digest, model_digest
from protocol.keys import Ed25519Signer
from protocol.registry import Model, Registry
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import (
    ENROLL_SEQ,
    FIRST_EPOCH,
    EnrollPredicate,
    Header,
    ResultPredicate,
    build_statement,
)

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
MODELS = (
    Model("example/large", "Example Large", "Example Org", True),
    Model("example/small", "Example Small", "Example Org", True),
    Model("baseline/first-choice", "First choice", "", False),
)


def new_key() -> Ed25519Signer:
    return Ed25519Signer(Ed25519PrivateKey.generate())


def new_home(
    directory: Path,
    *,
    scorecards: Sequence[Scorecard] = (CARD,),
    models: Sequence[Model] = MODELS,
    database_url: str | None = None,
) -> Home:
    additions = Additions(models=models, scorecards=scorecards, agents=[AGENT_VERSION])
    settings = make_settings({"arrival_timeout_s": 1.0, "database_url": database_url})
    return found(directory, settings, origin=ORIGIN, additions=additions, today_day=today_day())


def registry_of(home: Home) -> Registry:
    with home.database.reading() as connection:
        return newest_registry(connection)


@dataclass
class TestSite:
    """A site with both keys in hand and the head of its own chain."""

    __test__ = False
    id: str
    agent: Ed25519Signer = field(default_factory=new_key)
    steward: Ed25519Signer = field(default_factory=new_key)
    seq: int = ENROLL_SEQ
    prev: str = NONE
    policy: str = ""

    def ask_to_enrol(self, invite: invites.Invite, *, token: bytes | None = None) -> bytes:
        verifier = token_verifier(token if token is not None else bytes.fromhex(invite.token))
        predicate = EnrollPredicate(
            Header(invite.deployment, self.id, FIRST_EPOCH, ENROLL_SEQ, NONE, 1),
            agent_key=self.agent.public.der,
            steward_key=self.steward.public.der,
            token_mac=token_mac(verifier, invite.deployment, self.id, self.agent.public, self.steward.public),
        )
        return sign(build_statement(predicate), [self.agent, self.steward])

    def result(
        self,
        registry: Registry,
        scores: Mapping[str, Sequence[float]],
        *,
        model: str = MODELS[0].name,
        card: Scorecard = CARD,
    ) -> ResultPredicate:
        """Make an honest result: for each cell key the units' scores; what is left out was not run."""
        policy = registry.policies[registry.policy_floor]
        units = {group: max(len(scores.get(c.key, ())) for c in card.cells_of(group)) for group in card.group_keys}
        groups = release_groups(card, units, policy)
        cells = {c.key: release_cell(c, scores.get(c.key), groups[c.group], policy) for c in card.cells}
        return ResultPredicate(
            header=Header(registry.deployment, self.id, FIRST_EPOCH, self.seq + 1, self.prev, registry.version),
            scorecard=card.digest,
            model=model_digest(model),
            agent=agent_digest(AGENT_VERSION),
            policy=policy.digest,
            data={benchmark.id: NONE for benchmark in card.benchmarks},
            plan=NONE,
            challenge=NONE,
            scores_root=hashlib.sha256(f"{self.id} {self.seq} {scores} {model}".encode()).hexdigest(),
            day=today_day() - 1,
            outcome="complete" if all(c.key in scores for c in card.cells) else "partial",
            approval="two_person",
            groups=groups,
            cells=cells,
            spreads={c.key: release_spread(c, scores.get(c.key), cells[c.key]) for c in card.cells if not c.binary},
        )

    def sign(self, result: ResultPredicate) -> bytes:
        return sign(build_statement(result), [self.agent, self.steward])

    def accepted(self, envelope: bytes) -> None:
        """Move the chain's head to a submission that the aggregator took."""
        self.seq, self.prev = self.seq + 1, decode(envelope).digest

    def at(self, seq: int, prev: str) -> "TestSite":
        return replace(self, seq=seq, prev=prev)


def enrolled(home: Home, name: str = "St. Example", publication: str = "named") -> TestSite:
    """Invite and enrol a site, fingerprints taken as compared."""
    today = today_day()
    with home.database.writing() as connection:
        invite = invites.invite(connection, home, site_name=name, publication=publication, today_day=today)  # type: ignore[arg-type]
        site = TestSite(invite.site)
        asked = invites.open_request(connection, site.ask_to_enrol(invite), today_day=today)
        invites.enroll(connection, home, asked, today_day=today)
    site.prev = asked.enrolment.digest
    return site


def scores(seed: int, *, right: float = 0.7, units: int = 200, card: Scorecard = CARD) -> dict[str, list[float]]:
    """Draw scores for every cell: right or wrong where binary, spread out elsewhere."""
    draw = random.Random(seed)
    return {
        cell.key: [
            float(draw.random() < right) if cell.binary else min(1.0, max(0.0, draw.gauss(right, 0.15)))
            for _ in range(units)
        ]
        for cell in card.cells
    }
