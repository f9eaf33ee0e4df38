"""Figures of a whole classification: accuracy and macro-F1. Pure."""

from collections.abc import Collection, Sequence


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Share of items whose predicted class is the gold one.

    Raises:
        ValueError: no items, or two lists of different length.
    """
    if not gold:
        raise ValueError("no items")
    return sum(g == p for g, p in zip(gold, predicted, strict=True)) / len(gold)


def macro_f1(gold: Sequence[str], predicted: Sequence[str], classes: Collection[str]) -> float:
    """Mean of the classes' F1, each class with the same weight; a class never given or predicted has F1 0.

    Raises:
        ValueError: no classes, or two lists of different length.
    """
    if not classes:
        raise ValueError("no classes")
    pairs = list(zip(gold, predicted, strict=True))
    return sum(_f1(pairs, name) for name in classes) / len(classes)


def _f1(pairs: list[tuple[str, str]], name: str) -> float:
    hits = sum(g == p == name for g, p in pairs)
    mentions = sum((g == name) + (p == name) for g, p in pairs)
    return 2 * hits / mentions if mentions else 0.0
