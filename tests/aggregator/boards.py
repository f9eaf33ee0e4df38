"""Made-up boards for pages: a small one with every kind of cell and mark, and one of the size of a federation."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aggregator.board.helm_release import HelmFigure, HelmRelease
from aggregator.board.pages import Publication
from aggregator.board.releases import BoardOrigin, Releases, add_release
from aggregator.board.selection import ACCESS_LEVELS
from aggregator.board.tables import json_file
from aggregator.merge.board_model import (
    NOT_RUN_CELL,
    Board,
    MergedCell,
    Ranges,
    Row,
    RowCounts,
    SiteFigure,
    SiteResult,
    State,
    Table,
    Why,
    WithdrawnResult,
)
from protocol.figures import mean_win_rates
from protocol.identity import model_digest
from protocol.registry import Model, Registry
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.aggregator.federation import digest_of, new_home, registry_of

RESEARCH = "Medical Research Assistance"
NOTES = "Clinical Note Generation"
DECISIONS = "Clinical Decision Support"
CATEGORIES = (
    (DECISIONS, "Supporting Diagnostic Decisions", 12),
    (NOTES, "Documenting Patient Visits", 6),
    ("Patient Communication and Education", "Patient-Provider Messaging", 8),
    (RESEARCH, "Conducting Literature Research", 6),
    ("Administration and Workflow", "Care Coordination and Planning", 5),
)
SMALL_CARD = Scorecard(
    name="pilot",
    version=1,
    benchmarks=(
        BenchmarkEntry(
            "pubmed_qa", "PubMedQA", RESEARCH, "1" * 64, "Conducting Literature Research"
        ),
        BenchmarkEntry("shc_notes", "Ward notes", NOTES, "2" * 64, "Documenting Patient Visits"),
        BenchmarkEntry("aci_bench", "ACI-Bench", NOTES, "3" * 64, "Documenting Patient Visits"),
        BenchmarkEntry("med_qa", "MedQA", DECISIONS, "4" * 64, "Planning Treatments"),
        BenchmarkEntry("letters", "Discharge letters", DECISIONS, "5" * 64, "Planning Treatments"),
    ),
    cells=(
        Cell("pubmed_qa", "exact_match", None, "public", binary=True, low=0, high=1),
        Cell("shc_notes", "exact_match", None, "private", binary=True, low=0, high=1),
        Cell("aci_bench", "jury_score", None, "gated", binary=False, low=1, high=5),
        Cell("med_qa", "exact_match", None, "public", binary=True, low=0, high=1),
        Cell("letters", "exact_match", None, "private", binary=True, low=0, high=1),
        Cell("letters", "rouge_l", None, "private", binary=False, low=0, high=1),
        Cell("letters", "exact_match", "sex.female", "private", binary=True, low=0, high=1),
        Cell("letters", "exact_match", "sex.male", "private", binary=True, low=0, high=1),
    ),
)
SMALL_MODELS = (
    Model(
        "example/large",
        "Example Large",
        "Example Org",
        True,
        family="Example",
        parameters_millions=70_000,
    ),
    Model("other/mini", "Mini", "Other Labs", True, family="Mini", parameters_millions=7_000),
    Model("baseline/first-choice", "First choice", "", False),
)
HOSTILE = Model(
    "evil/model",
    '<script>alert("x")</script>',
    '=HYPERLINK("javascript:x")',
    is_language_model=True,
)
HOSTILE_SITE = "{{7*7}} & <b>Co</b>"


def make_registry(directory: Path) -> Registry:
    """Return a real registry; pages take thresholds and fingerprints from it."""
    home = new_home(directory / "aggregator")
    registry = registry_of(home)
    home.database.close()
    return registry


def merged_cell(
    value: int, sites: int, *, named: int | None = None, units: int = 400, width: int = 30
) -> MergedCell:
    """Return a plain figure; between-site figures from three sites on."""
    named = sites if named is None else named
    cell = MergedCell(
        State.VALUE,
        value=value,
        low=max(0, value - width),
        high=min(1000, value + width),
        units=units,
        sites=sites,
        named_sites=named,
        since=0 if named == sites else 120,
        rests_on_audit=named != sites,
    )
    if sites < 3:
        return cell
    return replace(
        cell,
        tau=24,
        i2_percent=40,
        prediction_low=max(0, value - 2 * width),
        prediction_high=min(1000, value + 2 * width),
        leave_one_out_low=max(0, value - 10),
        leave_one_out_high=min(1000, value + 12),
    )


def small_board(*, models: Sequence[Model] = SMALL_MODELS) -> Board:
    """Three models or more on five benchmarks, with a cell of every state and a row with every mark."""
    keys = [cell.key for cell in SMALL_CARD.cells]
    values = {
        "pubmed_qa/exact_match": (742, 655, 411, 500),
        "shc_notes/exact_match": (688, 691, 300, 450),
        "aci_bench/jury_score": (812, 640, 222, 333),
        "med_qa/exact_match": (799, 702, 251, 444),
        "letters/rouge_l": (390, 355, 210, 222),
        "letters/exact_match/sex.female": (700, 640, 310, 400),
        "letters/exact_match/sex.male": (688, 620, 290, 410),
        "letters/exact_match": (690, 631, 300, 405),
    }
    cells: list[dict[str, MergedCell]] = []
    for number in range(len(models)):
        cells.append({key: merged_cell(values[key][min(number, 3)], 5, named=3) for key in keys})
    cells[0]["shc_notes/exact_match"] = replace(
        merged_cell(688, 7, named=2), waiting=2, coded_sites=1, left_out=1
    )
    cells[1]["shc_notes/exact_match"] = MergedCell(
        State.WITHHELD, left_out=2, waiting=2, rests_on_audit=True
    )
    cells[1]["letters/exact_match"] = MergedCell(
        State.HIGH_CODED, sites=1, named_sites=1, coded_sites=1
    )
    cells[2]["letters/exact_match"] = MergedCell(
        State.LOW_CODED, sites=1, named_sites=1, coded_sites=1
    )
    cells[2]["aci_bench/jury_score"] = NOT_RUN_CELL
    cells[1]["letters/rouge_l"] = MergedCell(State.SUPPRESSED, Why.ANOTHER_METRIC, left_out=3)
    cells[2]["letters/exact_match/sex.male"] = MergedCell(
        State.SUPPRESSED, Why.SMALL_GROUP, left_out=1
    )
    cells[2]["letters/exact_match/sex.female"] = MergedCell(
        State.SUPPRESSED, Why.FEW_EVENTS, left_out=1
    )
    cells[2]["med_qa/exact_match"] = merged_cell(251, 1)
    counts = [
        RowCounts(sites=7, unplanned=0, weights_hashed=7),
        RowCounts(sites=5, partial=1, unplanned=2, weights_hashed=2, stale=1, withdrawn=1),
        *(RowCounts(sites=2, unplanned=2) for _ in models[2:]),
    ]
    rows = _rank(SMALL_CARD, models, cells, counts)
    table = Table(SMALL_CARD, rows, sites=9)
    return Board(
        tables=(table,),
        site_results=tuple(
            _site_results(table, ["St. Elsewhere", "Example University Hospital", HOSTILE_SITE])
        ),
        pooled_sites=6,
        revoked=(17,),
        withdrawn=(WithdrawnResult(9, 12, "data_error"),),
    )


def _rank(
    card: Scorecard,
    models: Sequence[Model],
    cells: Sequence[Mapping[str, MergedCell]],
    counts: Sequence[RowCounts],
) -> tuple[Row, ...]:
    unranked = Table(card, ())
    main = [unranked.main_cell(benchmark).key for benchmark in card.benchmarks]
    digests = [model_digest(model.name) for model in models]
    values = {}
    for digest, mine in zip(digests, cells, strict=True):
        values[digest] = {
            key: float(value) for key in main if (value := mine[key].value) is not None
        }
    rates = mean_win_rates(values)
    order = sorted(range(len(models)), key=lambda i: -(rates[digests[i]] or 0))
    rows: list[Row] = []
    rank = 0
    for number in order:
        model, digest = models[number], digests[number]
        rank += model.is_language_model
        rate = rates[digest]
        win_rate = None if rate is None else round(1000 * rate)
        shown = list(values[digest].values())
        average = round(sum(shown) / len(shown)) if shown else None
        ranges = Ranges()
        if win_rate is not None and average is not None:
            ranges = Ranges(
                win_rate_low=max(0, win_rate - 60),
                win_rate_high=min(1000, win_rate + 50),
                macro_average_low=average - 12,
                macro_average_high=average + 11,
                rank_low=max(1, rank - 1) if model.is_language_model else None,
                rank_high=rank + 2 if model.is_language_model else None,
            )
        rows.append(
            Row(
                digest=digest,
                model=model,
                cells=cells[number],
                win_rate=win_rate,
                macro_average=average,
                rank=rank if model.is_language_model else None,
                ranges=ranges,
                counts=counts[number],
                coded=sum(cell.coded_sites > 0 for cell in cells[number].values()),
                waiting=max(cell.waiting for cell in cells[number].values()),
            )
        )
    return tuple(rows)


def _site_results(table: Table, names: Sequence[str]) -> list[SiteResult]:
    results = []
    for number, name in enumerate(names):
        site = f"s-{number:08d}"
        draw = random.Random(number)
        for position, row in enumerate(table.rows):
            results.append(
                SiteResult(
                    site=site,
                    site_name=name,
                    model=row.model,
                    model_digest=row.digest,
                    scorecard=table.scorecard,
                    digest=digest_of(name, row.digest),
                    log_position=20 + len(table.rows) * number + position,
                    day=20_700 + position,
                    outcome="complete",
                    approval="two_person",
                    plan=digest_of("plan", name) if number else "none",
                    assurance=("", "weights_hashed", "served_claimed")[number % 3],
                    is_stale=number == 1,
                    agent_version="0.1.0",
                    policy_name="strict",
                    figures={
                        key: _site_figure(cell, draw, number) for key, cell in row.cells.items()
                    },
                )
            )
    return sorted(results, key=lambda result: (result.site_name, result.model.name))


def _site_figure(cell: MergedCell, draw: random.Random, number: int) -> SiteFigure:
    if cell.value is None:
        return SiteFigure(State.NOT_RUN)
    if number == 2 and draw.random() < 0.3:
        return SiteFigure(State.HIGH_CODED, low=940, high=1000, units=60)
    value = max(20, min(980, cell.value + draw.randint(-60, 60)))
    half = draw.randint(15, 70)
    return SiteFigure(
        State.VALUE,
        value=value,
        low=max(0, value - half),
        high=min(1000, value + half),
        units=draw.choice((60, 140, 420, 1100)),
        weight_percent=draw.choice((4, 9, 22, 35)),
    )


FAMILIES = (
    "Alder",
    "Birch",
    "Cedar",
    "Elm",
    "Fir",
    "Hazel",
    "Larch",
    "Maple",
    "Oak",
    "Pine",
    "Rowan",
    "Willow",
)


TITLES = (
    *(
        "MedCalc-Bench",
        "CLEAR",
        "MTSamples replicate",
        "EHRSHOT",
        "HeadQA",
        "Medbullets",
        "MedAlign",
    ),
    *("ADHD-Behavior", "ADHD-MedEffects", "MedQA", "MedMCQA", "ProxySender"),
)


def large_card() -> Scorecard:
    """Thirty-seven benchmarks in five categories; names as long as real ones."""
    benchmarks, cells = [], []
    for category, subcategory, number in CATEGORIES:
        for position in range(number):
            name = f"{slug_of(category)}_{position + 1}"
            title = f"{TITLES[position]} {category[0]}"
            part = f"{subcategory} {position % 4 + 1}"
            benchmarks.append(BenchmarkEntry(name, title, category, digest_of(name), part))
            is_jury = position % 3 == 2
            access = ACCESS_LEVELS[position % 3]
            metric = "jury_score" if is_jury else "exact_match"
            low, high = (1, 5) if is_jury else (0, 1)
            cells.append(Cell(name, metric, None, access, binary=not is_jury, low=low, high=high))
    return Scorecard("medhelm", 1, tuple(benchmarks), tuple(cells))


def slug_of(text: str) -> str:
    """Return the initials of a category."""
    return "".join(word[0] for word in text.lower().split())


HOSPITALS = ("University Hospital", "Clinic", "Medical Center", "Children's Hospital")
PLACES = ("Ashford", "Brook", "Carrick", "Dunmore", "Elstow")
SIZES = (3_000, 8_000, 27_000, 70_000, 235_000, 0)  # parameters in millions


def large_board(models: int = 100, sites: int = 20) -> Board:
    """As many models as asked for on 37 benchmarks, with `sites` named sites behind each."""
    card = large_card()
    draw = random.Random(7)
    registered, cells, counts = [], [], []
    for number in range(models):
        registered.append(_make_model(number))
        strength = draw.gauss(0.62, 0.1)
        cells.append({cell.key: _draw_cell(draw, strength, sites) for cell in card.cells})
        counts.append(
            RowCounts(
                sites=sites,
                unplanned=draw.choice((0, 0, 3)),
                weights_hashed=draw.choice((0, sites)),
                partial=draw.choice((0, 0, 0, 1)),
            )
        )
    table = Table(card, _rank(card, registered, cells, counts), sites=sites + 12)
    names = [f"{place} {kind}" for kind in HOSPITALS for place in PLACES]
    return Board(
        (table,),
        tuple(_site_results(table, names[:sites])),
        pooled_sites=12,
        revoked=(),
        withdrawn=(),
    )


def _make_model(number: int) -> Model:
    family = FAMILIES[number % len(FAMILIES)]
    millions = SIZES[number % len(SIZES)]
    size = f"{millions // 1000}B" if millions else "Pro"
    title = (
        f"{family} {number // len(FAMILIES) + 1} {'Instruct' if number % 4 else 'Thinking'} {size}"
    )
    return Model(
        f"{family.lower()}/m{number}",
        title,
        f"{family} Research",
        is_language_model=True,
        family=family,
        parameters_millions=millions,
    )


def _draw_cell(draw: random.Random, strength: float, sites: int) -> MergedCell:
    if draw.random() < 0.06:
        withheld = MergedCell(State.WITHHELD, left_out=2, rests_on_audit=True)
        suppressed = MergedCell(State.SUPPRESSED, Why.SMALL_GROUP, left_out=1)
        return draw.choice((NOT_RUN_CELL, withheld, suppressed))
    value = int(1000 * min(0.97, max(0.05, draw.gauss(strength, 0.09))))
    count = draw.choice((1, 2, 4, sites))
    named = count if draw.random() < 0.5 else count // 2
    return merged_cell(value, count, named=named, width=draw.randint(12, 60))


def public_results(board: Board, names: Sequence[str]) -> HelmRelease:
    """Return made-up public results for the named models of a board, and one that the board does not have."""
    table = board.tables[0]
    figures = []
    for name in names:
        for position, benchmark in enumerate(table.scorecard.benchmarks):
            value = 4_000 + 100 * position
            figures.append(
                HelmFigure(
                    benchmark.id, benchmark.display_name, name.lower(), name, "exact_match", value
                )
            )
    return HelmRelease("v2.0.0", "2026-05-01", "a" * 64, tuple(figures))


def publish_made_up(
    board: Board, registry: Registry, *, earlier: Sequence[Board] = (), helm: Sequence[str] = ()
) -> Publication:
    """Return the publication of a board that was preceded by other releases."""
    releases = Releases()
    for number, before in enumerate([*earlier, board], 1):
        head = BoardOrigin(100 * number, f"{number:064x}", registry.version)
        releases = add_release(
            releases, before, json_file(before, registry, head), head, day=20_700 + 30 * number
        )
    references = (public_results(board, helm),) if helm else ()
    return Publication(registry, head, releases, references)
