"""List the traits that two runs or metrics must share to be compared, joined or paired. Pure."""

import json
from collections.abc import Hashable
from dataclasses import dataclass

from agent.store import KeptMetric, Run

# Arguments that an entry may set for each model separately, as HELM does: they change nothing that others are asked.
OF_MODEL = frozenset(
    {"model", "model_deployment", "num_output_tokens", "increase_max_tokens", "temperature", "stop"}
)
DATA = "data"  # the argument that names the data of an entry; the digest is compared in any case


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a benchmark that a run asked: its arguments, and the digest of the data."""

    arguments: frozenset[tuple[str, str]]
    data_digest: str | None


def identify_part(run: Run) -> Part:
    """Return the part of the benchmark that a run asked, by its arguments and the others of its entry."""
    entry_arguments = {
        key: value for key, value in run.pairs if key not in OF_MODEL and key != DATA
    }
    arguments = entry_arguments | dict(run.details.arguments)
    return Part(frozenset(arguments.items()), run.details.data.digest)


def build_unit_prefix(run: Run) -> bytes:
    """Return the bytes that tell a run's units from those of other parts; the same for all models.

    Units without a name are numbers of rows, and every part of a benchmark's data counts its own rows.
    """
    if run.details.unit_named:
        return b""
    part = identify_part(run)
    return repr((sorted(part.arguments), part.data_digest)).encode() + b" "


def list_question_traits(run: Run) -> dict[str, Hashable]:
    """Return the traits that two runs must share, besides their part, to have asked the same questions.

    The keys are the words for a difference.
    """
    origin = run.details.origin
    return {
        "made elsewhere": None if origin is None else (origin.kind, run.suite),
        "another definition of the benchmark": run.details.benchmark_digest,
        "another kind of data": run.details.data.known,
    }


def list_metric_traits(run: Run, metric: KeptMetric) -> dict[str, Hashable]:
    """Return the traits that a metric of two runs must share to mean the same, by the words for a difference."""
    version = "" if run.imported else run.details.agent_version
    return {
        "other scoring rules": (metric.scoring or run.details.scoring, version),
        "another encoder or other options of the metric": encode_options(metric),
        "another jury": encode_jury(run, metric),
    }


def encode_options(metric: KeptMetric) -> str:
    """Return a metric's options as JSON; those of an encoder name its files."""
    return json.dumps(dict(metric.options), sort_keys=True)


def encode_jury(run: Run, metric: KeptMetric) -> str | None:
    """Return the judges of a metric and how they were asked, as text; None without a jury.

    Of an imported jury that is its judges alone: its other fields are read off their replies.
    """
    if metric.jury is None:
        return None
    if run.imported:
        return repr(metric.jury.judges)
    return json.dumps(metric.jury.to_json(), sort_keys=True)
