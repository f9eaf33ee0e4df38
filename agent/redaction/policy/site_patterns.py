"""A site's additions to a policy: patterns and lists of phrases. Checked when the policy is read."""

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

import regex

from agent.redaction.deadline import Deadline

_PROBE = 20_000  # characters, the size of the chunks that recognisers analyse
_PROBE_SECONDS = 0.5  # linear patterns take milliseconds; exponential ones never finish
_WORD = regex.compile(r"[\p{L}\p{M}\d]+")
_LITERAL = regex.compile(r"(?<!\\)[A-Za-z0-9 _/:#-]{2,}")
_META = regex.compile(r"\\[A-Za-z]|\(\?[:=!<P]*|[\\()?:+*\[\]{}|^$]")
_JOINT = 3  # maximum characters between two words of an entry


def check_pattern(pattern: str) -> None:
    """Compile a pattern and run it on texts that are designed to make it slow.

    Raises:
        ValueError: it is not a regular expression, matches the empty string, or takes too long.
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
                        "matches the empty string; make it require at least one character"
                    )
        except TimeoutError:
            raise ValueError(
                "takes too long on long texts; limit its repetitions ({0,20} instead of *), and do not let two "
                "consecutive repetitions match the same text"
            ) from None


def find_pattern(pattern: str) -> Callable[[str, Deadline], Iterator[tuple[int, int]]]:
    """Return a function that yields the start and end of each match of a pattern in folded text."""
    compiled = regex.compile(pattern, regex.MULTILINE)

    def find(text: str, deadline: Deadline) -> Iterator[tuple[int, int]]:
        yield from (
            match.span()
            for match in compiled.finditer(text, timeout=deadline.left())
            if match.group()
        )

    return find


def check_entry(entry: str) -> str:
    """Check one entry of a list of phrases, and return it unchanged.

    Raises:
        ValueError: the entry does not begin and end with a letter or digit, so it does not consist of whole words.
    """
    words = list(_WORD.finditer(entry))
    if not words or words[0].start() != 0 or words[-1].end() != len(entry):
        raise ValueError("expected whole words, with a letter or digit first and last")
    if not _are_close([word.span() for word in words]):
        raise ValueError(f"expected at most {_JOINT} characters between two words")
    return entry


_WORDS_PER_CHECK = 1_000  # words between two checks of the deadline


class Phrases:
    """Entries of a list, matched as whole words in any case and with any separators between the words."""

    def __init__(self, entries: Iterable[str]) -> None:
        # For each word, the lengths in words of the entries that begin with it.
        self._lengths: dict[str, set[int]] = {}
        self._whole: set[tuple[str, ...]] = set()
        for entry in entries:
            words = _split_words(entry)
            self._whole.add(words)
            self._lengths.setdefault(words[0], set()).add(len(words))

    def __bool__(self) -> bool:
        """Return whether there is any entry."""
        return bool(self._whole)

    def __contains__(self, value: str) -> bool:
        """Return whether `value` is exactly one entry."""
        return _split_words(value) in self._whole

    def find(self, text: str, deadline: Deadline) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each occurrence of an entry in folded text.

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
    """Return whether each word begins shortly after the previous one."""
    return all(
        following[0] - stretch[1] <= _JOINT for stretch, following in itertools.pairwise(stretches)
    )


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text)))


def _make_probes(pattern: str) -> Iterator[str]:
    """Yield texts that make patterns with nested or adjacent repetitions backtrack for a long time."""
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
    # A search fails at once in a text without the characters in which a match must end, so they are put at the end.
    end = "\x7f" + "\x7f".join(dict.fromkeys([*pattern, *literals, _META.sub("", pattern)]))
    for unit in dict.fromkeys(units):
        yield (unit * (_PROBE // len(unit) + 1))[:_PROBE] + end
