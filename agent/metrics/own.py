"""A site's own metrics beside those of this program: how a benchmark's use of one is bound to its approved code."""

from dataclasses import replace
from functools import lru_cache

from agent.errors import BenchmarkError
from agent.io.wording import nearest
from agent.metrics.means import Means
from agent.metrics.spec import MetricSpec, MetricUse, Options
from agent.own_metrics.declaration import PREFIX, OwnMetric, is_own, name_in_scorecard
from agent.own_metrics.process import declare
from agent.own_metrics.source import (
    MetricCode,
    MetricSource,
    compute_digest,
    read_approved_code,
    read_code,
)
from agent.vocabulary import Instance, Reason, Unscored

DIGEST_OPTION = "code"
"""The option that holds the digest of an own metric's code: other code is another metric."""

_ALGORITHM = "sha256:"


def bind_own_metric(use: MetricUse, means: Means) -> MetricUse:
    """Return the use of an own metric with what its code declares, and with its digest as an option.

    Raises:
        BenchmarkError: the site has not enabled the metric, or its code has changed or cannot be used.
    """
    code = read_approved_code(find_source(use.name, means))
    declared = _declare_once(code)
    options = {**use.options, DIGEST_OPTION: f"{_ALGORITHM}{code.sha256}"}
    return replace(use, options=options, own=declared)


def find_source(name: str, means: Means) -> MetricSource:
    """Return the place of an own metric's code, by its name with the prefix.

    Raises:
        BenchmarkError: there is no site, or it has not enabled the metric; the message shows what to add to site.yaml.
    """
    bare_name = name.removeprefix(PREFIX)
    for source in means.own_metrics:
        if source.name == bare_name:
            return source
    if means.own_metrics_folder is None:
        raise BenchmarkError(
            f"{name} is a metric of a site's own, and there is no site here",
            "Give --site with the folder of the site that has enabled it: `intramural --site FOLDER ...`.",
        )
    guess = "" if has_file(name, means) else nearest(bare_name, _list_names(means))
    raise BenchmarkError(
        f"{name} is not enabled at this site{_describe_file(bare_name, means)}{guess}",
        "Nothing was asked. Review the metric's code, then list its name, file and sha256 under `plugins` in "
        "site.yaml; docs/own-benchmarks.md shows how.",
    )


def has_file(name: str, means: Means) -> bool:
    """Return whether the site's folder of own metrics has a file for a metric, by its name with the prefix."""
    folder = means.own_metrics_folder
    return folder is not None and (folder / f"{name.removeprefix(PREFIX)}.py").is_file()


def _list_names(means: Means) -> list[str]:
    """Return the names of the site's own metrics, enabled or not, without the prefix."""
    names = [source.name for source in means.own_metrics]
    if means.own_metrics_folder is not None:
        names += [file.stem for file in sorted(means.own_metrics_folder.glob("*.py"))]
    return names


def _describe_file(name: str, means: Means) -> str:
    """Return a clause with the digest of the file that has the metric's name, if the site has one."""
    file = means.own_metrics_folder and means.own_metrics_folder / f"{name}.py"
    if not file or not file.is_file():
        return ""
    shown = f"{file.parent.name}/{file.name}"
    code = read_code(MetricSource(name, "", file, shown))
    return f"; {shown} has sha256 {compute_digest(code.files)}"


@lru_cache(64)
def _declare_once(code: MetricCode) -> OwnMetric:
    return declare(code)


def read_digest(options: Options) -> str:
    """Return the digest of an own metric's code from its stored options, 64 hex digits."""
    return str(options.get(DIGEST_OPTION, "")).removeprefix(_ALGORITHM)


def name_cell_metric(name: str, options: Options) -> str:
    """Return a metric's id in scorecards, which for an own metric contains the digest of its code."""
    return name_in_scorecard(name, read_digest(options)) if is_own(name) else name


def make_spec(use: MetricUse) -> MetricSpec:
    """Return the description of an own metric.

    Raises:
        BenchmarkError: the use is not bound to code.
    """
    own = use.own
    if own is None:
        raise BenchmarkError(f"{use.name} is not enabled at this site")
    return MetricSpec(
        use.name,
        own.display_name,
        own.low,
        own.high,
        own.binary,
        "A metric of this site, written in Python.",
        fn=_report_not_measured,
        later=True,
    )


def _report_not_measured(
    answer: str,  # noqa: ARG001
    instance: Instance,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> float | Unscored:
    """Return unscored(not_measured), because the code of own metrics never runs in this process."""
    return Unscored(Reason.NOT_MEASURED)


__all__ = [
    "DIGEST_OPTION",
    "PREFIX",
    "OwnMetric",
    "bind_own_metric",
    "find_source",
    "is_own",
    "make_spec",
    "name_cell_metric",
    "read_digest",
]
