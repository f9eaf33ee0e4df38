"""Find lists of options in an answer, such as "A) wrong B) wrong C) correct D) wrong". Pure.

The items of a list say nothing by their order: an answer that repeats the options does not choose the first one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from agent.reading.choice.references import UNKNOWN, OptionTexts
from agent.reading.words import plain_words

_MAX_ITEMS = 300
_MARK = re.compile(
    r"(?:^|(?<=\n))(?:[-•+✓✗]\s)?(?:(?i:option|choice|answer)\s)?(?:[(\[](?P<a>[A-J])[)\]]|(?P<b>[A-J])(?:[).:\]](?!\w)|\s-(?=\s)|\s?=|(?=\s[✓✗(|])|(?=\n|$)"
    r"|(?=\s(?:is|was|would)\b)))"
    r"|(?<=[.;:!?,)]\s)(?:(?i:option|choice)\s)?(?:[(\[](?P<c>[A-J])[)\]]|(?P<d>[A-J])[).:](?=\s))"
    r"|(?<=\s)(?P<e>[A-J])\)(?=\s)"
)
_MIN_REPEATED = 3
_LETTER_MARKS = (".", ")", ":")

_POSSIBLE_MARK = re.compile(r"[A-J](?![A-Za-z0-9'])")


@dataclass(frozen=True, slots=True)
class Item:
    """A list item: the option, where the item starts, and where its text starts and ends."""

    option: int
    start: int
    text_start: int
    end: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Two or more items in the options' order."""

    items: tuple[Item, ...]


def find_listings(text: str, options: OptionTexts) -> list[Listing]:
    """Return the lists in a normalised answer: items with ascending letters, at least two; one may be missing."""
    if len(list(islice(_POSSIBLE_MARK.finditer(text), 2))) < 2:
        return []
    listings: list[Listing] = []
    run: list[re.Match[str]] = []
    previous = -10
    style = ""
    for mark in [*islice(_MARK.finditer(text), _MAX_ITEMS), None]:
        option = options.get_letter_option(_get_letter(mark)) if mark else UNKNOWN
        continues_run = (
            mark is not None and run and 0 < option - previous <= 2 and _get_style(mark) == style
        )
        if not continues_run:
            if len(run) >= 2:
                listings.append(
                    _make_listing(run, text, options, mark.start() if mark else len(text))
                )
            run = []
        if mark is not None:
            run.append(mark)
            previous = option if option >= 0 else -10
            style = _get_style(mark)
    return listings


def repeats_options(lines: Sequence[str], options: OptionTexts) -> bool:
    """Return whether the lines are nothing but a question's options with their letters, three or more, in any order."""
    if len(lines) < _MIN_REPEATED:
        return False
    repeated: set[int] = set()
    for line in lines:
        if not "A" <= line[0] <= "Z" or line[1:2] not in _LETTER_MARKS:
            return False
        option = options.get_letter_option(line[0])
        if option == UNKNOWN:
            return False
        if plain_words(line[2:]) != options.plain_texts[option]:
            return False
        repeated.add(option)
    return len(repeated) == len(lines)


def _get_letter(mark: re.Match[str]) -> str:
    return mark["a"] or mark["b"] or mark["c"] or mark["d"] or mark["e"]


def _get_style(mark: re.Match[str]) -> str:
    """Return the sign behind the letter: a lone "A" and "B." are not items of the same list."""
    return mark[0].rstrip()[-1:] if not mark[0].rstrip()[-1:].isalpha() else ""


def _make_listing(
    run: list[re.Match[str]], text: str, options: OptionTexts, next_start: int
) -> Listing:
    items: list[Item] = []
    for mark, following in zip(run, [*run[1:], None], strict=True):
        if following:
            end = following.start()
        else:
            line_end = text.find("\n", mark.end())
            end = min(next_start, line_end if line_end >= 0 else len(text))
        items.append(
            Item(options.get_letter_option(_get_letter(mark)), mark.start(), mark.end(), end)
        )
    return Listing(tuple(items))
