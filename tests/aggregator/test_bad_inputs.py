"""Bad inputs A to F against the real server, on both databases: each gets its code, and store, log and chain stay.

The tables are those of the protocol's tests, made of what one site of a real aggregator would send.
"""

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from sqlalchemy import select

from aggregator.errors import RegistryError
from aggregator.home import Home, today_day
from aggregator.registry import invites, rekeyings
from aggregator.registry.changes import Additions
from aggregator.registry.founding import found
from aggregator.registry.proposals import Changes, change_now, commit, compose
from aggregator.registry.versions import sign_next
from aggregator.settings import make_settings
from aggregator.store.schema import metadata, refusals
from protocol import envelope
from protocol.canonical import canonical
from protocol.errors import Code
from protocol.identity import NONE
from protocol.keys import Ed25519Signer, Signer
from protocol.policy import bucket_of
from protocol.predicates import (
    EMPTY_LEDGER,
    AbandonPredicate,
    EnrollPredicate,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.registry import Registry, SiteKey, build_registry
from protocol.scorecard import Scorecard
from protocol.statements import build_statement
from tests.aggregator.conftest import Served, serve_in_thread
from tests.aggregator.federation import (
    AGENT_VERSION,
    ORIGIN,
    TestSite,
    challenge_of,
    digest_of,
    registry_of,
    submit,
)
from tests.aggregator.postgres_cluster import create_database, start_cluster
from tests.protocol import edwards, world
from tests.protocol import test_envelope_bytes as envelope_tables
from tests.protocol import test_links as link_tables
from tests.protocol import test_payload_json as payload_tables
from tests.protocol import test_result_meaning as result_tables
from tests.protocol.edwards import L
from tests.protocol.test_keys_and_signatures import (
    CANONICAL_SMALL,
    ED25519_DER,
    NON_CANONICAL_SMALL,
    P256_FORMS,
    TORSION,
    ed25519_scalar,
    encode,
    other_kinds,
)

OTHER_CARD = Scorecard(
    "other", 1, (world.SCORECARD.benchmarks[0],), (world.cell("exam", "f1", binary=False),)
)


@dataclass
class Centre:
    """A running aggregator with two enrolled sites; `site` has registered its datasets and says nothing false."""

    served: Served
    site: TestSite
    other: TestSite

    @property
    def home(self) -> Home:
        return self.served.home

    @property
    def registry(self) -> Registry:
        return registry_of(self.home)

    def result(self, header: Mapping[str, object] | None = None, **changes: Any) -> ResultPredicate:
        """Return an honest result of the site with some fields replaced; for the maps, with some entries replaced."""
        datasets = {
            entry.id: self.site.datasets.get(entry.definition, NONE)
            for entry in world.SCORECARD.benchmarks
        }
        honest = replace(
            world.RESULT,
            header=self.site.header(self.registry),
            data=datasets,
            scores_root=digest_of("an honest root"),
            day=today_day() - 1,
        )
        for name in ("groups", "cells", "spreads", "data"):
            if name in changes:
                changes[name] = {**getattr(honest, name), **changes[name]}
        return replace(honest, header=replace(honest.header, **(header or {})), **changes)  # type: ignore[arg-type]

    def plan(self, **changes: Any) -> PlanPredicate:
        """Return a plan for the honest result with some fields replaced."""
        honest = self.result()
        plan = PlanPredicate(
            header=honest.header,
            scorecard=honest.scorecard,
            model=honest.model,
            data=honest.data,
            agent=honest.agent,
            policy=honest.policy,
            model_assurance="served_claimed",
            expires_day=today_day() + 30,
        )
        return replace(plan, **changes)

    def state(self) -> dict[str, list[object]]:
        """Return everything that the database holds, but for remembered refusals."""
        with self.home.database.reading() as connection:
            return {
                table.name: sorted(map(repr, connection.execute(select(table))))
                for table in metadata.sorted_tables
                if table is not refusals
            }

    def refuses(self, data: bytes, *codes: Code, path: str = "/v1/submissions") -> None:
        """Post these bytes: refused with one of these codes, and nothing changes."""
        before = self.state()
        answer = self.served.post(data, path)
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.json()["code"] in [code.value for code in codes]
        assert self.state() == before

    def refuses_statement(self, statement: Statement, code: Code) -> None:
        self.refuses(self.site.sign(statement), code)


def enrol_with_keys(
    home: Home, name: str, publication: str, agent: Signer, steward: Signer
) -> TestSite:
    """Enrol a site with keys that are at hand elsewhere too."""
    today = today_day()
    with home.database.writing() as connection:
        invite = invites.invite(
            connection, home, site_name=name, publication=publication, today_day=today
        )  # type: ignore[arg-type]
        site = TestSite(invite.site, agent=agent, steward=steward)  # type: ignore[arg-type]
        asked = invites.open_request(connection, site.ask_to_enrol(invite), today_day=today)
        change_now(connection, home, Changes(enrolments=[asked]), today_day=today)
    site.prev = asked.enrolment.digest
    return site


def change_registry(home: Home, changes: Changes) -> None:
    with home.database.writing() as connection:
        change_now(connection, home, changes, today_day=today_day())


def grant(home: Home, request: bytes) -> None:
    """Put a reset or rotation in force, fingerprints taken as compared."""
    with home.database.writing() as connection:
        asked = rekeyings.open_request(connection, request)
        change_now(connection, home, Changes(rekeyings=[asked]), today_day=today_day())


def open_home(home: Home) -> tuple[TestSite, TestSite]:
    """Register what the tables name, enrol two sites and register their datasets."""
    change_registry(
        home, Changes(additions=Additions(policies=[world.STRICTER], retired=["small@2"]))
    )
    site = enrol_with_keys(home, "General Hospital", "named", world.AGENT, world.STEWARD)
    other = enrol_with_keys(
        home, "Städtisches Klinikum", "pooled", world.OTHER_AGENT, world.OTHER_STEWARD
    )
    for owner in (site, other):
        for definition in ("cd" * 32, "ef" * 32):
            submit(home, owner, owner.dataset(registry_of(home), definition, units=10_000))
    return site, other


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with start_cluster() as url:
        yield url


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)]
)
def centre(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Centre]:
    """One aggregator for all cases: none of them leaves anything behind."""
    url = (
        create_database(request.getfixturevalue("cluster"))
        if request.param == "postgresql"
        else None
    )
    home = found(
        tmp_path_factory.mktemp("bad") / "aggregator",
        make_settings({"requests_per_minute": 0, "database_url": url}),
        origin=ORIGIN,
        additions=Additions(
            models=[world.MODEL],
            scorecards=[world.SCORECARD, world.RETIRED, OTHER_CARD],
            agents=[AGENT_VERSION],
        ),
        today_day=today_day(),
    )
    site, other = open_home(home)
    with serve_in_thread(home) as served:
        yield Centre(served, site, other)
    home.database.close()


def named(table: Mapping[str, object]) -> list[Any]:
    return [pytest.param(name, id=name) for name in table]


def test_the_unbent_result_is_what_the_centre_would_take(centre: Centre) -> None:
    """Else every case below might be refused for a reason of its own. Wrong by its very last check: its plan."""
    centre.refuses_statement(centre.result(plan="ab" * 32, challenge="ab" * 32), Code.UNKNOWN_PLAN)


# A and B: bytes, envelopes, signatures


@pytest.mark.parametrize("name", named(envelope_tables.MALFORMED))
def test_bytes_that_are_no_envelope(centre: Centre, name: str) -> None:
    centre.refuses(envelope_tables.MALFORMED[name], Code.MALFORMED)


def with_signatures(payload: bytes, *signatures: tuple[str, bytes]) -> bytes:
    """Return an envelope of a statement around any signatures, in the one form."""
    listed = [
        {"keyid": keyid, "sig": base64.b64encode(sig).decode()} for keyid, sig in sorted(signatures)
    ]
    fields = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": envelope.STATEMENT_TYPE,
        "signatures": listed,
    }
    return canonical(fields)


def signed_over(payload: bytes, message: bytes) -> bytes:
    return with_signatures(
        payload, *((key.public.keyid, key.sign(message)) for key in (world.AGENT, world.STEWARD))
    )


@pytest.mark.parametrize("name", named(envelope_tables.WRONGLY_SIGNED))
def test_signatures_over_something_else(centre: Centre, name: str) -> None:
    payload = build_statement(centre.result())
    assert signed_over(payload, envelope.pae(envelope.STATEMENT_TYPE, payload)) == centre.site.sign(
        centre.result()
    )
    centre.refuses(
        signed_over(payload, envelope_tables.wrong_messages(payload)[name]), Code.BAD_SIGNATURE
    )


def bend_signature(centre: Centre, signer: Signer, sig: bytes) -> bytes:
    """Return the honest result with other bytes in place of one of its signatures."""
    payload = build_statement(centre.result())
    message = envelope.pae(envelope.STATEMENT_TYPE, payload)
    signatures = [
        (key.public.keyid, key.sign(message))
        for key in (world.AGENT, world.STEWARD)
        if key is not signer
    ]
    return with_signatures(payload, *signatures, (signer.public.keyid, sig))


@pytest.mark.parametrize("name", named(envelope_tables.NO_SIGNATURES))
@pytest.mark.parametrize("signer", [world.AGENT, world.STEWARD], ids=["agent", "steward"])
def test_blobs_in_place_of_a_signature(centre: Centre, signer: Signer, name: str) -> None:
    centre.refuses(
        bend_signature(centre, signer, envelope_tables.NO_SIGNATURES[name]), Code.MALFORMED
    )


@pytest.mark.parametrize("name", named(envelope_tables.IN_FORM))
@pytest.mark.parametrize("signer", [world.AGENT, world.STEWARD], ids=["agent", "steward"])
def test_text_in_the_form_of_a_signature(centre: Centre, signer: Signer, name: str) -> None:
    data = bend_signature(centre, signer, envelope_tables.IN_FORM[name])
    centre.refuses(data, Code.BAD_SIGNATURE, Code.MALFORMED)


def honest_signature(centre: Centre, signer: Signer) -> bytes:
    return signer.sign(envelope.pae(envelope.STATEMENT_TYPE, build_statement(centre.result())))


@pytest.mark.parametrize("name", named(P256_FORMS))
def test_other_forms_of_a_p256_signature(centre: Centre, name: str) -> None:
    good = honest_signature(centre, world.STEWARD)
    try:
        bent = P256_FORMS[name](good, *decode_dss_signature(good))
    except ValueError:  # the library's encoder refuses a negative number: encode -1 by hand
        bent = bytes.fromhex("30060201010201ff")
    centre.refuses(bend_signature(centre, world.STEWARD, bent), Code.BAD_SIGNATURE, Code.MALFORMED)


BENT_ED25519 = {
    "B33-S-beyond-the-order": lambda good: (
        good[:32] + (int.from_bytes(good[32:], "little") + L).to_bytes(32, "little")
    ),
    "B33-S-with-a-high-bit": lambda good: good[:63] + bytes([good[63] | 0x80]),
    "B35-R-is-the-identity": lambda good: encode(edwards.IDENTITY) + good[32:],
    **{
        f"B35-R-{r.hex()[:8]}-{r.hex()[-2:]}": lambda good, r=r: r + good[32:]
        for r in NON_CANONICAL_SMALL
    },
    "B34-all-zero": lambda good: bytes(64),
}


@pytest.mark.parametrize("name", named(BENT_ED25519))
def test_other_forms_of_an_ed25519_signature(centre: Centre, name: str) -> None:
    bent = BENT_ED25519[name](honest_signature(centre, world.AGENT))  # type: ignore[no-untyped-call]
    centre.refuses(bend_signature(centre, world.AGENT, bent), Code.BAD_SIGNATURE, Code.MALFORMED)


def test_B35_the_one_signature_with_r_of_small_order_that_the_library_takes(centre: Centre) -> None:
    message = envelope.pae(envelope.STATEMENT_TYPE, build_statement(centre.result()))
    scalar, public = ed25519_scalar(1)
    r = encode(edwards.IDENTITY)
    k = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L
    centre.refuses(
        bend_signature(centre, world.AGENT, r + (k * scalar % L).to_bytes(32, "little")),
        Code.BAD_SIGNATURE,
    )


def test_B31_signatures_of_the_two_algorithms_exchanged(centre: Centre) -> None:
    payload = build_statement(centre.result())
    message = envelope.pae(envelope.STATEMENT_TYPE, payload)
    exchanged = (
        (world.AGENT.public.keyid, world.STEWARD.sign(message)),
        (world.STEWARD.public.keyid, world.AGENT.sign(message)),
    )
    centre.refuses(with_signatures(payload, *exchanged), Code.BAD_SIGNATURE, Code.MALFORMED)


def weak_keys() -> dict[str, bytes]:
    honest = edwards.decompress(world.AGENT.public.raw)
    assert honest is not None
    return {
        **{
            f"B36-{raw.hex()[:8]}-{raw.hex()[-2:]}": ED25519_DER + raw
            for raw in CANONICAL_SMALL + NON_CANONICAL_SMALL
        },
        **{
            f"B37-torsion-{i}": ED25519_DER + encode(edwards.add(honest, TORSION[i]))
            for i in range(1, 8)
        },
        "B38-identity": ED25519_DER + encode(edwards.IDENTITY),
        **other_kinds(),
    }


class WeakSigner:
    """Claims a key that it has no use for: nobody gets so far as to check its signature."""

    def __init__(self, der: bytes) -> None:
        self.public = replace(world.STRANGER.public, der=der)

    def sign(self, message: bytes) -> bytes:
        return world.STRANGER.sign(message)


@pytest.mark.parametrize("name", named(weak_keys()))
def test_requests_with_a_key_that_anyone_can_sign_for(centre: Centre, name: str) -> None:
    weak = WeakSigner(weak_keys()[name])
    with centre.home.database.writing() as connection:
        invite = invites.invite(
            connection, centre.home, site_name=name, publication="named", today_day=today_day()
        )
    invited = TestSite(invite.site, agent=weak)  # type: ignore[arg-type]
    code = Code.WEAK_KEY if weak.public.der else Code.SCHEMA
    centre.refuses(invited.ask_to_enrol(invite), code, path="/v1/enrolments")
    reset = centre.site.reset(centre.registry, agent=weak)  # type: ignore[arg-type]
    centre.refuses(reset, code, path="/v1/requests")


# C: keys and roles


def sign_by(centre: Centre, *signers: Signer) -> bytes:
    return envelope.sign(build_statement(centre.result()), signers)


SIGNERS: dict[str, tuple[Signer, ...]] = {
    "C39-unknown-key": (world.AGENT, world.STRANGER),
    "C41-keys-of-site-B-for-one-role": (world.AGENT, world.OTHER_STEWARD),
    "C45-agent-only": (world.AGENT,),
    "C45-steward-only": (world.STEWARD,),
    "C46-third-signature-of-another-site": (world.AGENT, world.STEWARD, world.OTHER_AGENT),
    "C46-third-signature-of-a-stranger": (world.AGENT, world.STEWARD, world.STRANGER),
}


@pytest.mark.parametrize("name", named(SIGNERS))
def test_signers_that_are_not_the_two_of_the_site(centre: Centre, name: str) -> None:
    centre.refuses(sign_by(centre, *SIGNERS[name]), Code.UNKNOWN_KEY)


@pytest.mark.parametrize("key", ["root", "log", "receipt"])
def test_C50_a_key_of_the_centre_signs_no_statement(centre: Centre, key: str) -> None:
    signers: dict[str, Signer] = {
        "root": centre.home.root_signer(centre.registry),
        "log": centre.home.log_signer(centre.registry),
        "receipt": centre.home.receipt_signer(centre.registry),
    }
    centre.refuses(sign_by(centre, signers[key], world.STEWARD), Code.UNKNOWN_KEY)
    centre.refuses(sign_by(centre, world.AGENT, signers[key]), Code.UNKNOWN_KEY)


def test_C51_keys_of_a_site_sign_no_registry(centre: Centre) -> None:
    before = centre.state()
    with centre.home.database.reading() as connection:
        proposal = compose(connection, Changes(ended=[]), expires_day=today_day() + 100)
    data = envelope.sign(
        build_registry(proposal.registry), (world.AGENT, world.STEWARD), envelope.REGISTRY_TYPE
    )
    with (
        pytest.raises(RegistryError, match="would not be accepted"),
        centre.home.database.writing() as connection,
    ):
        commit(connection, centre.home, proposal, data, today_day=today_day())
    centre.refuses(data, Code.MALFORMED)
    assert centre.state() == before


@pytest.mark.parametrize(
    "name", ["C40-signature-of-another-key", "C44-a-bad-signature-beside-a-good-one"]
)
def test_a_known_keyid_with_a_wrong_signature(centre: Centre, name: str) -> None:
    message = envelope.pae(envelope.STATEMENT_TYPE, build_statement(centre.result()))
    wrong = (
        world.STRANGER.sign(message) if name.startswith("C40") else world.AGENT.sign(message + b" ")
    )
    centre.refuses(bend_signature(centre, world.AGENT, wrong), Code.BAD_SIGNATURE)


def test_C41_site_A_signs_the_statement_of_site_B(centre: Centre) -> None:
    theirs = {"site": centre.other.id, "seq": centre.other.seq + 1, "prev": centre.other.prev}
    centre.refuses_statement(centre.result(theirs), Code.WRONG_SITE)


def test_C43_one_key_under_two_sites(centre: Centre) -> None:
    """An invited site that asks with keys of another one is kept for a person, who cannot put it in force."""
    now = centre.registry
    keys = (*now.sites[centre.other.id].keys, SiteKey(world.AGENT.public, "agent"))
    doubled = replace(now.sites[centre.other.id], keys=keys)
    before = centre.state()
    with (
        pytest.raises(Exception, match="duplicate_key"),
        centre.home.database.writing() as connection,
    ):
        sign_next(
            connection,
            replace(now, version=now.version + 1, sites={**now.sites, centre.other.id: doubled}),
            [centre.home.root_signer(now)],
        )
    assert centre.state() == before


# D: the payload as JSON


@pytest.mark.parametrize("name", named(payload_tables.JSON_FAULTS))
def test_payloads_that_are_not_canonical_json(centre: Centre, name: str) -> None:
    payload, code = payload_tables.json_faults(build_statement(centre.result()))[name]
    centre.refuses(envelope.sign(payload, (world.AGENT, world.STEWARD)), code)


@pytest.mark.parametrize("name", named(payload_tables.SCHEMA_FAULTS))
def test_payloads_outside_the_closed_schema(centre: Centre, name: str) -> None:
    edit, code = payload_tables.SCHEMA_FAULTS[name]
    payload = json.loads(build_statement(centre.result()))
    edit(payload)
    bent = json.dumps(payload, sort_keys=True, separators=(",", ":")).encode()
    centre.refuses(envelope.sign(bent, (world.AGENT, world.STEWARD)), code)


# E: meaning


def translate(centre: Centre, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of the protocol's world with the digests of this site's datasets."""
    here = {
        world.digest_of(world.WARD): centre.site.datasets["cd" * 32],
        world.digest_of(world.NOTES): centre.site.datasets["ef" * 32],
    }
    if "data" not in changes:
        return dict(changes)
    return {
        **changes,
        "data": {key: here.get(value, value) for key, value in changes["data"].items()},
    }


@pytest.mark.parametrize("name", named(result_tables.FAULTS))
def test_results_that_say_something_they_must_not(centre: Centre, name: str) -> None:
    changes, code = result_tables.FAULTS[name]
    centre.refuses_statement(centre.result(**translate(centre, changes)), code)


@pytest.mark.parametrize("name", ["groups", "cells", "spreads", "data"])
def test_E76_a_missing_entry(centre: Centre, name: str) -> None:
    honest = centre.result()
    shorter = dict(list(getattr(honest, name).items())[1:])
    centre.refuses_statement(replace(honest, **{name: shorter}), Code.WRONG_CELLS)


def test_E76_cells_of_another_scorecard(centre: Centre) -> None:
    centre.refuses_statement(centre.result(scorecard=OTHER_CARD.digest), Code.WRONG_CELLS)


@pytest.mark.parametrize("name", named(link_tables.DATASET_FAULTS))
def test_datasets_that_cannot_be(centre: Centre, name: str) -> None:
    changes, code = link_tables.DATASET_FAULTS[name]
    honest = centre.site.dataset(centre.registry, "cd" * 32, version="of another lineage")
    centre.refuses_statement(replace(honest, **changes), code)


@pytest.mark.parametrize("name", named(link_tables.VERSION_FAULTS))
def test_versions_of_a_dataset_that_cannot_be(centre: Centre, name: str) -> None:
    changes, code = link_tables.VERSION_FAULTS[name]
    ward, notes = centre.site.datasets["cd" * 32], centre.site.datasets["ef" * 32]
    first = digest_of("dataset", centre.site.id, "cd" * 32, "")
    here = {
        link_tables.WARD_DIGEST: ward,
        world.digest_of(world.NOTES): notes,
        world.WARD.commitment: first,
    }
    following = {"lineage": first, **link_tables.SECOND_VERSION, **changes}
    translated = {key: here.get(value, value) for key, value in following.items()}
    honest = centre.site.dataset(centre.registry, "cd" * 32, version="second")
    centre.refuses_statement(replace(honest, **translated), code)


def test_E72_the_dataset_of_another_site(centre: Centre) -> None:
    theirs = centre.other.datasets["cd" * 32]
    centre.refuses_statement(centre.result(data={"ward": theirs}), Code.UNKNOWN_DATASET)


@pytest.mark.parametrize("name", named(link_tables.PLAN_FAULTS))
def test_plans_that_cannot_be_kept(centre: Centre, name: str) -> None:
    changes, code = link_tables.PLAN_FAULTS[name]
    changes = dict(changes)
    if "expires_day" in changes:
        changes["expires_day"] += today_day() - world.TODAY
    if "data" in changes and code is not Code.WRONG_CELLS:
        bent = {
            key: value for key, value in changes["data"].items() if value != world.RESULT.data[key]
        }
        changes["data"] = {**centre.result().data, **translate(centre, {"data": bent})["data"]}
    centre.refuses_statement(centre.plan(**changes), code)


# F: chain and time


HEADERS: dict[str, tuple[dict[str, Any], Code]] = {
    "F90-gap": ({"seq": 9}, Code.WRONG_SEQ),
    "F92-wrong-prev": ({"prev": "00" * 32}, Code.WRONG_PREV),
    "F94-seq-0-in-the-same-epoch": ({"seq": 0}, Code.SCHEMA),
    "F95-epoch-jump": ({"epoch": 2}, Code.WRONG_EPOCH),
    "F95-epoch-far-ahead": ({"epoch": 2**31 - 1}, Code.WRONG_EPOCH),
    "F96-registry-from-the-future": ({"registry": 99}, Code.WRONG_REGISTRY),
    "F97-made-for-another-board": ({"deployment": "staging.board.example"}, Code.WRONG_DEPLOYMENT),
    "F102-a-later-one-of-a-batch": ({"seq": 5, "prev": "d3" * 32}, Code.WRONG_SEQ),
    "F-ledger-gone": ({"ledger": EMPTY_LEDGER}, Code.LEDGER_ROLLED_BACK),
}


@pytest.mark.parametrize("name", named(HEADERS))
def test_statements_out_of_their_place(centre: Centre, name: str) -> None:
    changes, code = HEADERS[name]
    payload = json.loads(build_statement(centre.result()))
    for field, value in changes.items():
        payload["predicate"][field] = (
            {"length": 0, "head": value.head} if field == "ledger" else value
        )
    centre.refuses(envelope.sign(canonical(payload), (world.AGENT, world.STEWARD)), code)


def test_F93_prev_of_another_site(centre: Centre) -> None:
    centre.refuses_statement(centre.result({"prev": centre.other.prev}), Code.WRONG_PREV)


DAYS = {
    "F100-tomorrow": 1,
    "F100-128-days-ago": -128,
    "F100-ten-years-ago": -3650,
    "F100-clock-at-2038": 24_855,
}


@pytest.mark.parametrize("name", named(DAYS))
def test_days_of_a_broken_clock(centre: Centre, name: str) -> None:
    day = DAYS[name] if DAYS[name] > 10_000 else today_day() + DAYS[name]
    centre.refuses_statement(centre.result(day=day), Code.WRONG_DAY)


def test_F100_the_clock_at_1970(centre: Centre) -> None:
    centre.refuses_statement(centre.result(day=0), Code.WRONG_DAY)


@pytest.mark.parametrize("name", ["E75-enrolment-as-a-link", "E75-reset-as-a-link"])
def test_requests_about_keys_are_no_links(centre: Centre, name: str) -> None:
    header, keys = (
        centre.site.header(centre.registry),
        (world.AGENT.public.der, world.STEWARD.public.der),
    )
    if "reset" in name:
        statement: Statement = ResetPredicate(replace(header, epoch=2, seq=0), *keys, "restored")
    else:
        statement = EnrollPredicate(replace(header, seq=0, prev=NONE), *keys, "00" * 64)
    centre.refuses_statement(statement, Code.WRONG_TYPE)


def test_the_ends_of_plans_and_results_that_are_not_there(centre: Centre) -> None:
    header = centre.site.header(centre.registry)
    centre.refuses_statement(AbandonPredicate(header, "ab" * 32, "not_run"), Code.UNKNOWN_PLAN)
    centre.refuses_statement(WithdrawPredicate(header, "ab" * 32, "consent"), Code.UNKNOWN_RESULT)


# Cases that need a history of their own. They run last: from here on the site's chain grows.


def test_F98_F99_a_result_that_is_not_what_was_planned(centre: Centre) -> None:
    plan = centre.site.sign(centre.plan())
    assert centre.served.post(plan).status_code == 200
    challenge, digest = challenge_of(centre.home, plan), centre.site.accepted(plan)
    said = {"plan": digest, "challenge": challenge, "scores_root": digest_of("planned")}
    centre.refuses_statement(centre.result(**said | {"plan": "ab" * 32}), Code.UNKNOWN_PLAN)
    centre.refuses_statement(centre.result(**said | {"challenge": NONE}), Code.WRONG_PLAN)
    centre.refuses_statement(centre.result(**said | {"challenge": "ab" * 32}), Code.WRONG_PLAN)
    centre.refuses_statement(centre.result(challenge=challenge), Code.WRONG_PLAN)
    centre.refuses_statement(
        centre.result(**said, policy=world.STRICTER.digest, **large()), Code.WRONG_PLAN
    )
    theirs = replace(
        centre.result(**said), header=centre.other.header(centre.registry), data=their_data(centre)
    )
    centre.refuses(sign_by_other(theirs), Code.UNKNOWN_PLAN)
    kept = centre.site.sign(centre.result(**said))
    assert centre.served.post(kept).status_code == 200
    centre.site.accepted(kept)
    centre.refuses_statement(
        centre.result(**said | {"scores_root": digest_of("second")}), Code.PLAN_USED
    )
    centre.refuses_statement(
        AbandonPredicate(centre.site.header(centre.registry), digest, "not_run"), Code.PLAN_USED
    )
    stolen = {"scores_root": said["scores_root"]}  # E86: the root of another site's result
    theirs = replace(
        centre.result(**stolen),
        header=centre.other.header(centre.registry),
        data=their_data(centre),
    )
    centre.refuses(sign_by_other(theirs), Code.WRONG_ROOT)


def their_data(centre: Centre) -> dict[str, str]:
    return {
        entry.id: centre.other.datasets.get(entry.definition, NONE)
        for entry in world.SCORECARD.benchmarks
    }


def sign_by_other(statement: Statement) -> bytes:
    return envelope.sign(build_statement(statement), (world.OTHER_AGENT, world.OTHER_STEWARD))


def large() -> dict[str, Any]:
    """Figures of so many units that the stricter policy takes them."""
    changes = result_tables.whole_only(300, 720)
    changes["groups"]["notes"] = bucket_of(300)
    return changes


def test_E86_the_root_of_another_sites_result(centre: Centre) -> None:
    taken = centre.site.sign(centre.result(scores_root=digest_of("theirs")))
    assert centre.served.post(taken).status_code == 200
    centre.site.accepted(taken)
    copied = centre.result(scores_root=digest_of("theirs"))
    copied = replace(copied, header=centre.other.header(centre.registry), data=their_data(centre))
    centre.refuses(sign_by_other(copied), Code.WRONG_ROOT)


def test_E87_the_figures_of_another_sites_result(centre: Centre) -> None:
    taken = centre.site.sign(
        centre.result(scores_root=digest_of("fine figures"), **result_tables.LARGE)
    )
    assert centre.served.post(taken).status_code == 200
    centre.site.accepted(taken)
    copied = centre.result(scores_root=digest_of("copied figures"), **result_tables.LARGE)
    copied = replace(copied, header=centre.other.header(centre.registry), data=their_data(centre))
    centre.refuses(sign_by_other(copied), Code.COPIED_RESULT)


def test_F88_an_exact_replay_gets_the_same_receipt_and_no_second_row(centre: Centre) -> None:
    data = centre.site.sign(centre.result(scores_root=digest_of("sent twice")))
    first = centre.served.post(data)
    assert first.status_code == 200
    centre.site.accepted(data)
    before = centre.state()
    assert centre.served.post(data).json() == first.json()
    assert centre.state() == before


def newcomer(centre: Centre) -> tuple[TestSite, list[bytes]]:
    """Return a new site that sent a result of nothing but the public benchmark, and that envelope."""
    site = enrol_with_keys(centre.home, "A new site", "named", draw_signer(), draw_signer())
    data = site.sign(public_result(centre, site))
    assert centre.served.post(data).status_code == 200
    site.accepted(data)
    return site, [data]


def draw_signer() -> Ed25519Signer:
    return Ed25519Signer(Ed25519PrivateKey.generate())


def public_result(centre: Centre, site: TestSite, **changes: Any) -> ResultPredicate:
    card = world.SCORECARD
    return replace(
        centre.result(
            groups=dict.fromkeys(card.group_keys, 0) | {"exam": bucket_of(8)},
            cells={cell.key: -2 for cell in card.cells} | {"exam/exact_match": 875},
            spreads={cell.key: -1 for cell in card.cells if not cell.binary},
            data=dict.fromkeys(("exam", "ward", "notes"), NONE),
        ),
        header=site.header(centre.registry),
        outcome="partial",
        scores_root=os.urandom(
            32
        ).hex(),  # a root that is known already would be refused before the chain is read
        **changes,
    )


def test_F91_another_content_for_a_place_that_is_taken_freezes_the_site(centre: Centre) -> None:
    site, _ = newcomer(centre)
    behind = site.at(site.seq - 1, centre.registry.sites[site.id].start)
    fork = site.sign(public_result(centre, behind, day=today_day()))
    before = centre.state()
    answer = centre.served.post(fork)
    assert answer.json()["code"] == Code.FORK.value
    after = centre.state()
    assert len(after.pop("forks")) == len(before.pop("forks")) + 1  # both payloads are kept
    assert after == before
    centre.refuses(site.sign(public_result(centre, site)), Code.SITE_FROZEN)


def test_F92_prev_of_an_older_link_and_F94_a_sequence_that_starts_again(centre: Centre) -> None:
    site, _ = newcomer(centre)
    start = centre.registry.sites[site.id].start
    centre.refuses(site.sign(public_result(centre, site.at(site.seq, start))), Code.WRONG_PREV)
    before = centre.state()
    again = centre.served.post(site.sign(public_result(centre, site.at(0, site.prev))))
    assert again.json()["code"] == Code.FORK.value
    assert centre.state()["entries"] == before["entries"]


def change_keys(centre: Centre, site: TestSite, **agent: int | None) -> None:
    """Let the registry give other indices for the site's agent key."""
    now = centre.registry
    entry = now.sites[site.id]
    keys = tuple(replace(key, **agent) if key.role == "agent" else key for key in entry.keys)
    changed = replace(
        now, version=now.version + 1, sites={**now.sites, site.id: replace(entry, keys=keys)}
    )
    with centre.home.database.writing() as connection:
        sign_next(connection, changed, [centre.home.root_signer(now)])


def test_C47_C48_C49_a_key_signs_in_its_time_only(centre: Centre) -> None:
    site, _ = newcomer(centre)
    size = len(centre.state()["entries"])
    waiting = site.sign(public_result(centre, site))
    for fault in (
        {"until_index": size},
        {"from_index": size + 1},
        {"revoked_from": size},
        {"revoked_from": 0},
    ):
        change_keys(
            centre, site, **{"until_index": None, "from_index": 0, "revoked_from": None} | fault
        )
        centre.refuses(waiting, Code.UNKNOWN_KEY)
    change_keys(centre, site, until_index=None, from_index=size, revoked_from=size + 1)
    assert centre.served.post(waiting).status_code == 200
    site.accepted(waiting)
    centre.refuses(site.sign(public_result(centre, site)), Code.UNKNOWN_KEY)


def test_F89_a_replay_after_a_rotation_and_after_an_epoch(centre: Centre) -> None:
    site, (taken,) = newcomer(centre)
    late = site.sign(public_result(centre, site))  # signed before, sent after
    new_agent = draw_signer()
    rotation = site.rotate(centre.registry, "agent", new_agent)
    grant(centre.home, rotation)
    site.accepted(rotation)
    site.agent = new_agent
    centre.refuses(late, Code.UNKNOWN_KEY)
    centre.refuses(taken, Code.UNKNOWN_KEY)
    old_epoch = site.sign(public_result(centre, site))
    reset = site.reset(centre.registry)
    grant(centre.home, reset)
    site.accepted(reset)
    centre.refuses(old_epoch, Code.WRONG_EPOCH)
    assert centre.served.post(site.sign(public_result(centre, site))).status_code == 200


ROTATIONS = (
    "without-the-old-agent",
    "without-the-old-steward",
    "without-the-new-key",
    "by-the-new-key-alone",
)


@pytest.mark.parametrize("name", [f"C52-{name}" for name in ROTATIONS])
def test_a_rotation_without_its_proofs(centre: Centre, name: str) -> None:
    new = draw_signer()
    statement = RotatePredicate(centre.site.header(centre.registry), "agent", new.public.der)
    signers: dict[str, tuple[Signer, ...]] = {
        "C52-without-the-old-agent": (world.STEWARD, new),
        "C52-without-the-old-steward": (world.AGENT, new),
        "C52-without-the-new-key": (world.AGENT, world.STEWARD),
        "C52-by-the-new-key-alone": (new,),
    }
    centre.refuses(
        envelope.sign(build_statement(statement), signers[name]),
        Code.WRONG_KEYS,
        path="/v1/requests",
    )


KNOWN_KEYS = (
    "the-own-key",
    "the-own-stewards-key",
    "another-sites-key",
    "a-root-key",
    "the-log-key",
)


@pytest.mark.parametrize("name", [f"C52-to-{name}" for name in KNOWN_KEYS])
def test_a_rotation_to_a_key_that_is_known_already(centre: Centre, name: str) -> None:
    known: dict[str, Signer] = {
        "C52-to-the-own-key": world.AGENT,
        "C52-to-the-own-stewards-key": world.STEWARD,
        "C52-to-another-sites-key": world.OTHER_AGENT,
        "C52-to-a-root-key": centre.home.root_signer(centre.registry),
        "C52-to-the-log-key": centre.home.log_signer(centre.registry),
    }
    new = known[name]
    statement = RotatePredicate(centre.site.header(centre.registry), "agent", new.public.der)
    signers = {signer.public.keyid: signer for signer in (world.AGENT, world.STEWARD, new)}
    data = envelope.sign(build_statement(statement), tuple(signers.values()))
    centre.refuses(data, Code.DUPLICATE_KEY, Code.WRONG_KEYS, path="/v1/requests")


def test_F95_a_reset_by_keys_of_somebody_else_waits_and_changes_nothing(centre: Centre) -> None:
    """Anybody can ask with keys of their own, for a site that lost all of its keys must be able to."""
    data = centre.site.reset(centre.registry, agent=draw_signer(), steward=draw_signer())
    before = centre.state()
    assert centre.served.post(data, "/v1/requests").status_code == 200
    after = centre.state()
    assert len(after.pop("rekeying_requests")) == len(before.pop("rekeying_requests")) + 1
    assert after == before
