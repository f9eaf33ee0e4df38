"""How long merging takes for a federation of 500 sites, 100 models and 37 benchmarks; prints CPU seconds and memory.

python -m tests.bench.bench_merge [SITES [MODELS]]. No signatures are made: `make_federation` is for the whole way.
"""

import pickle
import random
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from aggregator.merge.accepted import Result
from aggregator.merge.federation import Federation
from aggregator.merge.table import make_audited, make_board
from protocol.identity import model_digest
from protocol.registry import Model, RegisteredScorecard, Registry, Site
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.aggregator.federation import TestSite, digest_of
from tests.aggregator.test_merge import REGISTRY

BENCHMARKS = 37
POOLED_PERCENT = 50


def make_card() -> Scorecard:
    names = [f"benchmark-{number}" for number in range(BENCHMARKS)]
    entries = tuple(BenchmarkEntry(name, name, "Category", digest_of(name)) for name in names)
    cells = tuple(
        Cell(name, "score", None, "private", number % 2 == 0, 0, 1)
        for number, name in enumerate(names)
    )
    return Scorecard("bench", 1, entries, cells)


def make_registry(
    card: Scorecard, sites: list[TestSite], models: list[Model], draw: random.Random
) -> Registry:
    (template,) = list(REGISTRY.sites.values())[:1]
    entries = {}
    for site in sites:
        publication = "pooled" if draw.random() < POOLED_PERCENT / 100 else "named"
        signers = zip(template.keys, (site.agent, site.steward), strict=True)
        keys = tuple(replace(key, key=signer.public) for key, signer in signers)
        entries[site.id] = Site(site.id, publication, "0" * 64, keys)  # type: ignore[arg-type]
    return replace(
        REGISTRY,
        sites=entries,
        models={model_digest(model.name): model for model in models},
        scorecards={card.digest: RegisteredScorecard(card)},
    )


def make_results(
    card: Scorecard,
    registry: Registry,
    sites: list[TestSite],
    models: list[Model],
    draw: random.Random,
) -> Iterator[Result]:
    position = 0
    template = sites[0].result(registry, {cell.key: [0.7] * 200 for cell in card.cells}, card=card)
    for model in models:
        for site in draw.sample(sites, len(sites)):
            bucket = draw.randint(20, 45)
            predicate = replace(
                template,
                header=replace(template.header, site=site.id, seq=position + 1),
                model=model_digest(model.name),
                groups={cell.group: bucket for cell in card.cells},
                cells={cell.key: draw.randrange(200, 900, 25) for cell in card.cells},
                spreads={cell.key: draw.randint(3, 20) for cell in card.cells if not cell.binary},
            )
            keyids = (site.agent.public.keyid, site.steward.public.keyid)
            yield Result(
                position,
                keyids,
                predicate,
                digest_of(position),
                registry.sites[site.id].publication,
            )
            position += 1


def main() -> None:
    sites_count, models_count = (
        [int(word) for word in sys.argv[1:]] + [500, 100][len(sys.argv) - 1 :]
    )[:2]
    draw = random.Random(1)
    card = make_card()
    sites = [TestSite(f"s-{number:08d}") for number in range(sites_count)]
    models = [
        Model(f"org/model-{number}", f"Model {number}", "Org", True)
        for number in range(models_count)
    ]
    registry = make_registry(card, sites, models, draw)
    federation = Federation(registry)
    taking = 0.0
    for result in make_results(card, registry, sites, models, draw):
        begin = time.process_time()
        federation.take(result)
        taking += time.process_time() - begin
    print(f"{len(federation.results)} results taken in {taking:.1f} s")
    begin = time.process_time()
    audited = make_audited(federation, len(federation.results))
    print(
        f"audited figures in {time.process_time() - begin:.1f} s, {len(audited.to_bytes()) / 1e6:.1f} MB"
    )
    begin = time.process_time()
    board = make_board(federation, audited)
    print(
        f"board in {time.process_time() - begin:.1f} s, {len(board.site_results)} results of named sites"
    )
    content = pickle.dumps(federation, protocol=5)
    begin = time.process_time()
    federation = pickle.loads(content)
    print(f"state of {len(content) / 1e6:.0f} MB read in {time.process_time() - begin:.1f} s")
    last = replace(result, position=len(federation.results), digest=digest_of("last"))
    begin = time.process_time()
    federation.take(last)
    make_board(federation, make_audited(federation, len(federation.results)))
    print(f"one more result in {time.process_time() - begin:.1f} s")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
