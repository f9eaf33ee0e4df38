"""Make the list of English words that identify nobody, which tells words in small letters from names typed in haste.

The strict level keeps them with a capital as well.

    python -m benchmarks.redaction_training.safe_words DICTIONARY CORPUS... > rules/en/words/safe_words.txt.gz

DICTIONARY is a list of words, one a line (SCOWL's `american-english`); a CORPUS is any text file of the field. From the
dictionary come the words without a capital; from the corpora, words that stand there in small letters and are no
common name, short words all in capitals (MRI, COPD), and words with a capital that end as drugs and germs do. Nothing
of how they stand together remains.
"""

import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from agent.redaction.rules.en.names import words

_WORD = re.compile(r"(?<![\w'-])[A-Za-z]{2,24}(?![\w'])")
_OFTEN = 3  # times that a word in capitals stands in the corpora
_MAX_ACRONYM_LENGTH = 6
# How drugs, germs and compounds end. They often stand with a capital only; so do names, which the dictionary knows or
# which end otherwise.
_TERM = re.compile(
    r"(?![A-Za-z]+(?:stein|aalia)$)[A-Z][a-z]{4,}(?:ia|us|um|ella|coccus|bacter|monas|ine|ol|in|ide|ate|one|mab|nib|vir|pril|sartan|statin|azole"
    r"|cillin|mycin|cline|pam|lam|xin|zole|itis|osis|oma|emia|uria|ectomy|otomy|oscopy|therapy|ology|pathy|aemia)"
)


def safe_words(dictionary: Iterable[str], corpora: Iterable[str]) -> list[str]:
    """Return words in small letters, and acronyms as they are, in order."""
    dictionary = frozenset(dictionary)
    found = {
        word for entry in dictionary if re.fullmatch(r"[a-z]{2,}", word := entry.removesuffix("'s"))
    }
    counts = Counter(word for corpus in corpora for word in _WORD.findall(corpus))
    names = words("given_names") | words("surnames")
    for word, count in counts.items():
        often = count >= _OFTEN
        acronym = often and word.isupper() and len(word) <= _MAX_ACRONYM_LENGTH
        term = often and word not in dictionary and _TERM.fullmatch(word)
        if word.lower() not in names and (word.islower() or acronym or term):
            found.add(word if acronym else word.lower())
    return sorted(found)


def main(dictionary: str, *corpora: str) -> None:
    """Write the list, packed the same way each time."""
    kept = safe_words(
        Path(dictionary).read_text("utf-8").splitlines(),
        (
            Path(corpus).read_text("utf-8").replace("\\n", " ").replace("\\t", " ")
            for corpus in corpora
        ),
    )
    sys.stdout.buffer.write(gzip.compress("\n".join(kept).encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
