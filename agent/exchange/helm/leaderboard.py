"""A downloaded HELM leaderboard as cells that stand in local releases: figures made elsewhere, without intervals.

    DIR/summary.json, schema.json, runs_to_run_suites.json, groups/<group>.json

as helm-summarize writes them for a release or a suite. Only the tables are read: no run folder is needed.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.names import benchmark_called, is_score, metric_called
from agent.exchange.json_path import JsonNode, read_json
from agent.runs.plan import SUITE_NAME
from agent.site.directory import Site
from agent.store.releases import LeaderboardCell

_SPLIT = re.compile(r" \[.*\]$")  # what HELM adds to a model's name to tell methods apart


@dataclass(frozen=True, slots=True)
class _Schema:
    """What a leaderboard's schema.json says: names behind the words of its tables."""

    groups: Mapping[str, tuple[str, str]]  # group of one benchmark -> (name for people, main metric)
    metrics: Mapping[str, list[str]]  # heading -> HELM's names; all jury scores have one heading
    titles: Mapping[str, str]  # HELM's name -> name for people
    models: Mapping[str, str]  # name for people -> model
    digest: str


def import_leaderboard(site: Site, directory: Path, name: str | None = None) -> tuple[str, int]:
    """Read a HELM release into the store under `name` (by default its own); return the name and how many figures.

    One of the same name is replaced. A folder that holds `releases` is searched for the one release in it.

    Raises:
        ConfigError: no release there, or the name is none or taken by a suite.
        BenchmarkError: a file is missing or wrong; names it and the place.
    """
    folder = _release_folder(directory)
    summary, _ = read_json(folder, "summary.json")
    called = summary.maybe("release") or summary.maybe("suite")
    origin = called.name() if called is not None else folder.absolute().name
    name = name or origin
    if not SUITE_NAME.fullmatch(name):
        raise ConfigError("the release's name is no name for a leaderboard here", "Give it a name with --release.")
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    schema = _read_schema(folder)
    whole = hashlib.sha256(schema.digest.encode())
    cells: list[LeaderboardCell] = []
    for group in schema.groups:
        if not os.path.lexists(folder / "groups" / f"{group}.json"):
            continue  # no run of this benchmark in the release
        tables, content = read_json(folder / "groups", f"{group}.json")
        whole.update(content)
        cells += _cells(tables, group, schema, catalogue)
    if not cells:
        raise BenchmarkError(
            f"{folder.name}: no table of groups/ holds a figure",
            "Get the release's folder whole: schema.json and groups/*.json belong together.",
        )
    date = summary.maybe("date")
    details = {"release": origin, "date": "" if date is None else date.name(), "digest": whole.hexdigest()}
    with site.store() as store:
        if name in store.runs.list_suites():
            raise ConfigError(f"there is a suite of the name {name}", "Give the leaderboard another with --release.")
        with store.transaction():
            store.releases.keep_leaderboard(name, details, cells)
            store.audit.record("imported", f"leaderboard figures={len(cells)}")
    return name, len(cells)


def _release_folder(directory: Path) -> Path:
    if (directory / "schema.json").exists() or not (directory / "releases").is_dir():
        return directory
    found = sorted(path for path in (directory / "releases").iterdir() if path.is_dir() and not path.is_symlink())
    if len(found) != 1:
        raise ConfigError(
            f"the folder {directory.name} holds {len(found)} releases", "Name one: DIR/releases/<release>."
        )
    return found[0]


def _read_schema(folder: Path) -> _Schema:
    schema, content = read_json(folder, "schema.json")
    metrics: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for metric in schema.at("metrics").items():
        name = metric.at("name").name()
        titles[name] = shown.name() if (shown := metric.maybe("display_name")) else name
        heading = metric.maybe("short_display_name") or metric.maybe("display_name") or metric.at("name")
        metrics.setdefault(heading.text(), []).append(name)
    groups: dict[str, tuple[str, str]] = {}
    for group in schema.at("run_groups").items():
        environment = group.maybe("environment")
        main = environment.maybe("main_name") if environment is not None else None
        if main is None or (group.has("subgroups") and any(group.at("subgroups").items())):
            continue  # a heading over several benchmarks
        name = group.at("name").name()
        if "/" in name or "\\" in name or name.startswith("."):
            raise group.at("name").wrong("a name without / and \\")
        shown_name = group.maybe("display_name")
        groups[name] = (name if shown_name is None else shown_name.name(), main.name())
    models: dict[str, str] = {}
    for model in schema.at("models").items() if schema.has("models") else ():
        shown_model = model.maybe("display_name")
        if shown_model is not None:
            models[shown_model.name()] = model.at("name").name()
    return _Schema(groups, metrics, titles, models, hashlib.sha256(content).hexdigest())


def _cells(
    tables: JsonNode, group: str, schema: _Schema, catalogue: Mapping[str, Benchmark]
) -> Iterator[LeaderboardCell]:
    """Yield a group's figures, each model's main metric first. The first table is the one over all its scenarios."""
    table = next(tables.items(), None)
    if table is None:
        return
    shown, main = schema.groups[group]
    benchmark = benchmark_called([group], catalogue)
    columns = [_metric_of(heading, schema, main) for heading in table.at("header").items()]
    for row in table.at("rows").items():
        cells = list(row.items())
        if len(cells) != len(columns) or not cells:
            raise row.wrong(f"{len(columns)} cells, as the header has")
        label = cells[0].at("value").name()
        model = schema.models.get(label) or schema.models.get(_SPLIT.sub("", label)) or label
        values = {
            metric: cell.at("value").number()
            for metric, cell in zip(columns, cells, strict=True)
            if metric and cell.has("value")
        }
        instances = next(
            (
                c.at("value").count()
                for m, c in zip(columns, cells, strict=True)
                if m == "num_instances" and c.has("value")
            ),
            None,
        )
        for metric in sorted((m for m in values if is_score(m)), key=lambda m: (m != main, columns.index(m))):
            yield LeaderboardCell(
                benchmark=benchmark.id if benchmark else group,
                benchmark_name=shown,
                model=model,
                metric=metric_called(metric, benchmark),
                metric_name=schema.titles[metric],
                value=values[metric],
                instances=instances,
            )


def _metric_of(heading: JsonNode, schema: _Schema, main: str) -> str:
    """Return HELM's name of the metric in a column; "" for the models, aggregates, and what several are called."""
    words = heading.maybe("metadata")
    metric = words.maybe("metric") if words is not None else None
    names = schema.metrics.get(metric.text(), []) if metric is not None else []
    if main in names:
        return main
    return names[0] if len(names) == 1 else ""
