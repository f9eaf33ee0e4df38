"""A redacted folder looked at again: whatever is missing, more, changed, or would be redacted now, is a finding."""

import os
import secrets
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.errors import RedactionError
from agent.exchange.helm_redaction.json_content import is_written_as
from agent.exchange.helm_redaction.layout import MANIFEST, every_file, suites_of
from agent.exchange.helm_redaction.manifest import Manifest, listed, read_manifest
from agent.exchange.helm_redaction.names import KEY_BYTES, Names
from agent.exchange.helm_redaction.redacting import read_run, read_suite, remainder
from agent.exchange.helm_redaction.walk import Judges, Step, through
from agent.shipped import shipped


def check_folder(output: Path, judges: Judges) -> Manifest:
    """Return the manifest of a folder that is clean.

    Clean is a folder that holds the files of its manifest and nothing else, each as it was written, in which
    `judges` find nothing and every field is one that may be shown.

    Raises:
        RedactionError: it is not; counts what was found, by kind.
        ConfigError: it is no folder of HELM's.
    """
    output = output.absolute()
    manifest = read_manifest(output)
    found = _by_the_manifest(output, manifest)
    if os.path.lexists(remainder(output)):
        found["unredacted folders beside it"] += 1
    found["manifests that are not written as they were"] += not is_written_as(
        output / MANIFEST, manifest.model_dump(mode="json")
    )
    found["unknown policies"] += not (
        manifest.policy == judges.texts.policy
        or (shipped("policies") / "redaction" / f"{manifest.policy.split()[0]}.yaml").is_file()
    )
    found += _by_redaction(output, manifest, judges)
    if +found:
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()) if count)
        raise RedactionError(f"the folder is not clean: {told}", "Do not hand it on. Redact it again.")
    return manifest


def _by_the_manifest(output: Path, manifest: Manifest) -> Counter[str]:
    """Compare files with their digests."""
    found = Counter[str]()
    entries = {entry.path: entry for entry in manifest.files}
    for path in every_file(output):
        name = path.relative_to(output).as_posix()
        entry = entries.pop(name, None)
        if name == MANIFEST and not path.is_symlink():
            continue
        if path.is_symlink() or not path.is_file():
            found["links or special files"] += 1
        elif entry is None:
            found["files that the manifest does not list"] += 1
        elif listed(output, path) != entry:
            found["files that were changed"] += 1
    found["files that are missing"] += len(entries)
    return found


def _by_redaction(output: Path, manifest: Manifest, judges: Judges) -> Counter[str]:
    """Redact everything again: what changes was not redacted."""
    found = Counter[str]()
    names = Names(judges.names, secrets.token_bytes(KEY_BYTES), redacted_before=True)
    suites = suites_of(output, manifest.suites)
    known = {MANIFEST}
    for suite in suites:
        found["names"] += names.shown(suite.name) != suite.name
        folder = f"runs/{suite.name}"
        for number, run in enumerate(suite.runs, 1):
            found["names"] += names.run(run.path.name) != run.path.name
            known |= {f"{folder}/{run.path.name}/{name}" for name in run.files}
            files = read_run(run, number)
            new, _, _ = through(files, names, manifest.options, judges.texts)
            found += _compared(run.path, files, new)
        files = read_suite(suite, names)
        found["names"] += len(set(files) - {name for name, _ in suite.files})
        known |= {f"{folder}/{name}" for name, _ in suite.files}
        new, _, _ = through(files, names, manifest.options, judges.texts)
        found += _compared(suite.path, files, new)
    found["files that are not HELM's"] += sum(
        path.relative_to(output).as_posix() not in known for path in every_file(output)
    )
    folders = {Path(name).parent for name in known}
    folders |= {parent for folder in folders for parent in folder.parents}
    for root, below, _ in os.walk(output):
        found["folders that hold nothing of HELM's"] += sum(
            (Path(root) / name).relative_to(output) not in folders and not (Path(root) / name).is_symlink()
            for name in below
        )
    return found


def _compared(folder: Path, files: Mapping[str, tuple[Step, Any]], new: Mapping[str, Any]) -> Counter[str]:
    """Compare files with what would be written in their place."""
    found = Counter[str]()
    for name, (_, content) in files.items():
        found["places in files"] += _differences(content, new.get(name))
        found["files that are not written as they were"] += not is_written_as(folder / name, content)
    return found


def _differences(old: Any, new: Any) -> int:
    """Count the places in which two trees differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        return len(old.keys() ^ new.keys()) + sum(_differences(old[key], new[key]) for key in old.keys() & new.keys())
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return sum(map(_differences, old, new))
    return int(old != new)
