"""How long honest requests wait while others hold 1,000 silent and 200 dripping connections.

    python tests/bench/availability_bench.py [--seconds 15] [--idle 1000] [--dripping 200]

Service, attacker and honest clients are processes of their own. Prints, with the attack and without it, how many honest
requests were answered and their waits; then 100 posts at once, each a new submission of a site of its own.
"""

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[2]))

from aggregator.home import Home
from tests.aggregator.api.attacker import Attacker
from tests.aggregator.federation import new_home, ready, registry_of, scores

AT_ONCE = 100
GOAL_S = 1.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--dripping", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = new_home(Path(folder) / "aggregator")
        posts = make_posts(home, 3 * AT_ONCE)
        home.database.close()
        with serve(home) as port:
            report("without an attack", ask_in_turn(port, posts[:AT_ONCE], options.seconds / 2))
            with attack(port, idle=options.idle, dripping=options.dripping):
                name = f"{options.idle} idle and {options.dripping} dripping connections"
                report(name, ask_in_turn(port, posts[AT_ONCE : 2 * AT_ONCE], options.seconds))
                report(
                    f"the same, {AT_ONCE} posts at once", post_at_once(port, posts[2 * AT_ONCE :])
                )


def make_posts(home: Home, count: int) -> list[bytes]:
    """Return one honest result for each of `count` sites."""
    sites = [ready(home, f"Site {number}") for number in range(count)]
    registry = registry_of(home)
    return [site.sign(site.result(registry, scores(number))) for number, site in enumerate(sites)]


@contextmanager
def serve(home: Home) -> Iterator[int]:
    """Run the command `serve`; gives its port."""
    words = [
        sys.executable,
        "-m",
        "aggregator",
        "--dir",
        str(home.directory),
        "serve",
        "--port",
        "0",
    ]
    # All clients here have one address; time limits are the defaults.
    (home.directory / "aggregator.yaml").write_text("requests_per_minute: 0\n")
    process = subprocess.Popen(
        [*words, "--log-level", "warning"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline().rsplit(":", 1)[1])
    finally:
        process.terminate()
        process.wait()


@contextmanager
def attack(port: int, *, idle: int, dripping: int) -> Iterator[None]:
    """Attack from another process until the block is left."""
    standing, over = multiprocessing.Event(), multiprocessing.Event()
    process = multiprocessing.Process(
        target=run_attack, args=(port, idle, dripping, standing, over)
    )
    process.start()
    standing.wait()
    try:
        yield
    finally:
        over.set()
        process.join()


def run_attack(port: int, idle: int, dripping: int, standing: Event, over: Event) -> None:
    """Hold the connections; half of the dripping ones drip their head, half their body."""
    attacker = Attacker(
        port, idle=idle, dripping_heads=dripping // 2, dripping_bodies=dripping - dripping // 2
    )
    with attacker.attack():
        standing.set()
        over.wait()
    print(f"  (attacker: {attacker.connections} connections held, {attacker.reopened} opened anew)")


def ask_in_turn(port: int, posts: list[bytes], seconds: float) -> list[tuple[int, float]]:
    """Post one submission and read the log's head in turn; returns status and wait of each."""
    answers = []
    began = time.monotonic()
    for envelope in posts:
        answers.append(ask(port, envelope))
        answers.append(ask(port, None))
        if time.monotonic() - began > seconds:
            break
        time.sleep(max(0.0, seconds / len(posts) - 2 * answers[-1][1]))
    return answers


def post_at_once(port: int, posts: list[bytes]) -> list[tuple[int, float]]:
    """Post all submissions at once."""
    with ThreadPoolExecutor(len(posts)) as pool:
        return list(pool.map(lambda envelope: ask(port, envelope), posts))


def ask(port: int, envelope: bytes | None) -> tuple[int, float]:
    """Send one request on a connection of its own; 0 is the status of a connection that failed."""
    began = time.monotonic()
    url = f"http://127.0.0.1:{port}"
    try:
        if envelope is None:
            status = httpx.get(
                f"{url}/v1/log/checkpoint", timeout=30, trust_env=False, verify=False
            ).status_code
        else:
            status = httpx.post(
                f"{url}/v1/submissions", content=envelope, timeout=30, trust_env=False, verify=False
            ).status_code
    except httpx.HTTPError:
        status = 0
    return status, time.monotonic() - began


def report(name: str, answers: list[tuple[int, float]]) -> None:
    """Print counts and waits."""
    waits = sorted(wait for _, wait in answers)
    statuses = Counter(status for status, _ in answers)
    answered = statuses.pop(200, 0)
    late = sum(wait > GOAL_S for wait in waits)
    others = f" (others: {dict(statuses)})" if statuses else ""
    print(
        f"{name}: {answered} of {len(answers)} answered{others}, {late} after more than {GOAL_S:g} s; "
        f"median {statistics.median(waits) * 1000:.0f} ms, "
        f"99 % {waits[int(len(waits) * 0.99) - 1] * 1000:.0f} ms, longest {waits[-1] * 1000:.0f} ms"
    )


if __name__ == "__main__":
    main()
