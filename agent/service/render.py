"""Views drawn as HTML and as JSON. HTML takes text of a case as `Redacted` or not at all."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.resources import files
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from agent.plots.charts import Chart
from agent.plots.dots import draw_dot_plot
from agent.plots.heatmap import heatmap
from agent.redaction import Redacted
from agent.redaction.replacements.tags import TAG
from agent.results.summarize import MetricSummary
from agent.service.boards import Board
from agent.service.heads import MetricHead
from agent.service.run_views import InstancesPage, RunPage
from agent.service.suite_views import ReleasePage, SitePage, SuitePage

_TEMPLATES = {
    SitePage: "site.html",
    SuitePage: "suite.html",
    ReleasePage: "release.html",
    RunPage: "run.html",
    InstancesPage: "instances.html",
}

# The same rules travel as a header from the server and inside each page, for pages opened as files.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'"
)


class Renderer:
    """Draws the views of one site.

    Args:
        site: its name.
        note: what was done to texts, for the foot of each page.
        reveals: whether original text is shown, which each page says at its head.
        slug: a suite's name -> its folder.
    """

    def __init__(self, site: str, note: str, *, reveals: bool, slug: Callable[[str], str]) -> None:
        self._environment = Environment(
            loader=PackageLoader("agent.service"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            by_category=_by_category,
            case=_case,
            drawn=_drawn,
            figure=_figure,
            juried=_juried,
            juries=_juries,
            moment=_moment,
            share=_share,
        )
        self._environment.globals.update(
            site=site,
            note=note,
            reveals=reveals,
            slug=slug,
            content_security_policy=CONTENT_SECURITY_POLICY,
        )

    def html(self, view: object, path: str) -> bytes:
        """Draw a view as the page at `path`, which decides where relative links lead."""
        template = self._environment.get_template(_TEMPLATES[type(view)])
        return template.render(view=view, root="../" * path.count("/"), twin=_twin(path)).encode()

    def json(self, view: object) -> bytes:
        """Draw a view as JSON."""
        return json.dumps(asdict(view), default=_plain, ensure_ascii=False, indent=1).encode()  # type: ignore[call-overload]

    def problem(self, title: str, message: str, advice: str, path: str) -> bytes:
        """Draw a page that tells what went wrong."""
        template = self._environment.get_template("problem.html")
        root = "../" * path.count("/")
        return template.render(
            title=title, message=message, advice=advice, root=root, twin=None
        ).encode()

    def stylesheet(self) -> bytes:
        """Return the style sheet of every page."""
        return (files("agent.service") / "templates" / "style.css").read_bytes()


def _twin(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".html") + ".json"


def _by_category(boards: Sequence[Board]) -> list[tuple[str, list[Board]]]:
    """Group boards as they stand; Jinja's own `groupby` would order categories anew."""
    return [
        (category, list(group)) for category, group in groupby(boards, lambda board: board.category)
    ]


def _juried(figures: Sequence[MetricHead]) -> list[tuple[str, MetricSummary]]:
    """Return the metrics of a run that a jury gave, each with its name."""
    return [(one.metric.display_name, one.metric) for one in figures if one.metric.jury is not None]


def _juries(boards: Sequence[Board]) -> list[tuple[str, MetricSummary]]:
    """Return the metrics that a jury gave, each with what it is of."""
    return [
        (f"{board.name}: {row.run.model}", row.judged)
        for board in boards
        for row in board.rows
        if row.judged is not None
    ]


def _case(text: object) -> Markup:
    """Draw text of a case, its tags marked. Anything that did not come through redaction stops the page."""
    if not isinstance(text, Redacted):
        raise TypeError("text of a case reached a page without redaction")
    return Markup(TAG.sub(r'<span class="tag">\g<0></span>', str(escape(text))))  # noqa: S704 - escaped right here


def _drawn(chart: Chart, kind: str) -> Markup:
    """Draw a leaderboard's dot plot ("dots") or heatmap; the drawing escapes what it writes."""
    drawing = draw_dot_plot(chart) if kind == "dots" else heatmap(chart)
    return Markup(drawing.markup(kind))  # noqa: S704


def _figure(value: float | None, metric: MetricSummary | None = None) -> str:
    """Write a score or mean: three decimals on a scale from 0 to 1, else two."""
    if value is None:
        return "none"
    return f"{value:.3f}" if metric is None or metric.high - metric.low <= 1 else f"{value:.2f}"


def _share(value: float, metric: MetricSummary) -> float:
    """Place a value on its metric's scale, from 0 to 100, for the drawn bar."""
    return min(100.0, max(0.0, 100 * (value - metric.low) / (metric.high - metric.low)))


def _moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M %Z")


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} has no place on a page")
