"""Figures of a whole classification: accuracy, and macro and micro F1 over classes or over sets of labels. Pure.

F1 of a class is 2 * hits / (times gold + times given) (van Rijsbergen 1979). Macro F1 is the mean over the classes
that are gold at least once, each with the same weight (of the two macro F1s that Opitz and Burst 2019 tell apart, the
mean of the classes' F1). Micro F1 counts all labels of all answers together. A label that is never gold has no F1 of
its own; given instead of the gold one it costs that class a hit, and micro F1 counts it as given.

Labels are compared as plain words; with the option `delimiter` an answer and a gold text are sets of labels. For
multiple choice the classes are the option letters.
"""

from collections.abc import Sequence

from agent.metrics.choice import extract_option
from agent.metrics.exact import normalise
from agent.metrics.spec import Labelled, MetricSpec, Options
from agent.metrics.words import plain_words
from agent.vocabulary import Instance, Reason, Scoring, Unscored


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Share of items whose predicted class is the gold one.

    Raises:
        ValueError: no items, or two lists of different length.
    """
    if not gold:
        raise ValueError("no items")
    return sum(g == p for g, p in zip(gold, predicted, strict=True)) / len(gold)


def macro_f1(items: Sequence[Labelled]) -> float:
    """Mean of the F1 of the classes that are gold at least once, each class with the same weight.

    Raises:
        ValueError: there are no classes.
    """
    names = sorted(_gold_labels(items))
    if not names:
        raise ValueError("no classes")
    return sum(_f1(items, name) for name in names) / len(names)


def micro_f1(items: Sequence[Labelled]) -> float:
    """F1 of all labels of all answers together; for one class an answer it is the accuracy.

    Raises:
        ValueError: there are no classes.
    """
    if not _gold_labels(items):
        raise ValueError("no classes")
    hits = sum(len(item.gold & item.predicted) for item in items)
    return 2 * hits / sum(len(item.gold) + len(item.predicted) for item in items)


def labels(answer: str, instance: Instance, options: Options, scoring: Scoring) -> Labelled | Unscored:
    """Return the gold and the given labels. Of several right classes of which one is enough, the given one is gold."""
    golds = [reference.text for reference in instance.references if reference.correct]
    delimiter = str(options.get("delimiter", ""))
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
    if scoring == "helm":
        return _helm_labels(answer, instance, golds, delimiter)
    if instance.multiple_choice:
        option = extract_option(answer, tuple(reference.text for reference in instance.references))
        if option is None:
            return Unscored(Reason.UNPARSED)
        right = [_letter(index) for index, reference in enumerate(instance.references) if reference.correct]
        return _one_class(instance, right, _letter(option))
    if not delimiter:
        return _one_class(instance, [plain_words(gold) for gold in golds], plain_words(answer))
    gold, predicted = (_label_set(texts, delimiter) for texts in (golds, answer.splitlines()))
    return Labelled(instance.unit, gold, predicted) if gold else Unscored(Reason.NO_REFERENCE)


def _one_class(instance: Instance, right: list[str], given: str) -> Labelled:
    gold = given if given in right else right[0]
    return Labelled(instance.unit, frozenset({gold}), frozenset({given}), instance.multiple_choice)


def _label_set(texts: Sequence[str], delimiter: str) -> frozenset[str]:
    return frozenset(label for text in texts for part in text.split(delimiter) if (label := plain_words(part)))


def _letter(index: int) -> str:
    return chr(ord("A") + index)


def _gold_labels(items: Sequence[Labelled]) -> set[str]:
    return {label for item in items for label in item.gold}


def _f1(items: Sequence[Labelled], name: str) -> float:
    hits = sum(name in item.gold and name in item.predicted for item in items)
    mentions = sum((name in item.gold) + (name in item.predicted) for item in items)
    return 2 * hits / mentions if mentions else 0.0


def _helm_labels(answer: str, instance: Instance, golds: list[str], delimiter: str) -> Labelled:
    """For multiple choice a text that is no bare letter is a class of its own; a gold text is never a set of labels."""
    if instance.multiple_choice:
        letters = {_letter(index): reference.text for index, reference in enumerate(instance.references)}
        given = letters.get(answer.strip(), answer.strip())
        return Labelled(instance.unit, frozenset({golds[0]}), frozenset({given}), True)
    parts = answer.split(delimiter) if delimiter else [answer]
    gold, predicted = (
        frozenset(normalise(text, drop_articles=False) for text in texts if text) for texts in (golds, parts)
    )
    return Labelled(instance.unit, gold, predicted)


def _helm_macro_f1(items: Sequence[Labelled]) -> float:
    import numpy as np  # its mean adds up in another order, which may show in the last digit

    items = _helm_items(items)
    names = sorted(_helm_classes(items))
    if not names:
        raise ValueError("no classes")
    return float(np.average([_f1(items, name) for name in names]))


def _helm_micro_f1(items: Sequence[Labelled]) -> float:
    """A given label that is never gold counts for nothing, so that it lowers only the recall."""
    items = _helm_items(items)
    known = _helm_classes(items)
    return micro_f1([Labelled(item.unit, item.gold, item.predicted & known) for item in items])


def _helm_items(items: Sequence[Labelled]) -> Sequence[Labelled]:
    """Where all gold texts are one class, upstream counts not giving it as a second one, right where it is not gold."""
    if any(item.multiple_choice for item in items) or len(names := _gold_labels(items)) != 1:
        return items
    return [
        Labelled(item.unit, item.gold & names or _OTHER, item.predicted & names or _OTHER, multiple_choice=True)
        for item in items
    ]


def _helm_classes(items: Sequence[Labelled]) -> set[str]:
    """For multiple choice whatever was given is a class too, with an F1 of 0."""
    return _gold_labels(items) | {label for item in items if item.multiple_choice for label in item.predicted}


_OTHER = frozenset({"\0"})
_DELIMITER: Options = {"delimiter": ""}

SPECS = (
    MetricSpec(
        "classification_macro_f1",
        "Macro F1",
        0,
        1,
        False,
        "Mean over the classes of each class's F1, computed from all answers of the run.",
        None,
        options=_DELIMITER,
        labels=labels,
        whole_run=macro_f1,
        helm_whole_run=_helm_macro_f1,
    ),
    MetricSpec(
        "classification_micro_f1",
        "Micro F1",
        0,
        1,
        False,
        "F1 of all labels of all answers of the run together.",
        None,
        options=_DELIMITER,
        labels=labels,
        whole_run=micro_f1,
        helm_whole_run=_helm_micro_f1,
    ),
)
