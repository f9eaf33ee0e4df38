"""Sites whose commands the tests of real servers run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def intramural(site: Path, *arguments: str, accept: tuple[int, ...] = (0,)) -> str:
    """Run a command of the agent; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "agent", "--site", str(site), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in accept, done.stderr
    return done.stdout


def write_open_benchmark(site: Path) -> None:
    """Give the site a benchmark `open` of two questions with free answers, which a jury grades."""
    folder = site / "benchmarks" / "open"
    folder.mkdir(parents=True)
    (folder / "data.csv").write_text(
        "note,correct_answer\nA cough.,Rest.\nA fever.,Water.\n", "utf-8"
    )
    (folder / "prompt.txt").write_text("Note: {note}\nAdvice:", "utf-8")
    (folder / "benchmark.yaml").write_text(
        "name: open\ndescription: d\nprompt_file: prompt.txt\ndataset_file: data.csv\nmax_tokens: 8\n"
        "metrics:\n  - name: jury_score\n    criteria: {accuracy: Is it right?, clarity: Is it plain?}\n",
        "utf-8",
    )


def read_answers(site: Path, suite: str, out: Path) -> list[str]:
    """Export a suite; return all of its answers."""
    intramural(site, "export", "--suite", suite, "--out", str(out))
    lines = (out / "instances.jsonl").read_text("utf-8").splitlines()
    return [str(json.loads(line)["answer"]) for line in lines]


def read_seats(site: Path, suite: str, out: Path) -> list[dict[str, Any]]:
    """Export a suite; return the seats of all of its answers."""
    intramural(site, "export", "--suite", suite, "--out", str(out))
    seats: list[dict[str, Any]] = []
    for line in (out / "instances.jsonl").read_text("utf-8").splitlines():
        seats += json.loads(line)["judgements"]
    return seats
