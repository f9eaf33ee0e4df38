"""What publishing and verifying a board cost: `make bench` at 2,000 submissions, `make bench-centre` at 50,000.

Makes a federation (see make_federation.py), half of its sites pooled; then measures, each in a process of its own:
the first `publish`, `publish` after one more submission (of a new site), and `verify`. Prints wall time, CPU time and
peak memory.
On a machine that does other work at the same time the CPU time is the one to compare.

    python tests/bench/publish_bench.py [--sites 500 --models 100] [--dir DIR]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMITS = {
    "publish": 60.0,
    "publish, one more": 5.0,
    "verify": 120.0,
}  # seconds at 50,000 submissions
LIMIT_MB = 1000
ONE_MORE = """
import sys
from pathlib import Path
from aggregator.home import Home
from tests.aggregator.federation import enrolled, registry_of, scores, submit
home = Home(Path(sys.argv[1]))
site = enrolled(home, "One more")
registry = registry_of(home)
card = next(iter(registry.scorecards.values())).scorecard
for benchmark in card.benchmarks:
    if any(cell.benchmark == benchmark.id and cell.protected for cell in card.cells):
        submit(home, site, site.dataset(registry, benchmark.definition))
model = next(iter(registry.models.values())).name
submit(home, site, site.result(registry, scores(1, card=card), model=model, card=card))
"""


@dataclass(frozen=True)
class Cost:
    """What one command cost."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(*arguments: str) -> Cost:
    """Run the command line in a process of its own; a board that only lacks auditors counts as verified."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "aggregator", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 7):
        raise SystemExit(f"{' '.join(arguments)} left with {process.returncode}")
    return Cost(time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def make(folder: Path, sites: int, models: int) -> None:
    """Make the federation."""
    command = [sys.executable, "-m", "tests.bench.make_federation", "--dir", str(folder)]
    subprocess.run([*command, "--sites", str(sites), "--models", str(models)], cwd=ROOT, check=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument(
        "--dir", type=Path, help="Folder of the federation; one of an earlier run is copied."
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "aggregator"
        if options.dir is None:
            make(home, options.sites, options.models)
        else:
            if not options.dir.exists():
                make(options.dir, options.sites, options.models)
            shutil.copytree(options.dir, home)
        board = Path(name) / "board"
        publish = ("--dir", str(home), "publish", "--out", str(board))
        costs = {"publish": run(*publish)}
        subprocess.run([sys.executable, "-c", ONE_MORE, str(home)], cwd=ROOT, check=True)
        costs["publish, one more"] = run(*publish)
        costs["verify"] = run("verify", "--board", str(board))
    print(
        f"{options.sites} sites, {options.models} models: {options.sites * options.models} submissions"
    )
    for step, cost in costs.items():
        print(
            f"{step:<18} {cost.wall_s:7.1f} s (goal at 50,000: {LIMITS[step]:g} s), CPU {cost.cpu_s:6.1f} s, "
            f"{cost.peak_mb:5.0f} MB (goal {LIMIT_MB} MB)"
        )


if __name__ == "__main__":
    main()
