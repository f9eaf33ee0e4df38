"""Find the inference servers that a command line needs, so that runs take turns at each of them.

A server has a key: a digest of its host and port. Two deployments on one server thus share a key, and lists of jobs
show no address.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.deployment_map import (
    DeploymentMap,
    check_deployments,
    map_deployments,
    read_deployment_map,
)
from agent.catalog.deployments import (
    Deployment,
    find_deployment,
    make_server_deployment,
    read_deployments,
)
from agent.catalog.judges import read_jury
from agent.catalog.run_entries import collect_run_entries, ignore_data_paths, resolve_benchmark
from agent.errors import ConfigError
from agent.inference.endpoint import list_addresses
from agent.io.wording import nearest
from agent.jobs.command_lines import CommandLine
from agent.judging.jury_selection import choose_jury, find_judge_deployment, map_jury
from agent.metrics import Judge, MetricUse
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.vocabulary import RunEntry

# Servers that the agent starts share this machine's processors, so that a second one would not fit beside the first.
STARTED_HERE = "servers started on this machine"
_LOOPBACK = ("localhost", "::1")

_Deployments = Mapping[str, Deployment]


def find_servers(site: Site, line: CommandLine) -> tuple[str, ...]:
    """Return the keys of the servers that a command line needs.

    Raises:
        ConfigError: a run entry, benchmark, deployment or jury is wrong.
        BenchmarkError: a benchmark's definition is wrong.
    """
    if line.words == ("run",):
        keys = _RunServers(site, line.options).find()
    elif line.words == ("judge",):
        keys = _find_judging_servers(site, line.options)
    else:
        keys = []
    return tuple(dict.fromkeys(keys))


def list_entries(options: Mapping[str, Any]) -> list[RunEntry]:
    """Return the run entries of the options of `run`. Raises ConfigError."""
    return collect_run_entries(
        options["descriptions"],
        options["conf_paths"],
        priority=options["priority"],
        groups=options["groups_to_run"],
        models_to_run=options["models_to_run"],
    )


def identify_servers(deployment: Deployment) -> list[str]:
    """Return the keys of a deployment's servers."""
    if deployment.managed is not None:
        return [f"deployment {deployment.name}"]
    return [_identify_address(url) for url in list_addresses(deployment)]


def _identify_address(url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in _LOOPBACK:
        host = "127.0.0.1"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"server-{hashlib.sha256(f'{host}:{port}'.encode()).hexdigest()[:8]}"


class _RunServers:
    """The servers of the models and judges of a `run`."""

    def __init__(self, site: Site, options: Mapping[str, Any]) -> None:
        self._site = site
        self._options = options
        self._deployments = read_deployments(site.deployments)
        self._map = DeploymentMap()
        if options["deployment_map"] is not None:
            self._map = read_deployment_map(options["deployment_map"])

    def find(self) -> list[str]:
        """Return their keys, some perhaps repeatedly."""
        entries = list_entries(self._options)
        if self._map.entries:
            entries = map_deployments(entries, self._map.entries, self._deployments)
        if self._options["ignore_data_paths"]:
            entries = ignore_data_paths(entries)
        catalogue = survey_benchmarks(self._site.own_benchmarks)
        benchmarks = [resolve_benchmark(entry, *catalogue) for entry in entries]
        if not self._options["server"]:
            check_deployments(entries, self._deployments)
        keys: list[str] = []
        for entry, benchmark in zip(entries, benchmarks, strict=True):
            keys += self._find_model(entry)
            keys += self._find_judges(entry, benchmark)
        for name in self._options["served"]:
            self._check_served(name)
            keys.append(STARTED_HERE)
        return keys

    def _find_model(self, entry: RunEntry) -> list[str]:
        url = self._options["server"]
        if url:
            return identify_servers(make_server_deployment(url, entry.model))
        return identify_servers(find_deployment(entry, self._deployments))

    def _find_judges(self, entry: RunEntry, benchmark: Benchmark) -> list[str]:
        if self._options["no_judging"]:
            return []
        keys: list[str] = []
        for use in benchmark.metrics:
            for judge in self._choose_jury(entry, benchmark, use).judges:
                keys += identify_servers(find_judge_deployment(judge, self._deployments))
        return keys

    def _choose_jury(self, entry: RunEntry, benchmark: Benchmark, use: MetricUse) -> MetricUse:
        use = choose_jury(
            use,
            self._site,
            benchmark.id,
            override=self._options["judges"],
            named=entry.arguments.get("jury_config_path"),
        )
        if self._map.judges:
            use = map_jury(use, self._map.judges, self._deployments)
        return use

    def _check_served(self, name: str) -> None:
        if name not in self._deployments or self._deployments[name].managed is None:
            raise ConfigError(
                f"--serve: no deployment with model_server is called {name!r}"
                f"{nearest(name, self._deployments)}",
                "Name a deployment with model_server in model_deployments.yaml.",
            )


def _find_judging_servers(site: Site, options: Mapping[str, Any]) -> list[str]:
    """Return the keys of the judges' servers of a suite, which an earlier job may still have to fill."""
    deployments = read_deployments(site.deployments)
    jury_file: Path | None = options["judges"]
    if jury_file is not None:
        return _identify_judges(read_jury(jury_file).judges, deployments)
    keys: list[str] = []
    if site.judges.is_file():
        keys += _identify_judges(read_jury(site.judges).judges, deployments)
    for judges in _list_stored_juries(site, options["suite"]):
        keys += _identify_judges(judges, deployments)
    return keys


def _identify_judges(judges: Sequence[Judge], deployments: _Deployments) -> list[str]:
    keys: list[str] = []
    for judge in judges:
        keys += identify_servers(find_judge_deployment(judge, deployments))
    return keys


def _list_stored_juries(site: Site, suite: str) -> Iterator[Sequence[Judge]]:
    """Yield the juries of the suite's runs that are judged here."""
    with site.store() as store:
        runs = store.runs.select(suite)
    for run in runs:
        if run.imported:
            continue
        for measure in Rules.of_run(run.details).measures:
            if measure.use.judges:
                yield measure.use.judges
