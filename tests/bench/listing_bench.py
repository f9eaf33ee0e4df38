"""How long a page of a run of 100,000 instances takes in the service: part of `make bench`.

Pages are read as people read them, from a random place of every list one after the other with two seconds between them;
then at random places without a pause, so that most are drawn for the first time, redaction included. The goal is 300 ms
at the median of reading on.

    python tests/bench/listing_bench.py [--instances 100000] [--pages 15]
"""

import argparse
import os
import random
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx
from service_bench import prepare_site, serve_site, sign_in

sys.path.insert(0, str(Path(__file__).parents[2]))

from agent.site.directory import Site
from tests.agent.service.filled_site import Case, FilledSite, case, unscored

GOAL_MS = 300.0
WORDS = (
    "patient",
    "admitted",
    "acute",
    "chest pain",
    "dyspnoea",
    "aspirin",
    "stable",
    "discharged",
)
STEMS = ("instances", "instances-right", "instances-wrong", "instances-unscored-unparsed")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "site"
        prepare_site(folder, "http://127.0.0.1:9/v1")
        began = time.perf_counter()
        cases = [make_case(number) for number in range(options.instances)]
        run_id = FilledSite(Site(folder)).add(cases, limit=options.instances)
        print(f"{options.instances:,} instances stored in {time.perf_counter() - began:.0f} s")
        with serve_site(folder) as service:
            cookie = sign_in(service)
            with httpx.Client(
                base_url=service, cookies={"intramural": cookie}, timeout=300
            ) as client:
                measure_lists(client, run_id, options.pages)


def make_case(number: int) -> Case:
    """Return a case; of ten, six are right, three wrong and one is unscored."""
    if number % 10 == 9:
        return unscored(number)
    chance = random.Random(number)
    note = " ".join(chance.choices(WORDS, k=150))
    prompt = f"Mr. Harold {number} Quill was seen on 03/14/2021. {note} Does aspirin lower fever?"
    reasoning = (
        f"Mr. Quill, phone 555-867-{number % 10_000:04}: {' '.join(chance.choices(WORDS, k=80))}"
    )
    return case(number, prompt=prompt, reasoning=reasoning, score=float(number % 10 < 6))


def measure_lists(client: httpx.Client, run_id: str, count: int) -> None:
    """Print the times of pages of every list: drawn for the first time, and read once more."""
    chance = random.Random(0)
    medians = []
    print(
        f"{'list':<30}{'pages':>7}{'next ms':>9}{'first ms':>10}{'CPU ms':>8}{'highest ms':>12}{'again ms':>10}"
    )
    read_page(client, f"/results/runs/{run_id}/instances-2.html")  # the redactor is loaded
    for stem in STEMS:
        _, text = read_page(client, f"/results/runs/{run_id}/{stem}-1.html")
        numbers = [int(number) for number in re.findall(rf"{stem}-(\d+)\.html", text)]
        pages = max(numbers, default=1)
        paths = [
            f"/results/runs/{run_id}/{stem}-{chance.randint(1, pages)}.html" for _ in range(count)
        ]
        following = read_on(client, stem, chance.randint(1, max(1, pages - count)), run_id, count)
        used = read_service_cpu()
        first = [read_page(client, path)[0] for path in paths]
        used = 1000 * (read_service_cpu() - used) / count
        again = [read_page(client, path)[0] for path in paths]
        medians.append(statistics.median(following))
        print(
            f"{stem:<30}{pages:>7}{medians[-1]:>9.0f}{statistics.median(first):>10.0f}{used:>8.0f}"
            f"{max(first):>12.0f}{statistics.median(again):>10.0f}"
        )
    if max(medians) > GOAL_MS:
        print(f"  above the goal of {GOAL_MS:.0f} ms at the median")


def read_on(client: httpx.Client, stem: str, page: int, run_id: str, count: int) -> list[float]:
    """Return how many milliseconds each page took that follows one read two seconds before."""
    read_page(client, f"/results/runs/{run_id}/{stem}-{page}.html")
    times: list[float] = []
    for number in range(page + 1, page + count):
        time.sleep(2)
        times.append(read_page(client, f"/results/runs/{run_id}/{stem}-{number}.html")[0])
    return times


def read_service_cpu() -> float:
    """Return the seconds of a processor that this process's children have used, on Linux; else 0."""
    total = 0
    for child in Path("/proc/self/task").glob("*/children"):
        for number in child.read_text().split():
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS_PER_S


def read_page(client: httpx.Client, path: str) -> tuple[float, str]:
    """Return how many milliseconds a page took, and its text."""
    began = time.perf_counter()
    response = client.get(path)
    taken = 1000 * (time.perf_counter() - began)
    if response.status_code != 200:
        sys.exit(f"{path} answered {response.status_code}")
    return taken, response.text


if __name__ == "__main__":
    main()
