"""The pages of a site by their paths, the same for the server and for files.

    index.html                         every suite
    suites/<suite>/index.html          its local leaderboard and runs
    releases/<release>/index.html      several suites and imported leaderboards together
    runs/<run>/index.html              settings, capabilities, metrics
    runs/<run>/instances-<n>.html      texts and scores, twenty instances a page
    style.css

Each .html has a twin that ends in .json. All links are relative, so the pages work from a folder as from a server.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agent.catalog.benchmark import Benchmark
from agent.catalog.deployments import Prices
from agent.exchange.releases import joined_release
from agent.exchange.shown_names import ShownNames
from agent.redaction.gateway.cases import Clearer
from agent.results.standings import add_standings
from agent.results.subgroups import summarise_subgroups
from agent.results.summarize import RunSummary, pool_runs, summarise_run, summarise_suite
from agent.service.render import Renderer
from agent.service.run_views import InstancesPage, RunPage, instances_page, page_count, run_page
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

_SUITE = re.compile(r"suites/([\w-]{1,100})/index")
_RELEASE = re.compile(r"releases/([\w-]{1,100})/index")
_RUN = re.compile(r"runs/([\w-]{1,100})/(?:index|instances-([1-9]\d{0,8}))")


@dataclass(frozen=True, slots=True)
class PageFile:
    """One page as bytes, with its media type."""

    content: bytes
    media_type: str


class SitePages:
    """Draws the pages of one site.

    Args:
        name: the site's name, for the head of each page.
        store: what is shown. It is only read.
        clearer: makes texts of cases fit to be seen.
        catalogue: the benchmarks here, by id; they describe those of an imported leaderboard.
        prices: by deployment, as they are now.
        release: show this local release with its suites and nothing else.
        names: what runs are called, where the pages leave as files; by default as they are.
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
    ) -> None:
        self._store = store
        self._clearer = clearer
        self._catalogue = catalogue or {}
        self._prices = prices or {}
        self._release = release
        self._names = names or ShownNames(store, reveal=True)
        self._renderer = Renderer(name, clearer.note, reveals=clearer.reveals, slug=suite_slug)

    def page(self, path: str) -> PageFile | None:
        """Draw the page at `path` (no leading slash), or return None when there is none.

        Raises:
            StoreError: the store cannot be read.
        """
        if path == "style.css":
            return self._draw_style()
        stem, _, form = path.rpartition(".")
        view = self._build_view(stem) if form in ("html", "json") else None
        return None if view is None else self._draw(view, path)

    def everything(self) -> Iterator[tuple[str, PageFile]]:
        """Draw every page there is now, with its twin, and the style sheet: path and content.

        Each page of instances is cleared once for its two forms.
        """
        yield "style.css", self._draw_style()
        for stem, view in self._iter_views():
            for path in (f"{stem}.html", f"{stem}.json"):
                yield path, self._draw(view, path)

    def count(self) -> int:
        """How many pages there are now, each with its twin counting once."""
        runs = self._list_runs()
        heads = 1 + len({run.suite for run in runs}) + len(self._list_releases())
        return heads + sum(1 + page_count(self._store, run) for run in runs)

    def problem(self, title: str, message: str, advice: str, path: str) -> bytes:
        """Draw a page that tells the reader what went wrong and what to do."""
        return self._renderer.problem(title, message, advice, path)

    def _draw_style(self) -> PageFile:
        return PageFile(self._renderer.stylesheet(), "text/css; charset=utf-8")

    def _draw(self, view: object, path: str) -> PageFile:
        if path.endswith(".json"):
            return PageFile(self._renderer.json(view), "application/json")
        return PageFile(self._renderer.html(view, path), "text/html; charset=utf-8")

    def _build_view(self, stem: str) -> object | None:
        """Return the view of one page by its path without the ending; None for a path that is no page."""
        if stem == "index":
            return self._build_site_page()
        if match := _RELEASE.fullmatch(stem):
            return self._build_release_at(match[1])
        if match := _SUITE.fullmatch(stem):
            return self._build_suite_at(match[1])
        if match := _RUN.fullmatch(stem):
            return self._build_run_at(match[1], match[2])
        return None

    def _build_release_at(self, slug: str) -> ReleasePage | None:
        for release in self._list_releases():
            if suite_slug(release.name) == slug:
                return self._build_release_page(release.name)
        return None

    def _build_suite_at(self, slug: str) -> SuitePage | None:
        for suite in self._list_suites():
            if suite_slug(suite) == slug:
                return self._build_suite_page(suite, summarise_suite(self._store, suite))
        return None

    def _build_run_at(self, run_id: str, instances_number: str | None) -> RunPage | InstancesPage | None:
        run = self._store.runs.find(run_id)
        # A page of one release shows the runs of its suites only.
        if run is None or run.suite not in self._list_suites():
            return None
        if instances_number is None:
            return self._build_run_page(summarise_run(self._store, run))
        return instances_page(self._store, run, int(instances_number), self._clearer, self._names)

    def _iter_views(self) -> Iterator[tuple[str, object]]:
        """Yield what `_build_view` returns for every page, by stem, with each run summarised once."""
        yield "index", self._build_site_page()
        for release in self._list_releases():
            yield f"releases/{suite_slug(release.name)}/index", self._build_release_page(release.name)
        for suite in self._list_suites():
            summaries = summarise_suite(self._store, suite)
            yield f"suites/{suite_slug(suite)}/index", self._build_suite_page(suite, summaries)
            for summary in summaries:
                run = summary.run
                yield f"runs/{run.run_id}/index", self._build_run_page(summary)
                for number in range(1, page_count(self._store, run) + 1):
                    page = instances_page(self._store, run, number, self._clearer, self._names)
                    if page is not None:  # the run may have shrunk since
                        yield f"runs/{run.run_id}/instances-{number}", page

    def _build_site_page(self) -> SitePage:
        return build_site_page(self._list_runs(), self._list_releases())

    def _list_releases(self) -> list[LocalRelease]:
        return [release for release in self._store.releases.read_all() if self._release in (None, release.name)]

    def _list_suites(self) -> list[str]:
        suites = self._store.runs.list_suites()
        if self._release is None:
            return suites
        parts = [part for release in self._list_releases() for part in release.parts]
        return [suite for suite in suites if suite in parts]

    def _list_runs(self) -> list[Run]:
        return [run for suite in self._list_suites() for run in self._store.runs.select(suite)]

    def _build_suite_page(self, suite: str, runs: list[RunSummary]) -> SuitePage:
        pooled = pool_runs(self._store, [summary.run for summary in runs], runs)
        pooled = add_standings(self._store, pooled)
        return build_suite_page(suite, list(map(self._names.summary, pooled)), list(map(self._names.summary, runs)))

    def _build_release_page(self, release: str) -> ReleasePage:
        leaderboards = {board.name: board.details["release"] for board in self._store.releases.read_leaderboards()}
        joined = joined_release(self._store, release, self._catalogue)
        joined = replace(joined, summaries=tuple(add_standings(self._store, joined.summaries)))
        return build_release_page(self._names.release(joined), leaderboards)

    def _build_run_page(self, summary: RunSummary) -> RunPage:
        run = summary.run
        usage, prices = self._store.answers.sum_usage(run.run_id), self._prices.get(run.deployment)
        subgroups = summarise_subgroups(self._store, summary, summary.shown)
        return run_page(self._names.summary(summary), usage, prices, subgroups)


def suite_slug(suite: str) -> str:
    """Return a suite's or release's name as it stands in a path: itself where plain, else made plain and told apart."""
    if re.fullmatch(r"[\w-]{1,80}", suite, re.ASCII):
        return suite
    plain = re.sub(r"[^\w-]+", "-", suite, flags=re.ASCII)[:60].strip("-")
    return f"{plain}-{hashlib.sha256(suite.encode()).hexdigest()[:10]}"
