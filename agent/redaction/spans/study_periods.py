"""Tell the months and years in which a study was done, which concern nobody in particular, from dates of a person."""

import regex

from agent.redaction.rules.word_lists import compile_pattern

_YEAR = r"(?:19|20)\d\d(?:[/-](?:(?:19|20)?\d\d))?"
_MONTH = r"(?:\L<months>|\L<months_in_short>\.?)"
_SEASON = r"(?i:spring|summer|autumn|fall|winter)"
_POINT = rf"(?:{_MONTH}(?:,? (?:of )?{_YEAR})?|{_SEASON}(?: of)? {_YEAR}|{_YEAR})"
_LINK = r"(?:and|to|through|until|-|–)"
# "January 2006", "May 1994 through November 2004", "and February, 2005", "the winter of 2007/2008"
_PERIOD = compile_pattern(rf"(?:{_LINK} )?(?:the )?{_POINT}(?: ?{_LINK} ?{_POINT}){{0,2}}", "en")
_SENTENCE_END = regex.compile(r"(?<!\b(?:Mrs?|Ms|Dr|Prof))[.?!]\s|\n\n")
_REACH = 300  # characters of a sentence that are examined on each side
_STUDY = compile_pattern(
    r"(?i)(?<!\p{L})(?:(?:\d{2,7}|all|these|consecutive|eligible|most|selected|the|two|three) "
    r"(?:[\p{L}-]{1,20} ){0,4}\L<people_of_studies>"
    r"|patients (?:who|with|admitted|undergoing|treated|were|aged|presenting|diagnosed)"
    r"|\L<signs_of_studies>)(?!\p{L})",
    "en",
)
_PERSON = regex.compile(
    r"(?<!\p{L})(?:(?i:I|my|me|he|she|his|her|him|hers|mr|mrs|ms|dr|born|dob|mrn|your|you|pt|yesterday|today|tomorrow"
    r"|(?:the|this|our|an?) (?:[\p{L}\d-]{1,20} ){0,3}(?:patient|man|woman|boy|girl|infant|child|lady"
    r"|gentleman))(?!\p{L})|I['’])"
)


def is_study_period(text: str, start: int, end: int) -> bool:
    """Return whether a detected date consists of months and years in a sentence about a study of many people."""
    value = text[start:end].strip(" ,.;()")
    if _PERIOD.fullmatch(value) is None:
        return False
    first, last = _find_sentence(text, start, end)
    if _PERSON.search(text, first, last) is not None:
        return False
    return _STUDY.search(text, first, last) is not None


def _find_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the sentence around a detection, at most `_REACH` characters to each side."""
    first = max(0, start - _REACH)
    for sentence in _SENTENCE_END.finditer(text, first, start):
        first = sentence.end()
    last = min(len(text), end + _REACH)
    following = _SENTENCE_END.search(text, end, last)
    return first, following.start() if following else last
