"""De-identification of the texts in instances before any person sees them.

Every output that a person can see (terminal, pages, exports, logs) accepts only `Redacted` text, and only this package
creates it. Opening a redactor reads a policy, builds the engine and tests it on a known text. Heavy libraries are not
imported before that, and nothing is ever downloaded.

    redactor = open_redactor(site.settings.redaction_policy, site.directory, key=site.surrogate_key())
    prompt, answer = redactor.redact_record([prompt, answer])  # equal values get equal tags: "[NAME-1]"

Stored instances pass through a `Clearer` (agent.redaction.gateway.cases), which redacts them, or reveals them after
writing an audit entry.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent.redaction.models.lean_spacy import leave_out_command_line
from agent.redaction.redacted import Redacted, Redactor, Withheld

if TYPE_CHECKING:
    from agent.redaction.detection_cache import DetectionStore

# The model multiplies small matrices, so several threads would mostly wait for each other and slow down other
# processes. NumPy reads this variable when it is imported, which happens later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["Redacted", "Redactor", "Withheld", "open_redactor"]

leave_out_command_line()  # before any module of this package imports spaCy


def open_redactor(
    policy: str = "hipaa_safe_harbor",
    directory: Path | None = None,
    store: "DetectionStore | None" = None,
    key: bytes | None = None,
) -> Redactor:
    """Open the redaction engine under a shipped policy, or under a policy file of the site if `policy` ends in ".yaml".

    This takes about a second, because the engine is imported on the first call rather than with the package.

    Args:
        policy: the value of `redaction_policy` in site.yaml.
        directory: the site directory, to which the name of a policy file is relative.
        store: the site's store, which keeps detections, but not texts, for the next process.
        key: determines the surrogates and how far dates are moved (`Site.surrogate_key`). If None, the redactor
            generates a random key.

    Raises:
        RedactionError: the policy is missing or invalid, or the engine fails its self-test.
    """
    from agent.redaction.engine import open_engine

    return open_engine(policy, directory, store, key=key)
