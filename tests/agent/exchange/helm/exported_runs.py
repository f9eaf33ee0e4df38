"""Exported run folders of HELM's form, read back."""

import json
from pathlib import Path
from typing import Any

from agent.exchange.helm.export import export_helm
from agent.vocabulary import Reference
from tests.agent.service.filled_site import Case, FilledSite, case

CANARY = "Ignatius Quellmalz"


WORDS = ("Quellmalz", "8842331", "03/14/1951", "ward-seven", "identity-9917", "notes_of_quellmalz")


def planted(number: int) -> Case:
    """An instance with a canary in every place that holds a text or an id of the dataset."""
    text = f"Mr. {CANARY}; MRN 8842331; born 03/14/1951; question {number}"
    return case(
        number,
        prompt=text,
        answer=f"About {text}",
        reasoning=f"Think of {text}",
        references=(Reference(f"Mr. {CANARY}", True), Reference("MRN 8842331", False)),
        identity="identity-9917",
        unit="ward-seven",
    )


def export_runs(
    filled: FilledSite, folder: Path, *, reveal: bool = False, suite: str = "november"
) -> list[Path]:
    export_helm(filled.site, suite, folder, reveal=reveal)
    return sorted((folder / "runs" / suite).iterdir())


def load_file(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def read_stats(folder: Path) -> dict[str, dict[str, Any]]:
    return {stat["name"]["name"]: stat for stat in load_file(folder, "stats.json")}


def read_every_byte(folder: Path) -> bytes:
    return b"\n".join(
        [path.relative_to(folder).as_posix().encode() for path in folder.rglob("*")]
        + [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    )
