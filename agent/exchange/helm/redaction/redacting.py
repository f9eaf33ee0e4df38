"""Redact a HELM output folder into a new folder, which then replaces the old one or is kept as a copy.

A command that is killed leaves the folder either unchanged or fully redacted. The next command deletes the remains.
"""

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.redaction.json_content import read_content
from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.layout import (
    MANIFEST,
    RunFolder,
    SuiteFolder,
    count_left_out,
    find_suites,
    refuse_to_lose,
)
from agent.exchange.helm.redaction.manifest import Counted, Manifest, RedactionTally, write_manifest
from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.shapes import OF_A_RUN, OF_A_SUITE, TABLES
from agent.exchange.helm.redaction.walk import FolderRedactors, Options, Step, redact_files
from agent.exchange.json_files import write_json
from agent.io.new_folder import new_folder
from agent.io.progress import Progress
from agent.redaction import Withheld

_ADVICE = "Nothing was changed."


def redact_folder(
    output: Path,
    suites: Sequence[str],
    redactors: FolderRedactors,
    options: Options,
    key: bytes,
    *,
    copy_to: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Manifest, RedactionTally]:
    """Redact suites of HELM's output folder, in place or into the new folder `copy_to`; return the manifest and counts.

    Only these suites are kept. In place, everything else is deleted, so a folder that contains other suites or files
    that are not HELM's is refused.

    Args:
        output: HELM's output folder, which contains `runs`.
        key: 32 bytes, the key of labels and of the hashes of ids. With the key, an id can be found by trial.

    Raises:
        ConfigError: the folder is not a HELM folder, lacks a suite, contains other files, or cannot be written.
        BenchmarkError: one of HELM's files is damaged, or a folder is a link.
        RedactionError: redaction still changes the texts after several passes.
    """
    output = output.absolute()
    if copy_to is not None:
        _refuse_overlap(output, copy_to.absolute())
        suite_folders = find_suites(output, suites)
        with new_folder(copy_to) as folder:
            return _write(output, suite_folders, folder, redactors, options, key, progress)
    with _lock(output):
        suite_folders = find_suites(output, suites)
        refuse_to_lose(output, suite_folders)
        with _replace(output) as folder:
            return _write(output, suite_folders, folder, redactors, options, key, progress)


def old_folder(output: Path) -> Path:
    """Return the path to which the old folder is moved, before it is deleted, once the new folder is complete."""
    return output.with_name(f".{output.name}.unredacted")


@dataclass(slots=True)
class _Writer:
    """Writes redacted suites into a new folder and counts their values."""

    folder: Path
    redactors: FolderRedactors
    options: Options
    names: Names
    progress: Progress
    written: Counter[Counted] = field(default_factory=Counter)
    left_out: Counter[Kind] = field(default_factory=Counter)
    withheld: Counter[Withheld] = field(default_factory=Counter)

    def write_suite(self, suite: SuiteFolder, shown_name: str) -> None:
        """Write a suite's runs and helm-summarize's files."""
        target = _make_folder(self.folder / "runs" / shown_name)
        for number, run in enumerate(suite.runs, 1):
            contents = self._redact(read_run(run, number))
            _write_files(_make_folder(target / self.names.show_run(run.path.name)), contents)
            self.written += count_run(contents)
            self.progress.advance()
        _write_files(target, self._redact(read_suite(suite, self.names.show)))

    def _redact(self, files: Mapping[str, tuple[Step, Any]]) -> dict[str, Any]:
        contents, left_out = redact_files(files, self.names, self.options, self.redactors.texts)
        self.left_out += left_out
        count_withheld(contents, self.withheld)
        return contents


def _write(
    output: Path,
    suites: Sequence[SuiteFolder],
    folder: Path,
    redactors: FolderRedactors,
    options: Options,
    key: bytes,
    progress: Progress | None,
) -> tuple[Manifest, RedactionTally]:
    """Write redacted `suites` of `output` into `folder`, with the manifest as the last file."""
    names = Names(redactors.names, key, redacted_before=(output / MANIFEST).is_file())
    writer = _Writer(folder, redactors, options, names, progress or Progress())
    writer.progress.begin("runs", sum(len(suite.runs) for suite in suites))
    shown_names = []
    for suite in suites:
        shown_name = names.show(suite.name)
        shown_names.append(shown_name)
        writer.write_suite(suite, shown_name)
    writer.progress.end()
    left_out = writer.left_out + count_left_out(output, suites) + names.labelled
    tally = RedactionTally(writer.written, left_out, writer.withheld)
    manifest = write_manifest(folder, redactors.texts.policy, shown_names, options, tally)
    return manifest, tally


def read_run(run: RunFolder, number: int) -> dict[str, tuple[Step, Any]]:
    """Read HELM's files of a run; `number` is its position in its suite. Raises BenchmarkError."""
    where = f"run {number} of the suite"
    return {
        name: (OF_A_RUN[name], read_content(run.path / name, f"{where}: {name}"))
        for name in run.files
    }


def read_suite(suite: SuiteFolder, shown_as: Callable[[str], str]) -> dict[str, tuple[Step, Any]]:
    """Read helm-summarize's files of a suite, by the names that they have in the redacted folder."""
    files: dict[str, tuple[Step, Any]] = {}
    for number, (path, tables) in enumerate(suite.files, 1):
        step = TABLES[tables] if tables else OF_A_SUITE[path]
        shown = f"{tables}/{shown_as(Path(path).stem)}.json" if tables else path
        files[shown] = (step, read_content(suite.path / path, f"file {number} of helm-summarize"))
    return files


def count_run(contents: Mapping[str, Any]) -> Counter[Counted]:
    """Count the run and its instances, for the manifest."""
    state = contents.get("scenario_state.json")
    answers = state.get("request_states") if isinstance(state, dict) else None
    return Counter[Counted](
        {"runs": 1, "instances": len(answers) if isinstance(answers, list) else 0}
    )


def _write_files(folder: Path, contents: dict[str, Any]) -> None:
    for name, content in contents.items():
        (folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            write_json(folder / name, content)
        except UnicodeEncodeError:
            raise BenchmarkError(
                f"{name}: a key contains invalid Unicode (a lone surrogate)",
                f"{_ADVICE} Regenerate the file with HELM.",
            ) from None


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ConfigError(
            "two runs would have the same name", "Redact one suite at a time."
        ) from None
    return folder


def count_withheld(tree: Any, counts: Counter[Withheld]) -> None:
    """Count the withheld texts in a tree, by reason."""
    if isinstance(tree, str):
        if tree.startswith("[WITHHELD: ") and (reason := tree[11:-1]) in tuple(Withheld):
            counts[Withheld(reason)] += 1
    elif isinstance(tree, dict):
        for value in tree.values():
            count_withheld(value, counts)
    elif isinstance(tree, list):
        for value in tree:
            count_withheld(value, counts)


def _refuse_overlap(output: Path, copy: Path) -> None:
    if copy == output or output in copy.parents or copy in output.parents:
        raise ConfigError(
            "--copy-to is inside the output folder, or contains it",
            "Choose another folder with --copy-to.",
        )


@contextmanager
def _lock(output: Path) -> Iterator[None]:
    """Lock the folder for a single command, and clear up what a killed command left behind."""
    try:
        handle = os.open(output.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            f"the parent of the output folder cannot be used ({error.strerror})", _ADVICE
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _recover(output)
        yield
    except BlockingIOError:
        raise ConfigError(
            "another command is redacting this folder or one next to it",
            "Wait until it has finished.",
        ) from None
    finally:
        os.close(handle)


def _recover(output: Path) -> None:
    """Finish or undo the work of a killed command."""
    old = old_folder(output)
    if not os.path.lexists(old):
        return
    if not os.path.lexists(output):
        old.rename(output)
    elif (output / MANIFEST).is_file():
        shutil.rmtree(old)
    else:
        raise ConfigError(
            "an earlier redaction left the old folder next to a folder that is not redacted",
            "Compare both, then move away the folder whose name ends in .unredacted.",
        )


@contextmanager
def _replace(output: Path) -> Iterator[Path]:
    """Yield a folder to write to. It replaces `output`, which is deleted."""
    growing, old = output.with_name(f".{output.name}.redacting"), old_folder(output)
    try:
        shutil.rmtree(growing, ignore_errors=True)
        growing.mkdir(mode=0o700)
        yield growing
        os.sync()
        output.rename(old)
        growing.rename(output)
        shutil.rmtree(old)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            f"the redacted folder cannot be written, or the old one cannot be deleted ({reason})",
            "Fix this and run the command again, or use --copy-to.",
        ) from None
    finally:
        if os.path.lexists(old) and not os.path.lexists(output):
            old.rename(output)
        shutil.rmtree(growing, ignore_errors=True)
