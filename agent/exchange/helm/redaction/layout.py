"""Where HELM writes what: the files of a suite that are written anew, and what else lies in an output folder."""

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
_NOT_RUNS = frozenset({"eval_cache", "groups"})  # HELM's own folders beside the runs
_LATEST = "latest"  # HELM's link to a suite or release

# What HELM keeps in its output folder beside the runs, and what it is called in the manifest. None of it is carried
# over: raw data sets, every prompt and answer, models, and tables that are made again from the runs.
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
    """The folder of one run: where it lies, and which of HELM's files it has."""

    path: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteFolder:
    """The folder of a suite: its runs, and helm-summarize's files as (path below it, folder of tables or "")."""

    name: str
    path: Path
    runs: tuple[RunFolder, ...]
    files: tuple[tuple[str, str], ...]


def suites_of(output: Path, names: Sequence[str]) -> list[SuiteFolder]:
    """Find the named suites in HELM's output folder.

    Raises:
        ConfigError: the folder is none of HELM's, or has no such suite.
        BenchmarkError: a link where a folder is expected.
    """
    _folder(output, "HELM's output folder")
    if not (output / "runs").is_dir() or (output / "runs").is_symlink():
        raise ConfigError(
            "the output folder has no folder `runs`", "Name HELM's output folder, usually benchmark_output."
        )
    found = []
    for name in dict.fromkeys(names):
        if not name or name in (".", "..", _LATEST) or "/" in name or "\0" in name:
            raise ConfigError("a suite is named by its folder in `runs`, not by a path", "Name it as helm-run did.")
        path = output / "runs" / name
        if not os.path.lexists(path):
            raise ConfigError(f"the output folder has no suite {printable(name)}", "Look into its folder `runs`.")
        _folder(path, "a suite's folder")
        found.append(_suite(name, path))
    return found


def _suite(name: str, path: Path) -> SuiteFolder:
    runs: list[RunFolder] = []
    files: list[tuple[str, str]] = []
    for one in sorted(path.iterdir()):
        if one.is_symlink():
            continue
        if one.is_dir() and one.name not in _NOT_RUNS:
            has = tuple(name for name in OF_A_RUN if _is_file(one / name))
            if has:
                runs.append(RunFolder(one, has))
        elif one.name in OF_A_SUITE and _is_file(one):
            files.append((one.name, ""))
    for folder in TABLES:
        if not (path / "groups").is_symlink() and not (path / folder).is_symlink():
            tables = sorted((path / folder).glob("*.json"))
            files += [(f"{folder}/{one.name}", folder) for one in tables if _is_file(one)]
    if not runs:
        raise ConfigError("the suite holds no run", "Name a suite that helm-run has written.")
    return SuiteFolder(name, path, tuple(runs), tuple(files))


def left_out(output: Path, suites: Sequence[SuiteFolder]) -> Counter[Kind]:
    """Count what of the folder is not written anew, by kind. No link is followed."""
    taken = {run.path / name for suite in suites for run in suite.runs for name in run.files}
    taken |= {suite.path / name for suite in suites for name, _ in suite.files}
    counts: Counter[Kind] = Counter()
    for path in every_file(output):
        if path not in taken:
            kind = _kind(path, path.relative_to(output).parts, {suite.name for suite in suites})
            if kind:
                counts[kind] += 1
    return counts


def refuse_to_lose(output: Path, suites: Sequence[SuiteFolder]) -> None:
    """Stop before a folder is replaced that holds more than what HELM wrote for these suites.

    Raises:
        ConfigError: it does; says how many things of which kind.
    """
    named = {suite.name for suite in suites}
    others = [one for one in (output / "runs").iterdir() if one.name not in named and one.name != _LATEST]
    strangers = [one for one in output.iterdir() if one.name != "runs" and not _is_of_helm(one.name)]
    if others or strangers:
        raise ConfigError(
            f"the output folder holds {len(others)} other suites and {len(strangers)} files or folders that are not "
            "HELM's; replacing it would delete them",
            "Name every suite (--suite may be given several times) and move the rest away, or give --copy-to.",
        )


def every_file(folder: Path) -> Iterator[Path]:
    """Yield every file, link and special file below `folder`, in order."""
    for root, folders, files in os.walk(folder, onerror=_stop):
        folders.sort()
        yield from (Path(root) / name for name in folders if (Path(root) / name).is_symlink())
        yield from (Path(root) / name for name in sorted(files))


def _stop(error: OSError) -> None:
    raise BenchmarkError(f"a folder in the output folder cannot be read ({error.strerror})", "Nothing was changed.")


def _is_of_helm(name: str) -> bool:
    return name in _BESIDE or bool(_CACHE.fullmatch(name) or _LOG.fullmatch(name))


def _kind(path: Path, parts: tuple[str, ...], suites: set[str]) -> Kind | None:
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


def _folder(path: Path, what: str) -> None:
    if path.is_symlink():
        raise BenchmarkError(f"a link where {what} is expected", "Name the folder itself.")
    if not path.is_dir():
        raise ConfigError(f"{what} is missing or no folder", "Name HELM's output folder, usually benchmark_output.")


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
