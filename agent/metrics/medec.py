"""MEDEC: whether a note contains an error, and in which sentence.

The gold text is "CORRECT", or the sentence's id, a space and the corrected sentence. Upstream tries to parse that whole
text as a number and fails, so its sentence accuracy is always 0 on notes with an error; the `helm_*` functions
reproduce that.
"""

import re
from dataclasses import replace
from functools import lru_cache

from agent.metrics.spec import MetricSpec, Options
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Reason, Unscored

# As in `agent.reading.note_verdicts`, which is imported when first needed, because compiling its patterns takes time.
_NO_ERROR, _SOME_ERROR = -1, -2
_SOME_ERROR_WORD = "INCORRECT"
_GOLD = re.compile(r"(\d{1,4})(?:\s|$)")


def _read_gold(text: str) -> int | None:
    if text.strip().rstrip(".") == "CORRECT":
        return _NO_ERROR
    sentence = _GOLD.match(text.strip())
    return int(sentence[1]) if sentence else None


def flag_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the answer and the gold agree on whether there is an error."""
    verdicts = _read_verdicts(answer, instance)
    if isinstance(verdicts, Unscored):
        return verdicts
    predicted, gold = verdicts
    return float((predicted == _NO_ERROR) == (gold == _NO_ERROR))


def sentence_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the answer and the gold name the same sentence, or both call the note correct."""
    verdicts = _read_verdicts(answer, instance)
    if isinstance(verdicts, Unscored):
        return verdicts
    predicted, gold = verdicts
    return Unscored(Reason.UNPARSED) if predicted == _SOME_ERROR else float(predicted == gold)


def _read_verdicts(answer: str, instance: Instance) -> tuple[int, int] | Unscored:
    gold = next(
        (_read_gold(reference.text) for reference in instance.references if reference.correct), None
    )
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    predicted = _find_verdict(answer, instance)
    return Unscored(Reason.UNPARSED) if predicted is None else (predicted, gold)


def _find_verdict(answer: str, instance: Instance) -> int | None:
    prompt = instance.messages[-1].content if instance.messages else ""
    return _find_verdict_once(answer, prompt)


# Both metrics read the same answer, and the next answer is about another note.
@lru_cache(maxsize=4)
def _find_verdict_once(answer: str, prompt: str) -> int | None:
    from agent.reading.note_verdicts import find_verdict, list_sentences

    return find_verdict(answer, list_sentences(prompt))


def read_flag(answer: str, instance: Instance, options: Options) -> Reading | Unscored:  # noqa: ARG001
    """Return the verdict on the note: "CORRECT", "sentence 10" or, if no single sentence is named, "INCORRECT"."""
    from agent.reading.note_verdicts import list_sentences, read_verdict

    prompt = instance.messages[-1].content if instance.messages else ""
    reading = read_verdict(answer, list_sentences(prompt))
    if reading is None:
        return Unscored(Reason.UNPARSED)
    return replace(reading, value=_write_verdict(reading.value))


def _write_verdict(verdict: str) -> str:
    if verdict == "error ?":
        return _SOME_ERROR_WORD
    return "CORRECT" if verdict == "correct" else verdict.replace("error", "sentence")


def read_sentence(answer: str, instance: Instance, options: Options) -> Reading | Unscored:
    """Return the verdict on the note, if it calls the note correct or names one sentence."""
    verdict = read_flag(answer, instance, options)
    if isinstance(verdict, Reading) and verdict.value == _SOME_ERROR_WORD:
        return Unscored(Reason.UNPARSED)
    return verdict


def helm_flag_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: anything but the bare word CORRECT reports an error."""
    gold = _read_helm_gold(instance)
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    return float((answer.strip() == "CORRECT") == (gold == "CORRECT"))


def helm_sentence_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: 0 on notes with an error, unless the gold is only a number."""
    gold, predicted = _read_helm_gold(instance), answer.strip()
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


def _read_helm_gold(instance: Instance) -> str | None:
    return next((r.text.replace(".", "").strip() for r in instance.references if r.correct), None)


SPECS = (
    MetricSpec(
        "medec_error_flag_accuracy",
        "Error flag accuracy",
        0,
        1,
        True,
        "Whether the answer agrees that the note contains an error, or that it is correct.",
        flag_accuracy,
        helm_flag_accuracy,
        read=read_flag,
        value_kind="verdict",
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
        read=read_sentence,
        value_kind="verdict",
    ),
)
