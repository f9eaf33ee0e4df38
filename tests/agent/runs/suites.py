"""A site whose runs are asked for real: benchmarks in files, a model server on loopback."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.catalog.run_entries import parse_run_entry
from agent.io.progress import Progress
from agent.runs.outcomes import RunOutcome
from agent.runs.plan import Plan, RunOptions, plan_runs
from agent.runs.run import run_entries
from agent.site.directory import Site

NOWHERE = "http://127.0.0.1:9/v1"


def write_benchmark(site: Site, name: str, rows: Sequence[Mapping[str, str]], more: str) -> Path:
    """Write a benchmark of the site's own, with a CSV of `rows`; return its folder."""
    folder = site.directory / "benchmarks" / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / "prompt.txt").write_text("Note: {note}\nAnswer:")
    (folder / "benchmark.yaml").write_text(
        f"name: {name}\ndescription: d\nprompt_file: prompt.txt\ndataset_file: data.csv\n{more}"
    )
    return folder


def plan(site: Site, entry: str, **options: object) -> Plan:
    """Plan one run entry."""
    (found,) = plan_runs(
        site, [parse_run_entry(entry)], RunOptions("s", **{"server": NOWHERE, **options})
    )  # type: ignore[arg-type]
    return found


def run(site: Site, url: str, *entries: str, **options: object) -> list[RunOutcome]:
    """Run entries against the server at `url`."""
    given = RunOptions("s", server=url, **options)  # type: ignore[arg-type]
    parsed = [parse_run_entry(entry) for entry in entries]
    return run_entries(site, parsed, given, Progress(quiet=True)).outcomes


def answers_file(path: Path, answers: Mapping[str, str]) -> Path:
    """Write answers in the form that `intramural score` reads."""
    lines = (
        json.dumps({"instance_id": identity, "answer": answer})
        for identity, answer in answers.items()
    )
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path
