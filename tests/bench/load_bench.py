"""What loading costs: part of `make bench`.

100,000 instances of a 300-word note, from a CSV to rendered prompts with references, one walk through the file in a
process of its own. The named reference is measured in turn with it: `csv.reader` and `str.format` on the same file,
which checks nothing. Both hash the file first, since every run does. Streaming: the most memory may be 300 MB.

    python tests/bench/load_bench.py [--instances 100000] [--rounds 3]
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from run_bench import measure, write_task

LIMIT_MB = 300.0
OURS = """
import sys
from pathlib import Path
from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import iter_instances, locate_dataset
benchmark = load_benchmark(Path(sys.argv[1]) / "bench.yaml")
characters = sum(len(i.messages[0].content) for i in iter_instances(benchmark, locate_dataset(benchmark)))
assert characters > 0
"""
REFERENCE = """
import csv, hashlib, sys
from pathlib import Path
folder = Path(sys.argv[1])
with (folder / "dataset.csv").open("rb") as file:
    hashlib.file_digest(file, "sha256").hexdigest()
prompt = (folder / "prompt.txt").read_text()
characters = 0
with (folder / "dataset.csv").open(newline="", encoding="utf-8") as file:
    rows = csv.reader(file)
    header = next(rows)
    for row in rows:
        characters += len(prompt.format(**dict(zip(header, row))))
assert characters > 0
"""
START = "import agent.catalog.benchmark, agent.datasets.load"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float, float]]] = {
        "intramural": [],
        "csv.reader, str.format": [],
    }
    with tempfile.TemporaryDirectory() as name:
        write_task(Path(name), options.instances)
        for _ in range(options.rounds):
            for what, script in zip(found, (OURS, REFERENCE), strict=True):
                found[what].append(measure([sys.executable, "-c", script, name]))
        start = statistics.median(
            measure([sys.executable, "-c", START])[1] for _ in range(options.rounds)
        )
        size = (Path(name) / "dataset.csv").stat().st_size / 2**20
    middle = {
        what: [statistics.median(column) for column in zip(*rows, strict=True)]
        for what, rows in found.items()
    }
    print(f"{options.instances} instances of a CSV of {size:.0f} MB, medians of {options.rounds}")
    print(f"{'':34}{'wall s':>8}{'CPU s':>8}{'MB':>6}{'per s':>10}")
    for what, (wall, cpu, memory) in middle.items():
        print(f"{what:34}{wall:8.2f}{cpu:8.2f}{memory:6.0f}{options.instances / wall:10.0f}")
    ours, reference = middle["intramural"], middle["csv.reader, str.format"]
    print(f"{'ratio':34}{ours[0] / reference[0]:8.2f}{ours[1] / reference[1]:8.2f}")
    print(f"of which importing the agent: {start:.2f} s CPU")
    if ours[2] > LIMIT_MB:
        sys.exit(f"above the limit: {ours[2]:.0f} MB (limit {LIMIT_MB:.0f})")


if __name__ == "__main__":
    main()
