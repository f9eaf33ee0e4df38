"""Hide the letters of answer options, which look like the initials of names: "A. Aspirin B. Heparin"."""

import re
from collections.abc import Iterator, Sequence

from agent.redaction.rules.en.names import words
from agent.redaction.rules.word_lists import compile_pattern

_LETTER = re.compile(r"(?<![\w.&-])([A-H])\. ?(?=(\S[^\s.,;]*))")
_QUESTION = re.compile(
    r"(?i)\?|\b(?:which|what|following|options?|choose|select|best|most likely|except)\b"
)
_SMALL_WORD = re.compile(r"(?:['’]s)? [a-z]{4}")  # "A. Becker muscular dystrophy"
# "The answer is B. Mr. Miller should": no initial stands before a title.
_STATED = compile_pattern(
    r"(?<=(?<!\p{L})(?i:answer|option|choice|choose|select)(?: is|:)? {0,2})[A-J]\."
    r"(?= (?i:\L<titles>|\L<titles_in_short>)\b)",
    "en",
)
_REACH = 400  # characters from one option to the next, and from the question to the first


def hide_option_letters(text: str) -> str:
    """Return `text`, of the same length, with "1)" for "A." in the options of a question and in a stated answer.

    A list of initials and family names is left as it is.
    """
    text = _STATED.sub("1)", text)
    if "A." not in text or "B." not in text:
        return text
    pieces: list[str] = []
    end = 0
    for run in _find_runs(text):
        if _is_list_of_options(run, text):
            for number, option in enumerate(run, start=1):
                pieces += [text[end : option.start()], f"{number})"]
                end = option.start() + 2
    return "".join([*pieces, text[end:]])


def _find_runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield each sequence of the letters A, B and so on that are near each other."""
    run: list[re.Match[str]] = []
    for letter in _LETTER.finditer(text):
        if run and _continues(run[-1], letter):
            run.append(letter)
        elif letter[1] == "A":
            yield run
            run = [letter]
    yield run


def _continues(last: re.Match[str], letter: re.Match[str]) -> bool:
    is_next = ord(letter[1]) == ord(last[1]) + 1
    return is_next and letter.start() - last.start() <= _REACH


def _is_list_of_options(run: Sequence[re.Match[str]], text: str) -> bool:
    if len(run) < 2:
        return False
    start = run[0].start()
    if _QUESTION.search(text, max(0, start - _REACH), start) is None:
        return False
    return not any(_is_family_name(option, text) for option in run)


def _is_family_name(option: re.Match[str], text: str) -> bool:
    """Return whether an option begins with a family name that no word in small letters makes a term."""
    word = option[2]
    if not word[:1].isupper() or word.lower() not in words("surnames"):
        return False
    return _SMALL_WORD.match(text, option.end(2)) is None
