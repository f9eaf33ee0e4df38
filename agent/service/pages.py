"""The pages of a site by path, identical for the server and for files.

    index.html                         every suite
    suites/<suite>/index.html          its local leaderboard as one table, and its runs
    suites/<suite>/benchmarks/<b>.html  all results in one benchmark
    suites/<suite>/charts.html         drawings; likewise costs.html and juries.html
    suites/<suite>/agreement.html      agreement among judges; likewise calibration.html, with clinicians
    suites/<suite>/compare.html        pairs of models, each on compare/<a>/<b>.html
    releases/<release>/...             several suites and imported leaderboards together, with the same pages
    runs/<run>/index.html              settings, capabilities, metrics
    runs/<run>/instances-<n>.html      texts and scores, twenty instances per page
    runs/<run>/instances-<f>-<n>.html  those with an outcome: right, wrong, unscored, unscored-<reason>, lowest, highest
    runs/<run>/instances-from-<a>-to-<b>-<n>.html  those with scores in a range; either bound may be left out
    runs/<run>/instance-<n>.html       one instance
    runs/<run>/instances-beside-<other>-<n>.html  answers of two runs
    style.css

The last four are served only: as files they would hold every instance several times. Each .html page has a JSON
version with the same name ending in .json. All links are relative, so that the pages work both from a folder and from a
server.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.catalog.benchmark import Benchmark
from agent.catalog.deployments import Prices
from agent.exchange.releases import join_release, list_releases
from agent.exchange.shown_names import ShownNames
from agent.redaction.gateway.cases import Clearer
from agent.results.efficiency import measure_rows
from agent.results.standings import add_standings
from agent.results.subgroups import summarise_subgroups
from agent.results.summarize import RunSummary, pool_runs, summarise_run, summarise_suite
from agent.service.agreement_views import (
    AgreementPage,
    CalibrationPage,
    build_agreement_page,
    build_calibration_page,
)
from agent.service.board_views import (
    BoardPage,
    Collection,
    build_benchmark_page,
    build_charts_page,
    build_costs_page,
    build_juries_page,
)
from agent.service.comparison_views import (
    MAX_WRITTEN_MODELS,
    ComparisonPage,
    ComparisonsPage,
    build_comparison_page,
    build_comparisons_page,
    list_compared_names,
    list_pairs,
)
from agent.service.frame import Frame
from agent.service.instance_lists import STEM
from agent.service.instance_views import (
    ALL,
    BesidePage,
    InstancePage,
    InstancesPage,
    build_beside_page,
    build_instance_page,
    build_instances_page,
    count_instance_pages,
)
from agent.service.render import Renderer
from agent.service.run_views import RunPage, build_run_page
from agent.service.suite_views import (
    ReleasePage,
    SitePage,
    SuitePage,
    build_release_page,
    build_site_page,
    build_suite_page,
)
from agent.store import Run, Store
from agent.store.releases import LocalRelease

_COLLECTION = re.compile(
    r"(suite|release)s/([\w-]{1,100})/(index|[a-z]+|benchmarks/([\w-]{1,100}))"
)
_COMPARISON = re.compile(r"suites/([\w-]{1,100})/compare(?:/([\w-]{1,100})/([\w-]{1,100}))?")
_BESIDE = re.compile(r"runs/([\w-]{1,100})/instances-beside-([\w]{1,100})-([1-9]\d{0,8})")
_RUN = re.compile(rf"runs/([\w-]{{1,100}})/(?:index|(instance|{STEM})-([1-9]\d{{0,8}}))")


@dataclass(frozen=True, slots=True)
class PageFile:
    """One page as bytes, with its media type."""

    content: bytes
    media_type: str


_BOARD_PAGES: Mapping[str, Callable[[Collection], BoardPage]] = {
    "charts": build_charts_page,
    "costs": build_costs_page,
    "juries": build_juries_page,
}
"""The pages of a suite or release behind its first one, by their names in paths."""


_GRADER_PAGES: Mapping[str, Callable[[Store, str, ShownNames], AgreementPage | CalibrationPage]] = {
    "agreement": build_agreement_page,
    "calibration": build_calibration_page,
}
"""The pages about the graders of a suite, by their names in paths."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A suite or release with its results, summarised once for all of its pages.

    Attributes:
        collection: the results as they are shown.
        build_index: builds its first page.
        summaries: one summary per run of a suite.
    """

    collection: Collection
    build_index: Callable[[], SuitePage | ReleasePage]
    summaries: Sequence[RunSummary] = ()


class SitePages:
    """Renders the pages of one site.

    Args:
        name: the site's name, for the head of each page.
        store: the site's store, which is only read.
        clearer: redacts patients' texts for display.
        catalogue: benchmarks by id, which describe those of an imported leaderboard.
        prices: current prices by deployment.
        release: show only this local release and its suites.
        names: replacements for names of runs, for pages written as files; by default names are unchanged.
        renderer: renders the pages; given by a service that answers many requests, because a new one takes a while.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        clearer: Clearer,
        catalogue: Mapping[str, Benchmark] | None = None,
        prices: Mapping[str, Prices] | None = None,
        release: str | None = None,
        names: ShownNames | None = None,
        renderer: Renderer | None = None,
    ) -> None:
        self._store = store
        self._clearer = clearer
        self._catalogue = catalogue or {}
        self._prices = prices or {}
        self._release = release
        self._names = names or ShownNames(store, reveal=True)
        self._renderer = renderer or make_renderer(name, clearer)

    def draw_page(self, path: str, frame: Frame | None = None) -> PageFile | None:
        """Render the page at `path` (without a leading slash), or return None if there is no such page.

        Args:
            frame: what surrounds the page in the service.

        Raises:
            StoreError: the store cannot be read.
        """
        if path == "style.css":
            return self._draw_style()
        stem, _, form = path.rpartition(".")
        view = self._build_view(stem) if form in ("html", "json") else None
        return None if view is None else self._draw(view, path, frame)

    def draw_all(self) -> Iterator[tuple[str, PageFile]]:
        """Render all pages with their JSON versions, and the style sheet; yield path and content.

        Each page of instances is redacted once for both forms.
        """
        yield "style.css", self._draw_style()
        for stem, view in self._iterate_views():
            for path in (f"{stem}.html", f"{stem}.json"):
                yield path, self._draw(view, path)

    def count_pages(self) -> int:
        """Return the current number of pages. A page and its JSON version count once."""
        runs = self._list_runs()
        pages = 1  # the list of suites
        for suite in self._list_suites():
            benchmarks = {run.benchmark for run in runs if run.suite == suite}
            pages += 1 + len(_BOARD_PAGES) + len(_GRADER_PAGES) + len(benchmarks) + 1
            names = self._list_compared(suite)
            if len(names) <= MAX_WRITTEN_MODELS:
                pages += len(list_pairs(names))
        for release in self._list_releases():
            joined = join_release(self._store, release.name, self._catalogue)
            benchmarks = {summary.run.benchmark for summary in joined.summaries}
            pages += 1 + len(_BOARD_PAGES) + len(benchmarks)
        for run in runs:
            pages += 1 + count_instance_pages(self._store, run)
        return pages

    def draw_problem(self, title: str, message: str, advice: str, path: str) -> bytes:
        """Render a page that describes a problem and what to do about it."""
        return self._renderer.problem(title, message, advice, path)

    def _draw_style(self) -> PageFile:
        return PageFile(self._renderer.stylesheet(), "text/css; charset=utf-8")

    def _draw(self, view: object, path: str, frame: Frame | None = None) -> PageFile:
        if path.endswith(".json"):
            return PageFile(self._renderer.json(view), "application/json")
        return PageFile(self._renderer.html(view, path, frame), "text/html; charset=utf-8")

    def _build_view(self, stem: str) -> object | None:
        """Return the view of the page at this path (without the ending); None if there is no such page."""
        if stem == "index":
            return self._build_site_page()
        if match := _COMPARISON.fullmatch(stem):
            return self._build_comparison_at(*match.groups())
        if match := _COLLECTION.fullmatch(stem):
            return self._build_collection_at(match)
        if match := _BESIDE.fullmatch(stem):
            return self._build_beside_at(match[1], match[2], int(match[3]))
        if match := _RUN.fullmatch(stem):
            return self._build_run_at(match[1], match[2], match[3])
        return None

    def _build_collection_at(self, match: re.Match[str]) -> object | None:
        """Return the view of a page of a suite or release; None if there is no such page."""
        kind, slug, page, benchmark_slug = match.groups()
        names = {
            "suite": self._list_suites(),
            "release": [release.name for release in self._list_releases()],
        }
        name = _find_by_slug(names[kind], slug)
        if name is not None and kind == "suite" and page in _GRADER_PAGES:
            return _GRADER_PAGES[page](self._store, name, self._names)
        if name is None or (page not in ("index", *_BOARD_PAGES) and benchmark_slug is None):
            return None
        loaded = self._load_suite(name) if kind == "suite" else self._load_release(name)
        if page == "index":
            return loaded.build_index()
        if benchmark_slug is None:
            return _BOARD_PAGES[page](loaded.collection)
        benchmark = _find_by_slug(loaded.collection.list_benchmarks(), benchmark_slug)
        return None if benchmark is None else build_benchmark_page(loaded.collection, benchmark)

    def _build_comparison_at(
        self, suite_slug: str, a_slug: str | None, b_slug: str | None
    ) -> ComparisonsPage | ComparisonPage | None:
        suite = _find_by_slug(self._list_suites(), suite_slug)
        if suite is None:
            return None
        names = self._list_compared(suite)
        if a_slug is None or b_slug is None:
            return build_comparisons_page(suite, names, has_pages=True)
        a, b = _find_by_slug(names, a_slug), _find_by_slug(names, b_slug)
        if a is None or b is None:
            return None
        return build_comparison_page(self._store, suite, a, b, self._names, has_answers=True)

    def _build_beside_at(self, run_id: str, other_id: str, number: int) -> BesidePage | None:
        run, other = self._store.runs.find(run_id), self._store.runs.find(other_id)
        suites = self._list_suites()
        if run is None or other is None or not {run.suite, other.suite} <= set(suites):
            return None
        return build_beside_page(self._store, run, other, number, self._clearer, self._names)

    def _iterate_comparisons(self, suite: str) -> Iterator[tuple[str, object]]:
        """Yield the path and the view of the pages that compare the models of a suite, as files."""
        names = self._list_compared(suite)
        folder = f"suites/{suite_slug(suite)}/compare"
        has_pages = len(names) <= MAX_WRITTEN_MODELS
        yield folder, build_comparisons_page(suite, names, has_pages=has_pages)
        for a, b in list_pairs(names) if has_pages else ():
            view = build_comparison_page(self._store, suite, a, b, self._names, has_answers=False)
            if view is not None:
                yield f"{folder}/{suite_slug(a)}/{suite_slug(b)}", view

    def _list_compared(self, suite: str) -> list[str]:
        return list(list_compared_names(self._store.runs.select(suite), self._names))

    def _build_run_at(
        self, run_id: str, stem: str | None, number: str | None
    ) -> RunPage | InstancesPage | InstancePage | None:
        run = self._store.runs.find(run_id)
        # With a release selected, only the runs of its suites are shown.
        if run is None or run.suite not in self._list_suites():
            return None
        if stem is None or number is None:
            return self._build_run_page(summarise_run(self._store, run))
        if stem == "instance":
            return build_instance_page(self._store, run, int(number), self._clearer, self._names)
        return build_instances_page(
            self._store, run, stem, int(number), self._clearer, self._names, served=True
        )

    def _iterate_views(self) -> Iterator[tuple[str, object]]:
        """Yield the path (without the ending) and the view of every page, summarising each run once."""
        yield "index", self._build_site_page()
        for release in self._list_releases():
            yield from _iterate_collection(
                f"releases/{suite_slug(release.name)}", self._load_release(release.name)
            )
        for suite in self._list_suites():
            loaded = self._load_suite(suite)
            summaries = loaded.summaries
            yield from _iterate_collection(f"suites/{suite_slug(suite)}", loaded)
            yield from self._iterate_comparisons(suite)
            for page_name, build_page in _GRADER_PAGES.items():
                path = f"suites/{suite_slug(suite)}/{page_name}"
                yield path, build_page(self._store, suite, self._names)
            for summary in summaries:
                run = summary.run
                yield f"runs/{run.run_id}/index", self._build_run_page(summary)
                for number in range(1, count_instance_pages(self._store, run) + 1):
                    page = build_instances_page(
                        self._store, run, ALL, number, self._clearer, self._names, served=False
                    )
                    if page is not None:  # the run may have become smaller in the meantime
                        yield f"runs/{run.run_id}/instances-{number}", page

    def _build_site_page(self) -> SitePage:
        return build_site_page(self._list_runs(), self._list_releases())

    def _list_releases(self) -> list[LocalRelease]:
        return [
            release
            for release in list_releases(self._store)
            if self._release in (None, release.name)
        ]

    def _list_suites(self) -> list[str]:
        suites = self._store.runs.list_suites()
        if self._release is None:
            return suites
        parts = [part for release in self._list_releases() for part in release.parts]
        return [suite for suite in suites if suite in parts]

    def _list_runs(self) -> list[Run]:
        return [run for suite in self._list_suites() for run in self._store.runs.select(suite)]

    def _load_suite(self, suite: str) -> _Loaded:
        runs = summarise_suite(self._store, suite)
        pooled = pool_runs(self._store, [summary.run for summary in runs], runs)
        pooled = add_standings(self._store, pooled)
        collection = Collection(
            "suite",
            suite,
            summaries=tuple(self._names.show_summary(summary) for summary in pooled),
            efficiencies=tuple(measure_rows(self._store, pooled, self._prices)),
        )
        shown = [self._names.show_summary(summary) for summary in runs]
        return _Loaded(collection, lambda: build_suite_page(collection, shown), runs)

    def _load_release(self, release: str) -> _Loaded:
        leaderboards = {
            board.name: board.details["release"]
            for board in self._store.releases.read_leaderboards()
        }
        joined = join_release(self._store, release, self._catalogue)
        joined = replace(joined, summaries=tuple(add_standings(self._store, joined.summaries)))
        efficiencies = measure_rows(self._store, joined.summaries, self._prices)
        shown = self._names.show_release(joined)
        collection = Collection("release", release, shown.summaries, tuple(efficiencies))
        return _Loaded(collection, lambda: build_release_page(shown, leaderboards, collection))

    def _build_run_page(self, summary: RunSummary) -> RunPage:
        run = summary.run
        usage = self._store.answers.sum_usage(run.run_id)
        prices = self._prices.get(run.deployment)
        subgroups = summarise_subgroups(self._store, summary, summary.shown)
        return build_run_page(self._names.show_summary(summary), usage, prices, subgroups)


def make_renderer(name: str, clearer: Clearer) -> Renderer:
    """Return the renderer of a site's pages, for texts cleared in this way."""
    return Renderer(name, clearer.note, reveals=clearer.reveals, slug=suite_slug)


def _iterate_collection(folder: str, loaded: _Loaded) -> Iterator[tuple[str, object]]:
    """Yield the path (without the ending) and the view of every page of a suite or release."""
    collection = loaded.collection
    yield f"{folder}/index", loaded.build_index()
    for page, build_page in _BOARD_PAGES.items():
        yield f"{folder}/{page}", build_page(collection)
    for benchmark in collection.list_benchmarks():
        path = f"{folder}/benchmarks/{suite_slug(benchmark)}"
        yield path, build_benchmark_page(collection, benchmark)


def _find_by_slug(names: Iterable[str], slug: str) -> str | None:
    return next((name for name in names if suite_slug(name) == slug), None)


def suite_slug(suite: str) -> str:
    """Return a path segment for a name: the name itself if that is safe, else a safe form with a digest."""
    if re.fullmatch(r"[\w-]{1,80}", suite, re.ASCII):
        return suite
    plain = re.sub(r"[^\w-]+", "-", suite, flags=re.ASCII)[:60].strip("-")
    return f"{plain}-{hashlib.sha256(suite.encode()).hexdigest()[:10]}"
