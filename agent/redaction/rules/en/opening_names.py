"""Names with which a note begins: a given name and any capitalised word, "Finn Example. 9 y, asthma."

After a label such as "Note:", the model takes two words that are not a usual surname for a heading.
"""

from collections.abc import Iterator
from functools import cache

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.small_letters import is_known
from agent.redaction.rules.en.vocabulary import is_unlisted
from agent.redaction.rules.word_lists import compile_pattern, read_entries

_GIVEN = r"\p{Lu}\p{Ll}{1,15}(?:[-'’]\p{Lu}\p{Ll}{1,15})?"
_OTHER = r"(?:\p{Lu}\.|\p{Lu}['’]?\p{Ll}{1,20}(?:[-'’]\p{L}{2,20})?)"
# Two or three capitalised words at the beginning of a line or after its label
_PAIR = regex.compile(
    rf"(?m)(?:^[ \t>*]{{0,4}}|^[^\n:]{{1,40}}:[ \t]{{1,3}})"
    rf"\K(?P<given>{_GIVEN}) (?P<other>{_OTHER})(?: (?P<last>{_OTHER}))?(?![\p{{L}}\d'’-])"
)
_AGE = (
    r"[.,;:]?\s{1,2}\(?(?:(?i:aged?|dob|born) )?"
    r"\d{1,3} ?-?(?:(?i:y|yo|y/o|yrs?|years?|mo|months?|wks?|weeks?)|[MF])(?!\p{L})"
)
_SAID_OF_A_PATIENT = regex.compile(
    rf"{_AGE}|,? (?:(?:is|was) (?:an?|the|seen|admitted|brought|referred|\d)|came|presents|presented|attended|arrived"
    r"|returned|complains|reports|reported|lives)(?!\p{L})"
)
_SENTENCE = regex.compile(r"[.,;:]\s{1,3}\S")
_ENDS = regex.compile(r"[.,;:](?=\s|$)|[ \t]*(?:\n|$)")
# Words that make a disease, a sign or an operation of the words beside them: "Crohn Disease", "Hashimoto Thyroiditis"
_TERM = compile_pattern(r"(?i)(?:\L<eponyms>|\p{L}{2,}\L<medical_endings>)s?", "en")

# "4. Lachlan's repeat semen analysis"
_POSSESSIVE = regex.compile(
    r"(?:(?<=^)|(?<=\n)|(?<=[.?!;:] ))[ \t]{0,4}(?:\d{1,2}[.)] |[-*•] )?(?P<name>\p{Lu}\p{Ll}{3,15})['’]s \p{Ll}"
)

_LONGEST_LABEL = 60  # characters before the first word of a note


def find_opening_names(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield the names with which lines begin, if an age or an act follows or the first word is a common given name.

    A word in no list with which a sentence begins is a name, too, if something belongs to it.

    Raises:
        TimeoutError: the deadline passed.
    """
    for pair in _PAIR.finditer(text, timeout=deadline.left()):
        if _is_name(text, pair):
            yield "NAME", *pair.span()
    for match in _POSSESSIVE.finditer(text, timeout=deadline.left()):
        if is_unlisted(match["name"].lower()) and match["name"] not in _list_eponyms():
            yield "NAME", *match.span("name")


@cache
def _list_eponyms() -> frozenset[str]:
    lists = ("eponyms_alone", "eponyms_rare", "eponyms_in_context")
    return frozenset(name for entries in lists for name in read_entries("en", entries))


def _is_name(text: str, pair: "regex.Match[str]") -> bool:
    given = pair["given"].lower()
    others = [word for word in (pair["other"], pair["last"]) if word is not None]
    if any(map(_TERM.fullmatch, (given, *others))):
        return False
    is_common = given in words("given_names") and given not in words("everyday_words")
    if is_common and _ENDS.match(text, pair.end()):
        return True
    if _opens_text(text, pair.start()) and is_unlisted(given) and _SENTENCE.match(text, pair.end()):
        return True
    may_be_given = is_common or given in words("word_names") or not is_known(given)
    return may_be_given and _SAID_OF_A_PATIENT.match(text, pair.end()) is not None


def _opens_text(text: str, start: int) -> bool:
    """Return whether nothing but a label precedes: "Note:"."""
    if start > _LONGEST_LABEL:
        return False
    before = text[:start].strip()
    return not before or before.endswith(":")
