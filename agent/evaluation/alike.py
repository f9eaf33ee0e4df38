"""What makes runs alike, and units those of other runs: what may stand beside each other, be joined or paired. Pure."""

import json
from collections.abc import Hashable, Mapping
from typing import Any

from agent.store import Run

# What an entry may set for each model by itself, as HELM does: it changes what is asked of no other.
OF_MODEL = frozenset({"model", "model_deployment", "num_output_tokens", "increase_max_tokens", "temperature", "stop"})
DATA = "data"  # how a name says that the entry named its data: by the digest, which is compared in any case

Part = tuple[frozenset[tuple[str, str]], str | None]


def part_of(run: Run) -> Part:
    """Return which part of the benchmark a run asked, of which data: its arguments, and what else its entry says."""
    asked = {key: value for key, value in run.pairs if key not in OF_MODEL and key != DATA}
    return frozenset((asked | run.details.get("arguments", {})).items()), run.details.get("data", {}).get("digest")


def units_apart(run: Run) -> bytes:
    """Return what goes before the units of a run, to tell them from other parts': the same for all models.

    Units without a name are numbers of rows, of which every part of a benchmark's data has its own.
    """
    if run.details.get("unit_named", True):
        return b""
    asked, digest = part_of(run)
    return repr((sorted(asked), digest)).encode() + b" "


def asked_of(run: Run) -> dict[str, Hashable]:
    """Return what two runs must share besides their part to have asked the same, by the words that say it differs."""
    details: Mapping[str, Any] = run.details
    return {
        "made elsewhere": (details["origin"].get("kind"), run.suite) if run.imported else None,
        "another definition of the benchmark": details.get("benchmark_digest"),
        "another kind of data": details.get("data", {}).get("known"),
    }


def measured_by(run: Run, kept: Mapping[str, Any]) -> dict[str, Hashable]:
    """Return what a metric of two runs must share to mean the same, by the words that say it differs.

    Args:
        run: one of them.
        kept: what it keeps of the metric.
    """
    version = None if run.imported else run.details.get("agent_version")
    return {
        "other scoring rules": (kept.get("scoring", run.details.get("scoring")), version),
        "another encoder or other options of the metric": options_of(kept),
        "another jury": jury_of(run, kept),
    }


def options_of(kept: Mapping[str, Any]) -> str:
    """Return a metric's options; those of an encoder name its files."""
    return json.dumps(kept.get("options", {}), sort_keys=True)


def jury_of(run: Run, kept: Mapping[str, Any]) -> str | None:
    """Return who graded by what. Of a jury made elsewhere that is its judges: the rest is read off their replies."""
    jury: Mapping[str, Any] | None = kept.get("jury")
    return None if jury is None else json.dumps(jury["judges"] if run.imported else jury, sort_keys=True)
