"""Names that are listed in HELM's catalogue or ours. Being public, they reveal nothing about a person.

names_of_helm.txt lists the names in crfm-helm: `class helm.benchmark...`, `name exact_match`,
`model openai/gpt-4o-2024-05-13`, `number num_train_trials` (a numeric setting of one of its classes).
"""

from functools import cache
from pathlib import Path
from typing import Final

from agent.catalog.benchmark import survey_benchmarks
from agent.metrics import METRICS

NAMES_OF_HELM: Final = Path(__file__).parent / "names_of_helm.txt"


@cache
def vouched_names() -> frozenset[str]:
    """Return the names of benchmarks, metrics, models and classes, as written in the catalogues."""
    models = _read_listed("model")
    models_in_run_names = {name.replace("/", "_") for name in models}
    return (
        _read_listed("class")
        | _read_listed("name")
        | _collect_catalogued()
        | models
        | models_in_run_names
    )


@cache
def vouched_terms() -> frozenset[str]:
    """Return only the names of benchmarks, metrics and settings. Unlisted names may consist of their words."""
    return _read_listed("name") | _read_listed("number") | _collect_catalogued()


@cache
def numeric_settings() -> frozenset[str]:
    """Return the numeric settings of HELM's classes."""
    return _read_listed("number")


@cache
def _read_listed(kind: str) -> frozenset[str]:
    prefix = f"{kind} "
    lines = NAMES_OF_HELM.read_text("utf-8").splitlines()
    return frozenset(line.removeprefix(prefix) for line in lines if line.startswith(prefix))


@cache
def _collect_catalogued() -> frozenset[str]:
    """Return HELM's and our names of the shipped benchmarks and their metrics, and the choices of their settings."""
    catalogue, _ = survey_benchmarks(None)
    names: set[str] = set(METRICS)
    for benchmark in catalogue.values():
        names |= {benchmark.id, *benchmark.aliases, *benchmark.helm_groups}
        names |= {use.helm_name or use.name for use in benchmark.metrics}
        for argument_name, argument in benchmark.arguments.items():
            names |= {argument_name, *argument.values}
    return frozenset(names)
