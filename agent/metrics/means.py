"""Site resources for metrics that need more than the answer: an encoder, and processors."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent.own_metrics.source import MetricSource


def _ignore(note: str) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class Means:
    """The resources available to metrics that are measured after the run.

    Attributes:
        bertscore_model: folder of BERTScore's encoder; None if BERTScore cannot be computed.
        bertscore_layer: layer of the encoder, counted from 1; None for the layer that BERTScore's authors chose.
        own_metrics: the metrics in Python that the site has enabled.
        own_metrics_folder: the folder of their files; None without a site.
        note: shows a person a sentence about metrics that failed, which quotes no text of a case.
        workers: maximum number of processes, or of an encoder's threads, that compute at once.
    """

    bertscore_model: Path | None = None
    bertscore_layer: int | None = None
    workers: int = 1
    own_metrics: tuple[MetricSource, ...] = ()
    own_metrics_folder: Path | None = None
    note: Callable[[str], None] = _ignore


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
