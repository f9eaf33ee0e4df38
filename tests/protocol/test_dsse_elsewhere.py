"""Our envelopes are DSSE: another implementation reads and verifies them, and refuses what was bent."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from protocol import envelope
from protocol.errors import ProtocolError
from protocol.keys import PublicKey
from protocol.registry import build_registry
from tests.protocol.world import AGENT, REGISTRY, ROOT, STEWARD, submission, submit


def key_of(public: PublicKey) -> SSlibKey:
    return SSlibKey.from_crypto(load_der_public_key(public.der), keyid=public.keyid)


SITE_KEYS = [key_of(AGENT.public), key_of(STEWARD.public)]


def test_a_submission_verifies_with_securesystemslib():
    data = submission()
    read = Envelope.from_dict(json.loads(data))
    assert set(read.verify(SITE_KEYS, 2)) == {AGENT.public.keyid, STEWARD.public.keyid}
    assert read.pae() == envelope.decode(data).pae
    assert read.payload == envelope.decode(data).payload


def test_a_registry_verifies_with_securesystemslib():
    data = envelope.sign(build_registry(REGISTRY), [ROOT], envelope.REGISTRY_TYPE)
    assert Envelope.from_dict(json.loads(data)).verify([key_of(ROOT.public)], 1)


def flip_payload(fields: dict[str, Any]) -> None:
    payload = base64.b64decode(fields["payload"])
    fields["payload"] = base64.b64encode(payload.replace(b"complete", b"completf")).decode()


def flip_signature(fields: dict[str, Any]) -> None:
    first = fields["signatures"][0]
    raw = bytearray(base64.b64decode(first["sig"]))
    raw[-1] ^= 1
    first["sig"] = base64.b64encode(bytes(raw)).decode()


def exchange_signatures(fields: dict[str, Any]) -> None:
    one, other = fields["signatures"]
    one["sig"], other["sig"] = other["sig"], one["sig"]


@pytest.mark.parametrize(
    "bend",
    [
        pytest.param(flip_payload, id="another-payload"),
        pytest.param(flip_signature, id="another-signature"),
        pytest.param(exchange_signatures, id="signatures-exchanged"),
        pytest.param(
            lambda fields: fields.update(payloadType="application/json"), id="another-type"
        ),
        pytest.param(lambda fields: fields["signatures"].pop(), id="one-signature"),
    ],
)
def test_both_implementations_refuse_a_bent_submission(bend: Callable[[dict[str, Any]], object]):
    fields = json.loads(submission())
    bend(fields)
    ours = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(VerificationError):
        Envelope.from_dict(fields).verify(SITE_KEYS, 2)
    with pytest.raises(ProtocolError):
        submit(ours)
