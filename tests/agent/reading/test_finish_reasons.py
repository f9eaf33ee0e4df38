"""Finish reasons: the names of every server mean one of four reasons, and no name means two."""

import pytest

from agent.reading.finish_reasons import NAMES, find_finish_reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("refusal", "content_filter"),
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("eos_token", "stop"),
        ("STOP", "stop"),
        ("tool_calls", "stop"),
        ("other", "other"),
        ("banana", None),
        ("", None),
    ],
)
def test_names_of_servers(name: str, reason: str | None):
    assert find_finish_reason(name) == reason


def test_no_name_means_two_reasons():
    names = [name for reason_names in NAMES.values() for name in reason_names]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
