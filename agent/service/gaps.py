"""Say what a missing number is waiting for or why it cannot exist, in a few words for its place on the page."""

from agent.results.summarize import MetricSummary
from agent.service.words import find_word
from agent.statistics.ranking import ModelStanding
from agent.statistics.resampling import MIN_UNITS
from agent.vocabulary import Reason

_PENDING = frozenset(
    {Reason.NOT_ASKED, Reason.NOT_JUDGED, Reason.NOT_MEASURED, Reason.NOT_IMPORTED}
)


def explain_no_mean(metric: MetricSummary) -> str:
    """Return why a metric has no mean, from the most frequent reason for missing scores."""
    if not metric.unscored:
        return "not computed yet" if metric.whole_run else "no instances"
    reason = max(metric.unscored, key=lambda name: metric.unscored[name])
    word = find_word(reason, "reason")
    return word if reason in _PENDING else f"no score: {word}"


def explain_no_interval(metric: MetricSummary, *, imported: bool) -> str:
    """Return why a mean has no interval."""
    mean = metric.mean
    if mean.value is None:
        return explain_no_mean(metric)
    if imported and not mean.units:
        return "no units: imported"
    if mean.units < 2:
        return "no interval: one unit"
    if metric.whole_run:
        return "no interval: mean of several runs or too few units"
    return "no interval: all units score the same"


def explain_no_floor(metric: MetricSummary) -> str:
    """Return why a metric has no floor."""
    return explain_no_mean(metric) if metric.mean.value is None else "not yet: answers are pending"


def explain_no_rate(standing: ModelStanding | None) -> str:
    """Return why a model among several has no win rate, macro-average or rank."""
    if standing is None or standing.win_rate is None:
        return "no comparable benchmark"
    return f"not computed: fewer than {MIN_UNITS} units or imported"
