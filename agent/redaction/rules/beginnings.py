r"""Find the words with which a match of a pattern can begin, so that rules need not list them separately.

Supports the syntax that our rules use: alternatives, groups, classes, repetitions, lookarounds and `\K`. Case is
ignored. Alternatives that begin with a digit or a sign add no word.
"""

import re
from dataclasses import dataclass, field

_LETTER = re.compile(r"[^\W\d_]")
_MAX_CLASS_LETTERS = 26  # maximum letters that are enumerated; a wider class represents any letter
# Maximum number of simultaneous paths. A pattern with more is treated as beginning with any word.
_MAX_PATHS = 300
_MAX_REPETITIONS = 2  # maximum repetitions of an item that are read; more add no first word
_REPETITIONS_OF_SIGNS = {"?": (0, 1), "*": (0, _MAX_REPETITIONS), "+": (1, _MAX_REPETITIONS)}
# A lookahead after which no letter can follow.
_WORD_END = re.compile(r"\(\?!\[?\\(?:p\{L\}|w)|\(\?![^()|]*\\p\{L\}[^()|]*\)")
_QUANTIFIER = re.compile(r"(?:([?*+])|\{(\d*)(,?)(\d*)\})[+?]?")
_GROUP = re.compile(r"\(\?(?::|>|P<\w+>|[a-zA-Z]*(?:-[a-zA-Z]+)?:)|\((?!\?)")
_QUANTIFIER_BEGINS = "?*+{"
_ITEM_BEGINS = "\\([.^$"  # the characters that begin an item that is not a plain character
_FLAGS = re.compile(r"\(\?[a-zA-Z]+\)")
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
# A representative character for each escape.
_ESCAPED = {"d": "0", "s": " ", "t": " ", "n": " "}
_BACKREFERENCE = re.compile(r"\(\?P=\w+\)|\\[1-9]")


class OpenBeginningError(ValueError):
    """Raised if a pattern can begin with any word."""


@dataclass(frozen=True, slots=True)
class _Path:
    """A partial match of a pattern: the letters so far, and whether the word must end here."""

    letters: str = ""
    ended: bool = False


@dataclass
class _Reader:
    pattern: str
    at: int = 0
    words: set[str] = field(default_factory=set)
    openings: set[str] = field(default_factory=set)

    def read_alternatives(self, paths: set[_Path]) -> set[_Path]:
        """Read to the end of a group or of the pattern, and return the paths after any of its alternatives."""
        after = self.read_sequence(paths)
        while self.pattern.startswith("|", self.at):
            self.at += 1
            after |= self.read_sequence(paths)
        return after

    def read_sequence(self, paths: set[_Path]) -> set[_Path]:
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            begin = self.at
            after = self.read_item(paths)
            following = self.pattern[self.at : self.at + 1]
            quantifier = (
                _QUANTIFIER.match(self.pattern, self.at)
                if following in _QUANTIFIER_BEGINS
                else None
            )
            if quantifier is None:
                paths = after
                continue
            paths = self.repeat(begin, paths, after, quantifier)
        return paths

    def repeat(
        self, begin: int, paths: set[_Path], once: set[_Path], quantifier: "re.Match[str]"
    ) -> set[_Path]:
        """Return the paths after an item that is repeated as its quantifier allows."""
        least, most = _count_repetitions(quantifier)
        after = set(paths) if least == 0 else set()
        for count in range(1, most + 1):
            if count > 1:
                self.at = begin
                once = self.read_item(once)
            if count >= least:
                after |= once
        self.at = quantifier.end()
        return after

    def read_item(self, paths: set[_Path]) -> set[_Path]:
        """Read one item, which a quantifier may follow, and return the paths after it."""
        pattern = self.pattern
        if pattern[self.at] not in _ITEM_BEGINS:
            self.at += 1
            return self.go_on(paths, pattern[self.at - 1])
        if flags := _FLAGS.match(pattern, self.at):
            self.at = flags.end()
            return paths
        if _LOOKAROUND.match(pattern, self.at):
            ends = _WORD_END.match(pattern, self.at) is not None
            self.at = _find_end_of_group(pattern, self.at)
            return _end_words(paths) if ends else paths
        if reference := _BACKREFERENCE.match(pattern, self.at):
            self.at = reference.end()
            return self.go_on(paths, None)
        if group := _GROUP.match(pattern, self.at):
            self.at = group.end()
            after = self.read_alternatives(paths)
            self.at += 1
            return after
        if pattern[self.at] == "[":
            begin, self.at = self.at, _find_end_of_class(pattern, self.at)
            return self.go_on(paths, _list_members(pattern[begin : self.at]))
        if pattern[self.at] == "\\":
            return self.read_escape(paths)
        self.at += 1
        return self.go_on(paths, None) if pattern[self.at - 1] == "." else paths

    def read_escape(self, paths: set[_Path]) -> set[_Path]:
        letter = self.pattern[self.at + 1]
        self.at += 2
        if letter in "pP":
            self.at = self.pattern.index("}", self.at) + 1
            return self.go_on(paths, None)
        if letter in "bK":
            return _end_words(paths) if letter == "b" else paths
        if letter in "wWSD":
            return self.go_on(paths, None)
        return self.go_on(paths, _ESCAPED.get(letter, letter))

    def go_on(self, paths: set[_Path], characters: str | None) -> set[_Path]:
        """Return the paths after one of `characters`, or after any character if None."""
        after = set[_Path]()
        for path in paths:
            if characters is None:
                if path.letters and path.ended:
                    self.words.add(path.letters)
                else:
                    self.openings.add(path.letters)
                continue
            for character in characters.lower():
                if not _LETTER.match(character):
                    if path.letters:
                        self.words.add(path.letters)
                elif not path.ended:
                    after.add(_Path(path.letters + character))
        if len(after) > _MAX_PATHS:
            raise OpenBeginningError(f"begins with too many words: {self.pattern}")
        return after


def read_first_words(pattern: str) -> frozenset[str]:
    """Return the words, in lower case, that a match of `pattern` can begin with.

    Raises:
        OpenBeginningError: a match can begin with any word.
    """
    reader = _Reader(pattern)
    paths = reader.read_alternatives({_Path()})
    if reader.openings:
        raise OpenBeginningError(f"begins with any word after {sorted(reader.openings)}: {pattern}")
    return frozenset(reader.words | {path.letters for path in paths if path.letters})


def _end_words(paths: set[_Path]) -> set[_Path]:
    return {_Path(path.letters, ended=bool(path.letters)) for path in paths}


def _count_repetitions(quantifier: "re.Match[str]") -> tuple[int, int]:
    """Return the minimum number of repetitions, and the maximum number that is read."""
    sign, least, comma, most = quantifier.groups()
    if sign:
        return _REPETITIONS_OF_SIGNS[sign]
    low = int(least or 0)
    high = low
    if comma:
        high = int(most) if most else low + _MAX_REPETITIONS
    return low, max(low, min(high, _MAX_REPETITIONS))


def _find_end_of_class(pattern: str, at: int) -> int:
    at += 1
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _find_end_of_group(pattern: str, at: int) -> int:
    depth = 0
    while True:
        if pattern[at] == "\\":
            at += 2
            continue
        if pattern[at] == "[":
            at = _find_end_of_class(pattern, at)
            continue
        depth += {"(": 1, ")": -1}.get(pattern[at], 0)
        at += 1
        if depth == 0:
            return at


def _list_members(characters: str) -> str | None:
    """Return the characters of a class, or None if there are too many to enumerate."""
    inside = characters[1:-1]
    if inside.startswith("^") or re.search(r"\\[wWpPSD]", inside):
        return None
    inside = re.sub(r"\\[stn]", " ", inside.replace(r"\d", "0")).replace("\\", "")
    spelt = re.sub(r"(.)-(.)", _spell_range, inside)
    return spelt if len(spelt) <= _MAX_CLASS_LETTERS else None


def _spell_range(ends: "re.Match[str]") -> str:
    """Return all characters of a range: "a-d" as "abcd"."""
    return "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1)))
