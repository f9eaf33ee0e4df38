"""A digest of everything that affects detection. Detections stored under a different digest are no longer valid."""

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

from agent.redaction.models.admission import folder_digest
from agent.redaction.policy.policy import RedactionPolicy

_LIBRARIES = (
    "presidio-analyzer",
    "spacy",
    "thinc",
    "numpy",
    "regex",
    "phonenumbers",
)


def rules_digest(policy: RedactionPolicy) -> bytes:
    """Return the digest of this package's files, the versions of libraries, and the policy with its models.

    The files include the source, word lists and shipped models.

    Raises:
        RedactionError: the folder of a model cannot be read.
    """
    digest = hashlib.sha256(policy.model_dump_json().encode())
    for model in policy.other_models:
        digest.update(f"\0{folder_digest(Path(model.path))}".encode())
    for library in ("python", *_LIBRARIES):
        installed = platform.python_version() if library == "python" else version(library)
        digest.update(f"\0{library} {installed}".encode())
    folder = Path(__file__).parent
    for path in sorted(
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ):
        digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
