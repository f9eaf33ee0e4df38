"""The files of a site's own metric, which are read only if they have the digest in the site's settings."""

import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from agent.errors import BenchmarkError

GROUP = "intramural.metrics"
"""The group of the entry points that installed packages offer."""

MAX_BYTES = 2**24
MAX_FILES = 1_000
_CACHE_FOLDER = "__pycache__"


@dataclass(frozen=True, slots=True)
class MetricSource:
    """The place of an own metric's code, and the digest under which the site enabled it.

    Attributes:
        name: the metric's name, without the prefix `own/`.
        sha256: the digest in site.yaml, 64 hex digits.
        file: the Python file; None for an entry point.
        shown: the place as written in site.yaml.
    """

    name: str
    sha256: str
    file: Path | None
    shown: str

    @property
    def key(self) -> str:
        """The key in site.yaml that names the place."""
        return "file" if self.file else "entry_point"


@dataclass(frozen=True, slots=True)
class CodeFile:
    """One file of a metric's code; `path` is relative to the folder that is imported from."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class MetricCode:
    """The code of an own metric, as read from the disk.

    Attributes:
        name: the metric's name, without the prefix `own/`.
        module: the module to import from `files`; empty for a single file.
        files: the file, or all files of a package.
        sha256: the digest of `files`.
    """

    name: str
    module: str
    files: tuple[CodeFile, ...]
    sha256: str


def read_approved_code(source: MetricSource) -> MetricCode:
    """Read the code of a metric.

    Raises:
        BenchmarkError: a file is missing, or its digest is not the one in site.yaml.
    """
    code = read_code(source)
    if code.sha256 != source.sha256:
        raise BenchmarkError(
            f"own/{source.name}: {source.shown} is not the code that site.yaml enables: its sha256 is {code.sha256}, "
            f"expected {source.sha256}",
            f"Nothing was run. Review the code; if it is as intended, set its sha256 to {code.sha256} under `plugins` "
            "in site.yaml.",
        )
    return code


def read_code(source: MetricSource) -> MetricCode:
    """Read the code of a metric, whatever its digest is.

    Raises:
        BenchmarkError: there is no such file or entry point, or it is too large.
    """
    if source.file is not None:
        files: tuple[CodeFile, ...] = (CodeFile("metric.py", _read_file(source.file, source)),)
        return MetricCode(source.name, "", files, compute_digest(files))
    entry_point = _find_entry_point(source)
    files = tuple(_read_installed(entry_point.module, source))
    return MetricCode(source.name, entry_point.module, files, compute_digest(files))


def compute_digest(files: tuple[CodeFile, ...]) -> str:
    """Return the digest of a metric's code, 64 hex digits.

    That of a single file is what `sha256sum` prints. That of a package is the digest of what `sha256sum` prints about
    all of its files, sorted by path.
    """
    if len(files) == 1:
        return hashlib.sha256(files[0].content).hexdigest()
    whole = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        whole.update(f"{hashlib.sha256(file.content).hexdigest()}  {file.path}\n".encode())
    return whole.hexdigest()


def _read_file(path: Path, source: MetricSource) -> bytes:
    try:
        if not path.is_file():
            raise _refuse(source, "is missing or is not a file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _refuse(source, f"cannot be read ({error.strerror})") from None
    if len(content) > MAX_BYTES:
        raise _refuse(source, f"is larger than {MAX_BYTES} bytes")
    return content


def _find_entry_point(source: MetricSource) -> EntryPoint:
    found = tuple(entry_points(group=GROUP, name=source.shown))
    if not found:
        raise _refuse(source, f"is not installed: no package here has this entry point in {GROUP}")
    if len(found) > 1:
        raise _refuse(source, "is offered by several installed packages")
    if found[0].attr:
        raise _refuse(source, "must name a module, not an object in it")
    return found[0]


def _read_installed(module: str, source: MetricSource) -> Iterator[CodeFile]:
    """Yield the file of an installed module, or all files of its whole package, without importing it."""
    top, *_ = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise _refuse(source, f"names the module {module}, which is not installed as Python files")
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        yield CodeFile(origin.name, _read_file(origin, source))
        return
    size = 0
    for number, path in enumerate(_list_package_files(origin.parent)):
        content = _read_file(path, source)
        size += len(content)
        if size > MAX_BYTES or number >= MAX_FILES:
            raise _refuse(source, f"is larger than {MAX_BYTES} bytes or {MAX_FILES} files")
        yield CodeFile(f"{top}/{path.relative_to(origin.parent).as_posix()}", content)


def _list_package_files(folder: Path) -> list[Path]:
    paths = []
    for path in sorted(folder.rglob("*")):
        # The metric is imported from a copy, which never has these files.
        if path.is_file() and _CACHE_FOLDER not in path.parts:
            paths.append(path)
    return paths


def _refuse(source: MetricSource, problem: str) -> BenchmarkError:
    return BenchmarkError(
        f"own/{source.name}: {source.key} {source.shown} {problem}",
        "Nothing was run. Correct the entry under `plugins` in site.yaml, or remove it.",
    )
