"""Files of version 56f8cdc, of schema 1, which was never released: each is refused in one sentence."""

import base64
import json
from pathlib import Path

import pytest

from protocol.enrolment import enrolment_site, open_enrolment
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import Code, ProtocolError
from protocol.keys import load_public
from protocol.registry import RootPins, parse_registry, step_registry
from protocol.rekeying import open_rekeying
from protocol.statements import parse_statement
from protocol.verification import Authentic, History, verify_link
from tests.protocol.world import REGISTRY, TODAY, refused

FOLDER = Path(__file__).parents[1] / "data" / "versions" / "56f8cdc"
ENROLMENT = (FOLDER / "site" / "submissions" / "enrolment.dsse.json").read_bytes()
RESULTS = sorted((FOLDER / "site" / "submissions").glob("*.dsse.json"))
REGISTRIES = sorted((FOLDER / "aggregator" / "registry").glob("*.dsse.json"))
SENTENCE = (
    "was written by an unreleased version (schema 1), which released versions cannot read; "
    "create a new one"
)


def test_there_are_files_to_refuse():
    assert len(RESULTS) >= 2
    assert len(REGISTRIES) == 2


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name[:8])
def test_a_statement_of_schema_1_is_refused_in_one_sentence(path: Path):
    opened = decode(path.read_bytes())  # the envelope has not changed
    with pytest.raises(ProtocolError) as caught:
        parse_statement(opened.payload)
    assert (caught.value.code, caught.value.detail) == (
        Code.OLD_SCHEMA,
        f"the statement {SENTENCE}",
    )


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name[:8])
def test_a_link_of_schema_1_joins_no_chain(path: Path):
    opened = decode(path.read_bytes())
    with refused(Code.OLD_SCHEMA):
        verify_link(
            Authentic(opened, "s-9gqar0es", opened.digest),
            REGISTRY,
            History(head=None),
            today_day=TODAY,
        )
    with refused(Code.OLD_SCHEMA):
        open_rekeying(path.read_bytes(), REGISTRY, History(head=None), log_index=1)


def test_every_entry_of_a_board_of_schema_1_is_refused():
    lines = (FOLDER / "board" / "log" / "entries.ndjson").read_text("utf-8").splitlines()
    assert len(lines) == 2
    for line in lines:
        payload = base64.b64decode(json.loads(line)["envelope"]["payload"])
        with refused(Code.OLD_SCHEMA):
            parse_statement(payload)


def test_an_enrolment_of_schema_1_is_refused_in_one_sentence():
    with refused(Code.OLD_SCHEMA):
        enrolment_site(ENROLMENT)
    with refused(Code.OLD_SCHEMA):
        open_enrolment(
            ENROLMENT,
            deployment="board.fixtures.example",
            site="s-9gqar0es",
            verifier="00" * 32,
            registry_version=1,
        )


@pytest.mark.parametrize("path", REGISTRIES, ids=lambda path: path.name[:1])
def test_a_registry_of_schema_1_is_refused_in_one_sentence(path: Path):
    opened = decode(path.read_bytes(), REGISTRY_TYPE)
    with pytest.raises(ProtocolError) as caught:
        parse_registry(opened.payload)
    assert (caught.value.code, caught.value.detail) == (
        Code.OLD_SCHEMA,
        f"the registry {SENTENCE}",
    )
    keyids = frozenset(signature.keyid for signature in opened.signatures)
    with refused(Code.OLD_SCHEMA):
        step_registry(path.read_bytes(), RootPins("board.fixtures.example", keyids, 1))
    with refused(Code.OLD_SCHEMA):
        step_registry(path.read_bytes(), REGISTRY)


def test_keys_of_version_56f8cdc_are_still_keys():
    fields = json.loads(decode(ENROLMENT).payload)["predicate"]
    for name in ("agent_key", "steward_key"):
        assert load_public(base64.b64decode(fields[name])).algorithm == "ed25519"
