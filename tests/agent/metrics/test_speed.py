"""Ten thousand answers are scored in seconds, not minutes."""

import time

import pytest

from agent.metrics import score
from agent.vocabulary import Instance, Message, Reference

ANSWERS = 10_000
REASONING = (
    "The ileum was resected, so the vitamin is not absorbed. Aspirin thins the blood and does not help here. "
    * 5
)


def instance(*golds: str, options: tuple[str, ...] = (), **extra: str) -> Instance:
    references = tuple(Reference(text, text in golds) for text in options or golds)
    return Instance("1", "1", (Message("user", "?"),), references, bool(options), extra)


@pytest.mark.parametrize(
    ("metric", "answer", "asked"),
    [
        (
            "exact_match",
            "{n}: " + REASONING + "\n\nThe answer is B.",
            instance("no", options=("yes", "no", "maybe")),
        ),
        ("f1_score", REASONING + "{n}", instance(REASONING)),
        ("rouge_l", REASONING + "{n}", instance(REASONING)),
        (
            "medcalc_bench_accuracy",
            REASONING + "The result is {n}.5 mL/min.",
            instance("5.5", category="lab", lower_limit="5", upper_limit="6"),
        ),
        ("medec_error_sentence_accuracy", "{n} " + REASONING, instance("5 The patient was seen.")),
        (
            "mimiciv_billing_code_f1",
            "I10, E11.9, S72.001A\n- J18.{n} - pneumonia\n" * 5,
            instance("I10,E119,N18.6"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value and " " not in value else "",
)
def test_ten_thousand_answers(metric, answer, asked):
    score(metric, answer.format(n=0), asked)
    before = time.process_time()
    for number in range(ANSWERS // 50):
        score(metric, answer.format(n=number), asked)
    assert (
        time.process_time() - before < 1
    )  # a fiftieth of them takes about 0.2 s at most; the margin is for a busy machine
