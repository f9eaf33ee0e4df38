"""What pages call benchmarks. Definitions are read again only after one of the site's own was added or changed."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agent.catalog.benchmark import survey_benchmarks

_State = frozenset[tuple[Path, int]]


class BenchmarkTitles:
    """The names of all benchmarks by their ids. For several threads, which at worst read them twice."""

    def __init__(self) -> None:
        self._known: tuple[_State, Mapping[str, str]] | None = None

    def find(self, benchmark_id: str, own: Path | None) -> str:
        """Return what pages call a benchmark; its id if it cannot be read, or is no benchmark of this site any more.

        Args:
            benchmark_id: its id.
            own: the folder with the site's own definitions.
        """
        state = _read_state(own)
        known = self._known
        if known is None or known[0] != state:
            benchmarks, _ = survey_benchmarks(own)
            known = state, {one.id: one.display_name for one in benchmarks.values()}
            self._known = known
        return known[1].get(benchmark_id, benchmark_id)


def _read_state(own: Path | None) -> _State:
    """Return the files of the site's own definitions with the times at which they were changed."""
    if own is None:
        return frozenset()
    files: list[tuple[Path, int]] = []
    for pattern in ("*.yaml", "*.yml", "*/benchmark.yaml"):
        for file in own.glob(pattern):
            # An editor may be putting another file in its place.
            with suppress(FileNotFoundError):
                files.append((file, file.stat().st_mtime_ns))
    return frozenset(files)
