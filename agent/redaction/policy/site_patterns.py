"""What a site adds to a policy: patterns, words always taken out, words never taken out. Checked when it is read."""

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator

import regex

from agent.redaction.deadline import Deadline

_PROBE = 20_000  # characters: what recognisers look at together
_PROBE_SECONDS = 0.5  # a pattern whose time grows with the text takes some milliseconds; one that explodes never ends
_WORD = regex.compile(r"[\p{L}\p{M}\d]+")
_LITERAL = regex.compile(r"(?<!\\)[A-Za-z0-9 _/:#-]{2,}")
_META = regex.compile(r"\\[A-Za-z]|\(\?[:=!<P]*|[\\()?:+*\[\]{}|^$]")
_JOINT = 3  # characters at most between two words of an entry


def check_pattern(pattern: str) -> None:
    """Compile a pattern and run it on texts made to keep it busy.

    Raises:
        ValueError: it is no regular expression, matches nothing at all, or takes too long.
    """
    try:
        compiled = regex.compile(pattern, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        at = getattr(error, "pos", None)
        raise ValueError(f"not a regular expression{'' if at is None else f' (at character {at + 1})'}") from None
    for probe in _probes(pattern):
        try:
            for match in compiled.finditer(probe, timeout=_PROBE_SECONDS):
                if match.group() == "":
                    raise ValueError("matches where there is nothing; let it need a character at least")
        except TimeoutError:
            raise ValueError(
                "takes too long on long texts; bound its repetitions ({0,20} in place of *) and let no two that follow "
                "each other match the same"
            ) from None


def find_pattern(pattern: str) -> Callable[[str, Deadline], Iterator[tuple[int, int]]]:
    """Return what yields the places of a pattern in folded text."""
    compiled = regex.compile(pattern, regex.MULTILINE)

    def find(text: str, deadline: Deadline) -> Iterator[tuple[int, int]]:
        yield from (match.span() for match in compiled.finditer(text, timeout=deadline.left()) if match.group())

    return find


def check_entry(entry: str) -> str:
    """Return one entry of a list as it is.

    Raises:
        ValueError: it does not begin and end with a letter or digit, so that it is no whole word.
    """
    words = list(_WORD.finditer(entry))
    if not words or words[0].start() != 0 or words[-1].end() != len(entry):
        raise ValueError("expected whole words: a letter or digit first and last")
    if any(next_.start() - word.end() > _JOINT for word, next_ in itertools.pairwise(words)):
        raise ValueError(f"expected at most {_JOINT} characters between two words")
    return entry


_LOOKED_AT = 1_000  # words between two looks at the clock


class Phrases:
    """Entries, found as whole words in any case; whatever joins their words in the text."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._lengths: dict[str, set[int]] = {}  # of the entries that begin with a word
        self._whole: set[tuple[str, ...]] = set()
        for entry in entries:
            words = _words(entry)
            self._whole.add(words)
            self._lengths.setdefault(words[0], set()).add(len(words))

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._whole)

    def __contains__(self, value: str) -> bool:
        """Whether `value` is an entry, and nothing more."""
        return _words(value) in self._whole

    def find(self, text: str, deadline: Deadline) -> Iterator[tuple[int, int]]:
        """Yield the places of entries in folded text.

        Raises:
            TimeoutError: the deadline passed.
        """
        places = [match.span() for match in _WORD.finditer(text, timeout=deadline.left())]
        words = [text[start:end].casefold() for start, end in places]
        for first, word in enumerate(words):
            if not first % _LOOKED_AT:
                deadline.left()
            for length in self._lengths.get(word, ()):
                last = first + length - 1
                if tuple(words[first : last + 1]) in self._whole and all(
                    places[nth + 1][0] - places[nth][1] <= _JOINT for nth in range(first, last)
                ):
                    yield places[first][0], places[last][1]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text)))


def _probes(pattern: str) -> Iterator[str]:
    """Yield texts that make a pattern with nested or neighbouring repetitions try for long."""
    literals = _LITERAL.findall(pattern)
    units = ["a", "A", "0", " ", "-", "a ", "Ab ", "0 ", "a0", "A0-", "a.", "a@a.", "12/", "word, ", "Name: Ab Cd\n"]
    units += [*literals, "".join(literals) or "a", *(literal + "0" for literal in literals)]
    # Searching gives up at once in a text without what a match must end in: so there it is, out of reach.
    end = "\x7f" + "\x7f".join(dict.fromkeys([*pattern, *literals, _META.sub("", pattern)]))
    for unit in dict.fromkeys(units):
        yield (unit * (_PROBE // len(unit) + 1))[:_PROBE] + end
