"""Import spaCy without its command line, which includes a downloader of models and an HTTP client.

The command line is not used here, and importing it takes a third of a second. Without it, nothing that Presidio or
spaCy might do can download a model.
"""

import sys
from types import ModuleType


def leave_out_command_line() -> None:
    """Replace spaCy's command line with empty modules. This must be called before spaCy is imported."""
    if "spacy" in sys.modules:
        return
    for name in ("spacy.cli", "spacy.cli.info"):
        empty = ModuleType(name)
        empty.__path__ = []  # marks it as a package, so that spaCy does not search for submodules
        empty.info = None  # type: ignore[attr-defined]  # the only name that spaCy imports from it
        sys.modules.setdefault(name, empty)
