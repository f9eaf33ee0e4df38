"""The files between a site and its steward: they come back as they were written, or are refused, and carry no text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import envelope
from protocol.approval_files import (
    MAX_DRAFTS,
    MAX_FILE_BYTES,
    NOTES,
    REJECTION_REASONS,
    ApprovalRequest,
    AuditHead,
    DraftFile,
    Rejection,
    SignedDrafts,
    read_approval_request,
    read_rejection,
    read_signed_drafts,
    write_approval_request,
    write_rejection,
    write_signed_drafts,
)
from protocol.canonical import canonical
from protocol.envelope import REGISTRY_TYPE, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.registry import build_registry
from protocol.statements import build_statement
from tests.protocol import world

OLD_FILES = Path(__file__).parents[1] / "data/versions/56f8cdc"
REGISTRY = envelope.sign(build_registry(world.REGISTRY), [world.ROOT], REGISTRY_TYPE)
DRAFT = envelope.sign(build_statement(world.WARD), [world.AGENT])
REQUEST = ApprovalRequest(
    registry=REGISTRY,
    policy=world.STRICT,
    drafts=(DraftFile(DRAFT, {"units": 10_000, "never_seen": 3}),),
    audit_head=AuditHead(12, "ab" * 32),
    refusals={"cd" * 32: b"a signed note"},
)
FILE = write_approval_request(REQUEST)


def test_a_request_is_read_as_it_was_written() -> None:
    assert read_approval_request(FILE) == REQUEST
    assert write_approval_request(read_approval_request(FILE)) == FILE


@given(st.lists(st.binary(min_size=1, max_size=64), min_size=1, max_size=4))
def test_signed_drafts_are_read_as_they_were_written(envelopes: list[bytes]) -> None:
    data = write_signed_drafts(SignedDrafts(tuple(envelopes)))
    assert read_signed_drafts(data).envelopes == tuple(envelopes)


@pytest.mark.parametrize("reason", REJECTION_REASONS)
def test_a_rejection_is_read_as_it_was_written(reason: str) -> None:
    rejection = Rejection(("ef" * 32, "01" * 32), reason)
    assert read_rejection(write_rejection(rejection)) == rejection


def test_a_file_cut_off_anywhere_is_malformed() -> None:
    for length in [*range(0, len(FILE), 211), len(FILE) - 1]:
        with world.refused(Code.MALFORMED):
            read_approval_request(FILE[:length])


def edited(edit: Callable[[dict[str, Any]], object]) -> bytes:
    value = json.loads(FILE)
    edit(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "edit",
    [
        lambda v: v.update(note="free text"),
        lambda v: v.pop("audit"),
        lambda v: v.update(kind="signed drafts"),
        lambda v: v.update(schema=1),
        lambda v: v.update(schema=3),
        lambda v: v.update(drafts=[]),
        lambda v: v.update(drafts=v["drafts"] * (MAX_DRAFTS + 1)),
        lambda v: v["drafts"][0].update(verdicts={}),
        lambda v: v["drafts"][0]["notes"].update(remark=1),
        lambda v: v["drafts"][0]["notes"].update(units="many"),
        lambda v: v["drafts"][0]["notes"].update(units=-1),
        lambda v: v["drafts"][0].update(envelope=encode_base64(b"x" * (64 * 1024 + 1))),
        lambda v: v["audit"].update(number=-1),
        lambda v: v["audit"].update(link="the last event"),
        lambda v: v["policy"].update(min_units="11"),
        lambda v: v.update(refusals={"short": encode_base64(b"note")}),
        lambda v: v.update(refusals={"cd" * 32: "a note that is not base64"}),
    ],
)
def test_another_field_or_value_is_malformed(edit: Callable[[dict[str, Any]], object]) -> None:
    with world.refused(Code.MALFORMED):
        read_approval_request(edited(edit))


def test_a_request_that_is_not_canonical_is_malformed() -> None:
    with world.refused(Code.MALFORMED):
        read_approval_request(FILE + b"\n")


def test_a_file_larger_than_any_request_is_not_parsed() -> None:
    with world.refused(Code.MALFORMED):
        read_approval_request(b" " * (MAX_FILE_BYTES + 1))


def test_the_error_quotes_nothing_of_the_file() -> None:
    with pytest.raises(ProtocolError) as caught:
        read_approval_request(edited(lambda v: v["drafts"][0]["notes"].update({"Ada Lovelace": 1})))
    assert "Ada" not in str(caught.value)


def test_what_cannot_be_read_again_is_not_written() -> None:
    with world.refused(Code.MALFORMED):
        write_approval_request(ApprovalRequest(REGISTRY, world.STRICT, ()))
    with world.refused(Code.MALFORMED):
        write_rejection(Rejection(("ef" * 32,), "because of Ada Lovelace"))
    with world.refused(Code.MALFORMED):
        write_signed_drafts(SignedDrafts((b"x" * (64 * 1024 + 1),)))


def test_files_of_the_unreleased_version_are_refused_in_one_sentence() -> None:
    """Version 56f8cdc wrote indented JSON with the gate's verdicts and the release before in it."""
    (draft,) = (OLD_FILES / "site/submissions").glob("*.draft.dsse.json")
    (verdicts,) = (OLD_FILES / "site/submissions").glob(f"{draft.name[:64]}.verdicts.json")
    (registry,) = (OLD_FILES / "site/submissions/registry").iterdir()
    old_draft = encode_base64(draft.read_bytes())
    old_request = {
        "kind": "approval request",
        "schema": 1,
        "registry": encode_base64(registry.read_bytes()),
        "policy": world.STRICT.to_json(),
        "drafts": [
            {"envelope": old_draft, "previous": None, "verdicts": json.loads(verdicts.read_bytes())}
        ],
    }
    with world.refused(Code.OLD_SCHEMA):
        read_approval_request(json.dumps(old_request, indent=1, sort_keys=True).encode() + b"\n")
    old_answer = {"kind": "signed drafts", "schema": 1, "envelopes": [old_draft]}
    with world.refused(Code.OLD_SCHEMA):
        read_signed_drafts(json.dumps(old_answer, indent=1, sort_keys=True).encode() + b"\n")


@pytest.mark.parametrize("read", [read_signed_drafts, read_rejection])
def test_a_request_is_no_answer(read: Callable[[bytes], object]) -> None:
    with world.refused(Code.MALFORMED):
        read(FILE)


def test_a_rejection_has_room_for_digests_and_one_known_reason() -> None:
    """A steward's machine that was broken into has no field to write text of the site into."""
    fields = json.loads(write_rejection(Rejection(("ef" * 32,), "other")))
    assert sorted(fields) == ["digests", "kind", "reason", "schema"]
    for name, text in (("reason", "seen: patient 17"), ("digests", ["patient 17"])):
        with world.refused(Code.MALFORMED):
            read_rejection(canonical({**fields, name: text}))


def test_notes_are_numbers_of_units_alone() -> None:
    notes = {name: number for number, name in enumerate(NOTES)}
    read = read_approval_request(
        write_approval_request(ApprovalRequest(REGISTRY, world.STRICT, (DraftFile(DRAFT, notes),)))
    )
    assert read.drafts[0].notes == notes
