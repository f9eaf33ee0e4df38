"""Refusals: somebody on the way, or a server with another key, would like a site to believe that it was refused."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import merkle
from protocol.checkpoint import Checkpoint, LogKey, sign_checkpoint, verify_checkpoint
from protocol.errors import Code, ProtocolError
from protocol.refusal import FIRST_LINE, MAX_REFUSAL, Refusal, sign_refusal, verify_refusal
from protocol.signed_note import sign_note
from tests.protocol.world import (
    AGENT,
    LOG,
    LOG_KEYS,
    ORIGIN,
    RECEIPT,
    ROOT,
    STEWARD,
    STRANGER,
    refused,
)

DIGEST, OTHER_DIGEST = "ab" * 32, "cd" * 32
REFUSAL = Refusal(DIGEST, Code.FORK, 5)
NOTE = sign_refusal(REFUSAL, ORIGIN, RECEIPT)
TEXT = NOTE.partition("\n\n")[0]


def check(note: str) -> Refusal:
    return verify_refusal(note, DIGEST, RECEIPT.public, ORIGIN)


def test_a_refusal_comes_out_as_it_went_in():
    assert check(NOTE) == REFUSAL
    assert f"{FIRST_LINE} {ORIGIN}\n{DIGEST}\nfork\n5" == TEXT


@given(
    st.sampled_from(Code),
    st.integers(0, 2**53 - 1),
    st.binary(min_size=32, max_size=32).map(bytes.hex),
)
def test_every_refusal_comes_out_as_it_went_in(code: Code, log_size: int, digest: str):
    refusal = Refusal(digest, code, log_size)
    assert (
        verify_refusal(sign_refusal(refusal, ORIGIN, RECEIPT), digest, RECEIPT.public, ORIGIN)
        == refusal
    )


def signed_text(*lines: str) -> str:
    """Return a note of these lines that the receipt key did sign."""
    return sign_note("".join(f"{line}\n" for line in lines), ORIGIN, RECEIPT)


LINES = (f"{FIRST_LINE} {ORIGIN}", DIGEST, "fork", "5")
HEAD = Checkpoint(ORIGIN, 5, b"\x05" * 32)

NOTES: dict[str, tuple[str, Code]] = {
    "forged-by-a-stranger": (sign_refusal(REFUSAL, ORIGIN, STRANGER), Code.BAD_SIGNATURE),
    "forged-by-a-site": (sign_refusal(REFUSAL, ORIGIN, AGENT), Code.BAD_SIGNATURE),
    "forged-by-the-log-key": (sign_refusal(REFUSAL, ORIGIN, LOG), Code.BAD_SIGNATURE),
    "forged-by-a-root-key": (sign_refusal(REFUSAL, ORIGIN, ROOT), Code.BAD_SIGNATURE),
    "other-code-under-the-signature": (
        NOTE.replace("\nfork\n", "\nwrong_prev\n"),
        Code.BAD_SIGNATURE,
    ),
    "other-size-under-the-signature": (NOTE.replace("\n5\n", "\n6\n"), Code.BAD_SIGNATURE),
    "other-digest-under-the-signature": (NOTE.replace(DIGEST, OTHER_DIGEST), Code.BAD_SIGNATURE),
    "of-another-payload": (
        sign_refusal(replace(REFUSAL, digest=OTHER_DIGEST), ORIGIN, RECEIPT),
        Code.BAD_REFUSAL,
    ),
    "of-another-board": (
        sign_refusal(REFUSAL, "staging.board.example", RECEIPT).replace(
            "— staging.board.example", f"— {ORIGIN}"
        ),
        Code.BAD_SIGNATURE,
    ),
    "of-another-board-by-the-same-key": (
        signed_text(f"{FIRST_LINE} staging.board.example", *LINES[1:]),
        Code.WRONG_ORIGIN,
    ),
    "of-another-version": (
        signed_text(LINES[0].replace("v1", "v2"), *LINES[1:]),
        Code.WRONG_ORIGIN,
    ),
    "unknown-code": (signed_text(*LINES[:2], "too_late", LINES[3]), Code.BAD_REFUSAL),
    "text-as-code": (signed_text(*LINES[:2], "Erika Mustermann", LINES[3]), Code.BAD_REFUSAL),
    "code-in-capitals": (signed_text(*LINES[:2], "FORK", LINES[3]), Code.BAD_REFUSAL),
    "digest-in-capitals": (signed_text(LINES[0], DIGEST.upper(), *LINES[2:]), Code.BAD_REFUSAL),
    "digest-too-short": (signed_text(LINES[0], DIGEST[:63], *LINES[2:]), Code.BAD_REFUSAL),
    "size-with-a-leading-zero": (signed_text(*LINES[:3], "05"), Code.BAD_REFUSAL),
    "size-beyond-2-to-53": (signed_text(*LINES[:3], str(2**53)), Code.BAD_REFUSAL),
    "negative-size": (signed_text(*LINES[:3], "-1"), Code.BAD_REFUSAL),
    "line-too-many": (signed_text(*LINES, "note"), Code.BAD_REFUSAL),
    "line-too-few": (signed_text(*LINES[:3]), Code.BAD_REFUSAL),
    "unsigned": (f"{TEXT}\n", Code.BAD_REFUSAL),
    "without-its-signature-line": (f"{TEXT}\n\n", Code.BAD_REFUSAL),
    "no-final-newline": (NOTE.removesuffix("\n"), Code.BAD_REFUSAL),
    "carriage-returns": (NOTE.replace("\n", "\r\n"), Code.BAD_REFUSAL),
    "too-long": (f"{NOTE}— witness {'A' * MAX_REFUSAL}\n", Code.BAD_REFUSAL),
    "a-checkpoint": (sign_checkpoint(HEAD, LOG), Code.BAD_REFUSAL),
    "a-login-page": ("<html>\n\nPlease log in\n</html>\n", Code.BAD_REFUSAL),
    "a-409-of-a-proxy": ('{"error":"fork"}', Code.BAD_REFUSAL),
    "empty": ("", Code.BAD_REFUSAL),
}


@pytest.mark.parametrize(
    ("note", "code"), [pytest.param(*case, id=name) for name, case in NOTES.items()]
)
def test_a_refusal_that_the_log_never_signed_about_this_payload_is_not_believed(
    note: str, code: Code
):
    assert note != NOTE
    with refused(code):
        check(note)


def test_signatures_of_keys_we_do_not_know_are_ignored():
    assert check(f"{NOTE}— witness {'A' * 100}\n") == REFUSAL


def test_a_refusal_is_no_checkpoint():
    with refused(Code.BAD_CHECKPOINT):
        verify_checkpoint(NOTE, LOG_KEYS, ORIGIN)
    with refused(Code.WRONG_ORIGIN):  # cut to a checkpoint's three lines
        verify_checkpoint(signed_text(*LINES[:3]), (LogKey(RECEIPT.public),), ORIGIN)


def test_no_checkpoint_of_any_size_is_a_refusal():
    for size, root in ((0, merkle.root([])), (5, b"\x05" * 32), (2**53 - 1, bytes(32))):
        with refused(Code.BAD_REFUSAL):
            check(sign_checkpoint(Checkpoint(ORIGIN, size, root), LOG))


def test_no_refusal_is_signed_that_could_not_be_read_back():
    with refused(Code.BAD_REFUSAL):
        sign_refusal(replace(REFUSAL, digest="patient"), ORIGIN, RECEIPT)
    with refused(Code.BAD_REFUSAL):
        sign_refusal(replace(REFUSAL, log_size=-1), ORIGIN, RECEIPT)
    with pytest.raises(ValueError, match="Ed25519"):
        sign_refusal(REFUSAL, ORIGIN, STEWARD)


@given(st.integers(0, len(NOTE.encode()) - 1), st.integers(1, 255))
def test_no_byte_of_a_refusal_can_change_unnoticed(place: int, mask: int):
    bent = bytearray(NOTE.encode())
    bent[place] ^= mask
    with pytest.raises(ProtocolError):
        check(bent.decode("utf-8", "replace"))
