"""spaCy without its command line, which spaCy imports whole: a downloader of models, an HTTP client.

Nothing here uses it. It takes a third of a second, and without it nothing that Presidio or spaCy might do can fetch a
model.
"""

import sys
from types import ModuleType


def leave_out_command_line() -> None:
    """Put empty modules in the place of spaCy's command line. Once spaCy is imported, it is too late."""
    if "spacy" in sys.modules:
        return
    for name in ("spacy.cli", "spacy.cli.info"):
        empty = ModuleType(name)
        empty.__path__ = []  # it is a package, so that spaCy looks no further
        empty.info = None  # type: ignore[attr-defined]  # the one name that spaCy takes from it
        sys.modules.setdefault(name, empty)
