"""The board's pages, live and published, as plain HTML without scripts or external resources. All text is escaped.

Both use the same templates. A published folder has one page for each single filter and each order;
the live board accepts every combination in the query string.
"""

import base64
import hashlib
import multiprocessing
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aggregator.board.compare import compare_models
from aggregator.board.feed import write_feed
from aggregator.board.figures import in_range, iso_date, rate
from aggregator.board.forest import Forest, draw_forest
from aggregator.board.forest_svg import write_forest
from aggregator.board.graders import view_graders
from aggregator.board.helm_release import HelmRelease
from aggregator.board.page_model import (
    CardView,
    Figure,
    Footnotes,
    ModelView,
    footnotes,
    list_choices,
    rank_range,
    say_parameters,
    select_one,
    short_share,
    short_word,
    view_figure,
    view_leaderboard,
)
from aggregator.board.releases import NO_RELEASES, BoardOrigin, Releases, compare_summaries
from aggregator.board.result_rows import write_site_result, write_submission
from aggregator.board.selection import Selection, UnknownChoiceError, parse_query
from aggregator.board.tables import csv_file, json_file
from aggregator.merge.board_model import Board, SiteResult, Table, Why
from protocol.registry import Registry
from protocol.scorecard import BenchmarkEntry, Cell

TEMPLATES = Path(__file__).parent / "templates"
JSON_FILE, CSV_FILE, FEED_FILE = "board.json", "board.csv", "feed.atom"
PAGES = {
    "index.html": "Leaderboard",
    "benchmarks.html": "Benchmarks",
    "sites.html": "Sites",
    "releases.html": "Releases",
    "methods.html": "Methods",
    "downloads.html": "Downloads",
}
"""The pages in the navigation of every page."""
_DEEPEST = 20  # maximum depth of a path for which the "not found" page links back to the root
FORESTS_DRAWN = 10  # maximum models per benchmark with a forest plot on a published page
FOREST_SITES = 40  # maximum sites in one plot of a published page
SITE_FIGURES = 60_000  # maximum figures of single sites on all published site pages together
WORTH_TWO_PROCESSES = 2_000  # results of named sites from which two processes render the pages
# Number of following models in the ranking with which a published folder compares each model.
COMPARED_BELOW = 1
WITHDRAWAL_WORDS = {
    "data_error": "an error in the data",
    "model_error": "an error with the model",
    "scoring_error": "an error in the scoring",
    "consent": "consent was missing or withdrawn",
    "duplicate": "the result was reported twice",
}


class PageNotFoundError(LookupError):
    """The board has no page at this path, or does not support the given filter."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The information that pages need in addition to the board.

    Attributes:
        registry: The newest registry version.
        head: The log that the board was computed from.
        releases: Earlier releases and, in a published folder, this one as the last.
        references: MedHELM's public results, shown next to the merged ones.
    """

    registry: Registry
    head: BoardOrigin
    releases: Releases = NO_RELEASES
    references: tuple[HelmRelease, ...] = ()


def render(
    board: Board, publication: Publication, board_json: bytes | None = None
) -> dict[str, bytes]:
    """Return all files of a published board by path, except the log and the auditors' files. Deterministic.

    Args:
        board: The board to show.
        publication: The further information that pages need.
        board_json: The content of board.json, if already computed.
    """
    pages = BoardPages(board, publication, live=False)
    if board_json is not None:
        pages.json = board_json
    if len(board.site_results) >= WORTH_TWO_PROCESSES and threading.active_count() == 1:
        files = render_in_processes(pages)
    else:
        files = {path: pages.page(path) for path in pages.paths()}
    references = {reference.file: reference.to_bytes() for reference in publication.references}
    return {**files, **publication.releases.files(), **references}


def render_in_processes(pages: "BoardPages", processes: int = 2) -> dict[str, bytes]:
    """Render every page in several processes that share this one's memory. Return the pages by path."""
    _shared.append(pages)
    paths = list(pages.paths())
    try:
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            return dict(zip(paths, pool.imap(_render_shared, paths, chunksize=4), strict=True))
    finally:
        _shared.clear()


_shared: "list[BoardPages]" = []


def _render_shared(path: str) -> bytes:
    return _shared[0].page(path)


@dataclass(frozen=True, slots=True)
class Inline:
    """Our style sheet, and its digest, the only source that the pages' Content-Security-Policy allows."""

    text: Markup
    csp: str


def _read_style() -> Inline:
    text = (TEMPLATES / "board.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Inline(Markup(text), f"'sha256-{digest}'")  # noqa: S704 - a file of ours, not user input


def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        rate=rate,
        iso_date=iso_date,
        in_range=in_range,
        write_forest=write_forest,
        write_site_result=write_site_result,
        write_submission=write_submission,
        short_share=short_share,
        short_word=short_word,
        parameters=say_parameters,
        reason_words=WITHDRAWAL_WORDS.__getitem__,
    )
    return environment


_ENVIRONMENT = _make_environment()
STYLE = _read_style()
CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src {STYLE.csp}; base-uri "
    f"'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of the live board. Published pages contain theirs, which does not allow forms."""


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of a leaderboard with other filters and orders, relative to its page."""

    card: CardView
    selection: Selection
    up: str
    live: bool

    def sort(self, order: str) -> str:
        """Return the address of another order, on the live board with the current filters."""
        if self.live:
            return self._address(self.selection.changed(sort=order))
        return self._address(select_one("sort", order))

    def _address(self, selection: Selection) -> str:
        page = selection.page()
        if self.live:
            query = selection.query()
            return f"{self.up}{self.card.path}{'?' if query else ''}{query}"
        return self.up + leaderboard_page(self.card, page or "index.html")


def leaderboard_page(card: CardView, page: str) -> str:
    """Return the path of a pre-built page of a leaderboard."""
    return card.path if page == "index.html" else card.folder + page


@dataclass(frozen=True, slots=True)
class Division:
    """A variable that divides a benchmark's patients or documents into groups, with the cells of the groups."""

    variable: str
    cells: tuple[Cell, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics in the cells."""
        return tuple(dict.fromkeys(cell.metric for cell in self.cells))

    def heading(self, cell: Cell) -> str:
        """Return the heading of a cell: its group, and the metric if there are several."""
        group = (cell.subgroup or "").partition(".")[2].replace("_", " ")
        return f"{group}, {cell.metric.replace('_', ' ')}" if len(self.metrics) > 1 else group


class BoardPages:
    """All pages of one board. Data that pages share is prepared once."""

    def __init__(self, board: Board, publication: Publication, *, live: bool) -> None:
        """Prepare the pages of a board. Live pages have forms and accept queries."""
        self.board = board
        self.publication = publication
        self.live = live
        registry = publication.registry
        self.floor = registry.policies[registry.policy_floor]
        by_card: dict[str, list[SiteResult]] = {}
        for result in board.site_results:
            by_card.setdefault(result.scorecard.digest, []).append(result)
        self.cards = [
            CardView(
                table, by_card.get(table.scorecard.digest, ()), self.floor, is_first=number == 0
            )
            for number, table in enumerate(sorted(board.tables, key=_leads))
        ]

    @cached_property
    def by_site(self) -> dict[str, list[SiteResult]]:
        """Named sites' results by site id, sorted by the site's name."""
        by_site: dict[str, list[SiteResult]] = {}
        for result in sorted(
            self.board.site_results, key=lambda result: (result.site_name.casefold(), result.site)
        ):
            by_site.setdefault(result.site, []).append(result)
        return by_site

    def paths(self) -> Iterator[str]:
        """Yield the path of every file that this class renders for a published folder."""
        yield from PAGES
        yield from (JSON_FILE, CSV_FILE, FEED_FILE)
        for card in self.cards:
            if card.path != "index.html":
                yield card.path
            yield from (leaderboard_page(card, page) for page in _pages_made_in_advance(card))
            yield from (column.path for column in card.columns)
            for model in card.models:
                yield model.path
                yield model.provenance
            yield from (_compare_path(card, *pair) for pair in _pairs(card))
            if len(card.models) > 1:
                yield f"{card.folder}compare.html"
        yield from (f"sites/{site}.html" for site in self.by_site)
        summaries = self.publication.releases.summaries
        yield from (f"releases/{number}.html" for number in summaries if number - 1 in summaries)
        yield from (reference.page for reference in self.publication.references)

    @cached_property
    def _routes(self) -> dict[str, tuple[str, CardView | None, str]]:
        """The kind, scorecard and subject of every page, by path."""
        routes: dict[str, tuple[str, CardView | None, str]] = {}
        for name in PAGES:
            routes[name] = (name.removesuffix(".html"), None, "")
        for name in (JSON_FILE, CSV_FILE, FEED_FILE):
            routes[name] = (name, None, "")
        for card in self.cards:
            routes[card.path] = ("leaderboard", card, "")
            for page in _pages_made_in_advance(card):
                routes[leaderboard_page(card, page)] = ("leaderboard", card, page)
            for column in card.columns:
                routes[column.path] = ("benchmark", card, column.benchmark.id)
            for model in card.models:
                routes[model.path] = ("model", card, model.slug)
                routes[model.provenance] = ("provenance", card, model.slug)
            for first, second in _pairs(card):
                routes[_compare_path(card, first, second)] = (
                    "compare",
                    card,
                    f"{first.slug} {second.slug}",
                )
            routes[f"{card.folder}compare.html"] = ("compare", card, "")
        for site in self.by_site:
            routes[f"sites/{site}.html"] = ("site", None, site)
        summaries = self.publication.releases.summaries
        for number in summaries:
            if number - 1 in summaries:
                routes[f"releases/{number}.html"] = ("release", None, str(number))
        for reference in self.publication.references:
            routes[reference.page] = ("reference", None, reference.name)
        return routes

    def page(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """Return a page or file.

        Args:
            path: The path relative to the board's root.
            query: The query parameters, for the live board.

        Raises:
            PageNotFoundError: there is no such page, or the query names something that the board
                does not have.
        """
        if path not in self._routes:
            raise PageNotFoundError(path)
        kind, card, subject = self._routes[path]
        words = dict(query or {})
        match kind:
            case "board.json":
                return self.json
            case "board.csv":
                return csv_file(self.board)
            case "feed.atom":
                return write_feed(self.publication.registry.deployment, self.publication.releases)
        try:
            return self._render(kind, card, subject, path, words).encode("utf-8")
        except UnknownChoiceError:
            raise PageNotFoundError(path) from None

    def not_found(self, path: str) -> bytes:
        """Return the "not found" page for `path`, with links that work from there."""
        depth = min(path.count("/"), _DEEPEST)
        return self._write("not_found.html", "/".join(["x"] * (depth + 1)), "Not found", "").encode(
            "utf-8"
        )

    @cached_property
    def json(self) -> bytes:
        """board.json."""
        return json_file(self.board, self.publication.registry, self.publication.head)

    def _render(
        self, kind: str, card: CardView | None, subject: str, path: str, words: dict[str, str]
    ) -> str:
        if card is not None:
            match kind:
                case "leaderboard":
                    return self._leaderboard(card, subject, path, words)
                case "benchmark":
                    return self._benchmark(card, subject, path, words)
                case "model":
                    return self._model(card, card.model_by_slug[subject], path)
                case "provenance":
                    return self._provenance(card, card.model_by_slug[subject], path)
                case "compare":
                    return self._compare(card, subject, path, words)
        match kind:
            case "index":  # a board without tables
                return self._write("empty.html", path, "Leaderboard", "index.html")
            case "benchmarks":
                return self._write("benchmarks.html", path, "Benchmarks", path, cards=self.cards)
            case "sites":
                return self._write(
                    "sites.html", path, "Sites", path, by_site=self.by_site, board=self.board
                )
            case "site":
                return self._site(subject, path)
            case "releases":
                newest_first = self.publication.releases.entries[::-1]
                summaries = self.publication.releases.summaries
                return self._write(
                    "releases.html",
                    path,
                    "Releases",
                    path,
                    entries=newest_first,
                    summaries=summaries,
                )
            case "release":
                return self._release(int(subject), path)
            case "reference":
                return self._reference(subject, path)
            case "methods":
                return self._write(
                    "methods.html", path, "Methods", path, floor=self.floor, board=self.board
                )
        return self._write(
            "downloads.html",
            path,
            "Downloads",
            path,
            has_releases=bool(self.publication.releases.entries),
        )

    def _write(
        self,
        template: str,
        path: str,
        title: str,
        section: str,
        trail: Sequence[tuple[str, str]] = (),
        **values: object,
    ) -> str:
        return _ENVIRONMENT.get_template(template).render(
            style=STYLE,
            live=self.live,
            up="../" * path.count("/"),
            path=path,
            title=title,
            section=section,
            pages=PAGES,
            trail=trail,
            registry=self.publication.registry,
            head=self.publication.head,
            references=self.publication.references,
            **values,
        )

    def _leaderboard(self, card: CardView, page: str, path: str, words: dict[str, str]) -> str:
        selection = parse_query(words) if words else _selection_of(page)
        view = view_leaderboard(card, selection)
        up = "../" * path.count("/")
        groups = []
        for group in list_choices(card, selection):
            choices = [
                {
                    "label": choice.label,
                    "value": choice.value,
                    "is_chosen": choice.is_chosen,
                    "href": up + leaderboard_page(card, choice.page),
                }
                for choice in group.choices
            ]
            groups.append({"name": group.name, "label": group.label, "choices": choices})
        return self._write(
            "leaderboard.html",
            path,
            "Leaderboard",
            "index.html",
            card=card,
            view=view,
            choices=groups,
            links=Links(card, selection, up, self.live),
            totals={"sites": card.table.sites, "pooled": self.board.pooled_sites},
            other_cards=[other for other in self.cards if other is not card],
        )

    def _trail(self, card: CardView, *further: tuple[str, str]) -> list[tuple[str, str]]:
        return [(f"{card.title} {card.table.scorecard.version}", card.path), *further]

    def _benchmark(self, card: CardView, identifier: str, path: str, words: dict[str, str]) -> str:
        column = next(column for column in card.columns if column.benchmark.id == identifier)
        chosen = words.pop("model", "")
        if words or (chosen and chosen not in card.model_by_slug):
            raise UnknownChoiceError(identifier)
        key = column.cell.key
        models = sorted(card.models, key=lambda model: _descending(model.row.cells[key].value))
        marks = footnotes(card)
        figures = [
            (model, view_figure(model.row.cells[key], column.cell, marks)) for model in models
        ]
        cells = [
            cell
            for cell in card.table.scorecard.cells
            if cell.benchmark == identifier and cell.subgroup is None
        ]
        return self._write(
            "benchmark.html",
            path,
            column.benchmark.display_name,
            "benchmarks.html",
            self._trail(card),
            card=card,
            column=column,
            graders=view_graders(
                next(filter(None, map(card.table.scorecard.jury_of, cells)), None),
                [model.row.model for model, figure in figures if figure.has_value],
            ),
            figures=figures,
            forests=list(self._forests(card, column.cell, models, chosen)),
            forests_drawn=FORESTS_DRAWN,
            others=self._metric_table(models, cells[1:], marks),
            other_cells=cells[1:],
            divisions=[
                (division, self._metric_table(models, division.cells, marks))
                for division in _divisions(card, column.benchmark)
            ],
            public=self._public_figures(card, column.benchmark),
            notes=marks.notes(),
        )

    def _metric_table(
        self, models: Sequence[ModelView], cells: Sequence[Cell], marks: Footnotes
    ) -> list[tuple[ModelView, list[Figure]]]:
        return [
            (model, [view_figure(model.row.cells[cell.key], cell, marks) for cell in cells])
            for model in models
        ]

    def _forests(
        self, card: CardView, cell: Cell, models: Sequence[ModelView], chosen: str
    ) -> Iterator[tuple[ModelView, Forest]]:
        """Yield the forest plots of a benchmark: of the best models, or of one model with all its sites."""
        drawn = 0
        for model in [card.model_by_slug[chosen]] if chosen else models:
            if drawn == FORESTS_DRAWN:
                return
            results = card.results_of.get(model.row.digest, [])
            limit = len(results) if chosen else FOREST_SITES
            name = model.row.model.display_name
            forest = draw_forest(name, results, cell, model.row.cells[cell.key], limit=limit)
            if forest is not None:
                drawn += 1
                yield model, forest

    def _public_figures(
        self, card: CardView, benchmark: BenchmarkEntry
    ) -> dict[str, list[tuple[str, str]]]:
        """Return MedHELM's public figures of a benchmark as (release, figure) pairs by model digest."""
        shown: dict[str, list[tuple[str, str]]] = {}
        for reference in self.publication.references:
            for model in card.models:
                value = reference.find(benchmark.id, model.row.model)
                if value is not None:
                    shown.setdefault(model.row.digest, []).append((reference.name, value))
        return shown

    def _model(self, card: CardView, model: ModelView, path: str) -> str:
        marks = footnotes(card)
        groups = []
        for category, benchmarks in card.table.categories.items():
            lines = []
            for benchmark in benchmarks:
                column = next(
                    column for column in card.columns if column.benchmark.id == benchmark.id
                )
                figure = view_figure(model.row.cells[column.cell.key], column.cell, marks)
                public = [
                    (reference.name, value)
                    for reference in self.publication.references
                    if (value := reference.find(benchmark.id, model.row.model)) is not None
                ]
                lines.append((column, figure, public))
            groups.append((category, lines))
        return self._write(
            "model.html",
            path,
            model.row.model.display_name,
            "index.html",
            self._trail(card),
            card=card,
            model=model,
            rank_range=rank_range(model.row),
            groups=groups,
            has_public=any(public for _, lines in groups for _, _, public in lines),
            compared=[
                (_compare_path(card, *pair), pair[1] if pair[0] is model else pair[0])
                for pair in _pairs(card)
                if model in pair
            ],
            named=len(card.results_of.get(model.row.digest, [])),
            notes=marks.notes(),
        )

    def _provenance(self, card: CardView, model: ModelView, path: str) -> str:
        trail = self._trail(card, (model.row.model.display_name, model.path))
        return self._write(
            "provenance.html",
            path,
            f"Provenance of {model.row.model.display_name}",
            "index.html",
            trail,
            card=card,
            model=model,
            results=card.results_of.get(model.row.digest, []),
            audited=sum(cell.rests_on_audit for cell in model.row.cells.values()),
        )

    def _compare(self, card: CardView, subject: str, path: str, words: dict[str, str]) -> str:
        slugs = subject.split()
        if not slugs and words:
            slugs = [words.pop("a", ""), words.pop("b", "")]
        elif not slugs:  # no models chosen
            slugs = [model.slug for model in card.models[:2]]
        if words or len(slugs) < 2 or not all(name in card.model_by_slug for name in slugs):
            raise UnknownChoiceError("compare")
        first, second = (card.model_by_slug[name] for name in slugs)
        return self._write(
            "compare.html",
            path,
            f"{first.row.model.display_name} and {second.row.model.display_name}",
            "index.html",
            self._trail(card),
            card=card,
            first=first,
            second=second,
            comparison=compare_models(card, first, second),
        )

    @cached_property
    def _site_figures(self) -> int:
        """The number of main figures of single sites."""
        return sum(len(result.scorecard.benchmarks) for result in self.board.site_results)

    def _site(self, site: str, path: str) -> str:
        results = self.by_site[site]
        tables = []
        for card in self.cards:
            mine = [
                result
                for result in results
                if result.scorecard.digest == card.table.scorecard.digest
            ]
            if mine:
                tables.append((card, mine))
        return self._write(
            "site.html",
            path,
            results[0].site_name,
            "sites.html",
            [("Sites", "sites.html")],
            site=site,
            name=results[0].site_name,
            tables=tables,
            shows_figures=self.live or self._site_figures <= SITE_FIGURES,
        )

    def _release(self, number: int, path: str) -> str:
        releases = self.publication.releases
        changes = compare_summaries(releases.summaries[number - 1], releases.summaries[number])
        return self._write(
            "release.html",
            path,
            f"Release {number}",
            "releases.html",
            [("Releases", "releases.html")],
            release=releases.entries[number - 1],
            before=releases.entries[number - 2],
            changes=[change for change in changes if change.is_changed],
            unchanged=sum(not change.is_changed for change in changes),
        )

    def _reference(self, name: str, path: str) -> str:
        reference = next(
            reference for reference in self.publication.references if reference.name == name
        )
        tables = [(card, reference.beside(card)) for card in self.cards]
        return self._write(
            "reference.html", path, f"MedHELM {name}", "", reference=reference, tables=tables
        )


def _leads(table: Table) -> tuple[bool, int]:
    """Return a sort key that puts the table of the front page first: open tables before retired, most models first."""
    return table.retired, -len(table.rows)


def _descending(value: int | None) -> int:
    return 1 if value is None else -value


def _pages_made_in_advance(card: CardView) -> list[str]:
    """Return the pages of single filters and orders. Only these are pre-built, which limits the size of the folder."""
    pages: dict[str, None] = {}
    for group in list_choices(card, Selection()):
        for choice in group.choices:
            if choice.page not in {"", "index.html"}:
                pages[choice.page] = None
    return list(pages)


def _selection_of(page: str) -> Selection:
    if not page:
        return Selection()
    name, _, value = page.removeprefix("by/").removesuffix(".html").partition("-")
    return select_one(name, value)


def _pairs(card: CardView) -> list[tuple[ModelView, ModelView]]:
    """Return the pairs that a published folder compares: each model with the first and with the next in the ranking."""
    models = card.models
    pairs = [(models[0], model) for model in models[1:]]
    pairs += [(models[i], models[i + 1]) for i in range(1, len(models) - COMPARED_BELOW)]
    return pairs


def _compare_path(card: CardView, first: ModelView, second: ModelView) -> str:
    return f"{card.folder}compare/{first.slug}..{second.slug}.html"


def _divisions(card: CardView, benchmark: BenchmarkEntry) -> list[Division]:
    """Return the subgroup tables of a benchmark, one per variable, without metrics that sites never release."""
    by_variable: dict[str, list[Cell]] = {}
    for cell in card.table.scorecard.cells:
        if cell.benchmark == benchmark.id and cell.subgroup is not None:
            variable = cell.subgroup.partition(".")[0]
            if any(row.cells[cell.key].why is not Why.ANOTHER_METRIC for row in card.table.rows):
                by_variable.setdefault(variable, []).append(cell)
    return [Division(variable, tuple(cells)) for variable, cells in by_variable.items()]
