"""A HELM output folder redacted: written whole beside the old one, then put in its place, or under another name.

Killed at any moment, the folder is as it was, or redacted whole. The next attempt deletes what the last one left.
"""

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.redaction.json_content import read_content
from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.layout import (
    MANIFEST,
    RunFolder,
    SuiteFolder,
    left_out,
    refuse_to_lose,
    suites_of,
)
from agent.exchange.helm.redaction.manifest import Counted, Manifest, RedactionTally, write_manifest
from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.shapes import OF_A_RUN, OF_A_SUITE, TABLES
from agent.exchange.helm.redaction.walk import Judges, Options, Step, redacted_files
from agent.exchange.json_files import write_json
from agent.io.new_folder import new_folder
from agent.io.progress import Progress
from agent.redaction import Withheld

_ADVICE = "Nothing was changed."


def redact_folder(
    output: Path,
    suites: Sequence[str],
    judges: Judges,
    options: Options,
    key: bytes,
    *,
    copy_to: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Manifest, RedactionTally]:
    """Redact suites of HELM's output folder, in place or into the new folder `copy_to`; say what was done.

    What is not these suites is not carried over. In place it is deleted, but for other suites and foreign files: a
    folder that holds such is refused.

    Args:
        output: HELM's output folder, which holds `runs`.
        key: 32 bytes, of the hashes of ids and of labels; those who have it can find out what ids stand for by trying.

    Raises:
        ConfigError: the folder is none of HELM's, has no such suite, holds more, or the disk refuses.
        BenchmarkError: a file of HELM's is damaged, or a link stands where a folder is expected.
        RedactionError: redaction does not settle.
    """
    output = output.absolute()
    if copy_to is not None:
        _apart(output, copy_to.absolute())
        found = suites_of(output, suites)
        with new_folder(copy_to) as folder:
            return _write(output, found, folder, judges, options, key, progress)
    with _alone(output):
        found = suites_of(output, suites)
        refuse_to_lose(output, found)
        with _replacing(output) as folder:
            return _write(output, found, folder, judges, options, key, progress)


def remainder(output: Path) -> Path:
    """Return where the old folder lies while it is deleted after its replacement."""
    return output.with_name(f".{output.name}.unredacted")


def _write(
    output: Path,
    suites: Sequence[SuiteFolder],
    folder: Path,
    judges: Judges,
    options: Options,
    key: bytes,
    progress: Progress | None,
) -> tuple[Manifest, RedactionTally]:
    names = Names(judges.names, key, redacted_before=(output / MANIFEST).is_file())
    counts, fields, withheld = Counter[Counted](), Counter[Kind](), Counter[Withheld]()
    progress = progress or Progress()
    progress.begin("runs", sum(len(suite.runs) for suite in suites))
    shown_suites = []
    for suite in suites:
        shown = names.shown(suite.name)
        target = _new(folder / "runs" / shown)
        shown_suites.append(shown)
        for number, run in enumerate(suite.runs, 1):
            content = read_run(run, number)
            written, lost = redacted_files(content, names, options, judges.texts)
            _write_files(_new(target / names.run(run.path.name)), written)
            counts += counts_of_run(written)
            fields += lost
            count_withheld(written, withheld)
            progress.advance()
        written, lost = redacted_files(read_suite(suite, names.shown), names, options, judges.texts)
        _write_files(target, written)
        fields += lost
        count_withheld(written, withheld)
    progress.end()
    fields += left_out(output, suites) + names.labelled
    tally = RedactionTally(counts, fields, withheld)
    return write_manifest(folder, judges.texts.policy, shown_suites, options, tally), tally


def read_run(run: RunFolder, number: int) -> dict[str, tuple[Step, Any]]:
    """Read HELM's files of a run; `number` is its place in its suite. Raises BenchmarkError."""
    where = f"run {number} of the suite"
    return {name: (OF_A_RUN[name], read_content(run.path / name, f"{where}: {name}")) for name in run.files}


def read_suite(suite: SuiteFolder, shown_as: Callable[[str], str]) -> dict[str, tuple[Step, Any]]:
    """Read what helm-summarize wrote of a suite, under the names that the files have in the redacted folder."""
    files: dict[str, tuple[Step, Any]] = {}
    for number, (path, tables) in enumerate(suite.files, 1):
        step = TABLES[tables] if tables else OF_A_SUITE[path]
        shown = f"{tables}/{shown_as(Path(path).stem)}.json" if tables else path
        files[shown] = (step, read_content(suite.path / path, f"file {number} of helm-summarize"))
    return files


def counts_of_run(contents: Mapping[str, Any]) -> Counter[Counted]:
    """Count what the files of one run hold, as the manifest says it."""
    state = contents.get("scenario_state.json")
    answers = state.get("request_states") if isinstance(state, dict) else None
    return Counter[Counted]({"runs": 1, "instances": len(answers) if isinstance(answers, list) else 0})


def _write_files(folder: Path, contents: dict[str, Any]) -> None:
    for name, content in contents.items():
        (folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            write_json(folder / name, content)
        except UnicodeEncodeError:
            raise BenchmarkError("a name in a file is no text", _ADVICE) from None


def _new(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ConfigError("two runs would have one name", "Name one suite at a time.") from None
    return folder


def count_withheld(tree: Any, counts: Counter[Withheld]) -> None:
    """Count the texts of a tree that stand withheld, by reason."""
    if isinstance(tree, str):
        if tree.startswith("[WITHHELD: ") and (reason := tree[11:-1]) in tuple(Withheld):
            counts[Withheld(reason)] += 1
    elif isinstance(tree, dict):
        for value in tree.values():
            count_withheld(value, counts)
    elif isinstance(tree, list):
        for value in tree:
            count_withheld(value, counts)


def _apart(output: Path, copy: Path) -> None:
    if copy == output or output in copy.parents or copy in output.parents:
        raise ConfigError("the copy would lie in the output folder, or around it", "Give --copy-to another folder.")


@contextmanager
def _alone(output: Path) -> Iterator[None]:
    """Hold the folder for one command at a time, once what a killed one left beside it is put right."""
    try:
        handle = os.open(output.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"the folder of the output folder cannot be used ({error.strerror})", _ADVICE) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _put_right(output)
        yield
    except BlockingIOError:
        raise ConfigError("another command redacts a folder there", "Wait until it has ended.") from None
    finally:
        os.close(handle)


def _put_right(output: Path) -> None:
    """Finish or undo what a killed command left."""
    old = remainder(output)
    if not os.path.lexists(old):
        return
    if not os.path.lexists(output):
        old.rename(output)
    elif (output / MANIFEST).is_file():
        shutil.rmtree(old)
    else:
        raise ConfigError(
            "an earlier redaction left the old folder beside a folder that is not redacted",
            "Look at both; then move the one away whose name ends in .unredacted.",
        )


@contextmanager
def _replacing(output: Path) -> Iterator[Path]:
    """Yield a folder to write into that takes the place of `output`, which is deleted."""
    growing, old = output.with_name(f".{output.name}.redacting"), remainder(output)
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
            f"the redacted folder cannot be written, or the old one not deleted ({reason})",
            "Run the command again when that is mended, or give --copy-to.",
        ) from None
    finally:
        if os.path.lexists(old) and not os.path.lexists(output):
            old.rename(output)
        shutil.rmtree(growing, ignore_errors=True)
