"""Render views as HTML and as JSON. HTML accepts patient text only as `Redacted`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agent.plots.charts import Chart
from agent.plots.costs import CostChart
from agent.plots.dots import draw_dot_plot
from agent.plots.heatmap import heatmap
from agent.plots.scatter import draw_scatter
from agent.redaction import Redacted
from agent.redaction.gateway.cases import ClearedCase
from agent.results.comparison_remarks import format_p
from agent.results.summarize import MetricSummary
from agent.results.usage import Cost, format_cost
from agent.service.agreement_views import AgreementPage, CalibrationPage
from agent.service.board_views import (
    BenchmarkPage,
    ChartsPage,
    CostsPage,
    JudgedLine,
    JuriesPage,
)
from agent.service.comparison_views import ComparisonPage, ComparisonsPage
from agent.service.explanations import explain, explain_clause
from agent.service.frame import Frame
from agent.service.gaps import explain_no_floor, explain_no_interval, explain_no_mean
from agent.service.heads import MetricHead
from agent.service.instance_views import BesidePage, InstancePage, InstancesPage
from agent.service.run_views import RunPage
from agent.service.suite_views import ReleasePage, SitePage, SuitePage
from agent.service.text_marks import cut_around_hit, render_text
from agent.service.words import find_word, list_words, name_figure, name_metric

_TEMPLATES = {
    SitePage: "site.html",
    SuitePage: "suite.html",
    ReleasePage: "release.html",
    BenchmarkPage: "benchmark.html",
    ChartsPage: "charts.html",
    CostsPage: "costs.html",
    JuriesPage: "juries.html",
    RunPage: "run.html",
    InstancesPage: "instances.html",
    InstancePage: "instance.html",
    BesidePage: "beside.html",
    AgreementPage: "agreement.html",
    CalibrationPage: "calibration.html",
    ComparisonsPage: "comparisons.html",
    ComparisonPage: "comparison.html",
}

_START = 90  # characters of an answer in a list of instances

# Sent as a header by the server, and included in each page for pages opened as files.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'"
)


class Renderer:
    """Renders the views of one site.

    Args:
        site: name of the site.
        note: how texts were redacted, for the footer of each page.
        reveals: whether original text is shown, which the top of each page then states.
        slug: function that returns a suite's folder from its name.
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
            answer=_render_answer,
            answer_start=_render_answer_start,
            case=_render_case_text,
            clause=explain_clause,
            coded=_mark_code,
            cost=_format_cost,
            drawn=_draw_chart,
            drawn_costs=_draw_costs,
            explained=explain,
            figure=_format_value,
            figure_name=name_figure,
            hit=_render_hit,
            juried=_select_judged_metrics,
            metric=name_metric,
            moment=_format_time,
            p_value=format_p,
            no_floor=explain_no_floor,
            no_interval=explain_no_interval,
            no_mean=explain_no_mean,
            quantity=_format_quantity,
            share=_compute_percentage,
            since_epoch=_format_seconds,
            word=find_word,
            words=list_words,
        )
        self._environment.globals.update(
            site=site,
            note=note,
            reveals=reveals,
            slug=slug,
            content_security_policy=CONTENT_SECURITY_POLICY,
        )

    def html(self, view: object, path: str, frame: Frame | None = None) -> bytes:
        """Render a view as the HTML page at `path`, on which its relative links depend."""
        template = self._environment.get_template(_TEMPLATES[type(view)])
        root = "../" * path.count("/")
        twin = _name_json_page(path)
        return template.render(view=view, root=root, twin=twin, frame=frame).encode()

    def page(self, template: str, frame: Frame, **fields: object) -> bytes:
        """Render a page of the service from a template."""
        return (
            self._environment.get_template(template)
            .render(root="/", twin=None, frame=frame, **fields)
            .encode()
        )

    def json(self, view: object) -> bytes:
        """Render a view as JSON."""
        fields = asdict(view)  # type: ignore[call-overload]
        return json.dumps(fields, default=_encode_value, ensure_ascii=False, indent=1).encode()

    def problem(
        self, title: str, message: str, advice: str, path: str, frame: Frame | None = None
    ) -> bytes:
        """Render a page that describes a problem."""
        template = self._environment.get_template("problem.html")
        root = "../" * path.count("/")
        return template.render(
            title=title, message=message, advice=advice, root=root, twin=None, frame=frame
        ).encode()

    def stylesheet(self) -> bytes:
        """Return the style sheet shared by all pages."""
        return (files("agent.service") / "templates" / "style.css").read_bytes()


def _name_json_page(path: str) -> str:
    """Return the file name of a page's JSON version."""
    return path.rpartition("/")[2].removesuffix(".html") + ".json"


def _select_judged_metrics(heads: Sequence[MetricHead]) -> list[JudgedLine]:
    """Return a run's metrics that a jury graded, for the table of juries."""
    return [
        JudgedLine(head.metric.display_name, "", head.metric)
        for head in heads
        if head.metric.jury is not None
    ]


def _render_case_text(text: object, words: str = "") -> Markup:
    """Render patient text, with its tags and the words that were searched for marked.

    Raises:
        TypeError: the text is not `Redacted`, so the page must not be shown.
    """
    return Markup(render_text(_require_redacted(text), words))  # noqa: S704 - escaped right there


def _require_redacted(text: object) -> Redacted:
    if not isinstance(text, Redacted):
        raise TypeError("text from an instance reached a page without redaction")
    return text


def _render_answer(case: ClearedCase, words: str = "") -> Markup:
    """Render an answer, and mark the place where its value was read, and the words that were searched for.

    Raises:
        TypeError: the answer is not `Redacted`, so the page must not be shown.
    """
    places = [(r.start, r.end) for r in case.readings if r.start is not None and r.end is not None]
    answer = _require_redacted(case.answer)
    return Markup(render_text(answer, words, places[:1]))  # noqa: S704 - escaped right there


def _render_answer_start(case: ClearedCase) -> Markup:
    """Render the first words of an answer on one line.

    Raises:
        TypeError: the answer is not `Redacted`, so the page must not be shown.
    """
    answer = _require_redacted(case.answer)
    words = " ".join(answer[:_START].split())
    if len(answer) > _START:
        words = words.rpartition(" ")[0] or words
        words += " …"
    return Markup(render_text(words))  # noqa: S704 - escaped right there


def _render_hit(text: object, words: str) -> Markup:
    """Render the passage around the first place where words stand in a text, on one line.

    Raises:
        TypeError: the text is not `Redacted`, so the page must not be shown.
    """
    passage = cut_around_hit(_require_redacted(text), words) or ""
    return Markup(render_text(passage, words))  # noqa: S704 - escaped right there


def _mark_code(text: str) -> Markup:
    """Render a text with its commands and settings as code."""
    return explain_clause(text, None)


def _draw_chart(chart: Chart, kind: str) -> Markup:
    """Draw a leaderboard's dot plot ("dots") or heatmap. The drawing escapes all its text."""
    drawing = draw_dot_plot(chart) if kind == "dots" else heatmap(chart)
    return Markup(drawing.markup(kind))  # noqa: S704


def _draw_costs(chart: CostChart) -> Markup:
    """Draw the models by cost and score. The drawing escapes all its text."""
    return Markup(draw_scatter(chart).markup("costs"))  # noqa: S704


def _format_cost(cost: Cost | None, times: int = 1) -> str:
    """Format the cost of `times` answers, or "unknown"."""
    if cost is None:
        return "unknown"
    tokens, hours = cost.tokens, cost.gpu_hours
    return format_cost(
        Cost(
            cost.currency,
            tokens=None if tokens is None else tokens * times,
            gpu_hours=None if hours is None else hours * times,
        )
    )


def _format_quantity(value: float | None, decimals: int = 0) -> str:
    """Format a number of tokens or seconds, or "unknown"."""
    return "unknown" if value is None else f"{value:,.{decimals}f}"


def _format_value(value: float | None, metric: MetricSummary | None = None) -> str:
    """Format a score or mean with three decimals on a scale up to 1 wide, and with two on wider scales."""
    if value is None:
        return "not known"
    return f"{value:.3f}" if metric is None or metric.high - metric.low <= 1 else f"{value:.2f}"


def _compute_percentage(value: float, metric: MetricSummary) -> float:
    """Rescale a value from its metric's scale to the range from 0 to 100, for the bar."""
    return min(100.0, max(0.0, 100 * (value - metric.low) / (metric.high - metric.low)))


def _format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M %Z")


def _format_seconds(seconds: float) -> str:
    """Format a time in seconds since 1970."""
    return _format_time(datetime.fromtimestamp(seconds, UTC))


def _encode_value(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a page cannot contain a {type(value).__name__}")
