"""What carriers, strangers and broken machines hand to a steward: one sentence, nothing signed, no trace of a fault."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from protocol import envelope
from protocol.approval_files import read_approval_request
from protocol.envelope import encode_base64
from protocol.statements import build_statement
from tests.protocol import world
from tests.steward import hospital
from tests.steward.hospital import Steward, chain

OLD_FILES = Path(__file__).parents[1] / "data/versions/56f8cdc"


@pytest.mark.full
@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b'{"payloadType":1}',
        b'{"kind":"approval request"}',
    ],
)
def test_something_else_is_no_request(steward: Steward, content: bytes) -> None:
    path = steward.folder / "file"
    path.write_bytes(content)
    for reply in (steward.show(path), steward.approve(path)):
        assert reply.refuses(3, "the file is not valid")


def test_a_request_that_is_cut_off_or_changed_is_refused(steward: Steward) -> None:
    data = steward.ask(chain()[0]).read_bytes()
    path = steward.folder / "changed"
    path.write_bytes(data[: len(data) // 2])
    assert steward.show(path).refuses(3, "malformed")
    form = read_approval_request(data)
    registry, draft = form.registry, form.drafts[0].envelope
    for part in (registry, draft):
        encoded = encode_base64(part)
        flipped = encode_base64(part[:200] + bytes([part[200] ^ 1]) + part[201:])
        path.write_bytes(data.replace(encoded.encode(), flipped.encode()))
        assert steward.show(path).refuses(3, "the file is not valid")


@pytest.mark.parametrize("name", ["request.json", "signed.json"])
def test_enrolments_of_the_unreleased_version_are_refused_in_one_sentence(
    steward: Steward, name: str
) -> None:
    assert steward.show(OLD_FILES / name).refuses(3, "old_schema")


def test_a_request_of_the_unreleased_version_is_refused_in_one_sentence(steward: Steward) -> None:
    path = steward.folder / "old"
    path.write_text(
        json.dumps(
            {"kind": "approval request", "schema": 1, "drafts": [{"previous": None}]}, indent=1
        )
    )
    assert steward.show(path).refuses(3, "old_schema")


def test_a_draft_signed_by_another_site_is_refused(steward: Steward) -> None:
    file = steward.ask(chain()[0], signer=world.OTHER_AGENT)
    assert steward.approve(file).refuses(3, "unknown_key")


def test_drafts_of_two_sites_do_not_come_together(steward: Steward) -> None:
    statement = chain()[0]
    other = replace(
        statement,
        header=replace(statement.header, site=world.OTHER_SITE, prev=world.OTHER_ENROLMENT),
    )
    form = json.loads(hospital.request(statement, registry_file=steward.registry_file))
    second = json.loads(
        hospital.request(other, signer=world.OTHER_AGENT, registry_file=steward.registry_file)
    )
    form["drafts"] += second["drafts"]
    path = steward.folder / "two"
    path.write_text(json.dumps(form, sort_keys=True, separators=(",", ":")))
    assert steward.approve(path).refuses(3, "drafts of several sites")


def test_drafts_out_of_their_order_are_refused(steward: Steward) -> None:
    ward, notes, _ = chain()
    assert steward.approve(steward.ask(notes, ward)).refuses(
        3, "not in the order of the site's chain"
    )


def test_a_draft_that_somebody_else_signed_too_is_refused(steward: Steward) -> None:
    form = json.loads(hospital.request(chain()[0], registry_file=steward.registry_file))
    both = envelope.sign(build_statement(chain()[0]), [world.AGENT, steward.signer])
    form["drafts"][0]["envelope"] = encode_base64(both)
    path = steward.folder / "both"
    path.write_text(json.dumps(form, sort_keys=True, separators=(",", ":")))
    assert steward.approve(path).refuses(3, "expected only the signature of the site's agent")


def test_a_registry_not_signed_by_the_roots_named_is_refused(steward: Steward) -> None:
    forged = replace(hospital.registry_with(steward.signer), roots=(world.STRANGER.public,))
    file = steward.ask(chain()[0], registry_file=hospital.sign_registry(forged, world.STRANGER))
    assert steward.approve(file, "--root", world.ROOT.public.keyid).refuses(3, "under_threshold")
    shown = steward.show(file)
    assert shown.code == 0
    assert "You have not specified root keys" in shown.output
    assert world.STRANGER.public.fingerprint in " ".join(shown.output.split())
    unsigned = hospital.sign_registry(hospital.registry_with(steward.signer), world.STRANGER)
    assert steward.show(steward.ask(chain()[0], name="b", registry_file=unsigned)).refuses(
        3, "under_threshold"
    )


def test_an_expired_registry_is_refused(steward: Steward) -> None:
    expired = replace(hospital.registry_with(steward.signer), expires_day=hospital.TODAY)
    file = steward.ask(chain()[0], registry_file=hospital.sign_registry(expired))
    assert steward.approve(file).refuses(3, "registry_expired")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"deployment": "evil.example"}, "wrong_deployment"),
        ({"registry": 1}, "wrong_registry"),
        ({"registry": 10}, "wrong_registry"),
        ({"epoch": 2}, "wrong_epoch"),
        ({"prev": "ab" * 32}, "wrong_prev"),
    ],
)
def test_a_draft_for_another_place_is_refused(
    steward: Steward, changes: dict[str, object], words: str
) -> None:
    statement = chain()[0]
    moved = replace(statement, header=replace(statement.header, **changes))  # type: ignore[arg-type]
    assert steward.approve(steward.ask(moved)).refuses(3, words)


@pytest.mark.parametrize("days", [-1, 128])
def test_a_result_from_the_future_or_the_distant_past_is_refused(
    steward: Steward, days: int
) -> None:
    result = replace(chain()[2], day=hospital.TODAY - days)
    assert steward.approve(steward.ask(*chain()[:2], result)).refuses(3, "wrong_day")


def test_a_model_that_is_not_registered_cannot_be_shown(steward: Steward) -> None:
    result = replace(chain()[2], model="99" * 32)
    assert steward.show(steward.ask(*chain()[:2], result)).refuses(3, "unknown_model")


def test_notes_that_contradict_the_statement_stop_the_signature(steward: Steward) -> None:
    file = steward.ask(chain()[0], notes={"units": 12})
    assert steward.approve(file).refuses(3, "the site's own number of units in this version")


def test_a_single_statement_without_its_registry_is_not_signed(steward: Steward) -> None:
    path = steward.folder / "single"
    path.write_bytes(envelope.sign(build_statement(chain()[2]), [world.AGENT]))
    for reply in (steward.show(path), steward.approve(path)):
        assert reply.refuses(3, "a single result statement, which cannot be reviewed on its own")


def test_a_missing_file_a_folder_and_a_pipe_are_named(steward: Steward) -> None:
    assert steward.show(steward.folder / "none").refuses(2, "none cannot be read")
    os.mkfifo(steward.folder / "pipe")
    assert steward.show(steward.folder / "pipe").refuses(2, "pipe is not a regular file")
    assert steward.show(steward.folder).refuses(2, "is a directory")


@pytest.mark.full
def test_no_name_of_a_registry_reaches_the_terminal_as_more_than_text(steward: Steward) -> None:
    """The registry's own form allows printable text alone; in HTML it is escaped."""
    model = replace(world.MODEL, display_name="<script>alert(1)</script> & =cmd()")
    registry = replace(hospital.registry_with(steward.signer), models={world.RESULT.model: model})
    file = steward.ask(*chain(), registry_file=hospital.sign_registry(registry))
    shown = steward.show(file)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown.output)
    assert steward.show(file, "--html", steward.folder / "page.html").code == 0
    page = (steward.folder / "page.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
