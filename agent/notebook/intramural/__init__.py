"""Intramural for notebooks: `from intramural import Site`.

The wheel and the editable install contain this folder as the top-level package `intramural`, because `agent` is a
common name.
"""

from agent import __version__
from agent.notebook import Figure, Site

__all__ = ["Figure", "Site", "__version__"]
