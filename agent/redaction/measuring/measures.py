"""Measures of redaction on texts whose identifiers are known. Pure functions.

A redaction counts if it covers the right characters, whatever its kind. Only letters and digits count. For the
harmless part of texts, see `utility`.

    core recall     share of identifiers whose identifying letters and digits are all covered. Titles, prepositions
                    and field labels within an identifier ("Dr.", "in", "Patient ID") need not be covered, unless
                    it consists of these alone
    full recall     share of identifiers whose letters and digits are all covered
    clean           share of texts with identifiers in which the core of every identifier is covered
    over-redaction  share of texts without identifiers in which anything is redacted
    F2              (1 + 4) R P / (4 P + R): recall and precision of characters, favouring recall
                    (van Rijsbergen 1979)
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.redaction.measuring.utility import (
    LabelledSpan,
    TextUtility,
    Utility,
    compare_harmless,
    summarise_utility,
)
from agent.statistics.intervals import Mean, estimate_mean

# Lower-case words that do not identify a person on their own.
_SOFT = frozenset({
    "dr", "mr", "mrs", "ms", "miss", "prof", "doctor", "md", "rn", "np", "do", "phd", "jr", "sr", "in", "of", "at",
    "the", "and", "on", "to", "from", "for", "patient", "pt", "id", "mrn", "ssn", "no", "number", "member", "policy",
    "plan", "account", "acct", "name", "dob", "phone", "fax", "tel", "email", "since", "s",
})  # fmt: skip
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class ComparedIdentifier:
    """An identifier with a letter or digit, and whether it was redacted.

    Attributes:
        core_taken: whether all of its identifying letters and digits were redacted.
        all_taken: whether all of its letters and digits were redacted.
    """

    kind: str
    core_taken: bool
    all_taken: bool


# The number of a text, which is the unit of the intervals, and one of its identifiers.
_OfText = tuple[bytes, ComparedIdentifier]


@dataclass(frozen=True, slots=True)
class ComparedText:
    """The comparison of a text's identifiers with its redactions.

    Attributes:
        identifiers: identifiers with a letter or digit.
        has_identifiers: whether there is anything to redact.
        has_redactions: whether anything was redacted.
        gold: number of identifying letters and digits.
        taken: number of redacted letters and digits.
        right: number of identifying letters and digits that were redacted.
        utility: what the redactions do to the harmless part of the text.
    """

    identifiers: tuple[ComparedIdentifier, ...]
    has_identifiers: bool
    has_redactions: bool
    gold: int
    taken: int
    right: int
    utility: TextUtility

    @property
    def is_clean(self) -> bool:
        """Whether the core of every identifier is covered."""
        return all(identifier.core_taken for identifier in self.identifiers)


@dataclass(frozen=True, slots=True)
class Recall:
    """The core and full recall of identifiers of one kind, with Wilson intervals that treat texts as units."""

    core: Mean
    full: Mean


@dataclass(frozen=True, slots=True)
class RedactionFigures:
    """The measures of one engine on one corpus.

    Attributes:
        all: recall over identifiers of all kinds.
        kinds: recall by kind, most frequent kinds first.
        leaks: number of identifiers with a core letter or digit that was not redacted.
        clean: share of texts with identifiers in which no identifier leaks.
        over: share of texts without identifiers in which anything is redacted.
        recall: recall of characters, like `precision` and `f2`; 0 if there is no character to divide by.
        utility: what the redactions do to the harmless part of the texts.
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
    utility: Utility


def compare_text(
    text: str, gold: Iterable[LabelledSpan], taken: Iterable[LabelledSpan]
) -> ComparedText:
    """Compare the redactions of a text with its identifiers; spans are truncated at the end of the text."""
    gold = list(gold)
    taken = list(taken)
    is_taken = _mark_characters(text, taken)
    is_gold = _mark_characters(text, gold)
    identifiers: list[ComparedIdentifier] = []
    for start, end, kind in gold:
        counted = _locate_alnum(text, start, end)
        if counted:
            core = _find_core(text, start, end)
            core_taken = all(all(is_taken[word.start() : word.end()]) for word in core)
            all_taken = all(is_taken[position] for position in counted)
            identifiers.append(ComparedIdentifier(kind, core_taken, all_taken))
    counted = _locate_alnum(text, 0, len(text))
    return ComparedText(
        identifiers=tuple(identifiers),
        has_identifiers=bool(gold),
        has_redactions=bool(taken),
        gold=sum(is_gold[position] for position in counted),
        taken=sum(is_taken[position] for position in counted),
        right=sum(is_gold[position] & is_taken[position] for position in counted),
        utility=compare_harmless(text, is_gold, is_taken, taken),
    )


def _locate_alnum(text: str, start: int, end: int) -> list[int]:
    """Return the positions of the letters and digits from `start` to `end`, or to the end of the text."""
    return [position for position in range(start, min(end, len(text))) if text[position].isalnum()]


def _find_core(text: str, start: int, end: int) -> list[re.Match[str]]:
    """Return the identifying words of an identifier, or all of its words if none is identifying."""
    words = list(_WORD.finditer(text, start, end))
    core = [word for word in words if word.group().lower() not in _SOFT]
    return core or words


def summarise_texts(texts: Sequence[ComparedText]) -> RedactionFigures:
    """Compute the measures of a corpus."""
    identifiers: list[_OfText] = []
    by_kind: dict[str, list[_OfText]] = defaultdict(list)
    for number, text in enumerate(texts):
        for identifier in text.identifiers:
            of_text = (number.to_bytes(8), identifier)
            identifiers.append(of_text)
            by_kind[identifier.kind].append(of_text)
    with_identifiers = [text for text in texts if text.has_identifiers]
    without_identifiers = [text for text in texts if not text.has_identifiers]
    most_frequent_first = sorted(by_kind.items(), key=lambda item: -len(item[1]))
    right = sum(text.right for text in texts)
    gold = sum(text.gold for text in texts)
    taken = sum(text.taken for text in texts)
    recall = right / max(1, gold)
    precision = right / max(1, taken)
    return RedactionFigures(
        texts=len(texts),
        all=_estimate_recall(identifiers),
        kinds={
            kind: _estimate_recall(identifiers_of_kind)
            for kind, identifiers_of_kind in most_frequent_first
        },
        leaks=sum(not identifier.core_taken for _, identifier in identifiers),
        clean=_estimate_share(text.is_clean for text in with_identifiers),
        over=_estimate_share(text.has_redactions for text in without_identifiers),
        recall=recall,
        precision=precision,
        f2=5 * recall * precision / max(1e-9, 4 * precision + recall),
        utility=summarise_utility(text.utility for text in texts),
    )


def _mark_characters(text: str, spans: Iterable[LabelledSpan]) -> bytearray:
    """Return an array with 1 for each character within a span, and 0 for the others."""
    marked = bytearray(len(text))
    for start, end, _ in spans:
        marked[start:end] = b"\1" * (min(end, len(text)) - start)
    return marked


def _estimate_recall(identifiers: Sequence[_OfText]) -> Recall:
    core = [(text, float(identifier.core_taken)) for text, identifier in identifiers]
    full = [(text, float(identifier.all_taken)) for text, identifier in identifiers]
    return Recall(core=estimate_mean(core, binary=True), full=estimate_mean(full, binary=True))


def _estimate_share(truths: Iterable[bool]) -> Mean:
    values = [(number.to_bytes(8), float(is_true)) for number, is_true in enumerate(truths)]
    return estimate_mean(values, binary=True)
