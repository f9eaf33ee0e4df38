"""Score the words of a text by language, from weights of words and runs of letters (see NOTICE.md)."""

import re
from array import array
from functools import cache
from pathlib import Path
from zlib import crc32

BUCKETS = 1 << 16
SCALE = 16  # scores are in sixteenths of a natural logarithm of odds

WORD = re.compile(r"[^\W\d_]{2,}")
RUNS = 2  # how much the mean of the runs of letters counts beside the word itself
_LONGEST_RUN = 4  # letters
_LONGEST_WORD = 24  # letters that are looked at
_MOST = 40  # the highest score of one word, so that a few odd words decide nothing
_KNOWN_WORDS = 30_000  # about 3 MB


def write_small(text: str) -> str:
    """Return a text in small letters, with every character at its place."""
    return text.replace("İ", "i").lower()  # the only letter with a small form of two characters


def split_words(text: str) -> list[str]:
    """Return the words of a text, in small letters. A single letter is none."""
    return WORD.findall(write_small(text))


def hash_features(word: str) -> tuple[int, list[int]]:
    """Return the bucket of a word, and the buckets of its runs of two to four letters."""
    marked = f"<{word[:_LONGEST_WORD]}>"
    runs = [
        crc32(marked[start : start + length].encode()) % BUCKETS
        for length in range(2, _LONGEST_RUN + 1)
        for start in range(len(marked) - length + 1)
    ]
    return crc32(b"word " + marked.encode()) % BUCKETS, runs


class WordScores(dict[str, tuple[int, int]]):
    """For each word in small letters, whether it belongs to a language that is not read, and whether it is Spanish.

    The first score is positive if the word rather belongs to another language than to English or Spanish. The second
    is positive if it is Spanish rather than English. A score is computed when it is first asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        folder = Path(__file__).parent
        self._not_english = array("b", (folder / "english_weights").read_bytes())
        self._not_spanish = array("b", (folder / "spanish_weights").read_bytes())

    def __missing__(self, word: str) -> tuple[int, int]:
        """Compute and keep the scores of a word."""
        whole, runs = hash_features(word)
        not_english = _score(self._not_english, whole, runs)
        not_spanish = _score(self._not_spanish, whole, runs)
        if len(self) >= _KNOWN_WORDS:
            self.clear()
        scores = self[word] = min(not_english, not_spanish), not_english - not_spanish
        return scores


@cache
def open_word_scores() -> WordScores:
    """Return the scores, which are read once."""
    return WordScores()


def _score(weights: "array[int]", whole: int, runs: list[int]) -> int:
    total = sum(map(weights.__getitem__, runs))
    score = weights[whole] + round(RUNS * total / len(runs))
    return max(-_MOST, min(_MOST, score))
