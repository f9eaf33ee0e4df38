"""Arrange a leaderboard as one table: benchmarks by models, with the models' standings in front."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from agent.results.summarize import MetricSummary, Note
from agent.service.boards import Board, BoardRow, LeaderboardView, WinRate
from agent.service.gaps import explain_no_mean, explain_no_rate
from agent.service.short_notes import explain_notes, find_shared_notes
from agent.statistics.ranking import ModelStanding

SHADES = 10
"""The number of shades of a cell above the lightest."""


@dataclass(frozen=True, slots=True)
class MatrixModel:
    """One column: a model and its standing among the others.

    Attributes:
        model: the model's name.
        language_model: False for a baseline.
        imported: whether all its results were made elsewhere.
        rate: mean win rate, from 0 to 1; None if there is none.
        standing: intervals, ranks and macro-average; None if they were not computed.
        missing: why numbers in front are missing; empty if none is.
        notes: caveats that all results of the model share, unless all results of the table do.
    """

    model: str
    language_model: bool
    imported: bool
    rate: float | None
    standing: ModelStanding | None
    missing: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class MatrixResult:
    """One result of a model in a benchmark.

    Attributes:
        run_id: the run; empty if the result is of several runs or of an imported leaderboard.
        apart: labels that distinguish it from other results in its cell.
        metric: the metric whose mean is shown.
        shade: from 0 to SHADES, by the mean's position on the scale; None without a mean or for another metric.
        missing: why there is no mean; empty if there is one.
        notes: caveats that are not already at the benchmark, the model or the table.
    """

    run_id: str
    apart: tuple[str, ...]
    metric: MetricSummary
    shade: int | None
    missing: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One benchmark under one main metric; `cells` has the results of each model, in the order of the columns."""

    benchmark: str
    name: str
    metric: MetricSummary
    notes: tuple[
        Note, ...
    ]  # shared by all results of the benchmark, unless all of the table share them
    cells: tuple[tuple[MatrixResult, ...], ...]


@dataclass(frozen=True, slots=True)
class MatrixCategory:
    """The benchmarks of one category."""

    name: str
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All results of a suite or release in one table.

    Attributes:
        models: the columns, best win rate first.
        categories: the rows.
        notes: caveats that all results share.
        legend: short words of every note in the table.
    """

    models: tuple[MatrixModel, ...]
    categories: tuple[MatrixCategory, ...]
    notes: tuple[Note, ...]
    legend: Mapping[Note, str]


@dataclass(frozen=True, slots=True)
class _HoistedNotes:
    """Notes that are shown once for several results."""

    of_all: tuple[Note, ...]
    of_boards: Mapping[int, tuple[Note, ...]]  # by the board's place
    of_models: Mapping[str, tuple[Note, ...]]

    def list_remaining(self, place: int, row: BoardRow) -> tuple[Note, ...]:
        """Return the notes of a result that are not shown elsewhere."""
        shown = {*self.of_all, *self.of_boards[place], *self.of_models[row.run.model]}
        return tuple(note for note in row.main.notes if note not in shown)


def build_matrix(leaderboard: LeaderboardView) -> Matrix:
    """Build the table of a leaderboard."""
    boards = leaderboard.boards
    notes = _hoist_notes(boards)
    models = _list_models(leaderboard, notes)
    names = [model.model for model in models]
    rows = [_build_row(place, board, names, notes) for place, board in enumerate(boards)]
    categories = []
    for category, group in groupby(
        zip(boards, rows, strict=True), key=lambda pair: pair[0].category
    ):
        categories.append(MatrixCategory(category, tuple(row for _, row in group)))
    used = [note for board in boards for row in board.rows for note in row.main.notes]
    return Matrix(tuple(models), tuple(categories), notes.of_all, explain_notes(used))


def _hoist_notes(boards: Sequence[Board]) -> _HoistedNotes:
    """Find the notes that all results share, then those of a benchmark and of a model with several results."""
    of_all = find_shared_notes(row.main.notes for board in boards for row in board.rows)
    of_boards = {}
    for place, board in enumerate(boards):
        of_boards[place] = _find_shared(board.rows, shown=of_all)
    rows_by_model: dict[str, list[BoardRow]] = {}
    for board in boards:
        for row in board.rows:
            rows_by_model.setdefault(row.run.model, []).append(row)
    of_models = {}
    for model, rows in rows_by_model.items():
        of_models[model] = _find_shared(rows, shown=of_all)
    return _HoistedNotes(of_all, of_boards, of_models)


def _find_shared(rows: Sequence[BoardRow], shown: Sequence[Note]) -> tuple[Note, ...]:
    """Return the notes that several results share, without those shown already."""
    if len(rows) < 2:
        return ()
    shared = find_shared_notes(row.main.notes for row in rows)
    return tuple(note for note in shared if note not in shown)


def _list_models(leaderboard: LeaderboardView, notes: _HoistedNotes) -> list[MatrixModel]:
    """Return the models by win rate, best first; a single model has none."""
    rows_by_model: dict[str, list[BoardRow]] = {}
    for board in leaderboard.boards:
        for row in board.rows:
            rows_by_model.setdefault(row.run.model, []).append(row)
    rates = {line.model: line for line in leaderboard.win_rates}
    names = list(rates) or sorted(rows_by_model)
    models = []
    for name in names:
        rows = rows_by_model[name]
        models.append(_build_model(name, rows, rates.get(name), notes.of_models[name]))
    return models


def _build_model(
    name: str, rows: Iterable[BoardRow], rate: WinRate | None, notes: tuple[Note, ...]
) -> MatrixModel:
    runs = [row.run for row in rows]
    imported = all(run.imported for run in runs)
    standing = None if rate is None else rate.standing
    return MatrixModel(
        model=name,
        language_model=all(run.language_model for run in runs),
        imported=imported,
        rate=None if rate is None else rate.rate,
        standing=standing,
        missing=explain_no_rate(standing),
        notes=tuple(note for note in notes if note is not Note.IMPORTED or not imported),
    )


def _build_row(place: int, board: Board, models: Sequence[str], notes: _HoistedNotes) -> MatrixRow:
    metric = _find_main(board)
    results: dict[str, list[MatrixResult]] = {model: [] for model in models}
    for row in board.rows:
        result = _build_result(row, metric, notes.list_remaining(place, row))
        results[row.run.model].append(result)
    return MatrixRow(
        benchmark=board.benchmark,
        name=board.name,
        metric=metric,
        notes=notes.of_boards[place],
        cells=tuple(tuple(results[model]) for model in models),
    )


def _find_main(board: Board) -> MetricSummary:
    """Return the board's main metric as some row shows it; another metric if all rows show one in its place."""
    for row in board.rows:
        if row.main.metric.display_name == board.metric:
            return row.main.metric
    return board.rows[0].main.metric


def _build_result(row: BoardRow, main: MetricSummary, notes: tuple[Note, ...]) -> MatrixResult:
    metric = row.main.metric
    share = metric.normalised if metric.metric == main.metric else None
    shade = None if share is None else round(SHADES * min(1.0, max(0.0, share)))
    return MatrixResult(
        run_id="" if row.parts else row.run.id,
        apart=row.apart,
        metric=metric,
        shade=shade,
        missing=explain_no_mean(metric) if metric.mean.value is None else "",
        notes=notes,
    )
