"""Metrics of a whole classification: macro and micro F1 over classes or over sets of labels. Pure.

The F1 of a class is 2 * hits / (times gold + times given) (van Rijsbergen 1979). Macro F1 is the unweighted mean over
the classes that are gold at least once. Of the two definitions of macro F1 that Opitz and Burst (2019) distinguish,
this is the mean of the classes' F1. Micro F1 counts all labels of all answers together. A label that is never gold has
no F1 of its own. If an answer gives it instead of the gold label, the gold class loses a hit, and micro F1 counts the
wrong label as given.

Labels are compared as plain words. With the option `delimiter`, answers and gold texts are sets of labels. For
multiple choice, the classes are the option letters.
"""

from collections.abc import Sequence

from agent.metrics.exact import normalise
from agent.metrics.readers import find_option, read_choice_or_text
from agent.metrics.spec import Labelled, MetricSpec, Options
from agent.reading.words import plain_words
from agent.vocabulary import Instance, Reason, Scoring, Unscored


def macro_f1(items: Sequence[Labelled]) -> float:
    """Return the unweighted mean F1 over the classes that are gold at least once.

    Raises:
        ValueError: there are no classes.
    """
    names = sorted(_collect_gold_labels(items))
    if not names:
        raise ValueError("no classes")
    return sum(_compute_f1(items, name) for name in names) / len(names)


def micro_f1(items: Sequence[Labelled]) -> float:
    """Return the F1 of all labels of all answers together; with one class per answer, it is the accuracy.

    Raises:
        ValueError: there are no classes.
    """
    if not _collect_gold_labels(items):
        raise ValueError("no classes")
    hits = sum(len(item.gold & item.predicted) for item in items)
    mentions = sum(len(item.gold) + len(item.predicted) for item in items)
    return 2 * hits / mentions


def read_labels(
    answer: str, instance: Instance, options: Options, scoring: Scoring
) -> Labelled | Unscored:
    """Return the gold and given labels. If one of several right classes is enough, the given one becomes gold."""
    golds = [reference.text for reference in instance.references if reference.correct]
    delimiter = str(options.get("delimiter", ""))
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
    if scoring == "helm":
        return _read_helm_labels(answer, instance, golds, delimiter)
    if instance.multiple_choice:
        return _read_letters(answer, instance)
    if not delimiter:
        gold_classes = [plain_words(gold) for gold in golds]
        return _label_one_class(instance, gold_classes, plain_words(answer))
    gold_labels = _split_labels(golds, delimiter)
    if not gold_labels:
        return Unscored(Reason.NO_REFERENCE)
    return Labelled(instance.unit, gold_labels, _split_labels(answer.splitlines(), delimiter))


def _read_letters(answer: str, instance: Instance) -> Labelled | Unscored:
    option = find_option(answer, instance)
    if option is None:
        return Unscored(Reason.UNPARSED)
    gold_letters = [
        _name_letter(index)
        for index, reference in enumerate(instance.references)
        if reference.correct
    ]
    return _label_one_class(instance, gold_letters, _name_letter(option))


def _label_one_class(instance: Instance, gold_classes: list[str], predicted: str) -> Labelled:
    gold = predicted if predicted in gold_classes else gold_classes[0]
    return Labelled(
        instance.unit, frozenset({gold}), frozenset({predicted}), instance.multiple_choice
    )


def _split_labels(texts: Sequence[str], delimiter: str) -> frozenset[str]:
    labels: set[str] = set()
    for text in texts:
        labels.update(plain_words(part) for part in text.split(delimiter))
    labels.discard("")
    return frozenset(labels)


def _name_letter(index: int) -> str:
    return chr(ord("A") + index)


def _collect_gold_labels(items: Sequence[Labelled]) -> set[str]:
    return {label for item in items for label in item.gold}


def _compute_f1(items: Sequence[Labelled], name: str) -> float:
    hits = sum(name in item.gold and name in item.predicted for item in items)
    mentions = sum((name in item.gold) + (name in item.predicted) for item in items)
    return 2 * hits / mentions if mentions else 0.0


def _read_helm_labels(
    answer: str, instance: Instance, golds: list[str], delimiter: str
) -> Labelled:
    """Read labels as HELM does: for multiple choice, a text other than a bare letter is its own class."""
    if instance.multiple_choice:
        text_of_letter = {
            _name_letter(index): reference.text
            for index, reference in enumerate(instance.references)
        }
        predicted = text_of_letter.get(answer.strip(), answer.strip())
        return Labelled(
            instance.unit, frozenset({golds[0]}), frozenset({predicted}), multiple_choice=True
        )
    parts = answer.split(delimiter) if delimiter else [answer]
    return Labelled(instance.unit, _normalise_labels(golds), _normalise_labels(parts))


def _normalise_labels(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(normalise(text, drop_articles=False) for text in texts if text)


def _compute_helm_macro_f1(items: Sequence[Labelled]) -> float:
    import numpy as np  # numpy's mean sums in another order, which can change the last digit

    items = _complete_helm_items(items)
    names = sorted(_collect_helm_classes(items))
    if not names:
        raise ValueError("no classes")
    return float(np.average([_compute_f1(items, name) for name in names]))


def _compute_helm_micro_f1(items: Sequence[Labelled]) -> float:
    """Compute micro F1 as HELM does: given labels that are never gold are ignored, so they only lower the recall."""
    items = _complete_helm_items(items)
    classes = _collect_helm_classes(items)
    return micro_f1([Labelled(item.unit, item.gold, item.predicted & classes) for item in items])


def _complete_helm_items(items: Sequence[Labelled]) -> Sequence[Labelled]:
    """If all gold texts are one class, give answers and golds without it a second class, "any other", as HELM does."""
    names = _collect_gold_labels(items)
    if len(names) != 1 or any(item.multiple_choice for item in items):
        return items
    completed: list[Labelled] = []
    for item in items:
        gold = item.gold & names or _OTHER
        predicted = item.predicted & names or _OTHER
        completed.append(Labelled(item.unit, gold, predicted, multiple_choice=True))
    return completed


def _collect_helm_classes(items: Sequence[Labelled]) -> set[str]:
    """Return HELM's classes. For multiple choice, they include every given label, even with an F1 of 0."""
    classes = _collect_gold_labels(items)
    for item in items:
        if item.multiple_choice:
            classes |= item.predicted
    return classes


_OTHER = frozenset({"\0"})
_DELIMITER: Options = {"delimiter": ""}

SPECS = (
    MetricSpec(
        "classification_macro_f1",
        "Macro F1",
        0,
        1,
        False,
        "Mean of the classes' F1, computed from all answers of the run.",
        None,
        options=_DELIMITER,
        labels=read_labels,
        whole_run=macro_f1,
        helm_whole_run=_compute_helm_macro_f1,
        read=read_choice_or_text,
        value_kind="option",
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
        labels=read_labels,
        whole_run=micro_f1,
        helm_whole_run=_compute_helm_micro_f1,
        read=read_choice_or_text,
        value_kind="option",
    ),
)
