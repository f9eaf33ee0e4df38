"""A small model, trained on a handful of texts."""

from pathlib import Path

from agent.redaction.models.network import Shape
from agent.redaction.models.train import Example, train_model

_NAMES = ("Anna", "Bruno", "Carla", "Dimitri", "Esra", "Farid", "Greta", "Hugo")
_TEXTS: list[Example] = [
    (
        f"{opening} {name} was seen in clinic.",
        ((len(opening) + 1, len(opening) + 1 + len(name), "NAME"),),
    )
    for name in _NAMES
    for opening in ("Patient", "Today", "Then")
]


def train_small(folder: Path, steps: int = 40, **options: object) -> Path:
    return train_model(
        _TEXTS, folder, language="en", seed=3, steps=steps, shape=Shape(16, 1), **options
    )  # type: ignore[arg-type]
