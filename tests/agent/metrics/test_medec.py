"""MEDEC's verdicts in the ways models write them, scored by our rule and by upstream's."""

import pytest

from agent.metrics import medec, score
from agent.reading.note_verdicts import NO_ERROR, SOME_ERROR, find_verdict
from agent.vocabulary import Reason, Unscored
from tests.agent.metrics.asked import free


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
        ("There seems to be an error.", -2),
        ("I cannot help with that.", None),
        ("", None),
        ("0 errors found.", -1),
        ("No errors found.", -1),
        ("There are no errors in the note.", -1),
        ("The answer is CORRECT.", -1),
        ("No errors found except in sentence 4.", None),
        ("1 error found.", -2),
        ("1 error: sentence 5 says 5 mg.", 5),
        ("The error is in sentence 5.", 5),
        ("There is no error in sentence 5.", None),
        ("2 sentences look wrong", -2),
        ("2 sentences look wrong: sentence 3 and sentence 5", -2),
        ("Sentence 3 and 5", None),
        ("3, 5", None),
        ("Sentence 3 is correct.", None),
        ("Sentence 3 is fine; sentence 5 is wrong.", 5),
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
        ("All sentences are correct but 5", 5),
        ("Everything is correct, except for the dose", None),
        ("Not all sentences are correct", -2),
        ("INCORRECT\n10 The dose is 5 mg.", 10),
        ("The incorrect sentence is:\n10 The dose is 5 mg.", 10),
        ("Based on the note, the error is:\n\n10 The dose is 5 mg.", 10),
        ("Line 10: The dose is 5 mg.", 10),
        ("<10> The dose is 5 mg.", 10),
        ("INCORRECT\n3 The dose is 5 mg.\n4 He is well.", -2),
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
        ("INCORRECT\n\nThe dose is 5 mg.", -2),
        ("CORRECT the dose to 5 mg", None),
        ("CORRECT\n5 The dose is 5 mg.", None),
        ("0 A man of 53.\n1 He has a cough.\n2 His CT is normal.", None),  # the note said again
        ("5 The dose is 5 mg.\n\n1. It was 50 mg.\n2. That is high.", 5),
    ],
)
def test_medec_verdicts_in_the_ways_models_write_them(answer, verdict):
    assert find_verdict(answer) == verdict


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
def test_medec_scores_by_our_rule_and_by_upstreams(
    gold, answer, flag, sentence, helm_flag, helm_sentence
):
    instance = free(gold)
    assert score("medec_error_flag_accuracy", answer, instance) == flag
    assert score("medec_error_sentence_accuracy", answer, instance) == sentence
    assert score("medec_error_flag_accuracy", answer, instance, "helm") == helm_flag
    assert score("medec_error_sentence_accuracy", answer, instance, "helm") == helm_sentence


def test_the_metrics_and_the_reader_mean_the_same_by_a_verdict():
    assert (medec._NO_ERROR, medec._SOME_ERROR) == (NO_ERROR, SOME_ERROR)
