"""Names that HELM's catalogue or ours vouches for: what everybody can read in a package says nothing of a person.

names_of_helm.txt is that of crfm-helm: `class helm.benchmark...`, `name exact_match`, `model openai/gpt-4o-2024-05-13`,
`number num_train_trials` (settings of its classes that are numbers).
"""

from functools import cache
from pathlib import Path
from typing import Final

from agent.catalog.benchmark import survey_benchmarks
from agent.metrics import METRICS

NAMES_OF_HELM: Final = Path(__file__).parent / "names_of_helm.txt"


@cache
def vouched_names() -> frozenset[str]:
    """Return names of benchmarks, metrics, models and classes, as they are written."""
    models = _listed("model")
    return (
        _listed("class")
        | _listed("name")
        | _catalogued()
        | models
        | {name.replace("/", "_") for name in models}  # as in the names of runs and their folders
    )


@cache
def vouched_terms() -> frozenset[str]:
    """Return names of benchmarks, metrics and settings alone, of whose words other names may be made."""
    return _listed("name") | _listed("number") | _catalogued()


@cache
def numeric_settings() -> frozenset[str]:
    """Return the settings of HELM's classes that are numbers."""
    return _listed("number")


@cache
def _listed(kind: str) -> frozenset[str]:
    lines = NAMES_OF_HELM.read_text("utf-8").splitlines()
    return frozenset(line.removeprefix(f"{kind} ") for line in lines if line.startswith(f"{kind} "))


@cache
def _catalogued() -> frozenset[str]:
    """Return what HELM and we call benchmarks and metrics that everybody knows, and the choices of their settings."""
    catalogue, _ = survey_benchmarks(None)
    names: set[str] = set(METRICS)
    for benchmark in catalogue.values():
        names |= {benchmark.id, *benchmark.aliases, *benchmark.helm_groups}
        names |= {use.helm_name or use.name for use in benchmark.metrics}
        names |= {value for argument in benchmark.arguments.values() for value in argument.values}
        names |= set(benchmark.arguments)
    return frozenset(names)
