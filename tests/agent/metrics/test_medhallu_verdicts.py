"""MedHallu: the verdict that an answer gives, by the definition's own labels."""

import time

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.catalog.parser_choice import choose_parser
from agent.io.packaged import shipped
from agent.metrics import extract

MEDHALLU = load_benchmark(shipped("benchmarks") / "medhallu")
PARSER = choose_parser(MEDHALLU)


def verdict(answer: str) -> str | None:
    found = extract(PARSER, answer)
    return found if isinstance(found, str) else None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("0", "0"),
        ("1", "1"),
        ("1.", "1"),
        ("**1**", "1"),
        ("Judgement: 1", "1"),
        ("0 (true)", "0"),
        ("1 - hallucinated", "1"),
        ("The answer is 0.", "0"),
        ("0 or 1", None),
        ("0, not 1", "0"),
        ("Not 1 but 0", "0"),
        ("1\n\nThe answer states that 0 of patients", "1"),
        ("0\n\nExplanation: the answer matches point 1 of the abstract", "0"),
        ("Your judgement (0 or 1): 1", "1"),
        ("1 because group 0 was", "1"),
        ("0.", "0"),
        ("1/1", None),
        ("[1]", "1"),
        ("<1>", "1"),
        ("Label: 0", "0"),
        ("1)", "1"),
        ("0.5", None),
        ("The answer is hallucinated (1).", "1"),
        ("I judge the answer as 1 (hallucinated) rather than 0 (true).", "1"),
        ("1 (not 0)", "1"),
        ("p < 0.05 so 1", "1"),
        ("1,000", None),
        ("10", None),
        ("type 1 diabetes is mentioned", None),
        ("0 = true", "0"),
        ("0 errors, so 0", "0"),
        ("0/1", None),
        ("0, 1", None),
        ("0 and 1", None),
        ("1 or 0?", None),
        ("1. The answer is 0.", None),
        ("0\n1", None),
        ("The answer is true.\n\n0", "0"),
        ("1 error was found", None),
        ("1 of the claims is wrong", None),
        ("0 patients died", None),
        ("The answer is 1 year.", None),
        ("1. It misreads the question.\n2. It denies.", None),
        ("1. It misreads the question.\n2. It denies.\n\nJudgement: 1", "1"),
        ("Judgement: 0 or 1", None),
        ("Your judgement (0 or 1):", None),
        ("Your judgement (0 or 1):\n1", "1"),
        ("**Judgement:** 1", "1"),
        ("**Judgement: 0**", "0"),
        ('{"judgement": 1}', "1"),
        ("\\boxed{0}", "0"),
        ("<answer>1</answer>", "1"),
        ("I cannot say.", None),
        ("", None),
        ("-1", None),
        ("2", None),
        ("01", None),
        ("1%", None),
        ("1-year survival", None),
        ("0-true", None),
        ("True (0)", "0"),
        ("Hallucinated = 1, true = 0", None),
        ("Verdict: 1 (hallucinated)\n\nThe study had 0 deaths.", "1"),
        ("Verdict: 1. On reflection, the verdict is 0.", None),
        ("Answer: 0 of 10 patients died", None),
        ("The answer is 0.5 mg", None),
        ("1: hallucinated", "1"),
        ("It is 0.", "0"),
        ("It's 1", "1"),
        ("Knowledge: group 1 had it.\nJudgement: 0", "0"),
        ("The p value was 1", None),
        (" 0 ", "0"),
        ("'1'", "1"),
        ("`0`", "0"),
        ("$1$", "1"),
        ("1 1", None),
        ("0 0", None),
        ("# 1", "1"),
        ("１", "1"),
        ("1 hallucinated", "1"),
        ("0 – true", "0"),
        ("1, since it is hallucinated, not 0.", "1"),
        ("The result is 1 in group 0.", None),
    ],
)
def test_the_verdict_that_an_answer_gives(answer, expected):
    assert verdict(answer) == expected


@pytest.mark.parametrize("given", ["0", "1"])
def test_the_cue_of_our_own_prompt_may_be_said_again(given):
    cue = (shipped("benchmarks") / "medhallu/prompt.txt").read_text("utf-8").splitlines()[-1]
    assert verdict(f"{cue} {given}") == given
    assert verdict(cue) is None


@pytest.mark.parametrize("part", ["answer is ", "\n1", "1 ", "true (", "it is 0 ", "answer: 0."])
def test_a_loop_costs_no_more_than_the_limit(part):
    before = time.monotonic()
    verdict(part * 20_000)
    assert time.monotonic() - before < 5
