"""What a site has for metrics that need more than the answer: a model of its own, and processors."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Means:
    """What metrics that are measured later may use.

    Attributes:
        bertscore_model: folder of the encoder that BERTScore compares with; None: BERTScore cannot be computed.
        bertscore_layer: of the encoder, counted from 1; None: the one that BERTScore's authors chose for its kind.
        workers: processes, and threads of an encoder, that may compute at once.
    """

    bertscore_model: Path | None = None
    bertscore_layer: int | None = None
    workers: int = 1


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
