"""Public test vectors, each against our rules; where those are stricter than a vector, the reason stands beside it.

Where the files come from and under which licences: README.md in each folder of tests/data/vectors.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from protocol.canonical import canonical, parse, parse_canonical
from protocol.errors import Code, ProtocolError
from protocol.keys import ED25519_ORDER, P256_ORDER, PublicKey, load_public
from protocol.merkle import verify_consistency, verify_inclusion
from tests.protocol.test_keys_and_signatures import ED25519_DER
from tests.protocol.world import refused

FOLDER = Path(__file__).parents[1] / "data/vectors"


def read(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / name).read_text("utf-8"))
    return found


def is_taken(key: PublicKey, signature: str, message: str) -> bool:
    return refusal(lambda: key.verify(bytes.fromhex(signature), bytes.fromhex(message))) is None


def refusal(work: Callable[[], object]) -> Code | None:
    """Return the code that some work is refused with, None if it is not."""
    try:
        work()
    except ProtocolError as error:
        return error.code
    return None


@pytest.mark.parametrize(
    "test", read("wycheproof/ed25519.json"), ids=lambda test: f"{test['id']}-{test['result']}"
)
def test_wycheproof_ed25519(test: dict[str, Any]) -> None:
    key = load_public(ED25519_DER + bytes.fromhex(test["key"]))
    assert is_taken(key, test["sig"], test["msg"]) == (test["result"] == "valid")


def has_high_s(signature: str) -> bool:
    return decode_dss_signature(bytes.fromhex(signature))[1] > P256_ORDER // 2


@pytest.mark.parametrize(
    "test",
    read("wycheproof/ecdsa_p256_sha256.json"),
    ids=lambda test: f"{test['id']}-{test['result']}",
)
def test_wycheproof_p256(test: dict[str, Any]) -> None:
    key = load_public(bytes.fromhex(test["key"]))
    if test["result"] == "valid" and has_high_s(test["sig"]):
        # Stricter: of the two signatures (r, s) and (r, n - s) of one message, only that with the low s is taken (1.6).
        assert not is_taken(key, test["sig"], test["msg"])
        r, s = decode_dss_signature(bytes.fromhex(test["sig"]))
        assert is_taken(key, encode_dss_signature(r, P256_ORDER - s).hex(), test["msg"])
        return
    assert is_taken(key, test["sig"], test["msg"]) == (test["result"] == "valid")


SPECCHECK = {
    # Stricter than RFC 8032, which takes keys of small and of mixed order.
    **dict.fromkeys((0, 1), "a key of small order"),
    **dict.fromkeys((2, 3, 4, 5), "a key of mixed order"),
    **dict.fromkeys((6, 7), "S is not below the order"),
    **dict.fromkeys((8, 9), "a key of mixed order, and R not canonical"),
    **dict.fromkeys((10, 11), "a key that is not canonical"),
}


@pytest.mark.parametrize("number", SPECCHECK)
def test_every_case_that_implementations_differ_on_is_refused(number: int) -> None:
    case = read("speccheck/cases.json")[number]
    raw, signature = bytes.fromhex(case["pub_key"]), bytes.fromhex(case["signature"])
    if "key" in SPECCHECK[number]:
        with refused(Code.WEAK_KEY):
            load_public(ED25519_DER + raw)
        return
    key = load_public(ED25519_DER + raw)
    assert not is_taken(key, case["signature"], case["message"])
    assert int.from_bytes(signature[32:], "little") >= ED25519_ORDER


def hashes(values: list[str] | None) -> list[bytes]:
    return [base64.b64decode(value) for value in values or []]


@pytest.mark.parametrize("test", read("merkle/inclusion.json"), ids=lambda test: test["name"])
def test_inclusion_proofs(test: dict[str, Any]) -> None:
    leaf, root = hashes([test["leafHash"], test["root"]])
    arguments = (leaf, test["leafIdx"], test["treeSize"], hashes(test["proof"]), root)
    if test["wantErr"]:
        with refused(Code.BAD_PROOF):
            verify_inclusion(*arguments)
    else:
        verify_inclusion(*arguments)


@pytest.mark.parametrize("test", read("merkle/consistency.json"), ids=lambda test: test["name"])
def test_consistency_proofs(test: dict[str, Any]) -> None:
    old_root, new_root = hashes([test["root1"], test["root2"]])
    arguments = (test["size1"], test["size2"], hashes(test["proof"]), old_root, new_root)
    # Stricter: of two trees of one size a verifier may compare the roots alone; ours are 32 bytes each all the same.
    is_of_no_hashes = len(old_root) != 32
    if test["wantErr"] or is_of_no_hashes:
        with refused(Code.BAD_PROOF):
            verify_consistency(*arguments)
    else:
        verify_consistency(*arguments)


RFC8785_REFUSED = {
    "arrays": (Code.SCHEMA, "null is no value of the protocol"),
    "structures": (Code.BAD_NUMBER, "56.0 is written as a fraction"),
    "unicode": (None, "text beyond ASCII is escaped by us and written as UTF-8 by RFC 8785"),
    "french": (Code.BAD_TEXT, "names beyond ASCII"),
    "values": (Code.BAD_NUMBER, "fractions and exponents"),
    "weird": (Code.BAD_TEXT, "names beyond ASCII, and control characters"),
}


@pytest.mark.parametrize("case", read("rfc8785/cases.json"), ids=lambda case: case["name"])
def test_rfc_8785_gives_the_same_bytes_or_the_value_is_none_of_ours(case: dict[str, Any]) -> None:
    data, expected = base64.b64decode(case["input"]), base64.b64decode(case["output"])
    code, _reason = RFC8785_REFUSED[case["name"]]
    if code is not None:
        with refused(code):
            parse(data)
        return
    written = canonical(parse(data))
    assert (
        written == json.dumps(json.loads(expected), separators=(",", ":")).encode()
    )  # the order of names is the same
    assert parse_canonical(written) == json.loads(expected)


@pytest.mark.parametrize(
    "case", read("json_test_suite/parsing.json"), ids=lambda case: case["name"]
)
def test_json_that_is_none_is_refused_and_json_is_read_as_it_is(case: dict[str, Any]) -> None:
    data = base64.b64decode(case["data"])
    code = refusal(lambda: parse(data))
    if case["name"].startswith("y_"):
        # Stricter: a value that the protocol has no use for is refused, each kind under its own code.
        assert code is None or code in STRICTER
    if code is None:
        assert not case["name"].startswith("n_"), "not JSON, and yet read"
        assert parse(data) == json.loads(data)


STRICTER = {
    Code.BAD_NUMBER,  # fractions, exponents, -0, and integers of more than 2^53 - 1
    Code.BAD_TEXT,  # control characters; names that are empty or not ASCII
    Code.DUPLICATE_NAME,
    Code.SCHEMA,  # null
}


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b'[{"":' * 50_000], ids=["arrays", "arrays-and-objects"]
)
def test_a_file_that_only_opens_is_refused_before_it_is_parsed(data: bytes) -> None:
    with refused(Code.TOO_DEEP):
        parse(data)


def test_every_folder_says_where_it_comes_from_and_under_which_licence() -> None:
    folders = [path for path in FOLDER.iterdir() if path.is_dir()]
    assert len(folders) == 5
    for folder in folders:
        text = (folder / "README.md").read_text("utf-8")
        assert "Copyright" in text
        assert "commit" in text
        assert "Apache License 2.0" in text or "MIT License" in text
