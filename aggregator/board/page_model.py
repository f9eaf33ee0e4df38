"""The data that board pages show: a prepared view of each scorecard, and its views under a reader's filters. Pure.

Everything that does not depend on a reader's filters is prepared once in a `CardView`, so that a
page with any filters renders in milliseconds.
"""

import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from aggregator.board.figures import in_range, roughly
from aggregator.board.selection import (
    ACCESS_LEVELS,
    CATEGORY_SORT,
    MINIMUM_SITES,
    SIZES,
    SORTS,
    Selection,
    UnknownChoiceError,
    size_class,
    slug,
)
from aggregator.merge.board_model import MergedCell, Row, SiteResult, State, Table, Why
from protocol.policy import DisclosurePolicy
from protocol.scorecard import BenchmarkEntry, Cell

WORDS = {
    State.NOT_RUN: "not run",
    State.SUPPRESSED: "suppressed",
    State.LOW_CODED: "low (coded)",
    State.HIGH_CODED: "high (coded)",
    State.WITHHELD: "withheld",
}
TOO_FEW_SITES = "too few sites"  # shown if a filter by number of sites excludes the figure
_SHORT = {
    "not run": "–",
    "suppressed": "supp.",
    "low (coded)": "low",
    "high (coded)": "high",
    "withheld": "held",
    TOO_FEW_SITES: "few",
}
"""Short words for narrow columns. The full word is given to screen readers and in the footnotes."""
_SHADES = 10


@dataclass(frozen=True, slots=True)
class Column:
    """A benchmark as a column of the heatmap.

    Attributes:
        path: Path of the benchmark's page, relative to the board's root.
        is_first: Whether it is the first column of its category.
    """

    benchmark: BenchmarkEntry
    cell: Cell
    path: str
    is_first: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """A short remark on a model's results."""

    words: str
    needs_care: bool


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model of one scorecard, with the paths of its pages."""

    row: Row
    slug: str
    path: str
    provenance: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote: a mark, the word it explains, and the reason why the word replaces a figure."""

    mark: str
    word: str
    text: str


Reason = tuple[State, Why | None]


class CardView:
    """One scorecard with the paths of its pages, its columns, models and named sites' results."""

    def __init__(
        self,
        table: Table,
        results: Iterable[SiteResult],
        floor: DisclosurePolicy,
        *,
        is_first: bool,
        title: str = "",
    ) -> None:
        """Prepare a table.

        Args:
            table: A table of the board.
            results: Named sites' results for this scorecard.
            floor: The policy whose thresholds the footnotes name.
            is_first: Whether the board's front page shows this table.
        """
        self.table = table
        self.floor = floor
        self.title = title or table.scorecard.name
        self.folder = f"cards/{table.scorecard.name}-{table.scorecard.version}/"
        self.path = "index.html" if is_first else f"{self.folder}index.html"
        self.results = tuple(results)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The benchmarks, grouped by category, in the scorecard's order."""
        columns = []
        for benchmarks in self.table.categories.values():
            for position, benchmark in enumerate(benchmarks):
                path = f"{self.folder}benchmarks/{benchmark.id}.html"
                columns.append(
                    Column(benchmark, self.table.main_cell(benchmark), path, position == 0)
                )
        return tuple(columns)

    @cached_property
    def models(self) -> tuple[ModelView, ...]:
        """The models, by descending mean win rate."""
        return tuple(self._view_model(row) for row in self.table.rows)

    def _view_model(self, row: Row) -> ModelView:
        # The digest keeps addresses unique, and stable when other models are added.
        name = f"{slug(row.model.name)}-{row.digest[:6]}"
        return ModelView(
            row=row,
            slug=name,
            path=f"{self.folder}models/{name}.html",
            provenance=f"{self.folder}provenance/{name}.html",
            marks=tuple(_mark(row)),
        )

    @cached_property
    def model_of(self) -> dict[str, ModelView]:
        """The models by digest."""
        return {model.row.digest: model for model in self.models}

    @cached_property
    def model_by_slug(self) -> dict[str, ModelView]:
        """The models by slug."""
        return {model.slug: model for model in self.models}

    @cached_property
    def results_of(self) -> dict[str, list[SiteResult]]:
        """Named sites' results by model digest."""
        by_model: dict[str, list[SiteResult]] = {}
        for result in self.results:
            by_model.setdefault(result.model_digest, []).append(result)
        return by_model

    @property
    def has_language_models(self) -> bool:
        """Whether any row is not a reference baseline."""
        return any(row.model.is_language_model for row in self.table.rows)

    @cached_property
    def category_names(self) -> dict[str, str]:
        """The names of the categories by slug."""
        return {
            slug(benchmark.category): benchmark.category
            for benchmark in self.table.scorecard.benchmarks
        }

    @cached_property
    def subcategory_names(self) -> dict[str, str]:
        """The names of the subcategories by slug. A scorecard may have none."""
        benchmarks = self.table.scorecard.benchmarks
        return {
            slug(entry.subcategory): entry.subcategory for entry in benchmarks if entry.subcategory
        }

    @cached_property
    def family_names(self) -> dict[str, str]:
        """The names of the model families by slug. A model may have none."""
        families = sorted(
            {row.model.family for row in self.table.rows if row.model.family}, key=str.casefold
        )
        return {slug(family): family for family in families}

    @cached_property
    def shadings(self) -> dict[int, "Shading"]:
        """The win rates per benchmark that have been computed so far, by minimum number of sites."""
        return {}

    def shading(self, sites: int) -> "Shading":
        """Return the win rates per benchmark, computed from figures with at least `sites` sites."""
        if sites not in self.shadings:
            shading = Shading(self, sites)
            if sites not in (0, *MINIMUM_SITES):
                return shading  # readers may ask for any number; cache only a few
            self.shadings[sites] = shading
        return self.shadings[sites]

    def explain(self, reason: Reason) -> str:
        """Return the reason why a word replaces a figure, as a sentence."""
        return explain(reason, self.floor)


HeatCell = tuple[str, str, str, str]
"""CSS classes, text, footnote mark and full word of a heatmap cell. The word is empty for a figure."""


class Shading:
    """The share of other models that each model outperforms on each benchmark, and the texts of the heatmap."""

    def __init__(self, card: CardView, sites: int) -> None:
        """Compare all models on figures with at least `sites` sites."""
        self.rates: dict[str, dict[str, float]] = {}  # by model digest and cell key
        self.values: dict[str, dict[str, int]] = {}
        for row in card.table.rows:
            self.rates[row.digest], self.values[row.digest] = {}, {}
        for column in card.columns:
            self._compare(card.table.rows, column.cell.key, sites)

    def _compare(self, rows: Sequence[Row], key: str, sites: int) -> None:
        values = {}
        for row in rows:
            cell = row.cells[key]
            if cell.value is not None and cell.sites >= sites:
                values[row.digest] = cell.value
        ordered = sorted(values.values())
        for digest, value in values.items():
            self.values[digest][key] = value
            if len(ordered) > 1:
                worse = bisect_left(ordered, value)
                tied = bisect_right(ordered, value) - worse - 1
                self.rates[digest][key] = (worse + tied / 2) / (len(ordered) - 1)


def shade(win_rate: float | None) -> str:
    """Return the CSS class that colours a share from 0 to 1; empty for None."""
    return "" if win_rate is None else f"h{round(win_rate * _SHADES)}"


def short_share(thousandths: int) -> str:
    """Format thousandths as a share with three decimals and no leading zero."""
    return "1.00" if thousandths >= 1000 else f".{max(thousandths, 0):03d}"


def short_word(state: State) -> str:
    """Return the short word for the state of a figure that is not shown."""
    return _SHORT[WORDS[state]]


def say_parameters(millions: int) -> str:
    """Format a number of parameters, given in millions."""
    return f"{millions / 1000:g} billion" if millions >= 1000 else f"{millions} million"


def explain(reason: Reason, floor: DisclosurePolicy) -> str:
    """Return the reason why a word replaces a figure, as a sentence."""
    match reason:
        case State.NOT_RUN, _:
            return (
                "No site ran it. It does not count as zero and does not lower a model's win rate."
            )
        case State.LOW_CODED, _:
            return (
                f"The figure is low: it certainly covers fewer than {floor.min_events} successes."
            )
        case State.HIGH_CODED, _:
            return (
                f"The figure is high: it certainly covers fewer than {floor.min_events} failures."
            )
        case State.WITHHELD, _:
            return (
                f"Fewer than {floor.pooled_sites} sites that do not publish under their name contribute to it, "
                "one of them makes up most of it, or too few of them have changed since it was last shown."
            )
        case _, Why.SMALL_GROUP:
            return (
                f"It covers fewer than {floor.min_units} patients or documents, or the figure of such a small "
                "group could be found by subtraction."
            )
        case _, Why.ANOTHER_METRIC:
            return "A site releases only the first figure of each group of patients or documents."
        case _, Why.FEW_EVENTS:
            return (
                f"It may cover fewer than {floor.min_events} successes or failures, or another figure that "
                "is withheld could be computed from it."
            )
    return "The sites withheld it, for different reasons."


def _mark(row: Row) -> Iterable[Mark]:
    counts = row.counts
    if not row.model.is_language_model:
        yield Mark("not a language model", needs_care=True)
    if counts.sites:
        planned = counts.sites - counts.unplanned
        yield Mark(
            _some(planned, counts.sites, "planned", none="unplanned"),
            needs_care=bool(counts.unplanned),
        )
    if counts.weights_hashed:
        yield Mark(_some(counts.weights_hashed, counts.sites, "weights hashed"), needs_care=False)
    if counts.partial:
        yield Mark(_some(counts.partial, counts.sites, "partial"), needs_care=True)
    if counts.stale:
        yield Mark(_some(counts.stale, counts.sites, "stale"), needs_care=True)
    if row.coded:
        yield Mark(f"{row.coded} coded", needs_care=False)
    if counts.withdrawn:
        yield Mark(f"{counts.withdrawn} withdrawn", needs_care=True)
    if row.waiting:
        yield Mark(f"{row.waiting} waiting", needs_care=False)


def _some(number: int, whole: int, word: str, none: str = "") -> str:
    if number == whole:
        return word
    return none if number == 0 and none else f"{number} of {whole} {word}"


@dataclass(frozen=True, slots=True)
class CategoryView:
    """A category of the shown columns."""

    name: str
    slug: str
    columns: int


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One model under a reader's filters. Rates and averages are in thousandths; None if there is
    nothing to compare.
    """

    model: ModelView
    rank: str
    rank_range: str
    win_rate: int | None
    win_rate_low: int | None
    win_rate_high: int | None
    macro: int | None
    macro_low: int | None
    macro_high: int | None
    categories: tuple[tuple[str, str], ...]  # text and CSS class
    category_rates: Mapping[str, float | None]
    heat: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard under a reader's filters.

    Attributes:
        says: The filters in one sentence; empty if everything is shown.
        recomputed: Whether win rates and averages were recomputed over the shown columns.
    """

    selection: Selection
    columns: tuple[Column, ...]
    categories: tuple[CategoryView, ...]
    rows: tuple[LeaderboardRow, ...]
    notes: tuple[Note, ...]
    says: str
    summary: str
    recomputed: bool

    @property
    def sort(self) -> str:
        """The order, as named in the selection."""
        return self.selection.sort

    @property
    def sorted_by(self) -> str:
        """The order in words; empty for the default order."""
        if self.sort == "win-rate":
            return ""
        if self.sort in SORTS:
            return SORTS[self.sort]
        wanted = self.sort.removeprefix(CATEGORY_SORT)
        return next((category.name for category in self.categories if category.slug == wanted), "")


def view_leaderboard(card: CardView, selection: Selection) -> Leaderboard:
    """Return a leaderboard with a reader's filters and order applied.

    Raises:
        UnknownChoiceError: the selection names a category, subcategory or family that the scorecard
            does not have.
    """
    _check_names(card, selection)
    columns = _choose_columns(card, selection)
    categories = tuple(
        CategoryView(name, slug(name), len(list(members)))
        for name, members in groupby(columns, key=lambda column: column.benchmark.category)
    )
    marks = Footnotes(card)
    shading = card.shading(selection.sites)
    overall = _aggregate(card, columns, shading) if selection.filters_columns else None
    rows = []
    for model in card.models:
        if _is_chosen(model.row, selection):
            rows.append(_view_row(model, columns, categories, shading, overall, marks, selection))
    _sort(rows, selection)
    return Leaderboard(
        selection=selection,
        columns=columns,
        categories=categories,
        rows=tuple(rows),
        notes=marks.notes(),
        says=_say(card, selection),
        summary=_summarize(card, selection, len(rows), len(columns)),
        recomputed=selection.filters_columns,
    )


def _check_names(card: CardView, selection: Selection) -> None:
    for chosen, known in (
        (selection.category, card.category_names),
        (selection.subcategory, card.subcategory_names),
        (selection.family, card.family_names),
        (selection.sort.partition(CATEGORY_SORT)[2], card.category_names),
    ):
        if chosen and chosen not in known:
            raise UnknownChoiceError(chosen)


def _choose_columns(card: CardView, selection: Selection) -> tuple[Column, ...]:
    chosen: list[Column] = []
    for column in card.columns:
        entry = column.benchmark
        if selection.access and column.cell.access != selection.access:
            continue
        if selection.category and slug(entry.category) != selection.category:
            continue
        if selection.subcategory and slug(entry.subcategory) != selection.subcategory:
            continue
        is_first = not chosen or chosen[-1].benchmark.category != entry.category
        chosen.append(Column(entry, column.cell, column.path, is_first))
    return tuple(chosen)


def _is_chosen(row: Row, selection: Selection) -> bool:
    if selection.family and slug(row.model.family) != selection.family:
        return False
    if selection.size and size_class(row.model) != selection.size:
        return False
    return not (selection.planned and row.counts.unplanned)


@dataclass(frozen=True, slots=True)
class _Aggregates:
    """Win rates, averages and ranks over the chosen columns, by model digest."""

    win_rates: Mapping[str, int]
    averages: Mapping[str, int]
    ranks: Mapping[str, int]


def _aggregate(card: CardView, columns: Sequence[Column], shading: Shading) -> _Aggregates:
    keys = [column.cell.key for column in columns]
    win_rates: dict[str, int] = {}
    averages: dict[str, int] = {}
    for row in card.table.rows:
        rates = shading.rates[row.digest]
        mine = [rates[key] for key in keys if key in rates]
        if mine:
            win_rates[row.digest] = round(1000 * sum(mine) / len(mine))
        values = shading.values[row.digest]
        shown = [values[key] for key in keys if key in values]
        if shown:
            averages[row.digest] = (2 * sum(shown) + len(shown)) // (2 * len(shown))
    ranked = sorted(
        win_rates[row.digest]
        for row in card.table.rows
        if row.model.is_language_model and row.digest in win_rates
    )
    ranks = {}
    for row in card.table.rows:
        if row.model.is_language_model and row.digest in win_rates:
            ranks[row.digest] = 1 + len(ranked) - bisect_right(ranked, win_rates[row.digest])
    return _Aggregates(win_rates, averages, ranks)


def _view_row(
    model: ModelView,
    columns: Sequence[Column],
    categories: Sequence[CategoryView],
    shading: Shading,
    overall: _Aggregates | None,
    marks: "Footnotes",
    selection: Selection,
) -> LeaderboardRow:
    row = model.row
    rates = shading.rates[row.digest]
    by_category: dict[str, list[float]] = {category.slug: [] for category in categories}
    heat = []
    for column in columns:
        heat.append(
            _heat_cell(
                row.cells[column.cell.key],
                column,
                rates.get(column.cell.key),
                marks,
                selection.sites,
            )
        )
        if column.cell.key in rates:
            by_category[slug(column.benchmark.category)].append(rates[column.cell.key])
    means = {
        name: sum(found) / len(found) if found else None for name, found in by_category.items()
    }
    texts = tuple(
        ("–" if mean is None else short_share(round(1000 * mean)), shade(mean))
        for mean in means.values()
    )
    if overall is not None:
        rank = overall.ranks.get(row.digest)
        return LeaderboardRow(
            model=model,
            rank="–" if rank is None else str(rank),
            rank_range="",
            win_rate=overall.win_rates.get(row.digest),
            win_rate_low=None,
            win_rate_high=None,
            macro=overall.averages.get(row.digest),
            macro_low=None,
            macro_high=None,
            categories=texts,
            category_rates=means,
            heat=tuple(heat),
        )
    return LeaderboardRow(
        model=model,
        rank="–" if row.rank is None else str(row.rank),
        rank_range=rank_range(row),
        win_rate=row.win_rate,
        win_rate_low=row.ranges.win_rate_low,
        win_rate_high=row.ranges.win_rate_high,
        macro=row.macro_average,
        macro_low=row.ranges.macro_average_low,
        macro_high=row.ranges.macro_average_high,
        categories=texts,
        category_rates=means,
        heat=tuple(heat),
    )


def rank_range(row: Row) -> str:
    """Format the range of ranks over resamplings of the sites; empty if there is none."""
    low, high = row.ranges.rank_low, row.ranges.rank_high
    return "" if low is None or high is None else f"{low} to {high}"


def _heat_cell(
    cell: MergedCell, column: Column, win_rate: float | None, marks: "Footnotes", sites: int
) -> HeatCell:
    edge = " first" if column.is_first else ""
    if cell.value is not None and cell.sites >= sites:
        return f"heat{edge} {shade(win_rate)}".rstrip(), short_share(cell.value), "", ""
    if cell.value is not None:
        word, mark = TOO_FEW_SITES, marks.mark_few(sites)
    else:
        word = WORDS[cell.state]
        mark = "" if cell.state is State.NOT_RUN else marks.mark((cell.state, cell.why))
    return f"heat none{edge}", _SHORT[word], mark, word


class Footnotes:
    """The footnotes of one page, numbered in order of appearance."""

    def __init__(self, card: CardView) -> None:
        self._card = card
        self._notes: dict[Reason | str, Note] = {}

    def mark(self, reason: Reason) -> str:
        """Return the footnote mark of a reason."""
        if reason not in self._notes:
            self._add(reason, WORDS[reason[0]], self._card.explain(reason))
        return self._notes[reason].mark

    def mark_few(self, sites: int) -> str:
        """Return the footnote mark of figures that a filter by sites leaves out."""
        if TOO_FEW_SITES not in self._notes:
            self._add(
                TOO_FEW_SITES,
                TOO_FEW_SITES,
                f"Fewer than {sites} sites contribute to it, and your filter excludes such figures.",
            )
        return self._notes[TOO_FEW_SITES].mark

    def _add(self, reason: Reason | str, word: str, text: str) -> None:
        self._notes[reason] = Note(string.ascii_lowercase[len(self._notes)], word, text)

    def notes(self) -> tuple[Note, ...]:
        """Return the notes that the page refers to."""
        return tuple(self._notes.values())


def _sort(rows: list[LeaderboardRow], selection: Selection) -> None:
    """Sort rows in the chosen order. Rows without a figure come last; the default order breaks ties."""

    def figure(row: LeaderboardRow) -> float:
        match selection.sort:
            case "macro-average":
                value: float | None = row.macro
            case "sites":
                value = row.model.row.sites
            case "win-rate":
                value = row.win_rate
            case category:
                value = row.category_rates.get(category.removeprefix(CATEGORY_SORT))
        return -1.0 if value is None else float(value)

    if selection.sort == "name":
        rows.sort(key=lambda row: (row.model.row.model.display_name.casefold(), row.model.slug))
    else:
        rows.sort(key=lambda row: -figure(row))


def _say(card: CardView, selection: Selection) -> str:
    """Return a reader's filters as one sentence; empty if there are none."""
    parts = []
    if selection.access:
        parts.append(f"{selection.access} benchmarks")
    if selection.category:
        parts.append(f"the category {card.category_names[selection.category]}")
    if selection.subcategory:
        parts.append(f"the subcategory {card.subcategory_names[selection.subcategory]}")
    if selection.sites:
        parts.append(
            f"figures from at least {selection.sites} {'site' if selection.sites == 1 else 'sites'}"
        )
    if selection.family:
        parts.append(f"models of the family {card.family_names[selection.family]}")
    if selection.size:
        parts.append(
            f"models with {SIZES[selection.size]} parameters"
            if selection.size != "unknown"
            else "models of unknown size"
        )
    if selection.planned:
        parts.append("models whose results were all announced beforehand")
    return f"Shown: {'; '.join(parts)}." if parts else ""


def _summarize(card: CardView, selection: Selection, rows: int, columns: int) -> str:
    if not selection.filters_columns and not selection.filters_models:
        return "showing everything"
    return f"{rows} of {len(card.models)} models, {columns} of {len(card.columns)} benchmarks"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a filter. `href` is empty if it has no pre-built page."""

    label: str
    value: str
    is_chosen: bool
    page: str


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """A filter, or the order, with its values."""

    name: str
    label: str
    choices: tuple[Choice, ...]


def list_choices(card: CardView, chosen: Selection) -> list[ChoiceGroup]:
    """Return every filter with its values, and the orders. A filter without alternatives is left out."""
    sizes = {size_class(row.model) for row in card.table.rows}
    most_sites = max(
        (cell.sites for row in card.table.rows for cell in row.cells.values()), default=0
    )
    unplanned = {bool(row.counts.unplanned) for row in card.table.rows}
    groups: list[tuple[str, str, dict[str, str]]] = [
        ("access", "Access", {level: level for level in ACCESS_LEVELS if _has_access(card, level)}),
        ("category", "Category", card.category_names),
        ("subcategory", "Subcategory", card.subcategory_names),
        ("family", "Model family", card.family_names),
        ("size", "Parameters", {key: label for key, label in SIZES.items() if key in sizes}),
        ("planned", "Plan", {"yes": "announced beforehand only"} if len(unplanned) > 1 else {}),
        ("sites", "Sites", {str(n): f"at least {n}" for n in MINIMUM_SITES if n <= most_sites}),
    ]
    shown = [
        _list_group(name, label, values, chosen)
        for name, label, values in groups
        if _has_choice(name, values)
    ]
    orders = {**SORTS, **{CATEGORY_SORT + key: name for key, name in card.category_names.items()}}
    shown.append(_list_group("sort", "Sort by", orders, chosen))
    return shown


def _has_choice(name: str, values: Mapping[str, str]) -> bool:
    """Return whether a filter can change anything. For some filters a single value is enough."""
    return len(values) > (0 if name in {"planned", "sites"} else 1)


def _has_access(card: CardView, level: str) -> bool:
    return any(column.cell.access == level for column in card.columns)


def _list_group(name: str, label: str, values: Mapping[str, str], chosen: Selection) -> ChoiceGroup:
    now = chosen.chosen().get(name, "win-rate" if name == "sort" else "")
    choices = []
    if name != "sort":
        choices.append(Choice("all", "", now == "", "index.html"))
    for value, words in values.items():
        selection = select_one(name, value)
        choices.append(Choice(words, value, now == value, selection.page() or ""))
    return ChoiceGroup(name, label, tuple(choices))


def select_one(name: str, value: str) -> Selection:
    """Return a selection with a single filter or order."""
    if name == "planned":
        return Selection(planned=True)
    if name == "sites":
        return Selection(sites=int(value))
    return Selection().changed(**{name: value})


@dataclass(frozen=True, slots=True)
class Figure:
    """A merged cell in full, as shown on model and benchmark pages. Ends of bars are in thousandths of the range."""

    has_value: bool
    text: str
    interval: str
    units: str
    value: int
    low: int | None
    high: int | None
    note: str
    cell: MergedCell
    spread: str
    steps: str


def view_figure(cell: MergedCell, of: Cell, marks: "Footnotes | None" = None) -> Figure:
    """Format a merged cell in the metric's own range."""
    steps = say_steps(cell)
    if cell.value is None:
        reason = (cell.state, cell.why)
        note = marks.mark(reason) if marks is not None and cell.state is not State.NOT_RUN else ""
        return Figure(False, WORDS[cell.state], "", "", -1, None, None, note, cell, "", steps)
    interval = "no interval"
    if cell.low is not None and cell.high is not None:
        interval = f"{in_range(cell.low, of)} to {in_range(cell.high, of)}"
    return Figure(
        has_value=True,
        text=in_range(cell.value, of),
        interval=interval,
        units=roughly(cell.units),
        value=cell.value,
        low=cell.low,
        high=cell.high,
        note="",
        cell=cell,
        spread=say_spread(cell, of),
        steps=steps,
    )


def say_spread(cell: MergedCell, of: Cell) -> str:
    """Describe how much sites differ; empty for fewer than three sites."""
    parts = []
    if cell.tau is not None:
        # A deviation is a fraction of the range's width; unlike a value, it does not depend on the
        # range's lower end.
        parts.append(f"τ {_width(cell.tau, of)}")
    if cell.i2_percent is not None:
        parts.append(f"I² {cell.i2_percent} %")
    if cell.prediction_low is not None and cell.prediction_high is not None:
        parts.append(
            f"next site {in_range(cell.prediction_low, of)} to {in_range(cell.prediction_high, of)}"
        )
    if cell.leave_one_out_low is not None and cell.leave_one_out_high is not None:
        low, high = in_range(cell.leave_one_out_low, of), in_range(cell.leave_one_out_high, of)
        parts.append(f"without any one site {low} to {high}")
    return "; ".join(parts)


def _width(thousandths: int, of: Cell) -> str:
    scaled = thousandths * (of.high - of.low)
    return f"{scaled / 1000:.3f}" if of.high - of.low == 1 else f"{scaled / 1000:.2f}"


def say_steps(cell: MergedCell) -> str:
    """Describe since when the pooled part of a cell has been unchanged and how many sites have changes that wait; empty
    without a pooled part.
    """
    parts = []
    if cell.since:
        parts.append(f"pooled part unchanged since log entry {cell.since}")
    if cell.waiting:
        parts.append(
            f"{cell.waiting} {'site has' if cell.waiting == 1 else 'sites have'} unpublished changes"
        )
    return "; ".join(parts)


def footnotes(card: CardView) -> Footnotes:
    """Return an empty set of footnotes for a page."""
    return Footnotes(card)
