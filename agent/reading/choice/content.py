"""Read an answer that makes no other claim by its words: "A thiazide.", "MAT", "4", "So the film shows a narrow space".

Only a passage that can state the answer is read: a short answer, the conclusion at the end, what follows "the answer
is", or a heading. The words of a passage may be part of one option only (see `option_words`).
"""

import re
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.passages import Passage, ends_with_label, find_passages
from agent.reading.choice.references import LETTER_SIGNS, PADDING, SIGNS, TEXT_SIGNS, decode
from agent.reading.choice.rules import OPTION_WORDS
from agent.reading.statements import (
    find_last_retraction,
    find_undecided,
    is_denied,
    is_question,
    is_refusal,
    is_unfinished,
)

_MAX_STATEMENTS = 60  # "the answer is" that are read
# Reasons, from which on a passage may speak of other options.
_REASON = re.compile(
    r"[,;]?\s(?:because|since|due\sto|as\s(?:the|it|this|these|he|she|a|an)|given|which|who|where|so\sas|in\sorder)\b"
    r"|[,;]\s(?:and\s|but\s)?not\b|,?\s(?:to\s(?:be\s(?:certain|sure|safe)|rule\sout|exclude|confirm|make\ssure)|so\sthat)\b|\s(?:rather\sthan|instead\sof|as\sopposed\sto|unlike)\b",
    re.IGNORECASE,
)
# Contrasts, after which the answer may stand as well as before them.
_CONTRAST = re.compile(
    r"[,;]?\s(?:whereas|while|but|although|though|however|yet|over|versus|vs|than)\b", re.IGNORECASE
)
_TAKES_BACK = re.compile(
    r"\s(?:it|this|that)(?:'s|\sis)\s(?:wrong|incorrect|contraindicated|not\s(?:right|correct))\b"
)
_BEGINS_CONTRAST = re.compile(
    r"(?:but\s|so\s)?(?:although|though|while|whereas|unlike|despite|in\scontrast|compared|even)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:could\sbe|may\sbe|might\sbe|possibly|maybe|perhaps|either|unless|depends?|unsure|uncertain|not\ssure|if"
    r"|initially|at\sfirst|differential|includes?|whether)\b",
    re.IGNORECASE,
)
_TEXT_SIGN = re.compile(f"[{TEXT_SIGNS}]")
_LETTER_SIGN = re.compile(f"[{LETTER_SIGNS}]")
# "(D)." at the end of a passage.
_LAST_SIGN = re.compile(rf"(?P<sign>[{LETTER_SIGNS}]){PADDING}*[\W_]{{0,5}}\Z")
# A lone letter that may stand for an option; "A" is an article unless a mark follows.
_LONE_LETTER = re.compile(
    r"(?<![\w'°-])(?:[B-H](?![\w'])|A(?=[).:,;-]|$)|A(?=\s(?:and|or|is)\b))|\b(?:options?|choices?)\s[A-Ha-h]\b"
)
_STATED_LETTER = re.compile(r"[(\[\"']{0,2}([A-Za-z])[).:,;\]]")
_ABBREVIATED_NAME = re.compile(r"([A-Z])\.\s([a-z]{4,30})\b")
_REFUSES = re.compile(
    r"i (?:do not|don't|cannot|can't|am unable|am not|could not)\b", re.IGNORECASE
)
_SIGN = re.compile(f"[{SIGNS}]")
# "Everything speaks against aspirin (A)." names no answer.
_RELATES_TO = re.compile(
    r"\b(?:against|away\sfrom|switch(?:ing|ed)?\sfrom|under|no\squestion\sof|unlike|(?:differs?|different|distinguished)\sfrom|(?:confused|compared|contrasted)\swith|mistaken\sfor"
    rf"|turn(?:ing)?\sto|(?:same|true)\s(?:holds\s)?(?:for|of)|trap(?:\shere)?\sis)\s(?:the\s|an?\s)?[(\"']?[{SIGNS}]",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|no|cannot|can't)\b|n't\b", re.IGNORECASE)
# "Aspirin is too weak", "I would stop heparin"
_SPEAKS_AGAINST = re.compile(
    r"\btoo\s\w+|\b(?:stop|stopping|withdraw\w*|discontinu\w*|hold\w*|withhold\w*|omit\w*|refrain\w*|strik(?:e|ing)|cross(?:ed|ing)?\s(?:\w{1,12}\s)?(?:out|off)|less\slikely|reverses?|reversing|counteracts?)\b"
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_SOMETHING_ELSE = re.compile(r"\b(?:something|anything)\selse\b|\bso\sfar\b")


def read_content(answer: MarkedAnswer) -> list[OptionClaim]:
    """Return the claims of the passages of an answer that means an option by its words."""
    if answer.options.has_common_word or find_last_retraction(answer.text):
        return []
    if is_refusal(answer.plain):
        return []
    if is_unfinished(answer.plain) and not ends_with_label(answer):
        return []
    undecided = find_undecided(answer.plain)
    claims: list[OptionClaim] = []
    for passage in find_passages(answer):
        is_forced = passage.is_decision and passage.start > (undecided or 0)
        if undecided is not None and not is_forced:
            continue
        option = _read_passage(answer, passage)
        if option is not None:
            claims.append(
                OptionClaim(
                    option, passage.start, passage.end, ClaimStrength.MENTIONED, OPTION_WORDS
                )
            )
    return claims


def _read_passage(answer: MarkedAnswer, passage: Passage) -> int | None:
    start, end = passage.start, passage.end
    reason = _REASON.search(answer.text, start + 1, end)
    if reason:
        rest = reason.end()
        if _OR.search(answer.text, rest, end) and _refers_to_option(answer, rest, end):
            return None
        end = reason.start()
    contrast = _CONTRAST.search(answer.text, start + 1, end)
    if contrast:
        if _TAKES_BACK.match(answer.lower, contrast.end()):
            return None
        if _refers_to_option(answer, contrast.end(), end):
            return None
        end = contrast.start()
    if not _states_plainly(answer, start, end):
        return None
    marked = answer.text[start:end]
    last_sign = _LAST_SIGN.search(marked)
    if last_sign:
        marked = marked[: last_sign.start()]
        end = start + last_sign.start()
    if _LETTER_SIGN.search(marked):
        return None
    named = {decode(sign) for sign in _TEXT_SIGN.findall(marked)}
    if named and _NEGATION.search(marked):
        return None
    if last_sign:
        named.add(decode(last_sign["sign"]))
    letters = _find_lone_letters(answer, start, end)
    letters |= {decode(sign) for sign in _LETTER_SIGN.findall(answer.text)}
    letters |= _find_stated_letters(answer)
    option = answer.options.words.find_option(
        answer.plain[start:end],
        frozenset(named),
        is_strict=passage.is_strict,
        is_exact=passage.is_exact,
        is_decision=passage.is_decision,
    )
    if option is None or not letters <= {option}:
        return None
    is_denied_letter = last_sign and _NEGATION.search(marked)
    is_negative = answer.options.words.options[option].is_negative
    return None if is_denied_letter and not is_negative else option


def _find_stated_letters(answer: MarkedAnswer) -> set[int]:
    """Return the options whose letter follows "the answer is", in a way that is no claim: "answer is c. vmax falls"."""
    letters: set[int] = set()
    for cue in islice(cues.STATED.finditer(answer.lower), _MAX_STATEMENTS):
        letter = _STATED_LETTER.match(answer.text, cue.end())
        if letter:
            letters.add(answer.options.get_letter_option(letter[1]))
    return letters


def _find_lone_letters(answer: MarkedAnswer, start: int, end: int) -> set[int]:
    """Return the options that lone letters of a passage may name. The letter of "E. coli" names none."""
    letters: set[int] = set()
    for match in _LONE_LETTER.finditer(answer.text, start, end):
        letter = match[0].strip("([\"').:,] ")[-1]
        name = _ABBREVIATED_NAME.match(answer.plain, match.start())
        if name:
            option = answer.options.find_name(name[1], name[2])
            labelled = answer.options.get_letter_option(name[1])
            if option is not None or labelled >= 0:
                letters.add(labelled if option is None else option)
        else:
            letters.add(answer.options.get_letter_option(letter))
    return letters


def _states_plainly(answer: MarkedAnswer, start: int, end: int) -> bool:
    """Return whether a passage is a plain statement: not denied, doubted, asked or a list's announcement."""
    text, marked = answer.plain[start:end], answer.text[start:end]
    if (
        not text.strip()
        or text.rstrip().endswith(":")
        or _BEGINS_CONTRAST.match(text)
        or _REFUSES.match(text)
    ):
        return False
    if is_question(answer.text, start) or is_denied(answer.text, start):
        return False
    if _UNSURE.search(marked) or _OR.search(marked):
        return False
    if _RELATES_TO.search(answer.text, start, end + 1):
        return False
    if cues.SAID_BY_OTHERS.search(answer.lower, answer.find_sentence_start(start), end):
        return False
    if cues.OTHER_LABEL.match(answer.lower, start):
        return False
    if _SOMETHING_ELSE.search(answer.lower, start, end + 40):
        return False
    against = _SPEAKS_AGAINST.search(answer.lower, start, end)
    if against and not answer.options.words.mentions(against[0]):
        return False
    # `OptionWords` compares "not" with the option's own.
    return not cues.WRONG.search(_NEGATION.sub("", answer.lower[start:end]))


def _refers_to_option(answer: MarkedAnswer, start: int, end: int) -> bool:
    return _SIGN.search(answer.text, start, end) is not None or answer.options.words.mentions(
        answer.plain[start:end]
    )
