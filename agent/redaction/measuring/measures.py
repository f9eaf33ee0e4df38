"""How well redaction works on texts whose identifiers are known. Pure.

Whatever kind a redaction gives, it counts when it takes the right characters; letters and digits count, nothing else.

    core recall     identifiers of which every identifying letter and digit is taken: titles, prepositions and labels of
                    fields within one ("Dr.", "in", "Patient ID") may stay, unless it consists of nothing else
    full recall     identifiers of which every letter and digit is taken
    clean           texts with identifiers of which none leaks, in the sense of core
    over-redaction  texts without identifiers in which anything is taken
    F2              (1 + 4) R P / (4 P + R): recall and precision of characters, recall first (van Rijsbergen 1979)
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.statistics.intervals import Mean, estimate_mean

Place = tuple[int, int, str]  # start, end (exclusive), kind

# Not identifying by themselves, in lower case.
_SOFT = frozenset({
    "dr", "mr", "mrs", "ms", "miss", "prof", "doctor", "md", "rn", "np", "do", "phd", "jr", "sr", "in", "of", "at",
    "the", "and", "on", "to", "from", "for", "patient", "pt", "id", "mrn", "ssn", "no", "number", "member", "policy",
    "plan", "account", "acct", "name", "dob", "phone", "fax", "tel", "email", "since", "s",
})  # fmt: skip
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """One text: what was to be taken of it, and what was.

    Attributes:
        identifiers: by identifier with a letter or digit: kind, whether core and whether all of it was taken.
        any_to_take: whether the text has identifiers at all; any_taken: whether anything was taken.
        gold, taken, right: letters and digits that identify, that were taken, and that are both.
    """

    identifiers: tuple[tuple[str, bool, bool], ...]
    any_to_take: bool
    any_taken: bool
    gold: int
    taken: int
    right: int


@dataclass(frozen=True, slots=True)
class Recall:
    """Of all identifiers of one kind, those taken, with Wilson's interval; texts count as units."""

    core: Mean
    full: Mean


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one engine on one corpus.

    Attributes:
        all: of every kind together.
        kinds: by kind, the most frequent first.
        leaks: identifiers of which a core letter or digit was left.
        clean: of the texts with identifiers; over: of those without.
        recall, precision, f2: of characters; 0 where there is nothing to divide by.
    """

    texts: int
    all: Recall
    kinds: dict[str, Recall]
    leaks: int
    clean: Mean
    over: Mean
    recall: float
    precision: float
    f2: float


def judged(text: str, gold: Iterable[Place], taken: Iterable[Place]) -> MeasuredText:
    """Set what was taken of a text beside what identifies; places past its end are cut off there."""
    gold, taken = list(gold), list(taken)
    is_taken, is_gold = _marked(text, taken), _marked(text, gold)
    identifiers = []
    for start, end, kind in gold:
        alike = [place for place in range(start, min(end, len(text))) if text[place].isalnum()]
        if not alike:
            continue
        words = list(_WORD.finditer(text, start, end))
        core = [word for word in words if word.group().lower() not in _SOFT] or words
        identifiers.append(
            (
                kind,
                all(is_taken[place] for word in core for place in range(*word.span())),
                all(is_taken[place] for place in alike),
            )
        )
    counted = [place for place, character in enumerate(text) if character.isalnum()]
    return MeasuredText(
        tuple(identifiers),
        bool(gold),
        bool(taken),
        sum(is_gold[place] for place in counted),
        sum(is_taken[place] for place in counted),
        sum(is_gold[place] & is_taken[place] for place in counted),
    )


def measured(texts: Sequence[MeasuredText]) -> Measured:
    """Put the figures of many texts together."""
    found = [(number.to_bytes(8), *one) for number, text in enumerate(texts) for one in text.identifiers]
    by_kind: dict[str, list[tuple[bytes, str, bool, bool]]] = {}
    for one in found:
        by_kind.setdefault(one[1], []).append(one)
    right, gold, taken = (sum(getattr(text, name) for text in texts) for name in ("right", "gold", "taken"))
    recall, precision = right / max(1, gold), right / max(1, taken)
    return Measured(
        texts=len(texts),
        all=_recall(found),
        kinds={kind: _recall(ones) for kind, ones in sorted(by_kind.items(), key=lambda item: -len(item[1]))},
        leaks=sum(not core for _, _, core, _ in found),
        clean=_share(all(core for _, core, _ in text.identifiers) for text in texts if text.any_to_take),
        over=_share(text.any_taken for text in texts if not text.any_to_take),
        recall=recall,
        precision=precision,
        f2=5 * recall * precision / max(1e-9, 4 * precision + recall),
    )


def _marked(text: str, places: Iterable[Place]) -> bytearray:
    marked = bytearray(len(text))
    for start, end, _ in places:
        marked[start:end] = b"\1" * (min(end, len(text)) - start)
    return marked


def _recall(found: Sequence[tuple[bytes, str, bool, bool]]) -> Recall:
    return Recall(
        estimate_mean([(unit, float(core)) for unit, _, core, _ in found], binary=True),
        estimate_mean([(unit, float(full)) for unit, _, _, full in found], binary=True),
    )


def _share(truths: Iterable[bool]) -> Mean:
    return estimate_mean([(number.to_bytes(8), float(is_so)) for number, is_so in enumerate(truths)], binary=True)
