"""redaction.json at the top of a redacted folder, which lists the files written and the kinds left out.

{"format": "intramural redacted HELM folder 2", "policy": "hipaa_safe_harbor 1", "suites": ["my_suite"],
 "outputs": "redacted", "annotations": "redacted", "counts": {"instances": 40, ...}, "left_out": ["logs", ...],
 "withheld": {"too long": 1}, "files": [{"path": "runs/...", "bytes": 812, "sha256": "..."}, ...]}

Every number in it can be computed again from the folder. The kinds left out are listed without counts, because such
counts could not be checked.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.errors import RedactionError
from agent.exchange.helm.redaction.json_content import read_content
from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.layout import MANIFEST, list_files
from agent.exchange.helm.redaction.walk import Options
from agent.exchange.json_files import write_json
from agent.redaction import Withheld

_FORMAT: Final = "intramural redacted HELM folder 2"
_Count = Annotated[int, Field(ge=0)]
Counted = Literal["runs", "instances"]
_Kinds = TypeVar("_Kinds", bound=str)


class ListedFile(BaseModel):
    """One file of the folder, with its path relative to the folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    bytes: _Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """The content of redaction.json.

    Attributes:
        outputs: how models' texts are shown.
        annotations: how texts in annotations are shown.
        counts: numbers of runs and instances written.
        left_out: kinds of files and fields that were left out, in order.
        withheld: numbers of withheld texts, by reason.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: Literal["intramural redacted HELM folder 2"] = _FORMAT
    policy: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63} [0-9]{1,9}$")]
    suites: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(min_length=1)]
    outputs: Literal["redacted", "not shown"]
    annotations: Literal["redacted", "not shown"]
    counts: dict[Counted, _Count]
    left_out: tuple[Kind, ...]
    withheld: dict[Withheld, _Count]
    files: tuple[ListedFile, ...]

    @property
    def options(self) -> Options:
        """The options that say which texts were blanked."""
        return Options(
            blank_outputs=self.outputs == "not shown",
            blank_annotations=self.annotations == "not shown",
        )


@dataclass(frozen=True, slots=True)
class RedactionTally:
    """Counts of values written, left out and withheld, by kind. The manifest omits the counts of values left out."""

    counts: Mapping[Counted, int]
    left_out: Mapping[Kind, int]
    withheld: Mapping[Withheld, int]


def write_manifest(
    folder: Path, policy: str, suites: list[str], options: Options, tally: RedactionTally
) -> Manifest:
    """Write the manifest of a folder whose other files are all written."""
    manifest = Manifest(
        policy=policy,
        suites=tuple(suites),
        outputs="not shown" if options.blank_outputs else "redacted",
        annotations="not shown" if options.blank_annotations else "redacted",
        counts=order_counts(tally.counts),
        left_out=tuple(kind for kind, count in sorted(tally.left_out.items()) if count),
        withheld=order_counts(tally.withheld),
        files=tuple(describe_file(folder, path) for path in list_files(folder)),
    )
    write_json(folder / MANIFEST, manifest.model_dump(mode="json"))
    return manifest


def order_counts(counts: Mapping[_Kinds, int]) -> dict[_Kinds, int]:
    """Return the counts without zeros, in the order used by a manifest."""
    return {kind: count for kind, count in sorted(counts.items()) if count}


def describe_file(folder: Path, path: Path) -> ListedFile:
    """Return the manifest entry for a file of `folder`."""
    digest = hashlib.sha256()
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        size = 0
        while block := file.read(1 << 20):
            digest.update(block)
            size += len(block)
    return ListedFile(
        path=path.relative_to(folder).as_posix(), bytes=size, sha256=digest.hexdigest()
    )


def read_manifest(folder: Path) -> Manifest:
    """Read a folder's manifest.

    Raises:
        RedactionError: the manifest is missing or damaged.
    """
    if not os.path.lexists(folder / MANIFEST):
        raise RedactionError(
            f"the folder has no manifest ({MANIFEST}): it was not redacted", _ADVICE
        )
    content: Any = read_content(folder / MANIFEST, MANIFEST)
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        # Only a field's own name is quoted: other parts of the location come from the file and may name a patient.
        where = next(iter(error.errors()[0]["loc"]), "file")
        if where not in Manifest.model_fields:
            where = "file"
        raise RedactionError(
            f"{MANIFEST}: {where}: differs from what redaction writes", _ADVICE
        ) from None


_ADVICE = "Do not share the folder. Redact it again from HELM's own output."
