"""Who wrote or did something, in few letters: initials, logins, a name on a line of its own below thanks."""

from collections.abc import Iterator
from functools import cache

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.en.vocabulary import is_listed_word, is_unlisted
from agent.redaction.rules.rulebook import CODE, Judge, Place
from agent.redaction.rules.word_lists import read_entries, read_words

_END = r"(?=[ \t]*(?:\n|$)|[ \t]{2,}|[,;)/]| @? ?\d{3,4}(?!\d)| \d{1,2}[:/]\d)"
# "initials pk", "checked by JH", "updated by MFH 1612"
_INITIALS = regex.compile(
    r"(?i:(?:initials?|initialled|init)(?: by)?[: ]{1,2}(?P<any>\p{L}{2,3})"
    r"|(?:by|sig|sgd)[: ]{1,2}(?-i:(?P<capitals>\p{Lu}{2,3})))"
    r"(?:/(?P<second>\p{L}{2,3}))?" + _END
)
# "faxed TODAY  - JH", "swelling less.  kd"
_LAST_INITIALS = regex.compile(
    r"(?<=[^\n]{12})(?:(?<![\w-])[-–—~] ?(?P<capitals>\p{Lu}{2,3})"
    r"|(?<=[.!?] {1,3})(?P<small>\p{Ll}{2,3}))[ \t]*(?=\n|$)"
)
# "kpatel2", "mquispe_71", "anna.kovac"
_LOGIN = regex.compile(
    r"(?P<word>\p{Ll}{4,20})(?:_?\d{1,4}|_\p{Ll}{1,20}\d{0,3})(?![\p{L}\d@-]|\.\w)"
)
_LOGIN_WITH_DOT = regex.compile(
    r"(?<![\w.@/'’-])(?P<first>\p{Ll}{1,20})\.(?P<word>\p{Ll}{4,20})\d{0,3}(?![\p{L}\d@./-])"
)
# "S. Blewitt": an initial and a surname that no list has
_INITIAL_AND_SURNAME = regex.compile(
    r"(?<![\p{L}\d.-])\p{Lu}\. ?(?P<surname>\p{Lu}\p{Ll}{2,20})(?![\p{L}\d])(?!['’]s )"
)
_THANKS = regex.compile(
    r"(?i)(?<!\p{L})(?:thanks?|thx|ty|cheers|regards|sincerely|love|bless|best|yours|xx?)(?!\p{L})[^\n]{0,40}\n[ \t]*$"
)
_LINE = regex.compile(r"(?P<name>\p{L}{2,14})[ \t.]*(?=\n|$)")
_BEFORE = 80  # characters before a signature that are read


def judge_initials(text: str, place: int) -> Place | None:
    """Return the initials after a word that says who did something."""
    match = _INITIALS.match(text, place)
    if match is None or not _begins_word(text, place):
        return None
    group = "any" if match["any"] else "capitals"
    if not match["any"] and _is_abbreviation(match[group]):
        return None
    return Place(match.start(group), match.end("second") if match["second"] else match.end(group))


def find_signatures(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield initials that end a line, an initial before a surname in no list, and logins such as "anna.kovac".

    Raises:
        TimeoutError: the deadline passed.
    """
    for match in _LAST_INITIALS.finditer(text, timeout=deadline.left()):
        group = "capitals" if match["capitals"] else "small"
        if not _is_abbreviation(match[group]):
            yield "NAME", *match.span(group)
    for match in _INITIAL_AND_SURNAME.finditer(text, timeout=deadline.left()):
        if is_unlisted(match["surname"].lower()):
            yield "NAME", *match.span()
    for match in _LOGIN_WITH_DOT.finditer(text, timeout=deadline.left()):
        if is_unlisted(match["word"]):
            yield "ID", *match.span()


def judge_login(text: str, place: int) -> Place | None:
    """Return the login of a user that is made from a name: "kpatel2"."""
    match = _LOGIN.match(text, place)
    if match is None or not _begins_word(text, place) or not is_unlisted(match["word"]):
        return None
    return Place(*match.span())


def judge_last_line(text: str, place: int) -> Place | None:
    """Return the name that stands alone on a line below thanks."""
    thanks = text.find("\n", place)
    if thanks < 0:
        return None
    start = thanks + 1
    while start < len(text) and text[start] in " \t\n":
        start += 1
    match = _LINE.match(text, start)
    if match is None or not _THANKS.search(text, max(0, start - _BEFORE), start):
        return None
    name = match["name"].lower()
    is_word = name in words("function_words") or name in read_words("en", "everyday_words")
    return None if is_word or name in _list_labels() else Place(*match.span("name"))


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not (text[place - 1].isalnum() or text[place - 1] in "-_.@/'’")


def _is_abbreviation(letters: str) -> bool:
    """Return whether letters are a word or a known abbreviation rather than somebody's initials."""
    lower = letters.lower()
    return lower in words("medical_abbreviations") or is_safe(letters) or is_listed_word(lower)


@cache
def _list_labels() -> frozenset[str]:
    return frozenset(entry.lower() for entry in read_entries("en", "identity_labels"))


JUDGED: tuple[tuple[Entity, frozenset[str], Judge], ...] = (
    (
        "NAME",
        frozenset({"initials", "initial", "initialled", "init", "by", "sig", "sgd"}),
        judge_initials,
    ),
    (
        "NAME",
        frozenset(
            {
                "thank",
                "thanks",
                "thx",
                "ty",
                "cheers",
                "regards",
                "sincerely",
                "love",
                "bless",
                "best",
            }
        ),
        judge_last_line,
    ),
    ("ID", frozenset({CODE}), judge_login),
)
