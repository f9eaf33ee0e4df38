"""The pages of a site by their paths, the same for the server and for files.

    index.html                         every suite
    suites/<suite>/index.html          its local leaderboard and runs
    runs/<run>/index.html              settings, capabilities, metrics, unscored
    runs/<run>/instances-<n>.html      texts and scores, twenty instances a page
    style.css

Each .html has a twin that ends in .json. All links are relative, so the pages work from a folder as from a server.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.service.clearing import Clearer
from agent.service.queries import RunDetail, SiteReader
from agent.service.render import Renderer
from agent.service.views import RunPage, instances_page, page_count, site_page, suite_page

_SUITE = re.compile(r"suites/([\w-]{1,100})/index")
_RUN = re.compile(r"runs/([\w-]{1,100})/(?:index|instances-([1-9]\d{0,8}))")


@dataclass(frozen=True, slots=True)
class PageFile:
    """One page as bytes, with its media type."""

    content: bytes
    media_type: str


class SitePages:
    """Draws the pages of one site."""

    def __init__(self, reader: SiteReader, clearer: Clearer) -> None:
        self._reader = reader
        self._clearer = clearer
        self._renderer = Renderer(reader.name, clearer.note, reveals=clearer.reveals, slug=suite_slug)

    def page(self, path: str) -> PageFile | None:
        """Draw the page at `path` (no leading slash), or return None when there is none.

        Raises:
            StoreError: the store cannot be read.
        """
        if path == "style.css":
            return PageFile(self._renderer.stylesheet(), "text/css; charset=utf-8")
        stem, _, form = path.rpartition(".")
        if form not in ("html", "json"):
            return None
        view = self._view(stem)
        if view is None:
            return None
        return self._drawn(view, path)

    def everything(self) -> Iterator[tuple[str, PageFile]]:
        """Draw every page there is now, with its twin, and the style sheet: path and content."""
        yield "style.css", PageFile(self._renderer.stylesheet(), "text/css; charset=utf-8")
        for stem in self._stems():
            view = self._view(stem)
            if view is not None:
                for path in (f"{stem}.html", f"{stem}.json"):
                    yield path, self._drawn(view, path)

    def problem(self, title: str, message: str, advice: str, path: str) -> bytes:
        """Draw a page that tells the reader what went wrong and what to do."""
        return self._renderer.problem(title, message, advice, path)

    def _drawn(self, view: object, path: str) -> PageFile:
        if path.endswith(".json"):
            return PageFile(self._renderer.json(view), "application/json")
        return PageFile(self._renderer.html(view, path), "text/html; charset=utf-8")

    def _stems(self) -> Iterator[str]:
        yield "index"
        for suite in self._reader.suites():
            yield f"suites/{suite_slug(suite.name)}/index"
            for run in self._reader.runs(suite.name):
                yield f"runs/{run.id}/index"
                for number in range(1, page_count(run) + 1):
                    yield f"runs/{run.id}/instances-{number}"

    def _view(self, stem: str) -> object | None:
        if stem == "index":
            return site_page(self._reader)
        if match := _SUITE.fullmatch(stem):
            names = (suite.name for suite in self._reader.suites() if suite_slug(suite.name) == match[1])
            name = next(names, None)
            return None if name is None else suite_page(self._reader, name)
        if match := _RUN.fullmatch(stem):
            detail: RunDetail | None = self._reader.run(match[1])
            if detail is None or match[2] is None:
                return detail and RunPage(detail)
            number = int(match[2])
            if number <= page_count(detail.summary):
                return instances_page(self._reader, detail.summary, number, self._clearer)
        return None


def suite_slug(suite: str) -> str:
    """Return a suite's name as it stands in a path: itself where it is plain, else made plain and told apart."""
    if re.fullmatch(r"[\w-]{1,80}", suite, re.ASCII):
        return suite
    plain = re.sub(r"[^\w-]+", "-", suite, flags=re.ASCII)[:60].strip("-")
    return f"{plain}-{hashlib.sha256(suite.encode()).hexdigest()[:10]}"
