"""What makes runs alike, and units those of other runs: what may stand beside each other, be joined or paired. Pure."""

import json
from collections.abc import Hashable

from agent.store import KeptMetric, Run

# What an entry may set for each model by itself, as HELM does: it changes what is asked of no other.
OF_MODEL = frozenset({"model", "model_deployment", "num_output_tokens", "increase_max_tokens", "temperature", "stop"})
DATA = "data"  # how a name says that the entry named its data: by the digest, which is compared in any case

Part = tuple[frozenset[tuple[str, str]], str | None]


def identify_part(run: Run) -> Part:
    """Return which part of the benchmark a run asked, of which data: its arguments, and what else its entry says."""
    asked = {key: value for key, value in run.pairs if key not in OF_MODEL and key != DATA}
    return frozenset((asked | dict(run.details.arguments)).items()), run.details.data.digest


def build_unit_prefix(run: Run) -> bytes:
    """Return what goes before the units of a run, to tell them from other parts': the same for all models.

    Units without a name are numbers of rows, of which every part of a benchmark's data has its own.
    """
    if run.details.unit_named:
        return b""
    asked, digest = identify_part(run)
    return repr((sorted(asked), digest)).encode() + b" "


def list_question_traits(run: Run) -> dict[str, Hashable]:
    """Return what two runs must share besides their part to have asked the same, by the words that say it differs."""
    origin = run.details.origin
    return {
        "made elsewhere": None if origin is None else (origin.kind, run.suite),
        "another definition of the benchmark": run.details.benchmark_digest,
        "another kind of data": run.details.data.known,
    }


def list_metric_traits(run: Run, metric: KeptMetric) -> dict[str, Hashable]:
    """Return what a metric of two runs must share to mean the same, by the words that say it differs."""
    version = "" if run.imported else run.details.agent_version
    return {
        "other scoring rules": (metric.scoring or run.details.scoring, version),
        "another encoder or other options of the metric": encode_options(metric),
        "another jury": encode_jury(run, metric),
    }


def encode_options(metric: KeptMetric) -> str:
    """Return a metric's options; those of an encoder name its files."""
    return json.dumps(dict(metric.options), sort_keys=True)


def encode_jury(run: Run, metric: KeptMetric) -> str | None:
    """Return who graded by what. Of a jury made elsewhere that is its judges: the rest is read off their replies."""
    if metric.jury is None:
        return None
    return repr(metric.jury.judges) if run.imported else json.dumps(metric.jury.to_json(), sort_keys=True)
