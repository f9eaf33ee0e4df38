"""Answers that loop, repeat or attack: reading them takes no longer than reading any other of their length."""

import time

import pytest

from agent.metrics.choice import extract_option
from agent.metrics.exact import normalise
from agent.metrics.medec import parse_verdict
from agent.metrics.numbers import find_date, find_days, find_number

PIECES = (
    ("answer is" + " " * 20_000 + "x", 1),
    ("the answer is " + "clearly " * 4_000, 1),
    ("1", 20_000),
    ("111,", 6_000),
    ("1.", 10_000),
    ("= 1\n", 6_000),
    ("*", 20_000),
    ("\\boxed{", 4_000),
    ("1 week ", 4_000),
    ("1/1/2020 ", 3_000),
    ("jan ", 6_000),
    ("1 x 10 ^ ", 3_000),
    ("answer: ", 3_000),
    ("(", 20_000),
    ("\n", 20_000),
    ("A. ", 8_000),
    ("I choose ", 3_000),
    ("sentence ", 3_000),
    ("# ", 10_000),
    ("1/", 10_000),
    ("option ", 3_000),
    ("A is ", 5_000),
)


@pytest.mark.parametrize(
    "read",
    [lambda text: extract_option(text, ("yes", "no")), find_number, find_date, find_days, parse_verdict, normalise],
    ids=["letter", "number", "date", "days", "verdict", "words"],
)
def test_reading_is_fast_whatever_repeats(read):
    for piece, times in PIECES:
        before = time.process_time()
        read(piece * times)
        assert time.process_time() - before < 2, repr(piece[:20])  # about 0.05 s; the margin is for a busy machine
