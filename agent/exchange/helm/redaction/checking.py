"""A redacted folder looked at again: whatever is missing, more, changed, or would be redacted now, is a finding."""

import os
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import RedactionError
from agent.exchange.helm.redaction.json_content import is_written_as
from agent.exchange.helm.redaction.layout import MANIFEST, SuiteFolder, every_file, suites_of
from agent.exchange.helm.redaction.manifest import Counted, Manifest, counted, listed, read_manifest
from agent.exchange.helm.redaction.names import KEY_BYTES, Names
from agent.exchange.helm.redaction.redacting import count_withheld, counts_of_run, read_run, read_suite, remainder
from agent.exchange.helm.redaction.walk import Judges, Step, through
from agent.redaction import Withheld


def check_folder(output: Path, *judges: Judges) -> Manifest:
    """Return the manifest of a folder that is clean.

    Clean is a folder that holds the files of its manifest and nothing else, each as it was written, in which none of
    `judges` finds anything and every field is one that may be shown. Whatever the manifest says is computed again; its
    policy has to be that of one of `judges`, so that no manifest chooses by what it is judged.

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
    found["policies under which nothing was checked"] += manifest.policy not in {one.texts.policy for one in judges}
    contents = _contents(output, manifest)
    found += _by_counts(manifest, contents)
    found += _by_place(output, contents)
    for one in judges:
        found += _by_redaction(manifest, contents, one)
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
    found["entries that stand twice or out of order"] += [entry.path for entry in manifest.files] != [
        path.relative_to(output).as_posix() for path in every_file(output) if path != output / MANIFEST
    ]
    found["files or folders with attributes"] += sum(map(_has_attributes, [output, *output.rglob("*")]))
    return found


def _has_attributes(path: Path) -> bool:
    """Whether a file carries text of its owner's beside its content, as some file systems let it."""
    if not hasattr(os, "listxattr"):
        return False
    try:
        return any(name.startswith("user.") for name in os.listxattr(path, follow_symlinks=False))
    except OSError:  # a file system without
        return False


@dataclass(frozen=True, slots=True)
class _Contents:
    """A folder's files, read once: of each run and of each suite, by name."""

    suites: Sequence[SuiteFolder]
    runs: Sequence[Sequence[dict[str, tuple[Step, Any]]]]
    summaries: Sequence[dict[str, tuple[Step, Any]]]


def _contents(output: Path, manifest: Manifest) -> _Contents:
    suites = suites_of(output, manifest.suites)
    return _Contents(
        suites,
        [[read_run(run, number) for number, run in enumerate(suite.runs, 1)] for suite in suites],
        [read_suite(suite, lambda name: name) for suite in suites],
    )


def _by_counts(manifest: Manifest, contents: _Contents) -> Counter[str]:
    """Count again what the manifest counts."""
    counts, withheld = Counter[Counted](), Counter[Withheld]()
    for runs, summary in zip(contents.runs, contents.summaries, strict=True):
        for files in (*runs, summary):
            count_withheld({name: content for name, (_, content) in files.items()}, withheld)
        for run in runs:
            counts += counts_of_run({name: content for name, (_, content) in run.items()})
    found = Counter[str]()
    found["counts that are not those of the files"] += manifest.counts != counted(counts)
    found["counts that are not those of the files"] += manifest.withheld != counted(withheld)
    found["lists that are not in order"] += list(manifest.left_out) != sorted(set(manifest.left_out))
    found["lists that are not in order"] += len(manifest.suites) != len(set(manifest.suites))
    return found


def _by_place(output: Path, contents: _Contents) -> Counter[str]:
    """Look for files and folders that HELM does not write."""
    known = {MANIFEST}
    for suite in contents.suites:
        folder = f"runs/{suite.name}"
        known |= {f"{folder}/{run.path.name}/{name}" for run in suite.runs for name in run.files}
        known |= {f"{folder}/{name}" for name, _ in suite.files}
    found = Counter[str]()
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


def _by_redaction(manifest: Manifest, contents: _Contents, judges: Judges) -> Counter[str]:
    """Redact everything again: what changes was not redacted."""
    found = Counter[str]()
    names = Names(judges.names, secrets.token_bytes(KEY_BYTES), redacted_before=True)
    for suite, runs, summary in zip(contents.suites, contents.runs, contents.summaries, strict=True):
        found["names"] += names.shown(suite.name) != suite.name
        for run, files in zip(suite.runs, runs, strict=True):
            found["names"] += names.run(run.path.name) != run.path.name
            new, _, _ = through(files, names, manifest.options, judges.texts)
            found += _compared(run.path, files, new)
        found["names"] += sum(names.shown(Path(name).stem) != Path(name).stem for name, tables in suite.files if tables)
        new, _, _ = through(summary, names, manifest.options, judges.texts)
        found += _compared(suite.path, summary, new)
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
