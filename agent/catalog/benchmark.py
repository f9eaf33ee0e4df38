"""A benchmark as its folder describes it: `benchmarks/<id>/benchmark.yaml` and the files named there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from agent.catalog.arguments import Argument, read_arguments
from agent.catalog.data_section import LOADERS, DataFile, DataSection, loader_by_ending, read_data_section
from agent.catalog.definition_files import DefinitionFiles
from agent.catalog.metric_uses import JUDGE_METRIC, read_metrics
from agent.catalog.question import (
    Choices,
    FewShot,
    Gold,
    Parser,
    Shorten,
    read_answer_rule,
    read_choices,
    read_few_shot,
    read_gold,
    read_shorten,
)
from agent.catalog.taxonomy import taxonomy
from agent.catalog.template import placeholders
from agent.catalog.wording import nearest
from agent.catalog.yaml_map import yaml_map
from agent.errors import BenchmarkError
from agent.metrics import MetricUse
from agent.shipped import shipped
from agent.vocabulary import IDENTIFIER_KINDS, AccessLevel, Scoring

_HELM_MAX_TOKENS = 1024  # MedHELM's default for configurable benchmarks
_REASONING_MAX_TOKENS = 4000  # MedHELM's value for reasoning models


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark, read and checked. `digest` changes with every byte of its definition files.

    Attributes:
        id: unique here; also the name in run entries and the folder under a site's `data/`.
        loader: how files become rows: a name of `agent.datasets.formats.FORMATS`.
        files: the official dataset files, in instance order; empty for a site's own benchmark.
        dataset_file: a site's own dataset beside the definition; None if the benchmark has official files.
        data_options: settings of the loader (`sheet`, ...).
        sample: the real or invented sample that travels with the agent, a file or a folder in the official layout.
        sample_is_invented: whether its records were made up; shown on every page.
        sample_arguments: those that a run on the sample uses where its entry gives none.
        agreement, agreement_url: what a site must have agreed to before it may hold the data; empty: nothing.
        instructions: text before the prompt, empty if none.
        template: the prompt, with {column} and {argument} fields and {options}; empty: the row's messages are it.
        system_template: of the system message, likewise; empty: none is sent.
        messages_column: column with a row's chat so far, a JSON list; None: there is none.
        few_shot: the solved examples before the question; None: none.
        shorten: what may be cut of a prompt that does not fit; None: nothing.
        parser: how an answer is read; `answer_field` with "json", `answer_pattern` with "pattern".
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
        subgroup_columns: what `Instance.subgroups` holds: name there -> column.
        identifiers: columns that say who a record's people are: column -> one of `IDENTIFIER_KINDS`. Redaction
            searches their cells in every text of the record.
        optional_columns: columns whose cells may be empty, and options that a row may lack.
        arguments: what a run entry may pass, by name.
        aliases: further names in run entries (HELM's).
        helm_scenario: HELM's class of the scenario, for exchange; empty if unknown.
        helm_groups: HELM's groups, for exchange.
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
    sample_is_folder: bool = False
    sample_arguments: Mapping[str, str] = field(default_factory=dict)
    data_options: Mapping[str, str] = field(default_factory=dict)
    agreement: str = ""
    agreement_url: str = ""
    system_template: str = ""
    messages_column: str | None = None
    few_shot: FewShot | None = None
    shorten: Shorten | None = None
    parser: Parser = "text"
    answer_field: str = ""
    answer_pattern: str = ""
    scoring: Scoring = "intramural"
    unit: str = "row"
    unit_column: str | None = None
    lineage: str = ""
    id_column: str | None = None
    extra_columns: Mapping[str, str] = field(default_factory=dict)
    subgroup_columns: Mapping[str, str] = field(default_factory=dict)
    identifiers: Mapping[str, str] = field(default_factory=dict)
    optional_columns: tuple[str, ...] = ()
    source_url: str = ""
    source_commit: str = ""
    licence: str = ""
    citation: str = ""
    helm_max_tokens: int | None = None
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    helm_scenario: str = ""
    helm_groups: tuple[str, ...] = ()

    @property
    def has_known_files(self) -> bool:
        """Whether any file has a digest to compare with; gated data and a site's own mostly have none."""
        return any(file.known for file in self.files)

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
        self._files = DefinitionFiles(self._path, absolute_paths)
        self._map = yaml_map(self._files.definition, self._path, BenchmarkError)
        self._name = self._map.name("name")
        self._id = re.sub(r"[^A-Za-z0-9._-]", "_", self._name)
        self._aliases = self._map.names("aliases")
        if self._id and not self._id[0].isalnum():  # the id is the name of a folder, and `..` is one too
            self._map.note("name", "expected a name that begins with a letter or a digit")
        self.names = tuple(name for name in (self._id, *self._aliases) if name)

    def read(self) -> Benchmark:
        m = self._map
        choices = read_choices(m)
        category, subcategory = self._place()
        data, dataset_file = self._data()
        metrics = read_metrics(m, self._files)
        messages_column = m.text("messages_column", "") or None
        template = self._template(messages_column)
        system_template = self._system_template()
        answer = read_answer_rule(m, choices)
        shorten, arguments = read_shorten(m), read_arguments(m)
        few_shot = read_few_shot(m, self._files)
        gold = read_gold(m, choices, judged_alone={use.name for use in metrics} == {JUDGE_METRIC})
        if few_shot and gold is None:
            m.note("few_shot", "needs `gold`: an example ends in its right answer")
        for key, there in (("few_shot", few_shot), ("shorten", shorten)):
            if there and not template:
                m.note(key, "needs a `prompt_file`")
        for number, file in enumerate(data.files, 1):
            for name in placeholders(file.name):
                if name not in arguments:
                    m.note(f"data.files[{number}].name", f"{name!r} is no argument{nearest(name, arguments)}")
        for name in data.sample_arguments:
            if name not in arguments:
                m.note("data.sample.arguments", f"{name!r} is not one of the arguments{nearest(name, arguments)}")
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
            template=template,
            system_template=system_template,
            messages_column=messages_column,
            few_shot=few_shot,
            shorten=shorten,
            max_tokens=m.integer("max_tokens", _HELM_MAX_TOKENS) or _HELM_MAX_TOKENS,
            reasoning_max_tokens=m.integer("reasoning_max_tokens", _REASONING_MAX_TOKENS) or _REASONING_MAX_TOKENS,
            helm_max_tokens=m.integer("helm_max_tokens", None),
            metrics=metrics,
            digest=self._files.digest(),
            gold=gold,
            choices=choices,
            files=data.files,
            dataset_file=dataset_file,
            data_options=data.options,
            sample=data.sample,
            sample_is_folder=data.sample_is_folder,
            sample_is_invented=data.sample_is_invented,
            sample_arguments=data.sample_arguments,
            agreement=data.agreement,
            agreement_url=data.agreement_url,
            parser=answer.parser,
            answer_field=answer.field,
            answer_pattern=answer.pattern,
            scoring=cast(Scoring, m.choice("scoring", ("intramural", "helm"), "intramural")),
            unit=m.name("unit", "row"),
            unit_column=m.text("unit_column", "") or None,
            lineage=m.name("lineage", ""),
            id_column=m.text("id_column", "") or None,
            extra_columns=m.pairs("extra_columns"),
            subgroup_columns=m.pairs("subgroup_columns"),
            identifiers=self._identifiers(),
            optional_columns=m.texts("optional_columns"),
            source_url=data.source_url,
            source_commit=data.source_commit,
            licence=m.text("licence", ""),
            citation=m.text("citation", ""),
            arguments=arguments,
            aliases=self._aliases,
            helm_scenario=m.name("helm_scenario", ""),
            helm_groups=m.names("helm_groups"),
        )
        m.finish()
        if m.problems:
            raise BenchmarkError("\n".join(f"{self._path}: {problem}" for problem in m.problems))
        return benchmark

    def _identifiers(self) -> Mapping[str, str]:
        m = self._map
        found = m.pairs("identifiers")
        for column, kind in found.items():
            if kind not in IDENTIFIER_KINDS:
                known = f"expected one of {', '.join(IDENTIFIER_KINDS)}"
                m.note(f"identifiers.{column}", f"{known}{nearest(kind, IDENTIFIER_KINDS)}")
        return found

    def _place(self) -> tuple[str, str]:
        m = self._map
        category, subcategory = m.text("category", ""), m.text("subcategory", "")
        if category and category not in taxonomy():
            m.note("category", f"{category!r} is not in the taxonomy{nearest(category, taxonomy())}")
        elif subcategory and subcategory not in taxonomy().get(category, ()):
            known = taxonomy().get(category, ())
            m.note("subcategory", f"{subcategory!r} is not a subcategory of {category!r}{nearest(subcategory, known)}")
        return category, subcategory

    def _template(self, messages_column: str | None) -> str:
        m = self._map
        if messages_column and not m.has("prompt_file"):
            m.skip("prompt_file")
            return ""
        template, _ = self._files.text(m, "prompt_file")
        return template.rstrip()

    def _system_template(self) -> str:
        m = self._map
        written = m.text("system_prompt", "").strip()
        if not m.has("system_prompt_file"):
            m.skip("system_prompt_file")
            return written
        if written:
            m.note("system_prompt", "give either `system_prompt` or `system_prompt_file`")
        template, _ = self._files.text(m, "system_prompt_file")
        return template.strip()

    def _data(self) -> tuple[DataSection, Path | None]:
        m = self._map
        inner = m.map("data")
        if inner is not None:
            for key in ("dataset_file", "loader"):
                if m.skip(key):
                    m.note(key, f"give either `{key}` or `data`" if key == "dataset_file" else "belongs in `data`")
            return read_data_section(inner), None
        options: dict[str, str] = {}
        file = m.map("dataset_file") if m.is_map("dataset_file") else None
        if file is None:
            path = self._files.find(m, "dataset_file")
        else:
            path = self._files.find(file, "path")
            sheet = file.name("sheet", "")
            options = {"sheet": sheet} if sheet else {}
            file.finish()
        by_ending = loader_by_ending(path) if path else "csv"
        return DataSection(loader=m.choice("loader", LOADERS, by_ending), options=options), path
