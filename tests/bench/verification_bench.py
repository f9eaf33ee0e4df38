"""How fast statements of 37 cells are verified, and how long the largest registry takes to load, each on one core.

    python tests/bench/verification_bench.py [--sites 10000]

The bare signatures are timed in the same process: two checks by the library, with nothing around them.
"""

import argparse
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aggregator.home import Home
from protocol.envelope import decode
from protocol.errors import ProtocolError
from protocol.keys import load_public
from protocol.registry import MAX_SITES, Registry, Site, SiteKey, build_registry, parse_registry
from protocol.verification import ChainHead, History, authenticate, verify_link
from tests.bench.make_federation import (
    draw_key,
    make_federation,
    make_result,
    read_units,
    reopen_sites,
)

GOAL_A_SECOND = 1000
GOAL_LOAD_S = 2.0
ROUNDS = 5
RESULTS = 200


def time_verification(home: Home) -> tuple[float, float]:
    """Return verifications of results a second of CPU, and bare checks of their two signatures."""
    plan, sites = reopen_sites(home)
    site = sites[0]
    draw = random.Random(1)
    links = []
    for number in range(RESULTS):
        model = plan.models[number % len(plan.models)]
        result = make_result(plan, site, model, 0.6, read_units(plan, site), draw)
        links.append(site.sign_link(result, plan.registry, plan.today))
    known = dict(site.statements)
    best = bare = 0.0
    for _ in range(ROUNDS):
        begun = time.process_time()
        for link in links:
            header = link.statement.header
            head = ChainHead(1, header.seq - 1, header.prev)
            authentic = authenticate(link.envelope, plan.registry, log_index=2**31 - 1)
            verify_link(
                authentic, plan.registry, History(head, datasets=known), today_day=plan.today
            )
        best = max(best, len(links) / (time.process_time() - begun))
        opened = [decode(link.envelope) for link in links]
        keys = {
            site.agent.public.keyid: site.agent.public,
            site.steward.public.keyid: site.steward.public,
        }
        begun = time.process_time()
        for envelope in opened:
            envelope.verify(keys)
        bare = max(bare, len(links) / (time.process_time() - begun))
    return best, bare


def make_large_registry(registry: Registry, count: int) -> Registry:
    """Return the registry with `count` sites instead of its own."""
    draw = random.Random(1)
    sites = {}
    for number in range(count):
        keys = (SiteKey(draw_key(draw).public, "agent"), SiteKey(draw_key(draw).public, "steward"))
        sites[f"s-{number:08d}"] = Site(f"Hospital {number}", "named", f"{number:064x}", keys)
    return replace(registry, sites=sites)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--sites", type=int, default=MAX_SITES)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = make_federation(Path(folder) / "aggregator", sites=2, models=10)
        best, bare = time_verification(home)
        plan, _ = reopen_sites(home)
        home.database.close()
    print(
        f"verification, two signatures, 37 cells: {best:.0f} a second a core (goal {GOAL_A_SECOND}); "
        f"the two signatures alone {bare:.0f}: ratio {bare / best:.1f}"
    )
    large = make_large_registry(plan.registry, given.sites)
    payload = build_registry(large)
    load_public.cache_clear()
    begun = time.process_time()
    parse_registry(payload)
    took = time.process_time() - begun
    print(
        f"registry of {given.sites} sites, {len(payload) / 2**20:.1f} MiB: loaded in {took:.2f} s (goal {GOAL_LOAD_S})"
    )
    try:
        build_registry(make_large_registry(plan.registry, MAX_SITES + 1))
    except ProtocolError as error:
        print(f"registry of {MAX_SITES + 1} sites: {error.detail}")


if __name__ == "__main__":
    main()
