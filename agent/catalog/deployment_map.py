"""Replace the deployments in run entries of another site by deployments of this site."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.catalog.deployments import Deployment
from agent.catalog.model_names import find_models
from agent.catalog.run_entries import format_counts, rewrite_entry
from agent.errors import ConfigError
from agent.io.small_file import read_bytes
from agent.io.strict_yaml import parse_yaml
from agent.io.wording import find_unseen, nearest
from agent.vocabulary import RunEntry

_LEFT_OUT = "none"
_ANY = "*"
_JUDGES = "judges"


@dataclass(frozen=True, slots=True)
class DeploymentMap:
    """Deployments of this site by the name used in run entries, and by the name used in juries.

    Attributes:
        entries: for the deployments or models that run entries name; empty without a map.
        judges: for the deployments or models of judges.
    """

    entries: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)


def read_deployment_map(path: Path) -> DeploymentMap:
    """Read a YAML file that maps the deployments named in run entries to deployments of this site, in file order.

    A `*` on the left matches any text, and a `*` on the right is replaced by the matched text. With `none` on the
    right, the entries are skipped. Under `judges:`, a map of the same form is for judges only. Without it, judges are
    mapped like run entries, except that they ignore `none` and the line that matches every name (`"*"`).

        stanfordhealthcare/llama-3.3-70b-instruct: local/llama
        stanfordhealthcare/*: local/*
        judges:
          openai/gpt-4o-2024-05-13: local/judge

    Raises:
        ConfigError: the map has invalid keys or values, all of which are listed.
    """
    lines = parse_yaml(read_bytes(path, ConfigError), path, ConfigError)
    if not isinstance(lines, dict) or not lines:
        raise ConfigError(
            f"{path}: expected lines of the form `deployment of the run entry: deployment of this site`"
        )
    entries = dict(lines)
    has_judges = isinstance(entries.get(_JUDGES), dict)
    judges = entries.pop(_JUDGES) if has_judges else _select_lines_for_judges(entries)
    problems = []
    for old, new in entries.items():
        problem = _find_problem(old, new)
        if problem:
            problems.append(f"{path}: {old!r}: {problem}")
    for old, new in judges.items() if has_judges else ():
        problem = _find_problem(old, new)
        if new == _LEFT_OUT:
            problem = "expected the name of a deployment of this site: no judge may be left out"
        if problem:
            problems.append(f"{path}: {_JUDGES}: {old!r}: {problem}")
    if problems:
        raise ConfigError("\n".join(problems))
    return DeploymentMap(entries, judges)


def _select_lines_for_judges(entries: Mapping[str, str]) -> dict[str, str]:
    """Return the lines that also apply to judges, for a map that has none of its own for them.

    The line for every name would make one deployment the whole jury, which would then also judge its own answers.
    """
    return {old: new for old, new in entries.items() if old != _ANY and new != _LEFT_OUT}


def _find_problem(old: object, new: object) -> str:
    if not isinstance(new, str) or not new.strip():
        return "expected the name of a deployment of this site, or `none` to skip these entries"
    if not isinstance(old, str) or not old.strip():
        return "expected names on one line, without commas"
    if any(find_unseen(name) or "," in name for name in (old, new)):
        return "expected names on one line, without commas"
    if old.count(_ANY) > 1 or new.count(_ANY) > old.count(_ANY):
        return "expected at most one * on each side, and a * on the right only if there is one on the left"
    return ""


def map_deployments(
    entries: Iterable[RunEntry],
    mapping: Mapping[str, str],
    deployments: Mapping[str, Deployment] | None = None,
) -> list[RunEntry]:
    """Replace the deployments that entries name by deployments of this site.

    An exact name takes precedence over the first matching pattern with a `*`. If an entry names no deployment, its
    model is looked up instead. The model is removed from a mapped entry, so that the model is always the one that the
    deployment serves. Entries that become identical are merged, and entries mapped to `none` are skipped.

    Raises:
        ConfigError: the map names a deployment that is not in `deployments` (unless that is None).
    """
    mapped: dict[str, RunEntry] = {}
    missing: Counter[str] = Counter()
    for number, entry in enumerate(entries):
        match = map_name(entry.model_deployment or entry.model, mapping)
        if match is None:
            mapped[f"{number}"] = entry  # unchanged, and not merged with duplicates
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
            f"the deployment map names deployments that are not in model_deployments.yaml:{format_counts(missing)}",
            "Correct these lines of the map: the right side must be a deployment of this site, or `none` to skip the "
            "entries.",
        )
    return list(mapped.values())


def map_name(name: str, mapping: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the key of the map that matches a name, and the name it is mapped to; None if no key matches."""
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
    """Check that every deployment, or model if an entry names no deployment, can be used at this site.

    Raises:
        ConfigError: some deployments cannot be used; each is listed with the number of entries that name it.
    """
    served = set()
    for deployment in deployments.values():
        if not deployment.deprecated and not deployment.problem:
            served.add(deployment.model_name)
    missing: Counter[str] = Counter()
    for entry in entries:
        name = entry.model_deployment
        if not name and not find_models(entry.model, served):
            missing[f"a deployment of the model {entry.model}{nearest(entry.model, served)}"] += 1
        elif name and name not in deployments:
            missing[f"{name}{nearest(name, deployments)}"] += 1
        elif name and (problem := deployments[name].problem):
            missing[f"{name}: {problem}"] += 1
    if missing:
        raise ConfigError(
            f"the run entries name deployments that are not available at this site:{format_counts(missing)}",
            _MAP_ADVICE,
        )


_MAP_ADVICE = (
    "Add them to model_deployments.yaml; or use --deployment-map with a YAML file that maps each to a deployment of "
    "this site, such as `stanfordhealthcare/*: local/*` (with `none` on the right, entries are skipped); "
    "or select models with --models-to-run."
)
