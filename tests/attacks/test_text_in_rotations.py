"""Attack 1 again: a rotation of a key that nobody signed, with patient text for key ids and signatures."""

import base64
from pathlib import Path

import pytest

from agent.delivery import departure
from agent.delivery.outbox import Outbox
from agent.delivery.send import export
from agent.disclosure.chain import find_first_place
from agent.errors import DisclosureError
from protocol import envelope
from protocol.canonical import canonical
from protocol.envelope import STATEMENT_TYPE
from protocol.keys import Signer
from protocol.predicates import EMPTY_LEDGER, RotatePredicate
from protocol.statements import build_statement
from tests.agent.disclosure.ward import REGISTRY
from tests.protocol import world

TEXT = b"Maria Lopez, 54, came with chest pain since this morning. " * 7
NEW = world.SECOND_AGENT


def rotation() -> bytes:
    header = find_first_place(REGISTRY.sites[world.SITE]).header(REGISTRY, world.SITE, EMPTY_LEDGER)
    return build_statement(RotatePredicate(header, "agent", NEW.public.der))


def put(outbox: Outbox, data: bytes) -> str:
    digest = envelope.decode(data).digest
    outbox.directory.mkdir(exist_ok=True)
    outbox.put_approved(digest, data)
    return digest


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


def test_text_does_not_leave_as_the_signatures_of_a_rotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, target = Outbox(tmp_path / "submissions"), tmp_path / "out.json"
    pieces = [TEXT[start : start + 96] for start in range(0, 384, 96)]
    signatures = [{"keyid": p[:32].hex(), "sig": base64.b64encode(p[32:]).decode()} for p in pieces]
    signatures.sort(key=lambda signature: signature["keyid"])
    payload = base64.b64encode(rotation()).decode()
    digest = put(
        outbox,
        canonical(
            {"payload": payload, "payloadType": STATEMENT_TYPE, "signatures": list(signatures)}
        ),
    )
    with pytest.raises(DisclosureError, match="must have three signatures"):
        export_it(outbox, digest, target)
    assert not target.exists()
    monkeypatch.setattr(departure, "_check_rotation", lambda opened, rotation, registry: None)
    assert base64.b64encode(TEXT[32:96]) in export_it(outbox, digest, target)


@pytest.mark.parametrize(
    "signers",
    [
        (world.AGENT, NEW),
        (world.AGENT, world.STEWARD),
        (world.AGENT, world.STRANGER, NEW),
        (world.AGENT, world.STEWARD, NEW, world.STRANGER),
    ],
)
def test_a_rotation_leaves_with_the_signatures_of_all_three_keys_alone(
    signers: tuple[Signer, ...], tmp_path: Path
) -> None:
    outbox = Outbox(tmp_path / "submissions")
    digest = put(outbox, envelope.sign(rotation(), signers))
    with pytest.raises(DisclosureError, match="must have three signatures"):
        export_it(outbox, digest, tmp_path / "out.json")
    put(outbox, envelope.sign(rotation(), (world.AGENT, world.STEWARD, NEW)))
    assert export_it(outbox, digest, tmp_path / "out.json")
