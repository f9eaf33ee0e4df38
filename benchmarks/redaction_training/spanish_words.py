"""Make the list of Spanish words that identify nobody, which the strict level keeps when they begin with a capital.

From the training part of MEDDOCAN (see `benchmarks.redaction_training.spanish`): words that stand there in small
letters outside all marked places and are no common name, and short words all in capitals that stand there often (TAC,
PSA).

    python -m benchmarks.redaction_training.spanish_words corpus/train/brat > rules/es/words/safe_words.txt.gz
"""

import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from agent.redaction.models.train import Example
from agent.redaction.rules.es.word_lists import everyday, words
from benchmarks.redaction_training.spanish import HARMLESS, read_corpus

_WORD = re.compile(r"(?<![\w'-])[^\W\d_]{2,24}(?![\w'])")
_OFTEN = 3  # times that a word in capitals stands in the texts
_MAX_ACRONYM_LENGTH = 6


def safe_words(texts: Iterable[Example]) -> list[str]:
    """Return words in small letters, in order."""
    counts: Counter[str] = Counter()
    for text, spans in texts:
        kept = list(text)
        for start, end, _ in spans:
            kept[start:end] = " " * (end - start)
        counts.update(_WORD.findall("".join(kept)))
    names = (words("given_names") | words("surnames")) - everyday()
    return sorted(
        {
            word.lower()
            for word, count in counts.items()
            if word.lower() not in names
            and (
                word.islower()
                or (word.isupper() and count >= _OFTEN and len(word) <= _MAX_ACRONYM_LENGTH)
            )
        }
    )


def main(corpus: str) -> None:
    """Write the list, packed the same way each time."""
    kept = safe_words([*read_corpus(Path(corpus)), *((template, ()) for template in HARMLESS)])
    sys.stdout.buffer.write(gzip.compress("\n".join(kept).encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
