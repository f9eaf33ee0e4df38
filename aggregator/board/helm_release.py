"""MedHELM's public results, shown next to the merged ones. They were produced elsewhere and are not verified here.

A reference never enters a mean, a win rate or a rank. `references/NAME.json` in a published folder
is a copy of the imported figures, from which its pages can be rebuilt.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aggregator.board.page_model import CardView, Column, ModelView
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.small_file import read_small, replace_file
from protocol.registry import Model

REFERENCE_FOLDER = "references"
_SCHEMA = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")
_MAX_SIZE = 64 * 1024 * 1024  # bytes per HELM table
_UNIT = 10_000  # figures are stored as integers in ten-thousandths
_SPLIT = re.compile(r" \[.*\]$")  # suffix that HELM adds to a model's name to distinguish methods
_MAX_TEXT_LENGTH = 200
_PARTS = "Name the folder that `helm-summarize` wrote: schema.json, summary.json and groups/*.json belong together."


@dataclass(frozen=True, slots=True)
class HelmFigure:
    """A public figure: a model's value of a benchmark's main metric, in ten-thousandths of the metric's own unit."""

    benchmark: str
    benchmark_name: str
    model: str
    model_name: str
    metric: str
    value: int

    @property
    def text(self) -> str:
        """The figure, formatted with three decimals."""
        return f"{self.value / _UNIT:.3f}"


@dataclass(frozen=True)
class HelmRelease:
    """Public results of one release of a HELM leaderboard.

    Attributes:
        name: The name of the release.
        date: The date stated in its summary; may be empty.
        source: SHA-256 over the imported files.
        figures: The figures by benchmark and model.
    """

    name: str
    date: str
    source: str
    figures: tuple[HelmFigure, ...]

    @property
    def file(self) -> str:
        """The path of its copy in a published folder."""
        return f"{REFERENCE_FOLDER}/{self.name}.json"

    @property
    def page(self) -> str:
        """The path of its page in a published folder."""
        return f"{REFERENCE_FOLDER}/{self.name}.html"

    def to_bytes(self) -> bytes:
        """Return the copy as canonical JSON."""
        return (
            json.dumps({"schema": _SCHEMA, **asdict(self)}, indent=1, sort_keys=True).encode()
            + b"\n"
        )

    @property
    def copy_digest(self) -> str:
        """SHA-256 of the copy. Its page shows it, so that a change of the copy alone is detected."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], str]:
        shown = {}
        for figure in self.figures:
            for name in (figure.model, figure.model_name):
                shown[figure.benchmark, name.casefold()] = figure.text
        return shown

    def find(self, benchmark: str, model: Model) -> str | None:
        """Return the public figure of a registered model, found by its name or its display name."""
        for name in (model.name, model.display_name):
            text = self._by_name.get((benchmark, name.casefold()))
            if text is not None:
                return text
        return None

    def beside(self, card: CardView) -> list["PublicRow"]:
        """Return every model of the release, with its merged counterpart if there is one."""
        columns = {column.benchmark.id: column for column in card.columns}
        by_model: dict[str, dict[str, HelmFigure]] = {}
        for figure in self.figures:
            if figure.benchmark in columns:
                by_model.setdefault(figure.model, {})[figure.benchmark] = figure
        rows = []
        for figures in by_model.values():
            first = next(iter(figures.values()))
            merged = _find_model(card, first)
            rows.append(
                PublicRow(
                    first.model_name,
                    merged,
                    [(column, figures.get(key)) for key, column in columns.items()],
                )
            )
        return rows


@dataclass(frozen=True, slots=True)
class PublicRow:
    """A model of a public release and, if there is one, the same model among the merged ones."""

    name: str
    merged: ModelView | None
    figures: Sequence[tuple[Column, HelmFigure | None]]


def _find_model(card: CardView, figure: HelmFigure) -> ModelView | None:
    names = {figure.model.casefold(), figure.model_name.casefold()}
    for model in card.models:
        registered = model.row.model
        if registered.name.casefold() in names or registered.display_name.casefold() in names:
            return model
    return None


def parse_references(files: Mapping[str, bytes]) -> tuple[HelmRelease, ...]:
    """Parse the references among a board's files, in order of name.

    Raises:
        BoardMismatchError: a reference is not in canonical form.
    """
    names = sorted(
        name for name in files if name.startswith(f"{REFERENCE_FOLDER}/") and name.endswith(".json")
    )
    return tuple(_parse_reference(name, files[name]) for name in names)


def _parse_reference(file: str, content: bytes) -> HelmRelease:
    try:
        found = json.loads(content)
        figures = tuple(HelmFigure(**item) for item in found["figures"])
        if any(type(figure.value) is not int for figure in figures):
            raise ValueError("a figure is not an integer")
        reference = HelmRelease(found["name"], found["date"], found["source"], figures)
        if (
            reference.file != file
            or _NAME.fullmatch(reference.name) is None
            or reference.to_bytes() != content
        ):
            raise ValueError("not in canonical form")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BoardMismatchError(f"{file} is not a copy of public results") from None
    return reference


def read_references(folder: Path) -> tuple[HelmRelease, ...]:
    """Read the references in an aggregator's directory. Return none if their folder does not exist."""
    if not folder.is_dir():
        return ()
    files = {}
    for path in sorted(folder.glob("*.json")):
        files[f"{REFERENCE_FOLDER}/{path.name}"] = path.read_bytes()
    return parse_references(files)


def keep_reference(release: HelmRelease, home: Path) -> Path:
    """Write the copy of a release into an aggregator's directory. Return its path.

    Raises:
        SettingsError: the copy cannot be written.
    """
    path = home / release.file
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{path.parent} cannot be created: {error.strerror}") from None
    replace_file(path, release.to_bytes())
    return path


def remove_reference(name: str, home: Path) -> None:
    """Remove the copy of a release from an aggregator's directory.

    Raises:
        SettingsError: no release of this name was imported, or it cannot be removed.
    """
    folder = home / REFERENCE_FOLDER
    held = {path.stem: path for path in folder.glob("*.json")}
    if name not in held:
        raise SettingsError(
            f"no release {name!r} was imported (imported: {', '.join(sorted(held)) or 'none'})",
            "Nothing was removed.",
        )
    try:
        held[name].unlink()
    except OSError as error:
        raise SettingsError(f"{held[name].name} cannot be removed: {error.strerror}") from None


def import_release(directory: Path, name: str | None = None) -> HelmRelease:
    """Read a release as written by helm-summarize: schema.json, summary.json and groups/*.json.

    Args:
        directory: The release's folder, or a folder that contains it under `releases/`.
        name: The name to give it; None uses its own name.

    Raises:
        SettingsError: a file, which the message names, is missing, too large or not in HELM's
            format.
    """
    folder = _find_release(directory)
    digest = hashlib.sha256()
    summary = _read_json(folder / "summary.json", digest)
    schema = _read_json(folder / "schema.json", digest)
    own_name = str(summary.get("release") or summary.get("suite") or folder.name)
    called = name or own_name
    if _NAME.fullmatch(called) is None:
        raise SettingsError(
            f"the release's name {called!r} cannot be used as a file name: expected 1 to 48 of the characters A-Z, "
            "a-z, 0-9, ., _ and - with a letter or digit first",
            "Choose a name with --name.",
        )
    figures: list[HelmFigure] = []
    try:
        models = _name_models(schema)
        for group in schema["run_groups"]:
            figures += _read_group(folder, group, schema, models, digest)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise SettingsError(
            f"{folder.name}: schema.json or a table in groups/ is not in HELM's format", _PARTS
        ) from None
    if not figures:
        raise SettingsError(
            f"{folder.name}: no table in groups/ contains a main metric",
            _PARTS,
        )
    figures.sort(key=lambda figure: (figure.benchmark, figure.model))
    return HelmRelease(
        called, str(summary.get("date") or "")[:32], digest.hexdigest(), tuple(figures)
    )


def _find_release(directory: Path) -> Path:
    """Return the folder of the release: the given folder, or the only folder under its `releases/`."""
    if (directory / "schema.json").is_file() or not (directory / "releases").is_dir():
        return directory
    folders = sorted(
        path
        for path in (directory / "releases").iterdir()
        if path.is_dir() and not path.is_symlink()
    )
    if not folders:
        raise SettingsError(
            f"{directory} is not a HELM release: its folder releases is empty", _PARTS
        )
    if len(folders) > 1:
        names = ", ".join(folder.name for folder in folders)
        raise SettingsError(
            f"{directory} contains several releases: {names}",
            f"Name one of them, such as {folders[0]}",
        )
    if not (folders[0] / "schema.json").is_file():
        raise SettingsError(
            f"{directory} is not a HELM release: {folders[0]} lacks schema.json", _PARTS
        )
    return folders[0]


def _read_json(path: Path, digest: Any) -> Any:
    if not path.is_file():
        raise SettingsError(f"{path.parent} is not a HELM release: it lacks {path.name}", _PARTS)
    content = read_small(path, _MAX_SIZE)
    digest.update(content)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise SettingsError(f"{path} is not JSON", _PARTS) from None


def _name_models(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return HELM's model names by the display names in its tables."""
    return {
        str(model["display_name"]): str(model["name"])
        for model in schema.get("models") or ()
        if model.get("display_name")
    }


def _read_group(
    folder: Path,
    group: Mapping[str, Any],
    schema: Mapping[str, Any],
    models: Mapping[str, str],
    digest: Any,
) -> Iterable[HelmFigure]:
    """Yield the main figures of a benchmark's table; nothing for a group of benchmarks or one that was not run."""
    main = (group.get("environment") or {}).get("main_name")
    name = str(group["name"])
    path = folder / "groups" / f"{name}.json"
    if (
        not main
        or group.get("subgroups")
        or re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) is None
        or not path.is_file()
    ):
        return
    tables = _read_json(path, digest)
    if not tables:
        return
    column = _main_column(tables[0]["header"], schema, str(main))
    if column is None:
        return
    for row in tables[0]["rows"]:
        label, value = str(row[0]["value"]), row[column].get("value")
        if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > 1_000_000:
            continue
        shown = _SPLIT.sub("", label)
        yield HelmFigure(
            benchmark=name.replace("-", "_"),
            benchmark_name=str(group.get("display_name") or name)[:_MAX_TEXT_LENGTH],
            model=(models.get(label) or models.get(shown) or shown)[:_MAX_TEXT_LENGTH],
            model_name=shown[:_MAX_TEXT_LENGTH],
            metric=str(main)[:_MAX_TEXT_LENGTH],
            value=round(value * _UNIT),
        )


def _main_column(
    header: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], main: str
) -> int | None:
    """Return the column of a benchmark's main metric, identified by its display name in the schema."""
    headings = set()
    for metric in schema["metrics"]:
        if metric["name"] == main:
            headings.add(
                metric.get("short_display_name") or metric.get("display_name") or metric["name"]
            )
    for position, heading in enumerate(header):
        if (heading.get("metadata") or {}).get("metric") in headings:
            return position
    return None
