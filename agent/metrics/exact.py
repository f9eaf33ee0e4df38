"""Exact and nearly exact matches, for free text and multiple choice.

The quasi matches under `scoring: helm` follow upstream exactly: they treat "1.5" as "15" and "-5" as "5", and accept
a gold of only punctuation or articles as the prefix of any answer. Our rule keeps characters that change a value.
"""

import re
import string
from collections.abc import Callable, Iterator

from agent.metrics.readers import find_option, read_choice_or_text
from agent.metrics.spec import MetricSpec, Options
from agent.reading.words import plain_words, words_without_articles
from agent.vocabulary import Instance, Reason, Unscored

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LETTERS = string.ascii_uppercase
# What may follow the gold if the answer continues with another word: not "5" in "50", "5.2", "5%" or "5-10".
_WORD_ENDS = re.compile(r"(?![\w%+^])(?![.,:/'’-]\w)")

Compare = Callable[[str, str], bool]
"""Returns whether (gold, predicted) match."""


def _is_equal(gold: str, predicted: str) -> bool:
    return gold.strip() == predicted.strip()


def _is_prefix(gold: str, predicted: str) -> bool:
    gold, predicted = gold.strip(), predicted.strip()
    if not gold:
        return False
    return predicted.startswith(gold) and _WORD_ENDS.match(predicted, len(gold)) is not None


def _is_quasi_equal(gold: str, predicted: str) -> bool:
    return _is_equal(gold, predicted) or any(
        wanted == given for wanted, given in _iter_word_forms(gold, predicted)
    )


def _is_quasi_prefix(gold: str, predicted: str) -> bool:
    return _is_equal(gold, predicted) or any(
        given[: len(wanted)] == wanted for wanted, given in _iter_word_forms(gold, predicted)
    )


def _iter_word_forms(gold: str, predicted: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield both texts' words without and with articles; yield nothing for a gold of only punctuation."""
    bare = words_without_articles(gold).split()
    if bare:
        yield bare, words_without_articles(predicted).split()
    full = plain_words(gold).split()
    if (
        len(full) > 1
    ):  # never drop an article that is the only word: "A" is not a prefix of "A patient"
        yield full, plain_words(predicted).split()


def normalise(text: str, *, drop_articles: bool = True) -> str:
    """Return the text in lower case with single spaces, without punctuation and English articles.

    This is HELM's rule, after QuAC's scorer. It leaves nothing of "A" or "+" and turns "-1.5" into "15", so only
    `scoring: helm` uses it.
    """
    words = text.lower().translate(_PUNCTUATION)
    return " ".join((_ARTICLES.sub(" ", words) if drop_articles else words).split())


def _is_helm_quasi_equal(gold: str, predicted: str) -> bool:
    return normalise(gold) == normalise(predicted)


def _is_helm_prefix(gold: str, predicted: str) -> bool:
    return predicted.strip().startswith(gold.strip())


def _is_helm_quasi_prefix(gold: str, predicted: str) -> bool:
    return normalise(predicted).startswith(normalise(gold))


def _score(compare: Compare, answer: str, instance: Instance) -> float | Unscored:
    if not any(reference.correct for reference in instance.references):
        return Unscored(Reason.NO_REFERENCE)
    if not instance.multiple_choice:
        return _score_best(compare, answer, instance)
    option = find_option(answer, instance)
    if option is None:
        return Unscored(Reason.UNPARSED)
    return _score_best(compare, instance.references[option].text, instance)


def _helm_score(compare: Compare, answer: str, instance: Instance) -> float | Unscored:
    """Score as HELM does: only the bare capital letter counts; anything else, even an empty answer, is wrong."""
    predicted = answer.strip()
    if instance.multiple_choice:
        index = _LETTERS.find(predicted) if len(predicted) == 1 else -1
        known = 0 <= index < len(instance.references)
        predicted = instance.references[index].text if known else ""
    return _score_best(compare, predicted, instance) if predicted else 0.0


def _score_best(compare: Compare, predicted: str, instance: Instance) -> float:
    return float(any(compare(r.text, predicted) for r in instance.references if r.correct))


def _make_spec(
    name: str, display_name: str, doc: str, compare: Compare, helm_compare: Compare
) -> MetricSpec:
    def fn(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
        return _score(compare, answer, instance)

    def helm_fn(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
        return _helm_score(helm_compare, answer, instance)

    return MetricSpec(
        name,
        display_name,
        0,
        1,
        True,
        doc,
        fn,
        helm_fn,
        read=read_choice_or_text,
        value_kind="option",
    )


SPECS = (
    _make_spec(
        "exact_match",
        "Exact match",
        "Whether the answer equals the right one except for surrounding white space, or names the right option.",
        _is_equal,
        _is_equal,
    ),
    _make_spec(
        "quasi_exact_match",
        "Quasi-exact match",
        "As exact match, ignoring case, articles, spacing, and punctuation not part of a number or sign.",
        _is_quasi_equal,
        _is_helm_quasi_equal,
    ),
    _make_spec(
        "prefix_exact_match",
        "Prefix exact match",
        "Whether the answer begins with the right one, up to the end of a word.",
        _is_prefix,
        _is_helm_prefix,
    ),
    _make_spec(
        "quasi_prefix_exact_match",
        "Quasi-prefix exact match",
        "As prefix exact match, ignoring case, articles, spacing, and punctuation not part of a number or sign.",
        _is_quasi_prefix,
        _is_helm_quasi_prefix,
    ),
)
