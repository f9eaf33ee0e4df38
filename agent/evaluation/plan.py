"""From a run entry to a plan: what will be asked of which server, and how it will be scored.

Everything that can be wrong is found here, before the first question is asked.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from agent import __version__
from agent.catalog.benchmark import Benchmark, Broken, survey_benchmarks
from agent.catalog.deployments import Deployment, ad_hoc, deployment_of, read_deployments
from agent.catalog.run_entries import benchmark_of, output_tokens, overrides
from agent.datasets.load import Dataset, load_instances, locate_dataset
from agent.datasets.sampling import sample
from agent.errors import ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.limits import HttpLimits
from agent.metrics import METRICS, check_available
from agent.site import Site
from agent.vocabulary import ChatRequest, Instance, RunEntry, Scoring

# Arguments that name files: their place in a run's name is taken by the digest of what they hold.
FILE_ARGUMENTS = frozenset({"config_path", "data_path", "jury_config_path"})

SUITE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says for all its run entries; None leaves it to entry, benchmark or site.

    `replace` lets a run go that the suite holds under the same name with other instances or rules.
    """

    suite: str
    max_eval_instances: int | None = None
    sample_seed: int = 0
    max_in_flight: int | None = None
    scoring: Scoring | None = None
    server: str | None = None
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """One run, ready to be asked.

    `name` identifies it within its suite: benchmark, arguments, model and deployment, never a file name.
    """

    name: str
    suite: str
    benchmark: Benchmark
    dataset: Dataset
    model: str
    deployment: Deployment
    instances: Sequence[Instance]
    available: int  # instances in the dataset, before sampling
    max_tokens: int
    temperature: float
    stop: tuple[str, ...]
    scoring: Scoring
    max_in_flight: int
    overrides: tuple[str, ...]  # names of what the run entry changed about the benchmark
    sampled: int | None  # the limit of instances that was given
    sample_seed: int

    @property
    def lineage(self) -> str:
        """The dataset that the units come from. All private data of a site is taken to share its patients."""
        return self.benchmark.lineage or ("site" if self.benchmark.access == "private" else self.benchmark.id)

    def request(self, instance: Instance, extra_body: Mapping[str, str | int | float | bool]) -> ChatRequest:
        """Return the request that asks `instance`."""
        return ChatRequest(
            model=self.deployment.served_model,
            messages=instance.messages,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            stop=self.stop,
            extra_body=extra_body,
        )

    def scored_by(self) -> list[str]:
        """Return what decides the scores besides the answers: rules, metrics and their options."""
        uses = [f"{use.name} {json.dumps(dict(use.options), sort_keys=True)}" for use in self.benchmark.metrics]
        return [__version__, self.scoring, self.lineage, *uses]

    def details(self, capabilities: Capabilities, workarounds: Sequence[str]) -> dict[str, Any]:
        """Return what is kept and shown with the run: settings, digests and findings, never text of a case."""
        benchmark = self.benchmark
        return {
            "display_name": benchmark.display_name,
            "category": benchmark.category,
            "subcategory": benchmark.subcategory,
            "access": benchmark.access,
            "benchmark_digest": benchmark.digest,
            "lineage": self.lineage,
            "unit": benchmark.unit,
            "unit_named": benchmark.unit_column is not None,
            "overrides": list(self.overrides),
            "sampled": self.sampled,
            "sample_seed": self.sample_seed,
            "data": {
                "known": self.dataset.known,
                "own": benchmark.dataset_file is not None,
                "digest": self.dataset.digest,
                "instances": self.available,
                "problems": list(self.dataset.problems),
            },
            "metrics": [
                {
                    "name": use.name,
                    "display_name": METRICS[use.name].display_name,
                    "low": METRICS[use.name].low,
                    "high": METRICS[use.name].high,
                    "binary": METRICS[use.name].binary,
                }
                for use in benchmark.metrics
            ],
            "scoring": self.scoring,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stop": list(self.stop),
            "language_model": capabilities.language_model,
            "capabilities": capabilities.to_json(),
            "workarounds": list(workarounds),
            "agent_version": __version__,
        }


def plan_runs(site: Site, entries: Sequence[RunEntry], options: RunOptions) -> list[Plan]:
    """Plan every entry.

    Raises:
        ConfigError: an entry, deployment or option is wrong.
        BenchmarkError: a benchmark or its data is wrong.
    """
    if not SUITE_NAME.fullmatch(options.suite):
        raise ConfigError(
            "a suite's name has 1 to 64 letters, digits, dots, dashes or underscores, and begins with a letter or digit"
        )
    catalogue = survey_benchmarks(site.own_benchmarks)
    deployments = {} if options.server else read_deployments(site.deployments)
    plans = [_plan_run(site, entry, catalogue, deployments, options) for entry in entries]
    names = [plan.name for plan in plans]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"the same run is asked for twice: {', '.join(twice)}")
    return plans


def _plan_run(
    site: Site,
    entry: RunEntry,
    catalogue: tuple[Mapping[str, Benchmark], Sequence[Broken]],
    deployments: Mapping[str, Deployment],
    options: RunOptions,
) -> Plan:
    benchmark = benchmark_of(entry, *catalogue)
    check_available(benchmark.id, benchmark.metrics)
    if unread := sorted(entry.arguments.keys() - FILE_ARGUMENTS):
        raise ConfigError(
            f"the run entry {entry.description!r} selects rows by {', '.join(unread)}, which this version cannot do",
            "Make a file of the rows that are meant, and name it with data_path=FILE.",
        )
    if options.server and entry.model_deployment:
        raise ConfigError(
            f"the run entry {entry.description!r} names a deployment, and --server another place to ask",
            "Leave out one of the two.",
        )
    deployment = ad_hoc(options.server, entry.model) if options.server else deployment_of(entry, deployments)
    deployment = reachable(deployment, site)
    dataset = locate_dataset(benchmark, site.data, entry.arguments)
    change = overrides(entry)
    everything = load_instances(benchmark, dataset, instructions=change.instructions)
    limit = change.max_eval_instances if change.max_eval_instances is not None else options.max_eval_instances
    return Plan(
        name=run_name(entry, benchmark, dataset, deployment),
        suite=options.suite,
        benchmark=benchmark,
        dataset=dataset,
        model=entry.model,
        deployment=deployment,
        instances=sample(everything, limit, options.sample_seed),
        available=len(everything),
        max_tokens=output_tokens(entry, benchmark, reasoning=deployment.reasoning),
        temperature=0.0 if change.temperature is None else change.temperature,
        stop=change.stop,
        scoring=options.scoring or benchmark.scoring,
        max_in_flight=options.max_in_flight or deployment.max_in_flight or site.settings.max_in_flight,
        overrides=tuple(
            key
            for key in (*entry.expanders, *entry.arguments)
            if key not in FILE_ARGUMENTS and key != "max_eval_instances"
        ),
        sampled=limit,
        sample_seed=options.sample_seed,
    )


def reachable(deployment: Deployment, site: Site) -> Deployment:
    """Return the deployment with the site's CA where it has none of its own.

    The site's proxy is the way out to the aggregator; prompts never take it.

    Raises:
        ConfigError: prompts may not be sent to its host, or through its proxy.
    """
    for what, address in (("host", deployment.base_url), ("proxy", deployment.proxy)):
        if address and (urlsplit(address).hostname or "") not in site.settings.allowed_hosts:
            raise ConfigError(
                f"deployment {deployment.name}: prompts may not be sent to the {what} that its address names",
                f"Add the {what} to allowed_hosts in site.yaml, if it is inside the hospital's network.",
            )
    return replace(deployment, ca_bundle=deployment.ca_bundle or site.settings.ca_bundle)


def run_name(entry: RunEntry, benchmark: Benchmark, dataset: Dataset, deployment: Deployment) -> str:
    """Return the run's name within its suite: the run entry in HELM's form, with digests in place of file names.

    Everything in the entry that changes what is asked is in it, so that two different runs never share a name.
    """
    pairs = {key: value for key, value in entry.arguments.items() if key not in FILE_ARGUMENTS}
    if FILE_ARGUMENTS & entry.arguments.keys():
        pairs["data"] = dataset.digest[:12]
    pairs["model"] = entry.model
    if deployment.name != entry.model:
        pairs["model_deployment"] = deployment.name
    pairs.update((key, value) for key, value in entry.expanders.items() if key != "max_eval_instances")
    return f"{benchmark.id}:" + ",".join(f"{key}={value}" for key, value in pairs.items())


def http_limits(site: Site) -> HttpLimits:
    """Return the site's limits of talking to a model server."""
    settings = site.settings
    return HttpLimits(
        connect_timeout_s=settings.connect_timeout_s,
        attempt_timeout_s=settings.attempt_timeout_s,
        first_attempt_timeout_s=settings.first_attempt_timeout_s,
        total_timeout_s=settings.total_timeout_s,
        max_attempts=settings.max_attempts,
        outage_grace_s=settings.outage_grace_s,
    )


def request_identity(request: ChatRequest) -> bytes:
    """Return the bytes whose keyed hash is the answer's key: equal for equal requests, and only for them."""
    return json.dumps(
        [
            1,
            request.model,
            [[message.role, message.content] for message in request.messages],
            request.max_tokens,
            request.temperature,
            list(request.stop),
            request.seed,
            request.top_p,
            dict(sorted(request.extra_body.items())),
        ],
        separators=(",", ":"),
    ).encode()
