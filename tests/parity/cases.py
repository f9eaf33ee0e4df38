"""What both scorers are given: instances of our own loaders, and answers right, wrong, oddly formatted and empty."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Dataset, load_instances, locate_dataset
from agent.errors import BenchmarkError
from agent.metrics import JUDGED
from agent.metrics.bert_score import NAMES
from agent.vocabulary import Instance
from tests.agent.catalog.shipped import BENCHMARKS

OFFICIAL = os.environ.get("INTRAMURAL_OFFICIAL_DATA")
MAX_INSTANCES = 200
RUN_SPECS = {
    "med_qa": "medhelm_med_qa",
    "med_mcqa": "medhelm_med_mcqa",
}  # where HELM's name is not the id
PLACEHOLDERS = {
    "condition": "homelessness",
    "subject": "guo_readmission",
    "subset": "healthcaremagic",
}

LABEL_SETS = [  # gold labels, and an answer
    (["sepsis", "anaemia"], "sepsis, anaemia"),
    (["sepsis"], "Sepsis."),
    (["asthma", "COPD"], "asthma, pneumonia, asthma"),
    (["the flu"], "flu"),
    (["COPD", "sepsis", "heart failure"], "heart failure,COPD,gout"),
    (["gout"], ""),
    (["anaemia"], "sepsis and anaemia"),
]
ONE_CLASS = [
    (["sepsis"], "sepsis"),
    (["sepsis"], "gout"),
    (["sepsis"], "sepsis, gout"),
    ([""], "gout"),
    ([""], "sepsis"),
]


@dataclass(frozen=True)
class Case:
    """One benchmark: its instances, and each answer with the place of its instance."""

    benchmark: Benchmark
    known: str
    instances: list[Instance]
    answers: list[tuple[int, str]]

    def to_json(self) -> dict:
        """Return what HELM's side needs."""
        return {
            "run_spec": RUN_SPECS.get(self.benchmark.id, self.benchmark.id),
            "arguments": PLACEHOLDERS,
            "instances": [instance_json(instance) for instance in self.instances],
            "answers": self.answers,
            "words": self.benchmark.id == "medication_qa",
            "classes": self.benchmark.id != "ehr_sql",
            "label_sets": [LABEL_SETS, ONE_CLASS, ONE_CLASS[:3]]
            if self.benchmark.id == "medhallu"
            else [],
        }


def instance_json(instance: Instance) -> dict:
    extra = dict(instance.extra)
    database = extra.pop("database", None)
    if database:
        extra = {
            "value": json.loads(extra["value"] or "{}"),
            "is_impossible": extra["is_impossible"] == "true",
        }
    return {
        "id": instance.id,
        "references": [{"text": r.text, "correct": r.correct} for r in instance.references],
        "extra": extra or None,
        "database": database,
    }


def closed_benchmarks() -> list[Benchmark]:
    """Return the benchmarks that have gold and a metric which is computed from the answer alone."""
    with_gold = [b for b in BENCHMARKS.values() if b.gold is not None]
    return [b for b in with_gold if any(m.name not in JUDGED.union(NAMES) for m in b.metrics)]


def make_case(benchmark: Benchmark) -> Case:
    dataset = _located(benchmark)
    everything = [
        i
        for i in load_instances(benchmark, dataset)
        if any(r.correct and r.text.strip() for r in i.references)
    ]
    step = max(1, len(everything) // MAX_INSTANCES)
    instances = everything[::step][:MAX_INSTANCES]
    style = _style(benchmark)
    answers = [
        (i, answer) for i in range(len(instances)) for answer in dict.fromkeys(style(instances, i))
    ]
    return Case(benchmark, dataset.known, instances, answers)


def _located(benchmark: Benchmark) -> Dataset:
    """Find the official files, else the sample: which one is said at the end of the run."""
    if OFFICIAL:
        with suppress(BenchmarkError):
            return locate_dataset(benchmark, Path(OFFICIAL))
    return locate_dataset(benchmark)


def _style(benchmark: Benchmark) -> Callable[[list[Instance], int], Iterator[str]]:
    names = {metric.name for metric in benchmark.metrics}
    for name, style in (
        ("medcalc", _values),
        ("medec", _verdicts),
        ("mimiciv", _codes),
        ("ehr_sql", _queries),
    ):
        if any(metric.startswith(name) for metric in names):
            return style
    if any(metric.startswith("rouge") for metric in names):
        return _notes
    return _choices


def right(instance: Instance) -> str:
    return next(r.text for r in instance.references if r.correct)


def _choices(instances: list[Instance], i: int) -> Iterator[str]:
    instance = instances[i]
    if not instance.multiple_choice:
        yield from _words(instances, i)
        return
    index = next(n for n, r in enumerate(instance.references) if r.correct)
    letter, text = chr(ord("A") + index), right(instance)
    other = chr(ord("A") + (index + 1) % len(instance.references))
    yield from (
        "",
        " ",
        "\n",
        letter,
        f" {letter}\n",
        other,
        f"\t{other}",
        letter.lower(),
        "Z",
        "1",
        "Ａ",
    )
    yield from (
        f"{letter}.",
        f"({letter})",
        f"{letter})",
        f"**{letter}**",
        f"\\boxed{{{letter}}}",
        f"{other}.",
    )
    yield from (
        f"Answer: {letter}",
        f"The answer is {letter}.",
        f'{{"answer": "{letter}"}}',
        f"Option {letter}",
    )
    yield from (
        text,
        text.upper(),
        f"{text}.",
        f"{letter}. {text}",
        f"{letter}\n\nBecause it fits.",
    )
    yield from (
        f"{letter} and {other}",
        f"{letter}, {other}",
        f"not {letter}",
        "I cannot answer that.",
        "A patient",
    )


def _words(instances: list[Instance], i: int) -> Iterator[str]:
    gold, other = right(instances[i]), right(instances[(i + 1) % len(instances)])
    yield from (
        "",
        "\n",
        gold,
        f" {gold} ",
        gold.upper(),
        gold.lower(),
        f"{gold}.",
        f"**{gold}**",
        f'"{gold}"',
    )
    yield from (
        other,
        f"the {gold}",
        f"{gold}, because",
        f"{gold}s",
        f"{gold} {gold}",
        f"Answer: {gold}",
        "...",
        "0",
    )


def _values(instances: list[Instance], i: int) -> Iterator[str]:
    instance = instances[i]
    gold, low, high = right(instance), instance.extra["lower_limit"], instance.extra["upper_limit"]
    yield from ("", gold, f" {gold}\n", low, high, right(instances[(i + 1) % len(instances)]))
    yield from (
        f"{gold}.",
        f"The answer is {gold}.",
        f"**{gold}**",
        f"{gold} points",
        f"\\boxed{{{gold}}}",
        f"-{gold}",
    )
    yield from (
        "nan",
        "inf",
        "1e400",
        "0",
        "9999",
        "1_0",
        "5.0",
        "5",
        "about 5",
        "03/04/2020",
        "2020-03-04",
    )
    yield from (
        "('14 weeks', '2 days')",
        "14 weeks 2 days",
        "I cannot tell.",
        f"{low} to {high}",
        f"> {low}",
    )


def _verdicts(instances: list[Instance], i: int) -> Iterator[str]:
    gold, other = right(instances[i]), right(instances[(i + 1) % len(instances)])
    number = gold.split()[0]
    yield from (
        "",
        gold,
        f" {gold} ",
        number,
        f"{number}.",
        f"**{number}** {gold}",
        other,
        other.split()[0],
    )
    yield from (
        "CORRECT",
        "CORRECT.",
        "**CORRECT**",
        "correct",
        "The note is correct.",
        "INCORRECT",
        "0",
        "-1",
    )
    yield from (
        f"Sentence {number}: wrong",
        "5 and 7",
        "5 The patient",
        "I cannot tell.",
        "10 10 10",
        "007",
    )


def _codes(instances: list[Instance], i: int) -> Iterator[str]:
    gold, other = right(instances[i]), right(instances[(i + 1) % len(instances)])
    codes = [code.strip() for code in gold.split(",")]
    yield from (
        "",
        gold,
        gold.replace(".", ""),
        gold.lower(),
        "\n".join(codes),
        ", ".join(codes[::-1]),
        other,
    )
    yield from (
        codes[0],
        f"{codes[0]}.",
        ", ".join(codes[: len(codes) // 2 + 1]),
        f"{gold},{other}",
        f"{codes[0]}, Z99.9",
    )
    yield from (
        "\n".join(f"- **{code}** - a condition" for code in codes),
        f"The code is {codes[0]} (certain).",
    )
    yield from (
        "Low vitamin B12, T4 and L5.",
        f"{codes[0]}. Low vitamin B12.",
        "No codes apply.",
        "J18.9, I10, E11.9",
    )


def _queries(instances: list[Instance], i: int) -> Iterator[str]:
    gold = right(instances[i])
    other = right(instances[(i + 1) % len(instances)])
    yield from (
        "",
        gold,
        f"```sql\n{gold}\n```",
        f"<sql>{gold}</sql>",
        other,
        "null",
        "I cannot answer that.",
    )
    yield from (
        "select 1",
        "select patientunitstayid from patient",
        "selec 1",
        "select * from no_such_table",
    )


def _notes(instances: list[Instance], i: int) -> Iterator[str]:
    gold, other = right(instances[i]), right(instances[(i + 1) % len(instances)])
    words = gold.split()
    yield from (
        "",
        gold,
        other,
        gold.upper(),
        " ".join(words[::-1]),
        " ".join(words[: len(words) // 2 + 1]),
    )
    yield from (
        " ".join(words[::2]),
        f"{gold} {other}",
        words[0],
        "...",
        "발열",
        "{" + gold + "}",
        f"{words[0]} " * 50,
    )
    yield from (
        " ".join(words[1::2]),
        " ".join(words[: len(words) // 3 + 1]),
        "The patient was seen and is well.",
    )
