"""Exact, MEDEC and ROUGE scoring: the right rule, upstream's, and where there is no score."""

import subprocess
import sys

import pytest

from agent.errors import BenchmarkError
from agent.metrics import JUDGED, METRICS, MetricUse, check_available, parse_answer, score
from agent.metrics.medec import parse_verdict
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored


def free(*gold: str, wrong: tuple[str, ...] = ()) -> Instance:
    references = (*(Reference(g, True) for g in gold), *(Reference(w, False) for w in wrong))
    return Instance("1", "1", (Message("user", "?"),), references)


CHOICE = Instance(
    "1",
    "1",
    (Message("user", "?"),),
    (Reference("Aspirin", False), Reference("Heparin", True), Reference("Heparin", False)),
    multiple_choice=True,
)


@pytest.mark.parametrize(
    ("metric", "answer", "expected"),
    [
        ("exact_match", "Yes", 1.0),
        ("exact_match", "  Yes\n", 1.0),
        ("exact_match", "yes", 0.0),
        ("exact_match", "Yes.", 0.0),
        ("quasi_exact_match", "the YES.", 1.0),
        ("quasi_exact_match", "yes it is", 0.0),
        ("prefix_exact_match", "Yes, it is", 1.0),
        ("prefix_exact_match", "yes, it is", 0.0),
        ("quasi_prefix_exact_match", "yes, it is", 1.0),
        ("quasi_prefix_exact_match", "no, yes", 0.0),
    ],
)
@pytest.mark.parametrize("scoring", ["intramural", "helm"])
def test_free_text_matches_as_upstream_does(metric, answer, expected, scoring):
    assert score(metric, answer, free("Yes"), scoring) == expected


@pytest.mark.parametrize(
    ("metric", "gold", "answer", "ours", "helm"),
    [
        ("quasi_prefix_exact_match", "A", "anything", 0.0, 1.0),
        ("quasi_prefix_exact_match", "A", "A", 1.0, 1.0),
        ("quasi_prefix_exact_match", "A", "A patient", 0.0, 1.0),
        ("quasi_prefix_exact_match", "+", "anything", 0.0, 1.0),
        ("quasi_prefix_exact_match", "+", "+", 1.0, 1.0),
        ("quasi_prefix_exact_match", "no", "north", 0.0, 1.0),
        ("quasi_prefix_exact_match", "no", "No, it is not", 1.0, 1.0),
        ("quasi_prefix_exact_match", "5", "50 mg", 0.0, 1.0),
        ("quasi_prefix_exact_match", "5", "5% glucose", 0.0, 1.0),
        ("quasi_prefix_exact_match", "5", "5 mg", 1.0, 1.0),
        ("quasi_prefix_exact_match", "-5", "5 mmol/L", 0.0, 1.0),
        ("prefix_exact_match", "5", "50 mg", 0.0, 1.0),
        ("prefix_exact_match", "5", "5.2 mg", 0.0, 1.0),
        ("prefix_exact_match", "5", "5 mg", 1.0, 1.0),
        ("prefix_exact_match", "no", "north", 0.0, 1.0),
        ("prefix_exact_match", "no", "no-one", 0.0, 1.0),
        ("prefix_exact_match", "no", "no, because", 1.0, 1.0),
        ("quasi_exact_match", "A", "the", 0.0, 1.0),
        ("quasi_exact_match", "A", "a.", 1.0, 1.0),
        ("quasi_exact_match", "+", "-", 0.0, 1.0),
        ("quasi_exact_match", "1.5", "15", 0.0, 1.0),
        ("quasi_exact_match", "1,500", "1500", 1.0, 1.0),
        ("quasi_exact_match", "-5", "5", 0.0, 1.0),
        ("quasi_exact_match", "-5", "−5", 1.0, 0.0),
        ("quasi_exact_match", "5%", "5", 0.0, 1.0),
        ("quasi_exact_match", "5 %", "5%", 1.0, 1.0),
        ("quasi_exact_match", "<5", ">5", 0.0, 1.0),
        ("quasi_exact_match", "1/2", "12", 0.0, 1.0),
        ("quasi_exact_match", "O+", "O-", 0.0, 1.0),
        ("quasi_exact_match", "O-", "o-.", 1.0, 1.0),
        ("quasi_exact_match", "Hepatitis A", "hepatitis", 0.0, 1.0),
        ("quasi_exact_match", "hepatitis A virus", "Hepatitis a virus", 1.0, 1.0),
        ("quasi_exact_match", "COVID-19", "covid 19", 0.0, 0.0),
        ("quasi_exact_match", "COVID-19", "Covid19", 1.0, 1.0),
        ("quasi_exact_match", "5 mg", "“5 mg.”", 1.0, 0.0),
    ],
)
def test_numbers_signs_and_letters_are_no_mere_punctuation(metric, gold, answer, ours, helm):
    assert score(metric, answer, free(gold)) == ours
    assert score(metric, answer, free(gold), "helm") == helm


def test_any_of_several_right_answers_counts():
    assert score("exact_match", "No", free("Yes", "No")) == 1.0
    assert score("exact_match", "No", free("Yes", wrong=("No",))) == 0.0


@pytest.mark.parametrize(
    ("answer", "ours", "helm"),
    [
        ("B", 1.0, 1.0),
        (" B ", 1.0, 1.0),
        ("A", 0.0, 0.0),
        ("C", 1.0, 1.0),  # the same text as the right option
        ("b", 1.0, 0.0),
        ("B.", 1.0, 0.0),
        ("Answer: B", 1.0, 0.0),
        ("D", Unscored(Reason.UNPARSED), 0.0),
        ("I would rather not say", Unscored(Reason.UNPARSED), 0.0),
        ("", Unscored(Reason.EMPTY), 0.0),
        ("  \n", Unscored(Reason.EMPTY), 0.0),
    ],
)
def test_multiple_choice_by_our_rule_and_by_upstreams(answer, ours, helm):
    for name in ("exact_match", "quasi_exact_match"):
        assert score(name, answer, CHOICE) == ours
        assert score(name, answer, CHOICE, "helm") == helm


def test_what_an_answer_says_is_shown_as_a_letter():
    assert parse_answer("The answer is B.", CHOICE) == "B"
    assert parse_answer("dunno", CHOICE) == Unscored(Reason.UNPARSED)
    assert parse_answer(" text ", free("x")) == "text"
    assert parse_answer(" ", free("x")) == Unscored(Reason.EMPTY)


@pytest.mark.parametrize(
    "metric",
    [name for name, spec in METRICS.items() if spec.fn and name not in JUDGED and not name.startswith("medcalc")],
)
def test_no_reference_is_no_score(metric):
    assert score(metric, "Yes", free()) == Unscored(Reason.NO_REFERENCE)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("CORRECT", -1),
        ("CORRECT.", -1),
        ("**CORRECT**", -1),
        ("Correct", -1),
        ("correct.", -1),
        ("CORRECT - no errors found", -1),
        ("Answer: CORRECT", -1),
        ("CORRECT\n\nAll sentences are consistent.", -1),
        ("The note is correct.", -1),
        ("10 Patient's symptoms are suspected to be due to Schistosoma mansoni.", 10),
        ("10. Patient's symptoms", 10),
        ("10: Patient's symptoms", 10),
        ("10) Patient's symptoms", 10),
        ("[10] Patient's symptoms", 10),
        ("**10** Patient's symptoms", 10),
        ("10", 10),
        ("0 The patient", 0),
        ("Sentence 10: Patient's symptoms", 10),
        ("Sentence ID: 10", 10),
        ("Answer: 10 Patient's symptoms", 10),
        ("7 120/70 mm", 7),
        ("3-year-old boy", None),
        ("120/70 mm Hg", None),
        ("7.5 mg of warfarin", None),
        ("Correct the dose to 5 mg.", None),
        ("Corrected: the dose", None),
        ("CORRECTED SENTENCE: 5 mg", None),
        ("There seems to be an error.", None),
        ("I cannot help with that.", None),
        ("", None),
        ("0 errors found.", -1),
        ("No errors found.", -1),
        ("There are no errors in the note.", -1),
        ("The answer is CORRECT.", -1),
        ("No errors found except in sentence 4.", None),
        ("1 error found.", None),
        ("1 error: sentence 5 says 5 mg.", 5),
        ("The error is in sentence 5.", 5),
        ("There is no error in sentence 5.", None),
        ("2 sentences look wrong", None),
        ("2 sentences look wrong: sentence 3 and sentence 5", None),
        ("Sentence 3 and 5", None),
        ("3, 5", None),
        ("Sentence 3 is correct.", None),
        ("Sentence 3 is fine; sentence 5 is wrong.", None),
        ("10 is not wrong.", None),
        ("7 days ago the patient came.", None),
        ("10 mg of warfarin", None),
        ("7 Lithium is prescribed.", 7),
        ("The note is correct except sentence 4", 4),
        ("The note is correct apart from sentence 6, which should say 5 mg.", 6),
        ("CORRECT, except sentence 4", 4),
        ("The note is correct, but the dose is too high.", None),
        ("There are no errors in this note.", -1),
        ("All sentences are correct", -1),
        ("All 12 sentences in the note are accurate.", -1),
        ("Everything is correct.", -1),
        ("The note contains no errors.", -1),
        ("All sentences are correct except sentence 5", 5),
        ("All sentences are correct. However, sentence 5 is wrong.", 5),
        ("All sentences are correct but 5", None),
        ("Everything is correct, except for the dose", None),
        ("Not all sentences are correct", None),
        ("INCORRECT\n10 The dose is 5 mg.", 10),
        ("The incorrect sentence is:\n10 The dose is 5 mg.", 10),
        ("Based on the note, the error is:\n\n10 The dose is 5 mg.", 10),
        ("Line 10: The dose is 5 mg.", 10),
        ("<10> The dose is 5 mg.", 10),
        ("INCORRECT\n3 The dose is 5 mg.\n4 He is well.", None),
        ("The incorrect sentence is 7 days old", None),
        ("The error is 5 mg", None),
        # There is an error, in a sentence that is not named.
        ("INCORRECT", -2),
        ("The note is not correct.", -2),
        ("The note contains an error.", -2),
        ("There is an error in the note.", -2),
        ("Sentences 9 and 10 are wrong", -2),
        ("Sentences 9 and 10 are correct", None),
        ("The note contains an error. Sentence 5 is wrong.", 5),
        ("INCORRECT\n\nThe dose is 5 mg.", None),
        ("CORRECT the dose to 5 mg", None),
        ("CORRECT\n5 The dose is 5 mg.", None),
        ("0 A man of 53.\n1 He has a cough.\n2 His CT is normal.", None),  # the note said again
        ("5 The dose is 5 mg.\n\n1. It was 50 mg.\n2. That is high.", 5),
    ],
)
def test_medec_verdicts_in_the_ways_models_write_them(answer, verdict):
    assert parse_verdict(answer) == verdict


@pytest.mark.parametrize(
    ("gold", "answer", "flag", "sentence", "helm_flag", "helm_sentence"),
    [
        ("CORRECT", "CORRECT", 1.0, 1.0, 1.0, 1.0),
        ("CORRECT", "CORRECT.", 1.0, 1.0, 0.0, 0.0),
        ("CORRECT", "3 The dose is 5 mg.", 0.0, 0.0, 0.0, 0.0),
        ("3 The dose is 5 mg.", "3 The dose is 5 mg.", 1.0, 1.0, 1.0, 0.0),
        ("3 The dose is 5 mg.", "3", 1.0, 1.0, 1.0, 0.0),
        ("3 The dose is 5 mg.", "4 Another one.", 1.0, 0.0, 1.0, 0.0),
        ("3 The dose is 5 mg.", "CORRECT", 0.0, 0.0, 0.0, 0.0),
        ("3", "3 The dose", 1.0, 1.0, 1.0, 1.0),
        ("3 The dose.", "The note contains an error.", 1.0, Unscored(Reason.UNPARSED), 1.0, 0.0),
        ("CORRECT", "The note contains an error.", 0.0, Unscored(Reason.UNPARSED), 0.0, 0.0),
        ("3 The dose.", "no idea", Unscored(Reason.UNPARSED), Unscored(Reason.UNPARSED), 1.0, 0.0),
    ],
)
def test_medec_scores_by_our_rule_and_by_upstreams(gold, answer, flag, sentence, helm_flag, helm_sentence):
    instance = free(gold)
    assert score("medec_error_flag_accuracy", answer, instance) == flag
    assert score("medec_error_sentence_accuracy", answer, instance) == sentence
    assert score("medec_error_flag_accuracy", answer, instance, "helm") == helm_flag
    assert score("medec_error_sentence_accuracy", answer, instance, "helm") == helm_sentence


def test_rouge_stems_unless_told_otherwise():
    gold = free("the patient was coughing")
    assert score("rouge_1", "the patient coughs", gold) > score(
        MetricUse("rouge_1", {"stemmer": False}), "the patient coughs", gold
    )


def test_upstream_stems_whatever_the_benchmark_says():
    use, gold = MetricUse("rouge_1", {"stemmer": False}), free("the patient was coughing")
    assert score(use, "the patient coughs", gold, "helm") == score("rouge_1", "the patient coughs", gold)


def test_rouge_never_takes_a_reference_marked_incorrect():
    instance = free("fever and cough", wrong=("healthy as ever",))
    assert score("rouge_1", "healthy as ever", instance) == 0.0
    assert score("rouge_1", "healthy as ever", instance, "helm") == 1.0


def test_rouge_counts_words_pairs_and_sequences():
    gold = free("a b c d")
    values = [score(MetricUse(name, {"stemmer": False}), "a b d c", gold) for name in ("rouge_1", "rouge_2", "rouge_l")]
    assert values == [1.0, pytest.approx(1 / 3), 0.75]


@pytest.mark.parametrize("gold", ["발열", "Пациент жалуется на кашель 38", "—", ""])
def test_rouge_of_a_script_it_cannot_read_is_no_score(gold):
    for name in ("rouge_1", "rouge_2", "rouge_l"):
        assert score(name, gold or "x", free(gold)) == Unscored(Reason.NO_REFERENCE)
        assert score(name, "der Patient hat 熱", free("Der Patient hat 熱")) == 1.0  # most of it can be read


def test_rouge_2_of_a_single_word_is_no_score():
    assert score("rouge_1", "fever", free("fever")) == 1.0
    assert score("rouge_2", "fever", free("fever")) == Unscored(Reason.NO_REFERENCE)
    assert score("rouge_2", "fever", free("fever"), "helm") == 0.0


def test_rouge_counts_an_answer_in_another_script_as_no_overlap():
    assert score("rouge_1", "발열", free("fever")) == 0.0


def test_a_metric_that_nobody_knows_is_refused_by_name_before_anything_is_asked():
    with pytest.raises(BenchmarkError, match="bleu_1"):
        check_available("own", (MetricUse("exact_match"), MetricUse("bleu_1")))
    with pytest.raises(BenchmarkError, match="bleu_1"):
        score("bleu_1", "x", free("x"))
    check_available("own", (MetricUse("exact_match"),))


def test_an_answer_for_a_jury_is_kept_and_has_no_score():
    check_available("own", (MetricUse("jury_score"),))
    assert {"jury_score"} == JUDGED
    assert score("jury_score", "rest", free("rest")) == Unscored(Reason.NOT_JUDGED)
    assert score("jury_score", "rest", free("rest"), "helm") == Unscored(Reason.NOT_JUDGED)
    assert score("jury_score", " ", free("rest")) == Unscored(Reason.EMPTY)


def test_every_metric_says_what_it_is():
    for name, spec in METRICS.items():
        assert spec.name == name
        assert spec.low < spec.high
        assert spec.doc.endswith(".")


def test_importing_the_metrics_is_cheap():
    code = (
        "import sys, agent.metrics, agent.datasets.load, agent.catalog.run_entries, agent.catalog.deployments;"
        "print([m for m in ('numpy', 'pydantic', 'rouge_score', 'nltk', 'pyhocon', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
