"""Word-level F1: the overlap of an answer's words with the reference's, counting repeated words.

We follow SQuAD (Rajpurkar et al. 2016, section 6.1): 2 * common / (words in the answer + words in the gold), without
English articles and punctuation. A word counts as often as both texts contain it, and the score is the maximum over the
correct references. Numbers keep their point and sign, as in the quasi-exact match. Upstream counts every word once, so
an answer loses nothing by repeating itself.
"""

from collections import Counter

from agent.metrics.exact import normalise
from agent.metrics.readers import find_option, read_choice_or_text
from agent.metrics.spec import MetricSpec, Options
from agent.reading.words import words_without_articles
from agent.vocabulary import Instance, Reason, Unscored


def f1(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Return the best F1 over the right references. For multiple choice, the answer is the chosen option's text."""
    golds = [
        Counter(words_without_articles(r.text).split()) for r in instance.references if r.correct
    ]
    if not any(golds):
        return Unscored(Reason.NO_REFERENCE)
    if instance.multiple_choice:
        option = find_option(answer, instance)
        if option is None:
            return Unscored(Reason.UNPARSED)
        answer = instance.references[option].text
    given = Counter(words_without_articles(answer).split())
    return max(
        2 * (gold & given).total() / (gold.total() + given.total()) for gold in golds if gold
    )


def helm_f1(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: F1 over sets of words, from precision and recall as in nltk."""
    golds = [reference.text for reference in instance.references if reference.correct]
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
    predicted = answer.strip()
    if instance.multiple_choice:
        letters = {
            chr(ord("A") + i): reference.text for i, reference in enumerate(instance.references)
        }
        predicted = letters.get(predicted, "")
    return max(
        _compute_helm_f1(set(normalise(gold).split()), set(normalise(predicted).split()))
        for gold in golds
    )


def _compute_helm_f1(gold: set[str], given: set[str]) -> float:
    common = len(gold & given)
    if not common:
        return 0.0
    return 1.0 / (0.5 / (common / len(given)) + 0.5 / (common / len(gold)))


SPECS = (
    MetricSpec(
        "f1_score",
        "Word-level F1",
        0,
        1,
        False,
        "Overlap of the answer's words with the reference's; a repeated word counts as often as both texts contain it.",
        f1,
        helm_f1,
        read=read_choice_or_text,
        value_kind="option",
    ),
)
