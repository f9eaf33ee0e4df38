r"""Make the lists of further words that shorthand may hold without naming anybody.

`known_words.txt.gz` and `safe_words.txt.gz`, whose words it leaves out, are the closed vocabulary of texts in small
letters: a word in neither is taken for a name (`agent/redaction/rules/en/vocabulary.py`). `long_words.txt.gz` holds
the frequent long words of the field, which are cut short in haste and misspelt.

    python -m benchmarks.redaction_training.known_words --dictionary FILE... --terms FILE... --corpus FILE... \
        --out FOLDER

A dictionary is a list of words, one a line (SCOWL's `american-english-large` and `british-english-large`); its words
without a capital are taken. Terms are such lists whose capitals do not count: drugs, genes, scales. A corpus is any
text file of the field; the words that stand there in small letters at least twice, and more often than with a capital,
are taken. Given names and surnames are left out (from faker, a
training-time package), and so is how words stand together.
"""

import argparse
import gzip
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import faker.providers.person

from agent.redaction.rules.en.names import words
from agent.redaction.rules.word_lists import read_safe_words

_WORD = re.compile(r"(?<![\w'’@./\\-])[A-Za-z]{2,24}(?![\w'’@])")
_PLAIN = re.compile(r"[a-z]{2,24}")
_OFTEN = 2  # times that a word stands in the corpora in small letters
_VERY_OFTEN = 5  # times that a word stands there that is cut short in haste
_LONG = 7  # letters of such a word


def list_known_words(dictionaries: Iterable[str], counts: Counter[str]) -> list[str]:
    """Return the words of dictionaries and corpora that are in no list of names and are no safe words, in order."""
    names = words("given_names") | words("surnames") | list_names_of_the_world()
    taken = {word.removesuffix("'s") for entry in dictionaries for word in entry.split()}
    taken |= {word for word, count in counts.items() if count >= _OFTEN}
    plain = {word for word in taken if _PLAIN.fullmatch(word)}
    return sorted(plain - names - read_safe_words("en"))


def list_long_words(counts: Counter[str]) -> list[str]:
    """Return the frequent long words of the corpora, in order."""
    return sorted(
        word for word, count in counts.items() if count >= _VERY_OFTEN and len(word) >= _LONG
    )


def count_small_words(corpora: Iterable[str]) -> Counter[str]:
    """Count the words in small letters that stand more often so than with a capital."""
    small, capital = Counter[str](), Counter[str]()
    for corpus in corpora:
        for word in _WORD.findall(corpus):
            if word.islower():
                small[word] += 1
            elif not word.isupper():
                capital[word.lower()] += 1
    return Counter({word: count for word, count in small.items() if count > capital[word]})


def list_names_of_the_world() -> frozenset[str]:
    """Return the parts of the given names and surnames of every locale of faker, in small letters."""
    names = set[str]()
    for module in pkgutil.iter_modules(faker.providers.person.__path__):
        provider = import_module(f"faker.providers.person.{module.name}").Provider
        for attribute in dir(provider):
            values = getattr(provider, attribute)
            if attribute.startswith(("first_names", "last_names")) and isinstance(values, Iterable):
                for name in values:
                    names.update(_WORD.findall(str(name).lower()))
    return frozenset(names)


def write_packed(path: Path, entries: Iterable[str]) -> None:
    """Write a list, packed the same way each time."""
    path.write_bytes(gzip.compress("\n".join(entries).encode(), mtime=0))


def main() -> None:
    """Write both lists."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dictionary", nargs="+", type=Path, required=True)
    parser.add_argument("--terms", nargs="*", type=Path, default=[])
    parser.add_argument("--corpus", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    entries = [line for path in given.dictionary for line in path.read_text("utf-8").splitlines()]
    entries += [
        line.lower() for path in given.terms for line in path.read_text("utf-8").splitlines()
    ]
    counts = count_small_words(
        path.read_text("utf-8").replace("\\n", " ").replace("\\t", " ") for path in given.corpus
    )
    write_packed(given.out / "known_words.txt.gz", list_known_words(entries, counts))
    write_packed(given.out / "long_words.txt.gz", list_long_words(counts))


if __name__ == "__main__":
    main()
