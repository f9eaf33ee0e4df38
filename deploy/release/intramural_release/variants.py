"""The variants that are locked, the Python versions they are locked for, and where their files lie."""

import tomllib
from pathlib import Path
from typing import Any, Final

from intramural_release.lock_files import Variant

ROOT: Final = Path(__file__).parents[3]
LOCKS: Final = ROOT / "deploy/locks"
PYTHONS: Final = ("3.11", "3.12", "3.13")
"""Those that the classifiers of pyproject.toml name."""
PROJECTS: Final = {
    "intramural": ROOT / "pyproject.toml",
    "intramural-steward": ROOT / "deploy/steward/pyproject.toml",
}
RUNTIME_EXTRAS: Final = (
    "bertscore",
    "gliner",
    "llamacpp",
    "onnx",
    "parquet",
    "postgres",
    "ray",
    "tokenizer",
    "transformers",
)
"""Every extra that a site may install, except vLLM, which pins hundreds of packages of its own."""
VARIANTS: Final = (
    Variant("agent-vllm", "intramural", ("vllm",)),
    Variant("agent-all-extras", "intramural", RUNTIME_EXTRAS),
    Variant("agent", "intramural", ()),
    Variant("aggregator", "intramural", ("postgres",)),
    Variant("steward", "intramural-steward", ("pkcs11",)),
    Variant("test", "intramural", ("test",)),
)
"""In the order in which they are made."""
AGREES_WITH: Final = {
    "agent-all-extras": ("agent-vllm", ("torch",)),
    "agent": ("agent-all-extras", ()),
    "aggregator": ("agent-all-extras", ()),
    "steward": ("agent-all-extras", ()),
    "test": ("agent-all-extras", ()),
}
"""Variants that take versions from another lock: of the packages named, or of all they share if none is named.

So what is tested is what is installed, and a machine with both variants has one release of torch.
"""
GROUPS: Final = ("build", "release")
"""Tables under dependency-groups of pyproject.toml: what builds wheels, and what releases need. Locked as variants."""


def locate_lock(variant: str, python: str) -> Path:
    """Return the path of a lock, for example of ("agent", "3.11")."""
    return LOCKS / f"{variant}-py{python.replace('.', '')}.txt"


def read_project(project: str) -> dict[str, Any]:
    """Return the table `project` of a project's pyproject.toml."""
    table: dict[str, Any] = tomllib.loads(PROJECTS[project].read_text("utf-8"))["project"]
    return table


def read_group(group: str) -> list[str]:
    """Return the requirements of a dependency group."""
    groups = tomllib.loads(PROJECTS["intramural"].read_text("utf-8"))["dependency-groups"]
    return [str(line) for line in groups[group]]
