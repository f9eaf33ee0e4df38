"""Train the weights by which redaction recognises languages: of words and runs of letters, for two questions.

The questions are whether a word belongs to a language that redaction does not read rather than to English, and rather
than to Spanish. Each is a logistic regression on windows of words, whose score is the sum of the scores of its words.

    python -m benchmarks.redaction_training.language_detector DJANGO corpus/train/brat agent/redaction/languages

Texts:

- languages that are not read: the sentences in `languages` beside this file, and translations of Django's messages
- English: made-up notes (`english`), harmless sentences, the list of safe words, Django's messages
- Spanish: the training part of MEDDOCAN (see `spanish`), its list of safe words, Django's messages in Spanish
- common names of people and drugs, which belong to no language

DJANGO is the unpacked wheel of Django 4.2.16 (BSD licence), of which only the weights are kept.
"""

import ast
import random
import re
import sys
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from agent.redaction.languages.words import BUCKETS, RUNS, SCALE, hash_features, split_words
from agent.redaction.rules.en.names import words as english_names
from agent.redaction.rules.es.word_lists import words as spanish_names
from agent.redaction.rules.word_lists import read_safe_words
from benchmarks.redaction_training import english, spanish
from benchmarks.redaction_training.lists import read_entries

SEED = 20_261
_STEPS = 4_000
_BATCH = 256  # windows
_RATE = 0.25
_DECAY = 2e-6
_DROPPED = 0.35  # share of windows of which frequent words are dropped, as in telegraphic notes
_PLAIN = 0.35  # share of windows without accents
_OWN = 40  # how often a sentence of ours counts, beside a message of Django's
_UNKNOWN = 0.5  # share of words that are known by their runs of letters alone, like most words of later texts
_FREQUENT = 60  # words of a language

_FOLDER = Path(__file__).parent / "languages"
# Locales of Django in Latin letters that are neither English nor Spanish nor rare.
_LOCALES = (
    "af az bs ca cs cy da de et eu fi fr ga hr hu id is it lt lv ms nb nl nn pl pt pt_BR ro sk sl sq sr_Latn sv sw tk "
    "tr uz vi"
)
_MESSAGE = re.compile(r'^(msgid|msgstr)(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
_PLACEHOLDER = re.compile(r"%\(\w+\)\w|%\w|\{[^}]*\}|<[^>]*>|&\w+;|https?\S+|[\w./-]*[/_=][\w./-]*")


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of one language, as words in small letters, and its most frequent words."""

    language: str
    sentences: list[list[str]]
    frequent: frozenset[str]


def read_django(folder: Path, locale: str) -> Iterator[str]:
    """Yield the messages of one locale; those of "en" are the originals."""
    for path in sorted(folder.glob("django/**/locale/*/LC_MESSAGES/django*.po")):
        if path.parts[-3] != ("de" if locale == "en" else locale):
            continue
        for kind, quoted in _MESSAGE.findall(path.read_text(encoding="utf-8")):
            if kind == ("msgid" if locale == "en" else "msgstr"):
                lines = re.findall(r'"(?:[^"\\]|\\.)*"', quoted)
                yield _PLACEHOLDER.sub(" ", "".join(map(ast.literal_eval, lines)))


def gather(django: Path, corpus: Path) -> tuple[list[Sentences], list[Sentences], list[Sentences]]:
    """Return the sentences of other languages, of English and of Spanish."""
    own = {
        path.stem: path.read_text(encoding="utf-8").splitlines() for path in _FOLDER.glob("*.txt")
    }
    locales = {locale: list(read_django(django, locale)) for locale in _LOCALES.split()}
    for other, same in (("pt_BR", "pt"), ("nb", "no")):
        own[other] = own[same]
    del own["no"]
    spoken = own.pop("en")
    others = [
        _prepare(language, locales.get(language, []), own.get(language, []))
        for language in sorted(own.keys() | locales.keys())
    ]
    notes = [text for text, _ in english.examples(SEED, 6_000)]
    lists = _make_lists()
    words = sorted(read_safe_words("en"))
    in_english = [
        _prepare("en", read_django(django, "en"), ()),
        _prepare("en", notes, ()),
        _prepare("en", english.harmless_sentences(), spoken),
        _prepare("en", spoken, ()),
        _prepare("en", _shuffle_words(words, 8_000), ()),
        _prepare("en", lists, ()),
    ]
    cases = [text for text, _ in spanish.read_corpus(corpus)]
    sentences = [line for text in cases for line in re.split(r"(?<=[.:])\s+|\n", text)]
    in_spanish = [
        _prepare("es", read_django(django, "es"), ()),
        _prepare("es", read_django(django, "es_MX"), ()),
        _prepare("es", sentences, ()),
        _prepare("es", _shuffle_words(sorted(read_safe_words("es")), 4_000), ()),
        _prepare("es", _make_spanish_lists(), ()),
    ]
    return others, in_english, in_spanish


def _make_lists() -> list[str]:
    """Return lists of names and drugs, as in English texts."""
    chance = random.Random(SEED)  # noqa: S311 - not for security
    names = sorted(english_names("given_names")) + sorted(english_names("surnames"))
    drugs = [*read_entries("words/english/drugs"), *read_entries("words/english/brands")]
    lists = [" ".join(chance.choices(names, k=8)) for _ in range(3_000)]
    return lists + [" ".join(chance.choices(drugs, k=8)) for _ in range(2_000)]


def _make_spanish_lists() -> list[str]:
    """Return lists of names, as in Spanish texts."""
    chance = random.Random(SEED)  # noqa: S311 - not for security
    names = sorted(spanish_names("given_names")) + sorted(spanish_names("surnames"))
    return [" ".join(chance.choices(names, k=8)) for _ in range(3_000)]


def _shuffle_words(words: Sequence[str], count: int) -> list[str]:
    chance = random.Random(SEED)  # noqa: S311 - not for security
    return [" ".join(chance.choices(words, k=8)) for _ in range(count)]


def _prepare(
    language: str, texts: "Iterator[str] | Sequence[str]", own: Sequence[str]
) -> Sentences:
    sentences = [split_words(text) for text in texts] + [split_words(text) for text in own] * _OWN
    sentences = [sentence for sentence in sentences if len(sentence) > 1]
    counts: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
    frequent = sorted(counts, key=lambda word: -counts[word])[:_FREQUENT]
    return Sentences(language, sentences, frozenset(frequent))


def draw_window(sources: Sequence[Sentences], chance: random.Random) -> list[str]:
    """Draw 3 to 12 words that follow each other in the sentences of one source."""
    source = chance.choice(sources)
    length = chance.randint(3, 12)
    window: list[str] = []
    at = chance.randrange(len(source.sentences))
    if chance.random() < _DROPPED:
        while len(window) < length:
            sentence = source.sentences[at % len(source.sentences)]
            window += [
                word for word in sentence if word not in source.frequent or chance.random() < 0.2
            ]
            at += 1
    else:
        while len(window) < length:
            window += source.sentences[at % len(source.sentences)]
            at += 1
    start = chance.randint(0, len(window) - length)
    window = window[start : start + length]
    if chance.random() < _PLAIN:
        window = list(map(strip_accents, window))
    return window


def strip_accents(word: str) -> str:
    """Return a word without the marks on its letters."""
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@cache
def _weigh_runs(word: str) -> tuple[int, tuple[tuple[int, float], ...]]:
    """Return the bucket of a word, and the buckets of its runs of letters with their shares."""
    whole, runs = hash_features(word)
    return whole, tuple((run, RUNS / len(runs)) for run in runs)


def train(
    positive: Sequence[Sentences], negative: Sequence[Sentences], steps: int = _STEPS
) -> "np.ndarray":
    """Return the weight of each bucket for telling `positive` windows from `negative` ones."""
    chance = random.Random(SEED)  # noqa: S311 - not for security
    weights = np.zeros(BUCKETS, dtype=np.float64)
    squares = np.full(BUCKETS, 1e-3)
    for step in range(steps):
        rows, columns, values, labels = [], [], [], []
        for row in range(_BATCH):
            label = row % 2
            sources = positive if label else negative
            labels.append(label)
            for word in draw_window(sources, chance):
                whole, runs = _weigh_runs(word)
                features = runs if chance.random() < _UNKNOWN else ((whole, 1.0), *runs)
                for column, value in features:
                    rows.append(row)
                    columns.append(column)
                    values.append(value)
        at, by = np.array(columns), np.array(values)
        sums = np.bincount(rows, weights=weights[at] * by, minlength=_BATCH)
        errors = 1 / (1 + np.exp(-sums)) - np.array(labels)
        gradient = np.bincount(at, weights=errors[np.array(rows)] * by, minlength=BUCKETS) / _BATCH
        gradient += _DECAY * weights
        squares += gradient * gradient
        weights -= _RATE * gradient / np.sqrt(squares)
        if step % 500 == 0:
            loss = -np.mean(
                np.log(np.clip(np.abs(1 - np.array(labels) - 1 / (1 + np.exp(-sums))), 1e-9, 1))
            )
            print(step, round(float(loss), 4), file=sys.stderr, flush=True)
    return weights


def write_weights(weights: "np.ndarray", path: Path) -> None:
    """Write the weights as whole numbers of one byte each."""
    scaled = np.clip(np.rint(weights * SCALE), -127, 127).astype(np.int8)
    path.write_bytes(array("b", scaled.tolist()).tobytes())


def main(django: str, corpus: str, folder: str) -> None:
    """Train both sets of weights and write them."""
    others, in_english, in_spanish = gather(Path(django), Path(corpus))
    for name, read in (("english", in_english), ("spanish", in_spanish)):
        write_weights(train(others, read), Path(folder) / f"{name}_weights")


if __name__ == "__main__":
    main(*sys.argv[1:])
