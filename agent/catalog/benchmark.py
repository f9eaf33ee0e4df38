"""Read definitions of benchmarks: `benchmarks/<id>/benchmark.yaml` and the files that it names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
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
    """A benchmark that was read and checked. `digest` changes with every byte of its definition files.

    Attributes:
        id: a unique id; also the name in run entries and the name of the folder in a site's `data/`.
        loader: the file format, a name in `agent.datasets.formats.FORMATS`.
        files: the official dataset files in instance order; empty for a site's own benchmark.
        dataset_file: a site's own dataset next to the definition, or None if the benchmark has official files.
        data_options: settings of the loader (`sheet`, ...).
        sample: the real or invented sample shipped with the agent, a file or a folder in the official layout.
        sample_is_invented: whether the sample's records are invented; shown on every page.
        sample_arguments: default arguments for runs on the sample.
        agreement, agreement_url: the data use agreement that a site must have accepted; empty if there is none.
        instructions: text before the prompt; may be empty.
        template: the prompt, with placeholders {column}, {argument} and {options}. If empty, the messages of the row
            are the prompt.
        system_template: the system message, with the same placeholders; if empty, none is sent.
        messages_column: the column with the chat so far as a JSON list, or None.
        few_shot: the solved examples before the question, or None.
        shorten: the column that may be shortened if a prompt is too long, or None.
        parser: how an answer is read; "json" uses `answer_field`, "pattern" uses `answer_pattern` and "label" uses
            `labels`, in which every label is followed by the other words that mean it.
        max_tokens: the maximum length of an answer, in tokens.
        reasoning_max_tokens: the maximum length of reasoning and answer together, in tokens.
        helm_max_tokens: MedHELM's maximum length of an answer in tokens, which is displayed but not applied.
        metrics: the metrics, starting with the main one.
        scoring: the default scoring of runs.
        unit: a word for the unit of analysis (patient, note, article, question, ...).
        unit_column: the column with the patient or document of an instance; if None, each row is its own unit.
        lineage: the name of the dataset that the units come from, shared by benchmarks derived from the same dataset.
            If empty, private benchmarks share the site's lineage and other benchmarks have their own.
        id_column: the column with the dataset's own unique ids; if None, row numbers are used.
        extra_columns: the columns in `Instance.extra`, by their name there.
        subgroup_columns: the columns in `Instance.subgroups`, by their name there.
        identifiers: the kind, one of `IDENTIFIER_KINDS`, of each column that identifies people. Redaction searches
            for their values in every text of the record.
        optional_columns: columns whose cells may be empty, including options that a row may lack.
        arguments: the arguments that a run entry may pass, by name.
        aliases: other names (HELM's) for use in run entries.
        helm_scenario: HELM's scenario class, for exchange; empty if unknown.
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
    labels: tuple[tuple[str, ...], ...] = ()
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
        """Whether any file has a known digest; gated data and a site's own data usually have none."""
        return any(file.known for file in self.files)

    @property
    def main_metric(self) -> MetricUse:
        """The metric that represents the benchmark on the board."""
        return self.metrics[0]

    def names_files_by(self, argument: str) -> bool:
        """Return whether the value of an argument is part of a file name."""
        return any(f"{{{argument}}}" in file.name for file in self.files)

    def fill_arguments(self, passed: Mapping[str, str]) -> dict[str, str]:
        """Check the arguments of a run entry and fill in the defaults; see `agent.catalog.arguments`."""
        return fill_arguments(self.id, self.arguments, passed)


@dataclass(frozen=True, slots=True)
class BrokenDefinition:
    """A definition that cannot be used, with its file or folder, its id and aliases, and the reason."""

    path: Path
    names: tuple[str, ...]
    error: BenchmarkError


def load_benchmark(folder_or_yaml: Path, *, absolute_paths: bool = False) -> Benchmark:
    """Read a benchmark folder (its benchmark.yaml) or a single YAML file, such as those of MedHELM.

    Files named in the definition are looked up in the definition's folder and then, as in MedHELM, in the working
    directory.

    Args:
        folder_or_yaml: the folder or the YAML file.
        absolute_paths: whether the definition may use absolute paths. Set for definitions that a run entry names.

    Raises:
        BenchmarkError: the definition has problems, all of which are listed with file and key.
    """
    return _Definition(folder_or_yaml, absolute_paths).read()


def survey_benchmarks(
    own: Path | None = None,
) -> tuple[dict[str, Benchmark], list[BrokenDefinition]]:
    """Read the benchmarks shipped with the agent and those of the site (folders or YAML files in `own`).

    If two definitions use the same name, the second is returned as broken. `resolve_benchmark` then refuses the name,
    because a run entry that uses it would be ambiguous.

    Returns:
        The benchmarks by id, and the definitions that cannot be used.
    """
    benchmarks: dict[str, Benchmark] = {}
    broken: list[BrokenDefinition] = []
    claimed: dict[str, Path] = {}
    for definition in (*_read_shipped(), *map(_read_definition, _list_own(own))):
        if isinstance(definition, BrokenDefinition):
            broken.append(definition)
            continue
        try:
            _refuse_claimed_names(definition.path, definition.names, claimed)
        except BenchmarkError as error:
            broken.append(BrokenDefinition(definition.path, definition.names, error))
            continue
        claimed.update(dict.fromkeys(definition.names, definition.path))
        benchmarks[definition.benchmark.id] = definition.benchmark
    return benchmarks, broken


@dataclass(frozen=True, slots=True)
class _ReadDefinition:
    """A usable definition, with its file or folder, and its id and aliases."""

    path: Path
    names: tuple[str, ...]
    benchmark: Benchmark


def _read_definition(path: Path) -> _ReadDefinition | BrokenDefinition:
    names: tuple[str, ...] = (path.name if path.is_dir() else path.stem,)
    try:
        definition = _Definition(path)
        names = definition.names or names
        return _ReadDefinition(path, names, definition.read())
    except BenchmarkError as error:
        return BrokenDefinition(path, names, error)


@cache
def _read_shipped() -> tuple[_ReadDefinition | BrokenDefinition, ...]:
    """Read the benchmarks shipped with the agent. Like its code, they do not change while it runs."""
    folders = [path.parent for path in sorted(shipped("benchmarks").glob("*/benchmark.yaml"))]
    return tuple(map(_read_definition, folders))


def _list_own(own: Path | None) -> list[Path]:
    """Return the folders and files of a site's own definitions."""
    if own is None or not own.is_dir():
        return []
    folders = sorted(path.parent for path in own.glob("*/benchmark.yaml"))
    return folders + sorted(
        path for path in own.iterdir() if path.suffix in (".yaml", ".yml") and path.is_file()
    )


def _refuse_claimed_names(path: Path, names: tuple[str, ...], claimed: Mapping[str, Path]) -> None:
    for name in names:
        if name in claimed:
            raise BenchmarkError(f"{path}: the name {name!r} is already used by {claimed[name]}")


class _Definition:
    """A definition file that is being read.

    Attributes:
        names: the benchmark's id and aliases, if they can be read.
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
        # The id becomes a folder name, so it must not be `..`.
        if self._id and not self._id[0].isalnum():
            self._section.note("name", "expected a name that begins with a letter or a digit")
        self.names = tuple(name for name in (self._id, *self._aliases) if name)

    def read(self) -> Benchmark:
        """Read the whole definition.

        Raises:
            BenchmarkError: the definition has problems, all of which are listed with file and key.
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
            section.note("few_shot", "needs `gold`, because an example ends with its right answer")
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
            # By default, the strictest rules apply.
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
            labels=answer.labels,
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
            section.note(
                "system_prompt", "give either `system_prompt` or `system_prompt_file`, not both"
            )
        template, _ = self._files.read_text(section, "system_prompt_file")
        return template.strip()

    def _read_data(self) -> tuple[DataSection, Path | None]:
        """Read either `data` with its official files, or the site's own `dataset_file` with its options."""
        section = self._section
        data_section = section.map("data")
        if data_section is not None:
            if section.skip("dataset_file"):
                section.note("dataset_file", "give either `dataset_file` or `data`, not both")
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
    """Record a problem for each undeclared argument that is used in a file name or by the sample."""
    for number, file in enumerate(data.files, 1):
        for name in find_placeholders(file.name):
            if name not in arguments:
                section.note(
                    f"data.files[{number}].name",
                    f"{name!r} is not one of the arguments{nearest(name, arguments)}",
                )
    for name in data.sample_arguments:
        if name not in arguments:
            problem = f"{name!r} is not one of the arguments{nearest(name, arguments)}"
            section.note("data.sample.arguments", problem)
