"""Ways to look at a folder that was redacted, and to spoil it."""

import base64
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.shapes import OF_A_RUN
from agent.exchange.helm.redaction.walk import REDACTED, FolderRedactors, Options, redact_files
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    PLANTED,
    SUITE,
    put,
)

KEY = b"k" * 32
ROOT = Path(__file__).parents[5]
REAL = Path(__file__).parents[2] / "data" / "helm_output"
SHOWN_RUN = "ward_notes:data_path="


def find_words(folder: Path, words: Sequence[str] = PLANTED) -> set[str]:
    """Return those of the words that are anywhere in the folder: in bytes, also encoded, and in names."""
    found = set()
    for path in folder.rglob("*"):
        inside = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for word in words:
            forms = [
                word.encode(),
                word.encode("utf-16-le"),
                base64.b64encode(word.encode())[:-4],
                word[::-1].encode(),
            ]
            if any(form in inside for form in forms) or word in str(path.relative_to(folder)):
                found.add(word)
    return found


def find_run(folder: Path) -> Path:
    (run,) = (
        path for path in (folder / "runs" / SUITE).iterdir() if path.name.startswith(SHOWN_RUN)
    )
    return run


def read_content(folder: Path, name: str) -> Any:
    return json.loads((find_run(folder) / name).read_text("utf-8"))


def add_a_file(folder: Path) -> None:
    put(folder / "runs" / SUITE / "notes.txt", "x")


def list_again(folder: Path) -> None:
    """Make the manifest anew, as someone would who wants a spoilt folder to pass."""
    from agent.exchange.helm.redaction.manifest import describe_file

    manifest = json.loads((folder / "redaction.json").read_text())
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent != folder)
    manifest["files"] = [describe_file(folder, path).model_dump() for path in files]
    (folder / "redaction.json").write_text(json.dumps(manifest))


class Slow:
    """A redactor that takes everything, slowly."""

    policy = "slow 1"
    seconds = 0.02

    def redact_and_find(self, texts: Sequence[str], identifiers: Sequence[object] = ()) -> Any:
        time.sleep(self.seconds)
        return [(REDACTED, ())] * len(texts)


def leaves(tree: Any) -> Iterator[Any]:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else None
    if inner is None:
        yield tree
    else:
        for value in inner:
            yield from leaves(value)


def redact_file(name: str, tree: Any, redactors: FolderRedactors) -> Any:
    names = Names(redactors.names, KEY, redacted_before=False)
    return redact_files({name: (OF_A_RUN[name], tree)}, names, Options(), redactors.texts)[0][name]


def run_command(*words: str) -> Any:
    from agent.cli.main import intramural  # takes long, and the process that is killed does without

    return CliRunner().invoke(intramural, ["redact", "helm", *words], env={"INTRAMURAL_SITE": None})
