"""Read an answer that is written as a program: `return "B"`, `print("B")`. Pure."""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import UNKNOWN
from agent.reading.choice.rules import STATED_ANSWER
from agent.reading.words import plain_words

_MAX_STATEMENTS = 50
_WORDS = ("return ", "print", "console.log", "assert ")
_RETURNED = re.compile(
    r"(?P<comment>(?:#|//)[^\n]{0,80})?\b(?:return|print|console\.log)(?P<before>[^\n\"']{0,40})[\"'](?P<value>[^\"'\n]{1,200})[\"'](?P<after>[^\n]{0,200})"
)
_BRANCH = re.compile(r"\b(?:if|else|elif|case|switch|not|or|and|assert)\b|[!=]=|\?")
_COMMENT = re.compile(r"(?:#|//).*")
_OPENS_VALUE = re.compile(r"\s?\(?\s?")
_CLOSES_VALUE = re.compile(r"\s?\)?\s?[;}]{0,2}\s?}?\s?")


def read_program(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claim of the only value that a program returns; an unknown option if it returns several or may not.

    The quotation marks are part of the statement, so that "patients return B" states nothing.
    """
    if not any(map(answer.lower.__contains__, _WORDS)):
        return
    statements = list(islice(_RETURNED.finditer(answer.plain), _MAX_STATEMENTS))
    plain = [statement for statement in statements if not statement["comment"]]
    code = _COMMENT.sub("", answer.plain)
    if not plain:
        if "assert " in answer.lower and _BRANCH.search(code):
            yield from _make_claim(UNKNOWN, 0, len(answer.text))
        return
    values = {statement["value"] for statement in plain}
    is_single = (
        len(values) == 1
        and not _BRANCH.search(code)
        and all(_is_value(statement) for statement in plain)
    )
    statement = plain[-1]
    option = _find_option(answer, statement) if is_single else UNKNOWN
    yield from _make_claim(option, statement.start(), statement.end("value"))


def _find_option(answer: MarkedAnswer, statement: re.Match[str]) -> int:
    """Return the option that is a value's letter, text or both."""
    words = plain_words(statement["value"])
    if words in answer.options.plain_texts:
        return answer.options.plain_texts.index(words)
    start = statement.start("value")
    # The sign of an option's text may begin at its quotation mark.
    reference = answer.read_reference(start) or answer.read_reference(start - 1)
    is_whole = reference is not None and reference.end >= statement.end("value")
    return reference.option if reference is not None and is_whole else UNKNOWN


def _is_value(statement: re.Match[str]) -> bool:
    """Return whether nothing but the value is returned: no list, no comparison."""
    after = _COMMENT.sub("", statement["after"])
    opens = _OPENS_VALUE.fullmatch(statement["before"])
    return opens is not None and _CLOSES_VALUE.fullmatch(after) is not None


def _make_claim(option: int, start: int, end: int) -> Iterator[OptionClaim]:
    yield OptionClaim(option, start, end, ClaimStrength.FINAL, STATED_ANSWER)
