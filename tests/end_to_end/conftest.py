"""A site made and driven as a user does it: through the installed command, in processes of their own."""

import csv
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.site.directory import Site
from agent.store import StoredInstance
from tests.forked import run_command

ROOT = Path(__file__).parents[2]


def intramural(
    *words: str | Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `intramural WORDS` to its end."""
    return run_command("agent", *words, environment=env)


@dataclass
class UserSite:
    """A site directory with one benchmark of its own."""

    directory: Path
    config: Path

    def intramural(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return intramural("--site", self.directory, *words)

    def set(self, line: str) -> None:
        """Add a line to the site's settings."""
        with (self.directory / "site.yaml").open("a") as file:
            file.write(line + "\n")

    def run_words(self, url: str, *more: str, model: str = "test/model") -> list[str]:
        entry = f"medhelm_configurable_benchmark:config_path={self.config},model={model}"
        return ["run", "--server", url, "--run-entries", entry, "--suite", "s", *more]

    def command(self, url: str, *more: str, model: str = "test/model") -> list[str]:
        return [
            sys.executable,
            "-m",
            "agent",
            "--site",
            str(self.directory),
            *self.run_words(url, *more, model=model),
        ]

    def run(
        self, url: str, *more: str, model: str = "test/model"
    ) -> subprocess.CompletedProcess[str]:
        return self.intramural(*self.run_words(url, *more, model=model))

    def summary(self) -> dict[str, Any]:
        shown = self.intramural("summarize", "--suite", "s", "--format", "json")
        assert shown.returncode == 0, shown.stderr
        (row,) = json.loads(shown.stdout)
        return row

    def stored(self) -> list[StoredInstance]:
        with Site(self.directory).store() as store:
            runs = store.runs.select("s")
            return [
                one for run in runs for one in store.answers.read_instances(run.run_id, 0, 10_000)
            ]


def write_benchmark(folder: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    """Write a benchmark in MedHELM's configurable form; return its YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "dataset.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / "prompt.txt").write_text("Note: {note}\n\nQuestion: {question}\n\nAnswer Yes or No:")
    path = folder / "own.yaml"
    path.write_text(
        "name: own\ndescription: yes or no\nprompt_file: prompt.txt\ndataset_file: dataset.csv\n"
        "max_tokens: 16\nmetrics:\n  - name: exact_match\n"
    )
    return path


@pytest.fixture
def make_site(tmp_path: Path):
    def make(name: str = "site", instances: int = 60) -> UserSite:
        rows = [
            {
                "note": f"Note {i} of an invented person.",
                "question": "Is it so?",
                "correct_answer": "Yes",
            }
            for i in range(instances)
        ]
        config = write_benchmark(tmp_path / f"{name}-benchmark", rows)
        made = intramural("init", tmp_path / name, "--site-name", "Test")
        assert made.returncode == 0, made.stderr
        return UserSite(tmp_path / name, config)

    return make
