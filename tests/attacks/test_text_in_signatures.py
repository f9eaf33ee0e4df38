"""Attack 1: patient text in the place of a signature leaves with an approved submission."""

import base64
import json
from pathlib import Path

import pytest

from agent.delivery import send as sending
from agent.delivery.outbox import Outbox, Submission
from agent.delivery.send import export
from agent.disclosure.prepare import prepare
from agent.errors import DisclosureError
from protocol import envelope
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.registry import Registry
from tests.agent.disclosure.ward import CARD, MODEL, REGISTRY, register, sign, site_gate, whole_ward
from tests.protocol import world

TEXT = b"Maria Lopez, 54, came with chest pain since this morning. " * 620  # 35,960 bytes


@pytest.fixture
def stuffed(tmp_path: Path) -> tuple[Outbox, str]:
    """An outbox whose first approved submission has text instead of the steward's signature, and its digest."""
    gate = site_gate(tmp_path)
    register(gate, {MODEL: whole_ward()})
    (draft,) = prepare(gate, CARD, {MODEL: whole_ward()}).submissions
    sign(gate, draft)
    first = gate.outbox.list_submissions()[0]
    (path,) = gate.outbox.directory.glob(f"{first.digest}.dsse.json")
    path.write_bytes(stuff(path.read_bytes()))
    return gate.outbox, first.digest


def stuff(data: bytes) -> bytes:
    opened = json.loads(data)
    opened["signatures"][-1]["sig"] = base64.b64encode(TEXT).decode()
    return json.dumps(opened, sort_keys=True, separators=(",", ":")).encode()


def export_it(outbox: Outbox, digest: str, target: Path) -> bytes:
    export(
        outbox,
        REGISTRY,
        [outbox.get(digest)],
        target,
        today_day=world.TODAY,
        audit=lambda event, detail: None,
    )
    return target.read_bytes()


def believe(submission: Submission, registry: Registry) -> bytes:
    """Commit 56f8cdc sent what lay in the file, if the payload had the right digest."""
    return submission.data


def test_decoders_take_no_signature_of_another_length(
    stuffed: tuple[Outbox, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, digest = stuffed
    data = next(outbox.directory.glob(f"{digest}.dsse.json")).read_bytes()
    with pytest.raises(ProtocolError) as caught:
        decode(data)
    assert caught.value.code is Code.MALFORMED
    monkeypatch.setattr(envelope, "check_signature_form", lambda signature: None)
    assert TEXT in [signature.sig for signature in decode(data).signatures]


def test_text_does_not_leave_the_site_by_file(
    stuffed: tuple[Outbox, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, digest = stuffed
    target = tmp_path / "out.json"
    with pytest.raises((DisclosureError, ProtocolError)):
        export_it(outbox, digest, target)
    monkeypatch.setattr(envelope, "check_signature_form", lambda signature: None)
    with pytest.raises(DisclosureError, match="do not verify"):
        export_it(outbox, digest, target)  # each of the two rules is enough
    assert not target.exists()
    monkeypatch.setattr(sending, "check_departure", believe)
    assert base64.b64encode(TEXT) in export_it(outbox, digest, target)
