"""Run entries that name deployments of another site: the deployment here that takes the place of each."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent.catalog.deployments import Deployment
from agent.catalog.run_entries import format_counts, rewrite_entry
from agent.errors import ConfigError
from agent.io.small_file import read_bytes
from agent.io.strict_yaml import parse_yaml
from agent.io.wording import find_unseen, nearest
from agent.vocabulary import RunEntry

_LEFT_OUT = "none"


def read_deployment_map(path: Path) -> dict[str, str]:
    """Read a YAML map from deployments that run entries name to those here, in file order.

    A `*` in a name stands for any text; in the name on the right it stands for that same text. On the right `none`
    leaves the entries out.

        stanfordhealthcare/llama-3.3-70b-instruct: local/llama
        stanfordhealthcare/*: local/*

    Raises:
        ConfigError: names every key that is wrong.
    """
    mapping = parse_yaml(read_bytes(path, ConfigError), path, ConfigError)
    if not isinstance(mapping, dict) or not mapping:
        raise ConfigError(
            f"{path}: expected lines of the form `deployment of the run entry: deployment here`"
        )
    problems = []
    for old, new in mapping.items():
        problem = _find_problem(old, new)
        if problem:
            problems.append(f"{path}: {old!r}: {problem}")
    if problems:
        raise ConfigError("\n".join(problems))
    return mapping


def _find_problem(old: str, new: object) -> str:
    if not isinstance(new, str) or not new.strip():
        return "expected the name of a deployment here, or `none` to leave these entries out"
    if not old.strip() or any(find_unseen(name) or "," in name for name in (old, new)):
        return "expected names in one line without commas"
    if old.count("*") > 1 or new.count("*") > old.count("*"):
        return (
            "expected at most one * on the left, and one on the right only where the left has one"
        )
    return ""


def map_deployments(
    entries: Iterable[RunEntry],
    mapping: Mapping[str, str],
    deployments: Mapping[str, Deployment] | None = None,
) -> list[RunEntry]:
    """Put deployments of this site in place of those that entries name.

    A name as it is written counts before one with a `*`, and of those the first that fits. Where an entry names no
    deployment, its model is looked up. A mapped entry keeps no model: it asks for the model that the deployment
    serves, so that no result ever carries the name of a model that was not asked. Entries that have become the same
    are asked once, and those mapped to `none` are left out.

    Raises:
        ConfigError: the map names a deployment that is not one of `deployments` (None: any name will do).
    """
    mapped: dict[str, RunEntry] = {}
    missing: Counter[str] = Counter()
    for number, entry in enumerate(entries):
        match = map_name(entry.model_deployment or entry.model, mapping)
        if match is None:
            mapped[f"{number}"] = entry  # as it was, twice if it is there twice
            continue
        key, new = match
        if new == _LEFT_OUT:
            continue
        if deployments is not None and new not in deployments:
            missing[f"{key!r}: {new}{nearest(new, (*deployments, _LEFT_OUT))}"] += 1
        changed = rewrite_entry(entry, {"model": "", "model_deployment": new})
        mapped.setdefault(f"mapped {changed.description}", changed)
    if missing:
        raise ConfigError(
            f"the deployment map leads to deployments that are not in model_deployments.yaml:{format_counts(missing)}",
            "Correct these lines of the map: on the right stands a deployment here, or `none` alone to leave the "
            "entries out.",
        )
    return list(mapped.values())


def map_name(name: str, mapping: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the key of the map that fits a name, and the name it is mapped to."""
    if name in mapping:
        return name, mapping[name]
    for old, new in mapping.items():
        before, star, after = old.partition("*")
        fits = (
            len(name) >= len(before) + len(after)
            and name.startswith(before)
            and name.endswith(after)
        )
        if star and fits:
            return old, new.replace("*", name[len(before) : len(name) - len(after)])
    return None


def check_deployments(entries: Iterable[RunEntry], deployments: Mapping[str, Deployment]) -> None:
    """Check that every deployment (or model, where an entry names no deployment) can be used here.

    Raises:
        ConfigError: lists those that cannot, each once, with the number of entries that name it.
    """
    served = set()
    for deployment in deployments.values():
        if not deployment.deprecated and not deployment.problem:
            served.add(deployment.model_name)
    missing: Counter[str] = Counter()
    for entry in entries:
        name = entry.model_deployment
        if not name and entry.model not in served:
            missing[f"a deployment of the model {entry.model}{nearest(entry.model, served)}"] += 1
        elif name and name not in deployments:
            missing[f"{name}{nearest(name, deployments)}"] += 1
        elif name and (problem := deployments[name].problem):
            missing[f"{name}: {problem}"] += 1
    if missing:
        raise ConfigError(
            f"the run entries name deployments that are not available here:{format_counts(missing)}",
            _MAP_ADVICE,
        )


_MAP_ADVICE = (
    "Add them to model_deployments.yaml; or name a YAML file with --deployment-map that maps each to a deployment "
    "here, as `stanfordhealthcare/*: local/*` (`none` on the right leaves entries out); "
    "or choose among the models with --models-to-run."
)
