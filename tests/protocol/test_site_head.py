"""The signed head of a site: what it says is what the log's key signed, about this site, of this log."""

import pytest

from protocol.checkpoint import Checkpoint, sign_checkpoint
from protocol.errors import Code
from protocol.merkle import root
from protocol.predicates import LedgerHead
from protocol.refusal import Refusal, sign_refusal
from protocol.signed_note import sign_note
from protocol.site_head import SiteHead, sign_site_head, verify_site_head
from tests.protocol.world import ORIGIN, OTHER_SITE, RECEIPT, SITE, STRANGER, refused

HEAD = SiteHead(SITE, 2, 7, "ab" * 32, LedgerHead(12, "cd" * 32), frozen=True, log_size=345)
NOTE = sign_site_head(HEAD, ORIGIN, RECEIPT)


def signed(*lines: str) -> str:
    return sign_note("\n".join(lines) + "\n", ORIGIN, RECEIPT)


def lines_of(note: str) -> list[str]:
    return note.split("\n\n", maxsplit=1)[0].split("\n")


def test_a_restored_machine_reads_what_the_log_signed():
    assert verify_site_head(NOTE, SITE, RECEIPT.public, ORIGIN) == HEAD


def test_a_head_that_somebody_on_the_way_invented_is_refused():
    with refused(Code.BAD_SIGNATURE):
        verify_site_head(sign_site_head(HEAD, ORIGIN, STRANGER), SITE, RECEIPT.public, ORIGIN)


@pytest.mark.parametrize("number", range(1, 9))
def test_a_head_with_one_line_changed_on_the_way_is_refused(number: int):
    lines = lines_of(NOTE)
    changed = {1: OTHER_SITE, 4: "ef" * 32, 6: "ef" * 32, 7: "0"}.get(number, "9")
    with refused(Code.BAD_SIGNATURE):
        verify_site_head(
            NOTE.replace(f"\n{lines[number]}\n", f"\n{changed}\n", 1), SITE, RECEIPT.public, ORIGIN
        )


def test_the_head_of_another_site_is_refused():
    with refused(Code.BAD_SITE_HEAD):
        verify_site_head(NOTE, OTHER_SITE, RECEIPT.public, ORIGIN)


def test_the_head_of_another_deployment_is_refused():
    lines = ["intramural/site-head/v1 staging.example", *lines_of(NOTE)[1:]]
    other = sign_note("\n".join(lines) + "\n", ORIGIN, RECEIPT)
    with refused(Code.WRONG_ORIGIN):
        verify_site_head(other, SITE, RECEIPT.public, ORIGIN)


def test_other_notes_of_the_log_are_no_heads():
    checkpoint = sign_checkpoint(Checkpoint(ORIGIN, 0, root([])), RECEIPT)
    refusal = sign_refusal(Refusal("ab" * 32, Code.FORK, 5), ORIGIN, RECEIPT)
    for note in (checkpoint, refusal):
        with refused(Code.BAD_SITE_HEAD):
            verify_site_head(note, SITE, RECEIPT.public, ORIGIN)


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (2, "02"),
        (2, "-1"),
        (3, "7.0"),
        (4, "AB" * 32),
        (4, "none"),
        (5, str(2**53)),
        (6, "cd" * 31),
        (7, "true"),
        (8, ""),
    ],
)
def test_a_head_not_in_its_one_form_is_refused(number: int, line: str):
    lines = lines_of(NOTE)
    lines[number] = line
    with refused(Code.BAD_SITE_HEAD):
        verify_site_head(signed(*lines), SITE, RECEIPT.public, ORIGIN)


def test_a_head_with_a_line_more_or_endless_is_refused():
    for note in (signed(*lines_of(NOTE), "more"), signed(*lines_of(NOTE)[:-1]), NOTE + "x" * 5000):
        with refused(Code.BAD_SITE_HEAD):
            verify_site_head(note, SITE, RECEIPT.public, ORIGIN)
