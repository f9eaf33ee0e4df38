"""De-identification: no person sees the text of a case before it has passed through here.

Everything a person can see (terminal, pages, exports, logs) takes `Redacted`, and only this package makes it. Opening a
redactor reads a policy, builds the engine and tests it on a known text; nothing heavy is imported before that, and
nothing is ever downloaded.

    redactor = open_redactor(site.settings.redaction_policy, site.directory, key=site.surrogate_key())
    prompt, answer = redactor.redact_record([prompt, answer])  # same value, same tag: "[NAME-1]"

Stored instances go through a `Clearer` (agent.redaction.gateway.cases), which redacts, or reveals after an audit entry.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent.redaction.models.lean_spacy import leave_out_command_line
from agent.redaction.redacted import Redacted, Redactor, Withheld

if TYPE_CHECKING:
    from agent.redaction.detection_cache import DetectionStore

# The model multiplies small matrices: several threads would wait for each other, at the cost of other processes.
# Numpy reads this when it is imported, which is later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["Redacted", "Redactor", "Withheld", "open_redactor"]

leave_out_command_line()  # before any module of this package imports spaCy


def open_redactor(
    policy: str = "hipaa_safe_harbor",
    directory: Path | None = None,
    store: "DetectionStore | None" = None,
    key: bytes | None = None,
) -> Redactor:
    """Open the redaction engine under a shipped policy, or under a file of the site's when `policy` ends in ".yaml".

    Takes about a second: the engine is imported when this is called, and not with the package.

    Args:
        policy: as `redaction_policy` in site.yaml has it.
        directory: the site's, from which the name of a policy file is read.
        store: keeps detections for the next process, without the texts: the site's store.
        key: decides surrogates and how far dates are moved (`Site.surrogate_key`); None: a fresh one for this redactor.

    Raises:
        RedactionError: the policy is missing or wrong, or the engine does not clear a text it must clear.
    """
    from agent.redaction.engine import open_engine

    return open_engine(policy, directory, store, key=key)
