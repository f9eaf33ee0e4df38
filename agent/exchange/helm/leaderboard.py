"""Import a downloaded HELM leaderboard for use in local releases. Its values come without intervals.

    DIR/summary.json, schema.json, runs_to_run_suites.json, groups/<group>.json

These are the files that helm-summarize writes for a release or a suite. Only tables are read, no run folders.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.names import find_benchmark, find_metric_name, is_score
from agent.exchange.json_path import JsonNode, read_json
from agent.runs.plan import SUITE_NAME
from agent.site.directory import Site
from agent.store.releases import LeaderboardCell

_METHOD = re.compile(r" \[.*\]$")  # HELM appends the method to a model's name: llama [CoT]
# HELM's description of a cell: the sum of the values behind it, and their number.
_VALUES = re.compile(r"sum=(\d+(?:\.\d+)?) \((\d{1,16})\)")
# HELM keeps one value for each run and trial, whereas this program's exports keep one for each instance.
_MAX_TRIALS = 5


@dataclass(frozen=True, slots=True)
class _Group:
    """HELM's group for a single benchmark."""

    display_name: str
    main_metric: str


@dataclass(frozen=True, slots=True)
class _Schema:
    """The names in a leaderboard's schema.json to which the words in its tables refer."""

    groups: Mapping[str, _Group]  # by name; only groups of a single benchmark
    metrics: Mapping[str, list[str]]  # heading -> HELM's names; all jury scores share one heading
    titles: Mapping[str, str]  # HELM's name -> display name
    models: Mapping[str, str]  # display name -> model
    digest: str


def import_leaderboard(site: Site, directory: Path, name: str | None = None) -> tuple[str, int]:
    """Store a HELM release under `name` (by default its own name); return that name and the number of values.

    A leaderboard of the same name is replaced. If the folder contains `releases`, there must be a single release in it.

    Raises:
        ConfigError: the folder contains no release, the name is not valid, or a suite has the name.
        BenchmarkError: a file is missing or wrong; the message names the file and the key.
    """
    folder = _find_release(directory)
    summary, _ = read_json(folder, "summary.json")
    release = summary.maybe("release") or summary.maybe("suite")
    origin = folder.absolute().name if release is None else release.name()
    name = name or origin
    if not SUITE_NAME.fullmatch(name):
        raise ConfigError(
            "the release's name is not a valid leaderboard name", "Choose a name with --release."
        )
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    schema = _read_schema(folder)
    digest = hashlib.sha256(schema.digest.encode())
    cells: list[LeaderboardCell] = []
    for group in schema.groups:
        if not os.path.lexists(folder / "groups" / f"{group}.json"):
            continue  # the release has no run of this benchmark
        tables, content = read_json(folder / "groups", f"{group}.json")
        digest.update(content)
        cells += _read_cells(tables, group, schema, catalogue)
    if not cells:
        raise BenchmarkError(
            f"{folder.name}: no table in groups/ contains a value",
            "Download the complete folder of the release: schema.json and groups/*.json belong together.",
        )
    date = summary.maybe("date")
    details = {
        "release": origin,
        "date": "" if date is None else date.name(),
        "digest": digest.hexdigest(),
    }
    with site.store() as store:
        if name in store.runs.list_suites():
            raise ConfigError(
                f"a suite already has the name {name}",
                "Choose another name for the leaderboard with --release.",
            )
        with store.transaction():
            store.releases.keep_leaderboard(name, details, cells)
            store.audit.record("imported", f"leaderboard figures={len(cells)}")
    return name, len(cells)


def _find_release(directory: Path) -> Path:
    if (directory / "schema.json").exists() or not (directory / "releases").is_dir():
        return directory
    entries = (directory / "releases").iterdir()
    releases = sorted(path for path in entries if path.is_dir() and not path.is_symlink())
    if len(releases) != 1:
        raise ConfigError(
            f"the folder {directory.name} contains {len(releases)} releases",
            "Choose one: DIR/releases/<release>.",
        )
    return releases[0]


def _read_schema(folder: Path) -> _Schema:
    schema, content = read_json(folder, "schema.json")
    metrics: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for metric in schema.at("metrics").items():
        name = metric.at("name").name()
        title = metric.maybe("display_name")
        titles[name] = name if title is None else title.name()
        heading = metric.maybe("short_display_name") or title or metric.at("name")
        metrics.setdefault(heading.text(), []).append(name)
    return _Schema(
        groups=dict(_read_groups(schema)),
        metrics=metrics,
        titles=titles,
        models=_read_models(schema),
        digest=hashlib.sha256(content).hexdigest(),
    )


def _read_groups(schema: JsonNode) -> Iterator[tuple[str, _Group]]:
    """Yield the groups that belong to a single benchmark; groups that cover several are skipped."""
    for group in schema.at("run_groups").items():
        environment = group.maybe("environment")
        main_metric = None if environment is None else environment.maybe("main_name")
        has_subgroups = group.has("subgroups") and any(group.at("subgroups").items())
        if main_metric is None or has_subgroups:
            continue
        name = group.at("name").name()
        if "/" in name or "\\" in name or name.startswith("."):
            raise group.at("name").wrong("a name without / and \\")
        title = group.maybe("display_name")
        display_name = name if title is None else title.name()
        yield name, _Group(display_name, main_metric.name())


def _read_models(schema: JsonNode) -> dict[str, str]:
    """Return the models by their display names."""
    models: dict[str, str] = {}
    entries = schema.maybe("models")
    for model in () if entries is None else entries.items():
        display_name = model.maybe("display_name")
        if display_name is not None:
            models[display_name.name()] = model.at("name").name()
    return models


def _read_cells(
    tables: JsonNode, group_name: str, schema: _Schema, catalogue: Mapping[str, Benchmark]
) -> Iterator[LeaderboardCell]:
    """Yield a group's cells, with each model's main metric first. The first table covers all scenarios of the group."""
    table = next(tables.items(), None)
    if table is None:
        return
    group = schema.groups[group_name]
    benchmark = find_benchmark([group_name], catalogue)
    columns = [
        _find_metric(heading, schema, group.main_metric) for heading in table.at("header").items()
    ]
    for row in table.at("rows").items():
        cells = list(row.items())
        if len(cells) != len(columns) or not cells:
            raise row.wrong(f"{len(columns)} cells, as in the header")
        model = _find_model(cells[0].at("value").name(), schema)
        values, instances = _read_row(cells, columns)
        # The sort is stable, so the other metrics keep the order of their columns.
        scores = sorted(filter(is_score, values), key=lambda metric: metric != group.main_metric)
        for metric in scores:
            yield LeaderboardCell(
                benchmark=benchmark.id if benchmark else group_name,
                benchmark_name=group.display_name,
                model=model,
                metric=find_metric_name(metric, benchmark),
                metric_name=schema.titles[metric],
                value=values[metric],
                instances=instances,
            )


def _read_row(cells: list[JsonNode], columns: list[str]) -> tuple[dict[str, float], int | None]:
    """Return the values of a row by metric, and the number of instances from which they were computed.

    The number is None if the row does not state it.
    """
    values: dict[str, float] = {}
    instances: int | None = None
    behind_scores: list[int] = []
    for metric, cell in zip(columns, cells, strict=True):
        if not metric or not cell.has("value"):
            continue
        values[metric] = cell.at("value").number()
        total, count = _read_description(cell)
        if metric == "num_instances" and instances is None:
            # The value is the mean over the runs of the row, and the total is over all of them.
            instances = cell.at("value").count() if total is None else total
        elif is_score(metric) and count is not None:
            behind_scores.append(count)
    if instances is None and behind_scores:
        runs = _count_runs(cells)
        count = max(behind_scores)
        instances = count if count > _MAX_TRIALS * runs else None
    return values, instances


def _read_description(cell: JsonNode) -> tuple[int | None, int | None]:
    """Return the sum and the number of the values behind a cell; None for a number that its description lacks."""
    description = cell.maybe("description")
    match = None if description is None else _VALUES.search(description.text())
    if match is None:
        return None, None
    return round(float(match[1])), int(match[2])


def _count_runs(cells: list[JsonNode]) -> int:
    """Return the number of runs that a row joins; 1 if it does not name them."""
    runs = 1
    for cell in cells:
        names = cell.maybe("run_spec_names")
        if names is not None:
            runs = max(runs, len(list(names.items())))
    return runs


def _find_model(label: str, schema: _Schema) -> str:
    """Return the model that a row's label refers to, or the label itself if the schema does not list it."""
    without_method = _METHOD.sub("", label)
    return schema.models.get(label) or schema.models.get(without_method) or label


def _find_metric(heading: JsonNode, schema: _Schema, main_metric: str) -> str:
    """Return HELM's name for a column's metric; "" if the column has no metric or its heading covers several."""
    metadata = heading.maybe("metadata")
    metric_heading = None if metadata is None else metadata.maybe("metric")
    if metric_heading is None:
        return ""
    names = schema.metrics.get(metric_heading.text(), [])
    if main_metric in names:
        return main_metric
    return names[0] if len(names) == 1 else ""
