"""MEDEC: does a note hold an error, and in which sentence?

The gold text is "CORRECT", or the sentence's id, a space and the corrected sentence. Upstream tries to read that
whole text as a number and fails, so sentence accuracy is always 0 there on notes with an error; the `helm_*`
functions reproduce that.
"""

import re
import unicodedata

from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored

_NO_ERROR = -1
_PREAMBLE = re.compile(r"^(?:(?:final\s+)?answer|output)\s*:\s*", re.IGNORECASE)
_CORRECT = re.compile(
    r"CORRECT(?!\w|\s*:)|(?i:correct\W*(?:\n|$)|the\s+(?:clinical\s+)?(?:note|text)\s+is\s+correct\b)"
)
_SENTENCE = re.compile(
    r"(?:(?:error\s+)?sentence\s*)?(?:id|number|no\.?|#)?\s*[:#]?\s*[\[(]?(\d{1,4})(?![\w/]|[.,]\d|-\w)", re.IGNORECASE
)


def parse_verdict(text: str) -> int | None:
    """Return the id of the sentence an answer calls wrong, -1 if it calls the note correct, None if neither.

    Read are: "CORRECT" alone or at the start (marks and case do not matter when it is alone), "The note is
    correct ...", and a leading sentence id ("10 ...", "10. ...", "**10** ...", "Sentence 10: ...",
    "Answer: 10 ..."). A number that is part of the sentence ("3-year-old", "120/70", "7.5 mg") is no id.
    """
    plain = re.sub(r"[*`_#\"']+", "", unicodedata.normalize("NFKC", text)).strip()
    plain = _PREAMBLE.sub("", plain, count=1)
    if _CORRECT.match(plain):
        return _NO_ERROR
    sentence = _SENTENCE.match(plain)
    return int(sentence[1]) if sentence else None


def flag_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 when answer and gold agree on whether there is an error."""
    verdicts = _verdicts(answer, instance)
    if isinstance(verdicts, Unscored):
        return verdicts
    predicted, gold = verdicts
    return float((predicted == _NO_ERROR) == (gold == _NO_ERROR))


def sentence_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 when answer and gold name the same sentence, or both call the note correct."""
    verdicts = _verdicts(answer, instance)
    if isinstance(verdicts, Unscored):
        return verdicts
    predicted, gold = verdicts
    return float(predicted == gold)


def _verdicts(answer: str, instance: Instance) -> tuple[int, int] | Unscored:
    gold = next((parse_verdict(r.text) for r in instance.references if r.correct), None)
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    predicted = parse_verdict(answer)
    return Unscored(Reason.UNPARSED) if predicted is None else (predicted, gold)


def helm_flag_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: anything but the bare word CORRECT reports an error."""
    gold = _helm_gold(instance)
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    return float((answer.strip() == "CORRECT") == (gold == "CORRECT"))


def helm_sentence_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: on notes with an error 0, unless the gold is a number alone."""
    gold, predicted = _helm_gold(instance), answer.strip()
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    if gold == "CORRECT" or predicted == "CORRECT":
        return float(gold == predicted)
    match = re.match(r"\d+", predicted)
    try:
        wanted = int(gold)
    except ValueError:
        return 0.0
    return float(match is not None and int(match[0]) == wanted)


def _helm_gold(instance: Instance) -> str | None:
    return next((r.text.replace(".", "").strip() for r in instance.references if r.correct), None)


SPECS = (
    MetricSpec(
        "medec_error_flag_accuracy",
        "Error flag accuracy",
        0,
        1,
        True,
        "Whether the answer agrees that the note holds an error, or that it is correct.",
        flag_accuracy,
        helm_flag_accuracy,
    ),
    MetricSpec(
        "medec_error_sentence_accuracy",
        "Error sentence accuracy",
        0,
        1,
        True,
        "Whether the answer names the wrong sentence, or agrees that the note is correct.",
        sentence_accuracy,
        helm_sentence_accuracy,
    ),
)
