"""Answers of two small real models are read as two people read them, and no answer is invented."""

from collections import Counter

from tests.agent.reading.corpus import UNREAD, measure
from tests.agent.reading.small_models import (
    EXPLANATIONS,
    count_agreements,
    list_disagreements,
    list_invented,
    load_one_reader,
    load_small_models,
    write_agreement,
)

ANSWERS = load_small_models()
CLOSED_BENCHMARKS = {"pubmed_qa", "med_qa", "head_qa", "medcalc_bench", "medec"}


def test_both_models_answered_each_closed_benchmark():
    counts = Counter((answer.model, answer.benchmark) for answer in ANSWERS)
    assert len(ANSWERS) >= 150
    assert len({model for model, _ in counts}) == 2
    assert {benchmark for _, benchmark in counts} == CLOSED_BENCHMARKS
    assert len(counts) == 10
    assert min(counts.values()) >= 10


def test_nothing_is_read_in_an_answer_that_states_nothing():
    assert sum(answer.gold == UNREAD for answer in ANSWERS) >= 100
    assert list_invented(ANSWERS) == []


def test_each_disagreement_is_explained_and_nothing_else_is():
    differing = {answer.number for answer, _ in list_disagreements(ANSWERS)}
    assert differing == EXPLANATIONS.keys()


def test_the_table_has_a_row_for_each_model_and_benchmark_and_for_all():
    table = write_agreement(ANSWERS)
    assert len(table.splitlines()) == 2 + 10 + 1
    (tally,) = measure(ANSWERS, lambda _: "all").values()
    assert count_agreements(tally) == len(ANSWERS) - len(EXPLANATIONS)


def test_answers_that_list_options_until_they_are_cut_off_are_left_unread():
    """Two of these 75 were read before a rule for them was written."""
    answers = load_one_reader()
    assert len(answers) == 75
    assert list_invented(answers) == []
    assert list_disagreements(answers) == []


def test_a_reader_that_guesses_is_caught():
    guessed = measure(ANSWERS, lambda _: "all", reader=lambda _: "A")["all"]
    assert count_agreements(guessed) < len(ANSWERS) / 2
