"""Bad inputs A and B: what an attacker, a proxy or a broken client may send in place of an envelope."""

import base64
import gzip
import io
import json
import tarfile
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import envelope
from protocol.canonical import canonical
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer, check_signature_form
from tests.protocol.world import AGENT, REGISTRY, STEWARD, refused, submission, submit

GOOD = submission()
KEYS = {signer.public.keyid: signer.public for signer in (AGENT, STEWARD)}


def envelope_json() -> dict[str, Any]:
    return dict(json.loads(GOOD))


def edited(**fields: Any) -> bytes:
    return canonical({**envelope_json(), **fields})


def resigned(payload_type: str, message: bytes) -> bytes:
    """The good envelope with signatures over `message` instead of its PAE."""
    signatures = [
        {"keyid": s.public.keyid, "sig": base64.b64encode(s.sign(message)).decode()}
        for s in (AGENT, STEWARD)
    ]
    return edited(
        payloadType=payload_type, signatures=sorted(signatures, key=lambda entry: entry["keyid"])
    )


def archive(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as packed:
            packed.writestr("submission.json", GOOD)
    elif kind == "tar":
        with tarfile.open(fileobj=buffer, mode="w") as packed_tar:
            packed_tar.addfile(tarfile.TarInfo("submission.json"))
    else:
        return gzip.compress(GOOD)
    return buffer.getvalue()


def first_signature(**fields: Any) -> bytes:
    first, second = envelope_json()["signatures"]
    return edited(signatures=[{**first, **fields}, second])


PAYLOAD = envelope_json()["payload"]
SIGNATURES = envelope_json()["signatures"]
ANY_SIG = base64.b64encode(b"\x01" * 64).decode()
NOT_TEXT = [1, True, [], ["x"], {}, {"a": {"b": 1}}]
TAIL = PAYLOAD.rstrip("=")

MALFORMED = {
    "A01-empty-file": b"",
    "A02-over-64-KiB": GOOD + b" " * 65_536,
    "A03-gzip-body": gzip.compress(b"0" * 1_000_000),
    "A04-zip": archive("zip"),
    "A04-tar": archive("tar"),
    "A04-gzip": archive("gzip"),
    "A05-byte-order-mark": b"\xef\xbb\xbf" + GOOD,
    "A06-utf-16": GOOD.decode().encode("utf-16"),
    "A06-utf-16-without-mark": GOOD.decode().encode("utf-16-le"),
    "A06-utf-32": GOOD.decode().encode("utf-32"),
    "A07-invalid-utf-8": GOOD.replace(b"payloadType", b"payload\xff\xfe"),
    "A07-overlong-form": GOOD.replace(b"payloadType", b"payload\xc1\x94ype"),
    "A08-trailing-byte": GOOD + b"\n",
    "A08-trailing-nul": GOOD + b"\x00",
    "A08-second-document": GOOD + GOOD,
    "A09-duplicate-payload-key": b'{"payload":"YQ==",' + GOOD[1:],
    "A09-duplicate-keyid": GOOD.replace(b'{"keyid":', b'{"keyid":"' + b"0" * 64 + b'","keyid":', 1),
    "A10-unknown-field": edited(note="x"),
    "A10-unknown-field-in-signature": first_signature(alg="none"),
    "A11-no-payload": canonical({k: v for k, v in envelope_json().items() if k != "payload"}),
    "A11-no-payloadType": canonical(
        {k: v for k, v in envelope_json().items() if k != "payloadType"}
    ),
    "A11-no-signatures": canonical({k: v for k, v in envelope_json().items() if k != "signatures"}),
    "A11-no-sig": edited(signatures=[{"keyid": SIGNATURES[0]["keyid"]}, SIGNATURES[1]]),
    **{f"A12-payload-is-{v!r}": edited(payload=v) for v in NOT_TEXT},
    **{f"A12-payloadType-is-{v!r}": edited(payloadType=v) for v in NOT_TEXT},
    **{
        f"A12-signatures-is-{v!r}": edited(signatures=v)
        for v in (1, True, "x", {}, [1], [[]], ["x"])
    },
    **{f"A12-keyid-is-{v!r}": first_signature(keyid=v) for v in NOT_TEXT},
    **{f"A12-sig-is-{v!r}": first_signature(sig=v) for v in NOT_TEXT},
    "A12-payload-is-null": GOOD.replace(f'"{PAYLOAD}"'.encode(), b"null"),
    "A13-array": b"[]",
    "A13-string": b'"x"',
    "A13-number": b"1",
    "A13-null": b"null",
    "A14-space": GOOD.replace(b":", b": ", 1),
    "A14-newline": GOOD.replace(b",", b",\n", 1),
    "A14-order": json.dumps(
        dict(reversed(envelope_json().items())), separators=(",", ":")
    ).encode(),
    "A14-escaped-name": GOOD.replace(b'"payload"', b'"\\u0070ayload"'),
    "A14-escaped-slash": GOOD.replace(b"application/vnd", b"application\\/vnd"),
    "A15-depth-100000": b"[" * 30_000 + b"]" * 30_000,
    "A15-depth-7": edited(payload=[[[[[[]]]]]]),
    "A16-5000-digits": edited(payload=1).replace(b":1,", b":" + b"9" * 5000 + b","),
    "A17-url-safe-alphabet": edited(payload="-_" + PAYLOAD[2:]),
    "A18-no-padding": edited(payload=base64.b64encode(b"a").decode().rstrip("=")),
    "A18-too-much-padding": edited(payload="YQ==="),
    "A19-tail-bits": edited(payload="YR=="),
    "A20-newline-in-base64": edited(payload=PAYLOAD[:4] + "A").replace(
        b'A","payloadType', b'\\n","payloadType'
    ),
    "A20-space-in-base64": edited(payload=PAYLOAD[:4] + " " + PAYLOAD[4:]),
    "A21-empty-payload": edited(payload=""),
    "A22-no-signature": edited(signatures=[]),
    "A22-5-signatures": edited(
        signatures=[{"keyid": f"{i:064x}", "sig": ANY_SIG} for i in range(5)]
    ),
    "A22-many-signatures": edited(
        signatures=[{"keyid": f"{i:064x}", "sig": ANY_SIG} for i in range(300)]
    ),
    "A22-100000-signatures": edited(signatures=[{"keyid": "0", "sig": ""}] * 100_000),
    "B23-unknown-payload-type": edited(payloadType="application/vnd.example+json"),
    "B24-application-json": edited(payloadType="application/json"),
    "B24-type-in-capitals": edited(payloadType=envelope.STATEMENT_TYPE.upper()),
    "B25-registry-type": resigned(envelope.REGISTRY_TYPE, b""),
    "B25-non-ascii-type": edited(payloadType=envelope.STATEMENT_TYPE + "é"),
    "B30-alg-field": first_signature(alg="ed25519"),
    "C53-uppercase-keyid": first_signature(keyid=SIGNATURES[0]["keyid"].upper()),
    "C53-truncated-keyid": first_signature(keyid=SIGNATURES[0]["keyid"][:63]),
    "C53-prefixed-keyid": first_signature(keyid="sha256:" + SIGNATURES[0]["keyid"]),
    "C42-same-key-twice": edited(signatures=[SIGNATURES[0], SIGNATURES[0]]),
    "A14-signatures-not-sorted": edited(signatures=SIGNATURES[::-1]),
}


def test_the_unbent_envelope_is_accepted():
    assert submit(GOOD).digest == envelope.decode(GOOD).digest


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in MALFORMED.items()])
def test_whatever_is_not_the_one_form_of_an_envelope_is_malformed(data: bytes):
    assert data != GOOD
    with refused(Code.MALFORMED):
        submit(data)


def lengthened(kind: bytes, payload: bytes) -> bytes:
    return b"DSSEv1 %d %b %d %b" % (len(kind) + 1, kind, len(payload), payload)


RAW = base64.b64decode(PAYLOAD)
KIND = envelope.STATEMENT_TYPE


def wrong_messages(payload: bytes) -> dict[str, bytes]:
    """Return messages that somebody may sign in place of the PAE of a payload."""
    return {
        "B25-type-of-registry-signed": envelope.pae(envelope.REGISTRY_TYPE, payload),
        "B25-wrong-length": lengthened(KIND.encode(), payload),
        "B25-length-prefix-trick": b"DSSEv1 4 test " + payload,
        "B26-no-pae": payload,
        "B27-other-payload": envelope.pae(KIND, payload + b" "),
        "B28-base64-text": envelope.pae(KIND, base64.b64encode(payload)),
    }


WRONGLY_SIGNED = wrong_messages(RAW)


@pytest.mark.parametrize(
    "message", [pytest.param(m, id=name) for name, m in WRONGLY_SIGNED.items()]
)
def test_a_signature_over_anything_but_the_pae_is_bad(message: bytes):
    assert envelope.decode(resigned(KIND, envelope.pae(KIND, RAW))).verify(KEYS) is None
    with refused(Code.BAD_SIGNATURE):
        submit(resigned(KIND, message))


def with_signature(signer: Signer, sig: bytes) -> bytes:
    """Return the good envelope with `sig` in place of one signature."""
    own = {"keyid": signer.public.keyid, "sig": base64.b64encode(sig).decode()}
    return edited(
        signatures=[own if entry["keyid"] == own["keyid"] else entry for entry in SIGNATURES]
    )


def der(r: bytes, s: bytes) -> bytes:
    """Return the ASN.1 form of a P-256 signature around any two byte strings."""
    body = b"\x02" + bytes([len(r)]) + r + b"\x02" + bytes([len(s)]) + s
    return b"\x30" + bytes([len(body)]) + body


LETTER = b"Erika Mustermann, born 12.08.1957, was admitted with chest pain. "
JWS = b"eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."

NO_SIGNATURES = {
    "B29-jws": JWS,
    "B29-pgp": b"-----BEGIN PGP SIGNATURE-----",
    "B29-cose": bytes.fromhex("d28443a10126a0"),
    "B32-high-s": der(b"\x01", b"\x00" + b"\xff" * 32),
    "B32-long-form": b"\x30\x81\x06\x02\x01\x01\x02\x01\x01",
    "B32-r-beyond-the-order": der(b"\x00" + b"\xff" * 32, b"\x01"),
    "B32-r-and-s-zero": der(b"\x00", b"\x00"),
    "B34-63-bytes": b"\x01" * 63,
    "B34-65-bytes": b"\x01" * 65,
    "B34-one-byte": b"\x00",
    "a-letter-of-36000-bytes": (LETTER * 600)[:36_000],
    "a-letter-of-100-bytes": (LETTER * 2)[:100],
    "a-letter-after-a-signature": AGENT.sign(RAW) + LETTER,
    "a-letter-after-a-der-signature": STEWARD.sign(RAW) + LETTER,
    "a-letter-as-der-of-72-bytes": der(b"\x00" + b"\xff" + LETTER[:31], LETTER[:33]),
    "a-letter-as-der-of-80-bytes": der(LETTER[:38], LETTER[:38]),
}


@pytest.mark.parametrize("sig", [pytest.param(sig, id=name) for name, sig in NO_SIGNATURES.items()])
@pytest.mark.parametrize("signer", [AGENT, STEWARD], ids=["agent", "steward"])
def test_what_cannot_be_a_signature_is_malformed_before_any_key_is_looked_up(
    sig: bytes, signer: Signer
):
    with refused(Code.MALFORMED):
        submit(with_signature(signer, sig))


IN_FORM = {
    "B34-all-zero": bytes(64),
    "64-bytes-of-a-letter": LETTER[:64],
    "a-letter-as-der-of-72-bytes": der(LETTER[:32], LETTER[:32]),
    "a-letter-in-s-of-a-der": der(b"\x01", LETTER[:32]),
}


@pytest.mark.parametrize("sig", [pytest.param(sig, id=name) for name, sig in IN_FORM.items()])
@pytest.mark.parametrize("signer", [AGENT, STEWARD], ids=["agent", "steward"])
def test_text_in_the_form_of_a_signature_does_not_verify(sig: bytes, signer: Signer):
    data = with_signature(signer, sig)
    assert envelope.decode(data)
    with refused(Code.BAD_SIGNATURE):
        submit(data)


def test_the_gate_never_builds_an_envelope_around_text():
    class Leak:
        public = AGENT.public

        def sign(self, message: bytes) -> bytes:
            return LETTER * 10

    with refused(Code.MALFORMED):
        envelope.sign(RAW, [Leak(), STEWARD])
    with refused(Code.MALFORMED):
        envelope.add_signature(envelope.sign(RAW, [STEWARD]), Leak())


@pytest.mark.parametrize("signer", [AGENT, STEWARD], ids=["ed25519", "p256"])
def test_every_honest_signature_is_in_form(signer: Signer):
    for number in range(200):
        check_signature_form(signer.sign(b"%d" % number))


def test_B34_an_empty_signature_is_malformed():
    with refused(Code.MALFORMED):
        submit(first_signature(sig=""))


def test_pae_is_the_published_example():
    # DSSE's protocol page gives this encoding for "hello world" of type http://example.com/HelloWorld.
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert envelope.pae("http://example.com/HelloWorld", b"hello world") == expected


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80])
def test_no_byte_of_an_envelope_can_change_unnoticed(mask: int):
    unnoticed = []
    for place in range(len(GOOD)):
        bent = bytearray(GOOD)
        bent[place] ^= mask
        try:
            envelope.decode(bytes(bent)).verify(KEYS)
        except ProtocolError:
            continue
        unnoticed.append(place)
    assert unnoticed == []


@given(st.binary(min_size=1, max_size=2000), st.sets(st.sampled_from([AGENT, STEWARD]), min_size=1))
def test_what_is_signed_comes_out_again(payload: bytes, signers: set[Signer]):
    data = envelope.sign(payload, sorted(signers, key=lambda signer: signer.public.keyid))
    opened = envelope.decode(data)
    opened.verify(KEYS)
    assert (opened.payload, opened.digest) == (payload, envelope.digest(payload))
    assert len(opened.signatures) == len(signers)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_malformed_and_nothing_worse(data: bytes):
    with refused(Code.MALFORMED):
        submit(data)


@given(st.integers(0, len(GOOD)), st.integers(0, len(GOOD)), st.binary(max_size=4))
def test_a_spliced_envelope_is_refused_before_the_payload_is_read(
    start: int, end: int, insert: bytes
):
    bent = GOOD[:start] + insert + GOOD[end:]
    if bent != GOOD:
        with pytest.raises(ProtocolError) as caught:
            submit(bent)
        assert caught.value.code in {Code.MALFORMED, Code.UNKNOWN_KEY, Code.BAD_SIGNATURE}


def test_the_steward_adds_a_signature_and_the_identity_stays():
    by_agent = envelope.sign(RAW, [AGENT])
    by_both = envelope.add_signature(by_agent, STEWARD)
    assert by_both == GOOD
    assert envelope.decode(by_both).digest == envelope.decode(by_agent).digest
    with refused(Code.MALFORMED):
        envelope.add_signature(by_both, STEWARD)


def test_sign_refuses_what_decode_would_refuse():
    with refused(Code.MALFORMED):
        envelope.sign(b"x" * 65_536, [AGENT])


def test_only_expected_keys_verify():
    strangers: dict[str, PublicKey] = {}
    with refused(Code.UNKNOWN_KEY):
        envelope.decode(GOOD).verify(strangers)
    assert REGISTRY.site_of(AGENT.public.keyid) is not None
