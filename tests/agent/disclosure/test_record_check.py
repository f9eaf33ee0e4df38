"""Heads that somebody kept and types in again: other texts are no heads, and no errors either."""

import pytest

from agent.disclosure.audit_report import parse_audit_head
from agent.disclosure.ledger_report import parse_head
from agent.disclosure.record_check import is_link, split_head

LINK = "0a" * 32


def test_a_head_is_split_into_its_number_and_link():
    assert split_head(f" 12:{LINK}\n") == (12, LINK)
    assert parse_head(f"0:{LINK}") is not None
    assert parse_audit_head(f"0:{LINK}") is None  # events are numbered from 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        LINK,
        f":{LINK}",
        f"-1:{LINK}",
        f"\u0661:{LINK}",
        "1:",
        f"1:{LINK[:-1]}",
        f"1:{LINK.upper()}",
    ],
)
def test_other_texts_are_no_heads(text: str):
    assert split_head(text) is None


def test_a_number_of_thousands_of_digits_is_no_head_and_no_error():
    for parse in (split_head, parse_head, parse_audit_head):
        assert parse("9" * 5000 + ":" + LINK) is None


def test_only_a_text_of_hex_digits_is_a_link():
    assert is_link(LINK)
    assert not is_link(12)
    assert not is_link(LINK + "0a")
