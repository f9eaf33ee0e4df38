"""ROUGE is Google's package to the last digit, in a tenth of its time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from agent.metrics import MetricUse, score
from agent.metrics.rouge import compute_f_measure
from agent.vocabulary import Reason, Unscored
from tests.agent.metrics.asked import free
from tests.agent.metrics.notes import NOTES, texts

KINDS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


@pytest.mark.parametrize("stemmer", [True, False])
def test_every_figure_is_the_packages_to_the_last_digit(stemmer):
    scorer = RougeScorer(KINDS, use_stemmer=stemmer)
    for gold, predicted in texts():
        for kind, measure in scorer.score(gold, predicted).items():
            assert compute_f_measure(gold, predicted, kind, stemmer=stemmer) == measure.fmeasure, (
                kind
            )


LINES = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
TEXT = st.lists(LINES, max_size=4).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(TEXT, TEXT)
def test_of_several_longest_sequences_the_packages_own_is_taken(gold, predicted):
    for kind, measure in RougeScorer(KINDS).score(gold, predicted).items():
        assert compute_f_measure(gold, predicted, kind, stemmer=False) == measure.fmeasure, kind


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_notes_would_take_seconds(kind):
    note = NOTES[0]
    compute_f_measure("warm up", "warm up", kind, stemmer=True)
    before = time.process_time()
    for i in range(100):
        compute_f_measure(note["reference"], f"{note['predicted']} {i}", kind, stemmer=True)
    assert time.process_time() - before < 3  # 0.1 to 1 s here; the package itself takes 6 to 8


def test_an_answer_without_line_breaks_cannot_hold_up_a_run():
    answer, gold = "pain and fever " * 1500, "fever and no pain today " * 600
    before = time.process_time()
    compute_f_measure(gold, answer, "rougeLsum", stemmer=True)
    assert time.process_time() - before < 3  # the package's table would have 13 million places


def test_rouge_stems_unless_told_otherwise():
    gold = free("the patient was coughing")
    assert score("rouge_1", "the patient coughs", gold) > score(
        MetricUse("rouge_1", {"stemmer": False}), "the patient coughs", gold
    )


def test_upstream_stems_whatever_the_benchmark_says():
    use, gold = MetricUse("rouge_1", {"stemmer": False}), free("the patient was coughing")
    assert score(use, "the patient coughs", gold, "helm") == score(
        "rouge_1", "the patient coughs", gold
    )


def test_rouge_never_takes_a_reference_marked_incorrect():
    instance = free("fever and cough", wrong=("healthy as ever",))
    assert score("rouge_1", "healthy as ever", instance) == 0.0
    assert score("rouge_1", "healthy as ever", instance, "helm") == 1.0


def test_rouge_counts_words_pairs_and_sequences():
    gold = free("a b c d")
    values = [
        score(MetricUse(name, {"stemmer": False}), "a b d c", gold)
        for name in ("rouge_1", "rouge_2", "rouge_l")
    ]
    assert values == [1.0, pytest.approx(1 / 3), 0.75]


@pytest.mark.parametrize("gold", ["발열", "Пациент жалуется на кашель 38", "—", ""])
def test_rouge_of_a_script_it_cannot_read_is_no_score(gold):
    for name in ("rouge_1", "rouge_2", "rouge_l"):
        assert score(name, gold or "x", free(gold)) == Unscored(Reason.NO_REFERENCE)
        assert (
            score(name, "der Patient hat 熱", free("Der Patient hat 熱")) == 1.0
        )  # most of it can be read


def test_rouge_2_of_a_single_word_is_no_score():
    assert score("rouge_1", "fever", free("fever")) == 1.0
    assert score("rouge_2", "fever", free("fever")) == Unscored(Reason.NO_REFERENCE)
    assert score("rouge_2", "fever", free("fever"), "helm") == 0.0


def test_rouge_counts_an_answer_in_another_script_as_no_overlap():
    assert score("rouge_1", "발열", free("fever")) == 0.0
