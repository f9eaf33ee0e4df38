"""Admit models in the place of the package's own, once they were measured on known texts and detect no less.

The measurements are kept in the site directory, admitted_models.json, with digests of the models' folders: a folder
that changes must be measured again. Models beside the package's own need no admission: they can only add detections.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agent.errors import RedactionError
from agent.io.atomic_files import read_bounded, write_atomically
from agent.io.model_folder import ModelFolderError, compute_digest
from agent.redaction.policy.policy import OtherModel, RedactionPolicy

FILE = "admitted_models.json"
_MAX_BYTES = 2**20  # bytes
_MEASURE = "Measure them with `intramural redact bench --gold FILE --policy FILE --admit`, on texts of your own."


@dataclass(frozen=True, slots=True)
class Admission:
    """One measurement that let models take the place of the package's own.

    Attributes:
        models: digests of their folders, in order of value.
        texts: on how many they were measured.
        identifiers: in those texts.
        core: share of the identifiers that the rules and these models found.
        shipped_core: share that the rules and the package's own model found.
        forced: whether they were admitted although they find less.
    """

    models: tuple[str, ...]
    texts: int
    identifiers: int
    core: float
    shipped_core: float
    forced: bool


def folder_digest(folder: Path) -> str:
    """Return sha256 over names and contents of all files of a model's folder, in hex.

    Raises:
        RedactionError: a file cannot be read, or there is none.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    try:
        if not files:
            raise ModelFolderError("there is no such folder, or it is empty")
        return compute_digest(folder, files)
    except ModelFolderError as error:
        raise RedactionError(
            f"model {folder.name}: {error}", "Give the folder of a model."
        ) from None


def check_admitted(policy: RedactionPolicy, directory: Path | None) -> None:
    """Check that the models of `policy` may be used.

    Raises:
        RedactionError: they take the place of the package's own, and were not admitted as they are now.
    """
    if "shipped" in policy.models:
        return
    digests = _list_digests(policy.other_models)
    if not any(admission.models == digests for admission in _read_admissions(directory)):
        raise RedactionError(
            f"redaction policy {policy.name}: models: without `shipped` they find less or more than the package's own,"
            " and nobody has measured them as they are now",
            _MEASURE,
        )


def admit(
    policy: RedactionPolicy,
    directory: Path,
    figures: tuple[int, int],
    core: float,
    shipped_core: float,
    *,
    force: bool,
) -> Admission:
    """Record that the models of `policy` were measured, and may be used.

    Args:
        directory: of the policy's file.
        figures: texts and identifiers that they were measured on.
        core, shipped_core: see `Admission`.
        force: admit them although they find less.

    Raises:
        RedactionError: they find less, and `force` is not set; or the file cannot be written.
    """
    lower = core < shipped_core
    if lower and not force:
        raise RedactionError(
            f"refused: core recall is {core:.4f} with these models and {shipped_core:.4f} with the package's own",
            "Name `shipped` among the policy's models as well, or give --force.",
        )
    texts, identifiers = figures
    admission = Admission(
        models=_list_digests(policy.other_models),
        texts=texts,
        identifiers=identifiers,
        core=core,
        shipped_core=shipped_core,
        forced=lower,
    )
    admissions = [
        earlier for earlier in _read_admissions(directory) if earlier.models != admission.models
    ]
    admissions.append(admission)
    content = json.dumps([asdict(entry) for entry in admissions], indent=1)
    write_atomically(directory / FILE, content.encode())
    return admission


def _list_digests(models: Sequence[OtherModel]) -> tuple[str, ...]:
    return tuple(sorted(folder_digest(Path(model.path)) for model in models))


def _read_admissions(directory: Path | None) -> list[Admission]:
    if directory is None or not (directory / FILE).exists():
        return []
    try:
        rows = json.loads(read_bounded(directory / FILE, _MAX_BYTES, FILE))
        return [Admission(**{**row, "models": tuple(row["models"])}) for row in rows]
    except (ValueError, TypeError, KeyError):
        raise RedactionError(
            f"{FILE} cannot be read: it is not what `redact bench --admit` wrote", _MEASURE
        ) from None
