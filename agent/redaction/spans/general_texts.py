"""Tell texts about medicine in general, such as teaching, checklists and lists of findings, from texts about a person.

Nothing in such a text points to a person: no date, number, contact or age was detected, nobody has a title, acts or is
spoken to, and there are several eponyms, brands or trials. A capitalised word that stands in a list with such words, or
before a clinical term, is one more of them.
"""

from collections.abc import Collection, Iterable, Iterator

import regex

from agent.redaction.rules.en.names import is_introduced, words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.en.vocabulary import is_made_of_word
from agent.redaction.rules.word_lists import compile_pattern, read_entries
from agent.redaction.spans.eponyms import (
    has_term,
    is_evident_eponym,
    is_listed_eponym,
    is_rare_eponym,
    is_said_of_person,
    is_valued_eponym,
)
from agent.redaction.spans.makers import is_listed_maker, is_model_of_maker, is_sure_maker
from agent.redaction.spans.span import Span

_IN_WORDS = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})
_LEAST_WORDS = 30
_LEAST_TERMS = 3  # different eponyms, brands, trials and makers
_LONGEST = 20_000  # characters of a text that is judged as a whole
_CAPITALISED = regex.compile(r"(?<![\p{L}\d'’])\p{Lu}[\p{L}\p{M}\d]*(?:[-'’]\p{Lu}[\p{L}\p{M}]*)*")
_PART = regex.compile(r"[\p{L}\p{M}]+")
# Words that only a text about somebody, or by somebody, has.
_PERSON = compile_pattern(
    r"(?<!\p{L})(?:(?i:my|mine|me|myself|he's|she's|mr|mrs|ms|miss|dr|dob|mrn|nhs no|hosp(?:ital)? no|lives|lived"
    r"|resid(?:es|ing)|works? (?:at|for|as)|worked (?:at|for|as)|employed|born in|next of kin|nok"
    r"|d/w|bed ?\d{1,3}|rm ?\d{1,4}|room ?\d{1,4}|(?:signed|dictated|seen|referred|accepted|typed|taken) by"
    r"|regards|sincerely)(?!\p{L})|I(?: (?:am|was|have|had|live|work)\b|['’]))",
    "en",
)
_INSTITUTION = compile_pattern(
    r"(?i)(?<!\p{L})(?:\L<facilities_by_kind>|\L<institution_words>|ward|unit|county|street|road|avenue|school)(?!\p{L})",
    "en",
)
# Words before somebody who acts or is spoken to, and before a place.
_CUE_BEFORE = compile_pattern(
    r"(?i)(?<!\p{L})(?:by|with|w/|to|for|ring|rang|bleep|bleeped|page|ask|asked|tell|told|call|called|thanks|thx|about|from"
    r"|as|next|note|per|via|re|transfer|see|saw|met|in|at|near|outside|live|lives|born|home|relatives?|\L<relatives>)"
    r"[ :,]{1,2}(?:the )?$",
    "en",
)
# What may follow a name of a list: the end of the entry, a value or another name.
_ENTRY_ENDS = regex.compile(
    r"\s*(?:[,;/)\]&.:]|['’]s |\n|$|(?:and|or|vs\.?|versus) |[+\-–=<>≥≤±] ?\S|\d|\(|\p{Lu})"
)
_SEPARATOR = r"(?:,? (?:and|or|vs\.?|versus|&) (?:of )?|[,;] | ?/ ?|-)"
_NEXT = regex.compile(rf"{_SEPARATOR}(?P<word>{_CAPITALISED.pattern})")
_LAST = regex.compile(rf"(?P<word>{_CAPITALISED.pattern})(?:['’]s)?{_SEPARATOR}$")
# "idarucizumab (Praxbind)"
_IN_BRACKETS = regex.compile(r"(?P<word>\p{L}{5,30}) \($")
# "UrgoKTwo", and not "McIntyre"
_CAMEL = regex.compile(
    r"(?!(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O|St|Al|El|Ap)\p{Lu})\p{Lu}\p{Ll}{1,10}\p{Lu}{1,3}\p{Ll}{2,10}"
)
_MODEL_AFTER = regex.compile(r" [A-Z]{1,3}-?\d{1,4}(?![\w/%])")
_REACH = 60  # characters examined on each side


def drop_in_general_text(
    spans: Iterable[Span], text: str, others: Collection[Span] = ()
) -> Iterator[Span]:
    """Yield the detections without those that identify nobody because the whole text is about medicine in general.

    Args:
        spans: detections in the text.
        text: the text.
        others: what else was detected in it before.
    """
    spans = list(spans)
    found = [*spans, *others]
    if spans and all(_may_be_term(span, text) for span in found) and _is_general(text):
        spans = [span for span in spans if not _is_term_in_list(span, text)]
    yield from spans


def _is_general(text: str) -> bool:
    if len(text) > _LONGEST or len(text.split()) < _LEAST_WORDS or _PERSON.search(text) is not None:
        return False
    return _has_terms(text)


def _has_terms(text: str) -> bool:
    """Return whether there are several different capitalised words that are evidently eponyms, brands or trials."""
    terms: set[str] = set()
    for match in _CAPITALISED.finditer(text):
        word = match.group()
        is_brand = word.lower() in words("drug_brands") or is_sure_maker(word)
        if is_brand or is_evident_eponym(text, match.start(), match.end()):
            terms.add(word)
            if len(terms) == _LEAST_TERMS:
                return True
    return False


def _may_be_term(span: Span, text: str) -> bool:
    """Return whether a detection could be an eponym, a brand or a maker, and nothing beside it is said of a person."""
    value = text[span.start : span.end]
    if is_model_of_maker(text, span.start, span.end):
        return True
    if span.entity not in _IN_WORDS or _INSTITUTION.search(value):
        return False
    if is_introduced(text, span.start) or is_said_of_person(text, span):
        return False
    return not _is_full_name(value)


def _is_full_name(value: str) -> bool:
    """Return whether a given name is followed by another word: "Kevin Turner"."""
    parts = [part.lower() for part in _PART.findall(value)]
    return (
        len(parts) > 1
        and parts[0] in words("given_names")
        and "-" not in value
        and "," not in value
    )


def _is_term_in_list(span: Span, text: str) -> bool:
    """Return whether a detection is a listed term, or stands among such terms or before a clinical word."""
    if is_model_of_maker(text, span.start, span.end) or _is_product(span, text):
        return True
    parts = _PART.findall(text[span.start : span.end])
    if all(map(_is_country, [text[span.start : span.end].removeprefix("the ")])):
        return True
    if has_term(text, span) or is_valued_eponym(text, span):
        return True
    if _CUE_BEFORE.search(text, max(0, span.start - _REACH), span.start):
        return all(map(_is_sure, parts)) and bool(parts)
    if _ENTRY_ENDS.match(text, span.end) is None:
        return all(map(_is_sure, parts)) and bool(parts)
    if all(map(_is_known, parts)) and not any(map(_is_name, parts)):
        return True
    return _stands_among_terms(span, text)


def _is_product(span: Span, text: str) -> bool:
    """Return whether a word is written as products are ("CellaVision"), or before the letter and number of a model."""
    value = text[span.start : span.end]
    return _CAMEL.fullmatch(value) is not None or _MODEL_AFTER.match(text, span.end) is not None


def _is_country(value: str) -> bool:
    entries = read_entries("en", "countries")
    return all(
        part.strip().removeprefix("the ") in entries
        for part in regex.split(r",| and ", value)
        if part.strip()
    )


def _is_sure(word: str) -> bool:
    """Return whether a word is an eponym, a brand or a term, and no name."""
    if _is_name(word):
        return False
    is_brand = word.lower() in words("drug_brands")
    return is_rare_eponym(word) or is_brand or is_safe(word) or is_made_of_word(word.lower())


def _is_known(word: str) -> bool:
    return _is_sure(word) or is_listed_eponym(word) or is_listed_maker(word)


def _is_name(word: str) -> bool:
    return word.lower() in words("given_names") or word.lower() in words("surnames")


def _stands_among_terms(span: Span, text: str) -> bool:
    """Return whether a listed term stands beside a detection in a list, or its other name before its bracket."""
    first, last = max(0, span.start - _REACH), span.end + _REACH
    following = _NEXT.match(text, span.end, last)
    preceding = _LAST.search(text, first, span.start)
    beside = [match["word"] for match in (following, preceding) if match is not None]
    if any(is_listed_eponym(word) or _is_known(word) for word in beside):
        return True
    bracket = _IN_BRACKETS.search(text, first, span.start)
    if bracket is None or text[span.end : span.end + 1] != ")":
        return False
    return is_made_of_word(bracket["word"].lower()) or not is_safe(bracket["word"])
