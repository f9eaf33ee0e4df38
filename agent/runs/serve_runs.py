"""Run entries while the agent serves their models, one server after the other."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from agent.catalog.deployments import Deployment, find_deployment, read_deployments
from agent.errors import ConfigError
from agent.io.progress import Progress
from agent.io.wording import nearest
from agent.model_servers.start import Waiting, serve
from agent.runs.plan import RunOptions
from agent.runs.run import RunOutcome, run_entries
from agent.site.directory import Site
from agent.vocabulary import RunEntry


def run_while_serving(
    site: Site,
    entries: Sequence[RunEntry],
    options: RunOptions,
    served: Mapping[str, Waiting],
    progress: Progress,
) -> list[RunOutcome]:
    """Run every entry, and return the outcomes in the order of the entries.

    Entries of other deployments are run first. Then each of the servers is started, asked and stopped, so that one GPU
    suffices for several models.

    Args:
        served: the deployments whose servers are started, in order, each with what shows the waiting.

    Raises:
        ConfigError, BenchmarkError, InferenceError: see `agent.runs.run.run_entries` and
            `agent.model_servers.start.serve`.
    """
    deployments = {} if options.server else read_deployments(site.deployments)
    for name in served:
        if name not in deployments:
            raise ConfigError(
                f"--serve: there is no model deployment {name!r}{nearest(name, deployments)}",
                "Name a deployment with model_server in model_deployments.yaml.",
            )
    by_server: dict[str, list[int]] = {name: [] for name in ("", *served)}
    for number, entry in enumerate(entries):
        deployment = _find_server(entry, options, deployments)
        by_server[deployment if deployment in served else ""].append(number)
    outcomes: dict[int, RunOutcome] = {}
    for name, numbers in by_server.items():
        if not numbers:
            continue
        with serve(site, deployments[name], served[name]) if name else nullcontext():
            done = run_entries(site, [entries[number] for number in numbers], options, progress)
        outcomes.update(zip(numbers, done, strict=False))
        if len(done) < len(numbers):  # stopped after failed instances, see `exit_on_error`
            break
    return [outcomes[number] for number in sorted(outcomes)]


def _find_server(
    entry: RunEntry, options: RunOptions, deployments: Mapping[str, Deployment]
) -> str:
    return "" if options.server else find_deployment(entry, deployments).name
