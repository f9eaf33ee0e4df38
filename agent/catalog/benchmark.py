"""A benchmark as its folder describes it: `benchmarks/<id>/benchmark.yaml` and the files named there."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from agent.catalog.data_section import DataFile, DataSection, read_data_section
from agent.catalog.named_file import named_file, refuse_key_text
from agent.catalog.small_file import decode, read_bytes
from agent.catalog.taxonomy import taxonomy
from agent.catalog.wording import nearest
from agent.catalog.yaml_map import YamlMap, yaml_map
from agent.errors import BenchmarkError
from agent.metrics import METRICS, NOT_YET, Judge, MetricUse
from agent.shipped import shipped
from agent.vocabulary import AccessLevel, Scoring

Parser = Literal["option_letter", "text"]

_HELM_MAX_TOKENS = 1024  # MedHELM's default for configurable benchmarks
_REASONING_MAX_TOKENS = 4000  # MedHELM's value for reasoning models
_JUDGE_METRIC = "jury_score"


@dataclass(frozen=True, slots=True)
class Gold:
    """Where the right answer stands: in `column`, as the answer's text, an option letter, or a 1-based number."""

    column: str
    form: Literal["text", "letter", "number"] = "text"
    incorrect_column: str = ""  # each cell a JSON list of wrong answers; used where the table has it


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
        loader: how files become rows: a name of `agent.datasets.formats.FORMATS`.
        files: the official dataset files, in instance order; empty for a site's own benchmark.
        dataset_file: a site's own dataset beside the definition; None if the benchmark has official files.
        sample: the real or invented sample that travels with the agent.
        sample_is_invented: whether its records were made up; shown on every page.
        instructions: text before the prompt, empty if none.
        template: the prompt, with {column} fields and {options}.
        max_tokens: length of an answer; reasoning_max_tokens: of thought and answer together.
        helm_max_tokens: what MedHELM allows, for the record.
        metrics: the first is the main one.
        scoring: what a run uses unless told otherwise.
        unit: what one unit is, in a word (patient, note, article, question, ...).
        unit_column: column of the patient or document an instance belongs to; None: each row is its own.
        lineage: name of the dataset the units come from; benchmarks cut from one dataset share it. Empty: a private
            benchmark shares the site's, any other is its own.
        id_column: column of the dataset's own unique ids; None: row numbers.
        extra_columns: what `Instance.extra` holds: name there -> column.
        optional_columns: columns whose cells may be empty, and options that a row may lack.
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
    instructions: str
    template: str
    max_tokens: int
    reasoning_max_tokens: int
    metrics: tuple[MetricUse, ...]
    digest: str
    gold: Gold | None = None
    choices: Choices | None = None
    files: tuple[DataFile, ...] = ()
    dataset_file: Path | None = None
    sample: DataFile | None = None
    sample_is_invented: bool = False
    parser: Parser = "text"
    scoring: Scoring = "intramural"
    unit: str = "row"
    unit_column: str | None = None
    lineage: str = ""
    id_column: str | None = None
    extra_columns: Mapping[str, str] = field(default_factory=dict)
    optional_columns: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True)
class Broken:
    """A definition that cannot be used: where it lies, the names it goes by, and why."""

    place: Path
    names: tuple[str, ...]
    error: BenchmarkError


def load_benchmark(folder_or_yaml: Path, *, absolute_paths: bool = False) -> Benchmark:
    """Read a benchmark folder (its benchmark.yaml) or a single YAML such as MedHELM's configurable ones.

    Files named in it are looked for beside the YAML, then (as MedHELM does) in the working directory, and never
    elsewhere.

    Args:
        folder_or_yaml: what to read.
        absolute_paths: whether it may name files by absolute paths. For definitions that a user names in a run entry.

    Raises:
        BenchmarkError: lists every problem of the definition, each with file and key.
    """
    return _Definition(folder_or_yaml, absolute_paths).read()


def find_benchmarks(own: Path | None = None) -> dict[str, Benchmark]:
    """Read the benchmarks that travel with the agent and the site's own (folders or YAML files in `own`), by id.

    Raises:
        BenchmarkError: a definition is wrong, or two have one id or alias.
    """
    found, broken = survey_benchmarks(own)
    if broken:
        raise BenchmarkError("\n".join(str(one.error) for one in broken))
    return found


def survey_benchmarks(own: Path | None = None) -> tuple[dict[str, Benchmark], list[Broken]]:
    """Read what `find_benchmarks` reads, and set aside what cannot be used, so that one mistake hides no other.

    A name that two definitions claim stays with the first, and is one of the second's in the list of broken ones:
    `benchmark_of` refuses it, since nobody can tell which of them is meant.
    """
    places = [path.parent for path in sorted(shipped("benchmarks").glob("*/benchmark.yaml"))]
    if own is not None and own.is_dir():
        places += sorted(p.parent for p in own.glob("*/benchmark.yaml"))
        places += sorted(p for p in own.iterdir() if p.suffix in (".yaml", ".yml") and p.is_file())
    found: dict[str, Benchmark] = {}
    broken: list[Broken] = []
    taken: dict[str, Path] = {}
    for place in places:
        names: tuple[str, ...] = (place.name if place.is_dir() else place.stem,)
        try:
            definition = _Definition(place)
            names = definition.names or names
            benchmark = definition.read()
            for name in names:
                if name in taken:
                    raise BenchmarkError(f"{place}: the name {name!r} is already that of {taken[name]}")
        except BenchmarkError as why:
            broken.append(Broken(place, names, why))
        else:
            taken.update(dict.fromkeys(names, place))
            found[benchmark.id] = benchmark
    return found, broken


class _Definition:
    """One definition file being read.

    Attributes:
        names: its id and aliases, as far as they can be read.
    """

    def __init__(self, folder_or_yaml: Path, absolute_paths: bool = False) -> None:
        self._path = folder_or_yaml / "benchmark.yaml" if folder_or_yaml.is_dir() else folder_or_yaml
        self._absolute_paths = absolute_paths
        data = read_bytes(self._path, BenchmarkError)
        self._digests = [hashlib.sha256(data).digest()]  # of each definition file, as it was read
        self._map = yaml_map(data, self._path, BenchmarkError)
        self._name = self._map.name("name")
        self._id = re.sub(r"[^A-Za-z0-9._-]", "_", self._name)
        self._aliases = self._map.names("aliases")
        if self._id and not self._id[0].isalnum():  # the id is the name of a folder, and `..` is one too
            self._map.note("name", "expected a name that begins with a letter or a digit")
        self.names = tuple(name for name in (self._id, *self._aliases) if name)

    def read(self) -> Benchmark:
        m = self._map
        choices = self._choices()
        category, subcategory = self._place()
        data, dataset_file = self._data()
        metrics = self._metrics()
        template, _ = self._text_file(m, "prompt_file")
        gold = self._gold(metrics, choices)
        parser = cast(Parser, m.choice("parser", ("text", "option_letter"), "option_letter" if choices else "text"))
        if (parser == "option_letter") != (choices is not None):
            m.note("parser", "option_letter goes with `choices`, and text without")
        benchmark = Benchmark(
            id=self._id,
            display_name=m.name("display_name", self._name),
            description=m.text("description"),
            category=category,
            subcategory=subcategory,
            # A benchmark that does not say is treated with the most care.
            access=cast(AccessLevel, m.choice("access", ("private", "gated", "public"), "private")),
            folder=self._path.parent,
            loader=data.loader,
            instructions=m.text("instructions", "").strip(),
            template=template.rstrip(),
            max_tokens=m.integer("max_tokens", _HELM_MAX_TOKENS) or _HELM_MAX_TOKENS,
            reasoning_max_tokens=m.integer("reasoning_max_tokens", _REASONING_MAX_TOKENS) or _REASONING_MAX_TOKENS,
            helm_max_tokens=m.integer("helm_max_tokens", None),
            metrics=metrics,
            digest=self._digest(),
            gold=gold,
            choices=choices,
            files=data.files,
            dataset_file=dataset_file,
            sample=data.sample,
            sample_is_invented=data.sample_is_invented,
            parser=parser,
            scoring=cast(Scoring, m.choice("scoring", ("intramural", "helm"), "intramural")),
            unit=m.name("unit", "row"),
            unit_column=m.text("unit_column", "") or None,
            lineage=m.name("lineage", ""),
            id_column=m.text("id_column", "") or None,
            extra_columns=m.pairs("extra_columns"),
            optional_columns=m.texts("optional_columns"),
            source_url=data.source_url,
            source_commit=data.source_commit,
            licence=m.text("licence", ""),
            citation=m.text("citation", ""),
            arguments=m.names("arguments"),
            aliases=self._aliases,
        )
        m.finish()
        if m.problems:
            raise BenchmarkError("\n".join(f"{self._path}: {problem}" for problem in m.problems))
        return benchmark

    def _place(self) -> tuple[str, str]:
        m = self._map
        category, subcategory = m.text("category", ""), m.text("subcategory", "")
        if category and category not in taxonomy():
            m.note("category", f"{category!r} is not in the taxonomy{nearest(category, taxonomy())}")
        elif subcategory and subcategory not in taxonomy().get(category, ()):
            known = taxonomy().get(category, ())
            m.note("subcategory", f"{subcategory!r} is not a subcategory of {category!r}{nearest(subcategory, known)}")
        return category, subcategory

    def _choices(self) -> Choices | None:
        m = self._map
        if not m.has("choices"):
            return None
        if m.is_list("choices"):
            texts = m.texts("choices")
            if not 2 <= len(texts) <= 26 or len(set(texts)) != len(texts):
                m.note("choices", "expected 2 to 26 different texts")
            return Choices(texts=texts)
        inner = m.map("choices")
        columns = inner.texts("columns") if inner else ()
        if inner:
            inner.finish()
        if not 2 <= len(columns) <= 26 or len(set(columns)) != len(columns):
            m.note("choices", "expected a list of 2 to 26 texts, or `columns` with 2 to 26 columns")
        return Choices(columns=columns)

    def _gold(self, metrics: tuple[MetricUse, ...], choices: Choices | None) -> Gold | None:
        m = self._map
        inner = m.map("gold")
        if inner is None:
            # MedHELM's columns. A jury alone needs no right answer.
            only_jury = bool(metrics) and all(metric.name == _JUDGE_METRIC for metric in metrics)
            return None if only_jury else Gold("correct_answer", incorrect_column="incorrect_answers")
        gold = Gold(
            column=inner.text("column"),
            form=cast(Literal["text", "letter", "number"], inner.choice("form", ("text", "letter", "number"), "text")),
            incorrect_column=inner.text("incorrect_column", ""),
        )
        inner.finish()
        if choices is None and gold.form != "text":
            m.note("gold.form", "a letter or number needs `choices`")
        return gold

    def _metrics(self) -> tuple[MetricUse, ...]:
        m = self._map
        uses = tuple(self._metric(inner) for inner in m.maps("metrics"))
        if not uses:
            m.note("metrics", "expected a list with at least one metric, each with a `name`")
        for name in {use.name for use in uses if sum(other.name == use.name for other in uses) > 1}:
            m.note("metrics", f"{name!r} is given twice")
        return uses

    def _metric(self, m: YamlMap) -> MetricUse:
        name = m.name("name")
        known = (*METRICS, *sorted(NOT_YET))
        if name and name not in known:
            m.note("name", f"unknown metric {name!r}{nearest(name, known)}; known are {', '.join(known)}")
        spec = METRICS.get(name)
        options = {key: m.flag(key, default) for key, default in spec.options.items()} if spec else {}
        judges: list[Judge] = []
        prompt_file: Path | None = None
        if name == _JUDGE_METRIC:
            _, prompt_file = self._text_file(m, "prompt_file")
            for judge in m.maps("judges"):
                judges.append(Judge(judge.name("name"), judge.name("model_name")))
                judge.finish()
            if not judges:
                m.note("judges", "expected a list of judges, each with `name` (deployment) and `model_name`")
        m.finish()
        return MetricUse(name, options, prompt_file, tuple(judges))

    def _data(self) -> tuple[DataSection, Path | None]:
        m = self._map
        inner = m.map("data")
        if inner is None:
            return DataSection(), self._find(m, "dataset_file")
        if m.skip("dataset_file"):
            m.note("dataset_file", "give either `dataset_file` or `data`")
        return read_data_section(inner), None

    def _find(self, m: YamlMap, key: str) -> Path | None:
        name = m.name(key)
        try:
            return named_file(name, self._path.parent, absolute=self._absolute_paths) if name else None
        except BenchmarkError as why:
            m.note(key, str(why))
            return None

    def _text_file(self, m: YamlMap, key: str) -> tuple[str, Path | None]:
        path = self._find(m, key)
        if path is None:
            return "", None
        try:
            data = read_bytes(path, BenchmarkError)
            text = decode(data, path, BenchmarkError)
            refuse_key_text(data)
        except BenchmarkError as why:
            m.note(key, str(why))
            return "", None
        self._digests.append(hashlib.sha256(data).digest())
        if not text.strip():
            m.note(key, f"{path} is empty")
        return text, path

    def _digest(self) -> str:
        """SHA-256 over the digests of the definition files: the YAML's, the judges' prompts', the prompt's."""
        return hashlib.sha256(b"".join(self._digests)).hexdigest()
