"""Definitions of benchmarks: `benchmarks/<id>/benchmark.yaml` and the files that it names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from agent.catalog.arguments import Argument, fill_arguments, read_arguments
from agent.catalog.data_section import (
    LOADERS,
    DataFile,
    DataSection,
    loader_by_ending,
    read_data_section,
)
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
from agent.catalog.template import find_placeholders
from agent.errors import BenchmarkError
from agent.io.packaged import shipped
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap, parse_map
from agent.metrics import MetricUse
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

    def names_files_by(self, argument: str) -> bool:
        """Tell whether the value of an argument is part of a file's name."""
        return any(f"{{{argument}}}" in file.name for file in self.files)

    def fill_arguments(self, passed: Mapping[str, str]) -> dict[str, str]:
        """Check the arguments of a run entry and fill in the defaults: see `agent.catalog.arguments`."""
        return fill_arguments(self.id, self.arguments, passed)


@dataclass(frozen=True, slots=True)
class BrokenDefinition:
    """A definition that cannot be used: its file or folder, its id and aliases, and the reason."""

    path: Path
    names: tuple[str, ...]
    error: BenchmarkError


def load_benchmark(folder_or_yaml: Path, *, absolute_paths: bool = False) -> Benchmark:
    """Read a benchmark folder (its benchmark.yaml) or a single YAML such as MedHELM's configurable ones.

    Files named in it are looked for beside the YAML, then (as MedHELM does) in the working directory, and never
    elsewhere.

    Args:
        folder_or_yaml: the folder or the YAML.
        absolute_paths: whether it may name files by absolute paths. For definitions that a user names in a run entry.

    Raises:
        BenchmarkError: lists every problem of the definition, each with file and key.
    """
    return _Definition(folder_or_yaml, absolute_paths).read()


def survey_benchmarks(
    own: Path | None = None,
) -> tuple[dict[str, Benchmark], list[BrokenDefinition]]:
    """Read the benchmarks that travel with the agent and the site's (folders or YAML files in `own`).

    If two definitions claim a name, the first keeps it and the second is broken under that name: `resolve_benchmark`
    refuses the name, because a run entry cannot say which of them it means.

    Returns:
        The benchmarks by id, and the definitions that cannot be used.
    """
    benchmarks: dict[str, Benchmark] = {}
    broken: list[BrokenDefinition] = []
    claimed: dict[str, Path] = {}
    for path in _definition_paths(own):
        names: tuple[str, ...] = (path.name if path.is_dir() else path.stem,)
        try:
            definition = _Definition(path)
            names = definition.names or names
            benchmark = definition.read()
            _refuse_claimed_names(path, names, claimed)
        except BenchmarkError as error:
            broken.append(BrokenDefinition(path, names, error))
            continue
        claimed.update(dict.fromkeys(names, path))
        benchmarks[benchmark.id] = benchmark
    return benchmarks, broken


def _definition_paths(own: Path | None) -> list[Path]:
    """List the folders and files of definitions, those that travel with the agent first."""
    paths = [path.parent for path in sorted(shipped("benchmarks").glob("*/benchmark.yaml"))]
    if own is not None and own.is_dir():
        paths += sorted(path.parent for path in own.glob("*/benchmark.yaml"))
        paths += sorted(
            path for path in own.iterdir() if path.suffix in (".yaml", ".yml") and path.is_file()
        )
    return paths


def _refuse_claimed_names(path: Path, names: tuple[str, ...], claimed: Mapping[str, Path]) -> None:
    for name in names:
        if name in claimed:
            raise BenchmarkError(f"{path}: the name {name!r} is already that of {claimed[name]}")


class _Definition:
    """One definition file being read.

    Attributes:
        names: its id and aliases, as far as they can be read.
    """

    def __init__(self, folder_or_yaml: Path, absolute_paths: bool = False) -> None:
        self._path = (
            folder_or_yaml / "benchmark.yaml" if folder_or_yaml.is_dir() else folder_or_yaml
        )
        self._files = DefinitionFiles(self._path, absolute_paths)
        self._section = parse_map(self._files.definition, self._path, BenchmarkError)
        self._name = self._section.name("name")
        self._id = re.sub(r"[^A-Za-z0-9._-]", "_", self._name)
        self._aliases = self._section.names("aliases")
        # The id becomes the name of a folder, and `..` would be one too.
        if self._id and not self._id[0].isalnum():
            self._section.note("name", "expected a name that begins with a letter or a digit")
        self.names = tuple(name for name in (self._id, *self._aliases) if name)

    def read(self) -> Benchmark:
        """Read the whole definition.

        Raises:
            BenchmarkError: lists every problem, each with file and key.
        """
        benchmark = self._read_benchmark()
        self._section.finish()
        if self._section.problems:
            raise BenchmarkError(
                "\n".join(f"{self._path}: {problem}" for problem in self._section.problems)
            )
        return benchmark

    def _read_benchmark(self) -> Benchmark:
        section = self._section
        choices = read_choices(section)
        category, subcategory = _read_category(section)
        data, dataset_file = self._read_data()
        metrics = read_metrics(section, self._files)
        messages_column = section.text("messages_column", "") or None
        template = self._read_prompt(messages_column)
        system_template = self._read_system_prompt()
        answer = read_answer_rule(section, choices)
        shorten = read_shorten(section)
        arguments = read_arguments(section)
        few_shot = read_few_shot(section, self._files)
        judged_alone = {use.name for use in metrics} == {JUDGE_METRIC}
        gold = read_gold(section, choices, judged_alone=judged_alone)
        if few_shot and gold is None:
            section.note("few_shot", "needs `gold`: an example ends in its right answer")
        if few_shot and not template:
            section.note("few_shot", "needs a `prompt_file`")
        if shorten and not template:
            section.note("shorten", "needs a `prompt_file`")
        _note_unknown_arguments(section, data, arguments)
        return Benchmark(
            id=self._id,
            display_name=section.name("display_name", self._name),
            description=section.text("description"),
            category=category,
            subcategory=subcategory,
            # Where the definition does not say, the benchmark gets the strictest rules.
            access=cast(
                AccessLevel, section.choice("access", ("private", "gated", "public"), "private")
            ),
            folder=self._path.parent,
            loader=data.loader,
            instructions=section.text("instructions", "").strip(),
            template=template,
            system_template=system_template,
            messages_column=messages_column,
            few_shot=few_shot,
            shorten=shorten,
            max_tokens=section.integer("max_tokens", _HELM_MAX_TOKENS),
            reasoning_max_tokens=section.integer("reasoning_max_tokens", _REASONING_MAX_TOKENS),
            helm_max_tokens=section.integer("helm_max_tokens", None),
            metrics=metrics,
            digest=self._files.compute_digest(),
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
            scoring=cast(Scoring, section.choice("scoring", ("intramural", "helm"), "intramural")),
            unit=section.name("unit", "row"),
            unit_column=section.text("unit_column", "") or None,
            lineage=section.name("lineage", ""),
            id_column=section.text("id_column", "") or None,
            extra_columns=section.pairs("extra_columns"),
            subgroup_columns=section.pairs("subgroup_columns"),
            identifiers=_read_identifiers(section),
            optional_columns=section.texts("optional_columns"),
            source_url=data.source_url,
            source_commit=data.source_commit,
            licence=section.text("licence", ""),
            citation=section.text("citation", ""),
            arguments=arguments,
            aliases=self._aliases,
            helm_scenario=section.name("helm_scenario", ""),
            helm_groups=section.names("helm_groups"),
        )

    def _read_prompt(self, messages_column: str | None) -> str:
        if messages_column and not self._section.has("prompt_file"):
            self._section.skip("prompt_file")
            return ""
        template, _ = self._files.read_text(self._section, "prompt_file")
        return template.rstrip()

    def _read_system_prompt(self) -> str:
        section = self._section
        prompt = section.text("system_prompt", "").strip()
        if not section.has("system_prompt_file"):
            section.skip("system_prompt_file")
            return prompt
        if prompt:
            section.note("system_prompt", "give either `system_prompt` or `system_prompt_file`")
        template, _ = self._files.read_text(section, "system_prompt_file")
        return template.strip()

    def _read_data(self) -> tuple[DataSection, Path | None]:
        """Read the official files of `data`, or the site's own `dataset_file` and its options."""
        section = self._section
        data_section = section.map("data")
        if data_section is not None:
            if section.skip("dataset_file"):
                section.note("dataset_file", "give either `dataset_file` or `data`")
            if section.skip("loader"):
                section.note("loader", "belongs in `data`")
            return read_data_section(data_section), None
        options: dict[str, str] = {}
        file_section = section.map("dataset_file") if section.is_map("dataset_file") else None
        if file_section is None:
            path = self._files.find(section, "dataset_file")
        else:
            path = self._files.find(file_section, "path")
            sheet = file_section.name("sheet", "")
            if sheet:
                options["sheet"] = sheet
            file_section.finish()
        by_ending = loader_by_ending(path) if path else "csv"
        return DataSection(
            loader=section.choice("loader", LOADERS, by_ending), options=options
        ), path


def _read_category(section: YamlMap) -> tuple[str, str]:
    category = section.text("category", "")
    subcategory = section.text("subcategory", "")
    subcategories = taxonomy().get(category, ())
    if category and category not in taxonomy():
        section.note(
            "category", f"{category!r} is not in the taxonomy{nearest(category, taxonomy())}"
        )
    elif subcategory and subcategory not in subcategories:
        hint = nearest(subcategory, subcategories)
        section.note("subcategory", f"{subcategory!r} is not a subcategory of {category!r}{hint}")
    return category, subcategory


def _read_identifiers(section: YamlMap) -> Mapping[str, str]:
    identifiers = section.pairs("identifiers")
    for column, kind in identifiers.items():
        if kind not in IDENTIFIER_KINDS:
            kinds = ", ".join(IDENTIFIER_KINDS)
            section.note(
                f"identifiers.{column}", f"expected one of {kinds}{nearest(kind, IDENTIFIER_KINDS)}"
            )
    return identifiers


def _note_unknown_arguments(
    section: YamlMap, data: DataSection, arguments: Mapping[str, Argument]
) -> None:
    """Note the arguments that names of files and the sample use and the definition does not declare."""
    for number, file in enumerate(data.files, 1):
        for name in find_placeholders(file.name):
            if name not in arguments:
                section.note(
                    f"data.files[{number}].name",
                    f"{name!r} is no argument{nearest(name, arguments)}",
                )
    for name in data.sample_arguments:
        if name not in arguments:
            problem = f"{name!r} is not one of the arguments{nearest(name, arguments)}"
            section.note("data.sample.arguments", problem)
