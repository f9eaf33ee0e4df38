"""Releases: the published boards, each with its day, log and digest, and summaries for comparing two of them.

releases.json       every release, oldest first
releases/N.json     ranks and main figures of release N; only for the newest SUMMARIES_KEPT

A published folder contains the earlier releases, so that its list can be rebuilt from its own
content.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise

from aggregator.errors import BoardMismatchError
from aggregator.merge.board_model import Board, Row, Table

RELEASES_FILE = "releases.json"
SUMMARY_FILE = "releases/{number}.json"
SUMMARIES_KEPT = 24
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Release:
    """One published board.

    Attributes:
        number: Number of the release, from 1.
        day: Day of publication, in days since 1970-01-01 UTC, by the clock of the publishing
            computer.
        log_size, log_root: Size and hexadecimal root of the log that it was computed from.
        registry: The registry version that it was computed under.
        board: SHA-256 of its board.json.
        summary: SHA-256 of its releases/N.json.
    """

    number: int
    day: int
    log_size: int
    log_root: str
    registry: int
    board: str
    summary: str


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases of one deployment up to and including a given board, and the newest summaries by number."""

    entries: tuple[Release, ...] = ()
    summaries: Mapping[int, bytes] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        """Return the files by path. There are none before the first release."""
        if not self.entries:
            return {}
        content = {"schema": _SCHEMA, "releases": [asdict(entry) for entry in self.entries]}
        listing = json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"
        summaries = {
            SUMMARY_FILE.format(number=number): text for number, text in self.summaries.items()
        }
        return {RELEASES_FILE: listing, **summaries}


NO_RELEASES = Releases()


@dataclass(frozen=True, slots=True)
class BoardOrigin:
    """The log and the registry that a board was computed from."""

    size: int
    root: str
    registry: int


def add_release(
    earlier: Releases, board: Board, board_json: bytes, head: BoardOrigin, *, day: int
) -> Releases:
    """Return the releases with this board as the newest. If it already is the newest, they are unchanged."""
    digest = hashlib.sha256(board_json).hexdigest()
    if earlier.entries and earlier.entries[-1].board == digest:
        return earlier
    number = len(earlier.entries) + 1
    summary = summarize(board)
    release = Release(
        number=number,
        day=day,
        log_size=head.size,
        log_root=head.root,
        registry=head.registry,
        board=digest,
        summary=hashlib.sha256(summary).hexdigest(),
    )
    summaries = {**earlier.summaries, number: summary}
    kept = {number: summaries[number] for number in sorted(summaries)[-SUMMARIES_KEPT:]}
    return Releases((*earlier.entries, release), kept)


def check_releases(releases: Releases, board: Board, board_json: bytes, head: BoardOrigin) -> None:
    """Check that the newest release is this board. The roots of older releases are checked with the log.

    Raises:
        BoardMismatchError: the newest release is another board.
    """
    if not releases.entries:
        return
    newest = releases.entries[-1]
    expected = (
        hashlib.sha256(board_json).hexdigest(),
        hashlib.sha256(summarize(board)).hexdigest(),
    )
    if (newest.board, newest.summary) != expected:
        raise BoardMismatchError(f"{RELEASES_FILE} ends with a release that is not this board")
    if (newest.log_size, newest.log_root, newest.registry) != (head.size, head.root, head.registry):
        raise BoardMismatchError(f"{RELEASES_FILE} ends with a release of another log")


def parse_releases(files: Mapping[str, bytes]) -> Releases:
    """Parse the releases among a board's files.

    Raises:
        BoardMismatchError: the list is not in canonical form or is out of order, or a summary does
            not match its release.
    """
    if RELEASES_FILE not in files:
        return Releases()
    try:
        content = json.loads(files[RELEASES_FILE])
        entries = tuple(_parse_release(item) for item in content["releases"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BoardMismatchError(f"{RELEASES_FILE} is not a list of releases") from None
    _check_order(entries)
    summaries = {}
    for entry in entries[-SUMMARIES_KEPT:]:
        name = SUMMARY_FILE.format(number=entry.number)
        if name not in files:
            raise BoardMismatchError(f"{name} is missing")
        if hashlib.sha256(files[name]).hexdigest() != entry.summary:
            raise BoardMismatchError(f"{name} does not match its release")
        _check_summary(files[name], name)
        summaries[entry.number] = files[name]
    releases = Releases(entries, summaries)
    if releases.files()[RELEASES_FILE] != files[RELEASES_FILE]:
        raise BoardMismatchError(f"{RELEASES_FILE} is not in canonical form")
    return releases


def _parse_release(item: Mapping[str, object]) -> Release:
    if set(item) != set(Release.__slots__):
        raise ValueError("unknown or missing fields")
    release = Release(**item)  # type: ignore[arg-type]
    whole_numbers = (release.number, release.day, release.log_size, release.registry)
    if any(type(number) is not int or number < 0 for number in whole_numbers):
        raise ValueError("not an integer")
    for digest in (release.log_root, release.board, release.summary):
        if re.fullmatch(r"[0-9a-f]{64}", digest) is None:
            raise ValueError("not a SHA-256 digest")
    return release


def _check_order(entries: tuple[Release, ...]) -> None:
    for expected, entry in enumerate(entries, 1):
        if entry.number != expected:
            raise BoardMismatchError(f"{RELEASES_FILE}: release {expected} is missing")
    for before, after in pairwise(entries):
        if after.log_size < before.log_size or after.registry < before.registry:
            raise BoardMismatchError(
                f"{RELEASES_FILE}: release {after.number} was made from an older log than the previous release"
            )


def summarize(board: Board) -> bytes:
    """Return the ranks, rates and main figures of every model as JSON with integers only."""
    content = {"schema": _SCHEMA, "scorecards": [_summarize_table(table) for table in board.tables]}
    return json.dumps(content, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def _summarize_table(table: Table) -> dict[str, object]:
    main = {
        benchmark.id: table.main_cell(benchmark).key for benchmark in table.scorecard.benchmarks
    }
    return {
        "name": table.scorecard.name,
        "version": table.scorecard.version,
        "models": [_summarize_row(row, main) for row in table.rows],
    }


def _summarize_row(row: Row, main: Mapping[str, str]) -> dict[str, object]:
    figures = {benchmark: row.cells[key].value for benchmark, key in main.items()}
    return {
        "name": row.model.name,
        "display_name": row.model.display_name,
        "win_rate": row.win_rate,
        "macro_average": row.macro_average,
        "rank": row.rank,
        "sites": row.sites,
        "figures": {benchmark: value for benchmark, value in figures.items() if value is not None},
    }


def _check_summary(text: bytes, name: str) -> None:
    try:
        compare_summaries(text, text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BoardMismatchError(f"{name} is not a summary of a release") from None


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A model of one scorecard in two releases. A value is None if the model was absent or had no figure.

    Attributes:
        figures: Main figures that differ, before and after, by benchmark id.
    """

    scorecard: str
    name: str
    display_name: str
    is_new: bool
    is_gone: bool
    rank: tuple[int | None, int | None]
    win_rate: tuple[int | None, int | None]
    macro_average: tuple[int | None, int | None]
    sites: tuple[int | None, int | None]
    figures: Mapping[str, tuple[int | None, int | None]]

    @property
    def is_changed(self) -> bool:
        """Whether any value in the summaries differs."""
        pairs = (self.rank, self.win_rate, self.macro_average, self.sites)
        return bool(self.figures) or any(before != after for before, after in pairs)


def compare_summaries(before: bytes, after: bytes) -> list[ModelChange]:
    """Return every model of two summaries with its differences, in the order of the newer summary."""
    old, new = _read_models(before), _read_models(after)
    names = [*new, *(name for name in old if name not in new)]
    return [_compare_model(name, old.get(name), new.get(name)) for name in names]


_ModelSummary = Mapping[str, object]


def _read_models(text: bytes) -> dict[tuple[str, str], _ModelSummary]:
    models = {}
    for card in json.loads(text)["scorecards"]:
        title = f"{card['name']} {card['version']}"
        for model in card["models"]:
            models[title, str(model["name"])] = model
    return models


def _compare_model(
    key: tuple[str, str], before: _ModelSummary | None, after: _ModelSummary | None
) -> ModelChange:
    def pair(field: str) -> tuple[int | None, int | None]:
        return _number(before, field), _number(after, field)

    figures = {}
    old_figures, new_figures = _figures(before), _figures(after)
    for benchmark in [*new_figures, *(name for name in old_figures if name not in new_figures)]:
        change = old_figures.get(benchmark), new_figures.get(benchmark)
        if change[0] != change[1]:
            figures[benchmark] = change
    shown = after or before or {}
    return ModelChange(
        scorecard=key[0],
        name=key[1],
        display_name=str(shown["display_name"]),
        is_new=before is None,
        is_gone=after is None,
        rank=pair("rank"),
        win_rate=pair("win_rate"),
        macro_average=pair("macro_average"),
        sites=pair("sites"),
        figures=figures,
    )


def _number(model: _ModelSummary | None, field: str) -> int | None:
    value = None if model is None else model[field]
    if value is not None and type(value) is not int:
        raise ValueError(f"{field} is not an integer")
    return value


def _figures(model: _ModelSummary | None) -> dict[str, int]:
    figures = {} if model is None else model["figures"]
    if not isinstance(figures, dict) or any(type(value) is not int for value in figures.values()):
        raise ValueError("figures are not integers by benchmark")
    return figures
