"""The prompts and references of every shipped benchmark stay readable: a gate on what redaction takes needlessly.

Prints tags per 1,000 words by kind (`pytest -s -m full`). A tag is counted as needless if its text holds no digit, no
listed name or place, and none of the words that name the invented people of the samples.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.redaction.engine import Engine
from agent.redaction.gateway.cases import Redacting
from agent.redaction.gateway.cells import FixedTexts, list_references, split_messages
from agent.redaction.redacted import Withheld
from agent.redaction.rules.en.names import words
from agent.store.stored import StoredInstance
from agent.vocabulary import Instance

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
NAMES = sorted(path.parent.name for path in BENCHMARKS.glob("*/benchmark.yaml"))
INVENTED_PEOPLE = frozenset((
    "ada", "bo", "cleo", "dov", "eve", "finn", "zed", "yara", "invented", "fictional", "madeup", "nobody",
    "placeholder", "example", "examplewood", "samplefield", "fictionham", "sequoia",
))  # fmt: skip
# Most needless tags per 1,000 words among 40 instances, a third above what was measured; TARGET where none is given.
LIMITS = {
    "head_qa": 2.7,  # names of famous people and of Spanish institutions
    "med_mcqa": 3.2,  # misspelt words and answer options of two words that companies are made of
    "medhallu": 5.0,  # hospitals, registries and states in abstracts
    "pubmed_qa": 3.4,  # places, dyes, scales and plants in abstracts
    "race_based_med": 2.8,  # abbreviations in equations: "VC=TV+IRV+ERV"
}
TARGET = 2.0
LABELS = (
    re.compile(r"(?m)^[A-H]\. "),
    re.compile(
        r"(?im)\[(?:doctor|patient|patient_guest)\]|^(?:patient|doctor|client|counsell?or):"
    ),
    re.compile(r"(?im)(?:^[A-H]\. |^(?:patient|doctor|client): |\] )(?:yes|no)(?=[ .,!]|$)"),
)


def read_sample(name: str, most: int) -> list[Instance]:
    """Read up to `most` instances, evenly spread over the sample."""
    benchmark = load_benchmark(BENCHMARKS / name)
    instances = list(iter_instances(benchmark, locate_dataset(benchmark, None, {})))
    return instances[:: max(1, len(instances) // most)][:most]


def assert_labels_stay(engine: Engine, name: str, most: int) -> None:
    """Fail if an option letter, speaker label or yes/no answer of the prompts is lost."""
    instances = read_sample(name, most)
    stored = [
        StoredInstance(number, bytes(32), instance, None, {})
        for number, instance in enumerate(instances)
    ]
    for instance, case in zip(instances, Redacting(engine).clear("run", stored), strict=True):
        assert case.prompt is not None
        for message, cleared in zip(instance.messages, case.prompt, strict=True):
            for label in LABELS:
                assert len(label.findall(cleared.text)) == len(label.findall(message.content))


@pytest.mark.parametrize("name", NAMES)
def test_letters_labels_and_short_answers_stay(engine: Engine, name: str):
    assert_labels_stay(engine, name, most=1)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_prompts_of_shipped_benchmarks_stay_readable(engine: Engine, name: str):
    assert_labels_stay(engine, name, most=40)
    fixed_texts = FixedTexts(engine)
    tags, needless, examples = Counter[str](), Counter[str](), Counter[str]()
    word_count = 0
    for instance in read_sample(name, 40):
        assert fixed_texts.may_be_shown(instance)
        texts = [cell for message in split_messages(instance) for cell in message.cells]
        texts += list_references(instance)
        word_count += sum(len(message.content.split()) for message in instance.messages)
        word_count += sum(len(reference.text.split()) for reference in instance.references)
        for cued, (_, spans) in zip(
            texts, engine.redact_and_find(texts, instance.identifiers), strict=True
        ):
            assert not isinstance(spans, Withheld)
            for span in spans:
                taken = cued.text[span.start : span.end]
                tags[span.entity] += 1
                if not is_identifying(taken):
                    needless[span.entity] += 1
                    examples[f"{span.entity} {taken}"] += 1
    rate = 1000 * needless.total() / word_count
    print(
        f"\n{name}: {word_count} words, {1000 * tags.total() / word_count:.1f} tags per 1,000 {dict(tags)}, "
        f"needless {rate:.1f} {dict(needless)}"
    )
    assert rate <= LIMITS.get(name, TARGET), examples.most_common(20)


def is_identifying(taken: str) -> bool:
    """Return whether a text that was taken looks like an identifier."""
    if any(map(str.isdigit, taken)):
        return True
    known = words("given_names") | words("surnames") | INVENTED_PEOPLE
    places = words("places")
    parts = re.findall(r"[^\W\d_]+", taken)
    return any(part.lower() in known or part in places for part in parts) or taken in places
