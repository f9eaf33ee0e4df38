"""A benchmark as its folder describes it: `benchmarks/<id>/benchmark.yaml` and the files named there."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, cast

from agent.catalog.yaml_map import YamlMap, nearest, read_text, read_yaml
from agent.datasets.formats import FORMATS
from agent.errors import BenchmarkError
from agent.metrics import METRICS, NOT_YET, Judge, MetricUse
from agent.shipped import shipped
from agent.vocabulary import AccessLevel, Scoring

Parser = Literal["option_letter", "text"]

_HELM_MAX_TOKENS = 1024  # MedHELM's default for configurable benchmarks
_REASONING_MAX_TOKENS = 4000  # MedHELM's value for reasoning models
_JUDGE_METRIC = "jury_score"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One dataset file in its official format.

    Attributes:
        name: file name at the source and in the site's `data/<benchmark id>/`; for a sample, its path in the
            benchmark's folder.
        sha256: of the version this definition was written for; None for a site's own dataset.
        rows: instances it gives; None if unknown.
        url: pinned address of that version; empty if there is none.
    """

    name: str
    sha256: str | None = None
    rows: int | None = None
    url: str = ""


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


def load_benchmark(folder_or_yaml: Path) -> Benchmark:
    """Read a benchmark folder (its benchmark.yaml) or a single YAML such as MedHELM's configurable ones.

    Files named in it are looked for beside the YAML, then (as MedHELM does) in the working directory.

    Raises:
        BenchmarkError: lists every problem of the definition, each with file and key.
    """
    path = folder_or_yaml / "benchmark.yaml" if folder_or_yaml.is_dir() else folder_or_yaml
    return _Definition(path).read()


def find_benchmarks(own: Path | None = None) -> dict[str, Benchmark]:
    """Read the benchmarks that travel with the agent and the site's own (folders or YAML files in `own`), by id.

    Raises:
        BenchmarkError: a definition is wrong, or two have one id or alias.
    """
    places = [path.parent for path in sorted(shipped("benchmarks").glob("*/benchmark.yaml"))]
    if own is not None and own.is_dir():
        places += sorted(p.parent for p in own.glob("*/benchmark.yaml"))
        places += sorted(p for p in own.iterdir() if p.suffix in (".yaml", ".yml") and p.is_file())
    found: dict[str, Benchmark] = {}
    names: dict[str, Path] = {}
    for place in places:
        benchmark = load_benchmark(place)
        for name in (benchmark.id, *benchmark.aliases):
            if name in names:
                raise BenchmarkError(f"{place}: the name {name!r} is already that of {names[name]}")
            names[name] = place
        found[benchmark.id] = benchmark
    return found


@cache
def taxonomy() -> dict[str, tuple[str, ...]]:
    """MedHELM's 5 categories, each with its subcategories (22 in all), in MedHELM's order."""
    path = shipped("benchmarks") / "taxonomy.yaml"
    tree = read_yaml(path, BenchmarkError)
    names = tree.texts("categories")
    subcategories = tree.map("subcategories")
    found = {name: subcategories.texts(name) for name in names} if subcategories else {}
    tree.finish()
    if tree.problems or not found:
        raise BenchmarkError(f"{path}: {'; '.join(tree.problems) or 'no categories'}")
    return found


class _Definition:
    """One definition file being read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = [path]  # the files whose bytes make the digest
        self._map = read_yaml(path, BenchmarkError)

    def read(self) -> Benchmark:
        m = self._map
        name = m.text("name")
        choices = self._choices()
        category, subcategory = self._place()
        loader, files, dataset_file, sample, invented, source = self._data()
        metrics = self._metrics()
        benchmark = Benchmark(
            id=re.sub(r"[^A-Za-z0-9._-]", "_", name),
            display_name=m.text("display_name", name),
            description=m.text("description"),
            category=category,
            subcategory=subcategory,
            # A benchmark that does not say is treated with the most care.
            access=cast(AccessLevel, m.choice("access", ("private", "gated", "public"), "private")),
            folder=self._path.parent,
            loader=loader,
            instructions=m.text("instructions", "").strip(),
            template=self._file_text(m, "prompt_file").rstrip(),
            max_tokens=m.integer("max_tokens", _HELM_MAX_TOKENS) or _HELM_MAX_TOKENS,
            reasoning_max_tokens=m.integer("reasoning_max_tokens", _REASONING_MAX_TOKENS) or _REASONING_MAX_TOKENS,
            helm_max_tokens=m.integer("helm_max_tokens", None),
            metrics=metrics,
            digest="",
            gold=self._gold(metrics, choices),
            choices=choices,
            files=files,
            dataset_file=dataset_file,
            sample=sample,
            sample_is_invented=invented,
            parser=cast(Parser, m.choice("parser", ("text", "option_letter"), "option_letter" if choices else "text")),
            scoring=cast(Scoring, m.choice("scoring", ("intramural", "helm"), "intramural")),
            unit=m.text("unit", "row"),
            unit_column=m.text("unit_column", "") or None,
            lineage=m.text("lineage", ""),
            id_column=m.text("id_column", "") or None,
            extra_columns=m.pairs("extra_columns"),
            optional_columns=m.texts("optional_columns"),
            source_url=source[0],
            source_commit=source[1],
            licence=m.text("licence", ""),
            citation=m.text("citation", ""),
            arguments=m.texts("arguments"),
            aliases=m.texts("aliases"),
        )
        if (benchmark.parser == "option_letter") != (choices is not None):
            m.note("parser", "option_letter goes with `choices`, and text without")
        m.finish()
        if m.problems:
            raise BenchmarkError("\n".join(f"{self._path}: {problem}" for problem in m.problems))
        # Only now: the digest needs every file to be readable.
        object.__setattr__(benchmark, "digest", self._digest())
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
        name = m.text("name")
        known = (*METRICS, *sorted(NOT_YET))
        if name and name not in known:
            m.note("name", f"unknown metric {name!r}{nearest(name, known)}; known are {', '.join(known)}")
        spec = METRICS.get(name)
        options = {key: m.flag(key, default) for key, default in spec.options.items()} if spec else {}
        judges: list[Judge] = []
        prompt_file = None
        if name == _JUDGE_METRIC:
            self._file_text(m, "prompt_file")
            prompt_file = self._read[-1]
            for judge in m.maps("judges"):
                judges.append(Judge(judge.text("name"), judge.text("model_name")))
                judge.finish()
            if not judges:
                m.note("judges", "expected a list of judges, each with `name` (deployment) and `model_name`")
        m.finish()
        return MetricUse(name, options, prompt_file, tuple(judges))

    def _data(
        self,
    ) -> tuple[str, tuple[DataFile, ...], Path | None, DataFile | None, bool, tuple[str, str]]:
        m = self._map
        data = m.map("data")
        dataset_file = None
        if m.has("dataset_file") or data is None:
            dataset_file = self._find(m.text("dataset_file"))
        if data is None:
            return "csv", (), dataset_file, None, False, ("", "")
        if dataset_file is not None:
            m.note("dataset_file", "give either `dataset_file` or `data`")
        loader = data.choice("loader", tuple(FORMATS))
        file_maps, sample_map = data.maps("files"), data.map("sample")
        files = tuple(self._data_file(inner, "name") for inner in file_maps)
        sample = self._data_file(sample_map, "file") if sample_map else None
        invented = sample_map.flag("invented", False) if sample_map else False
        for inner in (*file_maps, *([sample_map] if sample_map else [])):
            inner.finish()
        source = (data.text("source_url", ""), data.text("source_commit", ""))
        if not files and sample is None:
            m.note("data", "expected `files` or a `sample`")
        data.finish()
        return loader, files, None, sample, invented, source

    def _data_file(self, m: YamlMap, name_key: str) -> DataFile:
        name = m.text(name_key)
        sha256 = m.text("sha256", "")
        if sha256 and not _SHA256.fullmatch(sha256):
            m.note("sha256", "expected 64 lower-case hexadecimal digits")
        if Path(name).is_absolute() or ".." in Path(name).parts:
            m.note(name_key, "expected a path that stays in its folder")
        return DataFile(name, sha256 or None, m.integer("rows", None), m.text("url", ""))

    def _find(self, name: str) -> Path | None:
        if not name:
            return None
        beside = self._path.parent / name
        return beside if beside.exists() else Path.cwd() / name

    def _file_text(self, m: YamlMap, key: str) -> str:
        path = self._find(m.text(key))
        if path is None:
            return ""
        try:
            text = read_text(path, BenchmarkError)
        except BenchmarkError as why:
            m.note(key, str(why))
            return ""
        self._read.append(path)
        if not text.strip():
            m.note(key, f"{path} is empty")
        return text

    def _digest(self) -> str:
        """SHA-256 over the names' order and the digests of the definition files, the YAML first."""
        whole = hashlib.sha256()
        for path in self._read:
            whole.update(hashlib.sha256(path.read_bytes()).digest())
        return whole.hexdigest()
