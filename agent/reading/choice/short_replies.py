"""Read short replies that name no option: "It doesn't." to a question of yes or no, "the second one", "number 4"."""

import re
from collections.abc import Iterator

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.rules import NAMED_BY_POSITION, WHOLE_ANSWER
from agent.reading.statements import find_last_retraction, is_denied, is_question

_MAX_POSITIONS = 50
# "It doesn't.", "They do differ.", "It was not."
_REPLY = re.compile(
    r"""
    (?: (?:no|yes)? ,? \s? )
    (?: it | they | he | she | there | this | that | these | those )  \s
    (?:
        (?: is | are | was | were | has | have | had | can | could | will | would | should ) (?P<not> n't | \snot )?
      | (?: do | does | did ) (?P<does_not> n't | \snot )? (?: \s (?!not\b|no\b|never\b|only\b) [a-z]{2,20} )?
    )
    \s? [.!]?
    """,
    re.VERBOSE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ROMAN = ("i", "ii", "iii", "iv", "v")
# "option 2", "number (4)", "option II", "the second one", "the last option".
_POSITION = re.compile(
    rf"""
    \b (?: (?: (?:answer\s)? (?:option|choice|alternative|number) \s (?:no\.\s|number\s)?
             [(\[]? (?: (?P<digit>[1-5]) | (?P<roman>{"|".join(_ROMAN)}) ) [)\]]? (?![\w%/-]|[.,]\d) )
        | (?: (?P<ordinal>{"|".join(_ORDINALS)}|last) \s
              (?: option | one | alternative | answer(?:\s(?:option|choice))? ) \b )
    )
    """,
    re.VERBOSE,
)
_LEADS_TO_POSITION = re.compile(
    r"""
    (?:^|[\n.!?:]\s?|\b(?:is|be|choose|pick|select|with|for|say|so|therefore|thus|hence)[,:]?\s|[=>]\s?)
    (?:the\s)? \Z
    """,
    re.VERBOSE,
)
_ENDS_STATEMENT = re.compile(
    rf"\s?(?:$|\n|[.!](?=\s|$)|,\s(?:{cues.BECAUSE})|\s(?:{cues.BECAUSE}))"
    r"|(?:,\s[^(),.;:!?\n]{1,60},)?\s(?:is|seems|looks)\s(?:clearly\s|probably\s)?(?:correct|right|best|the\s(?:answer|one\b|correct|best|right))"
)


def read_short_replies(answer: MarkedAnswer) -> list[OptionClaim]:
    """Return the claims of an answer that names its option neither by letter nor by words."""
    if find_last_retraction(answer.text) is not None:
        return []
    return [*_read_yes_or_no(answer), *_read_positions(answer)]


def _read_yes_or_no(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a reply of a pronoun and a verb: "It doesn't." is no, "They do differ." is yes."""
    texts = answer.options.plain_texts
    reply = _REPLY.fullmatch(answer.plain.lower().strip())
    if not reply or not {"yes", "no"} <= set(texts):
        return
    option = texts.index("no" if reply["not"] or reply["does_not"] else "yes")
    yield OptionClaim(option, 0, len(answer.text), ClaimStrength.MENTIONED, WHOLE_ANSWER)


def _read_positions(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read the position of an option, which must be called one: a bare number is an option's text."""
    if answer.options.has_numbers:
        return
    for number, match in enumerate(_POSITION.finditer(answer.lower)):
        if number > _MAX_POSITIONS:
            return
        start, end = match.span()
        if not _LEADS_TO_POSITION.search(answer.lower, max(0, start - 20), start):
            continue
        if not _ENDS_STATEMENT.match(answer.lower, end):
            continue
        if is_denied(answer.text, start) or is_question(answer.text, end):
            continue
        option = _get_option(match, answer.options.count)
        if option is not None:
            yield OptionClaim(option, start, end, ClaimStrength.MENTIONED, NAMED_BY_POSITION)


def _get_option(position: re.Match[str], count: int) -> int | None:
    if position["digit"]:
        index = int(position["digit"]) - 1
    elif position["roman"]:
        index = _ROMAN.index(position["roman"])
    elif position["ordinal"] == "last":
        index = count - 1
    else:
        index = _ORDINALS.index(position["ordinal"])
    return index if index < count else None
