"""Check a redacted folder. A file that is missing, added, changed or not fully redacted is a finding."""

import os
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import RedactionError
from agent.exchange.helm.redaction.json_content import is_written_as
from agent.exchange.helm.redaction.layout import MANIFEST, SuiteFolder, find_suites, list_files
from agent.exchange.helm.redaction.manifest import (
    Counted,
    Manifest,
    describe_file,
    order_counts,
    read_manifest,
)
from agent.exchange.helm.redaction.names import KEY_BYTES, Names
from agent.exchange.helm.redaction.redacting import (
    count_run,
    count_withheld,
    old_folder,
    read_run,
    read_suite,
)
from agent.exchange.helm.redaction.walk import FolderRedactors, Step, walk_files
from agent.redaction import Withheld


def check_folder(output: Path, *redactors: FolderRedactors) -> Manifest:
    """Check that a folder is clean, and return its manifest.

    A folder is clean if it contains exactly the files of its manifest, each unchanged; if none of `redactors` changes
    a file by redacting it again; and if every field may be shown. Everything in the manifest is computed again. The
    policy that it names must be that of one of `redactors`, so that a manifest cannot choose the policy of its own
    check.

    Raises:
        RedactionError: the folder is not clean; the message counts the findings by kind.
        ConfigError: the folder is not a HELM folder.
    """
    output = output.absolute()
    manifest = read_manifest(output)
    findings = _compare_with_manifest(output, manifest)
    if os.path.lexists(old_folder(output)):
        findings["unredacted folders next to it"] += 1
    if not is_written_as(output / MANIFEST, manifest.model_dump(mode="json")):
        findings["manifests that differ from what redaction would write"] += 1
    if manifest.policy not in {redactor.texts.policy for redactor in redactors}:
        findings["policies for which the folder was not checked"] += 1
    contents = _read_contents(output, manifest)
    findings += _count_again(manifest, contents)
    findings += _find_strangers(output, contents)
    for redactor in redactors:
        findings += _redact_again(manifest, contents, redactor)
    if +findings:
        listing = ", ".join(f"{count} {kind}" for kind, count in sorted(findings.items()) if count)
        raise RedactionError(
            f"the folder is not clean: {listing}", "Do not share it. Redact it again."
        )
    return manifest


def _compare_with_manifest(output: Path, manifest: Manifest) -> Counter[str]:
    """Compare the files with their entries in the manifest."""
    findings = Counter[str]()
    missing = {entry.path: entry for entry in manifest.files}
    paths = []
    for path in list_files(output):
        name = path.relative_to(output).as_posix()
        if name != MANIFEST:
            paths.append(name)
        entry = missing.pop(name, None)
        if name == MANIFEST and not path.is_symlink():
            continue
        if path.is_symlink() or not path.is_file():
            findings["links or special files"] += 1
        elif entry is None:
            findings["files that the manifest does not list"] += 1
        elif describe_file(output, path) != entry:
            findings["files that were changed"] += 1
    findings["files that are missing"] += len(missing)
    findings["manifest entries that are repeated or out of order"] += [
        entry.path for entry in manifest.files
    ] != paths
    findings["files or folders with extended attributes"] += sum(
        map(_has_attributes, [output, *output.rglob("*")])
    )
    return findings


def _has_attributes(path: Path) -> bool:
    """Return whether a file has extended attributes set by its owner, which some file systems allow."""
    if not hasattr(os, "listxattr"):
        return False
    try:
        return any(name.startswith("user.") for name in os.listxattr(path, follow_symlinks=False))
    except OSError:  # the file system does not support attributes
        return False


@dataclass(frozen=True, slots=True)
class _RunContents:
    """A run's folder and the contents of its files by name."""

    folder: Path
    files: dict[str, tuple[Step, Any]]


@dataclass(frozen=True, slots=True)
class _SuiteContents:
    """A suite's folder, its runs, and the contents of helm-summarize's files by name."""

    folder: SuiteFolder
    runs: Sequence[_RunContents]
    summary: dict[str, tuple[Step, Any]]


@dataclass(frozen=True, slots=True)
class _Contents:
    """The files of a redacted folder, read once."""

    suites: Sequence[_SuiteContents]


def _read_contents(output: Path, manifest: Manifest) -> _Contents:
    suites = []
    for folder in find_suites(output, manifest.suites):
        runs = [
            _RunContents(run.path, read_run(run, number))
            for number, run in enumerate(folder.runs, 1)
        ]
        summary = read_suite(folder, lambda name: name)
        suites.append(_SuiteContents(folder, runs, summary))
    return _Contents(suites)


def _count_again(manifest: Manifest, contents: _Contents) -> Counter[str]:
    """Compare the manifest's counts with those computed from the files."""
    counts, withheld = Counter[Counted](), Counter[Withheld]()
    for suite in contents.suites:
        for run in suite.runs:
            trees = {name: tree for name, (_, tree) in run.files.items()}
            counts += count_run(trees)
            count_withheld(trees, withheld)
        count_withheld({name: tree for name, (_, tree) in suite.summary.items()}, withheld)
    findings = Counter[str]()
    findings["counts in the manifest that differ from the files"] += (
        manifest.counts != order_counts(counts)
    )
    findings["counts in the manifest that differ from the files"] += (
        manifest.withheld != order_counts(withheld)
    )
    findings["lists in the manifest that are out of order"] += list(manifest.left_out) != sorted(
        set(manifest.left_out)
    )
    findings["lists in the manifest that are out of order"] += len(manifest.suites) != len(
        set(manifest.suites)
    )
    return findings


def _find_strangers(output: Path, contents: _Contents) -> Counter[str]:
    """Count files and folders that HELM does not write."""
    files_of_helm = {MANIFEST}
    for suite in contents.suites:
        folder = f"runs/{suite.folder.name}"
        for run in suite.folder.runs:
            files_of_helm.update(f"{folder}/{run.path.name}/{name}" for name in run.files)
        files_of_helm.update(f"{folder}/{name}" for name, _ in suite.folder.files)
    folders_of_helm: set[Path] = set()
    for name in files_of_helm:
        folders_of_helm.update(Path(name).parents)
    findings = Counter[str]()
    for path in list_files(output):
        findings["files that are not HELM's"] += (
            path.relative_to(output).as_posix() not in files_of_helm
        )
    for root, folder_names, _ in os.walk(output):
        for folder_name in folder_names:
            path = Path(root) / folder_name
            is_stranger = path.relative_to(output) not in folders_of_helm and not path.is_symlink()
            findings["folders without any of HELM's files"] += is_stranger
    return findings


def _redact_again(
    manifest: Manifest, contents: _Contents, redactors: FolderRedactors
) -> Counter[str]:
    """Redact everything again and count the changes. A value that changes had not been redacted."""
    findings = Counter[str]()
    names = Names(redactors.names, secrets.token_bytes(KEY_BYTES), redacted_before=True)
    for suite in contents.suites:
        findings["names that redaction would still change"] += (
            names.show(suite.folder.name) != suite.folder.name
        )
        for run in suite.runs:
            findings["names that redaction would still change"] += (
                names.show_run(run.folder.name) != run.folder.name
            )
            walked = walk_files(run.files, names, manifest.options, redactors.texts)
            findings += _compare(run.folder, run.files, walked.contents)
        for path, tables in suite.folder.files:
            if tables:
                table_name = Path(path).stem
                findings["names that redaction would still change"] += (
                    names.show(table_name) != table_name
                )
        walked = walk_files(suite.summary, names, manifest.options, redactors.texts)
        findings += _compare(suite.folder.path, suite.summary, walked.contents)
    return findings


def _compare(
    folder: Path, files: Mapping[str, tuple[Step, Any]], redacted: Mapping[str, Any]
) -> Counter[str]:
    """Compare files with the contents that redaction would write now."""
    findings = Counter[str]()
    for name, (_, content) in files.items():
        findings["values that redaction would still change"] += _count_differences(
            content, redacted.get(name)
        )
        findings["files that differ from what redaction would write"] += not is_written_as(
            folder / name, content
        )
    return findings


def _count_differences(old: Any, new: Any) -> int:
    """Count the values in which two trees differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        in_both = old.keys() & new.keys()
        in_one = old.keys() ^ new.keys()
        return len(in_one) + sum(_count_differences(old[key], new[key]) for key in in_both)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return sum(map(_count_differences, old, new))
    return int(old != new)
