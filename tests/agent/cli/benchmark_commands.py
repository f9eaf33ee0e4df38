"""Commands about benchmarks, given from the repository's root."""

from pathlib import Path

from agent.catalog.new_benchmark import write_new_benchmark
from agent.site.directory import Site
from tests.agent.terminal import Done
from tests.agent.terminal import intramural as in_process

ROOT = Path(__file__).parents[3]


def intramural(*words: str | Path, cwd: Path = ROOT) -> Done:
    return in_process(*words, cwd=cwd)


def on(site: Site, *words: str | Path) -> Done:
    return intramural("--site", site.directory, *words)


def mine(tmp_path: Path, kind: str = "yes-no") -> Path:
    write_new_benchmark("mine", kind, tmp_path / "mine")
    return tmp_path / "mine"
