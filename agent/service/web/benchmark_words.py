"""A benchmark's definition in words, for its page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile
from agent.catalog.question import Parser
from agent.errors import AgentError
from agent.metrics import MetricUse, find_spec

_ACCESS: Final[Mapping[str, str]] = {
    "public": "public: everyone may have its data",
    "gated": "gated: its owner gives the data to those who sign an agreement",
    "private": "private: the data is this hospital's own; nothing but registered figures may leave",
}
_PARSERS: Final[Mapping[Parser, str]] = {
    "text": "The whole answer counts.",
    "option_letter": "The letter of an option is read from the answer.",
    "label": "One of the labels is read from the answer.",
    "json": "A field of a JSON object in the answer counts.",
    "pattern": "What a pattern finds in the answer counts.",
}


@dataclass(frozen=True, slots=True)
class MetricWords:
    """One metric of a benchmark.

    Attributes:
        name: its name on pages.
        id: its name in files and on the command line.
        sentence: what it measures.
        criteria: the questions that a jury answers about each answer, by criterion.
    """

    name: str
    id: str
    sentence: str
    criteria: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileWords:
    """One file that a benchmark reads: its name, and what is known about it."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class TitledText:
    """A text of the definition with its title, such as the prompt. It holds no text of a record."""

    title: str
    text: str


def list_facts(benchmark: Benchmark) -> Mapping[str, str]:
    """Return the particulars of a definition by their names, without those that it leaves empty."""
    agreement = benchmark.agreement
    if agreement and benchmark.agreement_url:
        agreement = f"{agreement} ({benchmark.agreement_url})"
    source = benchmark.source_url
    if source and benchmark.source_commit:
        source = f"{source}, commit {benchmark.source_commit[:12]}"
    facts = {
        "Access": _ACCESS[benchmark.access],
        "Agreement": agreement,
        "Licence": benchmark.licence,
        "Category": ", ".join(filter(None, (benchmark.category, benchmark.subcategory))),
        "Unit of analysis": benchmark.unit,
        "Answer": _describe_answer(benchmark),
        "Longest answer": f"{benchmark.max_tokens:,} tokens; {benchmark.reasoning_max_tokens:,} for models that reason",
        "Shortened": _describe_shortening(benchmark),
        "Solved examples": str(benchmark.few_shot.count) if benchmark.few_shot else "",
        "Groups of patients": ", ".join(benchmark.subgroup_columns),
        "Source": source,
        "Citation": benchmark.citation,
        "Other names": ", ".join(benchmark.aliases),
    }
    return {name: words for name, words in facts.items() if words}


def _describe_answer(benchmark: Benchmark) -> str:
    sentence = _PARSERS[benchmark.parser]
    labels = ", ".join(label for label, *_ in benchmark.labels)
    if labels:
        return f"{sentence} Labels: {labels}."
    if benchmark.answer_field:
        return f"{sentence} Field: {benchmark.answer_field}."
    return sentence


def _describe_shortening(benchmark: Benchmark) -> str:
    if benchmark.shorten is None:
        return "never; a prompt that is too long for a model has no score"
    return (
        f"if a prompt is too long for a model, only {benchmark.shorten.column}, "
        f"whose {benchmark.shorten.keep} is kept"
    )


def list_passages(benchmark: Benchmark) -> Iterator[TitledText]:
    """Yield the texts with which a benchmark asks. Names in braces stand for columns of the data."""
    for title, text in (
        ("System prompt", benchmark.system_template),
        ("Instructions", benchmark.instructions),
        ("Prompt", benchmark.template),
    ):
        if text:
            yield TitledText(title, text)


def list_metrics(benchmark: Benchmark) -> Iterator[MetricWords]:
    """Yield the metrics, the main one first."""
    for use in benchmark.metrics:
        name, sentence = _describe_metric(use)
        yield MetricWords(name, use.name, sentence, use.criteria)


def _describe_metric(use: MetricUse) -> tuple[str, str]:
    try:
        spec = find_spec(use)
    except AgentError:
        return use.name, "A metric of this site's own; its code is checked before a run."
    needs = " It is left out where this site lacks what it needs." if use.optional else ""
    return spec.display_name, f"{spec.doc}{needs}"


def list_files(benchmark: Benchmark) -> Iterator[FileWords]:
    """Yield the files that the benchmark reads."""
    for file in benchmark.files:
        yield FileWords(file.name, "; ".join(_describe_file(file)))


def _describe_file(file: DataFile) -> Iterator[str]:
    if file.optional:
        yield "may be absent"
    for version in file.known:
        words = [f"version {version.label}" if version.label else "known version"]
        if version.rows:
            words.append(f"{version.rows:,} instances")
        words.append(f"SHA-256 {version.sha256[:16]}…")
        yield ", ".join(words)
    if not file.known:
        yield f"{file.rows:,} instances" if file.rows else "no version with a known digest"
