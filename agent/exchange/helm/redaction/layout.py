"""The layout of HELM's output folder: the files of a suite that are redacted, and the other files next to them."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.shapes import OF_A_RUN, OF_A_SUITE, TABLES
from agent.io.plain_text import printable

MANIFEST: Final = "redaction.json"
_NOT_RUNS = frozenset({"eval_cache", "groups"})  # HELM's own folders next to the runs
_LATEST = "latest"  # HELM's link to a suite or release

# Other folders that HELM keeps in its output folder, with their kinds in the manifest. All are left out: raw data sets,
# every prompt and answer, models, and tables that can be generated again from the runs.
_BESIDE: Final[Mapping[str, Kind | None]] = {
    "scenarios": "files of data sets",
    "scenario_instances": "files of cached instances",
    "cached_models": "files of models",
    "perturbations": "files of data sets",
    "metrics": "files of caches",
    "releases": "files of releases",
    "prod_env": "files of caches",
    "cache": "files of caches",
    "logs": "logs",
    MANIFEST: None,
}
_CACHE = re.compile(r".*\.(sqlite3?|db|pkl|pickle|mdb)([-.].*)?", re.IGNORECASE)
_LOG = re.compile(r".*\.(log|out|err)(\.\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run: its path, and which of HELM's files it has."""

    path: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteFolder:
    """The folder of a suite: its runs, and helm-summarize's files as (path below it, folder of tables or "")."""

    name: str
    path: Path
    runs: tuple[RunFolder, ...]
    files: tuple[tuple[str, str], ...]


def find_suites(output: Path, names: Sequence[str]) -> list[SuiteFolder]:
    """Find the named suites in HELM's output folder.

    Raises:
        ConfigError: the folder is not a HELM output folder, or has no such suite.
        BenchmarkError: a folder is a link.
    """
    _require_folder(output, "HELM's output folder")
    if not (output / "runs").is_dir() or (output / "runs").is_symlink():
        raise ConfigError(
            "the output folder has no folder `runs`",
            "Give HELM's output folder, usually benchmark_output.",
        )
    suites = []
    for name in dict.fromkeys(names):
        is_path = name in (".", "..", _LATEST) or "/" in name or "\0" in name
        if not name or is_path:
            raise ConfigError(
                "--suite expects the name of a folder in `runs`, not a path",
                "Use the name given to helm-run.",
            )
        path = output / "runs" / name
        if not os.path.lexists(path):
            raise ConfigError(
                f"the output folder has no suite {printable(name)}",
                "Check the names in its folder `runs`.",
            )
        _require_folder(path, "a suite's folder")
        suites.append(_list_suite(name, path))
    return suites


def _list_suite(name: str, path: Path) -> SuiteFolder:
    runs: list[RunFolder] = []
    files: list[tuple[str, str]] = []
    for entry in sorted(path.iterdir()):
        if entry.is_symlink():
            continue
        if entry.is_dir() and entry.name not in _NOT_RUNS:
            run_files = tuple(file_name for file_name in OF_A_RUN if _is_file(entry / file_name))
            if run_files:
                runs.append(RunFolder(entry, run_files))
        elif entry.name in OF_A_SUITE and _is_file(entry):
            files.append((entry.name, ""))
    for folder in TABLES:
        if (path / "groups").is_symlink() or (path / folder).is_symlink():
            continue
        for table in sorted((path / folder).glob("*.json")):
            if _is_file(table):
                files.append((f"{folder}/{table.name}", folder))
    if not runs:
        raise ConfigError("the suite contains no run", "Choose a suite that helm-run has written.")
    return SuiteFolder(name, path, tuple(runs), tuple(files))


def count_left_out(output: Path, suites: Sequence[SuiteFolder]) -> Counter[Kind]:
    """Count, by kind, the files of the folder that are left out. Links are not followed."""
    suite_names = {suite.name for suite in suites}
    written: set[Path] = set()
    for suite in suites:
        written.update(suite.path / name for name, _ in suite.files)
        for run in suite.runs:
            written.update(run.path / name for name in run.files)
    counts: Counter[Kind] = Counter()
    for path in list_files(output):
        if path in written:
            continue
        kind = _classify(path, path.relative_to(output).parts, suite_names)
        if kind is not None:
            counts[kind] += 1
    return counts


def refuse_to_lose(output: Path, suites: Sequence[SuiteFolder]) -> None:
    """Refuse to replace a folder that contains more than HELM's files of these suites.

    Raises:
        ConfigError: there are other suites or files; the message counts them.
    """
    replaced = {*(suite.name for suite in suites), _LATEST}
    other_suites = [entry for entry in (output / "runs").iterdir() if entry.name not in replaced]
    strangers = [
        entry for entry in output.iterdir() if entry.name != "runs" and not _is_of_helm(entry.name)
    ]
    if other_suites or strangers:
        raise ConfigError(
            f"the output folder has {len(other_suites)} other suites and {len(strangers)} files or folders that are "
            "not HELM's; replacing it would delete them",
            "Name every suite (--suite may be given several times) and move the other files away, or use --copy-to.",
        )


def list_files(folder: Path) -> Iterator[Path]:
    """Yield every file, link and special file below `folder`, in order."""
    for root, folders, files in os.walk(folder, onerror=_raise_unreadable):
        folders.sort()
        yield from (Path(root) / name for name in folders if (Path(root) / name).is_symlink())
        yield from (Path(root) / name for name in sorted(files))


def _raise_unreadable(error: OSError) -> None:
    raise BenchmarkError(
        f"a folder in the output folder cannot be read ({error.strerror})", "Nothing was changed."
    )


def _is_of_helm(name: str) -> bool:
    return name in _BESIDE or bool(_CACHE.fullmatch(name) or _LOG.fullmatch(name))


def _classify(path: Path, parts: tuple[str, ...], suites: set[str]) -> Kind | None:
    if path.is_symlink():
        return "links to files"
    if _CACHE.fullmatch(path.name):
        return "files of caches"
    if _LOG.fullmatch(path.name):
        return "logs"
    if parts[0] in _BESIDE:
        return _BESIDE[parts[0]]
    if parts[0] == "runs" and len(parts) > 1 and parts[1] not in suites:
        return "files of other suites"
    if parts[0] == "runs" and len(parts) > 3 and parts[2] == "eval_cache":
        return "files of caches"
    return "other files"


def _require_folder(path: Path, described: str) -> None:
    if path.is_symlink():
        raise BenchmarkError(f"{described} is a link, not a folder", "Give the folder itself.")
    if not path.is_dir():
        raise ConfigError(
            f"{described} is missing or not a folder",
            "Give HELM's output folder, usually benchmark_output.",
        )


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
