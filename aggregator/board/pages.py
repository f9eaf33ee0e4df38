"""The board's pages: plain HTML that needs no script, no other host and no server. Everything shown is escaped."""

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aggregator.board.evidence import Replayed
from aggregator.board.figures import in_range, iso_date, rate, roughly
from aggregator.merge.pool import PooledCell, State
from aggregator.merge.table import Board, Row, Table
from protocol.scorecard import Cell

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
        show=show, ranks=ranks, main_values=main_values, rate=rate, iso_date=iso_date, in_range=in_range
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
