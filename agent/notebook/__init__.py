"""The Python interface for notebooks: a site's runs, results and redacted answers as tables of pandas.

`from agent import Site` and `from intramural import Site` give the same class; docs/notebook.md explains it.
"""

from agent.notebook.figures import Figure
from agent.notebook.site import Site

__all__ = ["Figure", "Site"]
