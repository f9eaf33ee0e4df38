"""Own metrics for the tests: their code, their sources and the questions that they are asked."""

import hashlib
from pathlib import Path

from agent.own_metrics.source import MetricSource
from agent.vocabulary import Instance, Message, Reference

HEADER = 'API = 1\nNAME = "{name}"\nTITLE = "Test"\nLOW, HIGH = 0, 1\n'
SIGNATURE = "def score(answer, references, context):\n"


def write_metric(folder: Path, body: str, *, name: str = "test", header: str = HEADER) -> Path:
    """Write a metric whose function has this body, and return its file."""
    path = folder / f"{name}.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header.format(name=name) + SIGNATURE + lines)
    return path


def approve(path: Path) -> MetricSource:
    """Return the source of a file with its present digest."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return MetricSource(path.stem, digest, path, f"plugins/{path.name}")


def instance(*references: str, extra: dict[str, str] | None = None) -> Instance:
    """Return a question with these right answers."""
    right = tuple(Reference(text, correct=True) for text in references)
    return Instance("1", "1", (Message("user", "How much?"),), right, extra=extra or {})
