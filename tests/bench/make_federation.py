"""Makes a federation straight into an aggregator's store: sites, datasets, results, each signed by its two keys.

Every statement is verified by the protocol's own `verify_link` before it is stored, so that `publish` and `verify` take
the log for what it is. No gate drew the figures: they are honest ones of invented sites, with nothing hidden.

    python -m tests.bench.make_federation --dir DIR --sites 500 --models 100
"""

import argparse
import hashlib
import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select

from aggregator.home import Home, today_day
from aggregator.log import journal
from aggregator.log.history import read_history
from aggregator.log.journal import Link
from aggregator.registry import invites
from aggregator.registry.changes import Additions
from aggregator.registry.founding import found
from aggregator.registry.versions import newest_registry, sign_next
from aggregator.settings import make_settings
from aggregator.store.schema import entries
from protocol.disclosure import NO_SPREAD, allowed_spreads
from protocol.envelope import decode
from protocol.identity import NONE
from protocol.keys import Ed25519Signer
from protocol.policy import bucket_of, bucket_range, grid_step
from protocol.predicates import DatasetPredicate, ResultPredicate
from protocol.predicates import Link as LinkPredicate
from protocol.registry import Model, Publication, Registry, Site, SiteKey
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import parse_statement
from protocol.verification import ChainHead, History, authenticate, verify_link
from tests.aggregator.federation import AGENT_VERSION, TestSite

ORIGIN = "bench.example"
CATEGORIES = (
    "Clinical Decision Support",
    "Clinical Note Generation",
    "Patient Communication and Education",
    "Medical Research Assistance",
    "Administration and Workflow",
)
PUBLIC_UNITS = 1000
SITES_AT_ONCE = 16  # their entries lie mixed in the log, as if they had come at the same time


def make_card(cells: int, protected: int) -> Scorecard:
    """Return a scorecard of one cell for each benchmark; the last `protected` of them are private, half not binary."""
    benchmarks, figures = [], []
    for number in range(cells):
        name = f"benchmark_{number:02d}"
        is_private = number >= cells - protected
        benchmarks.append(
            BenchmarkEntry(
                name,
                f"Benchmark {number}",
                CATEGORIES[number % len(CATEGORIES)],
                hashlib.sha256(name.encode()).hexdigest(),
                units=0 if is_private else PUBLIC_UNITS,
            )
        )
        is_binary = number % 2 == 0
        metric = "exact_match" if is_binary else "rouge_l"
        figures.append(
            Cell(name, metric, None, "private" if is_private else "public", is_binary, 0, 1)
        )
    return Scorecard("bench", 1, tuple(benchmarks), tuple(figures))


def make_models(count: int) -> list[Model]:
    """Return invented models of several families."""
    return [
        Model(f"org{number % 12}/model-{number:03d}", f"Model {number}", "", True)
        for number in range(count)
    ]


def draw_key(draw: random.Random) -> Ed25519Signer:
    """Draw a key that the seed repeats; for tests alone."""
    return Ed25519Signer(Ed25519PrivateKey.from_private_bytes(draw.randbytes(32)))


@dataclass
class Chain(TestSite):
    """A site whose statements are verified here, as the aggregator would, before they go straight into its store.

    `statements` has the accepted dataset statements by digest.
    """

    statements: dict[str, DatasetPredicate] = field(default_factory=dict)

    def sign_link(self, predicate: LinkPredicate, registry: Registry, today: int) -> Link:
        """Sign a statement, have it verified as the aggregator does, and move the heads."""
        data = self.sign(predicate)
        head = ChainHead(self.epoch, self.seq, self.prev)
        history = History(head, ledger=self.ledger, datasets=self.statements)
        authentic = authenticate(data, registry, log_index=2**31 - 1)
        accepted = verify_link(authentic, registry, history, today_day=today)
        self.accepted(data)
        if isinstance(predicate, DatasetPredicate):
            self.statements[accepted.digest] = predicate
        return Link(
            accepted.digest,
            accepted.leaf,
            data,
            accepted.statement,
            registry.version,
            accepted.figures,
        )


@dataclass(frozen=True)
class Plan:
    """All that the processes share: the registry with every site, and how much each submits."""

    registry: Registry
    card: Scorecard
    models: Sequence[Model]
    today: int
    seed: int


def make_links(plan: Plan, site: Chain) -> list[Link]:
    """Return a site's datasets and one result for each model, in the order of its chain."""
    draw = random.Random(f"{plan.seed} {site.id}")
    units = {}
    for benchmark in plan.card.benchmarks:
        units[benchmark.id] = benchmark.units or int(10 ** draw.uniform(2.3, 4.0))
    links = []
    for cell in plan.card.cells:
        if cell.protected:
            definition = next(
                entry.definition for entry in plan.card.benchmarks if entry.id == cell.benchmark
            )
            dataset = site.dataset(plan.registry, definition, units=units[cell.benchmark])
            links.append(site.sign_link(dataset, plan.registry, plan.today))
    level = draw.gauss(0, 0.04)  # of this site, beside the models' own
    for number, model in enumerate(plan.models):
        result = make_result(
            plan, site, model, 0.45 + 0.4 * number / len(plan.models) + level, units, draw
        )
        links.append(site.sign_link(result, plan.registry, plan.today))
    return links


def make_result(
    plan: Plan, site: Chain, model: Model, level: float, units: dict[str, int], draw: random.Random
) -> ResultPredicate:
    """Return the result of a model whose scores are around `level`."""
    policy = plan.registry.policies[plan.registry.policy_floor]
    groups, cells, spreads, data = {}, {}, {}, {}
    for cell in plan.card.cells:
        bucket = bucket_of(units[cell.benchmark])
        step = grid_step(bucket_range(bucket)[0], policy) if cell.protected else 1
        value = step * round(1000 * min(0.9, max(0.2, draw.gauss(level, 0.05))) / step)
        groups[cell.group], cells[cell.key] = bucket, value
        if not cell.binary:
            possible = allowed_spreads(cell, value)
            spreads[cell.key] = 8 if 8 in possible else NO_SPREAD
    for benchmark in plan.card.benchmarks:
        data[benchmark.id] = site.datasets.get(benchmark.definition, NONE)
    return site.report(
        plan.registry,
        groups,
        cells,
        spreads,
        model=model.name,
        card=plan.card,
        data=data,
        scores_root=draw.randbytes(32).hex(),
    )


def reopen_sites(home: Home, seed: int = 1) -> tuple[Plan, list[Chain]]:
    """Return the sites of a federation that was made before, ready to go on with their chains.

    Args:
        home: what `make_federation` made.
        seed: the one it was made with, which gives the sites' keys.
    """
    draw = random.Random(seed)
    with home.database.reading() as connection:
        registry = newest_registry(connection)
        enrolled = (
            select(entries.c.site).where(entries.c.kind == "enroll").order_by(entries.c.position)
        )
        chains = []
        for site_id in connection.execute(enrolled).scalars().all():
            agent, steward = draw_key(draw), draw_key(draw)
            history = read_history(connection, site_id, registry)
            head = history.head or ChainHead(1, 0, registry.sites[site_id].start)
            reopened = Chain(
                site_id,
                agent,
                steward,
                head.epoch,
                head.seq,
                head.digest,
                history.ledger,
                statements=dict(history.datasets),
            )
            for digest, dataset in history.datasets.items():
                reopened.datasets[dataset.definition] = digest
            chains.append(reopened)
    card = next(iter(registry.scorecards.values())).scorecard
    models = list(registry.models.values())
    return Plan(registry, card, models, today_day(), seed), chains


def read_units(plan: Plan, site: Chain) -> dict[str, int]:
    """Return how many units a site may report of each benchmark; of its own datasets, as their statements say."""
    units = {}
    for benchmark in plan.card.benchmarks:
        digest = site.datasets.get(benchmark.definition)
        units[benchmark.id] = benchmark.units
        if digest is not None:
            units[benchmark.id] = bucket_range(site.statements[digest].units)[0]
    return units


def pad_log(home: Home, size: int) -> None:
    """Lengthen the log with entries of a site that takes no part: as large as real ones, but signed by nobody."""
    with home.database.reading() as connection:
        registry = newest_registry(connection)
        envelope = next(journal.read_entries(connection, journal.size(connection) - 1)).envelope
        present = journal.size(connection)
    statement = parse_statement(decode(envelope).payload)
    assert isinstance(statement, ResultPredicate)
    for start in range(present, size, 2000):
        links = []
        for number in range(start, min(size, start + 2000)):
            digest = hashlib.sha256(str(number).encode()).hexdigest()
            header = replace(statement.header, site="s-padding0", seq=number)
            padding = replace(statement, header=header, scores_root=digest)
            links.append(Link(digest, digest.encode(), envelope, padding, registry.version, digest))
        with home.database.writing() as connection:
            signer = home.log_signer(registry)
            journal.append_all(connection, links, origin=registry.log_name, log_key=signer)


def choose_publication(number: int, pooled_percent: int) -> Publication:
    """Return the publication of a site by its number: spread evenly, so that every prefix has about its share."""
    is_pooled = (number + 1) * pooled_percent // 100 > number * pooled_percent // 100
    return "pooled" if is_pooled else "named"


def enrol_sites(home: Home, count: int, pooled_percent: int, draw: random.Random) -> list[Chain]:
    """Log the enrolment of every site, and sign one registry version with them all."""
    today = today_day()
    with home.database.writing() as connection:
        before = newest_registry(connection)
        chains, links, sites = [], [], {}
        for number in range(count):
            name = f"Hospital {number}"
            publication = choose_publication(number, pooled_percent)
            invite = invites.invite(
                connection, home, site_name=name, publication=publication, today_day=today
            )
            agent, steward = draw_key(draw), draw_key(draw)
            request = TestSite(invite.site, agent, steward).ask_to_enrol(invite)
            opened = decode(request)
            statement = parse_statement(opened.payload)
            links.append(Link(opened.digest, opened.pae, request, statement, before.version))
            chains.append(Chain(invite.site, agent, steward, prev=opened.digest))
            keys = (
                SiteKey(agent.public, "agent", number),
                SiteKey(steward.public, "steward", number),
            )
            shown_as = name if publication == "named" else invite.site
            sites[invite.site] = Site(shown_as, publication, opened.digest, keys)
        journal.append_all(
            connection, links, origin=before.log_name, log_key=home.log_signer(before)
        )
        sign_next(
            connection,
            replace(before, version=before.version + 1, sites=sites),
            [home.root_signer(before)],
        )
    return chains


_inherited: tuple[Plan, Sequence[Chain]] | None = None


def _make_links_in_process(number: int) -> list[Link]:
    assert _inherited is not None, "inherited when the process was forked"
    plan, chains = _inherited
    return make_links(plan, chains[number])


def submit_all(home: Home, plan: Plan, chains: Sequence[Chain], processes: int) -> Iterator[int]:
    """Make and store the links of all sites; give the number of entries after each batch of sites."""
    global _inherited
    _inherited = (plan, chains)
    log_key = home.log_signer(plan.registry)
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        made = pool.map(_make_links_in_process, range(len(chains)))
        for start in range(0, len(chains), SITES_AT_ONCE):
            batch = [next(made) for _ in chains[start : start + SITES_AT_ONCE]]
            mixed = list(chain.from_iterable(zip(*batch, strict=True)))
            with home.database.writing() as connection:
                done = journal.append_all(
                    connection, mixed, origin=plan.registry.log_name, log_key=log_key
                )
            yield done[-1].position + 1


def make_federation(
    directory: Path,
    *,
    sites: int,
    models: int,
    cells: int = 37,
    protected: int = 10,
    pooled_percent: int = 50,
    database_url: str | None = None,
    processes: int = 2,
    seed: int = 1,
) -> Home:
    """Make an aggregator's directory and fill its log.

    Args:
        directory: must not hold an aggregator yet.
        sites, models: every site submits one result for each model.
        cells: of the scorecard, one a benchmark.
        protected: how many of them are of private benchmarks; each site registers a dataset for each.
        pooled_percent: share of the sites that chose pooled publication.
        database_url: of an empty database; SQLite in the directory if None.
        processes: that make and sign statements.
        seed: of everything that is drawn, but for the site ids and the aggregator's own keys.
    """
    card, registered = make_card(cells, protected), make_models(models)
    home = found(
        directory,
        make_settings({"database_url": database_url}),
        origin=ORIGIN,
        additions=Additions(models=registered, scorecards=[card], agents=[AGENT_VERSION]),
        today_day=today_day(),
    )
    chains = enrol_sites(home, sites, pooled_percent, random.Random(seed))
    with home.database.reading() as connection:
        plan = Plan(newest_registry(connection), card, registered, today_day(), seed)
    home.database.close()  # no connection may be shared with the processes
    started = time.perf_counter()
    for size in submit_all(home, plan, chains, processes):
        print(
            f"\r{size} entries, {size / (time.perf_counter() - started):.0f} a second",
            end="",
            flush=True,
        )
    print()
    return home


def main() -> None:
    """Read the options and make it."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--dir", type=Path, required=True)
    options.add_argument("--sites", type=int, default=500)
    options.add_argument("--models", type=int, default=100)
    options.add_argument("--cells", type=int, default=37)
    options.add_argument("--protected", type=int, default=10)
    options.add_argument("--pooled-percent", type=int, default=50)
    options.add_argument("--database-url")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    make_federation(
        given.dir,
        sites=given.sites,
        models=given.models,
        cells=given.cells,
        protected=given.protected,
        pooled_percent=given.pooled_percent,
        database_url=given.database_url,
        processes=given.processes,
        seed=given.seed,
    )


if __name__ == "__main__":
    main()
