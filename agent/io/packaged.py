"""The folders of data files that ship with the agent: benchmarks and policies."""

from pathlib import Path


def shipped(name: str) -> Path:
    """Return the folder `name` ("benchmarks" or "policies") of a checkout or of an installed wheel."""
    inside = Path(__file__).parents[1] / "shipped" / name
    return inside if inside.is_dir() else Path(__file__).parents[2] / name
