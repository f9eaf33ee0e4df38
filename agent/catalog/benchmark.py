"""A benchmark as its folder describes it: `benchmarks/<id>/benchmark.yaml` and the files named there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agent.metrics import MetricUse
from agent.vocabulary import AccessLevel, Scoring

Parser = Literal["option_letter", "text"]


@dataclass(frozen=True, slots=True)
class DataFile:
    """One dataset file in its official format.

    Attributes:
        name: file name at the source and in the site's `data/<benchmark id>/`; for a sample, its path.
        sha256: of the version this definition was written for; None for a site's own dataset.
        rows: instances it gives; None if unknown.
        url: pinned address of that version; None if there is none.
    """

    name: str
    sha256: str | None = None
    rows: int | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Gold:
    """Where the right answer stands: in `column`, as the answer's text, an option letter, or a 1-based number."""

    column: str
    form: Literal["text", "letter", "number"] = "text"
    incorrect_column: str | None = None  # each cell a JSON list of wrong answers


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a multiple-choice question: the same for all rows (`texts`), or each row's (`columns`)."""

    texts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark, read and checked. `digest` changes with every byte of its definition files.

    Attributes:
        id: unique here; also the name in run entries and the folder under a site's `data/`.
        unit_column: column of the patient or document an instance belongs to; None: each row is its own.
        id_column: column of the dataset's own unique ids; None: row numbers.
        extra_columns: what `Instance.extra` holds: name there -> column.
        loader: how files become rows: "csv" or a module of `agent.datasets.formats`.
        files: the official dataset files, in instance order.
        sample: the real or invented sample that travels with the agent.
        sample_is_invented: whether its records were made up; shown on every page.
        instructions: text before the prompt, empty if none.
        template: the prompt, with {column} fields and {options}.
        max_tokens: length of an answer; reasoning_max_tokens: of thought and answer together.
        helm_max_tokens: what MedHELM allows, for the record.
        metrics: the first is the main one.
        scoring: what a run uses unless told otherwise.
        arguments: names a run entry may pass.
        aliases: further names in run entries (HELM's).
    """

    id: str
    display_name: str
    description: str
    category: str
    subcategory: str
    access: AccessLevel
    folder: Path
    loader: str
    files: tuple[DataFile, ...]
    sample: DataFile | None
    instructions: str
    template: str
    max_tokens: int
    reasoning_max_tokens: int
    metrics: tuple[MetricUse, ...]
    digest: str
    gold: Gold | None = None
    choices: Choices | None = None
    parser: Parser = "text"
    scoring: Scoring = "intramural"
    unit: str = "row"
    unit_column: str | None = None
    id_column: str | None = None
    extra_columns: Mapping[str, str] = field(default_factory=dict)
    optional_columns: tuple[str, ...] = ()
    sample_is_invented: bool = False
    source_url: str = ""
    source_commit: str = ""
    licence: str = ""
    citation: str = ""
    helm_max_tokens: int | None = None
    arguments: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def main_metric(self) -> MetricUse:
        """The metric that stands for the benchmark on the board."""
        return self.metrics[0]


def load_benchmark(folder_or_yaml: Path) -> Benchmark:
    """Read a benchmark folder (its benchmark.yaml) or a single YAML such as MedHELM's configurable ones.

    Raises:
        BenchmarkError: lists every problem of the definition, each with file and key.
    """
    raise NotImplementedError


def find_benchmarks(own: Path | None = None) -> dict[str, Benchmark]:
    """Read the benchmarks that travel with the agent and the site's own (folders or YAML files in `own`), by id.

    Raises:
        BenchmarkError: a definition is wrong, or two have one id.
    """
    raise NotImplementedError


def taxonomy() -> dict[str, tuple[str, ...]]:
    """MedHELM's 5 categories, each with its subcategories (22 in all), in MedHELM's order."""
    raise NotImplementedError
