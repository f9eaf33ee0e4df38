"""The board's pages: plain HTML that needs no script, no other host and no server. Everything shown is escaped."""

import base64
import hashlib
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aggregator.board.evidence import Replayed
from aggregator.board.figures import in_range, iso_date, rate, roughly
from aggregator.merge.pool import PooledCell, State, Why
from aggregator.merge.table import Board, Row, Table
from protocol.policy import DisclosurePolicy
from protocol.scorecard import BenchmarkEntry, Cell

TEMPLATES = Path(__file__).parent / "templates"
PAGES = {
    "index.html": "Leaderboard",
    "details.html": "All figures",
    "sites.html": "Sites",
    "methods.html": "Methods",
}
WORDS = {
    State.NOT_RUN: "not run",
    State.SUPPRESSED: "suppressed",
    State.LOW_CODED: "low (coded)",
    State.HIGH_CODED: "high (coded)",
    State.WITHHELD: "withheld",
}


WITHDRAWAL_WORDS = {
    "data_error": "an error in the data",
    "model_error": "an error with the model",
    "scoring_error": "an error in the scoring",
    "consent": "consent was missing or was withdrawn",
    "duplicate": "it was reported twice",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell as the page writes it. `bar` is (low, value, high) in percent of the metric's range."""

    text: str
    interval: str
    units: str
    sort: int  # thousandths; below 0 without a value, so that those sort last
    bar: tuple[float, float, float] | None
    has_value: bool
    left_out: int


def show(pooled: PooledCell, cell: Cell) -> Shown:
    """Write one pooled cell."""
    if pooled.state is not State.VALUE or pooled.value is None:
        return Shown(WORDS[pooled.state], "", "", -1, None, False, 0)
    bar, interval = None, "no interval"
    if pooled.low is not None and pooled.high is not None:
        bar = (pooled.low / 10, pooled.value / 10, pooled.high / 10)
        interval = f"{in_range(pooled.low, cell)} to {in_range(pooled.high, cell)}"
    return Shown(
        in_range(pooled.value, cell), interval, f"n ≈ {roughly(pooled.units)}", pooled.value, bar, True, pooled.left_out
    )


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote of one table: why something else stands in the place of a figure."""

    mark: str  # a, b, c, ...
    text: str


Reason = tuple[State, Why | None]


def notes(table: Table, cells: Sequence[Cell], floor: DisclosurePolicy) -> dict[Reason, Note]:
    """Return the footnotes that a table of these cells needs, in the order in which a reader meets them."""
    found: dict[Reason, Note] = {}
    for row in table.rows:
        for cell in cells:
            pooled = row.cells[cell.key]
            reason = (pooled.state, pooled.why)
            if pooled.state not in {State.VALUE, State.NOT_RUN} and reason not in found:
                found[reason] = Note(string.ascii_lowercase[len(found)], explain(reason, floor))
    return found


def explain(reason: Reason, floor: DisclosurePolicy) -> str:
    """Say in plain words why something else stands in the place of a figure."""
    match reason:
        case State.LOW_CODED, _:
            return f"The figure is low: surely fewer than {floor.min_events} successes stand behind it."
        case State.HIGH_CODED, _:
            return f"The figure is high: surely fewer than {floor.min_events} failures stand behind it."
        case State.WITHHELD, _:
            return (
                f"Fewer than {floor.pooled_sites} sites stand behind it that do not publish under their name, "
                "or one of them makes up most of it."
            )
        case _, Why.SMALL_GROUP:
            return (
                f"Fewer than {floor.min_units} patients or documents stand behind it, or a group of so few could be "
                "found by subtraction."
            )
        case _, Why.ANOTHER_METRIC:
            return "Of one group of patients or documents only the first figure leaves a site."
        case _, Why.FEW_EVENTS:
            return (
                f"Perhaps fewer than {floor.min_events} successes or failures stand behind it, or another figure that "
                "is withheld could be computed from it."
            )
    return "The sites withheld it, for different reasons."


@dataclass(frozen=True, slots=True)
class Division:
    """A variable that divides a benchmark's patients or documents, and the figures of its groups."""

    variable: str
    cells: tuple[Cell, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics among the cells."""
        return tuple(dict.fromkeys(cell.metric for cell in self.cells))


def main_cells(table: Table, benchmarks: Sequence[BenchmarkEntry]) -> list[Cell]:
    """Return the main cell of each benchmark."""
    return [table.main_cell(benchmark) for benchmark in benchmarks]


def whole_cells(table: Table, benchmark: BenchmarkEntry) -> list[Cell]:
    """Return the cells about all patients or documents of a benchmark."""
    return [cell for cell in table.scorecard.cells if cell.benchmark == benchmark.id and cell.subgroup is None]


def divisions(table: Table, benchmark: BenchmarkEntry) -> list[Division]:
    """Return the subgroup tables of a benchmark, one for each variable, without metrics that never leave a site."""
    by_variable: dict[str, list[Cell]] = {}
    for cell in table.scorecard.cells:
        if cell.benchmark == benchmark.id and cell.subgroup is not None:
            variable = cell.subgroup.partition(".")[0]
            if any(row.cells[cell.key].why is not Why.ANOTHER_METRIC for row in table.rows):
                by_variable.setdefault(variable, []).append(cell)
    return [Division(variable, tuple(cells)) for variable, cells in by_variable.items()]


def group_name(cell: Cell) -> str:
    """Write the group of a subgroup's cell without its variable."""
    return (cell.subgroup or "").partition(".")[2].replace("_", " ")


def planned(row: Row) -> str:
    """Say how many of the results behind a row had a plan."""
    if not row.unplanned:
        return "planned"
    return "unplanned" if row.unplanned == row.sites else f"{row.sites - row.unplanned} of {row.sites} planned"


def ranks(table: Table) -> dict[str, str]:
    """Return each language model's rank among them by mean win rate; the same rate shares one. Baselines have none."""
    rates = [row.win_rate for row in table.rows if row.model.is_language_model and row.win_rate is not None]
    return {
        row.digest: str(1 + sum(rate > row.win_rate for rate in rates))
        if row.model.is_language_model and row.win_rate is not None
        else "–"
        for row in table.rows
    }


def main_values(table: Table, row: Row) -> int:
    """Count the benchmarks for which a model has a main figure."""
    return sum(row.cells[table.main_cell(b).key].state is State.VALUE for b in table.scorecard.benchmarks)


def render_pages(board: Board, replayed: Replayed) -> dict[str, bytes]:
    """Return every page by its file name."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        show=show,
        notes=notes,
        divisions=divisions,
        main_cells=main_cells,
        whole_cells=whole_cells,
        group_name=group_name,
        planned=planned,
        reason_words=WITHDRAWAL_WORDS.__getitem__,
        ranks=ranks,
        main_values=main_values,
        rate=rate,
        iso_date=iso_date,
        in_range=in_range,
    )
    style = _inline("board.css")
    script = _inline("board.js")
    return {
        name: environment.get_template(name)
        .render(
            board=board,
            registry=replayed.registry,
            floor=replayed.registry.policies[replayed.registry.policy_floor],
            checkpoint=replayed.checkpoint,
            pages=PAGES,
            page=name,
            style=style,
            script=script,
        )
        .encode("utf-8")
        for name in PAGES
    }


@dataclass(frozen=True, slots=True)
class Inline:
    """A style sheet or script of our own, and the digest by which the page's policy allows it and nothing else."""

    text: Markup
    csp: str


def _inline(name: str) -> Inline:
    text = (TEMPLATES / name).read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Inline(Markup(text), f"'sha256-{digest}'")  # noqa: S704 - our own file, not anyone's words
