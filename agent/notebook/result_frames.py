"""Leaderboards and comparisons as tables, for notebooks and for the files of `summarize` and `compare`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agent.exchange.shown_names import ShownNames
from agent.notebook.columns import COMPARISON, SUMMARY
from agent.notebook.frames import build_frame
from agent.notebook.result_rows import flatten_comparison, flatten_leaderboard
from agent.notebook.shown_results import NameMap, map_names, show_pairing
from agent.results.compare_models import ModelComparison, compare_models
from agent.results.comparison_rows import build_comparison_rows
from agent.results.efficiency import Efficiency
from agent.results.paired_models import Pairing
from agent.results.summarize import RunSummary
from agent.results.summary_rows import build_summary_rows
from agent.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame


def build_summary_frame(
    store: Store,
    summaries: Sequence[RunSummary],
    efficiencies: Sequence[Efficiency | None],
    *,
    all_metrics: bool,
) -> "DataFrame":
    """Return a leaderboard as a table, with the names that exports show.

    Args:
        store: the store.
        summaries: the rows, with their standings.
        efficiencies: what the answers of each row took.
        all_metrics: return a row for each metric, not only for each benchmark's main one.
    """
    names = ShownNames(store)
    shown = [names.show_summary(summary) for summary in summaries]
    rows = build_summary_rows(shown, all_metrics, efficiencies)
    return build_frame(SUMMARY, flatten_leaderboard(rows))


def map_suite_names(store: Store, suites: Sequence[str]) -> NameMap:
    """Return the shown names of everything that the runs of these suites name."""
    runs = [run for suite in suites for run in store.runs.select(suite)]
    return map_names(runs, ShownNames(store))


def build_comparison_frame(comparison: ModelComparison, left_out: Mapping[str, str]) -> "DataFrame":
    """Return a comparison as a table. The benchmarks left out of it are in `attrs["left_out"]`, with the reasons."""
    frame = build_frame(COMPARISON, flatten_comparison(build_comparison_rows(comparison)))
    frame.attrs["left_out"] = dict(left_out)
    return frame


def frame_pairing(store: Store, suites: Sequence[str], pairing: Pairing) -> "DataFrame":
    """Compare two paired models, and return a table with the names that exports show."""
    shown = show_pairing(pairing, map_suite_names(store, suites))
    return build_comparison_frame(compare_models(shown), shown.left_out)
