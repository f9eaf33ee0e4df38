"""A site's additions to a policy: patterns, words always replaced, words never replaced. Checked when they are read."""

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

import regex

from agent.redaction.deadline import Deadline

_PROBE = 20_000  # characters: as many as recognisers read together
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
        position = getattr(error, "pos", None)
        where = "" if position is None else f" (at character {position + 1})"
        raise ValueError(f"not a regular expression{where}") from None
    for probe in _make_probes(pattern):
        try:
            for match in compiled.finditer(probe, timeout=_PROBE_SECONDS):
                if match.group() == "":
                    raise ValueError(
                        "matches where there is nothing; let it need a character at least"
                    )
        except TimeoutError:
            raise ValueError(
                "takes too long on long texts; bound its repetitions ({0,20} in place of *) and let no two that follow "
                "each other match the same"
            ) from None


def find_pattern(pattern: str) -> Callable[[str, Deadline], Iterator[tuple[int, int]]]:
    """Return a function that yields where a pattern matches in folded text."""
    compiled = regex.compile(pattern, regex.MULTILINE)

    def find(text: str, deadline: Deadline) -> Iterator[tuple[int, int]]:
        yield from (
            match.span()
            for match in compiled.finditer(text, timeout=deadline.left())
            if match.group()
        )

    return find


def check_entry(entry: str) -> str:
    """Return one entry of a list as it is.

    Raises:
        ValueError: it does not begin and end with a letter or digit, so that it is no whole word.
    """
    words = list(_WORD.finditer(entry))
    if not words or words[0].start() != 0 or words[-1].end() != len(entry):
        raise ValueError("expected whole words: a letter or digit first and last")
    if not _are_close([word.span() for word in words]):
        raise ValueError(f"expected at most {_JOINT} characters between two words")
    return entry


_WORDS_PER_CHECK = 1_000  # words between two checks of the deadline


class Phrases:
    """Entries of a list, searched for as whole words in any case, with any characters between the words."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._lengths: dict[str, set[int]] = {}  # of the entries that begin with a word
        self._whole: set[tuple[str, ...]] = set()
        for entry in entries:
            words = _split_words(entry)
            self._whole.add(words)
            self._lengths.setdefault(words[0], set()).add(len(words))

    def __bool__(self) -> bool:
        """Whether there is any entry."""
        return bool(self._whole)

    def __contains__(self, value: str) -> bool:
        """Whether `value` is an entry, and nothing more."""
        return _split_words(value) in self._whole

    def find(self, text: str, deadline: Deadline) -> Iterator[tuple[int, int]]:
        """Yield where entries stand in folded text.

        Raises:
            TimeoutError: the deadline passed.
        """
        stretches = [match.span() for match in _WORD.finditer(text, timeout=deadline.left())]
        words = [text[start:end].casefold() for start, end in stretches]
        for first, word in enumerate(words):
            if not first % _WORDS_PER_CHECK:
                deadline.left()
            for length in self._lengths.get(word, ()):
                end = first + length
                if tuple(words[first:end]) in self._whole and _are_close(stretches[first:end]):
                    yield stretches[first][0], stretches[end - 1][1]


def _are_close(stretches: Sequence[tuple[int, int]]) -> bool:
    """Return whether each stretch begins soon after the one before it."""
    return all(
        following[0] - stretch[1] <= _JOINT for stretch, following in itertools.pairwise(stretches)
    )


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text)))


def _make_probes(pattern: str) -> Iterator[str]:
    """Yield texts that make a pattern with nested or neighbouring repetitions try for long."""
    literals = _LITERAL.findall(pattern)
    units = [
        "a",
        "A",
        "0",
        " ",
        "-",
        "a ",
        "Ab ",
        "0 ",
        "a0",
        "A0-",
        "a.",
        "a@a.",
        "12/",
        "word, ",
        "Name: Ab Cd\n",
    ]
    units += [*literals, "".join(literals) or "a", *(literal + "0" for literal in literals)]
    # A search gives up at once in a text without the characters that a match must end in. So they stand at the end.
    end = "\x7f" + "\x7f".join(dict.fromkeys([*pattern, *literals, _META.sub("", pattern)]))
    for unit in dict.fromkeys(units):
        yield (unit * (_PROBE // len(unit) + 1))[:_PROBE] + end
