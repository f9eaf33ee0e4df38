"""Admission of models that replace the package's own, after a measurement that shows that they detect no less.

The measurements are stored in admitted_models.json in the site directory, with digests of the models' folders. A model
whose folder changes must be measured again. Models used in addition to the package's own need no admission, because
they can only add detections.
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
_MEASURE = "Measure them with `intramural redact bench --gold FILE --policy FILE --admit` on your own texts."


@dataclass(frozen=True, slots=True)
class Admission:
    """A measurement after which models may replace the package's own model.

    Attributes:
        models: sorted digests of the models' folders.
        texts: number of texts in the measurement.
        identifiers: number of identifiers in those texts.
        core: share of the identifiers that the rules and these models detected.
        shipped_core: share that the rules and the package's own model detected.
        forced: whether the models were admitted although they detect less.
    """

    models: tuple[str, ...]
    texts: int
    identifiers: int
    core: float
    shipped_core: float
    forced: bool


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files in a model's folder, in hexadecimal.

    Raises:
        RedactionError: a file cannot be read, or the folder has no files.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    try:
        if not files:
            raise ModelFolderError("the folder does not exist or is empty")
        return compute_digest(folder, files)
    except ModelFolderError as error:
        raise RedactionError(
            f"model {folder.name}: {error}", "Give the folder of a model."
        ) from None


def check_admitted(policy: RedactionPolicy, directory: Path | None) -> None:
    """Check that the models of `policy` may be used.

    Raises:
        RedactionError: the models replace the package's own and were not admitted in their current state.
    """
    if "shipped" in policy.models:
        return
    digests = _list_digests(policy.other_models)
    if not any(admission.models == digests for admission in _read_admissions(directory)):
        raise RedactionError(
            f"redaction policy {policy.name}: models: without `shipped`, the models must first be measured against the"
            " package's own, and these have not been measured in their current state",
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
    """Record that the models of `policy` were measured and may be used.

    Args:
        directory: the directory of the policy file.
        figures: numbers of texts and identifiers in the measurement.
        core, shipped_core: see `Admission`.
        force: whether to admit the models even if they detect less.

    Raises:
        RedactionError: the models detect less and `force` is not set, or the file cannot be written.
    """
    lower = core < shipped_core
    if lower and not force:
        raise RedactionError(
            f"refused: core recall is {core:.4f} with these models and {shipped_core:.4f} with the package's own",
            "Add `shipped` to the policy's models, or give --force.",
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
            f"{FILE} cannot be read: it was not written by `redact bench --admit`", _MEASURE
        ) from None
