"""What an aggregator that holds all its keys might publish, and no honest one: each lie is seen in its own log.

Every board here is signed throughout by the right root and log keys. Only the rules tell it from an honest one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from sqlalchemy import update

from aggregator.board.evidence import Evidence, replay
from aggregator.errors import BoardMismatchError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.key_files import draw_key
from aggregator.log.journal import Entry
from aggregator.registry.versions import sign_version
from aggregator.store.schema import entries
from protocol.checkpoint import Checkpoint, LogKey, sign_checkpoint
from protocol.envelope import add_signature, decode, sign
from protocol.identity import model_digest
from protocol.keys import Ed25519Signer
from protocol.merkle import leaf_hash, root
from protocol.predicates import EnrollPredicate, Header, LedgerHead, Statement
from protocol.registry import Model, RegisteredScorecard, Registry, Site, SiteKey
from protocol.rekeying import open_rekeying, site_after
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import build_statement
from protocol.verification import ChainHead, History, plan_challenge
from tests.aggregator.federation import (
    CARD,
    NOTES,
    TestSite,
    new_key,
    protected_definitions,
    ready,
    registry_of,
    scores,
)
from tests.aggregator.log_checks import collect_evidence

WARDS = tuple(f"ward_{number}" for number in range(8))
WARDS_CARD = Scorecard(  # so many private figures that two sites cannot well agree by chance
    "wards",
    1,
    tuple(BenchmarkEntry(ward, ward, NOTES, "4" * 64) for ward in WARDS),
    tuple(Cell(ward, "exact_match", None, "private", True, 0, 1) for ward in WARDS),
)


@dataclass
class Forger:
    """An aggregator that signs what it likes."""

    root: Ed25519Signer
    log_key: Ed25519Signer
    registries: list[Registry] = field(default_factory=list)
    signed: list[bytes] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def sign_registry(self, registry: Registry) -> Registry:
        before = self.registries[-1] if self.registries else None
        registry = replace(registry, version=len(self.registries) + 1)
        self.signed.append(sign_version(registry, before, [self.root]))
        self.registries.append(registry)
        return registry

    def log(self, envelope: bytes, registry: int | None = None) -> None:
        self.entries.append(Entry(envelope, registry or len(self.registries)))

    def enroll(self, site: TestSite, **changes: object) -> None:
        """Log an enrolment and name the site in the next registry; `changes` are the registry's lies about it."""
        envelope = self.enrolment(site)
        self.log(envelope)
        self.name(site, envelope, **changes)

    def enrolment(
        self, site: TestSite, *, deployment: str = "board.example", registry: int = 1
    ) -> bytes:
        predicate = EnrollPredicate(
            Header(deployment, site.id, 1, 0, "none", registry),
            agent_key=site.agent.public.der,
            steward_key=site.steward.public.der,
            token_signature="0" * 128,
        )
        return sign(build_statement(predicate), [site.agent, site.steward])

    def name(self, site: TestSite, enrolment: bytes, **changes: object) -> None:
        site.prev = decode(enrolment).digest
        keys = (SiteKey(site.agent.public, "agent"), SiteKey(site.steward.public, "steward"))
        entry = replace(Site(site.id, "named", site.prev, keys), **changes)  # type: ignore[arg-type]
        now = self.registries[-1]
        self.sign_registry(replace(now, sites={**now.sites, site.id: entry}))

    def result(
        self, site: TestSite, seed: int = 1, *, registry: int | None = None, **changes: object
    ) -> bytes:
        version = registry or len(self.registries)
        result = replace(site.result(self.registries[version - 1], scores(seed)), **changes)  # type: ignore[arg-type]
        return self.send(site, result, registry)

    def datasets(self, site: TestSite, card: Scorecard = CARD) -> None:
        for definition in protected_definitions(card):
            self.send(site, site.dataset(self.registries[-1], definition))

    def rekey(self, site: TestSite, request: bytes, **changes: object) -> None:
        """Log a reset or rotation and give the next registry what it asks for; `changes` are lies about the site."""
        position, now = len(self.entries), self.registries[-1]
        history = History(head=ChainHead(site.epoch, site.seq, site.prev), ledger=site.ledger)
        rekeying = open_rekeying(request, now, history, log_index=position)
        self.log(request)
        after = replace(site_after(now.sites[site.id], rekeying, position), **changes)  # type: ignore[arg-type]
        self.sign_registry(replace(now, sites={**now.sites, site.id: after}))
        site.accepted(request)

    def challenge(self, plan: bytes) -> str:
        """Return what the receipt of the plan that is the last entry yields."""
        hashes = [leaf_hash(decode(entry.envelope).pae) for entry in self.entries]
        return plan_challenge("board.example", len(hashes) - 1, root(hashes), decode(plan).digest)

    def send(self, site: TestSite, result: Statement, registry: int | None = None) -> bytes:
        envelope = site.sign(result)
        self.log(envelope, registry)
        site.accepted(envelope)
        return envelope

    def evidence(self, entries: Sequence[Entry] | None = None) -> Evidence:
        """Publish all entries, with a checkpoint over them or over `entries`."""
        hashes = [
            leaf_hash(decode(entry.envelope).pae)
            for entry in (self.entries if entries is None else entries)
        ]
        head = Checkpoint("board.example", len(hashes), root(hashes))
        return Evidence(
            tuple(self.signed),
            tuple(self.entries),
            sign_checkpoint(head, self.log_key),
            is_whole=True,
        )

    def seen(self) -> str:
        with pytest.raises(BoardMismatchError) as error:
            replay(self.evidence())
        return str(error.value)


@pytest.fixture
def forger(home: Home) -> Forger:
    made = Forger(home.root_signer(registry_of(home)), home.log_signer(registry_of(home)))
    made.sign_registry(registry_of(home))
    return made


@pytest.fixture
def site(forger: Forger) -> TestSite:
    made = TestSite("s-00000001")
    forger.enroll(made)
    forger.datasets(made)
    return made


def test_what_the_forger_signs_would_hold_if_it_were_true(forger: Forger, site: TestSite) -> None:
    forger.result(site)
    forger.result(site, 2)
    other = TestSite("s-00000002")
    forger.enroll(other)
    forger.datasets(other)
    forger.result(other, 3)
    assert len(replay(forger.evidence()).results) == 3


def test_a_checkpoint_for_other_entries_is_seen(forger: Forger, site: TestSite) -> None:
    """As many entries, the right key, another tree: the log shown is not the one that was signed."""
    chain = site.at(site.seq, site.prev)
    forger.result(site)
    shown, forger.entries = forger.entries, forger.entries[:3]
    forger.result(chain, 2)
    signed, forger.entries = forger.entries, shown
    with pytest.raises(BoardMismatchError, match="do not match the signed checkpoint"):
        replay(forger.evidence(signed))
    replay(forger.evidence(shown))


def test_a_log_that_goes_back_to_an_older_registry_is_seen(forger: Forger, site: TestSite) -> None:
    forger.sign_registry(replace(forger.registries[-1], expires_day=30_000))
    forger.result(site)
    forger.result(site, 2, registry=2)
    assert "log entry 4 names registry version 2, which was not in force" in forger.seen()


def test_a_result_of_a_site_that_never_enrolled_is_seen(forger: Forger) -> None:
    ghost = TestSite("s-00000009")
    forger.name(ghost, forger.enrolment(ghost))
    forger.result(ghost)
    assert forger.seen() == "log entry 0 belongs to a site whose enrolment is not in the log"


def test_a_site_that_enrols_twice_is_seen(forger: Forger, site: TestSite) -> None:
    forger.entries.append(Entry(forger.entries[0].envelope, len(forger.registries)))
    forger.sign_registry(forger.registries[-1])
    assert "log entry 3 is an enrolment that the registry does not contain" in forger.seen()


def test_an_enrolment_by_someone_else_is_seen(forger: Forger) -> None:
    """The statement names the site's keys; another key made a signature under the steward's name."""
    site = TestSite("s-00000001")
    envelope = forger.enrolment(site)
    mine, other = (
        forger.enrolment(site),
        sign(decode(envelope).payload, [site.agent, TestSite("s-x").steward]),
    )
    theirs = next(
        entry for entry in decode(other).signatures if entry.keyid != site.agent.public.keyid
    )
    forged = mine.replace(*(_sig(mine, site.steward.public.keyid), _sig(other, theirs.keyid)))
    assert forged != mine
    forger.log(forged)
    forger.name(site, mine)
    assert "log entry 0 is not valid" in forger.seen()
    assert "bad_signature" in forger.seen()


def _sig(envelope: bytes, keyid: str) -> bytes:
    return envelope.split(f'"keyid":"{keyid}","sig":"'.encode())[1].split(b'"')[0]


@pytest.mark.parametrize("alone", ["agent", "steward"])
def test_an_enrolment_that_only_one_of_two_signed_is_seen(forger: Forger, alone: str) -> None:
    site = TestSite("s-00000001")
    payload = decode(forger.enrolment(site)).payload
    envelope = sign(payload, [getattr(site, alone)])
    forger.log(envelope)
    forger.name(site, envelope)
    assert "an enrolment that the registry does not contain" in forger.seen()
    signed = add_signature(envelope, site.steward if alone == "agent" else site.agent)
    forger.entries = [Entry(signed, 1)]
    replay(forger.evidence())


def test_an_enrolment_that_no_registry_took_in_is_seen(forger: Forger) -> None:
    forger.log(forger.enrolment(TestSite("s-00000001")))
    assert "an enrolment that the registry does not contain" in forger.seen()
    forger.sign_registry(replace(forger.registries[-1], expires_day=30_000))
    assert "an enrolment that the registry does not contain" in forger.seen()


def test_an_enrolment_other_than_the_registry_names_is_seen(forger: Forger) -> None:
    site = TestSite("s-00000001")
    forger.log(forger.enrolment(site, registry=1))
    forger.name(site, forger.enrolment(site, registry=2))
    assert "an enrolment that the registry does not contain" in forger.seen()


def test_an_enrolment_with_another_deployment_is_seen(forger: Forger) -> None:
    site = TestSite("s-00000001")
    envelope = forger.enrolment(site, deployment="other.example")
    forger.log(envelope)
    forger.name(site, envelope)
    assert "an enrolment that the registry does not contain" in forger.seen()


def test_a_registry_that_puts_other_keys_in_the_place_of_a_sites_is_seen(forger: Forger) -> None:
    site, thief = TestSite("s-00000001"), TestSite("s-00000001")
    keys = (SiteKey(thief.agent.public, "agent"), SiteKey(thief.steward.public, "steward"))
    forger.enroll(site, keys=keys)
    assert "an enrolment that the registry does not contain" in forger.seen()


def test_a_result_before_its_key_may_sign_is_seen(forger: Forger) -> None:
    site = TestSite("s-00000001")
    keys = (
        SiteKey(site.agent.public, "agent", from_index=2),
        SiteKey(site.steward.public, "steward"),
    )
    forger.enroll(site, keys=keys)
    forger.result(site)
    assert "unknown_key" in forger.seen()


def test_a_result_after_its_key_was_revoked_is_seen(forger: Forger, site: TestSite) -> None:
    forger.result(site)
    now = forger.registries[-1]
    keys = tuple(replace(key, revoked_from=4) for key in now.sites[site.id].keys)
    forger.sign_registry(replace(now, sites={site.id: replace(now.sites[site.id], keys=keys)}))
    replay(forger.evidence())
    forger.result(site, 2)
    assert "unknown_key" in forger.seen()


def test_each_entry_is_held_against_the_registry_of_its_time(
    forger: Forger, site: TestSite
) -> None:
    """A model that is registered later makes no earlier result true; a scorecard retired later takes none away."""
    forger.result(site)
    now = forger.registries[-1]
    retired = {digest: replace(entry, retired=True) for digest, entry in now.scorecards.items()}
    forger.sign_registry(replace(now, scorecards=retired))
    replay(forger.evidence())
    forger.result(site, 2, registry=3)
    assert "retired_scorecard" in forger.seen()


def test_a_result_of_a_model_that_was_registered_later_is_seen(
    forger: Forger, site: TestSite
) -> None:
    late = Model("late/model", "Late", "", True)
    now = forger.registries[-1]
    forger.result(site, model=model_digest(late.name))
    forger.sign_registry(replace(now, models={**now.models, model_digest(late.name): late}))
    assert "unknown_model" in forger.seen()


def test_a_chain_with_a_gap_is_seen(forger: Forger, site: TestSite) -> None:
    for seed in (1, 2, 3):
        forger.result(site, seed)
    del forger.entries[4]
    assert "wrong_seq" in forger.seen()


def test_a_site_that_was_pooled_between_two_entries_excuses_no_gap(
    forger: Forger, site: TestSite
) -> None:
    """The operator makes it pooled and named again, with nothing hidden between, and leaves out a result."""
    for publication in ("pooled", "named"):
        now = forger.registries[-1]
        entry = replace(now.sites[site.id], publication=publication)
        forger.sign_registry(replace(now, sites={**now.sites, site.id: entry}))
    forger.result(site, 1)
    del forger.entries[-1]
    forger.result(site, 2)
    with pytest.raises(BoardMismatchError, match="wrong_seq"):
        replay(replace(forger.evidence(), is_whole=False))


def test_a_site_in_the_first_registry_is_seen(forger: Forger, site: TestSite) -> None:
    """No entry of the log can have brought it in."""
    first, *later = forger.registries
    founded = Forger(forger.root, forger.log_key)
    founded.sign_registry(replace(first, sites=later[-1].sites))
    assert "registry version 1 names sites" in founded.seen()


def test_an_enrolment_with_its_keys_in_each_others_roles_is_seen(forger: Forger) -> None:
    site = TestSite("s-00000001")
    forger.enroll(
        site, keys=(SiteKey(site.agent.public, "steward"), SiteKey(site.steward.public, "agent"))
    )
    assert "log entry 0 is an enrolment that the registry does not contain" in forger.seen()


def test_two_results_for_one_place_are_seen(forger: Forger, site: TestSite) -> None:
    twin = site.at(site.seq, site.prev)
    forger.result(site)
    forger.result(twin, 2)
    assert "fork" in forger.seen()


def test_the_same_scores_root_twice_is_seen(forger: Forger, site: TestSite) -> None:
    forger.result(site, scores_root="a" * 64)
    forger.result(site, 2, scores_root="a" * 64)
    assert "wrong_root" in forger.seen()


def test_the_scores_root_of_a_withdrawn_result_may_come_again_once(
    forger: Forger, site: TestSite
) -> None:
    first = forger.result(site, scores_root="a" * 64)
    forger.send(site, site.withdraw(forger.registries[-1], decode(first).digest))
    forger.result(site, 2, scores_root="a" * 64)
    replay(forger.evidence())
    forger.result(site, 3, scores_root="a" * 64)
    assert "wrong_root" in forger.seen()


def test_figures_copied_from_another_site_are_seen_but_not_a_sites_own(
    forger: Forger, site: TestSite
) -> None:
    now = forger.registries[-1]
    card = WARDS_CARD
    now = forger.sign_registry(
        replace(now, scorecards={**now.scorecards, card.digest: RegisteredScorecard(card)})
    )
    figures = scores(1, card=card)
    forger.datasets(site, card)
    for _ in range(2):
        forger.send(site, site.result(now, figures, card=card))
    replay(forger.evidence())
    thief = TestSite("s-00000002")
    forger.enroll(thief)
    forger.datasets(thief, card)
    forger.send(thief, thief.result(forger.registries[-1], figures, card=card))
    assert "copied_result" in forger.seen()


def test_the_newest_registry_names_the_key_of_the_log(forger: Forger, site: TestSite) -> None:
    forger.result(site)
    old, new = forger.log_key, Ed25519Signer(draw_key())
    forger.sign_registry(replace(forger.registries[-1], log_keys=(LogKey(new.public),)))
    assert "checkpoint" in forger.seen()
    forger.log_key = new
    replay(forger.evidence())
    assert old.public != new.public


def test_our_own_spoilt_log_is_not_published(home: Home) -> None:
    """A row that was changed in the database, with a checkpoint that nobody made for it."""
    site = ready(home)
    true, false = (site.sign(site.result(registry_of(home), scores(seed))) for seed in (1, 2))
    accept(home, true, today_day=today_day())
    with home.database.writing() as connection:
        connection.execute(update(entries).where(entries.c.position == 3).values(envelope=false))
    with home.database.reading() as connection:
        evidence = collect_evidence(connection, home)
    with pytest.raises(BoardMismatchError, match="do not match the signed checkpoint"):
        replay(evidence)


# Datasets, plans, withdrawals, ledgers, resets and rotations.


def test_a_whole_life_holds(forger: Forger, site: TestSite) -> None:
    now = forger.registries[-1]
    plan = forger.send(site, site.plan(now))
    planned = replace(
        site.result(now, scores(1)), plan=decode(plan).digest, challenge=forger.challenge(plan)
    )
    first = forger.send(site, planned)
    idle = forger.send(site, site.plan(now))
    forger.send(site, site.abandon(now, decode(idle).digest))
    key = new_key()
    forger.rekey(site, site.rotate(now, "steward", key))
    site.steward = key
    forger.result(site, 2)
    forger.send(site, site.withdraw(forger.registries[-1], decode(first).digest))
    key = new_key()
    forger.rekey(site, site.reset(forger.registries[-1], agent=key, reason="lost_agent_key"))
    site.agent = key
    forger.result(site, 3)
    replayed = replay(forger.evidence())
    assert [result.is_planned for result in replayed.results] == [True, False, False]
    assert [withdrawal.predicate.result for withdrawal in replayed.withdrawals] == [
        decode(first).digest
    ]


def test_a_result_with_a_challenge_that_its_plan_did_not_yield_is_seen(
    forger: Forger, site: TestSite
) -> None:
    plan = forger.send(site, site.plan(forger.registries[-1]))
    forger.result(site, plan=decode(plan).digest, challenge="a" * 64)
    assert "wrong_plan" in forger.seen()


def test_two_results_for_one_plan_are_seen(forger: Forger, site: TestSite) -> None:
    plan = forger.send(site, site.plan(forger.registries[-1]))
    challenge = forger.challenge(plan)
    forger.result(site, plan=decode(plan).digest, challenge=challenge)
    replay(forger.evidence())
    forger.result(site, 2, plan=decode(plan).digest, challenge=challenge)
    assert "plan_used" in forger.seen()


def test_a_result_under_an_abandoned_plan_is_seen(forger: Forger, site: TestSite) -> None:
    plan = forger.send(site, site.plan(forger.registries[-1]))
    challenge = forger.challenge(plan)
    forger.send(site, site.abandon(forger.registries[-1], decode(plan).digest))
    forger.result(site, plan=decode(plan).digest, challenge=challenge)
    assert "plan_used" in forger.seen()


def test_a_dataset_of_another_site_is_seen(forger: Forger, site: TestSite) -> None:
    thief = TestSite("s-00000002")
    forger.enroll(thief)
    thief.datasets = dict(site.datasets)
    forger.result(thief)
    assert "unknown_dataset" in forger.seen()


def test_a_dataset_version_below_the_threshold_is_seen(forger: Forger, site: TestSite) -> None:
    forger.send(site, site.dataset(forger.registries[-1], "2" * 64, units=9, version="small"))
    assert "below_threshold" in forger.seen()


def test_a_withdrawal_of_another_sites_result_is_seen(forger: Forger, site: TestSite) -> None:
    result = forger.result(site)
    rival = TestSite("s-00000002")
    forger.enroll(rival)
    forger.send(rival, rival.withdraw(forger.registries[-1], decode(result).digest))
    assert "unknown_result" in forger.seen()


def test_a_result_withdrawn_twice_is_seen(forger: Forger, site: TestSite) -> None:
    result = decode(forger.result(site)).digest
    forger.send(site, site.withdraw(forger.registries[-1], result))
    replay(forger.evidence())
    forger.send(site, site.withdraw(forger.registries[-1], result))
    assert "unknown_result" in forger.seen()


def test_a_ledger_that_became_shorter_is_seen(forger: Forger, site: TestSite) -> None:
    site.ledger = LedgerHead(0, "0" * 64)
    forger.result(site)
    assert "ledger_rolled_back" in forger.seen()


def test_an_epoch_that_no_reset_began_is_seen(forger: Forger, site: TestSite) -> None:
    site.epoch, site.seq = 2, 0
    forger.result(site)
    assert "wrong_epoch" in forger.seen()


def test_a_registry_with_an_epoch_that_no_reset_began_is_seen(
    forger: Forger, site: TestSite
) -> None:
    forger.result(site)
    now = forger.registries[-1]
    for lie in ({"epoch": 2}, {"start": "a" * 64}):
        forger.sign_registry(replace(now, sites={site.id: replace(now.sites[site.id], **lie)}))  # type: ignore[arg-type]
        assert forger.seen() == (
            f"registry version 3 gives site {site.id} keys or an epoch that no log entry requests"
        )
        del forger.registries[-1], forger.signed[-1]


def test_a_registry_that_slips_a_key_in_later_is_seen(forger: Forger, site: TestSite) -> None:
    """Whoever holds the root key alone cannot sign for a site without a trace: the log would have to ask for it."""
    forger.result(site)
    now = forger.registries[-1]
    mine = now.sites[site.id]
    slipped = replace(mine, keys=(*mine.keys, SiteKey(new_key().public, "agent")))
    forger.sign_registry(replace(now, sites={site.id: slipped}))
    assert "keys or an epoch that no log entry requests" in forger.seen()


def test_a_registry_that_takes_a_revocation_back_is_seen(forger: Forger, site: TestSite) -> None:
    now = forger.registries[-1]
    mine = now.sites[site.id]
    ended = replace(mine, keys=tuple(replace(key, revoked_from=9) for key in mine.keys))
    forger.sign_registry(replace(now, sites={site.id: ended}))
    replay(forger.evidence())
    forger.sign_registry(replace(now, sites={site.id: mine}))
    assert "keys or an epoch that no log entry requests" in forger.seen()


def test_a_registry_may_rename_a_site_end_its_keys_and_drop_it(
    forger: Forger, site: TestSite
) -> None:
    forger.result(site)
    now = forger.registries[-1]
    mine = now.sites[site.id]
    ended = tuple(replace(key, revoked_from=9) for key in mine.keys)
    forger.sign_registry(
        replace(now, sites={site.id: replace(mine, display_name="New name", keys=ended)})
    )
    forger.sign_registry(replace(now, sites={}))
    replay(forger.evidence())


@pytest.mark.parametrize(
    "lie",
    [
        {"keys": ()},
        {"epoch": 1},
        {"start": "a" * 64},
    ],
    ids=["other keys", "the old epoch", "another start"],
)
def test_a_registry_that_answers_a_reset_with_something_else_is_seen(
    forger: Forger, site: TestSite, lie: dict[str, object]
) -> None:
    forger.rekey(site, site.reset(forger.registries[-1], agent=new_key()), **lie)
    assert forger.seen() == "log entry 3 changes a site's keys in a different way than the registry"


def test_a_registry_that_keeps_a_key_which_the_reset_left_out_is_seen(
    forger: Forger, site: TestSite
) -> None:
    kept = forger.registries[-1].sites[site.id].keys
    forger.rekey(site, site.reset(forger.registries[-1], agent=new_key()), keys=kept)
    assert "in a different way than the registry" in forger.seen()


def test_a_reset_that_no_registry_answers_is_seen(forger: Forger, site: TestSite) -> None:
    forger.log(site.reset(forger.registries[-1]))
    assert "in a different way than the registry" in forger.seen()
    forger.sign_registry(forger.registries[-1])
    assert "in a different way than the registry" in forger.seen()


def test_stolen_keys_cannot_go_on_in_the_old_epoch_under_the_old_registry(
    forger: Forger, site: TestSite
) -> None:
    thief, old = site.copy(), len(forger.registries)
    forger.rekey(
        site,
        site.reset(forger.registries[-1], agent=new_key(), steward=new_key(), reason="stolen_key"),
    )
    replay(forger.evidence())
    forger.result(thief, registry=old)
    assert "which was not in force" in forger.seen()
    forger.entries[-1] = Entry(forger.entries[-1].envelope, old + 1)
    assert "unknown_key" in forger.seen()


@pytest.mark.parametrize("missing", ["agent", "steward", "new"])
def test_a_rotation_that_one_of_three_did_not_sign_is_seen(
    forger: Forger, site: TestSite, missing: str
) -> None:
    now, key = forger.registries[-1], new_key()
    whole = site.rotate(now, "agent", key)
    signers = {"agent": site.agent, "steward": site.steward, "new": key}
    partly = sign(
        decode(whole).payload, [signer for name, signer in signers.items() if name != missing]
    )
    forger.rekey(site, whole)
    replay(forger.evidence())
    forger.entries[-1] = Entry(partly, len(forger.registries) - 1)
    assert "wrong_keys" in forger.seen()


def test_a_rotation_of_another_sites_key_is_seen(forger: Forger, site: TestSite) -> None:
    rival = TestSite("s-00000002")
    forger.enroll(rival)
    now, key = forger.registries[-1], new_key()
    whole = site.rotate(now, "agent", key)
    forged = sign(decode(whole).payload, [rival.agent, rival.steward, key])
    forger.log(forged)
    forger.sign_registry(now)
    assert "wrong_keys" in forger.seen()
